//! The auditor: books kept from the journal's records alone, to hold against the ledger's.
//!
//! It knows the rules of SPEC E06 and nothing of the ledger's code, so a mistake in one is not repeated here.

use std::collections::{BTreeMap, BTreeSet};

use fathom_core::amounts::{Amounts, Dimension};
use fathom_core::command::Command;
use fathom_core::effect::{EffectOutcome, PolicyDecision};
use fathom_core::event::{CallOutcome, EventKind, Record, Signal};
use fathom_core::failure::Billing;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::ledger::{Accounts, SHARED};
use fathom_core::model::Measured;
use fathom_core::outcome::EpisodeResult;
use fathom_core::step::Position;

use super::violation::{Invariant, Violation, ensure};

/// A call that may be on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenCall {
    pub(super) attempt: u16,
    pub(super) reserved: Amounts,
    pub(super) drawn: Amounts,
    pub(super) position: Position,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EffectAt {
    /// A tool call is set aside.
    Proposed,
    Attempted,
    Checked,
}

/// The books of one episode.
#[derive(Clone, Debug, Default)]
pub(super) struct Books {
    pub(super) limit: Amounts,
    pub(super) spent: Amounts,
    pub(super) calls: BTreeMap<AskId, OpenCall>,
    measured: BTreeMap<AskId, Measured>,
    effects: BTreeMap<AskId, EffectAt>,
    grants: BTreeMap<EpisodeId, Amounts>,
    /// Leases in force: how much, and where it was written.
    pub(super) leases: Vec<(Amounts, Position)>,
    unsaid_refusals: BTreeSet<AskId>,
    unsaid_reports: u32,
    /// Reports that a new owner says again; they count for nothing more.
    repeated_reports: u32,
    pub(super) has_overrun: bool,
    pub(super) result: Option<Box<EpisodeResult>>,
}

impl Books {
    fn reserved(&self) -> Amounts {
        let calls = self.calls.values().map(|call| call.reserved);
        let calls = calls.fold(Amounts::ZERO, Amounts::plus);
        Amounts {
            tools: self.effects.len() as u64,
            ..calls
        }
    }

    fn granted(&self) -> Amounts {
        let grants = self.grants.values().copied();
        grants.fold(Amounts::ZERO, Amounts::plus)
    }

    pub(super) fn left(&self) -> Amounts {
        let gone = self.spent.plus(self.reserved()).plus(self.granted());
        self.limit.minus(gone)
    }

    fn event(&mut self, kind: &EventKind) -> Result<(), Violation> {
        match kind {
            EventKind::Started(started) => {
                let policy = &started.contract.recursion;
                self.limit = started.budget.amounts;
                self.limit.episodes = self.limit.episodes.min(policy.max_total_episodes.into());
                self.spent.episodes = 1;
            }
            EventKind::Measured { ask, measured } => {
                self.measured.entry(*ask).or_insert(*measured);
            }
            EventKind::ModelReplied {
                ask,
                attempt,
                outcome,
                ..
            } => self.settle_call(*ask, *attempt, outcome),
            EventKind::ChildFinished { child, result, .. } => {
                self.close_grant(child, result)?;
            }
            EventKind::EffectDecided {
                ask,
                decision: PolicyDecision::Deny { .. },
            }
            | EventKind::Signal(Signal::Decide {
                ask, allow: false, ..
            }) => {
                if self.effects.get(ask) == Some(&EffectAt::Proposed) {
                    self.effects.remove(ask);
                }
            }
            EventKind::EffectSettled { ask, outcome } => self.settle_effect(*ask, outcome),
            EventKind::Resumed => {
                self.repeated_reports = self.unsaid_reports;
                // Nobody knows what became of the calls on the wire: all of each may have been used.
                for call in std::mem::take(&mut self.calls).into_values() {
                    self.spent = self.spent.plus(call.reserved);
                }
            }
            EventKind::Refused { ask, .. } => {
                self.unsaid_refusals.remove(ask);
            }
            EventKind::Overrun { .. } | EventKind::Forfeited { .. } => {
                self.unsaid_reports = self.unsaid_reports.saturating_sub(1);
            }
            EventKind::Released { .. }
            | EventKind::Summarised { .. }
            | EventKind::ModelDelta { .. }
            | EventKind::CellYielded { .. }
            | EventKind::CellFinished { .. }
            | EventKind::EffectDecided { .. }
            | EventKind::Signal(_)
            | EventKind::Tick => {}
        }
        Ok(())
    }

