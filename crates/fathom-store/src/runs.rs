//! What the list of runs knows: kept beside the events and updated in the same commit. No free text is in it.

use fathom_core::event::Departure;
use fathom_core::id::{Epoch, RunId, Seq};
use fathom_core::outcome::Status;
use fathom_core::unit::Timestamp;
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, Mark};

/// A run before its first record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    pub run: RunId,
    /// Name of the root's program.
    pub program: String,
    /// Id of the root's model.
    pub model: String,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// The person who asked for it, as `os:alice`.
    pub started_by: String,
}

/// How a run stands, as its root's last record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It is worked on, or its owner died.
    Running,
    /// Its owner let go of it.
    Released(Departure),
    /// It is over.
    Finished(Status),
}

impl RunState {
    /// Whether nothing more will happen in the run.
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
    /// How it stands.
    pub state: RunState,
    /// Name of the root's program.
    pub program: String,
    /// Id of the root's model.
    pub model: String,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When its last record was taken in.
    pub updated_at: Timestamp,
    /// Records of all its episodes.
    pub events: u64,
    /// Episodes of its tree.
    pub episodes: u64,
    /// Model calls that were asked for.
    pub model_calls: u64,
    /// The person who asked for it; not known of runs that are older than this note.
    pub started_by: Option<String>,
}

/// Which runs to list, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunQuery {
    /// How many at most; more than [`RunQuery::LIMIT_MAX`] counts as that.
    pub limit: usize,
    /// Which ones.
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

/// Which runs to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunFilter {
    /// Every run.
    All,
    /// Runs that are not over.
    Unfinished,
    /// Runs that are over.
    Finished,
    /// Runs whose id begins so; upper case and hyphens make no difference.
    IdStartsWith(String),
}

/// A beginning of an id as the store compares it: lower-case digits without hyphens.
pub(crate) fn id_digits(text: &str) -> String {
    let digits = text.chars().filter(|char| *char != '-');
    digits.map(|char| char.to_ascii_lowercase()).collect()
}

/// What a few entries change in a run's line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delta {
    pub(crate) events: u64,
    pub(crate) episodes: u64,
    pub(crate) model_calls: u64,
    pub(crate) updated_at: Timestamp,
    pub(crate) state: Option<RunState>,
}

impl Delta {
    pub(crate) fn add(&mut self, entry: &Entry) {
        self.events += 1;
        self.episodes += u64::from(entry.seq == Seq(0));
        self.model_calls += u64::from(entry.model_calls);
        self.updated_at = self.updated_at.max(entry.at);
        if entry.episode.is_root() {
            self.state = Some(match entry.mark {
                Mark::Plain | Mark::Checkpoint => RunState::Running,
                Mark::Released(why) => RunState::Released(why),
                Mark::Finished(status) => RunState::Finished(status),
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
