//! Keys of people and of roles, and what they sign.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use fathom_core::id::Digest;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::approvals::ApproverKey;
use crate::error::StoreError;
use crate::journal::heads::key_id;
use crate::journal::seal::KEY_BYTES;
use crate::private_files;

/// Prefix of a public key in text form.
const PREFIX: &str = "ed25519:";

/// The public part of a key, written as `ed25519:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PublicKey(VerifyingKey);

/// A text that is not a public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid public key; expected `ed25519:` and 64 hexadecimal digits, as printed by `fathom identity keygen`"
)]
pub struct NoKey;

impl PublicKey {
    /// The short name of the key, as `key:FINGERPRINT` of a roster has it.
    pub fn fingerprint(&self) -> String {
        key_id(&self.0)
    }

    /// True if the key signed this message; the signature is in hexadecimal digits.
    pub fn signed(&self, message: &[u8], signature: &str) -> bool {
        let signature: Result<Signature, _> = signature.parse();
        signature.is_ok_and(|signature| self.0.verify_strict(message, &signature).is_ok())
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", Digest(self.0.to_bytes()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl FromStr for PublicKey {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<Self, NoKey> {
        let digits = text.strip_prefix(PREFIX).ok_or(NoKey)?;
        let Digest(bytes) = digits.parse().map_err(|_| NoKey)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| NoKey)?;
        // Anybody can make signatures that a weak key accepts.
        if key.is_weak() {
            Err(NoKey)
        } else {
            Ok(Self(key))
        }
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        key.to_string()
    }
}

impl TryFrom<String> for PublicKey {
    type Error = NoKey;

    fn try_from(text: String) -> Result<Self, NoKey> {
        text.parse()
    }
}

impl ApproverKey {
    /// Creates a new key and its private file. An existing file is never touched.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        getrandom::fill(bytes.as_mut_slice()).map_err(|_| StoreError::NoRandomness)?;
        private_files::write_synced(path, bytes.as_slice())?;
        Ok(Self(SigningKey::from_bytes(&bytes)))
    }

    /// Its public part.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs a message, in hexadecimal digits. The tag at the start of a message defines its meaning.
    pub fn sign_message(&self, message: &[u8]) -> String {
        format!("{:x}", self.0.sign(message))
    }
}
