//! Questions of a cell and their answers: a cell that runs again is given them and does not ask again.

use fathom_core::sandbox::{CellCall, CellQuestion, CellReply, CellTask, CellValue};
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use sha2::{Digest, Sha256};

/// Bytes of drafts that go with questions however little these ask.
const DRAFTS_BYTES: u64 = 8 << 20;

/// A cell that ended, and whose session lived on.
#[derive(Clone, Debug)]
pub struct PastCell {
    pub code: Text,
    pub asked: Vec<RecordedQuestion>,
    /// Time from beginning to end, if known.
    pub took: Option<Millis>,
}

/// A question that was asked, and its answer if there was one.
#[derive(Clone, Debug)]
pub struct RecordedQuestion {
    pub question: CellQuestion,
    pub reply: Option<CellReply>,
}

/// The questions of one cell. They are known by their hashes: prompts may be large, and the journal has them.
#[derive(Debug, Default)]
pub(crate) struct QuestionLog {
    entries: Vec<LogEntry>,
    /// Entries before this one are all used.
    unused: usize,
    last: u32,
    asked: RecordedAmount,
    drafted: u64,
}

/// Amount of questions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecordedAmount {
    /// Prompts and tasks.
    pub(crate) count: u32,
    /// Bytes of their frames.
    pub(crate) bytes: u64,
}

impl RecordedAmount {
    /// A question's least amount: its frame has a few more bytes than its words.
    fn of(call: &CellCall) -> Self {
        let (count, bytes) = match call {
            CellCall::Query { prompts, .. } => {
                let bytes = prompts.iter().map(|prompt| prompt.as_str().len()).sum();
                (prompts.len(), bytes)
            }
            CellCall::Recurse { tasks } => {
                let part =
                    |task: &CellTask| task.context.as_ref().map_or(0, |c| c.text.as_str().len());
                let bytes = tasks
                    .iter()
                    .map(|task| task.goal.as_str().len() + part(task))
                    .sum();
                (tasks.len(), bytes)
            }
            CellCall::Budget => (1, 0),
        };
        Self {
            count: u32::try_from(count).unwrap_or(u32::MAX),
            bytes: bytes as u64,
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

pub(crate) type QuestionHash = [u8; 32];

#[derive(Debug)]
struct LogEntry {
    hash: QuestionHash,
    id: u32,
    reply: Option<CellReply>,
    used: bool,
}

impl QuestionLog {
    pub(crate) fn new(asked: Vec<RecordedQuestion>) -> Self {
        let amounts = asked
            .iter()
            .map(|asked| RecordedAmount::of(&asked.question.call));
        let amount = amounts.fold(RecordedAmount::default(), RecordedAmount::plus);
        let drafts = asked
            .iter()
            .filter_map(|asked| asked.question.draft.as_ref());
        let drafted = drafts.map(|draft| draft.text.as_str().len() as u64).sum();
        let entries = asked
            .into_iter()
            .map(|RecordedQuestion { question, reply }| LogEntry {
                hash: hash(&question.call),
                id: question.id,
                reply,
                used: false,
            })
            .collect::<Vec<_>>();
        let last = entries.iter().map(|entry| entry.id).max().unwrap_or(0);
        Self {
            entries,
            unused: 0,
            last,
            asked: amount,
            drafted,
        }
    }

    /// This amount and all that the cell asked before, over all its tries.
    pub(crate) fn with(&self, more: RecordedAmount) -> RecordedAmount {
        self.asked.plus(more)
    }

    /// Bytes of drafts that may still go with its questions: no more of them are kept than of questions, or few. Where there are
    /// many a draft goes from time to time.
    pub(crate) fn drafts_left(&self) -> u64 {
        (self.asked.bytes + DRAFTS_BYTES).saturating_sub(self.drafted)
    }

    pub(crate) fn drafted(&mut self, draft: Option<&CellValue>) {
        self.drafted += draft.map_or(0, |draft| draft.text.as_str().len() as u64);
    }

    /// Begins a new try of the cell.
    pub(crate) fn rewind(&mut self) {
        self.unused = 0;
        for entry in &mut self.entries {
            entry.used = false;
        }
    }

    /// The first question of this hash that this try has not asked yet: its number, and its answer.
    pub(crate) fn find(&mut self, hash: QuestionHash) -> Option<(u32, Option<&CellReply>)> {
        while self
            .entries
            .get(self.unused)
            .is_some_and(|entry| entry.used)
        {
            self.unused += 1;
        }
        let entry = self.entries[self.unused..]
            .iter_mut()
            .find(|entry| !entry.used && entry.hash == hash)?;
        entry.used = true;
        Some((entry.id, entry.reply.as_ref()))
    }

    /// Adds a question; gives it the next number.
    pub(crate) fn add(&mut self, hash: QuestionHash, amount: RecordedAmount) -> u32 {
        self.asked = self.asked.plus(amount);
        self.last = self.last.saturating_add(1);
        let id = self.last;
        self.entries.push(LogEntry {
            hash,
            id,
            reply: None,
            used: true,
        });
        id
    }

    /// Notes an answer.
    pub(crate) fn answer(&mut self, id: u32, reply: CellReply) {
        // The newest are at the end.
        if let Some(entry) = self.entries.iter_mut().rev().find(|entry| entry.id == id) {
            entry.reply = Some(reply);
        }
    }
}

/// Tells questions apart by their words.
pub(crate) fn hash(call: &CellCall) -> QuestionHash {
    let mut hasher = Sha256::new();
    let mut text = |text: &str| {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    };
    let value = |text: &mut dyn FnMut(&str), value: &CellValue| {
        text(match value.form {
            fathom_core::sandbox::ValueFormat::Text => "text",
            fathom_core::sandbox::ValueFormat::Lines => "lines",
            fathom_core::sandbox::ValueFormat::Json => "json",
        });
        text(value.text.as_str());
    };
    match call {
        CellCall::Query {
            prompts,
            pattern,
            tokens_max,
        } => {
            text("query");
            text(pattern.as_ref().map_or("", Text::as_str));
            text(if pattern.is_some() { "pattern" } else { "" });
            text(&tokens_max.map_or_else(String::new, |tokens| tokens.to_string()));
            for prompt in prompts {
                text(prompt.as_str());
            }
        }
        CellCall::Recurse { tasks } => {
            text("recurse");
            for task in tasks {
                text(task.goal.as_str());
                match &task.context {
                    Some(context) => value(&mut text, context),
                    None => text("none"),
                }
            }
        }
        CellCall::Budget => text("budget"),
    }
    hasher.finalize().into()
}
