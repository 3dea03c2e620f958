//! What is signed of an identity.

use fathom_core::id::Digest;
use fathom_core::packet::Provenance;
use fathom_store::{ApproverKey, PublicKey};
use sha2::{Digest as _, Sha256};

use crate::charter::{Identity, Signature};

/// What the bytes of an identity begin with; another form of them has another number.
const IDENTITY_TAG: &[u8] = b"fathom/identity/1";

/// What a signed message about an identity begins with.
const SIGNATURE_TAG: &[u8] = b"fathom/identity-signature/1";

/// SHA-256 over the identity's traits and rules: the tag, then each list with the number of its entries, then each
/// entry with the number of its bytes. So no byte can change, move or go without the fingerprint's changing.
pub fn fingerprint(identity: &Identity) -> Digest {
    let mut hash = Sha256::new();
    hash.update(IDENTITY_TAG);
    for list in [&identity.traits, &identity.core_rules] {
        hash.update((list.len() as u64).to_be_bytes());
        for entry in list {
            hash.update((entry.len() as u64).to_be_bytes());
            hash.update(entry.as_bytes());
        }
    }
    Digest(hash.finalize().into())
}

/// Signs an identity.
pub fn sign(identity: &Identity, key: &ApproverKey) -> Signature {
    Signature {
        key: key.public().to_string(),
        value: key.sign_message(&message(fingerprint(identity))),
    }
}

/// The key that signed the identity of this fingerprint; none when it did not, or is no key.
pub fn signer(identity: Digest, key: &str, signature: &str) -> Option<PublicKey> {
    let key: PublicKey = key.parse().ok()?;
    key.signed(&message(identity), signature).then_some(key)
}

/// The key that signed the identity of a run, where one did and its signature fits.
pub fn signed_by(provenance: &Provenance) -> Option<PublicKey> {
    let made = provenance.signature.as_ref()?;
    signer(provenance.identity.parse().ok()?, &made.key, &made.value)
}

fn message(identity: Digest) -> Vec<u8> {
    [SIGNATURE_TAG, &identity.0].concat()
}

#[cfg(test)]
#[path = "signing_tests.rs"]
mod tests;
