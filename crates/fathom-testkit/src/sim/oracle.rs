//! The oracle: what the outside was told, held against what the journal keeps.

use std::collections::{BTreeMap, BTreeSet};

use fathom_core::budget::ledger::BudgetAccounts;
use fathom_core::effect::{
    ApprovalTerms, EffectRequest, IdempotencyKey, KillScope, PolicyDecision,
};
use fathom_core::episode::Episode;
use fathom_core::episode::result::EpisodeResult;
use fathom_core::id::{AskId, Digest, EpisodeId};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, ModelCallOutcome, Signal};
use fathom_core::run::step::LogPosition;
use fathom_core::unit::{Millis, Timestamp};

use super::effect_history::EffectHistory;
use super::gateway::SendFate;
use super::journal::{EnteredRecord, RecoveredLog};
use super::platform::{self, SimSender};
use super::violation::{InvariantViolation, SimInvariant, ensure};

/// Active time of an episode, counted from its records.
#[derive(Clone, Copy, Debug)]
struct OracleWatch {
    limit: Millis,
    active: Millis,
    last: Timestamp,
    is_paused: bool,
}

/// Acknowledged records, and the facts that follow from them.
#[derive(Default)]
pub(super) struct BudgetOracle {
    /// Heads of all records that were called durable, in the order of the log.
    acknowledged: Vec<Digest>,
    replies: BTreeSet<(EpisodeId, AskId)>,
    intents: BTreeSet<SimSender>,
    /// Effects that were sent, whatever the journal says.
    attempted: BTreeSet<SimSender>,
    blocks: BTreeMap<(EpisodeId, String), u64>,
    shown: BTreeMap<(EpisodeId, String), u64>,
    result: Option<EpisodeResult>,
    shown_result: Option<EpisodeResult>,
    proposals: BTreeMap<SimSender, EffectRequest>,
    /// Kill switches that the run knows for certain.
    kills: Vec<KillScope>,
    /// Episodes that were told to stop, for certain.
    cancelled: BTreeSet<EpisodeId>,
    watches: BTreeMap<EpisodeId, OracleWatch>,
    /// Effects that only a person may allow.
    guarded: BTreeSet<IdempotencyKey>,
    /// Open requests to people.
    terms: BTreeMap<SimSender, Box<ApprovalTerms>>,
    /// Effects that were sent when an owner died, and not settled.
    cut_off: BTreeSet<SimSender>,
}

impl BudgetOracle {
    pub(super) fn new(manners: &platform::PlatformFaults) -> Self {
        let fates = manners.fates.iter();
        let guarded = fates.filter(|(_, fate)| **fate != SendFate::Free);
        Self {
            guarded: guarded.map(|(key, _)| key.clone()).collect(),
            ..Self::default()
        }
    }

    pub(super) fn cut_off(&self) -> &BTreeSet<SimSender> {
        &self.cut_off
    }

    pub(super) fn durable(&self) -> LogPosition {
        LogPosition(self.acknowledged.len() as u64)
    }

    /// A record is durable.
    pub(super) fn acknowledge(&mut self, entry: &EnteredRecord) {
        self.acknowledged.push(entry.head);
        self.learn(entry);
    }

