//! Identities in a home: their admission to runs, signatures and standing.

use std::fs;
use std::io::Write as _;
use std::path::Path as FilePath;
use std::sync::Arc;

use fathom_core::council_bus::CouncilRole;
use fathom_core::id::{Digest, RunId};
use fathom_core::journal::event::EpisodeSpec;
use fathom_core::packet::{IdentityProvenance, PacketFrame};
use fathom_core::unit::Timestamp;
use fathom_store::{ApproverKey, GovernanceStore, PublicKey};
use serde::{Deserialize, Serialize};

use super::error::IdentityError;
use super::signature::{self, charter_name};
use super::stability::{StabilityLog, StabilityStatus};
use super::trust::{IdentitySighting, IdentityStanding, TrustRecord, remember, remember_creator};
use crate::charter::{
    Charter, CharterVersion, IDENTITY_FILE, IdentitySignatureText, PROTOCOL, without_signature,
};
use crate::error::HostError;
use crate::runtime::Runtime;

/// Prefix of the message that Prime signs in an emergency.
const EMERGENCY_TAG: &[u8] = b"fathom/identity-emergency/1";

/// The way by which an identity changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdentityChangePath {
    /// The creator alone.
    Creator,
    /// The creator and Prime, in an emergency.
    Emergency,
    /// A governance session of the creator and a stable stack.
    Session,
}

/// Treatment of a run that is taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResumeMode {
    /// It continues.
    On,
    /// It is only ended, which a person may always do, whoever signed the identity.
    ToItsEnd,
}

/// Keys that sign an identity.
#[derive(Clone, Copy, Debug)]
pub struct SigningKeys<'a> {
    /// The creator's key.
    pub creator: &'a ApproverKey,
    /// Prime's key and the reason, in an emergency.
    pub emergency: Option<(&'a ApproverKey, &'a str)>,
}

/// An identity that was signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SignedIdentity {
    pub charter: String,
    pub identity: Digest,
    pub signature: IdentitySignatureText,
    pub path: IdentityChangePath,
}

/// A change of an identity that was written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IdentityChange {
    #[serde(rename = "at_ms")]
    pub at: Timestamp,
    /// The person, as `key:FINGERPRINT`.
    pub by: String,
    /// The identity's fingerprint.
    pub identity: Digest,
    /// The way; none when it was only met, signed elsewhere.
    pub path: Option<IdentityChangePath>,
    /// Reason, in an emergency.
    pub reason: Option<String>,
}

/// An identity as people look at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IdentityView {
    pub charter: String,
    /// Text that the model reads.
    pub text: String,
    pub identity: Digest,
    #[serde(flatten)]
    pub standing: IdentityStanding,
    /// Changes to it in this home, oldest first.
    pub changes: Vec<IdentityChange>,
    /// Stability of the stack.
    pub stability: StabilityStatus,
}

impl Runtime {
    /// Checks the identity of a run that is to begin, and remembers it where the creator signed it.
    pub fn admit(&self, frame: &PacketFrame) -> Result<IdentityStanding, HostError> {
        // A run without a charter has nobody's identity.
        let Some(provenance) = &frame.provenance else {
            return Ok(IdentityStanding::Unsigned);
        };
        let charter = charter_name(frame);
        let (identity, signer) = signer_of(charter, provenance)?;
        self.judge(charter, identity, signer)
    }

    /// Checks that a run continues with the identity that it began with, and that this identity is still accepted.
    pub(crate) fn readmit(
        &self,
        run: RunId,
        started: &EpisodeSpec,
        going: ResumeMode,
    ) -> Result<(), HostError> {
        let frame = &started.frame;
        // A run that is only ended calls no model, so it needs nobody's identity.
        let (Some(provenance), ResumeMode::On) = (&frame.provenance, going) else {
            return Ok(());
        };
        let spoken: Option<CharterVersion> = provenance.protocol.parse().ok();
        if spoken.is_none_or(|spoken| spoken.major != PROTOCOL.major) {
            let said = provenance.protocol.clone();
            return Err(IdentityError::OtherProtocol { run, said }.into());
        }
        let charter = charter_name(frame);
        let (identity, _) = signer_of(charter, provenance)?;
        // A charter that is gone, or cannot be read any more, says nothing else than the record.
        if let Ok(now) = Charter::of_frame(frame)
            && signature::fingerprint(&now.identity) != identity
        {
            let charter = charter.to_owned();
            return Err(IdentityError::ChangedSince { charter, run }.into());
        }
        self.admit(frame).map(drop)
    }

