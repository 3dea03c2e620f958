//! The file of channels, on `SQLite`. Texts in it are sealed under the keys of their runs.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use chacha20poly1305::XNonce;
use chacha20poly1305::aead::AeadInOut as _;
use fathom_core::id::RunId;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use zeroize::Zeroizing;

use super::error::{ChannelResult, ChannelStoreError};
use crate::error::StoreError;
use crate::journal::seal::{NONCE_BYTES, TAG_BYTES, TEXT_BYTES_MAX};
use crate::keys::KeyRing;
use crate::sqlite_file::shared::{self, SyncMode, make_tables};

const FORMAT: u64 = 1;

const CIPHER_TAG: &[u8] = b"fathom/channels/1/cipher";

/// Feed entries never change: a reader resumes after the last number it saw.
const TABLES: &str = "
CREATE TABLE deliveries (
    id TEXT NOT NULL,
    channel TEXT NOT NULL,
    state TEXT NOT NULL,
    begun INTEGER NOT NULL,
    sent INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (id, channel)
) STRICT, WITHOUT ROWID;
CREATE TABLE feed (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    channel TEXT NOT NULL,
    delivery TEXT NOT NULL,
    part INTEGER NOT NULL,
    run BLOB NOT NULL,
    at_ms INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (channel, delivery, part)
) STRICT;
CREATE INDEX feed_of_channel ON feed (channel, seq);
CREATE TRIGGER feed_stays_as_it_is BEFORE UPDATE ON feed
BEGIN SELECT RAISE(ABORT, 'what was said is never changed'); END;
CREATE TRIGGER feed_stays BEFORE DELETE ON feed
BEGIN SELECT RAISE(ABORT, 'what was said is never removed'); END;
CREATE TABLE seeds (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    run BLOB NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    text BLOB NOT NULL
) STRICT;
CREATE INDEX seeds_by_state ON seeds (state, kind, seq);
";

pub(super) struct ChannelFile {
    path: PathBuf,
    connection: Mutex<Connection>,
    keys: KeyRing,
}

impl ChannelFile {
    /// Uses the file, which is made when it is not there.
    pub(super) fn open(path: &Path, keys: KeyRing) -> ChannelResult<Self> {
        let connection = shared::open(path, SyncMode::PowerCut)
            .map_err(|error| ChannelStoreError::file(path, error))?;
        let file = Self {
            path: path.to_owned(),
            connection: Mutex::new(connection),
            keys,
        };
        let found = file.write(|within| make_tables(within, TABLES, FORMAT))?;
        if found != FORMAT {
            return Err(ChannelStoreError::NewerFormat {
                found,
                known: FORMAT,
            });
        }
        Ok(file)
    }

    /// Reads from the tables.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> ChannelResult<T> {
        let connection = self.connection.lock();
        let connection = connection.unwrap_or_else(PoisonError::into_inner);
        work(&connection).map_err(|error| ChannelStoreError::file(&self.path, error))
    }

    /// Writes all or nothing, excluding other writers.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> ChannelResult<T> {
        let connection = self.connection.lock();
        let mut connection = connection.unwrap_or_else(PoisonError::into_inner);
        let whole = || {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        whole().map_err(|error: rusqlite::Error| ChannelStoreError::file(&self.path, error))
    }

    /// Seals a text under the key of its run, bound to its place.
    pub(super) fn seal(&self, run: RunId, place: &str, text: &str) -> ChannelResult<Vec<u8>> {
        self.sealed(run, place, text)
            .map_err(|error| ChannelStoreError::file(&self.path, error))
    }

    fn sealed(
        &self,
        run: RunId,
        place: &str,
        text: &str,
    ) -> std::result::Result<Vec<u8>, StoreError> {
        let key = self.keys.run_key(run)?;
        let key = key.ok_or(StoreError::UnknownRun { run })?;
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|_| StoreError::NoRandomness)?;
        let mut sealed = [&nonce, text.as_bytes()].concat();
        let tag = key
            .cipher(CIPHER_TAG)
            .encrypt_inout_detached(
                &XNonce::from(nonce),
                place.as_bytes(),
                (&mut sealed[NONCE_BYTES..]).into(),
            )
            .map_err(|_| StoreError::TooLarge {
                bytes: text.len(),
                max: TEXT_BYTES_MAX,
            })?;
        sealed.extend_from_slice(&tag);
        Ok(sealed)
    }

    /// The text; `None` if its run was shredded, or if it was altered.
    pub(super) fn open_text(
        &self,
        run: RunId,
        place: &str,
        sealed: Vec<u8>,
    ) -> ChannelResult<Option<String>> {
        let key = self.keys.run_key(run);
        let key = key.map_err(|error| ChannelStoreError::file(&self.path, error))?;
        let mut sealed = Zeroizing::new(sealed);
        let opened = key.and_then(|key| {
            let (nonce, rest) = sealed.split_first_chunk_mut::<NONCE_BYTES>()?;
            let (body, tag) = rest.split_last_chunk_mut::<TAG_BYTES>()?;
            let cipher = key.cipher(CIPHER_TAG);
            let opened = cipher.decrypt_inout_detached(
                &XNonce::from(*nonce),
                place.as_bytes(),
                (&mut *body).into(),
                &(*tag).into(),
            );
            opened.ok()?;
            String::from_utf8(body.to_vec()).ok()
        });
        Ok(opened)
    }
}
