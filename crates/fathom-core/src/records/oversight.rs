//! What people set, what capsules hold, what verifiers find and what the journal tells.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::body::{Body, TEXT_CHARS_MAX, TITLE_CHARS_MAX, bounded, filled, listed};
use super::fault::{RecordFault, Rule};
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
    /// What changed, and why.
    pub reason: String,
}

impl Body for PolicyBundle {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        filled("version", &self.version, TITLE_CHARS_MAX)?;
        filled("reason", &self.reason, TEXT_CHARS_MAX)
    }
}

/// A setting that people made. Its id is its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flag {
    /// What it is set to.
    pub value: Value,
    /// Why.
    pub reason: String,
}

impl Body for Flag {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        filled("reason", &self.reason, TEXT_CHARS_MAX)
    }
}

/// What a capsule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapsuleKind {
    /// Who speaks, and how.
    Brand,
    /// Facts.
    Knowledge,
    /// A plan.
    Plan,
    /// Assets.
    Asset,
    /// What people said.
    Engagement,
}

/// A bounded summary of a large source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capsule {
    /// What it is about.
    pub kind: CapsuleKind,
    /// SHA-256 of the source: another digest is another source.
    pub source: Digest,
    /// The summary.
    pub text: String,
    /// Where in the source it was found.
    #[serde(default)]
    pub refs: Vec<String>,
    /// Whether it was verified. Then it cites the report that passed this very text.
    #[serde(default)]
    pub verified: bool,
}

impl Body for Capsule {
    fn check(&self, evidence: &[String]) -> Result<(), RecordFault> {
        bounded(Rule::CapsuleBounded, "text", &self.text, CAPSULE_CHARS_MAX)?;
        filled("text", &self.text, CAPSULE_CHARS_MAX)?;
        listed("refs", &self.refs)?;
        let report = |at: &String| at.starts_with("verification_report:");
        if self.verified && !evidence.iter().any(report) {
            return Err(RecordFault::broken(
                Rule::CapsuleVerified,
                "a verified capsule cites its `verification_report:…` in `evidence`",
            ));
        }
        Ok(())
    }
}

/// How a verification ended.
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

/// What a verifier found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerificationReport {
    /// What was looked at: a pointer, a receipt, an address.
    pub subject: String,
    /// SHA-256 of what was looked at, where it is a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Digest>,
    /// How it ended.
    pub verdict: ReportVerdict,
    /// What was found.
    pub findings: String,
}

impl Body for VerificationReport {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        filled("subject", &self.subject, TITLE_CHARS_MAX)?;
        filled("findings", &self.findings, TEXT_CHARS_MAX)
    }
}

/// What happened, for those who come later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalEntry {
    /// In a few words.
    pub title: String,
    /// In full.
    pub text: String,
}

impl Body for JournalEntry {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        filled("title", &self.title, TITLE_CHARS_MAX)?;
        filled("text", &self.text, TEXT_CHARS_MAX)
    }
}