    fn settle_call(&mut self, ask: AskId, attempt: u16, outcome: &CallOutcome) {
        let Some(call) = self.calls.get(&ask).copied() else {
            return;
        };
        if call.attempt != attempt {
            return;
        }
        self.calls.remove(&ask);
        let usage = match outcome {
            CallOutcome::Replied(reply) => Some(reply.usage),
            CallOutcome::Failed(failure) => match failure.billing {
                Billing::Nothing => return,
                Billing::Perhaps => None,
                Billing::Reported(usage) => Some(usage),
            },
        };
        let price = self.measured.get(&ask).map(|m| m.price);
        let used = usage.map_or(call.reserved, |usage| Amounts {
            tokens: usage.input_tokens + usage.output_tokens,
            calls: 1,
            money: price
                .unwrap_or_default()
                .of(usage.input_tokens, usage.output_tokens),
            ..Amounts::ZERO
        });
        self.spent = self.spent.plus(used);
        self.has_overrun |= used.exceeds(&call.reserved).is_some();
    }

    fn close_grant(&mut self, child: &EpisodeId, result: &EpisodeResult) -> Result<(), Violation> {
        let Some(grant) = self.grants.remove(child) else {
            return Ok(());
        };
        let spent = result.budget.spent;
        self.spent = self.spent.plus(spent);
        let over = spent.exceeds(&grant);
        ensure(
            over.is_none() || self.has_overrun,
            Invariant::BooksAgree,
            || format!("{child} spent more than its grant in {over:?}: {spent:?} of {grant:?}"),
        )
    }

    fn settle_effect(&mut self, ask: AskId, outcome: &EffectOutcome) {
        match (self.effects.get(&ask), outcome) {
            (None | Some(EffectAt::Proposed), _) => {}
            (Some(EffectAt::Attempted), EffectOutcome::Unknown { .. }) => {
                self.effects.insert(ask, EffectAt::Checked);
            }
            (Some(EffectAt::Attempted | EffectAt::Checked), _) => {
                self.effects.remove(&ask);
                self.spent.tools += 1;
            }
        }
    }

    fn command(
        &mut self,
        cause: &EventKind,
        command: &Command,
        position: Position,
    ) -> Result<(), Violation> {
        match command {
            Command::Lease { upto } => {
                // A smaller lease takes back what the earlier ones said.
                for (earlier, _) in &mut self.leases {
                    *earlier = earlier.min(*upto);
                }
                self.leases.push((*upto, position));
            }
            Command::CallModel {
                ask,
                attempt,
                request,
                reserved,
                drawn,
                ..
            } => {
                let worst = self.measured.get(ask).map_or(Amounts::ZERO, |measured| {
                    measured.worst_case(request.output_tokens_max)
                });
                ensure(*reserved == worst, Invariant::BooksAgree, || {
                    format!("{ask} reserves {reserved:?} and may use {worst:?}")
                })?;
                let over = reserved.exceeds(&self.left());
                ensure(
                    over.is_none() || self.has_overrun,
                    Invariant::BooksAgree,
                    || format!("{ask} does not fit what is left in {over:?}"),
                )?;
                let call = OpenCall {
                    attempt: *attempt,
                    reserved: *reserved,
                    drawn: *drawn,
                    position,
                };
                self.calls.insert(*ask, call);
            }
            Command::Spawn { child, started, .. } => {
                if !self.grants.contains_key(child) {
                    self.grant(child, started.budget.amounts)?;
                }
            }
            Command::Propose { ask, .. } => {
                self.effects.entry(*ask).or_insert(EffectAt::Proposed);
            }
            Command::Attempt { ask, .. } => {
                let is_allowed = match cause {
                    EventKind::EffectDecided {
                        ask: decided,
                        decision: PolicyDecision::Allow { .. },
                    }
                    | EventKind::Signal(Signal::Decide {
                        ask: decided,
                        allow: true,
                        ..
                    }) => decided == ask,
                    _ => false,
                };
                ensure(is_allowed, Invariant::DecisionFirst, || {
                    format!("{ask} is attempted after {}", cause.name())
                })?;
                self.effects.insert(*ask, EffectAt::Attempted);
            }
            Command::Reconcile { ask, .. } => {
                self.effects.insert(*ask, EffectAt::Checked);
            }
            Command::Refuse { ask, .. } => {
                self.unsaid_refusals.insert(*ask);
            }
            Command::ReportOverrun { .. } | Command::ReportForfeit { .. }
                if self.repeated_reports > 0 =>
            {
                self.repeated_reports -= 1;
            }
            Command::ReportOverrun { .. } => self.unsaid_reports += 1,
            Command::ReportForfeit { amounts } => {
                self.spent = self.spent.plus(*amounts);
                self.unsaid_reports += 1;
            }
            Command::Finish { result } => self.finish(result)?,
            Command::Measure { .. }
            | Command::Summarise { .. }
            | Command::CancelCall { .. }
            | Command::SignalChild { .. }
            | Command::RunCell { .. }
            | Command::AnswerCell { .. }
            | Command::Append { .. }
            | Command::Emit { .. }
            | Command::Await { .. } => {}
        }
        Ok(())
    }

