//! The simulated world: one run, its owners one after another, and everything around them.

use std::collections::{BTreeMap, BTreeSet};

use fathom_core::budget::ledger::BudgetAccounts;
use fathom_core::effect::KillScope;
use fathom_core::id::{AskId, EpisodeId, RunId};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, ReleaseReason};
use fathom_core::model::CountPrecision;
use fathom_core::run::Run;
use fathom_core::run::step::{HostStep, RunWait};
use fathom_core::unit::{Millis, Timestamp};

use super::agenda::{AgendaItem, SimAgenda, SimMoment};
use super::audit::Auditor;
use super::bug::PlantedBug;
use super::coverage::Coverage;
use super::crash_points::CrashPoint;
use super::disk::SimDisk;
use super::journal::{EnteredRecord, SimJournal, SimWriter};
use super::oracle::BudgetOracle;
use super::people::PersonRow;
use super::platform::SimPlatform;
use super::provider::{CallId, SimProvider};
use super::rng::SimRng;
use super::scenario::SimScenario;
use super::violation::{InvariantViolation, SimInvariant, ensure};
use super::{ScenarioKind, ScenarioReport};
use crate::clock::FakeClock;

/// Most things that may happen in one scenario: a world that never ends is stuck in its own way.
const EVENTS_MAX: u64 = 60_000;

/// One process that owns the run.
pub(super) struct SimHost<L> {
    pub(super) run: Run<L>,
    pub(super) journal: SimJournal,
    pub(super) audit: Auditor,
    /// Reason why nothing moves, if nothing does.
    pub(super) waiting: Option<RunWait>,
    /// Calls it was asked to make, and where they are on the agenda.
    pub(super) calls: BTreeMap<CallId, Option<SimMoment>>,
    /// Steps it has not answered yet.
    pub(super) unanswered: BTreeSet<(EpisodeId, AskId, &'static str)>,
}

pub(super) struct SimWorld<L> {
    pub(super) bug: Option<PlantedBug>,
    pub(super) scenario: SimScenario,
    pub(super) rng: SimRng,
    pub(super) run_id: RunId,
    /// True time; the clock may show another.
    pub(super) now: u64,
    pub(super) clock: FakeClock,
    pub(super) disk: SimDisk,
    pub(super) provider: SimProvider,
    pub(super) platform: SimPlatform,
    pub(super) boundary: CrashPoint,
    pub(super) oracle: BudgetOracle,
    pub(super) coverage: Coverage,
    pub(super) agenda: SimAgenda,
    pub(super) host: Option<SimHost<L>>,
    pub(super) zombie: Option<SimHost<L>>,
    pub(super) rows: Vec<PersonRow>,
    pub(super) kills: Vec<KillScope>,
    pub(super) is_over: bool,
    events: u64,
    trace: Option<Vec<String>>,
}

impl<L: BudgetAccounts> SimWorld<L> {
    pub(super) fn new(
        story: ScenarioKind,
        seed: u64,
        bug: Option<PlantedBug>,
        is_traced: bool,
    ) -> Self {
        let mut rng = SimRng::new(seed);
        let scenario = match story {
            ScenarioKind::Mixed => SimScenario::draw(&mut rng),
            ScenarioKind::Publishing => SimScenario::publishing(&mut rng),
        };
        let manners = scenario.disk;
        let mut disk = SimDisk::new(manners.capacity, rng.fork());
        disk.write_failures_permille = manners.write_failures_permille;
        disk.sync_failures_permille = manners.sync_failures_permille;
        disk.read_failures_permille = manners.read_failures_permille;
        disk.lies = bug == Some(PlantedBug::SkippedFsync);
        disk.unfenced = bug == Some(PlantedBug::OwnerNotFenced);
        let mut id = [0; 16];
        id[..8].copy_from_slice(&seed.to_be_bytes());
        Self {
            bug,
            run_id: RunId::from_bytes(id),
            now: 0,
            clock: FakeClock::default(),
            disk,
            provider: SimProvider::new(scenario.provider.clone(), rng.fork()),
            platform: SimPlatform::new(scenario.platform.clone(), bug, rng.fork()),
            boundary: CrashPoint::new(scenario.crashes, scenario.crash_spacing, rng.fork()),
            oracle: BudgetOracle::new(&scenario.platform),
            coverage: Coverage::default(),
            agenda: SimAgenda::default(),
            host: None,
            zombie: None,
            rows: Vec::new(),
            kills: Vec::new(),
            is_over: false,
            events: 0,
            trace: is_traced.then(Vec::new),
            scenario,
            rng,
        }
    }

