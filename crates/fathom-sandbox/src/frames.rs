//! Messages of host and worker about cells: a length of four bytes (big endian), then JSON.
//!
//! The host sends [`ToWorker`]: one `cell`, then an `answer` for each question. A worker sends [`FromWorker`]: any number of
//! `ask`, `printed`, `draft` and `submit`, then one `end`. Everything from a worker is untrusted: kinds and fields that are not
//! listed here, or more than the limits allow, end the session.
//!
//! The types are apart from those of the core, whose texts may also be sealed: neither way may an address travel.

use std::borrow::Cow;
use std::fmt;

use fathom_core::sandbox::{
    CellBudget, CellCall, CellError, CellErrorKind, CellOutcome, CellOutput, CellReply, CellTask,
    CellValue, ValueFormat,
};
use fathom_core::text::Text;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Most bytes of one frame of a worker.
pub const FRAME_BYTES_MAX: usize = 8 << 20;

/// Most prompts or tasks of one question.
pub const BATCH_MAX: usize = 100_000;

/// Most bytes of a value that leaves the sandbox.
pub const VALUE_BYTES_MAX: usize = 4 << 20;

/// Most bytes that are kept of an error's message.
pub const ERROR_BYTES_MAX: usize = 16 << 10;

/// A frame of the host.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToWorker<'a> {
    /// Run this.
    Cell {
        /// Number of the cell in its session, from 1.
        cell: u32,
        code: &'a str,
        /// Most bytes of output that are kept.
        output: u32,
        /// Set for a cell that is run again, so that waiting is in vain.
        replayed: bool,
    },
    /// The answer to a question.
    Answer {
        /// The worker's number of the question.
        id: u32,
        reply: AnswerFrame<'a>,
    },
}

/// An answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFrame<'a> {
    /// One outcome for each prompt or task.
    Each(Vec<OutcomeFrame<'a>>),
    /// The rest of the budget; nothing where there is no limit.
    Budget {
        /// Model calls.
        calls: Option<u64>,
        tokens: Option<u64>,
        /// Money.
        cost_usd: Option<f64>,
        /// Time.
        seconds: Option<f64>,
        /// Child episodes.
        episodes: Option<u64>,
    },
}

/// Outcome of one prompt or task.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeFrame<'a> {
    /// This was said.
    Said(&'a str),
    /// This was chosen among a few.
    Chosen {
        text: &'a str,
        /// Its margin over the other replies, as a natural logarithm of likelihoods.
        margin: f64,
    },
    /// Nothing that may be taken for an answer.
    Fault {
        /// Name of the exception.
        kind: &'static str,
        /// In words.
        message: &'a str,
        /// The part received before it broke off.
        partial: Option<&'a str>,
    },
}

impl<'a> From<&'a CellReply> for AnswerFrame<'a> {
    fn from(reply: &'a CellReply) -> Self {
        match reply {
            CellReply::Each(outcomes) => {
                Self::Each(outcomes.iter().map(OutcomeFrame::from).collect())
            }
            CellReply::Budget(budget) => budget.into(),
        }
    }
}

impl From<&CellBudget> for AnswerFrame<'_> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "what is left is read by people and compared roughly"
    )]
    fn from(budget: &CellBudget) -> Self {
        let counted = |amount: u64| (amount != u64::MAX).then_some(amount);
        let left = budget.left;
        Self::Budget {
            calls: counted(left.calls),
            tokens: counted(left.tokens),
            cost_usd: counted(left.money.0).map(|nanodollars| nanodollars as f64 / 1e9),
            seconds: counted(budget.time_left.0).map(|millis| millis as f64 / 1e3),
            episodes: counted(left.episodes),
        }
    }
}

