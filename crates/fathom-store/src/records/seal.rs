//! Sealing of records under a key of the home, bound to their place.
//!
//! In the clear is what is needed to find a record: kind, id, version, author and time. Without the key one
//! learns these and a record's length. Lookups by content use a keyed hash.

use chacha20poly1305::aead::AeadInOut as _;
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use fathom_core::domain::records::{CapsuleKind, RecordPointer};
use fathom_core::id::Digest;
use hmac::{Hmac, Mac as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::error::StoreError;
use crate::journal::seal::{NONCE_BYTES, RunKey, TAG_BYTES};

/// The sealed part of a record.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RecordContent {
    pub(super) body: Value,
    pub(super) evidence: Vec<String>,
    pub(super) sources: Vec<String>,
}

/// Seals and opens records.
#[derive(Clone)]
pub(super) struct RecordSealer {
    cipher: XChaCha20Poly1305,
    requests: Hmac<Sha256>,
    capsules: Hmac<Sha256>,
}

impl RecordSealer {
    pub(super) fn new(secret: &RunKey) -> Self {
        Self {
            cipher: secret.cipher(b"fathom/records/1/cipher"),
            requests: secret.keyed(b"fathom/records/1/request"),
            capsules: secret.keyed(b"fathom/records/1/capsule"),
        }
    }

    /// Nonce, ciphertext and tag. `place` is a pointer with its version.
    pub(super) fn seal(
        &self,
        place: &RecordPointer,
        content: &RecordContent,
    ) -> Result<Vec<u8>, StoreError> {
        let not_json = |error: serde_json::Error| StoreError::NotARecord {
            what: error.to_string(),
        };
        let plain = Zeroizing::new(serde_json::to_vec(content).map_err(not_json)?);
        // Random: nothing compares sealed records, so equal ones need not look equal.
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|_| StoreError::NoRandomness)?;
        let mut sealed = [&nonce, plain.as_slice()].concat();
        // The place is associated data: a record moved to another id or version does not open.
        let tag = self
            .cipher
            .encrypt_inout_detached(
                &XNonce::from(nonce),
                place.to_string().as_bytes(),
                (&mut sealed[NONCE_BYTES..]).into(),
            )
            .map_err(|_| StoreError::TooLarge {
                bytes: plain.len(),
                max: crate::journal::seal::TEXT_BYTES_MAX,
            })?;
        sealed.extend_from_slice(&tag);
        Ok(sealed)
    }

    /// The content; `None` if it was not sealed by this key for this place.
    pub(super) fn open(&self, place: &RecordPointer, sealed: Vec<u8>) -> Option<RecordContent> {
        let mut sealed = Zeroizing::new(sealed);
        let (nonce, rest) = sealed.split_first_chunk_mut::<NONCE_BYTES>()?;
        let (body, tag) = rest.split_last_chunk_mut::<TAG_BYTES>()?;
        self.cipher
            .decrypt_inout_detached(
                &XNonce::from(*nonce),
                place.to_string().as_bytes(),
                (&mut *body).into(),
                &(*tag).into(),
            )
            .ok()?;
        serde_json::from_slice(body).ok()
    }

    /// Keyed hash of a request, to recognise it when it comes again.
    pub(super) fn request(&self, parts: &[&str]) -> [u8; 32] {
        let mut hash = self.requests.clone();
        for part in parts {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.finalize().into_bytes().into()
    }

    /// Keyed hash of a source, to find its capsules.
    pub(super) fn capsule(&self, kind: CapsuleKind, source: Digest) -> [u8; 32] {
        let kind = serde_json::to_string(&kind).unwrap_or_default();
        let hash = self.capsules.clone().chain_update(source.0);
        hash.chain_update(kind).finalize().into_bytes().into()
    }
}
