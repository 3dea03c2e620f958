//! A run: the tree of episodes under one owner, between a log and the outside.
//!
//! Whoever hosts a run (the embedded host, the crash simulator) gives events in and carries out the steps that
//! come back. What must wait for the disk is kept here until the log says how far it is durable, so no host
//! can forget to wait.

mod execute;
mod request_dedup;
pub mod step;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::budget::amounts::Amounts;
use crate::budget::ledger::{BudgetAccounts, Ledger};
use crate::effect::KillScope;
use crate::episode::Episode;
use crate::episode::program::ProgramFactory;
use crate::episode::result::EpisodeResult;
use crate::id::{Digest, EpisodeId, Epoch, Seq};
use crate::journal::command::{Command, ExternalWait};
use crate::journal::event::{EpisodeSpec, Event, EventKind, JournalRecord, ReleaseReason, Signal};
use crate::model::failure::ModelFailure;
use crate::run::step::{HostStep, LogPosition, RecordLog, ReplayDifference, RunWait};
use crate::unit::Timestamp;

use request_dedup::RequestDedup;

struct LiveEpisode<L> {
    episode: Episode<L>,
    next_seq: Seq,
    /// Leases in the order they were written: how much, and where.
    leases: VecDeque<(Amounts, LogPosition)>,
    /// True if it waits for people and children only.
    blocked: bool,
    outage: Option<ModelFailure>,
}

enum EpisodeSlot<L> {
    Live(Box<LiveEpisode<L>>),
    Finished {
        result: Box<EpisodeResult>,
        head: Digest,
    },
}

/// The tree of episodes under one owner.
pub struct Run<L = Ledger> {
    epoch: Epoch,
    programs: Arc<dyn ProgramFactory>,
    slots: BTreeMap<EpisodeId, EpisodeSlot<L>>,
    /// Episodes that are live, and those of them that could move without a person.
    live: usize,
    moving: usize,
    kills: Vec<KillScope>,
    durable: LogPosition,
    gated: BTreeMap<LogPosition, Vec<HostStep>>,
    told: RequestDedup,
    released: bool,
}

impl<L: BudgetAccounts> Run<L> {
    /// A run with no episode yet.
    pub fn new(epoch: Epoch, programs: Arc<dyn ProgramFactory>) -> Self {
        Self {
            epoch,
            programs,
            slots: BTreeMap::new(),
            live: 0,
            moving: 0,
            kills: Vec::new(),
            durable: LogPosition(0),
            gated: BTreeMap::new(),
            told: RequestDedup::default(),
            released: false,
        }
    }

    /// Begins the root.
    pub fn start(
        &mut self,
        log: &mut dyn RecordLog,
        at: Timestamp,
        started: EpisodeSpec,
    ) -> Vec<HostStep> {
        self.deliver(
            log,
            at,
            EpisodeId::root(),
            EventKind::Started(Box::new(started)),
        )
    }

    /// Folds one record of the journal, with the chain's head after it, and says where the fold differs.
    pub fn refold(
        &mut self,
        episode: &EpisodeId,
        record: &JournalRecord,
        head: Digest,
    ) -> Option<ReplayDifference> {
        let difference = |recorded: &[Command], folded: &[Command]| ReplayDifference {
            episode: episode.clone(),
            seq: record.seq,
            recorded: recorded.to_vec(),
            folded: folded.to_vec(),
        };
        let Some(folded) = self.fold(episode, &record.event) else {
            // Such a record is never written: its episode has not begun, began twice or was over.
            return Some(difference(&record.commands, &[]));
        };
        if let Some(EpisodeSlot::Live(live)) = self.slots.get_mut(episode) {
            live.next_seq = record.seq.next();
        }
        self.told.hear(episode, record.seq, &record.event.kind);
        // The root hears of every switch. Records of a child may be read after it, when the switch is lifted.
        if let EventKind::Signal(signal) = &record.event.kind
            && episode.is_root()
        {
            self.note_kill(signal);
        }
        // Words included: a text that the fold makes differently counts as a different command.
        let difference = (folded != record.commands).then(|| difference(&record.commands, &folded));
        for command in folded {
            match command {
                Command::Finish { result } => {
                    self.close(episode, result, head);
                    self.told.over(episode);
                }
                Command::Measure {
                    ask,
                    model,
                    request,
                    once: true,
                    ..
                } => {
                    self.told.note(episode, ask, model, &request);
                }
                Command::CallModel { ask, .. } => self.told.sent(episode, ask),
                Command::Await { awaited } => self.note_outage(episode, &awaited),
                // What is read from the journal is durable.
                Command::Lease { upto } => self.lease(episode, upto, LogPosition(0)),
                _ => {}
            }
        }
        self.told.settle();
        difference
    }

