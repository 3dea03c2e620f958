//! Approvals: requests of a run to people, and their decisions.
//!
//! The rules are pure functions of one [`ApprovalRecord`]; a backend reads it, applies one, and writes it back within
//! one commit. So a decision is made once, and a granted approval is used once.

use std::fmt;
use std::path::Path;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use fathom_core::effect::ApprovalTerms;
use fathom_core::id::{Digest, RunId};
use fathom_core::journal::event::Signal;
use fathom_core::unit::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::StoreError;
use crate::journal::heads::key_id;
use crate::journal::idempotency::ClaimOwner;
use crate::keys;

const ID_TAG: &[u8] = b"fathom/approval/1";
const WORD_TAG: &[u8] = b"fathom/word/1";

/// Hexadecimal digits of an approval's name.
const ID_CHARS: usize = 12;

/// Id of an approval: a few digits that a person can type.
///
/// It is derived from the owner and the binding, so a different request has a different id, and no one approves
/// something unseen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovalId(String);

impl ApprovalId {
    /// The id of a request by `owner` under `binding`.
    pub fn of(owner: &ClaimOwner, binding: &Digest) -> Self {
        let episode = owner.episode.to_string();
        let mut hash = Sha256::new();
        hash.update(ID_TAG);
        hash.update(owner.run.as_bytes());
        // Length before content, or two owners could share an id.
        hash.update((episode.len() as u64).to_be_bytes());
        hash.update(episode.as_bytes());
        hash.update(owner.ask.0.to_be_bytes());
        hash.update(binding.0);
        let mut id = Digest(hash.finalize().into()).to_string();
        id.truncate(ID_CHARS);
        Self(id)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A person's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalAnswer {
    /// It may be done, once.
    Yes,
    /// It may not be done.
    No,
}

/// A person's decision with its author and reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalWord {
    pub answer: ApprovalAnswer,
    /// Author, as `os:alice` or `key:0123456789abcdef`.
    pub by: String,
    pub at: Timestamp,
    /// Reason; empty if none was given.
    pub why: String,
    /// Binding of the request that was decided.
    pub binding: Digest,
    /// The signature, if it was given with a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<SignedWord>,
}

/// State of an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ApprovalState {
    /// No decision yet.
    Open,
    /// Approved and not used yet.
    Granted { word: ApprovalWord },
    /// Denied.
    Denied { word: ApprovalWord },
    /// Approved and used.
    Used {
        word: ApprovalWord,
        /// Time of use.
        at: Timestamp,
    },
    /// No decision in time.
    Expired,
    /// No longer needed: the run ended, or asks for something else.
    Withdrawn {
        /// Time of the withdrawal.
        at: Timestamp,
    },
}

impl ApprovalState {
    /// The state in one word.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Granted { .. } => "granted",
            Self::Denied { .. } => "denied",
            Self::Used { .. } => "used",
            Self::Expired => "expired",
            Self::Withdrawn { .. } => "withdrawn",
        }
    }

    /// The decision, if there is one.
    pub const fn word(&self) -> Option<&ApprovalWord> {
        match self {
            Self::Granted { word } | Self::Denied { word } | Self::Used { word, .. } => Some(word),
            Self::Open | Self::Expired | Self::Withdrawn { .. } => None,
        }
    }
}

/// A request of a run to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRecord {
    pub id: ApprovalId,
    pub owner: ClaimOwner,
    /// Allowed approvers, expiry and binding.
    pub terms: ApprovalTerms,
    /// Time of the request.
    pub opened_at: Timestamp,
    pub state: ApprovalState,
}

/// Reasons for rejecting a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecideError {
    /// The request has expired.
    Expired,
    /// The request is no longer open.
    Settled,
    /// The decision was made about a different binding.
    OtherBinding,
}

/// Outcome of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecideOutcome {
    /// Accepted, and the run was signalled in the same commit.
    Decided(ApprovalRecord),
    /// Rejected; this is the approval as it stands.
    Refused(ApprovalRecord, DecideError),
    /// Unknown approval.
    Unknown,
}

/// Outcome of using an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UseOutcome {
    /// No person was asked about this.
    NotAsked,
    /// Used now.
    Used,
    /// Not granted; this is its state.
    Refused(ApprovalState),
}

/// Filter for the list of approvals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalFilter {
    /// Approvals without a decision.
    Open,
    /// Every approval.
    All,
}

