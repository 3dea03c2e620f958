//! What is wrong before a page was opened.

use std::io;

/// A browser that cannot be used, or a declaration that cannot be followed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrowserError {
    /// The charter's steps do not hold together.
    #[error("the browser tool cannot be used as it is declared: {cause}")]
    Declaration {
        cause: String,
    },
    /// The program is nowhere.
    #[error("`{program}` is not installed")]
    NoProgram {
        /// What was looked for.
        program: &'static str,
    },
    /// The driver ended, or never said that it is ready.
    #[error("the driver of the browser did not start")]
    Driver {
        /// What the system said.
        source: io::Error,
    },
    /// The driver could not start the browser.
    #[error("the browser did not start: {cause}")]
    Session {
        /// What the driver said.
        cause: String,
    },
}

impl BrowserError {
    /// The error's stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Declaration { .. } => "F0980",
            Self::NoProgram { .. } => "F0981",
            Self::Driver { .. } => "F0982",
            Self::Session { .. } => "F0983",
        }
    }

    /// What the user may do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Declaration { .. } => "mend the tool's steps in the charter",
            Self::NoProgram { .. } => {
                "install chromium and chromium-driver, or name them in FATHOM_CHROMIUM and FATHOM_CHROMEDRIVER"
            }
            Self::Driver { .. } => {
                "run `chromedriver --version`, and check the limits of processes"
            }
            Self::Session { .. } => {
                "check that chromium and chromedriver have the same version, and that memory is left"
            }
        }
    }

    pub(super) fn declaration(cause: impl Into<String>) -> Self {
        let cause = cause.into();
        Self::Declaration { cause }
    }
}