impl<'a> From<&'a CellOutcome> for OutcomeFrame<'a> {
    fn from(outcome: &'a CellOutcome) -> Self {
        match outcome {
            CellOutcome::Said(text) => Self::Said(text.as_str()),
            CellOutcome::Chosen { text, margin_milli } => Self::Chosen {
                text: text.as_str(),
                margin: f64::from(*margin_milli) / 1e3,
            },
            CellOutcome::Fault(fault) => Self::Fault {
                kind: fault.kind.name(),
                message: fault.message.as_str(),
                partial: fault.partial.as_ref().map(Text::as_str),
            },
        }
    }
}

/// A frame of a worker.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FromWorker<'a> {
    /// It wants to know something.
    Ask {
        /// The cell that asks.
        cell: u32,
        /// The worker's number of the question.
        id: u32,
        #[serde(borrow)]
        call: CallFrame<'a>,
    },
    /// The answer that it submits; the first of a cell counts.
    Submit {
        /// The cell that submits.
        cell: u32,
        #[serde(borrow)]
        value: LeavingValue<'a>,
    },
    /// The answer it has so far; the last of a cell counts.
    Draft {
        /// The cell that works on it.
        cell: u32,
        #[serde(borrow)]
        value: LeavingValue<'a>,
    },
    /// Output so far; the last such message is kept when the cell is ended from outside.
    Printed {
        /// The cell that prints.
        cell: u32,
        #[serde(borrow)]
        output: PrintedFrame<'a>,
    },
    /// The cell ended.
    End {
        cell: u32,
        #[serde(borrow)]
        output: PrintedFrame<'a>,
        /// The answer it has so far.
        #[serde(borrow, default)]
        draft: Option<LeavingValue<'a>>,
        /// Exception or limit that ended it before its last line.
        #[serde(borrow, default)]
        error: Option<CellErrorFrame<'a>>,
    },
}

/// Calls of code.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CallFrame<'a> {
    /// Replies of the sub-model.
    Query {
        #[serde(borrow)]
        prompts: QuestionBatch<BorrowedText<'a>>,
        /// Regular expression that each whole reply must match.
        #[serde(borrow, default)]
        pattern: Option<BorrowedText<'a>>,
        /// Most tokens of a reply.
        #[serde(default)]
        tokens_max: Option<u32>,
    },
    /// Answers of children.
    Recurse {
        #[serde(borrow)]
        tasks: QuestionBatch<TaskFrame<'a>>,
    },
    /// Rest of the budget.
    Budget,
}

/// A task for a child.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskFrame<'a> {
    #[serde(borrow)]
    goal: BorrowedText<'a>,
    #[serde(borrow, default)]
    context: Option<LeavingValue<'a>>,
}

/// A value that leaves the sandbox, of at most [`VALUE_BYTES_MAX`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeavingValue<'a> {
    form: ValueFormat,
    #[serde(borrow, deserialize_with = "few_words")]
    text: BorrowedText<'a>,
}

fn few_words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BorrowedText<'de>, D::Error> {
    let words = BorrowedText::deserialize(deserializer)?;
    if words.0.len() > VALUE_BYTES_MAX {
        return Err(de::Error::invalid_length(
            words.0.len(),
            &"a value that is not too large",
        ));
    }
    Ok(words)
}

/// Printed output of a cell.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedFrame<'a> {
    #[serde(borrow)]
    head: BorrowedText<'a>,
    #[serde(borrow, default)]
    tail: Option<BorrowedText<'a>>,
    bytes: u64,
}

/// End of a cell before its last line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellErrorFrame<'a> {
    kind: BrokenKind,
    #[serde(borrow)]
    message: BorrowedText<'a>,
}

/// The kinds of ends that a worker itself can tell.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrokenKind {
    /// It is not code.
    Syntax,
    /// An exception that was not caught.
    Raised,
    /// It wanted more memory than it may have.
    OutOfMemory,
}

/// A string that is borrowed from its frame where it can be.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

impl From<BorrowedText<'_>> for Text {
    fn from(words: BorrowedText<'_>) -> Self {
        Self::new(&*words.0)
    }
}