    pub(super) fn note(&mut self, line: impl FnOnce() -> String) {
        let now = self.now;
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{now:>8} {}", line()));
        }
    }

    /// Lives through the scenario; what was noted is given back whatever came of it.
    pub(super) fn live(mut self) -> (Result<ScenarioReport, InvariantViolation>, Vec<String>) {
        self.note(|| String::from("begin"));
        let scenario = format!("{:?}", self.scenario);
        self.note(|| scenario);
        let outcome = self.go().and_then(|()| self.verify());
        (outcome, self.trace.unwrap_or_default())
    }

    fn go(&mut self) -> Result<(), InvariantViolation> {
        self.plan_people();
        self.agenda.plan(0, AgendaItem::Restart);
        while !self.is_over {
            self.events += 1;
            ensure(self.events < EVENTS_MAX, SimInvariant::Progress, || {
                format!("not over after {EVENTS_MAX} events")
            })?;
            self.is_moving()?;
            let Some((moment, item)) = self.agenda.next() else {
                return Err(InvariantViolation::new(
                    SimInvariant::Progress,
                    "nothing is left to happen",
                ));
            };
            self.pass_time(moment.0);
            if self.host.is_some() && self.boundary.crosses() {
                self.agenda.put_back(moment, item);
            } else {
                self.note(|| format!("{item:?}"));
                self.happen(item)?;
            }
            if self.boundary.has_crashed() {
                self.crash();
            } else {
                self.check()?;
            }
        }
        Ok(())
    }

    fn pass_time(&mut self, at: u64) {
        let passed = at.saturating_sub(self.now);
        self.now = self.now.max(at);
        self.clock.advance(Millis(passed));
        if self.rng.chance(self.scenario.clock_jumps_permille) {
            self.coverage.clock_jumps += 1;
            let by = Millis(self.rng.pick(&[1, 500, 5_000, 3_600_000]));
            if self.rng.chance(700) {
                self.clock.put_back(by);
            } else {
                self.clock.advance(by);
            }
        }
    }

    /// Checks that something is under way, unless the run waits for a person or has no owner.
    fn is_moving(&self) -> Result<(), InvariantViolation> {
        let Some(host) = &self.host else {
            return Ok(());
        };
        let works = self.agenda.has(AgendaItem::is_work);
        if host.waiting.is_none() {
            return ensure(works, SimInvariant::Progress, || {
                "nothing is under way, and nobody is waited for".into()
            });
        }
        let is_busy = self.agenda.has(AgendaItem::is_costly);
        ensure(!is_busy, SimInvariant::Progress, || {
            "it says that it waits for a person while something is under way".into()
        })
    }

    fn happen(&mut self, item: AgendaItem) -> Result<(), InvariantViolation> {
        match item {
            AgendaItem::Restart => self.restart(),
            AgendaItem::Land => {
                self.platform.land();
                Ok(())
            }
            AgendaItem::Wake => {
                self.wake();
                Ok(())
            }
            AgendaItem::Post(signal) => self.post(signal),
            AgendaItem::Judge(sender) => self.judge(sender),
            AgendaItem::Interrupt => self.release(ReleaseReason::Interrupted),
            AgendaItem::Commit => self.commit(),
            AgendaItem::LetGo => self.let_go(),
            item => self.answer(item),
        }
    }

