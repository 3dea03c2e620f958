//! Material that a cell is given or hands over.

use serde::{Deserialize, Serialize};

use crate::id::AskId;
use crate::text::{Text, VisitTexts};

/// The origin of `context` in a session.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ContextSource {
    /// The material that the run was given.
    #[default]
    Given,
    /// Material handed over by a cell of an episode further up.
    Passed {
        /// Depth of that episode below the root: all count their cells and questions alike. Not known of runs that were
        /// begun before it was noted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        depth: Option<u8>,
        cell: AskId,
        /// The question in which it did.
        question: u32,
        /// The task of that question.
        task: u32,
    },
}

/// The form in which a piece of material stands in the sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueFormat {
    /// As a string.
    #[default]
    Text,
    /// As a list, one entry for each line of JSON.
    Lines,
    /// As the value that its JSON describes.
    Json,
}

/// A text and how it is to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellValue {
    /// As a string or as JSON.
    pub form: ValueFormat,
    /// The string, or the JSON.
    pub text: Text,
}

impl VisitTexts for CellValue {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.text);
    }
}
