//! An auditor who has nothing but the journal and books of its own.
//!
//! Tools and episodes are left out: neither is leased, and both are counted where they are used.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use fathom_core::budget::amounts::{Amounts, Dimension};
use fathom_core::contract::stop::Refusal;
use fathom_core::episode::billed;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::{Command, ExternalWait};
use fathom_core::journal::event::{EventKind, JournalRecord, Signal};
use fathom_core::model::RequestEstimate;

use fathom_testkit::manual_host::log::Journal;

/// The dimensions that calls use.
const AUDITED: [Dimension; 3] = [Dimension::Tokens, Dimension::Calls, Dimension::Money];

fn audited(amounts: Amounts) -> Amounts {
    Amounts {
        tools: 0,
        episodes: 0,
        ..amounts
    }
}

/// How far an effect has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Proposed,
    Awaiting,
    Attempted,
}

#[derive(Default)]
struct Books {
    limit: Amounts,
    spent: Amounts,
    calls: BTreeMap<AskId, (u16, Amounts)>,
    grants: BTreeMap<EpisodeId, Amounts>,
    effects: BTreeMap<AskId, Stage>,
    measured: BTreeMap<AskId, RequestEstimate>,
    wanted: BTreeMap<AskId, u32>,
    /// The ask that was served last of those served for the first time.
    served: Option<AskId>,
    known: BTreeSet<AskId>,
    refused: BTreeSet<AskId>,
    /// Forfeits that were reported and are not events yet, and those of them that a new owner reports again.
    unsaid: VecDeque<Amounts>,
    repeats: VecDeque<Amounts>,
}

impl Books {
    fn gone(&self) -> Amounts {
        let own = self.calls.values().map(|(_, reserved)| *reserved);
        own.chain(self.grants.values().copied())
            .fold(self.spent, Amounts::plus)
    }

    fn left(&self) -> Amounts {
        self.limit.minus(self.gone())
    }

    fn is_in_flight(&self) -> bool {
        !(self.calls.is_empty() && self.grants.is_empty() && self.effects.is_empty())
    }

    fn on_event(&mut self, event: &EventKind) {
        match event {
            EventKind::Started(started) => self.limit = audited(started.budget.amounts),
            EventKind::Measured { ask, measured, .. } => {
                self.measured.insert(*ask, *measured);
            }
            EventKind::ModelReplied {
                ask,
                attempt,
                outcome,
                ..
            } => {
                if let Some(&(number, reserved)) = self.calls.get(ask)
                    && number == *attempt
                {
                    self.calls.remove(ask);
                    let used = billed(outcome, &self.measured[ask], reserved);
                    self.spent = self.spent.plus(used);
                }
            }
            EventKind::ChildFinished { child, result, .. }
                if self.grants.remove(child).is_some() =>
            {
                self.spent = self.spent.plus(audited(result.budget.spent));
            }
            EventKind::Forfeited { .. } => {
                self.unsaid.pop_front();
            }
            EventKind::Resumed => {
                self.repeats = self.unsaid.clone();
                let lost = std::mem::take(&mut self.calls);
                self.spent = lost
                    .into_values()
                    .fold(self.spent, |sum, (_, reserved)| sum.plus(reserved));
            }
            _ => {}
        }
    }

