//! Words of people outside, their meaning, and the reactions to them.

use serde::{Deserialize, Serialize};

use super::body::{RecordBody, TEXT_CHARS_MAX, TITLE_CHARS_MAX, bounded, filled, listed};
use super::fault::{RecordFault, RecordRule};
use super::kind::{RecordKind, RecordPointer, check_id};
use super::raw_data::{is_redacted, raw_word};
use crate::unit::Timestamp;

/// Longest summary of a conversation, in characters.
pub const SUMMARY_CHARS_MAX: usize = 2_000;

/// An event from outside, as it came in. Nothing is taken out of it, and no agent writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngagementEvent {
    pub platform: String,
    /// The account of ours.
    pub account: String,
    /// The action, as `comment`.
    pub action: String,
    /// The author, as the platform names them.
    pub author: String,
    #[serde(default)]
    pub text: String,
    /// The thing it is about or answers, as the platform names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    pub at_ms: Timestamp,
}

impl RecordBody for EngagementEvent {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        filled("platform", &self.platform, TITLE_CHARS_MAX)?;
        filled("account", &self.account, TITLE_CHARS_MAX)?;
        filled("action", &self.action, TITLE_CHARS_MAX)?;
        filled("author", &self.author, TITLE_CHARS_MAX)?;
        let about = self.about.as_deref().unwrap_or_default();
        bounded(RecordRule::Field, "about", about, TITLE_CHARS_MAX)?;
        // Not `filled`: a like or a follow has no words.
        bounded(RecordRule::Field, "text", &self.text, TEXT_CHARS_MAX)
    }
}

/// Labels and risk flags of an event, which stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommentAnnotation {
    /// The event, by its id.
    pub event: String,
    /// Its classification, as `question`.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Risks in it, as `legal`.
    #[serde(default)]
    pub risks: Vec<String>,
}

impl RecordBody for CommentAnnotation {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        check_id(&self.event)?;
        listed("labels", &self.labels)?;
        listed("risks", &self.risks)?;
        if self.labels.is_empty() && self.risks.is_empty() {
            return Err(RecordFault::broken(
                RecordRule::AnnotationSays,
                "`labels` and `risks` are empty",
            ));
        }
        Ok(())
    }

    fn names(&self) -> Vec<RecordPointer> {
        vec![RecordPointer::to(RecordKind::EngagementEvent, &self.event)]
    }
}

/// The gist of a conversation. It is short, and points to people and payloads in a redacted form only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConversationSummary {
    pub text: String,
    /// Redacted remains of pointers to raw payloads, as `redacted:email-1`.
    #[serde(default)]
    pub pointers: Vec<String>,
}

impl RecordBody for ConversationSummary {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        bounded(
            RecordRule::SummaryBounded,
            "text",
            &self.text,
            SUMMARY_CHARS_MAX,
        )?;
        filled("text", &self.text, SUMMARY_CHARS_MAX)?;
        listed("pointers", &self.pointers)?;
        // What is raw is not said again: the message goes to a model.
        if raw_word(&self.text).is_some() {
            return Err(RecordFault::broken(
                RecordRule::SummaryRedacted,
                "`text` has an address, a number or an id of somebody or something; write `redacted:email-1` or the like",
            ));
        }
        if !self.pointers.iter().all(|pointer| is_redacted(pointer)) {
            return Err(RecordFault::broken(
                RecordRule::SummaryRedacted,
                "each of `pointers` is written as `redacted:` with a word and perhaps a number, as `redacted:url-2`",
            ));
        }
        Ok(())
    }
}

/// The reaction to an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngagementAction {
    /// The event, by its id.
    pub event: String,
    /// The action, as `reply`.
    pub action: String,
    #[serde(default)]
    pub text: String,
    /// The platform's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
}

impl RecordBody for EngagementAction {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        check_id(&self.event)?;
        filled("action", &self.action, TITLE_CHARS_MAX)?;
        let receipt = self.receipt.as_deref().unwrap_or_default();
        bounded(RecordRule::Field, "receipt", receipt, TEXT_CHARS_MAX)?;
        bounded(RecordRule::Field, "text", &self.text, TEXT_CHARS_MAX)
    }

    fn names(&self) -> Vec<RecordPointer> {
        vec![RecordPointer::to(RecordKind::EngagementEvent, &self.event)]
    }
}

/// Work for a person: what was tried, what is known, what is asked and until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TicketBody {
    pub tried: String,
    pub known: String,
    /// The request to the person.
    pub asked: String,
    /// The last moment at which an answer is of use.
    pub deadline_ms: Timestamp,
}

impl RecordBody for TicketBody {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        for (field, text) in [
            ("tried", &self.tried),
            ("known", &self.known),
            ("asked", &self.asked),
        ] {
            if text.trim().is_empty() {
                return Err(RecordFault::broken(
                    RecordRule::TicketWhole,
                    format_args!("`{field}` is empty"),
                ));
            }
            filled(field, text, TEXT_CHARS_MAX)?;
        }
        Ok(())
    }
}
