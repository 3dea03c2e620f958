//! Sealing: each text of a record becomes an encrypted blob, and the record keeps the blob's address.
//!
//! Sealing is deterministic within a run: the nonce is a keyed hash of the text, so the same text gives the
//! same blob, a replay can compare addresses, and nothing is stored twice. Who lacks the run's key learns a
//! text's length, and whether two texts of one run are equal. Nothing links texts of different runs.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{KeyInit, Tag, XChaCha20Poly1305, XNonce};
use fathom_core::id::{Digest, RunId};
use fathom_core::journal::event::JournalRecord;
use fathom_core::text::{Text, VisitTexts};
use hmac::{Hmac, Mac};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::error::StoreError;

/// Largest text that can be sealed.
pub const TEXT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes of a run's key.
pub const KEY_BYTES: usize = 32;

// 24 bytes of a keyed hash: long enough that no two texts of a run ever share a nonce.
pub(crate) const NONCE_BYTES: usize = 24;
pub(crate) const TAG_BYTES: usize = 16;
// The block of SHA-256, which HMAC pads its key to.
const HMAC_BLOCK_BYTES: usize = 64;
// One tag, and so one subkey, per purpose: a nonce must not give anything away about the cipher's key.
const CIPHER_TAG: &[u8] = b"fathom/seal/1/cipher";
const NONCE_TAG: &[u8] = b"fathom/seal/1/nonce";

/// The secret that opens the texts of one run. Without it they are gone.
#[derive(Clone)]
pub struct RunKey(Zeroizing<[u8; KEY_BYTES]>);

impl RunKey {
    /// Draws a new key.
    pub fn generate() -> Result<Self, StoreError> {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        getrandom::fill(key.as_mut_slice()).map_err(|_| StoreError::NoRandomness)?;
        Ok(Self(key))
    }

    /// Takes a key that is known.
    pub fn from_bytes(bytes: [u8; KEY_BYTES]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// A keyed hash for one purpose.
    pub(crate) fn keyed(&self, tag: &[u8]) -> Hmac<Sha256> {
        keyed(&self.subkey(tag))
    }

    /// A cipher for one purpose.
    pub(crate) fn cipher(&self, tag: &[u8]) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&*self.subkey(tag)).into())
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
}

impl fmt::Debug for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunKey")
    }
}

/// A shorter key is filled up with zeros to a block: so HMAC defines it.
fn keyed(key: &[u8; KEY_BYTES]) -> Hmac<Sha256> {
    let mut block = Zeroizing::new([0; HMAC_BLOCK_BYTES]);
    block[..KEY_BYTES].copy_from_slice(key);
    <Hmac<Sha256> as hmac::KeyInit>::new((&*block).into())
}

/// An encrypted text, as it is stored: nonce, ciphertext and tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedBlob {
    /// The digest of the bytes.
    pub address: Digest,
    pub bytes: Vec<u8>,
}

/// The address under which bytes are stored.
pub fn address_of(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

/// Texts that were sealed lately. A prompt stands in the question of a cell, in what is measured and in what is sent.
#[derive(Debug, Default)]
pub struct SealCache {
    /// The newest last. Holding a text keeps its place in memory from being another's.
    lately: VecDeque<(Arc<str>, Digest)>,
}

impl SealCache {
    /// Maximum number of texts.
    const LATELY_MAX: usize = 32;

    /// Largest text that is remembered.
    const BYTES_MAX: usize = 64 << 10;

    fn address(&self, text: &Text) -> Option<Digest> {
        let text = text.shared()?;
        // Newest first: repetitions follow each other closely.
        let mut lately = self.lately.iter().rev();
        lately
            // By pointer: comparing long texts costs more than the lookup saves.
            .find(|(known, _)| Arc::ptr_eq(known, text))
            .map(|(_, address)| *address)
    }

    fn keep(&mut self, text: &Text, address: Digest) {
        let Some(text) = text.shared().filter(|text| text.len() <= Self::BYTES_MAX) else {
            return;
        };
        if self.lately.len() == Self::LATELY_MAX {
            self.lately.pop_front();
        }
        self.lately.push_back((Arc::clone(text), address));
    }
}

/// Seals and opens the texts of one run.
#[derive(Clone)]
pub struct TextSealer {
    run: RunId,
    cipher: XChaCha20Poly1305,
    nonces: Hmac<Sha256>,
}

impl fmt::Debug for TextSealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealer of {}", self.run)
    }
}

impl TextSealer {
    /// Works with the key of `run`.
    pub fn new(run: RunId, key: &RunKey) -> Self {
        Self {
            run,
            cipher: key.cipher(CIPHER_TAG),
            nonces: keyed(&key.subkey(NONCE_TAG)),
        }
    }

