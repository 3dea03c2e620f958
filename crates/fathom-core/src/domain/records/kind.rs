//! Kinds of records, and pointers to records.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::fault::{RecordFault, RecordRule};
use crate::domain::name;

/// Longest id, in bytes.
pub const ID_BYTES_MAX: usize = 128;

/// The kinds of records. Each belongs to one domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    /// A step of a plan.
    PlanNode,
    /// A relation between two steps.
    PlanEdge,
    /// Another form of a step.
    PlanVariant,
    /// A proposed time for a step.
    ScheduleProposal,
    /// Something that was made.
    Asset,
    /// A relation between two assets.
    AssetEdge,
    /// Assets that go out together.
    AssetBundle,
    /// The exact payload of a publication.
    PayloadSnapshot,
    /// The gist of a conversation.
    ConversationSummary,
    /// An event from outside.
    EngagementEvent,
    /// Labels and risk flags of an event.
    Annotation,
    /// The reaction to an event.
    EngagementAction,
    /// Work for a person.
    HandoffTicket,
    /// A version of the policies.
    PolicyBundle,
    /// A setting that people made.
    Flag,
    /// A bounded summary of a large source.
    Capsule,
    /// The findings of a verifier.
    VerificationReport,
    /// A note for those who come later.
    JournalEntry,
}

impl RecordKind {
    /// All kinds.
    pub const ALL: [Self; 18] = [
        Self::PlanNode,
        Self::PlanEdge,
        Self::PlanVariant,
        Self::ScheduleProposal,
        Self::Asset,
        Self::AssetEdge,
        Self::AssetBundle,
        Self::PayloadSnapshot,
        Self::ConversationSummary,
        Self::EngagementEvent,
        Self::Annotation,
        Self::EngagementAction,
        Self::HandoffTicket,
        Self::PolicyBundle,
        Self::Flag,
        Self::Capsule,
        Self::VerificationReport,
        Self::JournalEntry,
    ];

    /// The domain that it belongs to.
    pub const fn domain(self) -> &'static str {
        match self {
            Self::PlanNode | Self::PlanEdge | Self::PlanVariant | Self::ScheduleProposal => {
                name::PLAN
            }
            Self::Asset | Self::AssetEdge | Self::AssetBundle => name::ASSETS,
            Self::PayloadSnapshot => name::PAYLOADS,
            Self::ConversationSummary => name::CONVERSATIONS,
            Self::EngagementEvent => name::EVENTS,
            Self::Annotation => name::ANNOTATIONS,
            Self::EngagementAction | Self::HandoffTicket => name::ACTIONS,
            Self::PolicyBundle => name::POLICY,
            Self::Flag => name::FLAGS,
            Self::Capsule => name::CAPSULES,
            Self::VerificationReport => name::REPORTS,
            Self::JournalEntry => name::JOURNAL,
        }
    }

    /// The kinds of a domain; none where it keeps no records.
    pub fn of(domain: &str) -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(move |kind| kind.domain() == domain)
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl FromStr for RecordKind {
    type Err = RecordFault;

    fn from_str(text: &str) -> Result<Self, RecordFault> {
        let found = Self::ALL.into_iter().find(|kind| kind.to_string() == text);
        found.ok_or_else(|| {
            // It came from a model and is quoted in a message, so it must not be of any length.
            let text: String = text.chars().take(ID_BYTES_MAX).collect();
            RecordFault::broken(
                RecordRule::Form,
                format_args!("`{text}` is no kind of record"),
            )
        })
    }
}

/// Checks that something can be an id: short, of letters, digits and `.`, `_`, `:`, `-`.
pub fn check_id(id: &str) -> Result<(), RecordFault> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
    if (1..=ID_BYTES_MAX).contains(&id.len()) && id.bytes().all(is_plain) {
        return Ok(());
    }
    Err(RecordFault::broken(
        RecordRule::Id,
        format_args!(
            "an id has 1 to {ID_BYTES_MAX} letters, digits, dots, colons, dashes and low lines"
        ),
    ))
}

/// Names a record, as `plan_node:launch`, or one version of it, as `plan_node:launch@2`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RecordPointer {
    pub kind: RecordKind,
    pub id: String,
    /// The version, from one; the newest if none is named.
    pub version: Option<u64>,
}

impl RecordPointer {
    /// Names a record, whichever version.
    pub fn to(kind: RecordKind, id: &str) -> Self {
        Self {
            kind,
            id: id.to_owned(),
            version: None,
        }
    }
}

impl fmt::Display for RecordPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.id)?;
        self.version
            .map_or(Ok(()), |version| write!(f, "@{version}"))
    }
}

impl FromStr for RecordPointer {
    type Err = RecordFault;

    fn from_str(text: &str) -> Result<Self, RecordFault> {
        let no_pointer = || {
            RecordFault::broken(
                RecordRule::Form,
                "a pointer is written as `plan_node:launch` or `plan_node:launch@2`",
            )
        };
        let (kind, rest) = text.split_once(':').ok_or_else(no_pointer)?;
        let (id, version) = match rest.split_once('@') {
            Some((id, version)) => {
                let number: u64 = version.parse().map_err(|_| no_pointer())?;
                // One version has one name: no signs and no leading zeros.
                if number == 0 || number.to_string() != version {
                    return Err(no_pointer());
                }
                (id, Some(number))
            }
            None => (rest, None),
        };
        check_id(id)?;
        Ok(Self {
            kind: kind.parse()?,
            id: id.to_owned(),
            version,
        })
    }
}

impl TryFrom<String> for RecordPointer {
    type Error = RecordFault;

    fn try_from(text: String) -> Result<Self, RecordFault> {
        text.parse()
    }
}

impl From<RecordPointer> for String {
    fn from(pointer: RecordPointer) -> Self {
        pointer.to_string()
    }
}
