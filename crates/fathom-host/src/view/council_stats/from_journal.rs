//! Past councils, read from the journal.

use fathom_core::unit::Timestamp;
use fathom_programs::council;
use fathom_store::RunQuery;

use super::PastCouncil;
use crate::error::HostError;
use crate::runtime::Runtime;

impl Runtime {
    /// Councils that were asked since a moment and have ended, newest first. One that cannot be read is left out.
    pub fn past_councils(&self, since: Timestamp) -> Result<Vec<PastCouncil>, HostError> {
        let runs = self.runs(RunQuery::LIMIT_MAX)?.into_iter();
        let councils = runs
            // Runs come newest first.
            .take_while(|info| info.created_at >= since)
            .filter(|info| info.program == council::NAME && info.state.is_finished());
        // A shredded or damaged run is left out of the figures; it must not hide the others.
        let stories = councils.filter_map(|info| self.story(info.run).ok());
        Ok(stories
            .filter_map(|story| PastCouncil::of(&story))
            .collect())
    }
}
