//! Owners of a run: taking over, letting go, crashing, and waking up too late.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fathom_core::budget::ledger::BudgetAccounts;
use fathom_core::contract::stop::StopReason;
use fathom_core::episode::program::ProgramFactory;
use fathom_core::id::EpisodeId;
use fathom_core::journal::event::{EventKind, ReleaseReason};
use fathom_core::run::Run;
use fathom_core::run::step::LogPosition;
use fathom_store::journal::seal::address_of;

use super::ScenarioReport;
use super::agenda::AgendaItem;
use super::audit::Auditor;
use super::bug::{ChangedPrograms, PlantedBug};
use super::crash_points::CrashPoint;
use super::disk::{CrashKind, DiskError};
use super::effect_history::EffectHistory;
use super::journal::{RecoveredLog, SimJournal, SimStopped, SimWriter, recover};
use super::violation::{InvariantViolation, SimInvariant, ensure};
use super::world::{SimHost, SimWorld};
use crate::drill::DrillPrograms;

/// Room that someone makes on a full disk.
const ROOM_BYTES: usize = 100_000;

impl<L: BudgetAccounts> SimWorld<L> {
    /// A process takes the run over: it reads the disk, checks the chains, becomes the owner, folds and continues.
    pub(super) fn restart(&mut self) -> Result<(), InvariantViolation> {
        let Ok(bytes) = self.disk.read() else {
            self.coverage.read_failures += 1;
            self.agenda.plan(self.now + 100, AgendaItem::Restart);
            return Ok(());
        };
        let recovered = recover(self.run_id, &bytes, self.bug);
        if let Some(broken) = &recovered.broken {
            self.coverage.torn_tails += 1;
            self.note(|| format!("torn: {broken}"));
        }
        self.oracle.is_kept(&recovered)?;
        let journal = match self.take_over(&recovered) {
            Ok(Some(journal)) => journal,
            Ok(None) => return Ok(()),
            Err(error) => {
                match error {
                    DiskError::Full => self.coverage.full_disks += 1,
                    DiskError::Io => self.coverage.write_failures += 1,
                }
                self.disk.grow(ROOM_BYTES);
                self.agenda.plan(self.now + 100, AgendaItem::Restart);
                return Ok(());
            }
        };
        self.oracle.recover(&recovered)?;
        let found = LogPosition(recovered.entries.len() as u64);
        for row in &mut self.rows {
            row.taken_at = row.taken_at.filter(|position| *position <= found);
        }
        let run = self.refold(&recovered, &journal)?;
        let mut audit = Auditor::default();
        for (at, entry) in (1..).zip(&recovered.entries) {
            audit.take(&entry.episode, &entry.record, LogPosition(at))?;
        }
        let epoch = journal.epoch();
        self.note(|| format!("owner {epoch:?} with {} records", recovered.entries.len()));
        self.host = Some(SimHost {
            run,
            journal,
            audit,
            waiting: None,
            calls: BTreeMap::new(),
            unanswered: BTreeSet::new(),
        });
        if self.bug == Some(PlantedBug::ClaimForgotten) {
            self.platform.forget_claims();
        }
        if self.boundary.crosses() {
            return Ok(());
        }
        self.take_up(&recovered)
    }

    /// Makes what was found durable before anything is built on it; nothing when the process dies meanwhile.
    fn take_over(&mut self, recovered: &RecoveredLog) -> Result<Option<SimJournal>, DiskError> {
        let epoch = SimJournal::claim(recovered, &mut self.disk)?;
        if self.boundary.crosses() {
            return Ok(None);
        }
        if self.bug != Some(PlantedBug::UnsyncedTakeOver) {
            self.disk.sync()?;
        }
        self.disk.owner = epoch;
        if self.boundary.crosses() {
            return Ok(None);
        }
        let is_buffered = self.scenario.disk.is_buffered;
        let journal = SimJournal::open(self.run_id, epoch, recovered, is_buffered);
        Ok(Some(journal))
    }

    fn refold(
        &mut self,
        recovered: &RecoveredLog,
        journal: &SimJournal,
    ) -> Result<Run<L>, InvariantViolation> {
        let programs: Arc<dyn ProgramFactory> = match self.bug {
            Some(PlantedBug::ProgramChanged) if !recovered.entries.is_empty() => {
                Arc::new(ChangedPrograms)
            }
            _ => Arc::new(DrillPrograms),
        };
        let mut run = Run::<L>::new(journal.epoch(), programs);
        let mut entries = recovered.entries.as_slice();
        if self.bug == Some(PlantedBug::SequenceReused)
            && let [all_but_last @ .., _] = entries
            && !all_but_last.is_empty()
        {
            entries = all_but_last;
        }
        for entry in entries {
            let difference = run.refold(&entry.episode, &entry.record, entry.head);
            ensure(difference.is_none(), SimInvariant::RefoldAgrees, || {
                format!("{difference:?}")
            })?;
            let mut live = run.live();
            let episode = live.find(|(id, _)| **id == entry.episode);
            self.oracle
                .watch(entry, episode.map(|(_, episode)| episode));
        }
        run.durable(journal.position());
        Ok(run)
    }

