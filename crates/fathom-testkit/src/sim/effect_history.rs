//! Fate of every effect, from the journal.

use std::collections::BTreeMap;

use fathom_core::effect::{EffectOutcome, IdempotencyKey, PolicyDecision};
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, Signal};
use fathom_core::unit::Timestamp;

use super::coverage::Coverage;
use super::gateway::SendFate;
use super::journal::EnteredRecord;
use super::platform::{SimPlatform, SimSender};
use super::violation::{InvariantViolation, SimInvariant, ensure};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EffectStage {
    /// A person is to decide until then.
    Asked(Timestamp),
    /// A person denied it, or no one decided in time.
    Denied,
    /// It may have been sent.
    Sent,
    /// Its outcome is unknown, and the platform is asked.
    Unknown,
    Confirmed,
    Failed,
    /// Not even the platform could say.
    Lost,
}

#[derive(Clone, Debug)]
struct ReportedOutcome {
    key: Option<IdempotencyKey>,
    stage: EffectStage,
    was_unknown: bool,
}

/// The story of all effects.
#[derive(Default)]
pub(super) struct EffectHistory {
    effects: BTreeMap<SimSender, ReportedOutcome>,
    approvals: u64,
    denials: u64,
    expiries: u64,
}

impl EffectHistory {
    /// Reads the records of a run.
    pub(super) fn read(entries: &[EnteredRecord]) -> Self {
        let mut aftermath = Self::default();
        for entry in entries {
            aftermath.take(entry);
        }
        aftermath
    }

    fn take(&mut self, entry: &EnteredRecord) {
        let episode = &entry.episode;
        let at = entry.record.event.at;
        let kind = &entry.record.event.kind;
        match kind {
            EventKind::EffectDecided {
                ask,
                decision: PolicyDecision::NeedsApproval { terms, .. },
                ..
            } => {
                let told = ReportedOutcome {
                    key: None,
                    stage: EffectStage::Asked(terms.expires),
                    was_unknown: false,
                };
                let sender = (episode.clone(), *ask);
                self.effects.entry(sender).or_insert(told);
            }
            EventKind::Signal(Signal::Decide {
                episode: whose,
                ask,
                allow: false,
                ..
            }) if whose == episode => self.deny(episode, *ask, at),
            EventKind::EffectSettled { ask, outcome, .. } => self.settle(episode, *ask, outcome),
            _ => {}
        }
        for command in &entry.record.commands {
            match command {
                Command::Attempt { ask, effect } => {
                    self.approvals += u64::from(matches!(kind, EventKind::Signal(_)));
                    let told = ReportedOutcome {
                        key: Some(effect.key()),
                        stage: EffectStage::Sent,
                        was_unknown: false,
                    };
                    self.effects.insert((episode.clone(), *ask), told);
                }
                Command::Reconcile { ask, .. } => {
                    if let Some(told) = self.effects.get_mut(&(episode.clone(), *ask)) {
                        told.stage = EffectStage::Unknown;
                        told.was_unknown = true;
                    }
                }
                _ => {}
            }
        }
        if !matches!(kind, EventKind::Released { .. }) {
            self.expire(episode, at);
        }
    }

    fn deny(&mut self, episode: &EpisodeId, ask: AskId, at: Timestamp) {
        if let Some(told) = self.effects.get_mut(&(episode.clone(), ask))
            && let EffectStage::Asked(expires) = told.stage
            && at < expires
        {
            told.stage = EffectStage::Denied;
            self.denials += 1;
        }
    }

    fn expire(&mut self, episode: &EpisodeId, at: Timestamp) {
        let of_episode = (episode.clone(), AskId(0))..=(episode.clone(), AskId(u32::MAX));
        for (_, told) in self.effects.range_mut(of_episode) {
            if let EffectStage::Asked(expires) = told.stage
                && expires <= at
            {
                told.stage = EffectStage::Denied;
                self.expiries += 1;
            }
        }
    }

