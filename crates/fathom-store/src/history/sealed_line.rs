//! One record as one line: sealed under a key of the session, and bound to its place.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::record::{AuthTag, HistoryHead, HistoryLine};
use super::{HistoryError, RECORD_BYTES_MAX};
use crate::error::StoreError;
use crate::journal::seal::{NONCE_BYTES, RunKey, TAG_BYTES};

const PURPOSE: &[u8] = b"fathom/history/1";

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SealedLine {
    /// The record's number, counted from one: for people and for better errors. What counts is the place that
    /// it was sealed for.
    n: u64,
    /// Number of the session's key that sealed it, counted from one.
    pub(super) key: u32,
    /// Nonce, ciphertext and tag.
    sealed: String,
}

impl SealedLine {
    /// Parses a line without its line feed. Each has exactly one encoding, so no byte of it is free.
    pub(super) fn read(text: &[u8], line: u64) -> Result<Self, HistoryError> {
        let read: Option<Self> = serde_json::from_slice(text).ok();
        read.filter(|read| serde_json::to_vec(read).is_ok_and(|same| same == text))
            .ok_or(HistoryError::NotARecord { line })
    }
}

/// Seals and opens the lines of one session under one of its keys.
pub(super) struct LineSealer {
    session: String,
    pub(super) key: u32,
    cipher: XChaCha20Poly1305,
}

impl LineSealer {
    pub(super) fn new(session: &str, key: u32, secret: &RunKey) -> Self {
        Self {
            session: session.to_owned(),
            key,
            cipher: secret.cipher(PURPOSE),
        }
    }

    /// The line after `head`, with its line feed, and the head after it.
    pub(super) fn seal(
        &self,
        head: HistoryHead,
        record: &HistoryLine,
    ) -> Result<(Vec<u8>, HistoryHead), HistoryError> {
        let plain = serde_json::to_vec(record).map_err(|error| not_json(&error))?;
        let plain = Zeroizing::new(plain);
        let too_large = HistoryError::TooLarge {
            bytes: plain.len() as u64,
            max: RECORD_BYTES_MAX as u64,
        };
        if plain.len() > RECORD_BYTES_MAX {
            return Err(too_large);
        }
        // Random: every rotation seals the same records again under another key.
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|_| StoreError::NoRandomness)?;
        let mut sealed = [&nonce, plain.as_slice()].concat();
        let body = &mut sealed[NONCE_BYTES..];
        let tag = self
            .cipher
            .encrypt_inout_detached(&XNonce::from(nonce), &self.place(head), body.into())
            .map_err(|_| too_large)?;
        sealed.extend_from_slice(&tag);
        let head = HistoryHead {
            sequence: head.sequence + 1,
            tag: AuthTag(tag.into()),
        };
        let line = SealedLine {
            n: head.sequence,
            key: self.key,
            sealed: STANDARD.encode(sealed),
        };
        let mut line = serde_json::to_vec(&line).map_err(|error| not_json(&error))?;
        line.push(b'\n');
        Ok((line, head))
    }

    /// The record of the line after `head`, and the head after it.
    pub(super) fn open(
        &self,
        head: HistoryHead,
        line: &SealedLine,
    ) -> Result<(HistoryLine, HistoryHead), HistoryError> {
        let number = head.sequence + 1;
        if line.n != number {
            return Err(HistoryError::Moved {
                line: number,
                found: line.n,
            });
        }
        let changed = || HistoryError::Changed { line: number };
        let sealed = STANDARD.decode(&line.sealed).map_err(|_| changed())?;
        let mut sealed = Zeroizing::new(sealed);
        let (nonce, rest) = sealed
            .split_first_chunk_mut::<NONCE_BYTES>()
            .ok_or_else(changed)?;
        let (body, tag) = rest
            .split_last_chunk_mut::<TAG_BYTES>()
            .ok_or_else(changed)?;
        self.cipher
            .decrypt_inout_detached(
                &XNonce::from(*nonce),
                &self.place(head),
                (&mut *body).into(),
                &(*tag).into(),
            )
            .map_err(|_| changed())?;
        let record =
            serde_json::from_slice(body).map_err(|_| HistoryError::NotARecord { line: number })?;
        let head = HistoryHead {
            sequence: number,
            tag: AuthTag(*tag),
        };
        Ok((record, head))
    }

    /// Associated data of a line: session, number and, through the tag, all lines before it.
    fn place(&self, before: HistoryHead) -> Vec<u8> {
        [
            PURPOSE,
            &(self.session.len() as u64).to_be_bytes(),
            self.session.as_bytes(),
            &(before.sequence + 1).to_be_bytes(),
            &before.tag.0,
        ]
        .concat()
    }
}

fn not_json(error: &serde_json::Error) -> HistoryError {
    let what = error.to_string();
    StoreError::NotARecord { what }.into()
}
