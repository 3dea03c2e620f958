//! Records of the domains that have owners: their kinds, the guardrails of each, and what can be asked for.
//!
//! A record is never changed: another version of it is appended. [`check`] holds a [`RecordDraft`] against the rules that need
//! nothing but the draft; the store looks after those that need other records.

mod asset;
mod body;
mod engagement;
mod fault;
mod governance;
mod kind;
mod plan;
mod raw_data;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::contract::AgentRole;
use crate::id::{Digest, EpisodeId, RunId};
use crate::unit::Timestamp;

pub use asset::{AssetBody, AssetBundle, AssetEdge, PayloadSnapshot};
pub use body::{LIST_MAX, TEXT_CHARS_MAX, TITLE_CHARS_MAX, sha256};
pub use engagement::{
    CommentAnnotation, ConversationSummary, EngagementAction, EngagementEvent, SUMMARY_CHARS_MAX,
    TicketBody,
};
pub use fault::{RecordFault, RecordFaultKind, RecordRule};
pub use governance::{
    CAPSULE_CHARS_MAX, CapsuleBody, CapsuleKind, JournalNote, PolicyBundle, PolicyFlag,
    ReportVerdict, VerificationReport,
};
pub use kind::{ID_BYTES_MAX, RecordKind, RecordPointer, check_id};
pub use plan::{PlanEdge, PlanNode, PlanVariant, ScheduleProposal};

use body::RecordBody;

/// Most records of a read.
pub const READ_RECORDS_MAX: u16 = 50;

/// Most bytes of a read, and so of a body.
pub const READ_BYTES_MAX: u32 = 64 << 10;

/// Longest pointer of the evidence, in bytes.
pub const EVIDENCE_BYTES_MAX: usize = 256;

/// A version to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordDraft {
    pub kind: RecordKind,
    /// The id. One that exists already gets another version.
    pub id: String,
    /// The body, in the fields of its kind.
    pub body: Value,
    /// The evidence: records, as `capsule:brand@2`, and others, as `receipt:post-1`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

/// Holds a draft against all rules of its kind. Gives the records that it names or cites, which must be there.
pub fn check(draft: &RecordDraft) -> Result<Vec<RecordPointer>, RecordFault> {
    check_id(&draft.id)?;
    // A body that no read could return would be lost to every reader.
    let bytes = draft.body.to_string().len();
    if bytes > READ_BYTES_MAX as usize {
        return Err(RecordFault::broken(
            RecordRule::BodyBytes,
            format_args!("the body has {bytes} bytes, the limit is {READ_BYTES_MAX}"),
        ));
    }
    let mut named = check_evidence(&draft.evidence)?;
    named.extend(match draft.kind {
        RecordKind::PlanNode => names::<PlanNode>(draft),
        RecordKind::PlanEdge => names::<PlanEdge>(draft),
        RecordKind::PlanVariant => names::<PlanVariant>(draft),
        RecordKind::ScheduleProposal => names::<ScheduleProposal>(draft),
        RecordKind::Asset => names::<AssetBody>(draft),
        RecordKind::AssetEdge => names::<AssetEdge>(draft),
        RecordKind::AssetBundle => names::<AssetBundle>(draft),
        RecordKind::PayloadSnapshot => names::<PayloadSnapshot>(draft),
        RecordKind::ConversationSummary => names::<ConversationSummary>(draft),
        RecordKind::EngagementEvent => names::<EngagementEvent>(draft),
        RecordKind::Annotation => names::<CommentAnnotation>(draft),
        RecordKind::EngagementAction => names::<EngagementAction>(draft),
        RecordKind::HandoffTicket => names::<TicketBody>(draft),
        RecordKind::PolicyBundle => names::<PolicyBundle>(draft),
        RecordKind::Flag => names::<PolicyFlag>(draft),
        RecordKind::Capsule => names::<CapsuleBody>(draft),
        RecordKind::VerificationReport => names::<VerificationReport>(draft),
        RecordKind::JournalEntry => names::<JournalNote>(draft),
    }?);
    Ok(named)
}

fn names<B: RecordBody>(draft: &RecordDraft) -> Result<Vec<RecordPointer>, RecordFault> {
    let body = B::deserialize(&draft.body).map_err(|error| {
        RecordFault::broken(RecordRule::Form, format_args!("`{}`: {error}", draft.kind))
    })?;
    body.check(&draft.evidence)?;
    Ok(body.names())
}