    /// Goes on with a run that was refolded from its journal.
    pub fn resume(&mut self, log: &mut dyn RecordLog, at: Timestamp) -> Vec<HostStep> {
        self.told.resume();
        let mut queue = VecDeque::new();
        for (id, episode) in self.live() {
            queue.push_back((id.clone(), EventKind::Resumed));
            // A crash may have come between two episodes that were told of the same kill switch.
            let thrown = self.kills.iter().filter(|k| !episode.kills().contains(k));
            let lifted = episode.kills().iter().filter(|k| !self.kills.contains(k));
            let thrown = thrown.cloned().map(|scope| Signal::Kill { scope });
            let lifted = lifted.cloned().map(|scope| Signal::Lift { scope });
            for signal in thrown.chain(lifted) {
                queue.push_back((id.clone(), EventKind::Signal(signal)));
            }
        }
        self.process(log, at, queue)
    }

    /// Gives an event to an episode. One that is over takes none.
    pub fn deliver(
        &mut self,
        log: &mut dyn RecordLog,
        at: Timestamp,
        episode: EpisodeId,
        kind: EventKind,
    ) -> Vec<HostStep> {
        self.process(log, at, VecDeque::from([(episode, kind)]))
    }

    /// Gives a signal to those it concerns.
    pub fn signal(
        &mut self,
        log: &mut dyn RecordLog,
        at: Timestamp,
        signal: &Signal,
    ) -> Vec<HostStep> {
        self.note_kill(signal);
        let concerns = |id: &EpisodeId| match signal {
            Signal::Cancel => id.is_root(),
            Signal::Decide { episode, .. } => id == episode,
            Signal::Kill { .. } | Signal::Lift { .. } => true,
        };
        let mut queue: VecDeque<_> = self
            .slots
            .keys()
            .filter(|id| concerns(id))
            .map(|id| (id.clone(), EventKind::Signal(signal.clone())))
            .collect();
        if let Signal::Kill { scope } = signal {
            queue.extend(self.withhold(scope));
        }
        self.process(log, at, queue)
    }

    /// Lets go of the run: nothing is carried out any more.
    pub fn release(&mut self, log: &mut dyn RecordLog, at: Timestamp, why: ReleaseReason) {
        let queue = self
            .slots
            .keys()
            .map(|id| (id.clone(), EventKind::Released { why }))
            .collect();
        self.process(log, at, queue);
        // What waits for the log was never sent. The next owner issues it again.
        self.gated.clear();
        self.released = true;
    }

    /// The log is durable up to here: what waited for that may go out.
    pub fn durable(&mut self, upto: LogPosition) -> Vec<HostStep> {
        let held_back = self.awaits_log();
        self.durable = self.durable.max(upto);
        let later = self
            .gated
            .split_off(&LogPosition(self.durable.0.saturating_add(1)));
        let due = std::mem::replace(&mut self.gated, later);
        // In the order of their positions, which is the order in which they were asked for.
        let mut steps: Vec<HostStep> = due.into_values().flatten().collect();
        // A wait was not announced while steps were held back, and nothing else would announce it now.
        if held_back {
            steps.extend(self.waiting().map(HostStep::Waiting));
        }
        steps
    }

    /// The reason why nothing moves until a person acts, if that is so. Steps that wait for the log go out first: an
    /// owner who lets go of the run would never show them.
    pub fn waiting(&self) -> Option<RunWait> {
        (self.moving == 0 && self.live > 0 && !self.awaits_log()).then(|| self.wait())
    }

    /// True if any step waits for the log.
    pub fn awaits_log(&self) -> bool {
        self.gated.values().any(|steps| !steps.is_empty())
    }

    /// The root's result, once it is over.
    pub fn result(&self) -> Option<&EpisodeResult> {
        match self.slots.get(&EpisodeId::root()) {
            Some(EpisodeSlot::Finished { result, .. }) => Some(result),
            _ => None,
        }
    }

    /// The episodes that are not over.
    pub fn live(&self) -> impl Iterator<Item = (&EpisodeId, &Episode<L>)> {
        self.slots.iter().filter_map(|(id, slot)| match slot {
            EpisodeSlot::Live(live) => Some((id, &live.episode)),
            EpisodeSlot::Finished { .. } => None,
        })
    }

    /// Number of episodes that the run has had.
    pub fn episodes(&self) -> usize {
        self.slots.len()
    }

