//! Reviews and votes: what a role says with its key.

use fathom_core::council_bus::{
    CouncilRole, Envelope, MessageId, MessageRejection, MessageType, MotionVote, RoleAssembly,
};
use fathom_core::id::Digest;
use fathom_core::packet::PacketRisk;
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use fathom_store::{ApproverKey, GovernanceAct, NewAct, PublicKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::propose::{REVIEWED, VOTED, opening};
use super::{CharterProposal, RfcError, RfcStore, RoleStatement};
use crate::error::HostError;
use crate::governance::identity::TrustConfig;
use crate::runtime::Runtime;

/// Prefix of a signed message about a proposal.
const MESSAGE_TAG: &[u8] = b"fathom/rfc-message/1";

/// Time during which a proposal accepts votes.
const OPEN_FOR: Millis = Millis(30 * 24 * 3_600_000);

/// A message and the signature of its role's key, as they are kept.
#[derive(Serialize, Deserialize)]
struct SignedStatement {
    /// The envelope, in the very bytes that were signed.
    // Text, not a value: the signature covers these bytes, and JSON written again may differ.
    envelope: String,
    key: PublicKey,
    signature: String,
}

impl Runtime {
    /// Reviews a proposal in the name of the role whose key this is.
    pub fn review(
        &self,
        rfc: &RfcStore,
        key: &ApproverKey,
        text: &str,
    ) -> Result<RfcStore, HostError> {
        let role = self.speaker(rfc, key)?;
        if rfc.reviews.iter().any(|review| review.role == role) {
            return Err(RfcError::Reviewed { role }.into());
        }
        self.speak(rfc, key, role, REVIEWED, text)
    }

    /// Votes on a proposal that was reviewed, in the name of the role whose key this is.
    pub fn vote(
        &self,
        rfc: &RfcStore,
        key: &ApproverKey,
        ballot: MotionVote,
        why: &str,
    ) -> Result<RfcStore, HostError> {
        let role = self.speaker(rfc, key)?;
        let missing = rfc.unreviewed();
        if !missing.is_empty() {
            let id = rfc.id.clone();
            return Err(RfcError::NotReviewed { id, missing }.into());
        }
        let words = format!("{ballot}\n{why}");
        self.speak(rfc, key, role, VOTED, words.trim_end())
    }

    fn speaker(&self, rfc: &RfcStore, key: &ApproverKey) -> Result<CouncilRole, HostError> {
        if rfc.merged.is_some() {
            let id = rfc.id.clone();
            return Err(RfcError::Merged { id }.into());
        }
        let key = key.public();
        let role = self.inner.options.identity.role_of(&key);
        Ok(role.ok_or_else(|| RfcError::NoRole {
            key: key.fingerprint(),
        })?)
    }

    fn speak(
        &self,
        rfc: &RfcStore,
        key: &ApproverKey,
        role: CouncilRole,
        kind: &str,
        text: &str,
    ) -> Result<RfcStore, HostError> {
        let envelope = envelope(rfc, key, role, kind, text, self.now())?;
        if kind == VOTED {
            // What the tally would not take is told now, and not written down.
            let trust = &self.inner.options.identity;
            let mut assembly = assembly(trust);
            let opened = opening(&rfc.proposal)?;
            let _ = assembly.take(&opened, opened.timestamp);
            let taken = assembly.take(&envelope, self.now());
            let taken = if rfc.votes.iter().any(|vote| vote.role == role) {
                Err(MessageRejection::SecondVote(role))
            } else {
                taken
            };
            taken.map_err(|why| RfcError::NotTaken { role, why })?;
        }
        let envelope = serde_json::to_string(&envelope).unwrap_or_default();
        let message = message(rfc.proposal.digest(), &envelope);
        let signed = SignedStatement {
            key: key.public(),
            signature: key.sign_message(&message),
            envelope,
        };
        let body = serde_json::to_string(&signed).unwrap_or_default();
        let record = self.inner.home.open_governance()?;
        record.add(NewAct {
            at: self.now(),
            subject: &rfc.id,
            kind,
            by: &format!("key:{}", signed.key.fingerprint()),
            body: &body,
        })?;
        self.rfc_in(&record, &rfc.id)
    }
}

fn envelope(
    rfc: &RfcStore,
    key: &ApproverKey,
    role: CouncilRole,
    kind: &str,
    text: &str,
    at: fathom_core::unit::Timestamp,
) -> Result<Envelope, HostError> {
    let parent = opening(&rfc.proposal)?.msg_id;
    let name = Sha256::digest(format!("{}/{role}/{kind}/{}", rfc.id, at.0));
    let name = Digest(name.into()).to_string();
    let damaged = || RfcError::Damaged { id: rfc.id.clone() };
    Ok(Envelope {
        msg_id: message_id(&name).ok_or_else(damaged)?,
        parent_id: Some(parent),
        timestamp: at,
        sender: format!("key:{}", key.public().fingerprint()),
        role,
        kind: if kind == VOTED {
            MessageType::Vote
        } else {
            MessageType::Info
        },
        confidence: None,
        risk_level: PacketRisk::Low,
        content: Text::new(text),
    })
}

fn message(proposal: Digest, envelope: &str) -> Vec<u8> {
    [MESSAGE_TAG, &proposal.0, envelope.as_bytes()].concat()
}

/// The message id that these hexadecimal digits begin with.
pub(super) fn message_id(digits: &str) -> Option<MessageId> {
    let first: String = digits.chars().take(8).collect();
    MessageId::try_from(first).ok()
}

/// The roles that have a key.
pub(super) fn assembly(trust: &TrustConfig) -> RoleAssembly {
    RoleAssembly::new(trust.roles.keys().copied(), OPEN_FOR)
}

/// A message as it was signed; none when it is not of a role's key as it is known now, or about something else.
pub(super) fn heard(
    act: &GovernanceAct,
    proposal: &CharterProposal,
    trust: &TrustConfig,
) -> Option<(Envelope, RoleStatement)> {
    let signed: SignedStatement = serde_json::from_str(&act.body).ok()?;
    // By today's configuration: a key that was removed no longer counts.
    let role = trust.role_of(&signed.key)?;
    let message = message(proposal.digest(), &signed.envelope);
    if !signed.key.signed(&message, &signed.signature) {
        return None;
    }
    let envelope = Envelope::read(&signed.envelope).ok()?;
    let kind = if act.kind == VOTED {
        MessageType::Vote
    } else {
        MessageType::Info
    };
    // The act's kind is not signed, so a review could be filed as a vote.
    if envelope.role != role || envelope.kind != kind {
        return None;
    }
    let words = envelope.content.as_str();
    let ballot = (kind == MessageType::Vote)
        .then(|| MotionVote::read(words))
        .flatten();
    let text = match ballot {
        Some(_) => words.split_once('\n').map_or("", |(_, why)| why),
        None => words,
    };
    let spoken = RoleStatement {
        role,
        by: envelope.sender.clone(),
        at: act.at,
        ballot,
        text: text.to_owned(),
    };
    Some((envelope, spoken))
}
