//! Carries out the commands of a run's episodes: inside the run, as a step, or as a step that waits for the log.

use std::collections::VecDeque;

use super::{EpisodeSlot, Run};
use crate::budget::amounts::Amounts;
use crate::budget::ledger::BudgetAccounts;
use crate::domain::DomainAccess;
use crate::effect::{EffectOutcome, EffectPermit, EffectRequest, KillScope};
use crate::id::{AskId, EpisodeId};
use crate::journal::command::{Command, ExternalWait};
use crate::journal::event::EventKind;
use crate::run::step::{AppendReceipt, HostStep, LogPosition};
use crate::text::Text;

impl<L: BudgetAccounts> Run<L> {
    /// Turns a command into a step, now or once the log is durable up to it.
    pub(super) fn carry_out(
        &mut self,
        id: &EpisodeId,
        command: Command,
        appended: AppendReceipt,
        queue: &mut VecDeque<(EpisodeId, EventKind)>,
        steps: &mut Vec<HostStep>,
    ) {
        let episode = id.clone();
        let position = appended.position;
        let (from, step) = match command {
            Command::Measure {
                ask,
                model,
                request,
                weigh,
                recall,
                once,
                round,
            } => {
                let step = HostStep::Measure {
                    episode,
                    ask,
                    model,
                    request,
                    weigh,
                    recall,
                    said: None,
                    round,
                };
                if once {
                    // Held back if another episode is asking the same already, and given out once that one has its answer.
                    steps.extend(self.told.measure(step));
                } else {
                    steps.push(step);
                }
                return;
            }
            Command::CallModel {
                ask,
                attempt,
                model,
                request,
                drawn,
                not_before,
                ..
            } => {
                self.told.sent(id, ask);
                let step = HostStep::Call {
                    episode,
                    ask,
                    attempt,
                    model,
                    request,
                    not_before,
                };
                // A thought changes nothing outside, so the call need not wait for its own record. It waits for the
                // lease, which accounts for it should the record be lost.
                (self.leased_at(id, drawn).unwrap_or(position), step)
            }
            Command::CancelCall { ask, attempt } => {
                self.cancel(episode, ask, attempt, steps);
                return;
            }
            command @ (Command::Summarise { .. }
            | Command::RunCell { .. }
            | Command::AnswerCell { .. }
            | Command::Domain { .. }) => return self.ask_host(episode, command, position, steps),
            Command::Propose { ask, effect } => {
                steps.push(HostStep::Decide {
                    episode,
                    ask,
                    effect,
                });
                return;
            }
            Command::Attempt { ask, effect } => {
                return self.permit(episode, ask, effect, position, steps);
            }
            Command::Reconcile { ask, effect } => (
                position,
                HostStep::Reconcile {
                    episode,
                    ask,
                    effect,
                },
            ),
            // A person must not see what a crash could take back.
            Command::Emit { block } => (position, HostStep::Emit { episode, block }),
            Command::Finish { result } => {
                self.close(id, result.clone(), appended.head);
                self.told.over(id);
                let Some(parent) = id.parent() else {
                    return self.gate(position, HostStep::Finished(result), steps);
                };
                let child = episode.clone();
                // Not gated: the result stays inside the run, and whatever leaves because of it waits for a later
                // position.
                steps.push(HostStep::Over { episode });
                let head = appended.head;
                let kind = EventKind::ChildFinished {
                    child,
                    result,
                    head,
                };
                queue.push_back((parent, kind));
                return;
            }
            command => return self.route(episode, command, position, queue, steps),
        };
        self.gate(from, step, steps);
    }

    /// Lets an effect go once the log holds its decision. Nothing but this makes a permit.
    fn permit(
        &mut self,
        episode: EpisodeId,
        ask: AskId,
        effect: EffectRequest,
        position: LogPosition,
        steps: &mut Vec<HostStep>,
    ) {
        let permit = EffectPermit::new(episode, ask, effect);
        self.gate(position, HostStep::Attempt(permit), steps);
    }

    /// Passes on what the host does for an episode. A domain changes only once the log holds the request.
    fn ask_host(
        &mut self,
        episode: EpisodeId,
        command: Command,
        position: LogPosition,
        steps: &mut Vec<HostStep>,
    ) {
        let (ask, access) = match &command {
            Command::Domain { ask, request } => (*ask, request.access),
            Command::Summarise { ask, .. }
            | Command::RunCell { ask, .. }
            | Command::AnswerCell { ask, .. } => (*ask, DomainAccess::Read),
            _ => return,
        };
        let step = HostStep::Host {
            episode,
            ask,
            command,
        };
        match access {
            DomainAccess::Read => steps.push(step),
            DomainAccess::Write => self.gate(position, step, steps),
        }
    }