    /// Judges an identity, and remembers it where the creator signed it.
    fn judge(
        &self,
        charter: &str,
        identity: Digest,
        signer: Option<PublicKey>,
    ) -> Result<IdentityStanding, HostError> {
        let trust = &self.inner.options.identity;
        let record = self.inner.home.governance_if_there()?;
        let known = TrustRecord {
            trust,
            record: record.as_ref(),
        };
        let standing = known.judge(charter, identity, signer)?;
        // Only verified identities are recorded: an unsigned one would otherwise become the newest known.
        if let IdentityStanding::Verified { key } = standing
            && !known.is_newest(charter, identity)?
        {
            let record = match record {
                Some(record) => record,
                None => self.inner.home.open_governance()?,
            };
            let sight = IdentitySighting {
                identity,
                key,
                path: None,
                reason: None,
                prime: None,
            };
            remember_creator(&record, &key, self.now())?;
            remember(&record, charter, "seen", &sight, self.now())?;
        }
        Ok(standing)
    }

    /// Stability of the stack, with the log that records it.
    pub fn stability(&self) -> Result<StabilityLog, HostError> {
        let record = self.inner.home.open_governance()?;
        let clock = Arc::clone(&self.inner.options.clock);
        Ok(StabilityLog::new(record, clock))
    }

    /// An identity, who signed it, and what happened to it here. Looking at it changes nothing.
    pub fn identity_view(&self, charter: &Charter) -> Result<IdentityView, HostError> {
        let provenance = charter.frame().provenance.unwrap_or_default();
        let (identity, signer) = signer_of(&charter.name, &provenance)?;
        let record = self.inner.home.governance_if_there()?;
        let known = TrustRecord {
            trust: &self.inner.options.identity,
            record: record.as_ref(),
        };
        let standing = known.judge(&charter.name, identity, signer)?;
        let changes = known.seen(&charter.name)?.into_iter();
        let changes = changes.map(|(act, sight)| IdentityChange {
            at: act.at,
            by: act.by,
            identity: sight.identity,
            path: sight.path,
            reason: sight.reason,
        });
        Ok(IdentityView {
            charter: charter.name.clone(),
            text: charter.identity.text(),
            identity,
            standing,
            changes: changes.collect(),
            stability: match record {
                Some(_) => self.stability()?.steadiness()?,
                None => StabilityStatus::unwatched(),
            },
        })
    }

    /// Signs the identity of the charter in a folder, by the creator alone or in an emergency.
    pub fn sign_identity(
        &self,
        folder: &FilePath,
        signing: SigningKeys<'_>,
    ) -> Result<SignedIdentity, HostError> {
        let (charter, text) = Charter::without_signature(folder)?;
        let identity = signature::fingerprint(&charter.identity);
        let record = self.inner.home.open_governance()?;
        let known = TrustRecord {
            trust: &self.inner.options.identity,
            record: Some(&record),
        };
        let key = signing.creator.public();
        // Before anything is written: a wrong key must not leave a signed file behind.
        self.check_creator(&charter.name, &key)?;
        let prime = match signing.emergency {
            None => None,
            Some((prime, reason)) => Some(self.prime_signs(prime, identity, reason)?),
        };
        let seen = known.seen(&charter.name)?;
        let is_change = seen
            .last()
            .is_some_and(|(_, newest)| newest.identity != identity);
        if is_change && prime.is_none() && self.stability()?.steadiness()?.broken.is_none() {
            let charter = charter.name;
            return Err(IdentityError::StackIsStable { charter }.into());
        }
        let signature = signature::sign(&charter.name, &charter.identity, signing.creator);
        // The file first, the record after it: a record of a signature that is not in the file would refuse the old
        // identity as rolled back.
        write_signed(folder, &text, &signature)?;
        let path = match prime {
            Some(_) => IdentityChangePath::Emergency,
            None => IdentityChangePath::Creator,
        };
        let sight = IdentitySighting {
            identity,
            key,
            path: Some(path),
            reason: signing.emergency.map(|(_, reason)| reason.to_owned()),
            prime,
        };
        remember_creator(&record, &key, self.now())?;
        if !known.is_newest(&charter.name, identity)? {
            remember(&record, &charter.name, "signed", &sight, self.now())?;
        }
        Ok(SignedIdentity {
            charter: charter.name,
            identity,
            signature,
            path,
        })
    }

    /// Checks that this key is the creator's. The first one to sign in a home is the creator.
    pub(crate) fn check_creator(&self, charter: &str, key: &PublicKey) -> Result<(), HostError> {
        match self.known_creator()? {
            Some(creator) if creator != *key => Err(IdentityError::NotCreator {
                charter: charter.to_owned(),
                signer: key.fingerprint(),
                creator: creator.fingerprint(),
            }
            .into()),
            _ => Ok(()),
        }
    }