    fn settle(&mut self, episode: &EpisodeId, ask: AskId, outcome: &EffectOutcome) {
        let Some(told) = self.effects.get_mut(&(episode.clone(), ask)) else {
            return;
        };
        told.stage = match (told.stage, outcome) {
            // The record that says so also asks the platform.
            (EffectStage::Sent, EffectOutcome::Unknown { .. }) => EffectStage::Sent,
            (EffectStage::Sent | EffectStage::Unknown, EffectOutcome::Confirmed { .. }) => {
                EffectStage::Confirmed
            }
            (EffectStage::Sent | EffectStage::Unknown, EffectOutcome::Failed { .. }) => {
                EffectStage::Failed
            }
            (EffectStage::Unknown, EffectOutcome::Unknown { .. }) => EffectStage::Lost,
            (stage, _) => stage,
        };
    }

    /// Effects that were sent and not settled.
    pub(super) fn open(self) -> impl Iterator<Item = SimSender> {
        let open =
            |told: &ReportedOutcome| matches!(told.stage, EffectStage::Sent | EffectStage::Unknown);
        let effects = self.effects.into_iter();
        effects
            .filter(move |(_, told)| open(told))
            .map(|(sender, _)| sender)
    }

    /// Checks the rules that hold for the whole history once the run is over.
    pub(super) fn is_orderly<'a>(
        &self,
        uncertain: impl Iterator<Item = &'a SimSender>,
        platform: &SimPlatform,
    ) -> Result<(), InvariantViolation> {
        for sender in uncertain {
            let told = self.effects.get(sender);
            let is_asked = told.is_some_and(|told| told.was_unknown);
            ensure(is_asked, SimInvariant::UnknownIsAsked, || {
                format!(
                    "{} {} was uncertain, and is told as {told:?}",
                    sender.0, sender.1
                )
            })?;
        }
        for (sender, told) in &self.effects {
            let is_over = !matches!(told.stage, EffectStage::Sent | EffectStage::Unknown);
            ensure(is_over, SimInvariant::UnknownIsAsked, || {
                format!("{} {} never ended: {told:?}", sender.0, sender.1)
            })?;
            let is_kept = told.stage == EffectStage::Failed || platform.keeps_key(sender);
            ensure(is_kept, SimInvariant::ClaimStays, || {
                format!("{} {} does not hold its key: {told:?}", sender.0, sender.1)
            })?;
        }
        self.is_complete(platform)
    }

    /// Everything whose fate was settled is where it belongs, once.
    fn is_complete(&self, platform: &SimPlatform) -> Result<(), InvariantViolation> {
        for (key, fate) in &platform.manners.fates {
            let expected = u64::from(*fate != SendFate::No);
            let told = self.effects.values();
            let told = told.filter(|told| told.stage == EffectStage::Confirmed);
            let told = told.filter(|told| told.key.as_ref() == Some(key)).count() as u64;
            let times = platform.times(key);
            let is_there = times == expected && told == expected;
            ensure(is_there, SimInvariant::NothingLost, || {
                let key = key.as_str();
                format!("{key} ({fate:?}) is there {times} times and confirmed {told} times")
            })?;
        }
        Ok(())
    }

    pub(super) fn count(&self, coverage: &mut Coverage) {
        coverage.approvals += self.approvals;
        coverage.denials += self.denials;
        coverage.expiries += self.expiries;
        let mut failed: Vec<&IdempotencyKey> = Vec::new();
        // Asks of an episode are numbered in the order in which they are made.
        for told in self.effects.values() {
            let Some(key) = &told.key else {
                continue;
            };
            coverage.effects_again += u64::from(failed.contains(&key));
            match told.stage {
                EffectStage::Confirmed => coverage.found_effects += u64::from(told.was_unknown),
                EffectStage::Failed => {
                    coverage.missing_effects += u64::from(told.was_unknown);
                    failed.push(key);
                }
                EffectStage::Asked(_)
                | EffectStage::Denied
                | EffectStage::Sent
                | EffectStage::Unknown
                | EffectStage::Lost => {}
            }
        }
    }
}
