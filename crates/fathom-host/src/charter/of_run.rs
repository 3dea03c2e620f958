//! The charter that a run began with.

use fathom_core::journal::event::EpisodeSpec;

use super::Charter;

impl Charter {
    /// The charter that a run began with, if it is still the same: what was decided was decided under it.
    pub(crate) fn of_run(started: &EpisodeSpec) -> Result<Self, String> {
        let frame = &started.frame;
        let charter = Self::of_frame(frame).map_err(|error| error.to_string())?;
        if charter.digest() == frame.charter_digest {
            Ok(charter)
        } else {
            Err("the charter changed since the run began".to_owned())
        }
    }
}
