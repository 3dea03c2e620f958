//! The oracle: what the outside was told, held against what the journal keeps.

use std::collections::{BTreeMap, BTreeSet};

use fathom_core::command::Command;
use fathom_core::effect::{
    ApprovalTerms, EffectRequest, IdempotencyKey, KillScope, PolicyDecision,
};
use fathom_core::episode::Episode;
use fathom_core::event::{CallOutcome, EventKind, Signal};
use fathom_core::id::{AskId, Digest, EpisodeId};
use fathom_core::ledger::Accounts;
use fathom_core::outcome::EpisodeResult;
use fathom_core::step::Position;
use fathom_core::unit::{Millis, Timestamp};

use super::aftermath::Aftermath;
use super::gateway::Fate;
use super::journal::{Entered, Recovered};
use super::platform::{self, Sender};
use super::violation::{Invariant, Violation, ensure};

/// Active time of an episode, counted from its records.
#[derive(Clone, Copy, Debug)]
struct Watch {
    limit: Millis,
    active: Millis,
    last: Timestamp,
    is_paused: bool,
}

/// What was acknowledged, and what follows from it.
#[derive(Default)]
pub(super) struct Oracle {
    /// Heads of all records that were called durable, in the order of the log.
    acknowledged: Vec<Digest>,
    replies: BTreeSet<(EpisodeId, AskId)>,
    intents: BTreeSet<Sender>,
    /// What was sent, whatever the journal says.
    attempted: BTreeSet<Sender>,
    blocks: BTreeMap<(EpisodeId, String), u64>,
    shown: BTreeMap<(EpisodeId, String), u64>,
    result: Option<EpisodeResult>,
    shown_result: Option<EpisodeResult>,
    proposals: BTreeMap<Sender, EffectRequest>,
    /// Kill switches that the run knows for certain.
    kills: Vec<KillScope>,
    /// Episodes that were told to stop, for certain.
    cancelled: BTreeSet<EpisodeId>,
    watches: BTreeMap<EpisodeId, Watch>,
    /// What only a person may allow.
    guarded: BTreeSet<IdempotencyKey>,
    /// What people were asked and not answered yet.
    terms: BTreeMap<Sender, Box<ApprovalTerms>>,
    /// What was sent when an owner died, and not settled.
    cut_off: BTreeSet<Sender>,
}

impl Oracle {
    pub(super) fn new(manners: &platform::Manners) -> Self {
        let fates = manners.fates.iter();
        let guarded = fates.filter(|(_, fate)| **fate != Fate::Free);
        Self {
            guarded: guarded.map(|(key, _)| key.clone()).collect(),
            ..Self::default()
        }
    }

    pub(super) fn cut_off(&self) -> &BTreeSet<Sender> {
        &self.cut_off
    }

    pub(super) fn durable(&self) -> Position {
        Position(self.acknowledged.len() as u64)
    }

    /// A record is durable.
    pub(super) fn acknowledge(&mut self, entry: &Entered) {
        self.acknowledged.push(entry.head);
        self.learn(entry);
    }

    fn learn(&mut self, entry: &Entered) {
        let episode = &entry.episode;
        match &entry.record.event.kind {
            EventKind::ModelReplied {
                ask,
                outcome: CallOutcome::Replied(_),
                ..
            } => {
                self.replies.insert((episode.clone(), *ask));
            }
            EventKind::Signal(Signal::Cancel) => {
                self.cancelled.insert(episode.clone());
            }
            EventKind::Signal(Signal::Kill { scope }) if !self.kills.contains(scope) => {
                self.kills.push(scope.clone());
            }
            EventKind::Signal(Signal::Lift { scope }) => {
                self.kills.retain(|killed| killed != scope);
            }
            _ => {}
        }
        for command in &entry.record.commands {
            match command {
                Command::Propose { ask, effect } => {
                    let sender = (episode.clone(), *ask);
                    self.proposals.insert(sender, effect.clone());
                }
                Command::Attempt { ask, .. } => {
                    self.intents.insert((episode.clone(), *ask));
                }
                Command::Emit { block } => {
                    let key = (episode.clone(), block.text.as_str().to_owned());
                    *self.blocks.entry(key).or_default() += 1;
                }
                Command::SignalChild {
                    child,
                    signal: Signal::Cancel,
                } => {
                    self.cancelled.insert(child.clone());
                }
                Command::Finish { result } if episode.is_root() => {
                    self.result = Some((**result).clone());
                }
                _ => {}
            }
        }
    }

