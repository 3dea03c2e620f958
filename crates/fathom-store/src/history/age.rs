//! Writes the format of age-encryption.org, version 1, for X25519 recipients. Nothing here reads it: that is for whoever
//! holds an identity.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bech32::Bech32;
use bech32::primitives::decode::CheckedHrpstring;
use chacha20poly1305::aead::AeadInOut as _;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit as _, Nonce};
use curve25519_dalek::MontgomeryPoint;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

const VERSION: &str = "age-encryption.org/v1";
const WRAP_INFO: &[u8] = b"age-encryption.org/v1/X25519";

/// How much is sealed at a time, and so how much a reader must hold before it may trust it.
const CHUNK_BYTES: usize = 64 * 1024;
const FILE_KEY_BYTES: usize = 16;
const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 16;
const HMAC_BLOCK_BYTES: usize = 64;

type Key = Zeroizing<[u8; KEY_BYTES]>;

/// Somebody who will be able to read, as `age1…`.
#[derive(Clone, Copy)]
pub(super) struct Recipient(MontgomeryPoint);

impl Recipient {
    /// Reads a recipient; none for what cannot be one.
    pub(super) fn read(text: &str) -> Option<Self> {
        let checked = CheckedHrpstring::new::<Bech32>(text).ok()?;
        // In capitals it would be another spelling of the same key, which age does not know.
        if checked.hrp().as_str() != "age" {
            return None;
        }
        let key: Vec<u8> = checked.byte_iter().collect();
        Some(Self(MontgomeryPoint(key.try_into().ok()?)))
    }

    /// Wraps the file key; none for a recipient with which every secret is the same.
    fn wrap(self, file_key: &[u8; FILE_KEY_BYTES], secret: &Key) -> io::Result<Option<String>> {
        let share = MontgomeryPoint::mul_base_clamped(**secret);
        let shared = Zeroizing::new(self.0.mul_clamped(**secret).to_bytes());
        if shared.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let mut salt = [0; 2 * KEY_BYTES];
        salt[..KEY_BYTES].copy_from_slice(share.as_bytes());
        salt[KEY_BYTES..].copy_from_slice(self.0.as_bytes());
        let key = derive(&*shared, &salt, WRAP_INFO);
        let mut body = file_key.to_vec();
        // The key is used once, so the nonce needs not differ.
        seal(
            &ChaCha20Poly1305::new((&*key).into()),
            &[0; 12].into(),
            &mut body,
        )?;
        Ok(Some(format!(
            "-> X25519 {}\n{}\n",
            STANDARD_NO_PAD.encode(share.as_bytes()),
            STANDARD_NO_PAD.encode(&body),
        )))
    }
}

/// What is drawn by chance for one file, and must never be used for another.
pub(super) struct Drawn {
    file_key: Zeroizing<[u8; FILE_KEY_BYTES]>,
    /// One for each recipient.
    secrets: Vec<Key>,
    nonce: [u8; NONCE_BYTES],
}

impl Drawn {
    pub(super) fn draw(recipients: usize) -> io::Result<Self> {
        let mut drawn = Self {
            file_key: Zeroizing::default(),
            secrets: vec![Key::default(); recipients],
            nonce: [0; NONCE_BYTES],
        };
        fill(drawn.file_key.as_mut_slice())?;
        for secret in &mut drawn.secrets {
            fill(secret.as_mut_slice())?;
        }
        fill(&mut drawn.nonce)?;
        Ok(drawn)
    }
}

fn fill(bytes: &mut [u8]) -> io::Result<()> {
    getrandom::fill(bytes).map_err(io::Error::other)
}

/// The head of a file; none where there is no recipient, or one that cannot keep a secret.
pub(super) fn head(recipients: &[Recipient], drawn: &Drawn) -> io::Result<Option<String>> {
    if recipients.is_empty() {
        return Ok(None);
    }
    let mut head = format!("{VERSION}\n");
    for (recipient, secret) in recipients.iter().zip(&drawn.secrets) {
        match recipient.wrap(&drawn.file_key, secret)? {
            Some(stanza) => head.push_str(&stanza),
            None => return Ok(None),
        }
    }
    head.push_str("---");
    let key = derive(&*drawn.file_key, &[], b"header");
    let tag = keyed(&*key).chain_update(&head).finalize().into_bytes();
    head.extend([" ", &STANDARD_NO_PAD.encode(tag), "\n"]);
    Ok(Some(head))
}

/// Seals all that is written to it, chunk by chunk. What is not finished does not open: only the last chunk says that it
/// is the last.
pub(super) struct Body<W> {
    out: W,
    cipher: ChaCha20Poly1305,
    chunks: u64,
    held: Vec<u8>,
}

impl<W: Write> Body<W> {
    /// Writes the nonce, which stands before the first chunk.
    pub(super) fn begin(mut out: W, drawn: &Drawn) -> io::Result<Self> {
        out.write_all(&drawn.nonce)?;
        let key = derive(&*drawn.file_key, &drawn.nonce, b"payload");
        Ok(Self {
            out,
            cipher: ChaCha20Poly1305::new((&*key).into()),
            chunks: 0,
            held: Vec::with_capacity(CHUNK_BYTES + 16),
        })
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.chunk(true)?;
        Ok(self.out)
    }

    fn chunk(&mut self, is_last: bool) -> io::Result<()> {
        // Eleven bytes count, the twelfth says that nothing follows.
        let mut nonce = [0; 12];
        nonce[3..11].copy_from_slice(&self.chunks.to_be_bytes());
        nonce[11] = u8::from(is_last);
        seal(&self.cipher, &nonce.into(), &mut self.held)?;
        self.out.write_all(&self.held)?;
        self.held.clear();
        self.chunks += 1;
        Ok(())
    }
}

impl<W: Write> Write for Body<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full chunk waits for a byte more: the last one must be known as the last.
        if self.held.len() == CHUNK_BYTES && !bytes.is_empty() {
            self.chunk(false)?;
        }
        let taken = bytes.len().min(CHUNK_BYTES - self.held.len());
        self.held.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Seals `held` where it lies and puts the tag behind it.
fn seal(cipher: &ChaCha20Poly1305, nonce: &Nonce, held: &mut Vec<u8>) -> io::Result<()> {
    let tag = cipher
        .encrypt_inout_detached(nonce, b"", held.as_mut_slice().into())
        .map_err(io::Error::other)?;
    held.extend_from_slice(&tag);
    Ok(())
}

/// HKDF with SHA-256 (RFC 5869), up to the one block that is wanted everywhere here.
fn derive(secret: &[u8], salt: &[u8], info: &[u8]) -> Key {
    let extracted: Key = Zeroizing::new(
        keyed(salt)
            .chain_update(secret)
            .finalize()
            .into_bytes()
            .into(),
    );
    let expanded = keyed(&*extracted).chain_update(info).chain_update([1]);
    Zeroizing::new(expanded.finalize().into_bytes().into())
}

/// A keyed hash. HMAC fills up a shorter key with zeros; none here is longer than a block.
fn keyed(key: &[u8]) -> Hmac<Sha256> {
    let mut block = Zeroizing::new([0; HMAC_BLOCK_BYTES]);
    let bytes = key.len().min(HMAC_BLOCK_BYTES);
    block[..bytes].copy_from_slice(&key[..bytes]);
    <Hmac<Sha256> as hmac::KeyInit>::new((&*block).into())
}

#[cfg(test)]
#[path = "age_tests.rs"]
mod tests;
