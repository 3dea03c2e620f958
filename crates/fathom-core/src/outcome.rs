//! What every episode leaves behind.

use serde::{Deserialize, Serialize};

use crate::amounts::Amounts;
use crate::contract::{ChildType, Role};
use crate::id::Seq;
use crate::stop::StopReason;
use crate::text::{Text, Texts};
use crate::unit::{Millis, Timestamp};

/// Where an episode stands at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Done.
    Ok,
    /// A person should look.
    NeedsReview,
    /// Not done.
    Failed,
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ok => "ok",
            Self::NeedsReview => "needs_review",
            Self::Failed => "failed",
        })
    }
}

/// Three to eight lines; fewer or more can neither be written nor read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Text>", into = "Vec<Text>")]
pub struct Summary(Vec<Text>);

/// A summary that is too short or too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a summary has three to eight lines, not {0}")]
pub struct SummaryLength(usize);

impl TryFrom<Vec<Text>> for Summary {
    type Error = SummaryLength;

    fn try_from(lines: Vec<Text>) -> Result<Self, SummaryLength> {
        if (Self::LINES_MIN..=Self::LINES_MAX).contains(&lines.len()) {
            Ok(Self(lines))
        } else {
            Err(SummaryLength(lines.len()))
        }
    }
}

impl From<Summary> for Vec<Text> {
    fn from(summary: Summary) -> Self {
        summary.0
    }
}

impl Summary {
    /// Fewest lines a summary has.
    pub const LINES_MIN: usize = 3;
    /// Most lines a summary has.
    pub const LINES_MAX: usize = 8;
    /// Most characters of a line; the rest is cut off with an ellipsis.
    pub const LINE_CHARS_MAX: usize = 160;

    /// Three lines that must be there, and up to five more; further ones are dropped.
    pub fn new(must: [String; 3], more: impl IntoIterator<Item = String>) -> Self {
        Self(
            must.into_iter()
                .chain(more)
                .take(Self::LINES_MAX)
                .map(|line| Text::from(clip(&line, Self::LINE_CHARS_MAX)))
                .collect(),
        )
    }

    /// The lines.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(Text::as_str)
    }
}

/// The first line of `text`, at most `chars_max` characters of it.
pub fn clip(text: &str, chars_max: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    if line.chars().count() <= chars_max && line.len() == text.trim().len() {
        return line.to_owned();
    }
    let head: String = line.chars().take(chars_max.saturating_sub(1)).collect();
    format!("{}…", head.trim_end())
}

/// A decision with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// What was decided.
    pub what: Text,
    /// Why.
    pub rationale: Text,
}

impl Texts for Decision {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.what);
        f(&mut self.rationale);
    }
}

/// Work handed on to another episode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskPacket {
    /// The role that should do it.
    pub role: Role,
    /// The kind of episode that should do it.
    pub child_type: ChildType,
    /// What to do.
    pub goal: Text,
    /// Why it was handed on.
    pub why: Text,
}

/// Work handed on to a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoffTicket {
    /// What was tried.
    pub tried: Text,
    /// What is known.
    pub known: Text,
    /// What is asked of the person.
    pub asked: Text,
    /// Until when an answer is of use; none when any time will do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

/// What should happen next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NextAction {
    /// Another episode should do this.
    Task(TaskPacket),
    /// A person should do this.
    Handoff(HandoffTicket),
}

impl Texts for NextAction {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        match self {
            Self::Task(task) => {
                f(&mut task.goal);
                f(&mut task.why);
            }
            Self::Handoff(ticket) => {
                f(&mut ticket.tried);
                f(&mut ticket.known);
                f(&mut ticket.asked);
            }
        }
    }
}

/// What a program says at its end; the governor adds what it knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Where it stands.
    pub status: Status,
    /// Why it stopped.
    pub stop: StopReason,
    /// The answer, as far as there is one.
    pub answer: Option<Text>,
    /// What the program found, in a form of its own (JSON).
    pub report: Option<Text>,
    /// What came of it, in lines.
    pub summary: Summary,
    /// Pointers to what was made.
    pub artifacts: Vec<Text>,
    /// What was decided, and why.
    pub decisions: Vec<Decision>,
    /// Whether someone must still confirm the result.
    pub verification_needed: bool,
    /// What should happen next.
    pub next_actions: Vec<NextAction>,
}

/// What an episode used of its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetUse {
    /// What it might have used.
    pub limit: Amounts,
    /// What it used, children included.
    pub spent: Amounts,
    /// The time it might have taken.
    pub time_limit: Millis,
    /// The time it took, pauses left out.
    pub time_spent: Millis,
}

/// What every episode leaves behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeResult {
    /// Where it stands.
    pub status: Status,
    /// Why it stopped.
    pub stop_reason: StopReason,
    /// What came of it, in three to eight lines.
    pub summary: Summary,
    /// The answer, as far as there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Text>,
    /// What the program found, in a form of its own (JSON).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Text>,
    /// Pointers to what was made.
    pub artifacts_created: Vec<Text>,
    /// What was decided, and why.
    pub decisions: Vec<Decision>,
    /// Whether someone must still confirm the result.
    pub verification_needed: bool,
    /// What should happen next.
    pub next_actions: Vec<NextAction>,
    /// Untrusted content that it may come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// What it used.
    pub budget: BudgetUse,
    /// Deepest episode of its tree, counted from the root.
    pub depth_reached: u8,
    /// The record of its chain that ends it.
    pub position: Seq,
}

impl Texts for EpisodeResult {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        self.summary.0.each_text(f);
        self.answer.each_text(f);
        self.report.each_text(f);
        self.artifacts_created.each_text(f);
        self.decisions.each_text(f);
        self.next_actions.each_text(f);
    }
}
