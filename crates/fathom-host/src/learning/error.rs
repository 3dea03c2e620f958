//! Why nothing was learned.

use super::{EITHER_MIN, EXAMPLES_MIN};

/// Everything that keeps a rule from being learned or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// There are too few runs.
    #[error("{count} runs are too few to learn from, {EXAMPLES_MIN} are needed")]
    TooFew {
        /// How many there are.
        count: usize,
    },
    /// Nearly all runs are of one kind.
    #[error(
        "sub-chiefs changed {changed} of {count} decisions; {EITHER_MIN} that they changed and {EITHER_MIN} that they left \
         are needed"
    )]
    OneSided {
        /// Runs in which the decision was changed.
        changed: usize,
        /// All runs.
        count: usize,
    },
    /// The numbers ran away.
    #[error("the runs cannot be learned from: {why}")]
    Unfit {
        /// What went wrong.
        why: String,
    },
    /// The file is not what a learned rule looks like.
    #[error("line {line}: {message}")]
    Unreadable {
        /// The line, counted from one.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The file says something that a learned rule cannot mean.
    #[error("`{key}` {why}")]
    Senseless {
        /// The key.
        key: String,
        /// What is wrong with its value.
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

    /// What the user may do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::TooFew { .. } | Self::OneSided { .. } => {
                "a run counts when its charter says `compare = true` and sub-chiefs were asked; \
                 until there are enough, the detector's signals decide"
                    .into()
            }
            Self::Unfit { .. } => "leave the rule out: the detector's signals decide".into(),
            Self::Unreadable { .. } | Self::Senseless { .. } => {
                "`fathom charter learn` writes the file anew".into()
            }
        }
    }
}