    /// Carries out what stays inside the run.
    fn route(
        &mut self,
        id: EpisodeId,
        command: Command,
        position: LogPosition,
        queue: &mut VecDeque<(EpisodeId, EventKind)>,
        steps: &mut Vec<HostStep>,
    ) {
        match command {
            Command::Lease { upto } => self.lease(&id, upto, position),
            Command::Spawn { child, started, .. } => match self.slots.get(&child) {
                None => queue.push_back((child, EventKind::Started(started))),
                Some(EpisodeSlot::Live(_)) => {}
                // After a crash a child may be over in its own journal and not yet in that of its parent.
                Some(EpisodeSlot::Finished { result, head }) => {
                    let (result, head) = (result.clone(), *head);
                    let kind = EventKind::ChildFinished {
                        child,
                        result,
                        head,
                    };
                    queue.push_back((id, kind));
                }
            },
            // Through the queue like every event, so that the child's record follows the one that caused it.
            Command::SignalChild { child, signal } => {
                queue.push_back((child, EventKind::Signal(signal)));
            }
            Command::Await { awaited } => {
                self.note_outage(&id, &awaited);
                if let ExternalWait::Until { at } = awaited {
                    steps.push(HostStep::Timer { episode: id, at });
                }
            }
            Command::Refuse { ask, reason } => {
                queue.push_back((id, EventKind::Refused { ask, reason }));
            }
            Command::ReportOverrun {
                ask,
                dimension,
                reserved,
                used,
            } => {
                let kind = EventKind::Overrun {
                    ask,
                    dimension,
                    reserved,
                    used,
                };
                queue.push_back((id, kind));
            }
            Command::ReportShortening {
                ask,
                field,
                by,
                limit,
                before,
                after,
            } => {
                let kind = EventKind::TokenBudgetOverrun {
                    ask,
                    field,
                    by,
                    limit,
                    before,
                    after,
                };
                queue.push_back((id, kind));
            }
            Command::ReportForfeit { amounts } => {
                queue.push_back((id, EventKind::Forfeited { amounts }));
            }
            Command::Measure { .. }
            | Command::Summarise { .. }
            | Command::CallModel { .. }
            | Command::CancelCall { .. }
            | Command::RunCell { .. }
            | Command::AnswerCell { .. }
            | Command::Propose { .. }
            | Command::Attempt { .. }
            | Command::Reconcile { .. }
            | Command::Domain { .. }
            | Command::Emit { .. }
            | Command::Finish { .. }
            // A message is where it belongs once it is in the record.
            | Command::Post { .. } => {}
        }
    }

    /// Gives up a call. One that still waits for its lease was never sent: it is taken out of the gate, and
    /// the host, which never saw it, answers for it all the same.
    fn cancel(&mut self, episode: EpisodeId, ask: AskId, attempt: u16, steps: &mut Vec<HostStep>) {
        for steps in self.gated.values_mut() {
            steps.retain(|step| {
                !matches!(step, HostStep::Call { episode: e, ask: a, attempt: n, .. }
                    if *e == episode && *a == ask && *n == attempt)
            });
        }
        steps.push(HostStep::Cancel {
            episode,
            ask,
            attempt,
        });
    }

    /// Notes where a lease was written.
    pub(super) fn lease(&mut self, id: &EpisodeId, upto: Amounts, position: LogPosition) {
        if let Some(EpisodeSlot::Live(live)) = self.slots.get_mut(id) {
            live.leases.push_back((upto, position));
        }
    }

    /// An earlier owner's leases may be drawn on once it is durable that there is a new one. Until then a crash
    /// would leave the journal of an owner who departed in good order, and nothing would be forfeited.
    pub(super) fn take_over_leases(&mut self, id: &EpisodeId, position: LogPosition) {
        if let Some(EpisodeSlot::Live(live)) = self.slots.get_mut(id) {
            for (_, written) in &mut live.leases {
                *written = position;
            }
        }
    }

    /// Takes effects that `scope` covers out of the gate: their intent is written down, but they were never
    /// sent, and now they never will be.
    pub(super) fn withhold(&mut self, scope: &KillScope) -> Vec<(EpisodeId, EventKind)> {
        let mut withheld = Vec::new();
        for steps in self.gated.values_mut() {
            steps.retain(|step| {
                let HostStep::Attempt(permit) = step else {
                    return true;
                };
                if !scope.covers(&permit.effect().target) {
                    return true;
                }
                let outcome = EffectOutcome::Failed {
                    detail: Text::new(format!("kill switch: {scope}")),
                };
                let kind = EventKind::settled(permit.ask(), outcome);
                withheld.push((permit.episode().clone(), kind));
                false
            });
        }
        withheld
    }

    /// The position at which the lease that covers `drawn` was written.
    fn leased_at(&mut self, id: &EpisodeId, drawn: Amounts) -> Option<LogPosition> {
        let Some(EpisodeSlot::Live(live)) = self.slots.get_mut(id) else {
            return None;
        };
        // Draws only grow, so a lease that no longer reaches is of no use to any later call.
        while let Some((upto, _)) = live.leases.front()
            && drawn.exceeds(upto).is_some()
        {
            live.leases.pop_front();
        }
        live.leases.front().map(|(_, position)| *position)
    }

    fn gate(&mut self, position: LogPosition, step: HostStep, steps: &mut Vec<HostStep>) {
        if position <= self.durable {
            steps.push(step);
        } else {
            self.gated.entry(position).or_default().push(step);
        }
    }
}
