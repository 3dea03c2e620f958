//! A run as people look at it: a fold over the same records, for the live tree, `show` and `stats`.

use std::collections::BTreeMap;

use fathom_core::budget::amounts::{Amounts, Budget};
use fathom_core::contract::stop::Refusal;
use fathom_core::episode::result::{EpisodeResult, EpisodeStatus};
use fathom_core::id::{AskId, EpisodeId, Seq};
use fathom_core::journal::command::{Command, ExternalWait};
use fathom_core::journal::event::{
    EpisodeOrigin, EpisodeSpec, Event, EventKind, JournalRecord, ModelCallOutcome, ReleaseReason,
};
use fathom_core::model::RequestEstimate;
use fathom_core::model::failure::FailureKind;
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Timestamp};

use crate::view::deliveries::DeliveriesView;
use crate::view::effects::EffectsView;

/// Longest tail of a stream that is kept for looking at. Far more than a line: a key or a token whose beginning is gone
/// is not recognised, and must be out of sight.
// A view is copied for every frame, and one line of it is shown.
const LAST_WORDS_BYTES_MAX: usize = 4_096;

/// Current activity of an episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EpisodeState {
    /// It thinks.
    Working,
    /// It waits for calls.
    Calling { calls: usize },
    /// It waits before it tries a call again.
    Retrying {
        /// Until when.
        at: Timestamp,
        /// The attempt to come.
        attempt: u16,
        kind: FailureKind,
    },
    /// It waits for children.
    Children { children: usize },
    /// Its code runs.
    Computing {
        /// The cell, counted from one.
        cell: u32,
    },
    /// It waits for a person's decision.
    AwaitingApproval,
    /// It waits until a model can be reached again.
    Outage { failure: String },
    /// It has no owner.
    Released(ReleaseReason),
    /// It is over.
    Finished(EpisodeStatus),
}

/// One episode of a story.
#[derive(Clone, Debug)]
pub struct EpisodeView {
    pub started: EpisodeSpec,
    /// Time of its first record.
    pub began: Timestamp,
    /// Time of its last record.
    pub last: Timestamp,
    pub state: EpisodeState,
    /// Usage, with its finished children.
    pub spent: Amounts,
    /// Tail of what its model is saying.
    pub last_words: String,
    /// Its result, once finished.
    pub result: Option<EpisodeResult>,
    /// Records in its chain.
    pub records: u64,
    /// Model calls that were answered, with the time they took.
    pub latencies: Vec<Millis>,
    /// Attempts beyond the first.
    pub retries: u32,
    /// Asks that were refused.
    pub refusals: Vec<(AskId, Refusal)>,
    /// Calls that used more than was reserved.
    pub overruns: u32,
    /// Owners after the first.
    pub resumes: u32,
    /// Speed of embedded models.
    pub speed: Option<LocalSpeed>,
    /// Cells that it ran.
    pub cells: u32,
    /// Effects, attempted or done.
    pub deeds: EffectsView,
    /// Deliveries on channels.
    pub spoken: DeliveriesView,
    running: Option<AskId>,
    measured: BTreeMap<AskId, RequestEstimate>,
    in_flight: BTreeMap<AskId, Amounts>,
    children: usize,
    retrying: Option<FailureKind>,
}

impl EpisodeView {
    fn new(started: &EpisodeSpec, at: Timestamp) -> Self {
        Self {
            started: started.clone(),
            began: at,
            last: at,
            state: EpisodeState::Working,
            spent: Amounts {
                episodes: 1,
                ..Amounts::ZERO
            },
            last_words: String::new(),
            result: None,
            records: 0,
            latencies: Vec::new(),
            retries: 0,
            refusals: Vec::new(),
            overruns: 0,
            resumes: 0,
            speed: None,
            cells: 0,
            deeds: EffectsView::default(),
            spoken: DeliveriesView::default(),
            running: None,
            measured: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            children: 0,
            retrying: None,
        }
    }

    /// Budget of the episode.
    pub fn budget(&self) -> Budget {
        self.started.budget
    }

    /// The kind of child it is, or the program of a root.
    pub fn label(&self) -> &str {
        match &self.started.origin {
            EpisodeOrigin::Spawned { child_type, .. } => child_type,
            EpisodeOrigin::Asked | EpisodeOrigin::Forked { .. } => &self.started.program.name,
        }
    }

    /// The model it speaks to.
    pub fn model(&self) -> &str {
        &self.started.models.get(self.started.model).id
    }

