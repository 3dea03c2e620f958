//! The result that every episode leaves behind.

use serde::{Deserialize, Serialize};

use crate::budget::amounts::Amounts;
use crate::contract::stop::StopReason;
use crate::contract::{AgentRole, ChildType};
use crate::id::Seq;
use crate::text::{Text, VisitTexts};
use crate::unit::{Millis, Timestamp};

/// The state of an episode at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeStatus {
    Ok,
    /// A person should look.
    NeedsReview,
    Failed,
}

impl std::fmt::Display for EpisodeStatus {
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
pub struct ResultSummary(Vec<Text>);

/// A summary that is too short or too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a summary has three to eight lines, not {0}")]
pub struct SummaryLengthError(usize);

impl TryFrom<Vec<Text>> for ResultSummary {
    type Error = SummaryLengthError;

    fn try_from(lines: Vec<Text>) -> Result<Self, SummaryLengthError> {
        if (Self::LINES_MIN..=Self::LINES_MAX).contains(&lines.len()) {
            Ok(Self(lines))
        } else {
            Err(SummaryLengthError(lines.len()))
        }
    }
}

impl From<ResultSummary> for Vec<Text> {
    fn from(summary: ResultSummary) -> Self {
        summary.0
    }
}

impl ResultSummary {
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

    /// The lines, in order.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(Text::as_str)
    }
}

/// The first line of `text`, at most `chars_max` characters of it.
pub fn clip(text: &str, chars_max: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    // A text of several lines is cut even if its first line fits, so the ellipsis says that there was more.
    if line.chars().count() <= chars_max && line.len() == text.trim().len() {
        return line.to_owned();
    }
    let head: String = line.chars().take(chars_max.saturating_sub(1)).collect();
    format!("{}…", head.trim_end())
}

/// A decision with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub what: Text,
    pub rationale: Text,
}

impl VisitTexts for Decision {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.what);
        f(&mut self.rationale);
    }
}

/// Work handed on to another episode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskPacket {
    /// The role that should do it.
    pub role: AgentRole,
    /// The kind of episode that should do it.
    pub child_type: ChildType,
    pub goal: Text,
    pub why: Text,
}

/// Work handed on to a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoffTicket {
    pub tried: Text,
    pub known: Text,
    /// The request to the person.
    pub asked: Text,
    /// The last moment at which an answer is of use; none if any time will do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

/// A next step, for whoever reads the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NextAction {
    /// Another episode should do this.
    Task(TaskPacket),
    /// A person should do this.
    Handoff(HandoffTicket),
}

impl VisitTexts for NextAction {
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

/// A program's own account at its end; the governor adds the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramVerdict {
    pub status: EpisodeStatus,
    pub stop: StopReason,
    /// The answer, as far as there is one.
    pub answer: Option<Text>,
    /// The program's findings in a form of its own (JSON).
    pub report: Option<Text>,
    pub summary: ResultSummary,
    /// Pointers to what was made.
    pub artifacts: Vec<Text>,
    pub decisions: Vec<Decision>,
    /// True if someone must still confirm the result.
    pub verification_needed: bool,
    pub next_actions: Vec<NextAction>,
}

/// The part of its budget that an episode used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetUse {
    pub limit: Amounts,
    /// The amounts used, children included.
    pub spent: Amounts,
    /// The time it might have taken.
    pub time_limit: Millis,
    /// The time it took, pauses left out.
    pub time_spent: Millis,
}

/// The result that every episode leaves behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeResult {
    pub status: EpisodeStatus,
    pub stop_reason: StopReason,
    /// Three to eight lines.
    pub summary: ResultSummary,
    /// The answer, as far as there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Text>,
    /// The program's findings in a form of its own (JSON).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Text>,
    /// Pointers to what was made.
    pub artifacts_created: Vec<Text>,
    pub decisions: Vec<Decision>,
    /// True if someone must still confirm the result.
    pub verification_needed: bool,
    pub next_actions: Vec<NextAction>,
    /// Untrusted content that it may come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    pub budget: BudgetUse,
    /// Deepest episode of its tree, counted from the root.
    pub depth_reached: u8,
    /// The record of its chain that ends it.
    pub position: Seq,
}

impl VisitTexts for EpisodeResult {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        self.summary.0.each_text(f);
        self.answer.each_text(f);
        self.report.each_text(f);
        self.artifacts_created.each_text(f);
        self.decisions.each_text(f);
        self.next_actions.each_text(f);
    }
}
