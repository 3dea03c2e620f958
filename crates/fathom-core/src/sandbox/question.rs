//! Questions of a running cell, and their answers.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::CellValue;
use crate::budget::amounts::Amounts;
use crate::text::{Text, VisitTexts};
use crate::unit::Millis;

/// Something that code in a cell wants to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellQuestion {
    /// Its number within the cell.
    pub id: u32,
    pub call: CellCall,
    /// The answer that the cell has so far, where it is another one than at its last question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<CellValue>,
}

impl VisitTexts for CellQuestion {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        self.call.each_text(f);
        if let Some(draft) = &mut self.draft {
            draft.each_text(f);
        }
    }
}

/// Requests that code in a cell can make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CellCall {
    /// Replies of the sub-model, one for each prompt.
    Query {
        prompts: Vec<Text>,
        /// Regular expression that each whole reply must match.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<Text>,
        /// Most tokens of a reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tokens_max: Option<u32>,
    },
    /// Answers of child episodes, one for each task.
    Recurse { tasks: Vec<CellTask> },
    /// Asks for what is left of the budget.
    Budget,
}

impl VisitTexts for CellCall {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        match self {
            Self::Query {
                prompts, pattern, ..
            } => {
                prompts.each_text(f);
                if let Some(pattern) = pattern {
                    f(pattern);
                }
            }
            Self::Recurse { tasks } => tasks.each_text(f),
            Self::Budget => {}
        }
    }
}

/// A part of the work for a child episode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellTask {
    /// The question that the child answers.
    pub goal: Text,
    /// The child's material; the asker's own if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<CellValue>,
}

impl VisitTexts for CellTask {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.goal);
        if let Some(context) = &mut self.context {
            context.each_text(f);
        }
    }
}

/// The answer to a question of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellAnswer {
    pub id: u32,
    pub reply: CellReply,
}

impl VisitTexts for CellAnswer {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        self.reply.each_text(f);
    }
}

/// Reply to a question of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum CellReply {
    /// One outcome for each prompt or task, in their order.
    Each(Vec<CellOutcome>),
    Budget(CellBudget),
}

impl VisitTexts for CellReply {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        match self {
            Self::Each(outcomes) => outcomes.each_text(f),
            Self::Budget(_) => {}
        }
    }
}

/// Outcome of one prompt or task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellOutcome {
    Said(Text),
    /// This was chosen among a few.
    Chosen {
        text: Text,
        /// The margin by which it was likelier than the others, as
        /// [`Reply::margin_milli`](crate::model::ModelReply::margin_milli).
        margin_milli: i32,
    },
    /// Nothing that may be taken for an answer.
    Fault(CellException),
}

impl VisitTexts for CellOutcome {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        match self {
            Self::Said(text) | Self::Chosen { text, .. } => f(text),
            Self::Fault(fault) => fault.each_text(f),
        }
    }
}

/// The rest of a cell's budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellBudget {
    /// Of calls, tokens, money and the rest. A dimension without a limit has `u64::MAX`.
    pub left: Amounts,
    pub time_left: Millis,
}

/// The reason for having no answer. In the sandbox it is an exception of this name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellException {
    pub kind: CellExceptionKind,
    pub message: Text,
    /// The text received before the reply broke off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Text>,
}

impl VisitTexts for CellException {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.message);
        if let Some(partial) = &mut self.partial {
            f(partial);
        }
    }
}

/// The kinds of faults that code in a cell can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellExceptionKind {
    /// The provider asked for fewer requests.
    RateLimited,
    /// The budget does not reach.
    BudgetExceeded,
    /// The prompt is larger than the model's window.
    TooLarge,
    /// The contract or the model declined.
    Refused,
    /// The reply had no text.
    Empty,
    /// The reply was cut off.
    Truncated,
    /// No reply in time.
    TimedOut,
    /// The model cannot be reached, or what it said was no reply.
    Unavailable,
}

impl CellExceptionKind {
    /// Name of the exception.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RateLimited => "RateLimited",
            Self::BudgetExceeded => "BudgetExceeded",
            Self::TooLarge => "TooLarge",
            Self::Refused => "Refused",
            Self::Empty => "Empty",
            Self::Truncated => "Truncated",
            Self::TimedOut => "TimedOut",
            Self::Unavailable => "Unavailable",
        }
    }
}

impl fmt::Display for CellExceptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