    fn take_up(&mut self, recovered: &RecoveredLog) -> Result<(), InvariantViolation> {
        if recovered.entries.is_empty() {
            let started = self.scenario.started.clone();
            self.drive(|run, log, at| run.start(log, at, started))?;
        } else if let Some(result) = self.host.as_ref().and_then(|host| host.run.result()) {
            // It ended, and the one who should have said so did not live to.
            let result = result.clone();
            return self.finish(&result);
        } else {
            self.drive(|run, log, at| run.resume(log, at))?;
        }
        self.deliver_rows()
    }

    /// The disk failed: nothing more can be promised, so the process ends without another word.
    pub(super) fn stop(&mut self, why: SimStopped) {
        self.note(|| format!("stopped: {why:?}"));
        match why {
            SimStopped::Disk(DiskError::Full) => {
                self.coverage.full_disks += 1;
                self.disk.grow(ROOM_BYTES);
            }
            SimStopped::Disk(DiskError::Io) => self.coverage.sync_failures += 1,
            SimStopped::Fenced => self.coverage.fenced += 1,
        }
        self.leave();
    }

    /// The process is gone, and with it all that was under way inside.
    fn leave(&mut self) {
        self.host = None;
        for item in self.agenda.drain_inside() {
            match item {
                AgendaItem::Arrive { sender, effect } if self.platform.orphan(&sender, &effect) => {
                    let at = self.now + self.rng.between(1, 8_000);
                    self.agenda.plan(at, AgendaItem::Land);
                }
                AgendaItem::Settle { sender, effect, .. } => {
                    self.platform.unheard(&sender, &effect);
                }
                _ => {}
            }
        }
        let at = self.now + self.rng.between(1, 4_000);
        self.agenda.plan(at, AgendaItem::Restart);
    }

    pub(super) fn crash(&mut self) {
        self.coverage.crashes += 1;
        self.boundary.restart();
        if self.rng.chance(self.scenario.hangs_permille) && self.host.is_some() {
            self.note(|| "hangs".into());
            self.coverage.hangs += 1;
            self.zombie = self.host.take();
            let at = self.now + self.rng.between(1, 8_000);
            self.agenda.plan(at, AgendaItem::Wake);
        } else {
            let how = if self.rng.chance(self.scenario.power_permille) {
                self.coverage.power_losses += 1;
                self.zombie = None;
                CrashKind::Power
            } else {
                CrashKind::Process
            };
            let damage = self.disk.crash(how);
            self.note(|| format!("crash: {how:?} {damage:?}"));
        }
        self.leave();
    }

    /// An owner that was considered dead continues where it was, and finds its records refused.
    pub(super) fn wake(&mut self) {
        let Some(mut zombie) = self.zombie.take() else {
            return;
        };
        // It may have been stopped in the middle of something; what its own books say is nobody's concern.
        let mut violation = None;
        let mut boundary = CrashPoint::new(0, 1, self.rng.fork());
        let mut writer = SimWriter {
            journal: &mut zombie.journal,
            disk: &mut self.disk,
            audit: &mut zombie.audit,
            boundary: &mut boundary,
            violation: &mut violation,
        };
        let at = self.clock.now();
        zombie
            .run
            .deliver(&mut writer, at, EpisodeId::root(), EventKind::Tick);
        if let Err(SimStopped::Fenced) = zombie.journal.commit(&mut self.disk) {
            self.coverage.fenced += 1;
        }
    }

    /// Lets go of the run: writes that down, and ends when it is durable.
    pub(super) fn release(&mut self, why: ReleaseReason) -> Result<(), InvariantViolation> {
        self.drive(|run, log, at| {
            run.release(log, at, why);
            Vec::new()
        })?;
        if self.boundary.has_crashed() {
            return Ok(());
        }
        let Some(host) = &mut self.host else {
            return Ok(());
        };
        match host.journal.commit(&mut self.disk) {
            Ok(entries) => {
                self.coverage.releases += 1;
                for entry in &entries {
                    self.oracle.acknowledge(entry);
                }
                self.ask_people(&entries);
                self.leave();
            }
            Err(why) => self.stop(why),
        }
        Ok(())
    }

    /// After the end: the power goes once more, and everything that was shown must still be there.
    pub(super) fn verify(&mut self) -> Result<ScenarioReport, InvariantViolation> {
        self.host = None;
        self.disk.crash(CrashKind::Power);
        self.disk.read_failures_permille = 0;
        let bytes = self.disk.read().unwrap_or_default();
        let recovered = recover(self.run_id, &bytes, None);
        self.oracle.is_kept(&recovered)?;
        ensure(
            recovered.broken.is_none(),
            SimInvariant::ChainVerifies,
            || format!("{:?}", recovered.broken),
        )?;
        let aftermath = EffectHistory::read(&recovered.entries);
        let uncertain = self.platform.uncertain.union(self.oracle.cut_off());
        aftermath.is_orderly(uncertain, &self.platform)?;
        aftermath.count(&mut self.coverage);
        self.coverage.finished += 1;
        self.coverage.calls = self.provider.sent;
        self.coverage.attempts = self.platform.attempts;
        self.coverage.unknown_effects = self.platform.unknown;
        self.coverage.late_effects = self.platform.late;
        let heads = recovered.entries.iter().flat_map(|entry| entry.head.0);
        let result = self.oracle.shown_result();
        Ok(ScenarioReport {
            stop: result.map_or(StopReason::Cancelled, |result| result.stop_reason.clone()),
            coverage: self.coverage,
            journal: address_of(&heads.collect::<Vec<u8>>()),
        })
    }
}