    fn learn(&mut self, entry: &EnteredRecord) {
        let episode = &entry.episode;
        match &entry.record.event.kind {
            EventKind::ModelReplied {
                ask,
                outcome: ModelCallOutcome::Replied(_),
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
    pub(super) fn recover(&mut self, recovered: &RecoveredLog) -> Result<(), InvariantViolation> {
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
            .extend(EffectHistory::read(&recovered.entries).open());
        self.shown_is_durable()
    }

    pub(super) fn is_kept(&self, recovered: &RecoveredLog) -> Result<(), InvariantViolation> {
        let found = recovered.entries.iter().map(|entry| entry.head);
        let kept = self.acknowledged.iter().zip(found);
        let kept = kept.take_while(|(a, b)| **a == *b).count();
        ensure(
            kept == self.acknowledged.len(),
            SimInvariant::AcknowledgedIsKept,
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

    pub(super) fn may_call(
        &self,
        episode: &EpisodeId,
        ask: AskId,
    ) -> Result<(), InvariantViolation> {
        let is_known = self.replies.contains(&(episode.clone(), ask));
        ensure(!is_known, SimInvariant::NeverAskedAgain, || {
            format!("{episode} {ask} was answered, durably")
        })?;
        let is_stopped = self.kills.contains(&KillScope::Global)
            || self.cancelled.iter().any(|stopped| stopped.covers(episode));
        ensure(!is_stopped, SimInvariant::KillSwitch, || {
            format!("{episode} {ask} is called after the run was stopped, durably")
        })
    }

    pub(super) fn may_attempt(&mut self, sender: &SimSender) -> Result<(), InvariantViolation> {
        let has_intent = self.intents.contains(sender);
        ensure(has_intent, SimInvariant::IntentFirst, || {
            format!("{} {}", sender.0, sender.1)
        })?;
        let is_first = self.attempted.insert(sender.clone());
        ensure(is_first, SimInvariant::EffectOnce, || {
            format!("{} {} is sent again", sender.0, sender.1)
        })
    }

    pub(super) fn show_block(
        &mut self,
        episode: &EpisodeId,
        text: &str,
    ) -> Result<(), InvariantViolation> {
        let key = (episode.clone(), text.to_owned());
        *self.shown.entry(key).or_default() += 1;
        self.shown_is_durable()
    }

    pub(super) fn show_result(&mut self, result: &EpisodeResult) -> Result<(), InvariantViolation> {
        self.shown_result = Some(result.clone());
        self.shown_is_durable()
    }

    pub(super) fn shown_result(&self) -> Option<&EpisodeResult> {
        self.shown_result.as_ref()
    }

    fn shown_is_durable(&self) -> Result<(), InvariantViolation> {
        let unfounded = self.shown.iter().find(|(key, times)| {
            let durable = self.blocks.get(key).copied().unwrap_or_default();
            durable < **times
        });
        ensure(unfounded.is_none(), SimInvariant::ShownIsDurable, || {
            format!("{unfounded:?} was shown")
        })?;
        let is_durable = self.shown_result.is_none() || self.shown_result == self.result;
        ensure(is_durable, SimInvariant::ShownIsDurable, || {
            format!("a result was shown, durable is {:?}", self.result)
        })
    }

    pub(super) fn proposal(&self, sender: &SimSender) -> Option<EffectRequest> {
        self.proposals.get(sender).cloned()
    }

    /// Looks at a record that a run just wrote: no new work when the time is up or the kill switch says no.
    pub(super) fn look<L: BudgetAccounts>(
        &mut self,
        entry: &EnteredRecord,
        episode: Option<&Episode<L>>,
    ) -> Result<(), InvariantViolation> {
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
            ensure(!(is_new && is_late), SimInvariant::DeadlineHolds, || {
                format!("{} {} asks for more", entry.episode, entry.record.seq)
            })?;
            if let Command::Attempt { effect, .. } = command {
                let kill = self.kills.iter().find(|kill| kill.covers(&effect.target));
                ensure(kill.is_none(), SimInvariant::KillSwitch, || {
                    format!("{} attempts what {kill:?} covers", entry.episode)
                })?;
            }
        }
        Ok(())
    }

    fn note_terms(&mut self, entry: &EnteredRecord) {
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

    /// Checks that effects which need a person are attempted on that person's decision alone: about this effect, in
    /// time, and once.
    fn is_approved(&mut self, entry: &EnteredRecord) -> Result<(), InvariantViolation> {
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
            ensure(is_approved, SimInvariant::ApprovalHolds, || {
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
    pub(super) fn watch<L: BudgetAccounts>(
        &mut self,
        entry: &EnteredRecord,
        episode: Option<&Episode<L>>,
    ) {
        let at = entry.record.event.at;
        if let EventKind::Started(started) = &entry.record.event.kind {
            let watch = OracleWatch {
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
