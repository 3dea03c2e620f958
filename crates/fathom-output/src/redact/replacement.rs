//! Replacements of values: keyed hashes, and sealed tokens that the key opens again.
//!
//! Sealing is deterministic: the nonce is a keyed hash of the value, so the same value gives the same token.
//! Without the key one learns a value's length, and whether two values are equal.

use std::fmt;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{KeyInit, Tag, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

/// Size of a key in bytes.
pub const KEY_BYTES: usize = 32;
/// Maximum length of a token that is opened, in characters.
const TOKEN_CHARS_MAX: usize = 64 * 1024;
/// Number of hash bytes shown in a mark.
const HASH_BYTES: usize = 8;
// 24 bytes of a keyed hash, long enough that no two values share a nonce.
const NONCE_BYTES: usize = 24;
const TAG_BYTES: usize = 16;
const HMAC_BLOCK_BYTES: usize = 64;
// One subkey per purpose: hashes are shown, and must not help with tokens.
const CIPHER_TAG: &[u8] = b"fathom/redact/1/cipher";
const NONCE_TAG: &[u8] = b"fathom/redact/1/nonce";
const HASH_TAG: &[u8] = b"fathom/redact/1/hash";

/// The key for hashing and tokenising values.
#[derive(Clone)]
pub struct RedactKey(Zeroizing<[u8; KEY_BYTES]>);

impl RedactKey {
    /// A key from its bytes.
    pub fn from_bytes(bytes: [u8; KEY_BYTES]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    fn subkey(&self, tag: &[u8]) -> Zeroizing<[u8; KEY_BYTES]> {
        Zeroizing::new(
            keyed(&self.0)
                .chain_update(tag)
                .finalize()
                .into_bytes()
                .into(),
        )
    }

    /// A short hash of a value, the same for the same value of the same kind.
    pub(super) fn hash(&self, kind: &str, value: &str) -> String {
        let digest: [u8; 32] = keyed(&self.subkey(HASH_TAG))
            .chain_update(kind)
            // A separator, or a kind could be continued by the value.
            .chain_update([0])
            .chain_update(value)
            .finalize()
            .into_bytes()
            .into();
        digest[..HASH_BYTES]
            .iter()
            .fold(String::new(), |mut hex, byte| {
                let _infallible = write!(hex, "{byte:02x}");
                hex
            })
    }

    /// Seals a value. `None` if it cannot be sealed, which only a value of many gigabytes could cause.
    pub(super) fn seal(&self, kind: &str, value: &str) -> Option<String> {
        let digest: [u8; 32] = keyed(&self.subkey(NONCE_TAG))
            .chain_update(kind)
            .chain_update([0])
            .chain_update(value)
            .finalize()
            .into_bytes()
            .into();
        let mut bytes = digest[..NONCE_BYTES].to_vec();
        bytes.extend_from_slice(value.as_bytes());
        let (nonce, body) = bytes.split_at_mut(NONCE_BYTES);
        let nonce: &[u8; NONCE_BYTES] = (&*nonce).try_into().ok()?;
        let tag = self
            .cipher()
            // The kind is associated data: a token cannot be opened under another name.
            .encrypt_inout_detached(&XNonce::from(*nonce), kind.as_bytes(), body.into())
            .ok()?;
        bytes.extend_from_slice(&tag);
        Some(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Opens a token; `None` if it was not sealed with this key as this kind.
    pub(super) fn open(&self, kind: &str, token: &str) -> Option<String> {
        if token.len() > TOKEN_CHARS_MAX {
            return None;
        }
        let mut bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let nonce: [u8; NONCE_BYTES] = bytes.get(..NONCE_BYTES)?.try_into().ok()?;
        let ends = bytes.len().checked_sub(TAG_BYTES)?;
        let tag: [u8; TAG_BYTES] = bytes[ends..].try_into().ok()?;
        let body = bytes.get_mut(NONCE_BYTES..ends)?;
        self.cipher()
            .decrypt_inout_detached(
                &XNonce::from(nonce),
                kind.as_bytes(),
                (&mut *body).into(),
                &Tag::from(tag),
            )
            .ok()?;
        String::from_utf8(body.to_vec()).ok()
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&*self.subkey(CIPHER_TAG)).into())
    }
}

impl fmt::Debug for RedactKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

/// HMAC pads a shorter key with zeros to the block size.
fn keyed(key: &[u8; KEY_BYTES]) -> Hmac<Sha256> {
    let mut block = Zeroizing::new([0; HMAC_BLOCK_BYTES]);
    block[..KEY_BYTES].copy_from_slice(key);
    <Hmac<Sha256> as hmac::KeyInit>::new((&*block).into())
}
