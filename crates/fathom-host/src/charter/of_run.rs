//! The charter that a run began with.

use fathom_core::journal::event::EpisodeSpec;

use super::{Charter, CharterError};

/// The charter of a run cannot be used for it any more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunCharterError {
    /// The files in the run's frame are not a charter for this build.
    #[error(transparent)]
    Invalid(#[from] CharterError),
    /// The files in the run's frame read differently than when the run began.
    #[error("the charter changed since the run began")]
    Changed,
}

impl From<RunCharterError> for String {
    fn from(error: RunCharterError) -> Self {
        error.to_string()
    }
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