    fn on_event(&mut self, event: &Event) {
        self.last = event.at;
        self.records += 1;
        self.deeds.on_event(&event.kind);
        self.spoken.on_event(&event.kind);
        match &event.kind {
            EventKind::Measured { ask, measured, .. } => {
                self.measured.insert(*ask, *measured);
            }
            EventKind::ModelDelta { text, .. } => self.hear(text),
            EventKind::ModelReplied { ask, outcome, .. } => self.on_replied(*ask, outcome),
            EventKind::ChildFinished { result, .. } => {
                self.children = self.children.saturating_sub(1);
                self.spent = self.spent.plus(result.budget.spent);
            }
            EventKind::Resumed => {
                self.resumes += 1;
                self.children = 0;
                let lost = std::mem::take(&mut self.in_flight);
                self.spent = lost.into_values().fold(self.spent, Amounts::plus);
            }
            EventKind::Refused { ask, reason } => self.refusals.push((*ask, reason.clone())),
            EventKind::Overrun { .. } => self.overruns += 1,
            EventKind::Forfeited { amounts } => self.spent = self.spent.plus(*amounts),
            EventKind::EffectSettled { .. } => self.spent.tools += 1,
            EventKind::CellFinished { .. } => self.running = None,
            EventKind::Started(_)
            | EventKind::Released { .. }
            | EventKind::Summarised { .. }
            | EventKind::DomainAnswered { .. }
            | EventKind::TokenBudgetOverrun { .. }
            | EventKind::CellYielded { .. }
            | EventKind::EffectDecided { .. }
            | EventKind::Signal(_)
            | EventKind::Tick => {}
        }
    }

    fn on_replied(&mut self, ask: AskId, outcome: &ModelCallOutcome) {
        let reserved = self.in_flight.remove(&ask).unwrap_or(Amounts::ZERO);
        if let Some(measured) = self.measured.get(&ask) {
            let used = fathom_core::episode::billed(outcome, measured, reserved);
            self.spent = self.spent.plus(used);
        }
        match outcome {
            ModelCallOutcome::Replied(reply) => {
                self.latencies.push(reply.latency);
                if let Some(timing) = reply.timing {
                    let usage = reply.usage;
                    let speed = self.speed.get_or_insert_default();
                    speed.shared_tokens += timing.shared_tokens;
                    speed.read_tokens += usage.input_tokens.saturating_sub(timing.shared_tokens);
                    speed.wrote_tokens += usage.output_tokens;
                    speed.reading.0 += timing.reading.0;
                    speed.writing.0 += timing.writing.0;
                }
                self.retrying = None;
                self.hear(&reply.text);
            }
            ModelCallOutcome::Failed(failure) => self.retrying = Some(failure.kind),
        }
    }

    fn hear(&mut self, text: &Text) {
        self.last_words.push_str(text.as_str());
        // Cut at twice the length, not at every word of many.
        if self.last_words.len() > 2 * LAST_WORDS_BYTES_MAX {
            let from = self.last_words.len() - LAST_WORDS_BYTES_MAX;
            let from = self.last_words.ceil_char_boundary(from);
            self.last_words.drain(..from);
        }
    }

    fn on_command(&mut self, command: &Command) {
        self.deeds.on_command(command);
        self.spoken.on_command(command);
        match command {
            Command::CallModel {
                ask,
                attempt,
                reserved,
                not_before,
                ..
            } => {
                self.in_flight.insert(*ask, *reserved);
                self.last_words.clear();
                self.retries += u32::from(*attempt > 1);
                self.state = match (not_before, self.retrying) {
                    (Some(at), Some(kind)) => EpisodeState::Retrying {
                        at: *at,
                        attempt: *attempt,
                        kind,
                    },
                    _ => EpisodeState::Working,
                };
            }
            Command::Spawn { .. } => self.children += 1,
            // A new owner says the one that runs again.
            Command::RunCell { ask, .. } if self.running != Some(*ask) => {
                self.running = Some(*ask);
                self.cells += 1;
            }
            Command::Await { awaited } => match awaited {
                ExternalWait::Approval { .. } => self.state = EpisodeState::AwaitingApproval,
                ExternalWait::Repair { failure, .. } => {
                    self.state = EpisodeState::Outage {
                        failure: failure.to_string(),
                    };
                }
                ExternalWait::Until { .. } => {}
            },
            Command::Finish { result } => {
                self.spent = result.budget.spent;
                self.state = EpisodeState::Finished(result.status);
                self.result = Some((**result).clone());
            }
            _ => {}
        }
    }

    fn settle_state(&mut self) {
        if matches!(
            self.state,
            EpisodeState::Working
                | EpisodeState::Calling { .. }
                | EpisodeState::Children { .. }
                | EpisodeState::Computing { .. }
        ) {
            self.state = if !self.in_flight.is_empty() {
                EpisodeState::Calling {
                    calls: self.in_flight.len(),
                }
            } else if self.children > 0 {
                EpisodeState::Children {
                    children: self.children,
                }
            } else if self.running.is_some() {
                EpisodeState::Computing { cell: self.cells }
            } else {
                EpisodeState::Working
            };
        }
    }
}

