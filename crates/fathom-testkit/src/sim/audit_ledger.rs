//! The auditor's books of one episode, kept from its records alone.
//!
//! They know the rules of SPEC E06 and E07 and nothing of the ledger's code, so a mistake in one is not repeated
//! here.

use std::collections::{BTreeMap, BTreeSet};

use fathom_core::budget::amounts::{Amounts, Dimension};
use fathom_core::budget::ledger::{BudgetAccounts, SHARED};
use fathom_core::effect::{EffectOutcome, PolicyDecision};
use fathom_core::episode::result::EpisodeResult;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, JournalRecord, ModelCallOutcome, Signal};
use fathom_core::model::failure::CallBilling;
use fathom_core::model::{ModelRequest, RequestEstimate};
use fathom_core::run::step::LogPosition;
use fathom_core::unit::Timestamp;

use super::violation::{InvariantViolation, SimInvariant, ensure};

/// A call that may be on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenCall {
    pub(super) attempt: u16,
    pub(super) reserved: Amounts,
    pub(super) drawn: Amounts,
    pub(super) position: LogPosition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EffectAt {
    /// A tool call is set aside.
    Proposed,
    /// A person must decide, before this moment.
    Deferred(Timestamp),
    Attempted,
    Checked,
}

/// The books of one episode.
#[derive(Clone, Debug, Default)]
pub(super) struct AuditLedger {
    pub(super) limit: Amounts,
    pub(super) spent: Amounts,
    pub(super) calls: BTreeMap<AskId, OpenCall>,
    measured: BTreeMap<AskId, (u16, RequestEstimate)>,
    effects: BTreeMap<AskId, EffectAt>,
    grants: BTreeMap<EpisodeId, Amounts>,
    children_spent: Amounts,
    /// Leases in force: how much, and where it was written.
    pub(super) leases: Vec<(Amounts, LogPosition)>,
    unsaid_refusals: BTreeSet<AskId>,
    unsaid_reports: u32,
    /// Reports that a new owner says again; they count for nothing more.
    repeated_reports: u32,
    pub(super) has_overrun: bool,
    /// Calls that the program gave up.
    given_up: BTreeSet<AskId>,
    /// The one call past the closing mark.
    closing_call: Option<AskId>,
    /// True if the last owner left in good order.
    is_released: bool,
    pub(super) result: Option<Box<EpisodeResult>>,
}

impl AuditLedger {
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

    /// Maximum cost of the episode's own calls, those in flight and those forgotten included.
    pub(super) fn own(&self) -> Amounts {
        let spent = self.spent.minus(self.children_spent);
        spent.plus(self.reserved())
    }

    /// Takes in a record.
    pub(super) fn take(
        &mut self,
        record: &JournalRecord,
        position: LogPosition,
    ) -> Result<(), InvariantViolation> {
        let kind = &record.event.kind;
        self.event(kind)?;
        let is_released = matches!(kind, EventKind::Released { .. })
            || (self.is_released && !matches!(kind, EventKind::Resumed));
        if !is_released {
            // What nobody said yes to in time is given back.
            let at = record.event.at;
            self.effects
                .retain(|_, effect| !matches!(effect, EffectAt::Deferred(end) if *end <= at));
        }
        for command in &record.commands {
            self.command(kind, command, position)?;
        }
        if let Some(result) = record.result() {
            let is_here = result.position == record.seq;
            ensure(is_here, SimInvariant::BooksAgree, || {
                format!(
                    "the result lies at {}, not at {}",
                    record.seq, result.position
                )
            })?;
        }
        self.is_released = is_released;
        Ok(())
    }

