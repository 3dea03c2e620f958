//! Code that an episode runs in its sandbox, and what the two say to each other. All of it is written by a model, or by
//! code that a model wrote: it is data, never authority.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::amounts::Amounts;
use crate::id::AskId;
use crate::text::{Text, Texts};
use crate::unit::Millis;

/// Limits of one cell. The sandbox holds these against any code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellLimits {
    /// Longest time it may work by itself; the time it waits for an answer does not count.
    pub time: Millis,
    /// Most memory of a session beyond what it was given, in bytes.
    pub memory: u64,
    /// Most bytes of output that are kept, half of them from its beginning and half from its end.
    pub output: u32,
    /// Most questions it may ask.
    pub questions: u32,
    /// Most bytes of all its questions together: each of them is written down before it is answered or refused.
    #[serde(default = "question_bytes")]
    pub question_bytes: u64,
}

/// Room to ask all of 100 MB several times over, whatever its letters are.
const fn question_bytes() -> u64 {
    1 << 30
}

impl Default for CellLimits {
    fn default() -> Self {
        Self {
            time: Millis(30_000),
            memory: 512 << 20,
            output: 8 << 10,
            questions: 10_000,
            question_bytes: question_bytes(),
        }
    }
}

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
pub enum Form {
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
pub struct Value {
    /// As a string or as JSON.
    pub form: Form,
    /// The string, or the JSON.
    pub text: Text,
}

impl Texts for Value {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.text);
    }
}

/// Something that code in a cell wants to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellQuestion {
    /// Its number within the cell.
    pub id: u32,
    pub call: CellCall,
    /// The answer that the cell has so far, where it is another one than at its last question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<Value>,
}

impl Texts for CellQuestion {
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

impl Texts for CellCall {
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
    pub context: Option<Value>,
}

impl Texts for CellTask {
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

impl Texts for CellAnswer {
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

impl Texts for CellReply {
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
        /// How much likelier it was than the others, as [`Reply::margin_milli`](crate::model::Reply::margin_milli).
        margin_milli: i32,
    },
    /// Nothing that may be taken for an answer.
    Fault(CellFault),
}

impl Texts for CellOutcome {
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
pub struct CellFault {
    pub kind: FaultKind,
    pub message: Text,
    /// The text received before the reply broke off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Text>,
}

impl Texts for CellFault {
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
pub enum FaultKind {
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

impl FaultKind {
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

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The remains of a cell, however it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellEnd {
    pub output: Output,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submitted: Option<Value>,
    /// The answer it has so far without calling it ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<Value>,
    /// The error that ended it before its last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CellError>,
    /// Time it worked, without the time it waited for answers.
    pub took: Millis,
}

impl Texts for CellEnd {
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
pub struct Output {
    /// The beginning, or all.
    pub head: Text,
    /// The end, where something between them is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<Text>,
    /// Bytes that were printed in all.
    pub bytes: u64,
}

impl Texts for Output {
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
    /// It worked for longer than it may. The session was begun anew.
    TimedOut,
    /// It wanted more memory than it may have. The session was begun anew.
    OutOfMemory,
    /// Its process ended, or said something that is no message. The session was begun anew.
    Died,
    /// It asked more questions than it may. The session was begun anew.
    TooManyQuestions,
    /// It did not run to its end: the cells before it did not run again as they had, so the session was begun anew, without them.
    Lost,
    /// There is no sandbox to run it in.
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
