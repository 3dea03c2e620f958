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
// Eight digits fit a message id, which is made from them.
const ID_CHARS: usize = 8;

/// The contents of a charter's files, by their paths in its folder.
type ProposalTexts = BTreeMap<String, String>;

/// A change that somebody wants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CharterProposal {
    #[serde(rename = "at_ms")]
    pub at: Timestamp,
    pub charter: String,
    pub folder: PathBuf,
    /// The version that it has.
    pub from: CharterVersion,
    /// The version that it gets.
    pub to: CharterVersion,
    /// Digest of the present files.
    pub base: Digest,
    /// Proposed texts: every file.
    pub files: BTreeMap<String, String>,
    pub changes: Vec<CharterChange>,
    /// Version bump that the changes require.
    pub bump: VersionBump,
    pub why: String,
}

impl CharterProposal {
    /// SHA-256 over all that is voted on. Signatures are bound to it.
    pub fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        hash.update(b"fathom/rfc-proposal/2");
        // The time makes a repeated proposal another one, so that old votes do not count for it.
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

    /// True if its recorded changes differ from those of its files, compared with the charter that it is to replace. If
    /// that charter is gone, this is unknown.
    fn is_misread(&self) -> bool {
        let base = [self.folder.clone(), self.kept()]
            .into_iter()
            .find(|folder| charter_files(folder).is_ok_and(|files| digest_of(&files) == self.base));
        let old = base.and_then(|folder| Charter::load(&folder, &|_| 0).ok());
        let new = Charter::of_texts(&self.charter, &self.files).ok();
        // Without the old charter the comparison is impossible; the merge checks the base's digest anyway.
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

    /// Folder with the replaced charter.
    fn kept(&self) -> PathBuf {
        let name = self.folder.file_name().unwrap_or_default();
        let name = format!(".{}.before-{}", name.to_string_lossy(), self.id());
        self.folder.with_file_name(name)
    }

    /// Its name: a few digits that a person can type.
    pub fn id(&self) -> String {
        self.digest().to_string().chars().take(ID_CHARS).collect()
    }

    /// True if it changes the identity.
    pub fn changes_identity(&self) -> bool {
        self.changes.iter().any(CharterChange::is_of_identity)
    }
}

/// Digest over all files.
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

/// Statement of a role about a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoleStatement {
    pub role: CouncilRole,
    /// The key, as `key:FINGERPRINT`.
    pub by: String,
    #[serde(rename = "at_ms")]
    pub at: Timestamp,
    /// The vote; none in a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ballot: Option<MotionVote>,
    pub text: String,
}

/// Record of a merge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeRecord {
    #[serde(rename = "at_ms")]
    pub at: Timestamp,
    pub by: String,
    /// By which way the identity changed, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<IdentityChangePath>,
    /// Folder with the replaced charter.
    pub kept: PathBuf,
    /// The emergency, where it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emergency: Option<EmergencyMerge>,
}

/// A proposal and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RfcStore {
    pub id: String,
    #[serde(flatten)]
    pub proposal: CharterProposal,
    pub by: String,
    /// Reviews that count.
    pub reviews: Vec<RoleStatement>,
    /// Votes that count.
    pub votes: Vec<RoleStatement>,
    /// Present result of the votes.
    pub outcome: MotionOutcome,
    /// Number of ignored messages: those whose key has no role now, or that it did not sign.
    pub ignored: usize,
    /// Record of the merge, once merged.
    pub merged: Option<MergeRecord>,
}

impl RfcStore {
    /// Reviewers who have not spoken yet.
    pub fn unreviewed(&self) -> Vec<CouncilRole> {
        let has = |role: &CouncilRole| self.reviews.iter().any(|review| review.role == *role);
        REVIEWERS.into_iter().filter(|role| !has(role)).collect()
    }
}
