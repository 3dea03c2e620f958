//! Changes of a charter: proposed, reviewed by Prime and Lite, voted on by the roles, merged.
//!
//! A proposal holds the whole new charter, so what is merged is what was looked at. Reviews and votes are messages of
//! the council protocol, each signed by its role's key; the tally is the core's. All of it is added to the record of
//! governance and nothing is ever taken away.

pub mod diff;
mod error;
mod merge;
mod propose;
mod statements;

use std::collections::BTreeMap;
use std::path::PathBuf;

use fathom_core::council_bus::{CouncilRole, MotionOutcome, MotionVote};
use fathom_core::id::Digest;
use fathom_core::unit::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use diff::{CharterChange, VersionBump};
pub use error::RfcError;
pub use merge::{EmergencyMerge, MergeAuthority};

use crate::charter::{Charter, CharterVersion, charter_files};
use crate::governance::identity::IdentityChangePath;

/// Roles that must have reviewed a proposal.
pub const REVIEWERS: [CouncilRole; 2] = [CouncilRole::Prime, CouncilRole::Lite];

/// Hexadecimal digits of a proposal's name.
const ID_CHARS: usize = 8;

/// The contents of a charter's files, by their paths in its folder.
type ProposalTexts = BTreeMap<String, String>;

/// A change that somebody wants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CharterProposal {
    /// When it was made.
    #[serde(rename = "at_ms")]
    pub at: Timestamp,
    /// The charter.
    pub charter: String,
    /// Its folder.
    pub folder: PathBuf,
    /// The version that it has.
    pub from: CharterVersion,
    /// The version that it gets.
    pub to: CharterVersion,
    /// What it says now.
    pub base: Digest,
    /// What it is to say: every file.
    pub files: BTreeMap<String, String>,
    /// What is different.
    pub changes: Vec<CharterChange>,
    /// How far the version must move for it.
    pub bump: VersionBump,
    /// Why.
    pub why: String,
}

impl CharterProposal {
    /// SHA-256 over all that is voted on. Signatures are bound to it.
    pub fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        hash.update(b"fathom/rfc-proposal/2");
        hash.update(self.at.0.to_be_bytes());
        hash.update(self.base.0);
        let (from, to) = (self.from.to_string(), self.to.to_string());
        let folder = self.folder.display().to_string();
        for text in [&self.charter, &from, &to, &self.why, &folder] {
            add(&mut hash, text);
        }
        hash.update(digest_of(&self.files).0);
        Digest(hash.finalize().into())
    }

    /// Whether it says of itself something else than its files do, compared with the charter that it is to replace. Where
    /// that one is gone, nobody can tell.
    fn is_misread(&self) -> bool {
        let base = [self.folder.clone(), self.kept()]
            .into_iter()
            .find(|folder| charter_files(folder).is_ok_and(|files| digest_of(&files) == self.base));
        let old = base.and_then(|folder| Charter::load(&folder, &|_| 0).ok());
        let new = Charter::of_texts(&self.charter, &self.files).ok();
        let (Some(old), Some(new)) = (old, new) else {
            return false;
        };
        let changes = diff::between(&old, &new);
        let is_said = diff::bump(&changes) == self.bump
            && (&old.name, &new.name) == (&self.charter, &self.charter)
            && (old.version, new.version) == (self.from, self.to);
        // Numbers are compared as they come back out of the record.
        let changes = serde_json::to_string(&changes).unwrap_or_default();
        let changes: Option<Vec<CharterChange>> = serde_json::from_str(&changes).ok();
        !is_said || changes.as_ref() != Some(&self.changes)
    }

    /// Where the charter lies that it replaced.
    fn kept(&self) -> PathBuf {
        let name = self.folder.file_name().unwrap_or_default();
        let name = format!(".{}.before-{}", name.to_string_lossy(), self.id());
        self.folder.with_file_name(name)
    }

    /// Its name: a few digits that a person can type.
    pub fn id(&self) -> String {
        self.digest().to_string().chars().take(ID_CHARS).collect()
    }

    /// Whether it changes who speaks.
    pub fn changes_identity(&self) -> bool {
        self.changes.iter().any(CharterChange::is_of_identity)
    }
}

/// What files say, in one number.
fn digest_of(files: &ProposalTexts) -> Digest {
    let mut hash = Sha256::new();
    hash.update(b"fathom/charter-files/1");
    for (name, text) in files {
        add(&mut hash, name);
        add(&mut hash, text);
    }
    Digest(hash.finalize().into())
}

fn add(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_be_bytes());
    hash.update(text.as_bytes());
}

/// What a role said about a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoleStatement {
    /// The role.
    pub role: CouncilRole,
    /// The key, as `key:FINGERPRINT`.
    pub by: String,
    /// When.
    #[serde(rename = "at_ms")]
    pub at: Timestamp,
    /// The vote; none in a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ballot: Option<MotionVote>,
    /// The words.
    pub text: String,
}

/// How a proposal became the charter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeRecord {
    /// When.
    #[serde(rename = "at_ms")]
    pub at: Timestamp,
    /// Who.
    pub by: String,
    /// By which way the identity changed, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<IdentityChangePath>,
    /// Where the charter lies that it replaced.
    pub kept: PathBuf,
    /// The emergency, where it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emergency: Option<EmergencyMerge>,
}

/// A proposal and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RfcStore {
    /// Its name.
    pub id: String,
    /// The proposal.
    #[serde(flatten)]
    pub proposal: CharterProposal,
    /// Who made it.
    pub by: String,
    /// Reviews that count.
    pub reviews: Vec<RoleStatement>,
    /// Votes that count.
    pub votes: Vec<RoleStatement>,
    /// What the votes amount to as they stand.
    pub outcome: MotionOutcome,
    /// Messages that do not count: of a key that is no role's now, or not signed by it.
    pub ignored: usize,
    /// How it was merged.
    pub merged: Option<MergeRecord>,
}

impl RfcStore {
    /// Reviewers who have not spoken yet.
    pub fn unreviewed(&self) -> Vec<CouncilRole> {
        let has = |role: &CouncilRole| self.reviews.iter().any(|review| review.role == *role);
        REVIEWERS.into_iter().filter(|role| !has(role)).collect()
    }
}