    fn event(&mut self, kind: &EventKind) -> Result<(), InvariantViolation> {
        match kind {
            EventKind::Started(started) => {
                let policy = &started.contract.recursion;
                self.limit = started.budget.amounts;
                self.limit.episodes = self.limit.episodes.min(policy.max_total_episodes.into());
                self.spent.episodes = 1;
            }
            EventKind::Measured {
                ask,
                measured,
                round,
                ..
            } => {
                // What counts is the answer to the last question; an earlier one may come again, late.
                let known = self.measured.entry(*ask).or_insert((*round, *measured));
                if known.0 < *round {
                    *known = (*round, *measured);
                }
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
            EventKind::EffectDecided { ask, decision, .. } => {
                if self.effects.get(ask) == Some(&EffectAt::Proposed) {
                    match decision {
                        PolicyDecision::Allow { .. } => {}
                        PolicyDecision::Deny { .. } => {
                            self.effects.remove(ask);
                        }
                        PolicyDecision::NeedsApproval { terms, .. } => {
                            let deferred = EffectAt::Deferred(terms.expires);
                            self.effects.insert(*ask, deferred);
                        }
                    }
                }
            }
            EventKind::Signal(Signal::Decide {
                ask, allow: false, ..
            }) => {
                if let Some(EffectAt::Deferred(_)) = self.effects.get(ask) {
                    self.effects.remove(ask);
                }
            }
            EventKind::EffectSettled { ask, outcome, .. } => self.settle_effect(*ask, outcome),
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
            EventKind::Overrun { .. }
            | EventKind::TokenBudgetOverrun { .. }
            | EventKind::Forfeited { .. } => {
                self.unsaid_reports = self.unsaid_reports.saturating_sub(1);
            }
            EventKind::Released { .. }
            | EventKind::Summarised { .. }
            | EventKind::DomainAnswered { .. }
            | EventKind::ModelDelta { .. }
            | EventKind::CellYielded { .. }
            | EventKind::CellFinished { .. }
            | EventKind::Signal(_)
            | EventKind::Tick => {}
        }
        Ok(())
    }

    fn settle_call(&mut self, ask: AskId, attempt: u16, outcome: &ModelCallOutcome) {
        let Some(call) = self.calls.get(&ask).copied() else {
            return;
        };
        if call.attempt != attempt {
            return;
        }
        self.calls.remove(&ask);
        let usage = match outcome {
            ModelCallOutcome::Replied(reply) => Some(reply.usage),
            ModelCallOutcome::Failed(failure) => match failure.billing {
                CallBilling::Nothing => return,
                CallBilling::Perhaps => None,
                CallBilling::Reported(usage) => Some(usage),
            },
        };
        let price = self.measured.get(&ask).map(|(_, m)| m.price);
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

    fn close_grant(
        &mut self,
        child: &EpisodeId,
        result: &EpisodeResult,
    ) -> Result<(), InvariantViolation> {
        let Some(grant) = self.grants.remove(child) else {
            return Ok(());
        };
        let spent = result.budget.spent;
        self.spent = self.spent.plus(spent);
        self.children_spent = self.children_spent.plus(spent);
        let over = spent.exceeds(&grant);
        ensure(
            over.is_none() || self.has_overrun,
            SimInvariant::BooksAgree,
            || format!("{child} spent more than its grant in {over:?}: {spent:?} of {grant:?}"),
        )
    }

    fn settle_effect(&mut self, ask: AskId, outcome: &EffectOutcome) {
        match (self.effects.get(&ask), outcome) {
            (None | Some(EffectAt::Proposed | EffectAt::Deferred(_)), _) => {}
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
        position: LogPosition,
    ) -> Result<(), InvariantViolation> {
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
                let call = OpenCall {
                    attempt: *attempt,
                    reserved: *reserved,
                    drawn: *drawn,
                    position,
                };
                self.call(*ask, request, call)?;
            }
            Command::CancelCall { ask, .. } => {
                self.given_up.insert(*ask);
            }
            Command::Spawn { child, started, .. } => {
                if !self.grants.contains_key(child) {
                    self.is_open_for("a child")?;
                    self.grant(child, started.budget.amounts)?;
                }
            }
            Command::Propose { ask, .. } => {
                if !self.effects.contains_key(ask) {
                    self.is_open_for("an effect")?;
                    self.effects.insert(*ask, EffectAt::Proposed);
                }
            }
            Command::Attempt { ask, .. } => {
                let at = self.effects.get(ask);
                let is_allowed = match cause {
                    EventKind::EffectDecided {
                        ask: decided,
                        decision: PolicyDecision::Allow { .. },
                        ..
                    } => decided == ask && at == Some(&EffectAt::Proposed),
                    EventKind::Signal(Signal::Decide {
                        ask: decided,
                        allow: true,
                        ..
                    }) => decided == ask && matches!(at, Some(EffectAt::Deferred(_))),
                    _ => false,
                };
                ensure(is_allowed, SimInvariant::DecisionFirst, || {
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
            Command::ReportOverrun { .. }
            | Command::ReportShortening { .. }
            | Command::ReportForfeit { .. }
                if self.repeated_reports > 0 =>
            {
                self.repeated_reports -= 1;
            }
            Command::ReportOverrun { .. } | Command::ReportShortening { .. } => {
                self.unsaid_reports += 1;
            }
            Command::ReportForfeit { amounts } => {
                ensure(!self.is_released, SimInvariant::BooksAgree, || {
                    format!("{amounts:?} are forfeited, and nothing was lost")
                })?;
                self.spent = self.spent.plus(*amounts);
                self.unsaid_reports += 1;
            }
            Command::Finish { result } => self.finish(result)?,
            Command::Measure { .. }
            | Command::Summarise { .. }
            | Command::SignalChild { .. }
            | Command::RunCell { .. }
            | Command::AnswerCell { .. }
            | Command::Domain { .. }
            | Command::Emit { .. }
            | Command::Await { .. }
            | Command::Post { .. } => {}
        }
        Ok(())
    }

    /// Past 70 % of a dimension there is one closing call, and nothing else.
    fn closing(&self) -> Option<Dimension> {
        let used = self.spent.plus(self.reserved());
        SHARED.into_iter().find(|&dimension| {
            let (used, limit) = (used.get(dimension), self.limit.get(dimension));
            limit > 0 && u128::from(used) * 10 >= u128::from(limit) * 7
        })
    }

    fn is_open_for(&self, what: &str) -> Result<(), InvariantViolation> {
        let closing = self.closing();
        ensure(closing.is_none(), SimInvariant::ClosingRule, || {
            format!("{what} past 70 % of {closing:?}")
        })
    }

    fn call(
        &mut self,
        ask: AskId,
        request: &ModelRequest,
        call: OpenCall,
    ) -> Result<(), InvariantViolation> {
        let measured = self.measured.get(&ask).map(|(_, measured)| measured);
        let worst = measured.map_or(Amounts::ZERO, |m| m.worst_case(request.output_tokens_max));
        let reserved = call.reserved;
        ensure(reserved == worst, SimInvariant::BooksAgree, || {
            format!("{ask} reserves {reserved:?} and may use {worst:?}")
        })?;
        let over = reserved.exceeds(&self.left());
        ensure(
            over.is_none() || self.has_overrun,
            SimInvariant::BooksAgree,
            || format!("{ask} does not fit what is left in {over:?}"),
        )?;
        ensure(
            !self.given_up.contains(&ask),
            SimInvariant::GivenUpStays,
            || format!("{ask} was given up"),
        )?;
        if self.closing().is_some() {
            let closing_call = *self.closing_call.get_or_insert(ask);
            ensure(closing_call == ask, SimInvariant::ClosingRule, || {
                format!("{ask} is called after the closing call {closing_call}")
            })?;
        }
        self.calls.insert(ask, call);
        Ok(())
    }

    fn grant(&mut self, child: &EpisodeId, grant: Amounts) -> Result<(), InvariantViolation> {
        let left = self.left();
        for dimension in SHARED {
            let (granted, left) = (grant.get(dimension), left.get(dimension));
            ensure(granted <= left / 2, SimInvariant::HalfRule, || {
                format!("{child} gets {granted} of {left} {dimension}")
            })?;
        }
        ensure(
            grant.episodes <= left.episodes,
            SimInvariant::EpisodesWithinLimit,
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

    fn finish(&mut self, result: &EpisodeResult) -> Result<(), InvariantViolation> {
        let is_open = |at: &EffectAt| matches!(at, EffectAt::Attempted | EffectAt::Checked);
        ensure(
            self.calls.is_empty() && self.grants.is_empty() && !self.effects.values().any(is_open),
            SimInvariant::NothingOpenAtFinish,
            || {
                format!(
                    "calls {:?}, grants {:?}, effects {:?}",
                    self.calls, self.grants, self.effects
                )
            },
        )?;
        ensure(
            self.unsaid_refusals.is_empty() && self.unsaid_reports == 0,
            SimInvariant::NothingUnsaid,
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
            SimInvariant::BooksAgree,
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

    pub(super) fn agrees(&self, accounts: &impl BudgetAccounts) -> Result<(), InvariantViolation> {
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
        ensure(agrees, SimInvariant::BooksAgree, || {
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
