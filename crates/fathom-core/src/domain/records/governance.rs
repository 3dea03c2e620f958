//! Settings by people, contents of capsules, findings of verifiers, and the journal.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::body::{RecordBody, TEXT_CHARS_MAX, TITLE_CHARS_MAX, bounded, filled, listed};
use super::fault::{RecordFault, RecordRule};
use crate::id::Digest;

/// Longest capsule, in characters.
pub const CAPSULE_CHARS_MAX: usize = 8_000;

/// A version of the policies. Only people write it; the record says who.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyBundle {
    /// The version, as people name it.
    pub version: String,
    /// SHA-256 of the whole bundle.
    pub digest: Digest,
    /// The change, and its reason.
    pub reason: String,
}

impl RecordBody for PolicyBundle {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        filled("version", &self.version, TITLE_CHARS_MAX)?;
        filled("reason", &self.reason, TEXT_CHARS_MAX)
    }
}

/// A setting that people made. Its id is its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyFlag {
    pub value: Value,
    pub reason: String,
}

impl RecordBody for PolicyFlag {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        filled("reason", &self.reason, TEXT_CHARS_MAX)
    }
}

/// The subject of a capsule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapsuleKind {
    /// The speaking brand and its voice.
    Brand,
    Knowledge,
    Plan,
    Asset,
    /// Words of people.
    Engagement,
}

/// A bounded summary of a large source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapsuleBody {
    pub kind: CapsuleKind,
    /// SHA-256 of the source: another digest is another source.
    pub source: Digest,
    pub text: String,
    /// Places in the source.
    #[serde(default)]
    pub refs: Vec<String>,
    /// True if it was verified. Then it cites the report that passed this very text.
    #[serde(default)]
    pub verified: bool,
}

impl RecordBody for CapsuleBody {
    fn check(&self, evidence: &[String]) -> Result<(), RecordFault> {
        bounded(
            RecordRule::CapsuleBounded,
            "text",
            &self.text,
            CAPSULE_CHARS_MAX,
        )?;
        filled("text", &self.text, CAPSULE_CHARS_MAX)?;
        listed("refs", &self.refs)?;
        // That the report exists, passed and is about this text is checked where the records are.
        let report = |at: &String| at.starts_with("verification_report:");
        if self.verified && !evidence.iter().any(report) {
            return Err(RecordFault::broken(
                RecordRule::CapsuleVerified,
                "a verified capsule cites its `verification_report:…` in `evidence`",
            ));
        }
        Ok(())
    }
}

/// The verdict of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportVerdict {
    /// It is as it should be.
    Passed,
    /// It is not.
    Failed,
    /// Nobody can tell.
    Unclear,
}

/// The findings of a verifier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerificationReport {
    /// The thing examined: a pointer, a receipt, an address.
    pub subject: String,
    /// SHA-256 of what was looked at, where it is a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Digest>,
    pub verdict: ReportVerdict,
    pub findings: String,
}

impl RecordBody for VerificationReport {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        filled("subject", &self.subject, TITLE_CHARS_MAX)?;
        filled("findings", &self.findings, TEXT_CHARS_MAX)
    }
}

/// A note for those who come later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalNote {
    /// In a few words.
    pub title: String,
    /// In full.
    pub text: String,
}

impl RecordBody for JournalNote {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        filled("title", &self.title, TITLE_CHARS_MAX)?;
        filled("text", &self.text, TEXT_CHARS_MAX)
    }
}
