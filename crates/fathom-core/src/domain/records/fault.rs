//! Faults in a request for records, by the name of the rule that it breaks.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A rule for records and requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordRule {
    /// A request and a body have the fields of their kind and no others.
    Form,
    /// An id is short and of plain characters.
    Id,
    /// A text is not empty, and a text or a list not longer than its field takes.
    Field,
    /// A body is not larger than what can be read at once.
    BodyBytes,
    /// Evidence is a pointer, as `capsule:brand@2`.
    EvidenceForm,
    /// A plan node cites a capsule or a conversation summary.
    NodeEvidence,
    /// A plan edge says why it is there.
    EdgeRationale,
    /// A plan edge cites evidence.
    EdgeEvidence,
    /// An edge leads from one thing to another.
    EdgeEnds,
    /// An asset names the prompts that it was made with.
    AssetPrompts,
    /// An asset's digest is that of its content.
    AssetHash,
    /// A payload is that of an asset or a bundle.
    PayloadOf,
    /// A payload's digest is that of the payload.
    PayloadHash,
    /// A conversation summary is short.
    SummaryBounded,
    /// A conversation summary points to nothing raw.
    SummaryRedacted,
    /// An annotation has a label or a risk flag.
    AnnotationSays,
    /// A ticket tells what was tried, what is known and what is asked.
    TicketWhole,
    /// A capsule is short.
    CapsuleBounded,
    /// A capsule is verified by a report that passed its very text.
    CapsuleVerified,
    /// Every record that is named exists.
    NamesExist,
    /// A kind of record belongs to one domain.
    KindOfDomain,
    /// Changes to a domain are asked for as writes.
    AskedAsWrite,
    /// A domain is read and written by the roles that it names.
    Owner,
    /// People write conversations, policies and flags by hand.
    ByPeople,
    /// Events come in from outside and from nowhere else.
    ByIngestion,
    /// A read takes a limited number of records.
    ReadLimit,
    /// A read takes a limited number of bytes.
    ReadBytes,
    /// A record that is asked for by its id exists.
    Found,
}

impl fmt::Display for RecordRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordFaultKind {
    /// The request cannot be meant.
    Invalid,
    /// A guardrail of the domain is broken.
    Guardrail,
    /// A read goes past its bound.
    PastBound,
    /// Another role owns the domain.
    NotOwner,
    /// The record does not exist.
    NotFound,
    /// The store cannot be used.
    Unavailable,
}

/// Something that was not done, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct RecordFault {
    pub kind: RecordFaultKind,
    /// The rule that is broken; none where the store cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RecordRule>,
    /// In words, with the rule's name.
    pub message: String,
}

impl RecordFault {
    /// A rule is broken.
    pub fn broken(rule: RecordRule, what: impl fmt::Display) -> Self {
        Self {
            kind: rule.fault(),
            rule: Some(rule),
            message: format!("rule `{rule}`: {what}"),
        }
    }

    /// The store cannot be used.
    pub fn unavailable(what: impl fmt::Display) -> Self {
        Self {
            kind: RecordFaultKind::Unavailable,
            rule: None,
            message: what.to_string(),
        }
    }
}

impl RecordRule {
    const fn fault(self) -> RecordFaultKind {
        match self {
            Self::Form | Self::Id | Self::KindOfDomain | Self::AskedAsWrite => {
                RecordFaultKind::Invalid
            }
            Self::Owner | Self::ByPeople | Self::ByIngestion => RecordFaultKind::NotOwner,
            Self::ReadLimit | Self::ReadBytes => RecordFaultKind::PastBound,
            Self::Found => RecordFaultKind::NotFound,
            Self::Field
            | Self::BodyBytes
            | Self::EvidenceForm
            | Self::NodeEvidence
            | Self::EdgeRationale
            | Self::EdgeEvidence
            | Self::EdgeEnds
            | Self::AssetPrompts
            | Self::AssetHash
            | Self::PayloadOf
            | Self::PayloadHash
            | Self::SummaryBounded
            | Self::SummaryRedacted
            | Self::AnnotationSays
            | Self::TicketWhole
            | Self::CapsuleBounded
            | Self::CapsuleVerified
            | Self::NamesExist => RecordFaultKind::Guardrail,
        }
    }
}
