//! Reasons why no rule was learned.

use super::{EITHER_MIN, EXAMPLES_MIN};

/// Everything that keeps a rule from being learned or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// There are too few runs.
    #[error("not enough runs to learn from: {count} found, {EXAMPLES_MIN} needed")]
    TooFew { count: usize },
    /// Nearly all runs are of one kind.
    #[error(
        "sub-chiefs changed {changed} of {count} decisions; at least {EITHER_MIN} changed and {EITHER_MIN} unchanged are \
         needed"
    )]
    OneSided {
        /// Runs in which the decision was changed.
        changed: usize,
        /// All runs.
        count: usize,
    },
    /// The numbers ran away.
    #[error("cannot learn from the runs: {why}")]
    Unfit { why: String },
    /// The file is not what a learned rule looks like.
    #[error("line {line}: {message}")]
    Unreadable {
        /// The line, counted from one.
        line: usize,
        message: String,
    },
    /// The file says something that a learned rule cannot mean.
    #[error("`{key}` {why}")]
    Senseless {
        key: String,
        /// Problem with its value.
        why: String,
    },
}

impl LearnError {
    /// The error's code, as its page in `docs/errors` is called.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooFew { .. } => "F0641",
            Self::OneSided { .. } => "F0642",
            Self::Unfit { .. } => "F0643",
            Self::Unreadable { .. } => "F0644",
            Self::Senseless { .. } => "F0645",
        }
    }

    /// Next step for the user, as an imperative sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::TooFew { .. } | Self::OneSided { .. } => {
                "collect more runs with `compare = true` in the charter in which sub-chiefs are asked; \
                 until then the detector's signals decide"
                    .into()
            }
            Self::Unfit { .. } => "use no learned rule; the detector's signals decide".into(),
            Self::Unreadable { .. } | Self::Senseless { .. } => {
                "write the file again with `fathom charter learn`".into()
            }
        }
    }
}
