//! One chief of a council: its own vote, or the votes of its sub-chiefs.

mod ballots;
pub(crate) mod program;
