//! A piece of a document with its place.

use std::sync::Arc;

/// A piece of a document, with the place it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The document, as the user named it.
    pub source: Arc<str>,
    /// Its first line there, counted from one; in a PDF the page.
    pub first_line: u32,
    /// Its last line there.
    pub last_line: u32,
    /// The headings it stands under, the outermost first, as `Costs > Storage`; empty without any.
    pub headings: Arc<str>,
    /// What it says. Text that was left out at its end is marked by [`Passage::CUT`].
    pub text: String,
}

impl Passage {
    /// Stands for what was cut off at the end of a passage.
    pub const CUT: &str = " […]";

    /// The passage as it is searched and given to a model: with its headings in a line of their own.
    pub fn said(&self) -> String {
        if self.headings.is_empty() {
            return self.text.clone();
        }
        format!("{}\n{}", self.headings, self.text)
    }
}
