//! The list of runs: kept beside the events and updated in the same commit. It contains no free text.

use fathom_core::episode::result::EpisodeStatus;
use fathom_core::id::{Epoch, RunId, Seq};
use fathom_core::journal::event::ReleaseReason;
use fathom_core::unit::Timestamp;
use serde::{Deserialize, Serialize};

use crate::journal::entry::{EntryMark, JournalEntry};

/// A run before its first record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    pub run: RunId,
    /// Name of the root's program.
    pub program: String,
    /// Id of the root's model.
    pub model: String,
    /// Time of the request.
    pub created_at: Timestamp,
    /// The person who started it, as `os:alice`.
    pub started_by: String,
}

/// State of a run, according to its root's last record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// An owner works on it, or its owner died.
    Running,
    /// Its owner released it.
    Released(ReleaseReason),
    /// It has finished.
    Finished(EpisodeStatus),
}

impl RunState {
    /// True if nothing more will happen in the run.
    pub const fn is_finished(self) -> bool {
        matches!(self, Self::Finished(_))
    }
}

/// One line of the list of runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunInfo {
    pub run: RunId,
    /// Its newest owner.
    pub epoch: Epoch,
    pub state: RunState,
    /// Name of the root's program.
    pub program: String,
    /// Id of the root's model.
    pub model: String,
    /// Time of the request.
    pub created_at: Timestamp,
    /// Time of its last record.
    pub updated_at: Timestamp,
    /// Records of all its episodes.
    pub events: u64,
    /// Episodes of its tree.
    pub episodes: u64,
    /// Model calls that were requested.
    pub model_calls: u64,
    /// The person who started it; unknown for runs older than this field.
    pub started_by: Option<String>,
}

/// Selection of runs, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunQuery {
    /// Maximum number; more than [`RunQuery::LIMIT_MAX`] counts as that.
    pub limit: usize,
    pub filter: RunFilter,
}

impl RunQuery {
    /// Most runs of one answer.
    pub const LIMIT_MAX: usize = 10_000;

    /// The newest runs.
    pub const fn newest(limit: usize) -> Self {
        Self {
            limit,
            filter: RunFilter::All,
        }
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit.min(Self::LIMIT_MAX)
    }
}

/// Filter for the list of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunFilter {
    /// Every run.
    All,
    /// Runs that have not finished.
    Unfinished,
    /// Runs that have finished.
    Finished,
    /// Runs whose id starts with this; upper case and hyphens make no difference.
    IdStartsWith(String),
}

/// Prefix of an id as the store compares it: lower-case digits without hyphens.
pub(crate) fn id_digits(text: &str) -> String {
    let digits = text.chars().filter(|char| *char != '-');
    digits.map(|char| char.to_ascii_lowercase()).collect()
}

/// Changes of a few entries to a run's line in the list.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunDelta {
    pub(crate) events: u64,
    pub(crate) episodes: u64,
    pub(crate) model_calls: u64,
    pub(crate) updated_at: Timestamp,
    pub(crate) state: Option<RunState>,
}

impl RunDelta {
    pub(crate) fn add(&mut self, entry: &JournalEntry) {
        self.events += 1;
        self.episodes += u64::from(entry.seq == Seq(0));
        self.model_calls += u64::from(entry.model_calls);
        // Owners may have different clocks; a run never gets younger.
        self.updated_at = self.updated_at.max(entry.at);
        if entry.episode.is_root() {
            self.state = Some(match entry.mark {
                EntryMark::Plain | EntryMark::Checkpoint => RunState::Running,
                EntryMark::Released(why) => RunState::Released(why),
                EntryMark::Finished(status) => RunState::Finished(status),
            });
        }
    }

    pub(crate) fn apply(&self, info: &mut RunInfo) {
        info.events += self.events;
        info.episodes += self.episodes;
        info.model_calls += self.model_calls;
        info.updated_at = info.updated_at.max(self.updated_at);
        info.state = self.state.unwrap_or(info.state);
    }
}