    fn process(
        &mut self,
        log: &mut dyn RecordLog,
        at: Timestamp,
        mut queue: VecDeque<(EpisodeId, EventKind)>,
    ) -> Vec<HostStep> {
        let mut steps = Vec::new();
        // Late answers must not be appended: the next owner may already write under its own epoch.
        if self.released {
            return steps;
        }
        while let Some((id, kind)) = queue.pop_front() {
            let begins = matches!(kind, EventKind::Started(_));
            let resumes = matches!(kind, EventKind::Resumed);
            let event = Event { at, kind };
            let Some(commands) = self.fold(&id, &event) else {
                continue;
            };
            let Some(EpisodeSlot::Live(live)) = self.slots.get_mut(&id) else {
                continue;
            };
            let seq = live.next_seq;
            live.next_seq = seq.next();
            steps.extend(self.told.hear(&id, seq, &event.kind));
            let record = JournalRecord {
                seq,
                epoch: self.epoch,
                event,
                commands: commands.clone(),
            };
            // Written before its commands are carried out. After a crash a resumed run issues them again; the other way
            // round an answer could come to a question that no record holds.
            let appended = log.append(&id, record);
            if resumes {
                self.take_over_leases(&id, appended.position);
            }
            for command in commands {
                self.carry_out(&id, command, appended, &mut queue, &mut steps);
            }
            if begins {
                // A switch that was thrown before the episode began holds for it as well.
                for scope in &self.kills {
                    let scope = scope.clone();
                    queue.push_back((id.clone(), EventKind::Signal(Signal::Kill { scope })));
                }
            }
        }
        // Only now, with the queue empty, is it certain that nobody in this batch goes on with a request that others
        // wait for.
        steps.extend(self.told.settle());
        steps.extend(self.waiting().map(HostStep::Waiting));
        steps
    }

    /// Folds an event into its episode; nothing when the episode is over, unknown or begins twice.
    fn fold(&mut self, id: &EpisodeId, event: &Event) -> Option<Vec<Command>> {
        let commands = match (self.slots.get_mut(id), &event.kind) {
            (None, EventKind::Started(started)) => {
                let (episode, commands) =
                    Episode::begin(id.clone(), event.at, started, &*self.programs);
                let live = LiveEpisode {
                    episode,
                    next_seq: Seq(0),
                    leases: VecDeque::new(),
                    blocked: false,
                    outage: None,
                };
                self.slots
                    .insert(id.clone(), EpisodeSlot::Live(Box::new(live)));
                self.live += 1;
                self.moving += 1;
                commands
            }
            (Some(EpisodeSlot::Live(live)), kind) if !matches!(kind, EventKind::Started(_)) => {
                if matches!(kind, EventKind::Resumed) {
                    live.outage = None;
                }
                live.episode.on(event)
            }
            _ => return None,
        };
        if let Some(EpisodeSlot::Live(live)) = self.slots.get_mut(id) {
            let blocked = live.episode.is_blocked();
            // Counted as it changes: with thousands of episodes a scan after each event would be too slow.
            match (live.blocked, blocked) {
                (false, true) => self.moving -= 1,
                (true, false) => self.moving += 1,
                _ => {}
            }
            live.blocked = blocked;
        }
        Some(commands)
    }

    fn close(&mut self, id: &EpisodeId, result: Box<EpisodeResult>, head: Digest) {
        let over = self
            .slots
            .insert(id.clone(), EpisodeSlot::Finished { result, head });
        if let Some(EpisodeSlot::Live(live)) = over {
            self.live -= 1;
            self.moving -= usize::from(!live.blocked);
        }
    }

    fn note_kill(&mut self, signal: &Signal) {
        match signal {
            Signal::Kill { scope } if !self.kills.contains(scope) => self.kills.push(scope.clone()),
            Signal::Lift { scope } => self.kills.retain(|killed| killed != scope),
            Signal::Kill { .. } | Signal::Cancel | Signal::Decide { .. } => {}
        }
    }

    fn note_outage(&mut self, id: &EpisodeId, awaited: &ExternalWait) {
        if let (Some(EpisodeSlot::Live(live)), ExternalWait::Repair { failure, .. }) =
            (self.slots.get_mut(id), awaited)
        {
            live.outage = Some(failure.clone());
        }
    }

    fn wait(&self) -> RunWait {
        let outage = self.slots.values().find_map(|slot| match slot {
            EpisodeSlot::Live(live) if live.episode.is_stalled() => live.outage.clone(),
            EpisodeSlot::Live(_) | EpisodeSlot::Finished { .. } => None,
        });
        outage.map_or(RunWait::Approval, RunWait::Outage)
    }
}
