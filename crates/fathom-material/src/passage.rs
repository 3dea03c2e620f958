//! Passages: parts of documents with their positions.

use std::sync::Arc;

/// A part of a document with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The document, as named by the user.
    pub source: Arc<str>,
    /// Its first line, counted from one; in a PDF the page.
    pub first_line: u32,
    /// Its last line.
    pub last_line: u32,
    /// The headings above it, outermost first, such as `Costs > Storage`; empty without any.
    pub headings: Arc<str>,
    /// Its text. An omitted end is marked by [`Passage::CUT`].
    pub text: String,
}

impl Passage {
    /// Mark for an omitted end.
    pub const CUT: &str = " […]";

    /// The passage as it is searched and given to a model: with its headings on a line of their own.
    pub fn said(&self) -> String {
        if self.headings.is_empty() {
            return self.text.clone();
        }
        format!("{}\n{}", self.headings, self.text)
    }
}