    /// Checks that the creator signed a proposed identity. Nothing is recorded: the identity is not in use yet, and it
    /// may be an earlier one.
    pub(crate) fn admit_proposed(&self, charter: &Charter) -> Result<(), HostError> {
        self.creator()?;
        let provenance = charter.frame().provenance.unwrap_or_default();
        let (_, signer) = signer_of(&charter.name, &provenance)?;
        let signer = signer.ok_or_else(|| IdentityError::UnsignedChange {
            charter: charter.name.clone(),
        })?;
        self.check_creator(&charter.name, &signer)
    }

    fn prime_signs(
        &self,
        prime: &ApproverKey,
        identity: Digest,
        reason: &str,
    ) -> Result<String, HostError> {
        self.check_prime(prime)?;
        if reason.trim().is_empty() {
            let why = "the reason is empty";
            return Err(IdentityError::NeedsPrime { why }.into());
        }
        // The reason comes last and has no length: what precedes it has a fixed length.
        let message = [EMERGENCY_TAG, &identity.0, reason.as_bytes()].concat();
        Ok(prime.sign_message(&message))
    }

    /// Checks that this key is Prime's.
    pub(crate) fn check_prime(&self, prime: &ApproverKey) -> Result<(), HostError> {
        let why = match self.inner.options.identity.roles.get(&CouncilRole::Prime) {
            None => "no key for Prime is configured",
            Some(known) if *known != prime.public() => "the given key is not Prime's",
            Some(_) => return Ok(()),
        };
        Err(IdentityError::NeedsPrime { why }.into())
    }

    /// The creator; it must be known.
    pub(crate) fn creator(&self) -> Result<PublicKey, HostError> {
        Ok(self.known_creator()?.ok_or(IdentityError::NoCreator)?)
    }

    fn known_creator(&self) -> Result<Option<PublicKey>, HostError> {
        let record = self.inner.home.governance_if_there()?;
        let known = TrustRecord {
            trust: &self.inner.options.identity,
            record: record.as_ref(),
        };
        known.creator()
    }

    /// Writes down that a governance session, or an emergency, gave a charter this identity.
    pub(crate) fn identity_changed(
        &self,
        record: &GovernanceStore,
        charter: &Charter,
        path: IdentityChangePath,
        reason: Option<&str>,
    ) -> Result<(), HostError> {
        let key = self.creator()?;
        let sight = IdentitySighting {
            identity: signature::fingerprint(&charter.identity),
            key,
            path: Some(path),
            reason: reason.map(str::to_owned),
            prime: None,
        };
        remember_creator(record, &key, self.now())?;
        remember(record, &charter.name, "signed", &sight, self.now())
    }
}

/// The identity that a record names, and the key that signed it. A signature that does not fit is refused.
fn signer_of(
    charter: &str,
    provenance: &IdentityProvenance,
) -> Result<(Digest, Option<PublicKey>), HostError> {
    let bad = || IdentityError::BadSignature {
        charter: charter.to_owned(),
    };
    let identity: Digest = provenance.identity.parse().map_err(|_| bad())?;
    let signer = match &provenance.signature {
        None => None,
        Some(made) => {
            let signer = signature::signer(charter, identity, &made.key, &made.value);
            Some(signer.ok_or_else(bad)?)
        }
    };
    Ok((identity, signer))
}

/// Puts a signature under an identity's text, as a whole or not at all.
fn write_signed(
    folder: &FilePath,
    text: &str,
    signature: &IdentitySignatureText,
) -> Result<(), HostError> {
    let file = folder.join(IDENTITY_FILE);
    let beside = folder.join(format!(".{IDENTITY_FILE}.new"));
    let write = || {
        let mut new = fs::File::create(&beside)?;
        new.write_all(signed_text(text, signature).as_bytes())?;
        // Without it a power loss after the rename may leave an empty file under the name.
        new.sync_all()?;
        fs::rename(&beside, &file)
    };
    write().map_err(|source| {
        IdentityError::File {
            file: file.clone(),
            source,
        }
        .into()
    })
}

/// An identity's text with a signature under it.
pub(crate) fn signed_text(text: &str, signature: &IdentitySignatureText) -> String {
    let IdentitySignatureText { key, value } = signature;
    let text = without_signature(text);
    let text = text.trim_end();
    format!("{text}\n\n[signature]\nkey = \"{key}\"\nvalue = \"{value}\"\n")
}