    fn grant(&mut self, child: &EpisodeId, grant: Amounts) -> Result<(), Violation> {
        let left = self.left();
        for dimension in SHARED {
            let (granted, left) = (grant.get(dimension), left.get(dimension));
            ensure(granted <= left / 2, Invariant::HalfRule, || {
                format!("{child} gets {granted} of {left} {dimension}")
            })?;
        }
        ensure(
            grant.episodes <= left.episodes,
            Invariant::EpisodesWithinLimit,
            || {
                format!(
                    "{child} gets {} of {} episodes",
                    grant.episodes, left.episodes
                )
            },
        )?;
        self.grants.insert(child.clone(), grant);
        Ok(())
    }

    fn finish(&mut self, result: &EpisodeResult) -> Result<(), Violation> {
        let is_open = |at: &EffectAt| *at != EffectAt::Proposed;
        ensure(
            self.calls.is_empty() && self.grants.is_empty() && !self.effects.values().any(is_open),
            Invariant::NothingOpenAtFinish,
            || {
                format!(
                    "calls {:?}, grants {:?}, effects {:?}",
                    self.calls, self.grants, self.effects
                )
            },
        )?;
        ensure(
            self.unsaid_refusals.is_empty() && self.unsaid_reports == 0,
            Invariant::NothingUnsaid,
            || {
                format!(
                    "refusals {:?} and {} reports",
                    self.unsaid_refusals, self.unsaid_reports
                )
            },
        )?;
        let budget = result.budget;
        ensure(
            budget.spent == self.spent && budget.limit == self.limit,
            Invariant::BooksAgree,
            || {
                format!(
                    "the result says {:?}, the journal {:?}",
                    budget.spent, self.spent
                )
            },
        )?;
        self.result = Some(Box::new(result.clone()));
        Ok(())
    }

    fn agrees(&self, accounts: &impl Accounts) -> Result<(), Violation> {
        let (reserved, left) = (self.reserved(), self.left());
        let exact = [Dimension::Tokens, Dimension::Calls, Dimension::Money];
        let agrees = accounts.limit() == self.limit
            && accounts.spent() == self.spent
            && exact.iter().all(|&d| {
                accounts.reserved().get(d) == reserved.get(d) && accounts.left().get(d) == left.get(d)
            })
            // An episode that winds down gives up proposed effects without a word.
            && accounts.reserved().tools <= reserved.tools
            && accounts.left().tools >= left.tools
            && accounts.left().episodes == left.episodes;
        ensure(agrees, Invariant::BooksAgree, || {
            format!(
                "spent {:?} and {:?}, reserved {:?} and {reserved:?}, left {:?} and {left:?}",
                accounts.spent(),
                self.spent,
                accounts.reserved(),
                accounts.left(),
            )
        })
    }
}

/// The books of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Audit {
    pub(super) books: BTreeMap<EpisodeId, Books>,
}

impl Audit {
    /// Takes in a record as it goes to the log.
    pub(super) fn take(
        &mut self,
        episode: &EpisodeId,
        record: &Record,
        position: Position,
    ) -> Result<(), Violation> {
        let kind = &record.event.kind;
        let overran = match kind {
            EventKind::ChildFinished { child, .. } => {
                self.books.get(child).is_some_and(|child| child.has_overrun)
            }
            _ => false,
        };
        let books = self.books.entry(episode.clone()).or_default();
        books.has_overrun |= overran;
        let taken = books.event(kind).and_then(|()| {
            let mut commands = record.commands.iter();
            commands.try_for_each(|command| books.command(kind, command, position))
        });
        taken.map_err(|violation| Violation {
            detail: format!("{episode} {}: {}", record.seq, violation.detail),
            ..violation
        })
    }

    /// Holds the ledger of an episode against the journal.
    pub(super) fn agrees(
        &self,
        episode: &EpisodeId,
        accounts: &impl Accounts,
    ) -> Result<(), Violation> {
        let Some(books) = self.books.get(episode) else {
            return Ok(());
        };
        books.agrees(accounts).map_err(|violation| Violation {
            detail: format!("{episode}: {}", violation.detail),
            ..violation
        })
    }

    pub(super) fn call(&self, episode: &EpisodeId, ask: AskId) -> Option<OpenCall> {
        self.books.get(episode)?.calls.get(&ask).copied()
    }

    /// Whether a lease that reaches `drawn` was written at or before `durable`.
    pub(super) fn is_leased(&self, episode: &EpisodeId, drawn: Amounts, durable: Position) -> bool {
        self.books.get(episode).is_some_and(|books| {
            let leases = books.leases.iter();
            leases
                .filter(|(_, position)| *position <= durable)
                .any(|(upto, _)| drawn.exceeds(upto).is_none())
        })
    }
}
