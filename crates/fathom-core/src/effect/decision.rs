//! The gateway's decision about an effect, and its grounds.

use serde::{Deserialize, Serialize};

use crate::effect::undo::Reversibility;
use crate::id::Digest;
use crate::text::{Text, VisitTexts};
use crate::unit::Timestamp;

/// The terms on which a person may approve an effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalTerms {
    /// Hash of the run, the tool, the canonical arguments and the policies: a yes to this is a yes to nothing else.
    pub binding: Digest,
    /// Roles that may decide; any person if none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// A yes after this moment is none.
    pub expires: Timestamp,
    /// True if it takes someone else than the person whose run it is.
    #[serde(default)]
    pub second_person: bool,
}

impl ApprovalTerms {
    /// Terms that any person meets at any time.
    pub const fn open(binding: Digest) -> Self {
        Self {
            binding,
            roles: Vec::new(),
            expires: Timestamp(u64::MAX),
            second_person: false,
        }
    }
}

/// A tool's forecast of an effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DryRun {
    /// True if it would go through.
    pub ok: bool,
    /// The platform's own words.
    pub report: Text,
}

/// The facts that a decision of the gateway rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionGrounds {
    /// SHA-256 over policies, schema and entities.
    pub bundle: Digest,
    /// The tool's own rehearsal, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<DryRun>,
    /// Reversibility of the effect, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<Reversibility>,
}

impl VisitTexts for DecisionGrounds {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        if let Some(dry_run) = &mut self.dry_run {
            f(&mut dry_run.report);
        }
    }
}

/// The gateway's decision about a proposed effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PolicyDecision {
    /// It may be sent, once its key is claimed.
    Allow {
        /// The rules that said so.
        rules: Vec<String>,
    },
    /// It may not.
    Deny {
        /// The rule that said so.
        rule: String,
    },
    /// A person must say.
    NeedsApproval {
        /// The rule that said so.
        rule: String,
        /// The people who may decide, until when, and about what.
        terms: Box<ApprovalTerms>,
    },
}

/// Prefix of an effect's detail if it was denied before it went out.
pub const DENIED: &str = "denied: ";
