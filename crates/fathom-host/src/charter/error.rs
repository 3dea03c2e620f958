//! Errors of finding and reading charters.

use std::io;
use std::path::PathBuf;

use super::built_in;
use super::findings::Finding;

/// Everything that keeps a charter from being had or made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CharterError {
    /// No charter has such a name, and no folder either.
    #[error("charter `{said}` not found")]
    NotFound {
        said: String,
        /// Folder of charters with a name of their own.
        folder: Option<PathBuf>,
    },
    /// A text that cannot be a charter's name.
    #[error("invalid charter name `{said}`: {why}")]
    BadName { said: String, why: &'static str },
    /// The charter is not as a charter must be.
    #[error("charter `{said}` has {}", count(problems.len()))]
    Broken {
        said: String,
        /// All that is wrong.
        problems: Vec<Finding>,
    },
    /// The folder cannot be read.
    #[error("cannot read charter `{}`", folder.display())]
    Unreadable { folder: PathBuf, source: io::Error },
    /// There is something already where a new charter should go.
    #[error("`{}` already exists", folder.display())]
    Exists { folder: PathBuf },
    /// A new charter cannot be written.
    #[error("cannot write charter `{}`", folder.display())]
    Unwritable { folder: PathBuf, source: io::Error },
}

fn count(problems: usize) -> String {
    match problems {
        1 => "1 problem".to_owned(),
        many => format!("{many} problems"),
    }
}

impl CharterError {
    /// The error's code, as its page in `docs/errors` is called.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "F0601",
            Self::BadName { .. } => "F0602",
            Self::Broken { .. } => "F0603",
            Self::Unreadable { .. } => "F0626",
            Self::Exists { .. } => "F0627",
            Self::Unwritable { .. } => "F0628",
        }
    }

    /// Next step for the user, as an imperative sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::NotFound { folder, .. } => {
                let names = built_in::NAMES.join(", ");
                let in_home = folder.as_ref().map_or_else(String::new, |folder| {
                    format!(", the name of a folder in `{}`", folder.display())
                });
                format!("use a built-in charter ({names}){in_home} or the path of a folder")
            }
            Self::BadName { .. } => {
                "use a name such as `my-charter`, or the path of a folder".into()
            }
            Self::Broken { said, .. } => {
                format!("list them with `fathom charter check {said}`")
            }
            Self::Unreadable { .. } => "check the path and its permissions".into(),
            Self::Exists { .. } => "choose another name, or another folder with `--dir DIR`".into(),
            Self::Unwritable { .. } => {
                "check the permissions of the folder, or choose another with `--dir DIR`".into()
            }
        }
    }
}
