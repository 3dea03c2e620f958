//! The host's part: it carries out steps, and answers each of them with one event.

use fathom_core::budget::ledger::BudgetAccounts;
use fathom_core::contract::stop::Refusal;
use fathom_core::episode::result::EpisodeResult;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, ModelCallOutcome};
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{ModelRequest, ModelRole, ReplyMode};
use fathom_core::run::step::HostStep;
use fathom_core::sandbox::{CellOutput, CellResult};
use fathom_core::text::Text;
use fathom_core::unit::Timestamp;

use super::agenda::AgendaItem;
use super::bug::PlantedBug;
use super::platform::SimSender;
use super::provider::{CallId, SimProvider};
use super::violation::{InvariantViolation, SimInvariant, ensure};
use super::world::SimWorld;

/// Permission to lose the record of a call in a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AheadOfDisk {
    OfTheDisk,
    OfNothing,
}

impl<L: BudgetAccounts> SimWorld<L> {
    /// Carries out steps one by one; the process may die before and after each.
    pub(super) fn carry_out_all(&mut self, steps: Vec<HostStep>) -> Result<(), InvariantViolation> {
        for step in steps {
            if self.boundary.crosses() {
                return Ok(());
            }
            self.carry_out(step)?;
            if self.boundary.crosses() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Answer of the host to a summary, a cell or an entry.
    fn serve(&mut self, ask: AskId, command: Command) -> EventKind {
        match command {
            Command::Summarise {
                text,
                tokens_max,
                round,
                ..
            } => match self.provider.shorten(&text, tokens_max) {
                Some(text) => EventKind::Summarised { ask, text, round },
                None => EventKind::Refused {
                    ask,
                    reason: Refusal::Unavailable {
                        what: "summariser".into(),
                    },
                },
            },
            Command::RunCell { code, .. } => EventKind::CellFinished {
                ask,
                end: Box::new(CellResult {
                    output: CellOutput {
                        bytes: code.as_str().len() as u64,
                        head: code,
                        tail: None,
                    },
                    ..CellResult::default()
                }),
            },
            _ => EventKind::Refused {
                ask,
                reason: Refusal::Unavailable {
                    what: "domain".into(),
                },
            },
        }
    }

    fn carry_out(&mut self, step: HostStep) -> Result<(), InvariantViolation> {
        self.note(|| {
            let mut text = format!("  > {step:?}");
            text.truncate(
                text.char_indices()
                    .nth(120)
                    .map_or(text.len(), |(at, _)| at),
            );
            text
        });
        match step {
            HostStep::Measure {
                episode,
                ask,
                model,
                request,
                weigh,
                said,
                round,
                ..
            } => {
                let kind = EventKind::Measured {
                    ask,
                    measured: self.provider.measure(model, &request),
                    weights: weigh.iter().map(SimProvider::weigh).collect(),
                    recalled: said.map(|said| Box::new(said.again(self.run_id))),
                    round,
                };
                self.compute(episode, ask, "measure", kind)
            }
            HostStep::Call {
                episode,
                ask,
                attempt,
                model,
                request,
                not_before,
            } => {
                let id = self.call_id(episode, ask, attempt);
                self.prepare_call(id, model, request, not_before)
            }
            HostStep::Cancel {
                episode,
                ask,
                attempt,
            } => {
                let id = self.call_id(episode, ask, attempt);
                self.cancel_call(&id);
                Ok(())
            }
            HostStep::Timer { episode, at } => {
                let wait = at.since(self.clock.now());
                let at = self.now.saturating_add(wait.0);
                self.agenda.plan(at, AgendaItem::Tick(episode));
                Ok(())
            }
            HostStep::Decide {
                episode,
                ask,
                effect,
            } => self.decide(episode, ask, &effect),
            HostStep::Attempt(permit) => {
                let sender = (permit.episode().clone(), permit.ask());
                self.attempt(sender, permit.effect().clone())
            }
            HostStep::Reconcile {
                episode,
                ask,
                effect,
            } => self.reconcile((episode, ask), effect),
            HostStep::Host {
                episode,
                ask,
                command,
            } => {
                let kind = self.serve(ask, command);
                self.compute(episode, ask, "host", kind)
            }
            HostStep::Emit { episode, block } => {
                self.coverage.blocks += 1;
                self.oracle.show_block(&episode, block.text.as_str())
            }
            HostStep::Over { .. } => Ok(()),
            HostStep::Waiting(wait) => {
                if let Some(host) = &mut self.host {
                    host.waiting = Some(wait);
                }
                let at = self.now + self.rng.between(1, 300);
                self.agenda.plan(at, AgendaItem::LetGo);
                Ok(())
            }
            HostStep::Finished(result) => self.finish(&result),
        }
    }

    pub(super) fn finish(&mut self, result: &EpisodeResult) -> Result<(), InvariantViolation> {
        self.is_over = true;
        self.oracle.show_result(result)
    }

    fn call_id(&self, episode: EpisodeId, ask: AskId, attempt: u16) -> CallId {
        let host = self.host.as_ref();
        CallId {
            epoch: host.map_or_else(Default::default, |host| host.journal.epoch()),
            episode,
            ask,
            attempt,
        }
    }

    pub(super) fn expect_answer(
        &mut self,
        sender: &SimSender,
        what: &'static str,
    ) -> Result<(), InvariantViolation> {
        let Some(host) = &mut self.host else {
            return Ok(());
        };
        let (episode, ask) = sender.clone();
        let is_first = host.unanswered.insert((episode, ask, what));
        ensure(is_first, SimInvariant::AskedOnce, || {
            format!("{what} of {} {} is asked for twice", sender.0, sender.1)
        })
    }

    fn answered(&mut self, sender: &SimSender, what: &'static str) {
        if let Some(host) = &mut self.host {
            let (episode, ask) = sender.clone();
            host.unanswered.remove(&(episode, ask, what));
        }
    }

    /// Something that is only computed, and answered a little later.
    pub(super) fn compute(
        &mut self,
        episode: EpisodeId,
        ask: AskId,
        what: &'static str,
        kind: EventKind,
    ) -> Result<(), InvariantViolation> {
        self.expect_answer(&(episode.clone(), ask), what)?;
        let at = self.now + self.rng.between(0, 3);
        let kind = Box::new(kind);
        self.agenda
            .plan(at, AgendaItem::Answer { episode, ask, kind });
        Ok(())
    }

    fn prepare_call(
        &mut self,
        id: CallId,
        model: ModelRole,
        request: ModelRequest,
        not_before: Option<Timestamp>,
    ) -> Result<(), InvariantViolation> {
        let is_first = self
            .host
            .as_ref()
            .is_none_or(|host| !host.calls.contains_key(&id));
        ensure(is_first, SimInvariant::AskedOnce, || {
            format!("{id:?} is asked for twice")
        })?;
        let wait = not_before.unwrap_or_default().since(self.clock.now());
        let item = AgendaItem::Send {
            id: id.clone(),
            model,
            request,
        };
        let moment = self.agenda.plan(self.now.saturating_add(wait.0), item);
        if let Some(host) = &mut self.host {
            host.calls.insert(id, Some(moment));
        }
        Ok(())
    }

    fn send(
        &mut self,
        id: CallId,
        model: ModelRole,
        request: &ModelRequest,
    ) -> Result<(), InvariantViolation> {
        self.oracle.may_call(&id.episode, id.ask)?;
        if self.is_leased(&id)? == AheadOfDisk::OfTheDisk && self.rng.chance(80) {
            self.boundary.hasten(30);
        }
        let mut outcome = self.provider.send(id.clone(), model, request);
        if self.bug == Some(PlantedBug::AttemptMixedUp) && id.attempt > 1 {
            let earlier = CallId {
                attempt: id.attempt - 1,
                ..id.clone()
            };
            outcome = self
                .provider
                .answers
                .get(&earlier)
                .cloned()
                .unwrap_or(outcome);
        }
        let latency = self.provider.latency();
        if request.delivery == ReplyMode::Streamed {
            for _ in 0..self.rng.below(3) {
                let at = self.now + self.rng.below(latency);
                self.agenda.plan(at, AgendaItem::Delta { id: id.clone() });
            }
        }
        let item = AgendaItem::Reply {
            id: id.clone(),
            outcome,
        };
        let moment = self.agenda.plan(self.now + latency, item);
        if let Some(host) = &mut self.host {
            host.calls.insert(id, Some(moment));
        }
        Ok(())
    }

    /// A call may go out once its lease or its own record is durable.
    fn is_leased(&self, id: &CallId) -> Result<AheadOfDisk, InvariantViolation> {
        let Some(host) = &self.host else {
            return Ok(AheadOfDisk::OfNothing);
        };
        let durable = self.oracle.durable();
        let Some(call) = host.audit.call(&id.episode, id.ask) else {
            return Err(InvariantViolation::new(
                SimInvariant::BooksAgree,
                format!("{id:?} is sent, but not reserved"),
            ));
        };
        if call.position <= durable {
            return Ok(AheadOfDisk::OfNothing);
        }
        let is_leased = host.audit.is_leased(&id.episode, call.drawn, durable);
        ensure(is_leased, SimInvariant::LeaseFirst, || {
            format!("{id:?} draws {:?}", call.drawn)
        })?;
        Ok(AheadOfDisk::OfTheDisk)
    }

    /// Gives a call up. One that is on the wire may still be answered; one that never was costs nothing.
    fn cancel_call(&mut self, id: &CallId) {
        let Some(host) = &mut self.host else {
            return;
        };
        let moment = match host.calls.get(id) {
            Some(Some(moment)) => *moment,
            Some(None) => return,
            None => (0, 0),
        };
        let outcome = match self.agenda.cancel(moment) {
            Some(reply @ AgendaItem::Reply { .. }) if self.rng.chance(300) => {
                self.agenda.put_back(moment, reply);
                return;
            }
            Some(AgendaItem::Reply { .. }) => self.provider.cancel(id),
            _ => {
                let failure = ModelFailure::unsent(FailureKind::Cancelled, "never sent");
                let outcome = ModelCallOutcome::Failed(failure);
                self.provider.answers.insert(id.clone(), outcome.clone());
                outcome
            }
        };
        let item = AgendaItem::Reply {
            id: id.clone(),
            outcome,
        };
        let moment = self.agenda.plan(self.now + self.rng.below(5), item);
        host.calls.insert(id.clone(), Some(moment));
    }

    /// Something that was under way comes back.
    pub(super) fn answer(&mut self, item: AgendaItem) -> Result<(), InvariantViolation> {
        match item {
            AgendaItem::Tick(episode) => self.deliver(episode, EventKind::Tick),
            AgendaItem::Stray { episode, kind } => self.deliver(episode, *kind),
            AgendaItem::Answer { episode, ask, kind } => {
                self.repeat(&episode, &kind);
                let sender = (episode.clone(), ask);
                for what in ["measure", "decide", "host"] {
                    self.answered(&sender, what);
                }
                self.deliver(episode, *kind)
            }
            AgendaItem::Send { id, model, request } => self.send(id, model, &request),
            AgendaItem::Delta { id } => {
                let kind = EventKind::ModelDelta {
                    ask: id.ask,
                    attempt: id.attempt,
                    text: Text::new("well, "),
                };
                self.deliver(id.episode, kind)
            }
            AgendaItem::Reply { id, outcome } => {
                if let Some(host) = &mut self.host {
                    host.calls.insert(id.clone(), None);
                }
                let jitter = self.rng.below(u64::from(u16::MAX));
                let kind = EventKind::ModelReplied {
                    ask: id.ask,
                    attempt: id.attempt,
                    outcome,
                    jitter: u16::try_from(jitter).unwrap_or_default(),
                };
                self.repeat(&id.episode, &kind);
                self.deliver(id.episode, kind)
            }
            AgendaItem::Arrive { sender, effect } => {
                self.arrive(sender, effect);
                Ok(())
            }
            AgendaItem::Settle {
                sender,
                effect,
                outcome,
            } => {
                self.answered(&sender, "attempt");
                self.settle(sender, &effect, outcome)
            }
            AgendaItem::Checked {
                sender,
                effect,
                outcome,
            } => {
                self.answered(&sender, "reconcile");
                self.settle(sender, &effect, outcome)
            }
            AgendaItem::Restart
            | AgendaItem::Land
            | AgendaItem::Wake
            | AgendaItem::Post(_)
            | AgendaItem::Judge(_)
            | AgendaItem::Interrupt
            | AgendaItem::Commit
            | AgendaItem::LetGo => Ok(()),
        }
    }

    /// Some answers come twice.
    fn repeat(&mut self, episode: &EpisodeId, kind: &EventKind) {
        if self.rng.chance(self.scenario.repeats_permille) {
            let at = self.now + self.rng.between(1, 200);
            let item = AgendaItem::Stray {
                episode: episode.clone(),
                kind: Box::new(kind.clone()),
            };
            self.agenda.plan(at, item);
        }
    }

    pub(super) fn deliver(
        &mut self,
        episode: EpisodeId,
        kind: EventKind,
    ) -> Result<(), InvariantViolation> {
        self.drive(|run, log, at| run.deliver(log, at, episode, kind))
    }
}
