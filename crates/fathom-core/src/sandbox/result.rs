//! The end of a cell: what it returned, printed and submitted, or what ended it before its last line.

use serde::{Deserialize, Serialize};

use super::CellValue;
use crate::text::{Text, VisitTexts};
use crate::unit::Millis;

/// The remains of a cell, however it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellResult {
    pub output: CellOutput,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submitted: Option<CellValue>,
    /// The answer it has so far without calling it ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<CellValue>,
    /// The error that ended it before its last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CellError>,
    /// Time it worked, without the time it waited for answers.
    pub took: Millis,
}

impl VisitTexts for CellResult {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        self.output.each_text(f);
        for value in [&mut self.submitted, &mut self.draft].into_iter().flatten() {
            value.each_text(f);
        }
        if let Some(error) = &mut self.error {
            f(&mut error.message);
        }
    }
}

/// Printed output of a cell: all of it, or its beginning and its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellOutput {
    /// The beginning, or all.
    pub head: Text,
    /// The end, where something between them is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<Text>,
    /// Bytes that were printed in all.
    pub bytes: u64,
}

impl VisitTexts for CellOutput {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.head);
        if let Some(tail) = &mut self.tail {
            f(tail);
        }
    }
}

/// The error that ended a cell before its last line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellError {
    pub kind: CellErrorKind,
    /// The traceback, or what happened in words.
    pub message: Text,
}

/// The ways a cell can end before its last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellErrorKind {
    /// It is not code.
    Syntax,
    /// An exception that it did not catch.
    Raised,
    /// It worked for longer than it may. The session was restarted.
    TimedOut,
    /// It wanted more memory than it may have. The session was restarted.
    OutOfMemory,
    /// Its process ended, or sent something that is not a message. The session was started anew.
    Died,
    /// It asked more questions than it may. The session was restarted.
    TooManyQuestions,
    /// It did not run to its end: the cells before it did not run again as they had, so the session was restarted without them.
    Lost,
    /// No sandbox is available to run it.
    Unavailable,
}

impl CellErrorKind {
    /// As the journal and JSON write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Raised => "raised",
            Self::TimedOut => "timed_out",
            Self::OutOfMemory => "out_of_memory",
            Self::Died => "died",
            Self::TooManyQuestions => "too_many_questions",
            Self::Lost => "lost",
            Self::Unavailable => "unavailable",
        }
    }

    /// True if the session survives the error unchanged.
    pub const fn keeps_session(self) -> bool {
        matches!(self, Self::Syntax | Self::Raised)
    }
}