    /// Gives the run something to work on and carries out what comes back, unless the process died meanwhile.
    pub(super) fn drive(
        &mut self,
        work: impl FnOnce(&mut Run<L>, &mut SimWriter<'_>, Timestamp) -> Vec<HostStep>,
    ) -> Result<(), InvariantViolation> {
        let at = self.clock.now();
        let Some(host) = &mut self.host else {
            return Ok(());
        };
        let before = host.journal.tail.len();
        let mut violation = None;
        let mut writer = SimWriter {
            journal: &mut host.journal,
            disk: &mut self.disk,
            audit: &mut host.audit,
            boundary: &mut self.boundary,
            violation: &mut violation,
        };
        let steps = work(&mut host.run, &mut writer, at);
        host.waiting = None;
        self.observe(before)?;
        if let Some(violation) = violation {
            return Err(violation);
        }
        if self.boundary.has_crashed() {
            return Ok(());
        }
        self.misreport()?;
        self.plan_commit();
        self.carry_out_all(steps)
    }

    /// Looks at the records that were just written.
    fn observe(&mut self, before: usize) -> Result<(), InvariantViolation> {
        let Some(host) = &self.host else {
            return Ok(());
        };
        let epoch = host.journal.epoch();
        let lines: Vec<String> = match self.trace {
            Some(_) => host.journal.tail[before..].iter().map(line).collect(),
            None => Vec::new(),
        };
        for entry in &host.journal.tail[before..] {
            self.coverage.see(&entry.record);
            let mut live = host.run.live();
            let episode = live.find(|(id, _)| **id == entry.episode);
            self.oracle
                .look(entry, episode.map(|(_, episode)| episode))?;
            if let EventKind::ModelReplied {
                ask,
                attempt,
                outcome,
                ..
            } = &entry.record.event.kind
            {
                let id = CallId {
                    epoch,
                    episode: entry.episode.clone(),
                    ask: *ask,
                    attempt: *attempt,
                };
                let given = self.provider.answers.get(&id);
                ensure(given == Some(outcome), SimInvariant::AnswersBelong, || {
                    format!("{id:?} is answered with {outcome:?}, the provider said {given:?}")
                })?;
            }
        }
        for line in lines {
            self.note(|| line);
        }
        Ok(())
    }

    /// Planted bugs of the host's: it says too early what only the disk can say.
    fn misreport(&mut self) -> Result<(), InvariantViolation> {
        let Some(host) = &mut self.host else {
            return Ok(());
        };
        let unsynced = host.journal.tail.iter();
        let mut commands = unsynced.flat_map(|entry| &entry.record.commands);
        let is_hasty: fn(&HostStep) -> bool = match self.bug {
            Some(PlantedBug::EffectBeforeIntent)
                if commands.any(|command| matches!(command, Command::Attempt { .. })) =>
            {
                |step| matches!(step, HostStep::Attempt(_))
            }
            Some(PlantedBug::CallBeforeLease) => |step| matches!(step, HostStep::Call { .. }),
            _ => return self.blurt(),
        };
        let steps = host.run.durable(host.journal.position()).into_iter();
        self.carry_out_all(steps.filter(is_hasty).collect())
    }

    /// Another planted bug of the host's: it does not wait with the result.
    fn blurt(&mut self) -> Result<(), InvariantViolation> {
        let result = self.host.as_ref().and_then(|host| host.run.result());
        match result.cloned() {
            Some(result) if self.bug == Some(PlantedBug::AnswerBeforeDurable) => {
                self.oracle.show_result(&result)
            }
            _ => Ok(()),
        }
    }

    fn plan_commit(&mut self) {
        let unsynced = self.host.as_ref().is_some_and(|h| h.journal.has_unsynced());
        if unsynced && !self.agenda.has(|item| matches!(item, AgendaItem::Commit)) {
            let at = self.now + self.rng.between(1, self.scenario.disk.sync_within);
            self.agenda.plan(at, AgendaItem::Commit);
        }
    }

    fn commit(&mut self) -> Result<(), InvariantViolation> {
        let Some(host) = &mut self.host else {
            return Ok(());
        };
        host.journal.write(&mut self.disk);
        if self.boundary.crosses() {
            return Ok(());
        }
        let entries = match host.journal.commit(&mut self.disk) {
            Ok(entries) => entries,
            Err(why) => {
                self.stop(why);
                return Ok(());
            }
        };
        if self.boundary.crosses() {
            return Ok(());
        }
        let position = host.journal.position();
        for entry in &entries {
            self.oracle.acknowledge(entry);
        }
        if self.bug == Some(PlantedBug::WakeUpLost) && self.rng.chance(100) {
            return Ok(());
        }
        let mut steps = host.run.durable(position);
        if self.bug == Some(PlantedBug::StepTwice) && self.rng.chance(50) {
            let again: Vec<HostStep> = steps.iter().filter_map(twin).collect();
            steps.extend(again);
        }
        self.ask_people(&entries);
        self.carry_out_all(steps)
    }

    /// Everything that must hold between two events.
    fn check(&mut self) -> Result<(), InvariantViolation> {
        if let Some(twice) = self.platform.done_too_often() {
            return Err(InvariantViolation::new(SimInvariant::EffectOnce, twice));
        }
        if let Some(free) = self.platform.unclaimed() {
            return Err(InvariantViolation::new(SimInvariant::ClaimStays, free));
        }
        let Some(host) = &self.host else {
            return Ok(());
        };
        for (id, episode) in host.run.live() {
            host.audit.agrees(id, episode.accounts())?;
        }
        self.check_bill(host)
    }

    fn check_bill(&self, host: &SimHost<L>) -> Result<(), InvariantViolation> {
        let limit = self.scenario.started.budget.amounts;
        ensure(
            self.platform.attempts <= limit.tools,
            SimInvariant::ToolsWithinLimit,
            || format!("{} of {}", self.platform.attempts, limit.tools),
        )?;
        let episodes = host.run.episodes() as u64;
        ensure(
            episodes <= limit.episodes,
            SimInvariant::EpisodesWithinLimit,
            || format!("{episodes} of {}", limit.episodes),
        )?;
        if self.scenario.provider.exactness != CountPrecision::Exact {
            return Ok(());
        }
        let total = self.provider.bill_of(&EpisodeId::root());
        let over = total.exceeds(&limit);
        ensure(over.is_none(), SimInvariant::BillWithinLimit, || {
            format!("{total:?} billed of {limit:?}")
        })?;
        for (id, books) in &host.audit.books {
            let bill = self.provider.billed.get(id).copied().unwrap_or_default();
            let over = bill.exceeds(&books.own());
            ensure(over.is_none(), SimInvariant::BooksCoverBill, || {
                format!("{id} is billed {bill:?}, its books cover {:?}", books.own())
            })?;
        }
        Ok(())
    }
}

/// A record in a line, for those who read traces.
fn line(entry: &EnteredRecord) -> String {
    let commands: Vec<String> = entry
        .record
        .commands
        .iter()
        .map(|command| {
            let mut text = format!("{command:?}");
            if let Some((at, _)) = text.char_indices().nth(160) {
                text.truncate(at);
            }
            text
        })
        .collect();
    let mut event = format!("{:?}", entry.record.event.kind);
    if let Some((at, _)) = event.char_indices().nth(200) {
        event.truncate(at);
    }
    format!(
        "  {} {} {event} -> {}",
        entry.episode,
        entry.record.seq,
        commands.join(" | ")
    )
}

/// The same step once more, for a host that cannot count. A permit has no twin.
fn twin(step: &HostStep) -> Option<HostStep> {
    match step {
        HostStep::Call {
            episode,
            ask,
            attempt,
            model,
            request,
            not_before,
        } => Some(HostStep::Call {
            episode: episode.clone(),
            ask: *ask,
            attempt: *attempt,
            model: *model,
            request: request.clone(),
            not_before: *not_before,
        }),
        HostStep::Emit { episode, block } => Some(HostStep::Emit {
            episode: episode.clone(),
            block: block.clone(),
        }),
        HostStep::Finished(result) => Some(HostStep::Finished(result.clone())),
        _ => None,
    }
}