    /// Everything that was acknowledged must be in what a new owner found. From here on all of that counts.
    pub(super) fn recover(&mut self, recovered: &Recovered) -> Result<(), Violation> {
        self.is_kept(recovered)?;
        let shown = std::mem::take(&mut self.shown);
        let shown_result = self.shown_result.take();
        let attempted = std::mem::take(&mut self.attempted);
        let guarded = std::mem::take(&mut self.guarded);
        let cut_off = std::mem::take(&mut self.cut_off);
        *self = Self {
            attempted,
            shown,
            shown_result,
            guarded,
            cut_off,
            ..Self::default()
        };
        for entry in &recovered.entries {
            self.acknowledge(entry);
            self.note_terms(entry);
        }
        self.cut_off
            .extend(Aftermath::read(&recovered.entries).open());
        self.shown_is_durable()
    }

    pub(super) fn is_kept(&self, recovered: &Recovered) -> Result<(), Violation> {
        let found = recovered.entries.iter().map(|entry| entry.head);
        let kept = self.acknowledged.iter().zip(found);
        let kept = kept.take_while(|(a, b)| **a == *b).count();
        ensure(
            kept == self.acknowledged.len(),
            Invariant::AcknowledgedIsKept,
            || {
                format!(
                    "{kept} of {} acknowledged records are left, {} were found: {:?}",
                    self.acknowledged.len(),
                    recovered.entries.len(),
                    recovered.broken,
                )
            },
        )
    }

    pub(super) fn may_call(&self, episode: &EpisodeId, ask: AskId) -> Result<(), Violation> {
        let is_known = self.replies.contains(&(episode.clone(), ask));
        ensure(!is_known, Invariant::NeverAskedAgain, || {
            format!("{episode} {ask} was answered, durably")
        })?;
        let is_stopped = self.kills.contains(&KillScope::Global)
            || self.cancelled.iter().any(|stopped| stopped.covers(episode));
        ensure(!is_stopped, Invariant::KillSwitch, || {
            format!("{episode} {ask} is called after the run was stopped, durably")
        })
    }

    pub(super) fn may_attempt(&mut self, sender: &Sender) -> Result<(), Violation> {
        let has_intent = self.intents.contains(sender);
        ensure(has_intent, Invariant::IntentFirst, || {
            format!("{} {}", sender.0, sender.1)
        })?;
        let is_first = self.attempted.insert(sender.clone());
        ensure(is_first, Invariant::EffectOnce, || {
            format!("{} {} is sent again", sender.0, sender.1)
        })
    }

    pub(super) fn show_block(&mut self, episode: &EpisodeId, text: &str) -> Result<(), Violation> {
        let key = (episode.clone(), text.to_owned());
        *self.shown.entry(key).or_default() += 1;
        self.shown_is_durable()
    }

    pub(super) fn show_result(&mut self, result: &EpisodeResult) -> Result<(), Violation> {
        self.shown_result = Some(result.clone());
        self.shown_is_durable()
    }

    pub(super) fn shown_result(&self) -> Option<&EpisodeResult> {
        self.shown_result.as_ref()
    }

    fn shown_is_durable(&self) -> Result<(), Violation> {
        let unfounded = self.shown.iter().find(|(key, times)| {
            let durable = self.blocks.get(key).copied().unwrap_or_default();
            durable < **times
        });
        ensure(unfounded.is_none(), Invariant::ShownIsDurable, || {
            format!("{unfounded:?} was shown")
        })?;
        let is_durable = self.shown_result.is_none() || self.shown_result == self.result;
        ensure(is_durable, Invariant::ShownIsDurable, || {
            format!("a result was shown, durable is {:?}", self.result)
        })
    }

