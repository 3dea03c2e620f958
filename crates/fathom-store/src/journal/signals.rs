//! Messages from other processes: signals to a run's owner, and the kill switch.

use fathom_core::effect::KillScope;
use fathom_core::journal::event::Signal;
use fathom_core::unit::Timestamp;

/// Id of a posted signal. Ids grow and are never reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignalId(pub u64);

/// A signal that waits for the run's owner.
///
/// It stays until a record that settles it is stored, so an owner that dies between reading and writing leaves
/// it to the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostedSignal {
    pub id: SignalId,
    pub signal: Signal,
}

/// A person's order about the kill switch: activate or lift it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KillOrder {
    pub scope: KillScope,
    /// Author of the order.
    pub by: String,
    pub at: Timestamp,
    /// Reason; empty if none was given.
    pub why: String,
}

/// An activated kill switch, and how it was lifted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KillRecord {
    /// The order that activated it.
    pub thrown: KillOrder,
    /// The order that lifted it; `None` while it is active.
    pub lifted: Option<KillOrder>,
}

impl KillRecord {
    /// True if it is active for the scope of `order`.
    pub(crate) fn holds(&self, order: &KillOrder) -> bool {
        self.lifted.is_none() && self.thrown.scope == order.scope
    }
}

/// Outcome of lifting a kill switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiftOutcome {
    /// It was active and is lifted.
    Now,
    WasNotThrown,
}
