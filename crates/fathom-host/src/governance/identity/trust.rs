//! Whose signature counts, and what was seen of an identity before.

use std::collections::BTreeMap;

use fathom_core::council_bus::CouncilRole;
use fathom_core::id::Digest;
use fathom_core::unit::Timestamp;
use fathom_store::{GovernanceAct, GovernanceStore, NewAct, PublicKey, StoreError};
use serde::{Deserialize, Serialize};

use super::changes::IdentityChangePath;
use super::error::IdentityError;
use crate::error::HostError;

/// The subject of the act that names a home's creator: no charter is called so.
const CREATOR: &str = "(creator)";

/// Acts about the identity of a charter.
const KINDS: [&str; 2] = ["seen", "signed"];

/// Trusted keys, from `[identity]` of `fathom.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustConfig {
    pub creator: Option<PublicKey>,
    /// The keys of the roles.
    pub roles: BTreeMap<CouncilRole, PublicKey>,
    /// True if every identity must be signed by the creator.
    pub required: bool,
}

impl TrustConfig {
    /// The role whose key this is.
    pub fn role_of(&self, key: &PublicKey) -> Option<CouncilRole> {
        let mut known = self.roles.iter();
        known
            .find(|(_, known)| *known == key)
            .map(|(role, _)| *role)
    }
}

/// Standing of an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum IdentityStanding {
    /// It has no signature.
    Unsigned,
    /// The creator signed it.
    Verified {
        /// The creator's key.
        key: PublicKey,
    },
    /// The key that signed it is unknown.
    UnknownSigner { key: PublicKey },
}

/// A record of an identity seen in a charter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IdentitySighting {
    pub(super) identity: Digest,
    pub(super) key: PublicKey,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<IdentityChangePath>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// Prime's signature of an emergency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) prime: Option<String>,
}

/// Knowledge of the home: its creator, and the identities it has seen.
pub(super) struct TrustRecord<'a> {
    pub(super) trust: &'a TrustConfig,
    pub(super) record: Option<&'a GovernanceStore>,
}

impl TrustRecord<'_> {
    /// The creator, by the configuration and by the home, which may not differ.
    pub(super) fn creator(&self) -> Result<Option<PublicKey>, HostError> {
        let acts = self
            .record
            .map(|record| record.about(CREATOR))
            .transpose()?;
        // The first signer of a home is remembered for good, so that a later key cannot take its place.
        let first = acts.and_then(|acts| acts.into_iter().next());
        // A creator who cannot be read is not an unknown one: with none, any key may sign first.
        let known = first.map(|act| act.body.parse()).transpose();
        let known: Option<PublicKey> = known.map_err(|_| StoreError::Damaged {
            what: "the record of the creator".to_owned(),
        })?;
        match (self.trust.creator, known) {
            (Some(configured), Some(known)) if configured != known => {
                Err(IdentityError::OtherCreator {
                    configured: configured.fingerprint(),
                    known: known.fingerprint(),
                }
                .into())
            }
            (configured, known) => Ok(configured.or(known)),
        }
    }

    /// The identities that a charter had here, signed by the creator, the newest last.
    pub(super) fn seen(
        &self,
        charter: &str,
    ) -> Result<Vec<(GovernanceAct, IdentitySighting)>, HostError> {
        let acts = self
            .record
            .map(|record| record.about(charter))
            .transpose()?;
        let acts = acts.unwrap_or_default().into_iter();
        let acts = acts.filter(|act| KINDS.contains(&act.kind.as_str()));
        // One that was skipped would let an earlier or an unsigned identity back in.
        let read = acts.map(|act| match serde_json::from_str(&act.body) {
            Ok(sight) => Ok((act, sight)),
            Err(_) => Err(StoreError::Damaged {
                what: format!("identity record {} of charter `{charter}`", act.seq),
            }
            .into()),
        });
        read.collect()
    }

    /// Standing of an identity with a valid signature, or the reason to refuse it.
    pub(super) fn judge(
        &self,
        charter: &str,
        identity: Digest,
        signer: Option<PublicKey>,
    ) -> Result<IdentityStanding, HostError> {
        let creator = self.creator()?;
        let seen = self.seen(charter)?;
        let charter = charter.to_owned();
        let standing = match (signer, creator) {
            (None, _) => IdentityStanding::Unsigned,
            (Some(key), None) => IdentityStanding::UnknownSigner { key },
            (Some(key), Some(creator)) if key == creator => IdentityStanding::Verified { key },
            (Some(key), Some(creator)) => {
                return Err(IdentityError::NotCreator {
                    charter,
                    signer: key.fingerprint(),
                    creator: creator.fingerprint(),
                }
                .into());
            }
        };
        match (standing, seen.last()) {
            (IdentityStanding::Verified { .. }, Some((_, newest))) => {
                let is_old = seen.iter().any(|(_, sight)| sight.identity == identity);
                // A valid signature of an earlier identity is still valid; only the record knows that it was replaced.
                if newest.identity != identity && is_old {
                    return Err(IdentityError::RolledBack { charter }.into());
                }
            }
            (IdentityStanding::Verified { .. }, None) => {}
            // Once an identity of this charter was verified, removing the signature must not be a way around it.
            (_, Some(_)) => return Err(IdentityError::UnsignedChange { charter }.into()),
            (_, None) if self.trust.required => {
                return Err(IdentityError::Required { charter }.into());
            }
            (_, None) => {}
        }
        Ok(standing)
    }

    /// True if this is the newest identity of a charter.
    pub(super) fn is_newest(&self, charter: &str, identity: Digest) -> Result<bool, HostError> {
        let seen = self.seen(charter)?;
        Ok(seen
            .last()
            .is_some_and(|(_, newest)| newest.identity == identity))
    }
}

/// Writes down who the creator is, the first time that somebody signs here.
pub(super) fn remember_creator(
    record: &GovernanceStore,
    key: &PublicKey,
    at: Timestamp,
) -> Result<(), HostError> {
    if record.about(CREATOR)?.is_empty() {
        record.add(NewAct {
            at,
            subject: CREATOR,
            kind: "creator",
            by: &format!("key:{}", key.fingerprint()),
            body: &key.to_string(),
        })?;
    }
    Ok(())
}

/// Writes down that a charter has this identity now.
pub(super) fn remember(
    record: &GovernanceStore,
    charter: &str,
    kind: &str,
    sight: &IdentitySighting,
    at: Timestamp,
) -> Result<(), HostError> {
    // A struct of strings always has a JSON form.
    let body = serde_json::to_string(sight).unwrap_or_default();
    let by = format!("key:{}", sight.key.fingerprint());
    let subject = charter;
    record.add(NewAct {
        at,
        subject,
        kind,
        by: &by,
        body: &body,
    })?;
    Ok(())
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;