/// Maximum number of approvals in one answer; the newest are kept.
pub const APPROVALS_LISTED_MAX: usize = 10_000;

impl ApprovalRecord {
    /// A new approval.
    pub fn open(owner: ClaimOwner, terms: ApprovalTerms, at: Timestamp) -> Self {
        Self {
            id: ApprovalId::of(&owner, &terms.binding),
            owner,
            terms,
            opened_at: at,
            state: ApprovalState::Open,
        }
    }

    /// True if it has no decision yet.
    pub fn is_open(&self) -> bool {
        self.state == ApprovalState::Open
    }

    /// Applies a person's decision, once.
    pub(crate) fn decide(&mut self, word: &ApprovalWord) -> Result<(), DecideError> {
        if !self.is_open() {
            return Err(DecideError::Settled);
        }
        if word.at >= self.terms.expires {
            self.state = ApprovalState::Expired;
            return Err(DecideError::Expired);
        }
        // Before the binding: a late decision expires the request, whatever it was about.
        if word.binding != self.terms.binding {
            return Err(DecideError::OtherBinding);
        }
        let word = word.clone();
        self.state = match word.answer {
            ApprovalAnswer::Yes => ApprovalState::Granted { word },
            ApprovalAnswer::No => ApprovalState::Denied { word },
        };
        Ok(())
    }

    /// Uses a granted approval.
    pub(crate) fn consume(&mut self, at: Timestamp) -> UseOutcome {
        match &self.state {
            ApprovalState::Granted { word } => {
                self.state = ApprovalState::Used {
                    word: word.clone(),
                    at,
                };
                UseOutcome::Used
            }
            state => UseOutcome::Refused(state.clone()),
        }
    }

    /// Withdraws an undecided approval. A decision stands.
    pub(crate) fn withdraw(&mut self, at: Timestamp) {
        // Expired wins: a request that ran out of time must not look as if the run had taken it back.
        if self.is_open() {
            self.state = if at < self.terms.expires {
                ApprovalState::Withdrawn { at }
            } else {
                ApprovalState::Expired
            };
        }
    }

    /// The signal that tells the run of a decision.
    pub(crate) fn signal(&self, word: &ApprovalWord) -> Signal {
        Signal::Decide {
            episode: self.owner.episode.clone(),
            ask: self.owner.ask,
            allow: word.answer == ApprovalAnswer::Yes,
            by: word.by.clone(),
            binding: word.binding,
        }
    }

    /// True if it belongs to the run.
    pub(crate) fn is_of(&self, run: RunId) -> bool {
        self.owner.run == run
    }
}

/// A person's signing key: a private file of 32 random bytes.
pub struct ApproverKey(pub(crate) SigningKey);

impl fmt::Debug for ApproverKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApproverKey({})", key_id(&self.0.verifying_key()))
    }
}

impl ApproverKey {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        keys::read_signing_key(path).map(Self)
    }

    /// Signs an answer to what an approval asks.
    pub fn sign(&self, id: &ApprovalId, binding: &Digest, answer: ApprovalAnswer) -> SignedWord {
        let signature = self.0.sign(&message(id, binding, answer));
        SignedWord {
            key: Digest(self.0.verifying_key().to_bytes()),
            signature: format!("{signature:x}"),
        }
    }
}

/// A key and what it signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedWord {
    /// The public key.
    pub key: Digest,
    /// The signature, in hexadecimal digits.
    pub signature: String,
}

impl SignedWord {
    /// Short name of the key; `None` if it is not a valid key.
    pub fn fingerprint(&self) -> Option<String> {
        self.public().as_ref().map(key_id)
    }

    /// True if the key signed this decision on this request.
    pub fn says(&self, id: &ApprovalId, binding: &Digest, answer: ApprovalAnswer) -> bool {
        let signature: Result<Signature, _> = self.signature.parse();
        let message = message(id, binding, answer);
        match (self.public(), signature) {
            (Some(key), Ok(signature)) => key.verify_strict(&message, &signature).is_ok(),
            _ => false,
        }
    }

    fn public(&self) -> Option<VerifyingKey> {
        VerifyingKey::from_bytes(&self.key.0).ok()
    }
}

fn message(id: &ApprovalId, binding: &Digest, answer: ApprovalAnswer) -> Vec<u8> {
    let answer = match answer {
        ApprovalAnswer::Yes => [1],
        ApprovalAnswer::No => [0],
    };
    [WORD_TAG, id.as_str().as_bytes(), &binding.0, &answer].concat()
}
