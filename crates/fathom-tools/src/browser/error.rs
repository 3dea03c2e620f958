//! Errors before a page is opened.

use std::io;

/// A browser that does not start, or an invalid declaration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrowserError {
    /// The charter's steps are invalid.
    #[error("invalid browser tool: {cause}")]
    Declaration { cause: String },
    /// A program was not found.
    #[error("`{program}` is not installed")]
    NoProgram { program: &'static str },
    /// The driver exited, or did not report that it is ready.
    #[error("the driver of the browser did not start")]
    Driver {
        /// The system's error.
        source: io::Error,
    },
    /// The driver could not start the browser.
    #[error("the browser did not start: {cause}")]
    Session {
        /// The driver's error.
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

    /// Advice for the user.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Declaration { .. } => "fix the tool's steps in the charter",
            Self::NoProgram { .. } => {
                "install chromium and chromium-driver, or set FATHOM_CHROMIUM and FATHOM_CHROMEDRIVER"
            }
            Self::Driver { .. } => "run `chromedriver --version`, and check the process limits",
            Self::Session { .. } => {
                "check that chromium and chromedriver have the same version, and that there is free memory"
            }
        }
    }

    pub(super) fn declaration(cause: impl Into<String>) -> Self {
        let cause = cause.into();
        Self::Declaration { cause }
    }
}
