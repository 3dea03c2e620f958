//! Messages that are signed for an identity.

use fathom_core::id::Digest;
use fathom_core::packet::PacketFrame;
use fathom_store::{ApproverKey, PublicKey};
use sha2::{Digest as _, Sha256};

use crate::charter::{IdentitySignatureText, IdentityText};

/// Prefix of an identity's bytes; another format has another number.
const IDENTITY_TAG: &[u8] = b"fathom/identity/1";

/// Prefix of a signed message about an identity.
const SIGNATURE_TAG: &[u8] = b"fathom/identity-signature/2";

/// SHA-256 over the identity's traits and rules: the tag, then each list with the number of its entries, then each
/// entry with the number of its bytes. So no byte can change, move or go without the fingerprint's changing.
pub fn fingerprint(identity: &IdentityText) -> Digest {
    let mut hash = Sha256::new();
    hash.update(IDENTITY_TAG);
    for list in [&identity.traits, &identity.core_rules] {
        // Lengths go before texts, so that moving a word from one entry to the next gives another digest.
        hash.update((list.len() as u64).to_be_bytes());
        for entry in list {
            hash.update((entry.len() as u64).to_be_bytes());
            hash.update(entry.as_bytes());
        }
    }
    Digest(hash.finalize().into())
}

/// Signs the identity of a charter.
pub fn sign(charter: &str, identity: &IdentityText, key: &ApproverKey) -> IdentitySignatureText {
    IdentitySignatureText {
        key: key.public().to_string(),
        value: key.sign_message(&message(charter, fingerprint(identity))),
    }
}

/// The key that signed the identity of this fingerprint for this charter; none if the signature or the key is invalid.
pub fn signer(charter: &str, identity: Digest, key: &str, signature: &str) -> Option<PublicKey> {
    let key: PublicKey = key.parse().ok()?;
    let message = message(charter, identity);
    key.signed(&message, signature).then_some(key)
}

/// The key that signed the identity of a run, where one did and its signature fits.
pub fn signed_by(frame: &PacketFrame) -> Option<PublicKey> {
    let provenance = frame.provenance.as_ref()?;
    let made = provenance.signature.as_ref()?;
    let identity = provenance.identity.parse().ok()?;
    signer(charter_name(frame), identity, &made.key, &made.value)
}

/// The name of the charter that a frame comes from.
pub(super) fn charter_name(frame: &PacketFrame) -> &str {
    frame.charter.split(' ').next().unwrap_or_default()
}

/// The charter's name is signed, too: what was signed for one charter is not signed for another.
fn message(charter: &str, identity: Digest) -> Vec<u8> {
    let length = (charter.len() as u64).to_be_bytes();
    // The charter's name is signed, too: a signature must not move an identity to another charter.
    [SIGNATURE_TAG, &length, charter.as_bytes(), &identity.0].concat()
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
