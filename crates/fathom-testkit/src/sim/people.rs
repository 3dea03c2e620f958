//! People around a run: they decide, cancel, interrupt and throw the kill switch.

use fathom_core::budget::ledger::BudgetAccounts;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::{Command, ExternalWait};
use fathom_core::journal::event::{ReleaseReason, Signal};
use fathom_core::run::step::{LogPosition, RunWait};

use super::agenda::AgendaItem;
use super::journal::EnteredRecord;
use super::platform::{BINDING, SimSender};
use super::violation::InvariantViolation;
use super::world::SimWorld;

/// A signal from outside. It is handed to the next owner until a record that took it in is found in the journal.
pub(super) struct PersonRow {
    signal: Signal,
    /// The first record that takes it in; the word is gone in the same commit, as in the store.
    pub(super) taken_at: Option<LogPosition>,
}

impl<L: BudgetAccounts> SimWorld<L> {
    pub(super) fn plan_people(&mut self) {
        let people = self.scenario.people.clone();
        if let Some(at) = people.cancels_after {
            self.agenda.plan(at, AgendaItem::Post(Signal::Cancel));
        }
        if let Some((at, scope, lift)) = people.kill {
            if let Some(at) = lift {
                let scope = scope.clone();
                self.agenda
                    .plan(at, AgendaItem::Post(Signal::Lift { scope }));
            }
            self.agenda
                .plan(at, AgendaItem::Post(Signal::Kill { scope }));
        }
        if let Some(at) = people.meddles_after {
            let signal = Signal::Decide {
                episode: EpisodeId::root(),
                ask: AskId(u32::try_from(self.rng.below(8)).unwrap_or_default()),
                allow: true,
                by: "a meddler".into(),
                binding: BINDING,
            };
            self.agenda.plan(at, AgendaItem::Post(signal));
        }
        if let Some(at) = people.interrupts_after {
            self.agenda.plan(at, AgendaItem::Interrupt);
        }
    }

    /// Sends the run a signal, and notifies its owner, if it has one.
    pub(super) fn post(&mut self, signal: Signal) -> Result<(), InvariantViolation> {
        match &signal {
            Signal::Kill { scope } => self.kills.push(scope.clone()),
            Signal::Lift { scope } => self.kills.retain(|killed| killed != scope),
            Signal::Cancel | Signal::Decide { .. } => {}
        }
        self.rows.push(PersonRow {
            signal,
            taken_at: None,
        });
        self.deliver_rows()
    }

    /// The owner takes in what was left for it.
    pub(super) fn deliver_rows(&mut self) -> Result<(), InvariantViolation> {
        while let Some(host) = &mut self.host
            && !self.boundary.has_crashed()
            && let Some(row) = self.rows.iter_mut().find(|row| row.taken_at.is_none())
        {
            row.taken_at = Some(LogPosition(host.journal.position().0 + 1));
            let signal = row.signal.clone();
            if self.rng.chance(500) {
                self.boundary.hasten(8);
            }
            self.drive(|run, log, now| run.signal(log, now, &signal))?;
        }
        Ok(())
    }

    /// Effects that durably wait for a person find one.
    pub(super) fn ask_people(&mut self, entries: &[EnteredRecord]) {
        for entry in entries {
            for command in &entry.record.commands {
                if let Command::Await {
                    awaited: ExternalWait::Approval { ask },
                } = command
                {
                    let within = self.scenario.people.decides_within;
                    let sender = (entry.episode.clone(), *ask);
                    let clock = self.clock.now();
                    let wait = self.platform.thinks_for(&sender, within, clock);
                    let at = self.now.saturating_add(wait);
                    self.agenda.plan(at, AgendaItem::Judge(sender));
                }
            }
        }
    }

    pub(super) fn judge(&mut self, sender: SimSender) -> Result<(), InvariantViolation> {
        let Some(effect) = self.oracle.proposal(&sender) else {
            return Ok(());
        };
        let at = self.clock.now();
        let Some((allow, binding)) = self.platform.person_says(&sender, &effect, at) else {
            return Ok(());
        };
        self.post(Signal::Decide {
            episode: sender.0,
            ask: sender.1,
            allow,
            by: "someone".into(),
            binding,
        })
    }

    /// Only a person can move the run: the owner lets go, or stays a little.
    pub(super) fn let_go(&mut self) -> Result<(), InvariantViolation> {
        let Some(host) = &self.host else {
            return Ok(());
        };
        let Some(wait) = host.waiting.clone() else {
            return Ok(());
        };
        if host.run.awaits_log() || host.journal.has_unsynced() {
            self.agenda.plan(self.now + 1, AgendaItem::LetGo);
            return Ok(());
        }
        match wait {
            RunWait::Outage(_) => self.release(ReleaseReason::Outage),
            RunWait::Approval if self.rng.chance(self.scenario.releases_permille) => {
                self.release(ReleaseReason::AwaitingApproval)
            }
            RunWait::Approval => Ok(()),
        }
    }
}
