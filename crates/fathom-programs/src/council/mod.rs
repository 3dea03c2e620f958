//! `council`: chiefs decide side by side; a complex question is taken apart among their sub-chiefs.
//!
//! The root assesses the question without a model and asks every chief as an episode of its own. A chief votes by
//! itself, or asks the sub-chiefs that the question touches, each a fresh episode with its own passages, and votes as
//! they do. Votes are weighed by confidence in integers, so nothing depends on the order in which they come. A failed
//! call or a reply that cannot be read is never a vote.

mod chief;
pub mod complexity;
pub(crate) mod confidence;
mod config;
mod program;
mod prompts;
mod reply;
mod report;
mod seat_panel;
mod tally;
mod vote;

pub use config::{
    ConfidenceSource, CouncilConfig, CouncilSeat, DEPTH_MAX, QuotedPassage, ReusePolicy,
    SAMPLES_MAX, SUB_CHIEFS_MAX, SynthesisMode,
};
pub use program::{CouncilProgram, voters};
pub use report::{
    ChiefsOnlyResult, CouncilReport, ReusedAnswer, SampledVotes, SeatFailure, SeatReport, SeatVote,
    SourceRef,
};
pub use seat_panel::{CHIEF, SUB_CHIEF, seat_of};
pub use tally::{VoteTally, WeightedVote, tally, tally_seats};

pub use vote::{ParsedVote, REASONING_CHARS_MAX, Vote, VoteError, read};

use fathom_core::episode::program::{Program, ProgramError};
use fathom_core::journal::event::ProgramSpec;

/// Name of the program in specifications and journals.
pub const NAME: &str = "council";

/// Makes a council or one of its seats.
pub(super) fn build(spec: &ProgramSpec) -> Option<Result<Box<dyn Program>, ProgramError>> {
    match spec.name.as_str() {
        NAME => {
            Some(CouncilProgram::new(spec).map(|council| Box::new(council) as Box<dyn Program>))
        }
        chief::NAME => {
            Some(chief::ChiefProgram::new(spec).map(|chief| Box::new(chief) as Box<dyn Program>))
        }
        _ => None,
    }
}