    fn on_command(&mut self, command: &Command) {
        match command {
            Command::Measure { ask, request, .. } => {
                self.wanted.insert(*ask, request.output_tokens_max);
            }
            Command::CallModel {
                ask,
                attempt,
                request,
                reserved,
                ..
            } => {
                let worst = self.measured[ask].worst_case(request.output_tokens_max);
                assert_eq!(*reserved, worst, "a reservation is the worst case");
                assert_eq!(reserved.exceeds(&self.left()), None, "{ask} does not fit");
                if request.output_tokens_max < self.wanted[ask] {
                    assert!(!self.is_in_flight(), "{ask} was shrunk too early");
                    self.wanted.insert(*ask, request.output_tokens_max);
                }
                self.serve(*ask);
                self.calls.insert(*ask, (*attempt, *reserved));
            }
            Command::Spawn {
                ask,
                child,
                started,
            } => {
                let granted = audited(started.budget.amounts);
                match self.grants.get(child) {
                    Some(before) => assert_eq!(*before, granted, "a grant changed"),
                    None => self.check_grant(child, granted),
                }
                self.serve(*ask);
                self.grants.insert(child.clone(), granted);
            }
            Command::Propose { ask, .. } => {
                self.serve(*ask);
                self.effects.insert(*ask, Stage::Proposed);
            }
            Command::Refuse { ask, reason } => {
                // After a crash a refusal that was not heard is said again, whatever is in flight by then.
                let is_news = self.refused.insert(*ask);
                if is_news && matches!(reason, Refusal::Budget { .. } | Refusal::Closing { .. }) {
                    assert!(!self.is_in_flight(), "{ask} was refused too early");
                }
                self.serve(*ask);
            }
            Command::ReportForfeit { amounts } => {
                if self.repeats.front() == Some(amounts) {
                    self.repeats.pop_front();
                } else {
                    self.unsaid.push_back(*amounts);
                    self.spent = self.spent.plus(*amounts);
                }
            }
            _ => {}
        }
    }

    fn check_grant(&self, child: &EpisodeId, granted: Amounts) {
        let left = self.left();
        for dimension in AUDITED {
            assert!(
                granted.get(dimension) <= left.get(dimension) / 2,
                "{child} got {} of {} {dimension}",
                granted.get(dimension),
                left.get(dimension)
            );
        }
    }

    /// Asks are served in the order of asking; what is served again keeps its place.
    fn serve(&mut self, ask: AskId) {
        if self.known.insert(ask) {
            assert!(self.served < Some(ask), "{ask} overtook {:?}", self.served);
            self.served = Some(ask);
        }
    }

    /// An effect that was decided on or settled goes on with a command, or it is over.
    fn on_effect(&mut self, event: &EventKind, commands: &[Command]) {
        let (ask, stage) = match event {
            EventKind::EffectDecided { ask, .. } => (ask, Stage::Proposed),
            EventKind::Signal(Signal::Decide { ask, .. }) => (ask, Stage::Awaiting),
            EventKind::EffectSettled { ask, .. } => (ask, Stage::Attempted),
            _ => return,
        };
        if self.effects.get(ask) != Some(&stage) {
            return;
        }
        let next = commands.iter().find_map(|command| match command {
            Command::Await {
                awaited: ExternalWait::Approval { ask: a },
            } if a == ask => Some(Stage::Awaiting),
            Command::Attempt { ask: a, .. } | Command::Reconcile { ask: a, .. } if a == ask => {
                Some(Stage::Attempted)
            }
            _ => None,
        });
        match next {
            Some(next) => self.effects.insert(*ask, next),
            None => self.effects.remove(ask),
        };
    }

    fn on_record(&mut self, record: &JournalRecord) {
        self.on_event(&record.event.kind);
        self.on_effect(&record.event.kind, &record.commands);
        for command in &record.commands {
            self.on_command(command);
            let gone = self.gone();
            assert_eq!(
                gone.exceeds(&self.limit),
                None,
                "more is gone than was there"
            );
        }
        if let Some(result) = record.result() {
            assert_eq!(
                audited(result.budget.spent),
                self.spent,
                "the result says another sum than the journal"
            );
        }
    }
}

/// Goes through a journal and checks every reservation, grant, refusal and result in it.
pub(crate) fn audit(journal: &Journal) {
    let mut books: BTreeMap<EpisodeId, Books> = BTreeMap::new();
    for entry in &journal.entries {
        books
            .entry(entry.episode.clone())
            .or_default()
            .on_record(&entry.record);
    }
}