/// The records among the evidence. What has the scheme of a kind of record must be a whole pointer.
fn check_evidence(evidence: &[String]) -> Result<Vec<RecordPointer>, RecordFault> {
    let broken = |what: &dyn std::fmt::Display| RecordFault::broken(RecordRule::EvidenceForm, what);
    if evidence.len() > LIST_MAX {
        let count = evidence.len();
        return Err(broken(&format_args!(
            "`evidence` has {count} entries, the limit is {LIST_MAX}"
        )));
    }
    let mut records = Vec::new();
    for at in evidence {
        let (scheme, rest) = at.split_once(':').unwrap_or_default();
        let is_plain = at.len() <= EVIDENCE_BYTES_MAX && at.chars().all(|c| c.is_ascii_graphic());
        if scheme.is_empty() || rest.is_empty() || !is_plain {
            return Err(broken(&format_args!(
                "evidence is a pointer as `capsule:brand@2` or `receipt:post-1`, of at most {EVIDENCE_BYTES_MAX} bytes"
            )));
        }
        // Other schemes name things that are kept elsewhere; whether those exist is not for the records to know.
        if scheme.parse::<RecordKind>().is_ok() {
            records.push(at.parse().map_err(|fault| broken(&fault))?);
        }
    }
    Ok(records)
}

/// Requests to a domain that keeps records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum RecordRequest {
    /// Keep another version of something.
    Append(RecordDraft),
    /// The newest versions, in the order in which they came. A read past its bound is refused.
    Read {
        kind: RecordKind,
        /// The ids; all if none is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ids: Option<Vec<String>>,
        /// Those behind this place alone; [`RecordAnswer::next`] says where to go on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<u64>,
        /// Maximum number of records, at most [`READ_RECORDS_MAX`].
        limit: u16,
        /// Maximum bytes of bodies, at most [`READ_BYTES_MAX`].
        bytes_max: u32,
    },
    /// The newest version of one record.
    Latest { kind: RecordKind, id: String },
    /// The verified capsule of a source, if there is one.
    Capsule {
        kind: CapsuleKind,
        /// SHA-256 of the source as it is now.
        source: Digest,
    },
}

impl RecordRequest {
    /// True if it changes the domain.
    pub const fn is_write(&self) -> bool {
        match self {
            Self::Append(_) => true,
            Self::Read { .. } | Self::Latest { .. } | Self::Capsule { .. } => false,
        }
    }

    /// The kind of record that it is about.
    pub const fn kind(&self) -> RecordKind {
        match self {
            Self::Append(draft) => draft.kind,
            Self::Read { kind, .. } | Self::Latest { kind, .. } => *kind,
            Self::Capsule { .. } => RecordKind::Capsule,
        }
    }

    /// Checks that a read stays within the bounds that no read may pass.
    pub fn check_bounds(&self) -> Result<(), RecordFault> {
        let Self::Read {
            ids,
            limit,
            bytes_max,
            ..
        } = self
        else {
            return Ok(());
        };
        // Ids count as well: a list of them is a way past the limit.
        let asked = ids.as_ref().map_or(0, Vec::len).max(usize::from(*limit));
        if asked > usize::from(READ_RECORDS_MAX) || *limit == 0 {
            return Err(RecordFault::broken(
                RecordRule::ReadLimit,
                format_args!("a read takes 1 to {READ_RECORDS_MAX} records, {asked} are asked for"),
            ));
        }
        if *bytes_max > READ_BYTES_MAX {
            return Err(RecordFault::broken(
                RecordRule::ReadBytes,
                format_args!(
                    "a read takes {READ_BYTES_MAX} bytes at most, {bytes_max} are asked for"
                ),
            ));
        }
        ids.iter().flatten().try_for_each(|id| check_id(id))
    }
}

/// The author of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "who", rename_all = "snake_case")]
pub enum RecordAuthor {
    Episode {
        run: RunId,
        /// Its place in the run.
        episode: EpisodeId,
        role: AgentRole,
    },
    Person {
        /// Their name on this system.
        name: String,
    },
    /// The path by which events come in.
    Ingestion {
        /// The source's name.
        name: String,
    },
}

/// One version of something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainRecord {
    /// Its place among all records, from one.
    pub seq: u64,
    pub kind: RecordKind,
    pub id: String,
    /// Counted from one.
    pub version: u64,
    pub body: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    pub by: RecordAuthor,
    pub at_ms: Timestamp,
    /// Untrusted content that it may come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
}

/// Answer of a domain. Everything that does not apply is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordAnswer {
    /// The version that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<RecordPointer>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<DomainRecord>,
    /// Ids that nothing was found for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The place to continue from, if there is more than was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
    /// Untrusted content that anything in this answer may come from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The fault, if the request was not carried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<RecordFault>,
}

impl From<RecordFault> for RecordAnswer {
    fn from(fault: RecordFault) -> Self {
        Self {
            fault: Some(fault),
            ..Self::default()
        }
    }
}
