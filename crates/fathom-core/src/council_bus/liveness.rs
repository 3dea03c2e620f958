//! Liveness of roles, told from the health of their calls.

use std::collections::{BTreeMap, BTreeSet};

use super::envelope::HeartbeatState;
use super::role::CouncilRole;
use crate::unit::{Millis, Timestamp};

/// Interval in which a role should be heard. Nobody pings: what a call delivers is its role's heartbeat.
pub const HEARTBEAT: Millis = Millis(30_000);

/// A role that is silent for longer, three heartbeats, is inactive.
pub const SILENCE_MAX: Millis = Millis(3 * HEARTBEAT.0);

#[derive(Clone, Copy, Debug)]
struct HeartbeatWait {
    /// Calls that are out.
    calls: u32,
    /// The last sign of life, or when the first of the calls went out.
    since: Timestamp,
}

/// Watches over roles that have been asked something.
///
/// A role with no call out is not silent, so it keeps the state it had.
#[derive(Clone, Debug, Default)]
pub struct RoleLiveness {
    waiting: BTreeMap<CouncilRole, HeartbeatWait>,
    inactive: BTreeSet<CouncilRole>,
}

impl RoleLiveness {
    /// A call in this role was asked for.
    pub fn asked(&mut self, role: CouncilRole, at: Timestamp) {
        let waiting = self.waiting.entry(role);
        // Another call is no sign of life, so a role that is waited for already keeps its moment.
        let waiting = waiting.or_insert(HeartbeatWait {
            calls: 0,
            since: at,
        });
        waiting.calls += 1;
    }

    /// The role gave a sign of life. Says so when that makes it active again.
    pub fn heard(&mut self, role: CouncilRole, at: Timestamp) -> Option<HeartbeatState> {
        if let Some(waiting) = self.waiting.get_mut(&role) {
            waiting.since = waiting.since.max(at);
        }
        self.inactive
            .remove(&role)
            .then_some(HeartbeatState::Active)
    }

    /// A call in this role is over, however it ended.
    pub fn ended(&mut self, role: CouncilRole) {
        if let Some(waiting) = self.waiting.get_mut(&role) {
            waiting.calls = waiting.calls.saturating_sub(1);
            // Without a call out there is nothing to hear, so silence says nothing about the role.
            if waiting.calls == 0 {
                self.waiting.remove(&role);
            }
        }
    }

    /// The roles that have now been silent for too long and were active before.
    pub fn look(&mut self, at: Timestamp) -> Vec<CouncilRole> {
        let silent = |waiting: &HeartbeatWait| at.since(waiting.since) > SILENCE_MAX;
        let fallen: Vec<CouncilRole> = self
            .waiting
            .iter()
            .filter(|(role, waiting)| silent(waiting) && !self.inactive.contains(role))
            .map(|(role, _)| *role)
            .collect();
        self.inactive.extend(&fallen);
        fallen
    }

    /// The moment at which the next role would become inactive, if none is heard before.
    pub fn next_look(&self) -> Option<Timestamp> {
        self.waiting
            .iter()
            .filter(|(role, _)| !self.inactive.contains(role))
            // One more, since only a silence that is longer than the maximum counts.
            .map(|(_, waiting)| waiting.since.plus(Millis(SILENCE_MAX.0 + 1)))
            .min()
    }
}
