//! Steps that all roles share: a call with a form, a record, an end.

use serde_json::{Value, json};

use super::config::AgencyLimits;
use fathom_core::contract::stop::StopReason;
use fathom_core::domain::{DomainAccess, DomainRequest};
use fathom_core::episode::program::{Ask, ModelAsk, OnOutage, ProgramView};
use fathom_core::episode::result::{
    EpisodeStatus, HandoffTicket, NextAction, ProgramVerdict, ResultSummary,
};
use fathom_core::model::{ChatMessage, ReplyMode, Speaker};
use fathom_core::packet::Packet;
use fathom_core::text::Text;

/// A call whose reply has a form.
pub(super) fn call(
    standing: &str,
    prompt: String,
    schema: &Value,
    limits: &AgencyLimits,
    view: &ProgramView<'_>,
) -> Ask {
    let packet = Packet {
        standing: Text::from(standing),
        prompt: vec![ChatMessage::new(Speaker::User, prompt)],
        ..Packet::default()
    };
    Ask::Model(Box::new(ModelAsk {
        output_tokens_max: limits.output_tokens,
        schema: Some(Text::new(schema.to_string())),
        delivery: ReplyMode::Whole,
        timeout: limits.timeout,
        on_outage: OnOutage::Fail,
        temperature_milli: Some(0),
        ..ModelAsk::new(view.model, packet)
    }))
}

/// A new version of a record.
pub(super) fn append(domain: &str, kind: &str, id: &str, body: &Value, evidence: &[String]) -> Ask {
    let request = json!({
        "op": "append", "kind": kind, "id": id, "body": body, "evidence": evidence,
    });
    Ask::Domain(DomainRequest::new(
        domain,
        DomainAccess::Write,
        request.to_string(),
    ))
}

/// The latest records of a kind.
pub(super) fn read(domain: &str, kind: &str) -> Ask {
    let request =
        json!({ "op": "read", "kind": kind, "limit": READ_RECORDS, "bytes_max": READ_BYTES });
    Ask::Domain(DomainRequest::new(
        domain,
        DomainAccess::Read,
        request.to_string(),
    ))
}

/// Most records of one look.
const READ_RECORDS: u32 = 50;

/// Most bytes of one look.
const READ_BYTES: u32 = 64 * 1024;

/// The records in a domain's answer, or its refusal.
pub(super) fn records(answer: &Text) -> Result<Vec<Value>, String> {
    let mut answer: Value =
        serde_json::from_str(answer.as_str()).map_err(|error| error.to_string())?;
    if let Some(fault) = answer.get("fault").filter(|fault| !fault.is_null()) {
        let message = fault.get("message").and_then(Value::as_str);
        return Err(message.unwrap_or("the domain said no").to_owned());
    }
    match answer.get_mut("records").map(Value::take) {
        Some(Value::Array(records)) => Ok(records),
        _ => Ok(Vec::new()),
    }
}

/// A string field of a reply, trimmed and cut.
pub(super) fn field(reply: &Value, key: &str, chars_max: usize) -> Option<String> {
    let said = reply.get(key)?.as_str()?.trim();
    (!said.is_empty()).then(|| said.chars().take(chars_max).collect())
}

/// Result of a role.
pub(super) struct RoleEnd {
    pub(super) status: EpisodeStatus,
    pub(super) stop: StopReason,
    pub(super) answer: Option<String>,
    pub(super) did: String,
    pub(super) found: String,
    pub(super) artifacts: Vec<String>,
    pub(super) ticket: Option<HandoffTicket>,
    pub(super) report: Option<Value>,
}

impl RoleEnd {
    /// A success that leaves nothing to a person.
    pub(super) fn ok(answer: String, did: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            status: EpisodeStatus::Ok,
            stop: StopReason::Success,
            answer: Some(answer),
            did: did.into(),
            found: found.into(),
            artifacts: Vec::new(),
            ticket: None,
            report: None,
        }
    }

    /// It is not done.
    pub(super) fn failed(stop: StopReason, did: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            status: EpisodeStatus::Failed,
            stop,
            answer: None,
            did: did.into(),
            found: why.into(),
            artifacts: Vec::new(),
            ticket: None,
            report: None,
        }
    }

    /// A person should look.
    pub(super) fn review(stop: StopReason, ticket: HandoffTicket, answer: Option<String>) -> Self {
        Self {
            status: EpisodeStatus::NeedsReview,
            stop,
            answer,
            did: ticket.tried.as_str().to_owned(),
            found: ticket.known.as_str().to_owned(),
            artifacts: Vec::new(),
            ticket: Some(ticket),
            report: None,
        }
    }

    pub(super) fn made(mut self, artifacts: Vec<String>) -> Self {
        self.artifacts = artifacts;
        self
    }

    pub(super) fn finish(self, goal: &str) -> Vec<Ask> {
        let summary = ResultSummary::new(
            [
                format!("goal: {}", fathom_core::episode::result::clip(goal, 120)),
                self.did,
                self.found,
            ],
            [],
        );
        vec![Ask::Finish(Box::new(ProgramVerdict {
            status: self.status,
            stop: self.stop,
            answer: self.answer.map(Text::new),
            report: self.report.map(|report| Text::new(report.to_string())),
            summary,
            artifacts: self.artifacts.into_iter().map(Text::new).collect(),
            decisions: Vec::new(),
            verification_needed: false,
            next_actions: self.ticket.map(NextAction::Handoff).into_iter().collect(),
        }))]
    }
}

/// The latest version of a record.
pub(super) fn latest(domain: &str, kind: &str, id: &str) -> Ask {
    let request = json!({ "op": "latest", "kind": kind, "id": id });
    Ask::Domain(DomainRequest::new(
        domain,
        DomainAccess::Read,
        request.to_string(),
    ))
}
