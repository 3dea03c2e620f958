//! The errors of the library.

use std::io;
use std::path::PathBuf;

use fathom_core::id::RunId;
use fathom_host::HostError;

/// Everything that a call of this library can fail with.
///
/// Each error has a stable [`code`](FathomError::code), which is the name of its page in `docs/errors`, and a
/// [`hint`](FathomError::hint) with the next thing to do. The hints name commands of the binary `fathom`, for a person who
/// reads them in a log.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let fathom = fathom::Fathom::open(folder.path().join("home"))?;
/// let error = fathom.find("0199").unwrap_err();
/// assert_eq!(error.code(), "F0401");
/// assert_eq!(error.to_string(), "run `0199` not found");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FathomError {
    /// The engine, a store, a charter or a model failed.
    #[error(transparent)]
    Host(#[from] Box<HostError>),
    /// The question is empty.
    #[error("no question given")]
    NoQuestion,
    /// The name of a model is not `PROVIDER/NAME` with a provider of this build.
    #[error("unknown model `{model}`: {why}")]
    UnknownModel {
        /// Name as it was given.
        model: String,
        /// The part of it that is wrong.
        why: &'static str,
    },
    /// The file of a `script/FILE` model cannot be read.
    #[error("cannot read the script `{}`", file.display())]
    NoScript {
        /// Path of the file.
        file: PathBuf,
        /// Answer of the system.
        source: io::Error,
    },
    /// A setting has a value that it cannot have.
    #[error("invalid {setting} `{value}`: {why}")]
    BadSetting {
        /// Name of the setting.
        setting: &'static str,
        /// Value as it was given.
        value: String,
        /// Reason why it is invalid.
        why: &'static str,
    },
    /// The variable that should hold the key of a model is not set.
    #[error("environment variable `{variable}` is not set")]
    KeyNotSet {
        /// Name of the variable.
        variable: String,
    },
    /// The run cannot reach its model; it can be resumed.
    #[error("run `{run}` cannot reach its model: {failure}")]
    OutOfReach {
        /// Id of the run.
        run: RunId,
        /// The last failure.
        failure: String,
    },
    /// The run was let go before its end; it can be resumed.
    #[error("run `{run}` was interrupted")]
    Interrupted {
        /// Id of the run.
        run: RunId,
    },
    /// The run waits for a decision about an effect.
    #[error("run `{run}` is waiting for an approval")]
    AwaitingApproval {
        /// Id of the run.
        run: RunId,
    },
}

impl FathomError {
    /// The stable code, such as `F0401`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Host(error) => error.code(),
            Self::BadSetting { .. } => "F0103",
            Self::NoQuestion => "F0105",
            Self::UnknownModel { .. } => "F0108",
            Self::NoScript { .. } => "F0109",
            Self::KeyNotSet { .. } => "F0126",
            Self::OutOfReach { .. } => "F0390",
            Self::Interrupted { .. } => "F0490",
            Self::AwaitingApproval { .. } => "F0494",
        }
    }

    /// The next thing to do.
    pub fn hint(&self) -> String {
        match self {
            Self::Host(error) => error.hint(),
            Self::BadSetting { setting, .. } => {
                format!("see the documentation of the crate `fathom` for `{setting}`")
            }
            Self::NoQuestion => "pass a question that is not empty".into(),
            Self::UnknownModel { .. } => {
                "use `local/NAME`, `local/FILE.gguf`, `openai/NAME`, `anthropic/NAME`, `ollama/NAME` or `script/FILE`"
                    .into()
            }
            Self::NoScript { .. } => {
                "pass a file of JSON lines, with a path relative to the current folder".into()
            }
            Self::KeyNotSet { variable } => {
                format!("set it with `export {variable}=…`, or name another variable")
            }
            Self::OutOfReach { run, .. } => {
                format!("check the model with `fathom doctor`, then resume run {run}")
            }
            Self::Interrupted { run } => format!("continue with `fathom resume {run}`"),
            Self::AwaitingApproval { run } => {
                format!("decide with `fathom approvals`, then continue with `fathom resume {run}`")
            }
        }
    }
}

// A host error is large, and most calls return none.
impl From<HostError> for FathomError {
    fn from(error: HostError) -> Self {
        Self::Host(Box::new(error))
    }
}
