//! All that is found in a charter, and where.

use std::fmt;

use serde::{Serialize, Serializer};

use super::limits;
use super::problem::CharterProblem;

/// A place in a text file, with the line that stands there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceLocation {
    /// The line, counted from one.
    pub line: usize,
    /// The character in that line, counted from one.
    pub column: usize,
    /// The line as it can be shown: no control characters, and not longer than a line of a terminal.
    pub excerpt: String,
    /// Characters of the excerpt before the place.
    #[serde(skip)]
    pub before: usize,
    /// Characters of the excerpt to mark.
    #[serde(skip)]
    pub width: usize,
}

/// One thing about a charter that is wrong, or worth a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, from the charter's folder, with slashes.
    pub file: String,
    /// Place in the file; none if the finding is about all of it.
    pub place: Option<SourceLocation>,
    pub flaw: CharterProblem,
}

impl Finding {
    /// The finding's code, as its page in `docs/errors` is called.
    pub fn code(&self) -> &'static str {
        self.flaw.code()
    }

    /// Next step for the user, as an imperative sentence.
    pub fn hint(&self) -> String {
        self.flaw.hint()
    }

    /// Sort key of a list: `charter.toml` first, then file by file, from top to bottom.
    pub(super) fn order(&self) -> (bool, String, usize, usize) {
        let place = self.place.as_ref();
        let place = place.map_or((0, 0), |place| (place.line, place.column));
        (
            self.file != "charter.toml",
            self.file.clone(),
            place.0,
            place.1,
        )
    }

    /// `charter.toml:3:1`, which editors and terminals turn into a link.
    pub fn position(&self) -> String {
        match &self.place {
            Some(place) => format!("{}:{}:{}", self.file, place.line, place.column),
            None => self.file.clone(),
        }
    }

    /// The position and its line, with a mark below the value.
    pub fn picture(&self) -> Vec<String> {
        let Some(place) = &self.place else {
            return vec![format!("  --> {}", self.file)];
        };
        let number = place.line.to_string();
        let gutter = " ".repeat(number.len());
        let indent = " ".repeat(place.before);
        let mark = "^".repeat(place.width.max(1));
        vec![
            format!("{gutter} --> {}", self.position()),
            format!("{gutter} |"),
            format!("{number} | {}", place.excerpt)
                .trim_end()
                .to_owned(),
            format!("{gutter} | {indent}{mark}"),
        ]
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position(), self.flaw)
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct RecordFinding<'a> {
            code: &'static str,
            message: String,
            hint: String,
            file: &'a str,
            line: Option<usize>,
            column: Option<usize>,
            excerpt: Option<&'a str>,
        }
        let place = self.place.as_ref();
        let record = RecordFinding {
            code: self.code(),
            message: self.flaw.to_string(),
            hint: self.hint(),
            file: &self.file,
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            excerpt: place.map(|place| place.excerpt.as_str()),
        };
        record.serialize(serializer)
    }
}

/// All that was found in a charter, in the order it was met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FindingList {
    pub(super) problems: Vec<Finding>,
    pub(super) warnings: Vec<Finding>,
}

impl FindingList {
    /// Adds a problem, as long as somebody may still read it.
    pub(super) fn problem(
        &mut self,
        file: &str,
        place: Option<SourceLocation>,
        flaw: CharterProblem,
    ) {
        // A file of the wrong kind could yield a finding per line.
        if self.problems.len() < limits::FINDINGS_MAX {
            self.problems.push(finding(file, place, flaw));
        }
    }

    /// Adds a warning, as long as somebody may still read it.
    pub(super) fn warning(
        &mut self,
        file: &str,
        place: Option<SourceLocation>,
        flaw: CharterProblem,
    ) {
        if self.warnings.len() < limits::FINDINGS_MAX {
            self.warnings.push(finding(file, place, flaw));
        }
    }
}

fn finding(file: &str, place: Option<SourceLocation>, flaw: CharterProblem) -> Finding {
    Finding {
        file: file.to_owned(),
        place,
        flaw,
    }
}
