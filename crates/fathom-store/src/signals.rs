//! Words from other processes: signals to a run's owner, and the kill switch.

use fathom_core::effect::KillScope;
use fathom_core::event::Signal;
use fathom_core::unit::Timestamp;

/// Names one posted signal. Later ones have larger numbers, and no number comes twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignalId(pub u64);

/// A signal that waits for the run's owner.
///
/// It stays until a record that settles it is stored, so an owner that dies between reading and writing leaves
/// it to the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostedSignal {
    pub id: SignalId,
    /// What it says.
    pub signal: Signal,
}

/// A person's word on the kill switch: thrown or lifted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KillOrder {
    /// How far it reaches.
    pub scope: KillScope,
    /// Who gave it.
    pub by: String,
    pub at: Timestamp,
    /// Why; empty when nothing was said.
    pub why: String,
}

/// A kill switch that was thrown, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KillRecord {
    /// The word that threw it.
    pub thrown: KillOrder,
    /// The word that lifted it; none while it holds.
    pub lifted: Option<KillOrder>,
}

impl KillRecord {
    /// Whether it holds the scope of `order`.
    pub(crate) fn holds(&self, order: &KillOrder) -> bool {
        self.lifted.is_none() && self.thrown.scope == order.scope
    }
}

/// What lifting a kill switch did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifted {
    /// It was thrown, and no longer is.
    Now,
    WasNotThrown,
}
