//! The charter that a run began with.

use fathom_core::journal::event::EpisodeSpec;

use super::{Charter, CharterError};

/// Reason why a run's charter cannot decide for it.
#[derive(Debug, thiserror::Error)]
pub enum RunCharterError {
    #[error(transparent)]
    Charter(#[from] CharterError),
    #[error("the charter changed since the run began")]
    Changed,
}

impl Charter {
    /// The charter that a run began with, if it is still the same: what was decided was decided under it.
    pub(crate) fn of_run(started: &EpisodeSpec) -> Result<Self, RunCharterError> {
        let frame = &started.frame;
        let charter = Self::of_frame(frame)?;
        if charter.digest() == frame.charter_digest {
            Ok(charter)
        } else {
            Err(RunCharterError::Changed)
        }
    }
}
