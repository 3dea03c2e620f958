//! What is outstanding with the host.

use super::Governor;
use crate::command::{Awaited, Command};
use crate::contract::cap;
use crate::effect::EffectState;
use crate::ledger::Accounts;
use crate::pending::Pending;
use crate::unit::Timestamp;

impl<L: Accounts> Governor<L> {
    /// The one timer of the episode: for the moment its program waits for, or for the end of its time.
    pub(crate) fn timer(&self) -> Command {
        let deadline = self.clock.deadline();
        let at = self.wake.map_or(deadline, |wake| wake.min(deadline));
        Command::Await {
            awaited: Awaited::Until { at },
        }
    }

    /// Notes the moment that the program waits for. It lies a little ahead, so that nobody spins.
    pub(super) fn wait_for(&mut self, at: Timestamp) {
        self.wake = Some(at.max(self.clock.last().plus(cap::WAKE_AHEAD_MIN)));
    }

    /// Whether the moment that the program waits for has come; it is then no longer waited for.
    pub(crate) fn take_wake(&mut self, at: Timestamp) -> bool {
        self.wake.take_if(|wake| *wake <= at).is_some()
    }

    /// What must be said to the host again after a new owner took over.
    pub(crate) fn outstanding(&self, out: &mut Vec<Command>) {
        for (&id, pending) in self.pending.iter() {
            match pending {
                Pending::Packing(packing) => out.extend(packing.outstanding(id)),
                Pending::Child { child, started, .. } => out.push(Command::Spawn {
                    ask: id,
                    child: child.clone(),
                    started: started.clone(),
                }),
                Pending::Effect { request, state, .. } => {
                    let effect = request.clone();
                    match state {
                        EffectState::Preflight => out.push(Command::Propose { ask: id, effect }),
                        EffectState::AwaitingApproval => out.push(Command::Await {
                            awaited: Awaited::Approval { ask: id },
                        }),
                        EffectState::Postcheck => out.push(Command::Reconcile { ask: id, effect }),
                        // A look may be taken again.
                        EffectState::Attempted => out.push(Command::Attempt { ask: id, effect }),
                        EffectState::Queued
                        | EffectState::Approved
                        | EffectState::Confirmed
                        | EffectState::Failed
                        | EffectState::Unknown => {}
                    }
                }
                Pending::Host(command) => out.push(command.clone()),
                Pending::Refusing(reason) => out.push(Command::Refuse {
                    ask: id,
                    reason: reason.clone(),
                }),
                Pending::HeldCall { .. }
                | Pending::Calling { .. }
                | Pending::GivenUp { .. }
                | Pending::Stalled { .. }
                | Pending::HeldChild { .. } => {}
            }
        }
    }
}