/// Tokens and time of calls to embedded models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalSpeed {
    /// Tokens that had to be read.
    pub read_tokens: u64,
    /// The time for that.
    pub reading: Millis,
    /// Tokens that another call had read already.
    pub shared_tokens: u64,
    /// Tokens that were written.
    pub wrote_tokens: u64,
    /// The time for that.
    pub writing: Millis,
}

/// A run as people look at it.
#[derive(Clone, Debug, Default)]
pub struct RunView {
    /// Its episodes; the root comes first.
    pub chapters: BTreeMap<EpisodeId, EpisodeView>,
}

impl RunView {
    /// Speed of embedded models over all episodes; none when no reply came from one.
    pub fn speed(&self) -> Option<LocalSpeed> {
        let speeds = self.chapters.values().filter_map(|chapter| chapter.speed);
        let sum = speeds.reduce(|sum, speed| LocalSpeed {
            read_tokens: sum.read_tokens + speed.read_tokens,
            reading: Millis(sum.reading.0 + speed.reading.0),
            shared_tokens: sum.shared_tokens + speed.shared_tokens,
            wrote_tokens: sum.wrote_tokens + speed.wrote_tokens,
            writing: Millis(sum.writing.0 + speed.writing.0),
        })?;
        // Calls that were decoded side by side took the same time, not each its own.
        let elapsed = self.elapsed();
        Some(LocalSpeed {
            reading: sum.reading.min(elapsed),
            writing: sum.writing.min(elapsed),
            ..sum
        })
    }

    /// Takes in one record.
    pub fn read(&mut self, episode: &EpisodeId, record: &JournalRecord) {
        if let EventKind::Started(started) = &record.event.kind {
            self.chapters
                .insert(episode.clone(), EpisodeView::new(started, record.event.at));
        }
        let Some(chapter) = self.chapters.get_mut(episode) else {
            return;
        };
        chapter.on_event(&record.event);
        if !matches!(chapter.state, EpisodeState::Finished(_)) {
            chapter.state = match &record.event.kind {
                EventKind::Released { why } => EpisodeState::Released(*why),
                // A retry shows until its call is answered or another owner starts over.
                _ if matches!(chapter.state, EpisodeState::Retrying { .. })
                    && !matches!(
                        record.event.kind,
                        EventKind::ModelReplied { .. }
                            | EventKind::ModelDelta { .. }
                            | EventKind::Resumed
                    ) =>
                {
                    chapter.state.clone()
                }
                _ => EpisodeState::Working,
            };
        }
        for command in &record.commands {
            chapter.on_command(command);
        }
        chapter.settle_state();
    }

    /// The root episode; none before its first record.
    pub fn root(&self) -> Option<&EpisodeView> {
        self.chapters.get(&EpisodeId::root())
    }

    /// The children of `parent`, in the order they were spawned.
    pub fn children<'a>(
        &'a self,
        parent: &'a EpisodeId,
    ) -> impl Iterator<Item = (&'a EpisodeId, &'a EpisodeView)> {
        self.chapters
            .iter()
            .filter(move |(id, _)| id.parent().as_ref() == Some(parent))
    }

    /// Usage of the whole run: parents count their finished children.
    pub fn spent(&self) -> Amounts {
        let open = |id: &EpisodeId, chapter: &EpisodeView| {
            id.is_root() || !matches!(chapter.state, EpisodeState::Finished(_))
        };
        self.chapters
            .iter()
            .filter(|(id, chapter)| open(id, chapter))
            .fold(Amounts::ZERO, |sum, (_, chapter)| sum.plus(chapter.spent))
    }

    /// Model calls that were answered.
    pub fn model_calls(&self) -> usize {
        self.chapters.values().map(|c| c.latencies.len()).sum()
    }

    /// Deepest episode.
    pub fn depth(&self) -> usize {
        self.chapters
            .keys()
            .map(EpisodeId::depth)
            .max()
            .unwrap_or(0)
    }

    /// Records in all chains.
    pub fn records(&self) -> u64 {
        self.chapters.values().map(|chapter| chapter.records).sum()
    }

    /// From the first record to the last.
    pub fn elapsed(&self) -> Millis {
        let began = self.chapters.values().map(|chapter| chapter.began).min();
        let last = self.chapters.values().map(|chapter| chapter.last).max();
        last.unwrap_or_default().since(began.unwrap_or_default())
    }
}

/// A record's place, as `0.1:12`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordRef {
    pub episode: EpisodeId,
    pub seq: Seq,
}

/// A text that is not a [`RecordRef`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected SEQ or EPISODE:SEQ, such as `0.1:12`")]
pub struct RecordRefError;

impl std::str::FromStr for RecordRef {
    type Err = RecordRefError;

    fn from_str(text: &str) -> Result<Self, RecordRefError> {
        let (episode, seq) = text.rsplit_once(':').unwrap_or(("0", text));
        Ok(Self {
            episode: episode.parse().map_err(|_| RecordRefError)?,
            seq: Seq(seq.parse().map_err(|_| RecordRefError)?),
        })
    }
}
