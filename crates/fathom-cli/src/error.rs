//! Errors before, beside and after a run, as shown to the user.

use std::error::Error as _;
use std::io;
use std::path::PathBuf;

use fathom_core::id::RunId;
use fathom_core::model::failure::ModelFailure;
use fathom_host::HostError;
use fathom_host::charter::CharterError;
use fathom_local::weights::WeightsError;
use fathom_models::ModelsError;
use fathom_output::redact::RedactError;
use fathom_sandbox::SandboxError;
use serde::Serialize;

use crate::commands::left_out;
use crate::exit_code::ExitStatus;
use crate::terminal::plain_text::{one_line, safe};
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::charter_findings::{self, Severity};

/// Everything the command line can fail with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("unknown flag `{flag}`")]
    UnknownFlag { flag: String, hint: String },
    #[error("unknown command `{command}`")]
    UnknownCommand { command: String, hint: String },
    #[error("invalid value `{value}` for `{what}`: {why}")]
    BadValue {
        what: String,
        value: String,
        why: String,
    },
    #[error("{message}")]
    Arguments { message: String, hint: String },
    #[error("no question given")]
    NoQuestion { command: &'static str },
    #[error("`{what}` is {value}, but the maximum is {cap}")]
    OverCap { what: String, value: u64, cap: u64 },
    #[error("unknown model `{model}`: {why}")]
    UnknownModel { model: String, why: String },
    #[error("cannot read the script `{}`", file.display())]
    NoScript { file: PathBuf, source: io::Error },
    #[error("cannot read {what}")]
    Unreadable { what: String, source: io::Error },
    #[error("{what} is not text")]
    NotText { what: String },
    #[error("{what} is larger than {bytes_max} bytes")]
    TooLarge { what: String, bytes_max: u64 },
    #[error("cannot locate the data folder: neither `XDG_DATA_HOME` nor `HOME` is set")]
    NoHome,
    #[error("environment variable `{variable}` is not set")]
    KeyNotSet { variable: String },
    #[error("shredding run `{run}` cannot be undone")]
    Unconfirmed { run: RunId },
    #[error("cannot write to stdout")]
    Output(#[source] io::Error),
    #[error("refusing to overwrite `{}`: {why}", file.display())]
    NotReplaced { file: PathBuf, why: &'static str },
    #[error("cannot write `{}`", file.display())]
    Unwritable { file: PathBuf, source: io::Error },
    #[error("cannot set up the process")]
    Setup(#[source] io::Error),
    #[error("cannot reach the model: {failure}")]
    OutOfReach {
        run: RunId,
        short: String,
        failure: Box<ModelFailure>,
    },
    #[error("interrupted")]
    Interrupted { run: RunId, short: String },
    #[error("run `{run}` was asked to stop but is still running")]
    StillRunning { run: RunId },
    #[error(transparent)]
    Host(#[from] HostError),
    #[error("{error}")]
    Run { run: RunId, error: HostError },
    #[error(transparent)]
    Redact(#[from] RedactError),
    #[error(transparent)]
    Weights(#[from] WeightsError),
    #[error("interrupted while downloading `{names}`")]
    PullInterrupted { names: String },
    #[error("{message}")]
    Symbols { message: String, hint: &'static str },
    #[error("seed `{id}` not found")]
    NoSuchSeed { id: String },
    #[error("seed ID `{id}` is ambiguous: several seeds match")]
    AmbiguousSeed { id: String },
    #[error("{what}")]
    Bug { what: String },
}

impl CliError {
    /// The error's code, as its page in `docs/errors` is called.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::UnknownFlag { .. } => "F0101",
            Self::Redact(error) => error.code(),
            Self::UnknownCommand { .. } => "F0102",
            Self::BadValue { .. } => "F0103",
            Self::Arguments { .. } => "F0104",
            Self::NoQuestion { .. } => "F0105",
            Self::OverCap { .. } => "F0106",
            Self::UnknownModel { .. } => "F0108",
            Self::NoScript { .. } => "F0109",
            Self::Unreadable { .. } => "F0121",
            Self::NotText { .. } => "F0122",
            Self::TooLarge { .. } => "F0124",
            Self::NoHome => "F0125",
            Self::KeyNotSet { .. } => "F0126",
            Self::Unconfirmed { .. } => "F0127",
            Self::Output(_) => "F0128",
            Self::Setup(_) => "F0129",
            Self::NotReplaced { .. } => "F0130",
            Self::Unwritable { .. } => "F0131",
            Self::OutOfReach { .. } => "F0390",
            Self::Interrupted { .. } => "F0490",
            Self::StillRunning { .. } => "F0491",
            Self::Symbols { .. } => "F0493",
            Self::Host(error) | Self::Run { error, .. } => error.code(),
            Self::Weights(error) => error.code(),
            Self::PullInterrupted { .. } => "F0532",
            Self::NoSuchSeed { .. } | Self::AmbiguousSeed { .. } => "F1090",
            Self::Bug { .. } => "F0901",
        }
    }

    /// Next step for the user, as an imperative sentence.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::UnknownFlag { hint, .. }
            | Self::UnknownCommand { hint, .. }
            | Self::Arguments { hint, .. } => hint.clone(),
            Self::BadValue { what, .. } if what.contains("budget") || what.contains("BUDGET") => {
                "use the form `--budget tokens=20000,calls=8,time=30s,cost=0.25`".into()
            }
            Self::BadValue { what, .. } => format!("run the command with `--help` to see what `{what}` accepts"),
            Self::NoQuestion { command } => {
                format!("pass it as the first argument (`fathom {command} \"…\" --context PATH`) or pipe it in")
            }
            Self::OverCap { what, cap, .. } => format!("set `{what}` to at most {cap}"),
            Self::UnknownModel { .. } => "use `local/NAME`, `local/FILE.gguf`, `openai/NAME`, `anthropic/NAME`, `ollama/NAME` or `script/FILE`".into(),
            Self::NoScript { .. } => "`script/FILE` takes a file of JSON lines, with a path relative to the current folder".into(),
            Self::Unreadable { .. } => "check the path and its permissions".into(),
            Self::NotText { .. } => "convert the file to UTF-8 text first".into(),
            Self::TooLarge { .. } => "pass a part of it, or fewer files".into(),
            Self::NoHome => "choose one with `--home DIR`".into(),
            Self::KeyNotSet { variable } => format!("set it with `export {variable}=…`, or name another variable with `--api-key-env`"),
            Self::Unconfirmed { run } => format!("to confirm, run `fathom shred {run} --yes`"),
            Self::Output(_) => "the run is recorded; find it with `fathom runs` and print its answer with `fathom show RUN`".into(),
            Self::Setup(_) => "check the limits on processes and open files".into(),
            Self::NotReplaced { .. } => "choose another file name or move the existing file".into(),
            Self::Unwritable { .. } => "check that its folder exists and is writable".into(),
            Self::Symbols { hint, .. } => (*hint).to_owned(),
            Self::OutOfReach { short, .. } => format!("check the model with `fathom doctor`, then run `fathom resume {short}`"),
            Self::Interrupted { short, .. } => format!("continue with `fathom resume {short}`"),
            Self::StillRunning { run } => format!("check it with `fathom show {run}`"),
            Self::Host(error) | Self::Run { error, .. } => error.hint(),
            Self::Weights(error) => error.hint(),
            Self::Redact(error) => error.hint().to_owned(),
            Self::PullInterrupted { names } => format!("the partial download is kept; continue with `fathom models pull {names}`"),
            Self::NoSuchSeed { .. } => "list seeds and their IDs with `fathom seeds list`".into(),
            Self::AmbiguousSeed { .. } => "use a longer prefix; `fathom seeds list` shows the IDs".into(),
            Self::Bug { .. } => "this is a bug in Fathom; please report it with this message and the command. Runs can be resumed".into(),
        }
    }

    /// The run it is about.
    pub(crate) const fn run(&self) -> Option<RunId> {
        match self {
            Self::OutOfReach { run, .. }
            | Self::Interrupted { run, .. }
            | Self::StillRunning { run }
            | Self::Unconfirmed { run }
            | Self::Run { run, .. } => Some(*run),
            _ => None,
        }
    }

    /// Exit status of the process.
    pub(crate) fn exit(&self) -> ExitStatus {
        match self {
            Self::Interrupted { .. } | Self::PullInterrupted { .. } => ExitStatus::Interrupted,
            Self::Host(HostError::Models(error)) => unusable_model(error),
            Self::Weights(error) | Self::Host(HostError::Weights(error)) => unusable_weights(error),
            Self::Host(
                HostError::NoMaterial { .. }
                | HostError::TextTooLarge { .. }
                | HostError::NoPhases { .. }
                | HostError::Sandbox(
                    SandboxError::BadMaterial { .. } | SandboxError::MaterialTooLarge { .. },
                ),
            )
            | Self::Redact(_)
            | Self::NoSuchSeed { .. }
            | Self::AmbiguousSeed { .. } => ExitStatus::Usage,
            Self::Host(HostError::People(_) | HostError::Identity(_) | HostError::Rfc(_))
            | Self::Run {
                error: HostError::Identity(_),
                ..
            } => ExitStatus::Failed,
            Self::Host(HostError::Channels(_)) => ExitStatus::Unreachable,
            Self::Host(HostError::Records(_)) => match self.code() {
                // What was to be kept breaks a rule.
                "F0935" => ExitStatus::Usage,
                _ => ExitStatus::Unreachable,
            },
            Self::Host(HostError::Symbols(_) | HostError::History(_)) => match self.code() {
                // What the user gave is no address, no catalogue, no session or no recipient.
                "F0905" | "F0909" | "F0910" | "F0920" | "F0929" => ExitStatus::Usage,
                _ => ExitStatus::Unreachable,
            },
            _ => ExitStatus::of_error(self.code()),
        }
    }

    /// Causes of the error, nearest first.
    pub(crate) fn causes(&self) -> Vec<String> {
        if let Self::Host(HostError::NoMaterial { skipped }) = self {
            return left_out(skipped);
        }
        let first = match self {
            Self::Run { error, .. } => error.source(),
            other => other.source(),
        };
        std::iter::successors(first, |cause: &&dyn std::error::Error| (*cause).source())
            .map(ToString::to_string)
            .collect()
    }

    /// The error as a person reads it.
    pub(crate) fn lines(&self) -> Vec<StyledLine> {
        if let Self::Interrupted { short, .. } = self {
            return vec![StyledLine::from(format!(
                "interrupted; continue with: fathom resume {short}"
            ))];
        }
        let mut lines = self.problems();
        lines.push(
            StyledLine::new()
                .with(LineStyle::Bad, format!("error[{}]", self.code()))
                .with(LineStyle::Plain, format!(": {}", safe(&self.to_string()))),
        );
        lines.extend(
            self.causes()
                .iter()
                .map(|cause| StyledLine::from(format!("  cause: {}", one_line(cause)))),
        );
        lines.push(
            StyledLine::new()
                .with(LineStyle::Busy, "hint")
                .with(LineStyle::Plain, format!(": {}", safe(&self.hint()))),
        );
        lines
    }

    /// Problems of a charter, one after the other.
    fn problems(&self) -> Vec<StyledLine> {
        let Self::Host(HostError::Charter(CharterError::Broken { problems, .. })) = self else {
            return Vec::new();
        };
        let problems = problems.iter();
        problems
            .flat_map(|problem| charter_findings::lines(Severity::Error, problem))
            .collect()
    }

    /// The error as a program reads it.
    pub(crate) fn json(&self) -> ErrorJson {
        ErrorJson {
            error: ErrorBody {
                code: self.code(),
                message: self.to_string(),
                hint: self.hint(),
                causes: self.causes(),
            },
            run: self.run(),
        }
    }
}

/// A model that cannot be used was configured wrongly; only what the machine lacks is out of reach.
fn unusable_model(error: &ModelsError) -> ExitStatus {
    match error {
        ModelsError::Client { .. } => ExitStatus::Unreachable,
        ModelsError::Prices { .. } => ExitStatus::Bug,
        _ => ExitStatus::Usage,
    }
}

/// Unknown weights are a mistake of the user; all else is something that the machine or the network lacks.
const fn unusable_weights(error: &WeightsError) -> ExitStatus {
    match error {
        WeightsError::Unknown { .. } => ExitStatus::Usage,
        WeightsError::Catalogue { .. } => ExitStatus::Bug,
        _ => ExitStatus::Unreachable,
    }
}

/// The object that `--json` prints instead of a result.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorJson {
    error: ErrorBody,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunId>,
}

#[derive(Debug, Serialize)]
struct ErrorBody {
    code: &'static str,
    message: String,
    hint: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<String>,
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
