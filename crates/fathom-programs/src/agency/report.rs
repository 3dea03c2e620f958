//! Report of an agency: its stages in order.

use serde::{Deserialize, Serialize};

use fathom_core::episode::result::EpisodeStatus;

/// One stage of the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageReport {
    pub stage: String,
    /// Episode that worked on it; `None` if none was needed.
    pub episode: Option<String>,
    pub status: EpisodeStatus,
    /// Result in one line.
    pub outcome: String,
}

/// The report of an agency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgencyReport {
    pub brand: String,
    /// Subject of the work.
    pub occasion: String,
    pub lane: String,
    pub stages: Vec<StageReport>,
}