    pub(super) fn proposal(&self, sender: &Sender) -> Option<EffectRequest> {
        self.proposals.get(sender).cloned()
    }

    /// Looks at a record that a run just wrote: no new work when the time is up or the kill switch says no.
    pub(super) fn look<L: Accounts>(
        &mut self,
        entry: &Entered,
        episode: Option<&Episode<L>>,
    ) -> Result<(), Violation> {
        self.watch(entry, episode);
        self.is_approved(entry)?;
        // A switch holds once it is durable, and no longer than until the run hears that it is lifted.
        if let EventKind::Signal(Signal::Lift { scope }) = &entry.record.event.kind {
            self.kills.retain(|killed| killed != scope);
        }
        let watch = self.watches.get(&entry.episode);
        let is_late = watch.is_some_and(|watch| watch.active >= watch.limit);
        let is_resuming = matches!(entry.record.event.kind, EventKind::Resumed);
        for command in &entry.record.commands {
            let is_new = match command {
                Command::CallModel { .. } | Command::Attempt { .. } => true,
                Command::Spawn { .. } | Command::Propose { .. } => !is_resuming,
                _ => false,
            };
            ensure(!(is_new && is_late), Invariant::DeadlineHolds, || {
                format!("{} {} asks for more", entry.episode, entry.record.seq)
            })?;
            if let Command::Attempt { effect, .. } = command {
                let kill = self.kills.iter().find(|kill| kill.covers(&effect.target));
                ensure(kill.is_none(), Invariant::KillSwitch, || {
                    format!("{} attempts what {kill:?} covers", entry.episode)
                })?;
            }
        }
        Ok(())
    }

    fn note_terms(&mut self, entry: &Entered) {
        if let EventKind::EffectDecided {
            ask,
            decision: PolicyDecision::NeedsApproval { terms, .. },
            ..
        } = &entry.record.event.kind
        {
            let sender = (entry.episode.clone(), *ask);
            self.terms.insert(sender, terms.clone());
        }
    }

    /// What only a person may allow is attempted on their word alone: about this effect, in time, and once.
    fn is_approved(&mut self, entry: &Entered) -> Result<(), Violation> {
        self.note_terms(entry);
        let event = &entry.record.event;
        for command in &entry.record.commands {
            let Command::Attempt { ask, effect } = command else {
                continue;
            };
            // Whoever is told yes is not waited for any more.
            let terms = self.terms.remove(&(entry.episode.clone(), *ask));
            if !self.guarded.contains(&effect.key()) {
                continue;
            }
            let is_approved = match (&event.kind, terms) {
                (
                    EventKind::Signal(Signal::Decide {
                        ask: decided,
                        allow: true,
                        binding,
                        ..
                    }),
                    Some(terms),
                ) => decided == ask && *binding == terms.binding && event.at < terms.expires,
                _ => false,
            };
            ensure(is_approved, Invariant::ApprovalHolds, || {
                format!(
                    "{} {ask} is attempted after {}",
                    entry.episode,
                    event.kind.name()
                )
            })?;
        }
        Ok(())
    }

    /// Counts the time between two records, unless nothing could move without a person.
    pub(super) fn watch<L: Accounts>(&mut self, entry: &Entered, episode: Option<&Episode<L>>) {
        let at = entry.record.event.at;
        if let EventKind::Started(started) = &entry.record.event.kind {
            let watch = Watch {
                limit: started.budget.time,
                active: Millis(0),
                last: at,
                is_paused: false,
            };
            self.watches.insert(entry.episode.clone(), watch);
        }
        let Some(watch) = self.watches.get_mut(&entry.episode) else {
            return;
        };
        let is_resuming = matches!(entry.record.event.kind, EventKind::Resumed);
        if !watch.is_paused && !is_resuming {
            watch.active.0 += at.since(watch.last).0;
        }
        watch.last = at;
        let is_released = matches!(entry.record.event.kind, EventKind::Released { .. });
        watch.is_paused = is_released || episode.is_some_and(Episode::waits_for_person);
    }
}
