//! Plans: steps, how they hang together, other forms of them and when they should happen.

use serde::{Deserialize, Serialize};

use super::body::{RecordBody, TEXT_CHARS_MAX, TITLE_CHARS_MAX, ends, filled};
use super::fault::{RecordFault, RecordRule};
use super::kind::{RecordKind, RecordPointer, check_id};
use crate::unit::Timestamp;

/// A step of a plan. It cites what it rests on: at least one capsule or conversation summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanNode {
    /// A short title.
    pub title: String,
    /// The same in full.
    pub text: String,
}

impl RecordBody for PlanNode {
    fn check(&self, evidence: &[String]) -> Result<(), RecordFault> {
        filled("title", &self.title, TITLE_CHARS_MAX)?;
        filled("text", &self.text, TEXT_CHARS_MAX)?;
        let rests = [RecordKind::Capsule, RecordKind::ConversationSummary];
        let mut cited = evidence
            .iter()
            .filter_map(|at| at.parse::<RecordPointer>().ok());
        if cited.any(|pointer| rests.contains(&pointer.kind)) {
            return Ok(());
        }
        Err(RecordFault::broken(
            RecordRule::NodeEvidence,
            "a plan node cites at least one `capsule:…` or `conversation_summary:…` in `evidence`",
        ))
    }
}

/// A relation between two steps. It gives its reason, and cites evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanEdge {
    /// The step before, by its id.
    pub from: String,
    /// The step after, by its id.
    pub to: String,
    /// The reason why one follows from the other.
    pub rationale: String,
}

impl RecordBody for PlanEdge {
    fn check(&self, evidence: &[String]) -> Result<(), RecordFault> {
        ends(&self.from, &self.to)?;
        if self.rationale.trim().is_empty() {
            return Err(RecordFault::broken(
                RecordRule::EdgeRationale,
                "`rationale` is empty",
            ));
        }
        filled("rationale", &self.rationale, TEXT_CHARS_MAX)?;
        if evidence.is_empty() {
            return Err(RecordFault::broken(
                RecordRule::EdgeEvidence,
                "a plan edge cites at least one pointer in `evidence`",
            ));
        }
        Ok(())
    }

    fn names(&self) -> Vec<RecordPointer> {
        [&self.from, &self.to]
            .map(|id| RecordPointer::to(RecordKind::PlanNode, id))
            .to_vec()
    }
}

/// Another form of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanVariant {
    /// The step, by its id.
    pub node: String,
    /// The difference, in a few words.
    pub title: String,
    /// The same in full.
    pub text: String,
}

impl RecordBody for PlanVariant {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        check_id(&self.node)?;
        filled("title", &self.title, TITLE_CHARS_MAX)?;
        filled("text", &self.text, TEXT_CHARS_MAX)
    }

    fn names(&self) -> Vec<RecordPointer> {
        vec![RecordPointer::to(RecordKind::PlanNode, &self.node)]
    }
}

/// A proposed time for a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleProposal {
    /// The step, by its id.
    pub node: String,
    pub platform: String,
    pub at_ms: Timestamp,
    /// The reason for that time.
    pub reason: String,
}

impl RecordBody for ScheduleProposal {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        check_id(&self.node)?;
        filled("platform", &self.platform, TITLE_CHARS_MAX)?;
        filled("reason", &self.reason, TEXT_CHARS_MAX)
    }

    fn names(&self) -> Vec<RecordPointer> {
        vec![RecordPointer::to(RecordKind::PlanNode, &self.node)]
    }
}
