//! Exit codes, for other programs.

use std::process::ExitCode;

use fathom_core::episode::result::EpisodeStatus;

/// The exit codes of the contract; the later one is the graver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExitStatus {
    /// All went well.
    Ok,
    /// A person should look at the result, or must decide.
    NeedsReview,
    /// The run failed, or what was asked of it cannot be.
    Failed,
    /// The store or a model cannot be reached.
    Unreachable,
    /// The command or the configuration makes no sense.
    Usage,
    /// A person interrupted it; the run can be resumed.
    Interrupted,
    /// A bug.
    Bug,
}

impl ExitStatus {
    /// The number the shell sees.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Bug => 1,
            Self::Usage => 2,
            Self::NeedsReview => 3,
            Self::Failed => 4,
            Self::Unreachable => 5,
            // Shells use 128 + 2 for SIGINT, and scripts check for it.
            Self::Interrupted => 130,
        }
    }

    /// The exit of a finished run.
    pub(crate) const fn of_status(status: EpisodeStatus) -> Self {
        match status {
            EpisodeStatus::Ok => Self::Ok,
            EpisodeStatus::NeedsReview => Self::NeedsReview,
            EpisodeStatus::Failed => Self::Failed,
        }
    }

    /// The exit that belongs to an error code: its first two digits say what it is about.
    pub(crate) fn of_error(code: &str) -> Self {
        match code.get(..3) {
            Some("F01" | "F06" | "F07") => Self::Usage,
            Some("F02" | "F03" | "F05" | "F08") => Self::Unreachable,
            Some("F04") => Self::Failed,
            _ => Self::Bug,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(exit: ExitStatus) -> Self {
        Self::from(exit.code())
    }
}
