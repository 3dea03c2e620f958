//! Approvals: what a run asks of people before it acts, and what they said.
//!
//! The rules stand here as pure functions of one [`Approval`]; a backend reads it, applies one, and writes it back
//! within one commit. So a word is given once, and a yes is used once.

use std::fmt;
use std::path::Path;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use fathom_core::effect::ApprovalTerms;
use fathom_core::event::Signal;
use fathom_core::id::{Digest, RunId};
use fathom_core::unit::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::StoreError;
use crate::heads::key_id;
use crate::keys;
use crate::registry::ClaimOwner;

const ID_TAG: &[u8] = b"fathom/approval/1";
const WORD_TAG: &[u8] = b"fathom/word/1";

/// Hexadecimal digits of an approval's name.
const ID_CHARS: usize = 12;

/// Names one approval: a few digits that a person can type.
///
/// It is made of who asks and of what is asked, so another question has another name, and nobody says yes to
/// something that they have not seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovalId(String);

impl ApprovalId {
    /// The name of what `owner` asks under `binding`.
    pub fn of(owner: &ClaimOwner, binding: &Digest) -> Self {
        let episode = owner.episode.to_string();
        let mut hash = Sha256::new();
        hash.update(ID_TAG);
        hash.update(owner.run.as_bytes());
        hash.update((episode.len() as u64).to_be_bytes());
        hash.update(episode.as_bytes());
        hash.update(owner.ask.0.to_be_bytes());
        hash.update(binding.0);
        let mut id = Digest(hash.finalize().into()).to_string();
        id.truncate(ID_CHARS);
        Self(id)
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum YesNo {
    /// It may be done, once.
    Yes,
    /// It may not.
    No,
}

/// What a person said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    pub answer: YesNo,
    /// Who said it, as `os:alice` or `key:0123456789abcdef`.
    pub by: String,
    pub at: Timestamp,
    /// Why; empty when nothing was said.
    pub why: String,
    /// What it was said about.
    pub binding: Digest,
    /// The signature, where a key said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<SignedWord>,
}

/// How an approval stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ApprovalState {
    /// Nobody has decided.
    Open,
    /// Someone said yes, and nothing was done yet.
    Granted {
        /// What was said.
        word: Word,
    },
    /// Someone said no.
    Denied {
        /// What was said.
        word: Word,
    },
    /// Someone said yes, and that was used up.
    Used {
        /// What was said.
        word: Word,
        /// When it was used.
        at: Timestamp,
    },
    /// Nobody decided in time.
    Expired,
    /// It is not asked any more: the run ended, or asks something else.
    Withdrawn {
        /// Since when.
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

    /// What a person said, where one did.
    pub const fn word(&self) -> Option<&Word> {
        match self {
            Self::Granted { word } | Self::Denied { word } | Self::Used { word, .. } => Some(word),
            Self::Open | Self::Expired | Self::Withdrawn { .. } => None,
        }
    }
}

/// What a run asks of people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    pub id: ApprovalId,
    /// Who asks.
    pub owner: ClaimOwner,
    /// Who may say, until when, and to what.
    pub terms: ApprovalTerms,
    /// Since when it is asked.
    pub opened_at: Timestamp,
    /// How it stands.
    pub state: ApprovalState,
}

/// Why a word does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecidable {
    /// It came too late.
    Expired,
    /// The approval is not open any more.
    Settled,
    /// It was said about something else.
    OtherBinding,
}

/// What became of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecideOutcome {
    /// It counts, and the run was told in the same commit.
    Decided(Approval),
    /// It does not; the approval stands so.
    Refused(Approval, Undecidable),
    /// There is no such approval.
    Unknown,
}

/// What became of the wish to use a yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UseOutcome {
    /// No person was asked about this.
    NotAsked,
    /// The yes is used up now.
    Used,
    /// There is no yes that could be used; so it stands.
    Refused(ApprovalState),
}

/// Which approvals to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalFilter {
    /// Those that wait for a person.
    Open,
    /// Every one.
    All,
}

/// Most approvals of one answer, the newest ones.
pub const APPROVALS_LISTED_MAX: usize = 10_000;

impl Approval {
    /// A new one.
    pub fn open(owner: ClaimOwner, terms: ApprovalTerms, at: Timestamp) -> Self {
        Self {
            id: ApprovalId::of(&owner, &terms.binding),
            owner,
            terms,
            opened_at: at,
            state: ApprovalState::Open,
        }
    }

    /// Whether it waits for a person.
    pub fn is_open(&self) -> bool {
        self.state == ApprovalState::Open
    }

    /// Takes a person's word, once.
    pub(crate) fn decide(&mut self, word: &Word) -> Result<(), Undecidable> {
        if !self.is_open() {
            return Err(Undecidable::Settled);
        }
        if word.at >= self.terms.expires {
            self.state = ApprovalState::Expired;
            return Err(Undecidable::Expired);
        }
        if word.binding != self.terms.binding {
            return Err(Undecidable::OtherBinding);
        }
        let word = word.clone();
        self.state = match word.answer {
            YesNo::Yes => ApprovalState::Granted { word },
            YesNo::No => ApprovalState::Denied { word },
        };
        Ok(())
    }

    /// Uses a yes up.
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

    /// Nobody asks for it any more. What was decided stays so.
    pub(crate) fn withdraw(&mut self, at: Timestamp) {
        if self.is_open() {
            self.state = if at < self.terms.expires {
                ApprovalState::Withdrawn { at }
            } else {
                ApprovalState::Expired
            };
        }
    }

    /// What the run is told of a word.
    pub(crate) fn signal(&self, word: &Word) -> Signal {
        Signal::Decide {
            episode: self.owner.episode.clone(),
            ask: self.owner.ask,
            allow: word.answer == YesNo::Yes,
            by: word.by.clone(),
            binding: word.binding,
        }
    }

    /// Whether it belongs to the run.
    pub(crate) fn is_of(&self, run: RunId) -> bool {
        self.owner.run == run
    }
}

/// A key with which a person gives their word: a file of 32 random bytes that nobody else can read.
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
    pub fn sign(&self, id: &ApprovalId, binding: &Digest, answer: YesNo) -> SignedWord {
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
    /// The short name of the key; none when it is no key at all.
    pub fn fingerprint(&self) -> Option<String> {
        self.public().as_ref().map(key_id)
    }

    /// Whether the key gave this answer to this question.
    pub fn says(&self, id: &ApprovalId, binding: &Digest, answer: YesNo) -> bool {
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

fn message(id: &ApprovalId, binding: &Digest, answer: YesNo) -> Vec<u8> {
    let answer = match answer {
        YesNo::Yes => [1],
        YesNo::No => [0],
    };
    [WORD_TAG, id.as_str().as_bytes(), &binding.0, &answer].concat()
}