    /// The run whose texts these are.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// Seals every text of a record, whoever sealed it before, and gives the blobs to be stored with it. The
    /// plain texts stay in the record; only its encoding leaves them out.
    pub fn seal(&self, record: &mut JournalRecord) -> Result<Vec<SealedBlob>, StoreError> {
        self.seal_anew(record, &mut SealCache::default())
    }

    /// The same, without the blobs of texts that were sealed for an earlier record.
    pub fn seal_anew(
        &self,
        record: &mut JournalRecord,
        sealed: &mut SealCache,
    ) -> Result<Vec<SealedBlob>, StoreError> {
        let mut blobs = Vec::new();
        let mut addresses = HashSet::new();
        let mut outcome = Ok(());
        record.each_text(&mut |text| {
            if outcome.is_err() {
                return;
            }
            if let Some(address) = sealed.address(text) {
                // It may still carry the address of another run, under another key.
                text.unseal();
                text.seal(address);
                return;
            }
            let blob = self.seal_text(text);
            if let Ok(blob) = &blob {
                sealed.keep(text, blob.address);
            }
            match blob {
                Ok(blob) if addresses.insert(blob.address) => blobs.push(blob),
                Ok(_) => {}
                Err(error) => outcome = Err(error),
            }
        });
        outcome.map(|()| blobs)
    }

    /// Opens every text of a record that is closed. `fetch` looks a blob up by its address.
    pub fn open(
        &self,
        record: &mut JournalRecord,
        mut fetch: impl FnMut(&Digest) -> Result<Option<Vec<u8>>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut outcome = Ok(());
        record.each_text(&mut |text| {
            if outcome.is_ok() && text.is_closed() {
                outcome = self.open_text(text, &mut fetch);
            }
        });
        outcome
    }

    fn seal_text(&self, text: &mut Text) -> Result<SealedBlob, StoreError> {
        if text.is_closed() {
            return Err(StoreError::ClosedText);
        }
        let blob = self.encrypt(text.as_str())?;
        text.unseal();
        text.seal(blob.address);
        Ok(blob)
    }

    fn encrypt(&self, plain: &str) -> Result<SealedBlob, StoreError> {
        let too_large = StoreError::TooLarge {
            bytes: plain.len(),
            max: TEXT_BYTES_MAX,
        };
        if plain.len() > TEXT_BYTES_MAX {
            return Err(too_large);
        }
        let mac = self.nonces.clone().chain_update(plain).finalize();
        let mut nonce = [0; NONCE_BYTES];
        nonce.copy_from_slice(&mac.into_bytes()[..NONCE_BYTES]);

        let mut bytes = Vec::with_capacity(NONCE_BYTES + plain.len() + TAG_BYTES);
        bytes.extend_from_slice(&nonce);
        bytes.extend_from_slice(plain.as_bytes());
        let body = &mut bytes[NONCE_BYTES..];
        // The run is associated data: a blob that was moved to another run does not open there.
        let tag = self
            .cipher
            .encrypt_inout_detached(&XNonce::from(nonce), self.run.as_bytes(), body.into())
            .map_err(|_| too_large)?;
        bytes.extend_from_slice(&tag);
        Ok(SealedBlob {
            address: address_of(&bytes),
            bytes,
        })
    }

    fn open_text(
        &self,
        text: &mut Text,
        fetch: &mut impl FnMut(&Digest) -> Result<Option<Vec<u8>>, StoreError>,
    ) -> Result<(), StoreError> {
        let Some(address) = text.address() else {
            return Ok(());
        };
        let bytes = fetch(&address)?.ok_or(StoreError::MissingBlob { address })?;
        // Before decrypting, so that damage and a wrong key can be told apart.
        if address_of(&bytes) != address {
            return Err(StoreError::DamagedBlob { address });
        }
        text.open(self.decrypt(address, bytes)?);
        Ok(())
    }

    /// The bytes are what their address says, so only another key can make this fail.
    fn decrypt(&self, address: Digest, mut bytes: Vec<u8>) -> Result<String, StoreError> {
        let wrong_key = || StoreError::WrongKey { address };
        let tag: [u8; TAG_BYTES] = *bytes.last_chunk().ok_or_else(wrong_key)?;
        bytes.truncate(bytes.len() - TAG_BYTES);
        let nonce: [u8; NONCE_BYTES] = *bytes.first_chunk().ok_or_else(wrong_key)?;
        bytes.drain(..NONCE_BYTES);
        self.cipher
            .decrypt_inout_detached(
                &XNonce::from(nonce),
                self.run.as_bytes(),
                bytes.as_mut_slice().into(),
                &Tag::from(tag),
            )
            .map_err(|_| wrong_key())?;
        String::from_utf8(bytes).map_err(|_| StoreError::DamagedBlob { address })
    }
}