/// A list of at most [`BATCH_MAX`] things.
#[derive(Debug)]
pub struct QuestionBatch<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for QuestionBatch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BoundedList<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for BoundedList<T> {
            type Value = QuestionBatch<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {BATCH_MAX}")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    if items.len() == BATCH_MAX {
                        return Err(de::Error::invalid_length(BATCH_MAX + 1, &self));
                    }
                    items.push(item);
                }
                Ok(QuestionBatch(items))
            }
        }
        deserializer.deserialize_seq(BoundedList(std::marker::PhantomData))
    }
}

impl<'a> FromWorker<'a> {
    /// Reads a frame's JSON.
    pub fn parse(json: &'a [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(json)
    }

    /// The cell it is about.
    pub fn cell(&self) -> u32 {
        match *self {
            Self::Ask { cell, .. }
            | Self::Submit { cell, .. }
            | Self::Draft { cell, .. }
            | Self::Printed { cell, .. }
            | Self::End { cell, .. } => cell,
        }
    }
}

impl CallFrame<'_> {
    /// Number of prompts or tasks, at least one.
    pub fn count(&self) -> usize {
        match self {
            Self::Query { prompts, .. } => prompts.0.len().max(1),
            Self::Recurse { tasks } => tasks.0.len().max(1),
            Self::Budget => 1,
        }
    }
}

impl From<CallFrame<'_>> for CellCall {
    fn from(call: CallFrame<'_>) -> Self {
        match call {
            CallFrame::Query {
                prompts,
                pattern,
                tokens_max,
            } => Self::Query {
                prompts: prompts.0.into_iter().map(Text::from).collect(),
                pattern: pattern.map(Text::from),
                tokens_max,
            },
            CallFrame::Recurse { tasks } => Self::Recurse {
                tasks: tasks.0.into_iter().map(CellTask::from).collect(),
            },
            CallFrame::Budget => Self::Budget,
        }
    }
}

impl From<TaskFrame<'_>> for CellTask {
    fn from(task: TaskFrame<'_>) -> Self {
        Self {
            goal: task.goal.into(),
            context: task.context.map(CellValue::from),
        }
    }
}

impl From<LeavingValue<'_>> for CellValue {
    fn from(given: LeavingValue<'_>) -> Self {
        Self {
            form: given.form,
            text: given.text.into(),
        }
    }
}

impl PrintedFrame<'_> {
    /// The part of it that is kept: the limit holds whatever the worker sends.
    pub fn kept(&self, bytes_max: u32) -> CellOutput {
        let half = bytes_max as usize / 2;
        let Some(tail) = &self.tail else {
            let head = beginning(&self.head.0, bytes_max as usize);
            return CellOutput {
                head: head.into(),
                tail: None,
                bytes: self.bytes.max(head.len() as u64),
            };
        };
        let head = beginning(&self.head.0, half);
        let tail = ending(&tail.0, half);
        CellOutput {
            head: head.into(),
            tail: Some(tail.into()),
            bytes: self.bytes.max((head.len() + tail.len()) as u64),
        }
    }
}

impl From<CellErrorFrame<'_>> for CellError {
    fn from(broken: CellErrorFrame<'_>) -> Self {
        Self {
            kind: match broken.kind {
                BrokenKind::Syntax => CellErrorKind::Syntax,
                BrokenKind::Raised => CellErrorKind::Raised,
                BrokenKind::OutOfMemory => CellErrorKind::OutOfMemory,
            },
            message: beginning(&broken.message.0, ERROR_BYTES_MAX).into(),
        }
    }
}

/// At most so many bytes from the beginning, in whole characters.
fn beginning(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// At most so many bytes from the end, in whole characters.
fn ending(text: &str, bytes_max: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes_max))..]
}

/// A frame of the host as bytes, its length first.
pub fn encode(frame: &ToWorker<'_>) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    // A frame of strings and numbers always has a JSON form.
    if serde_json::to_writer(&mut bytes, frame).is_err() {
        bytes.truncate(4);
    }
    let length = u32::try_from(bytes.len() - 4).unwrap_or(u32::MAX);
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    bytes
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;
