//! A rule broken at a place.

use std::fmt;

/// Printed as `path:line: message`, which editors and terminals turn into a link.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    pub(crate) fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            message: message.into(),
        }
    }

    /// A finding at a byte offset of the file's text.
    pub(crate) fn at(path: &str, text: &str, offset: usize, message: impl Into<String>) -> Self {
        Self::new(path, line_of(text, offset), message)
    }

    /// A finding about the file as a whole.
    pub(crate) fn whole(path: &str, message: impl Into<String>) -> Self {
        Self::new(path, 1, message)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// The line, counted from one, that holds a byte offset.
fn line_of(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    before.matches('\n').count() + 1
}

/// What the checks' own tests compare: findings as they are printed.
#[cfg(test)]
pub(crate) fn printed(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}
