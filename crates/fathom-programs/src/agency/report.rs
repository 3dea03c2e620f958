//! What an agency leaves: its stages in their order.

use serde::{Deserialize, Serialize};

use fathom_core::episode::result::EpisodeStatus;

/// One stage of the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageReport {
    /// What was to be done.
    pub stage: String,
    /// Who did it, as an episode's id; none where nobody had to.
    pub episode: Option<String>,
    /// How it ended.
    pub status: EpisodeStatus,
    /// What came of it, in a line.
    pub outcome: String,
}

/// The report of an agency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgencyReport {
    /// The brand.
    pub brand: String,
    /// What it answers to.
    pub occasion: String,
    /// By which lane.
    pub lane: String,
    /// What was done.
    pub stages: Vec<StageReport>,
}
