//! Rows on a Redis server.
//!
//! Under the prefix: `seq` counts the rows, `rows` has them by number, `newest:KIND` has ids with the number of their newest row,
//! `versions:KIND:ID` has the numbers of all its rows, `applied` has the keys of requests with the number of the row they wrote,
//! `vectors` has embeddings by the number of their row.
//! Every commit watches and sets `seq`, so commits stand in one order and each is whole.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use redis::{
    Client, Connection, ConnectionInfo, ErrorKind, FromRedisValue, IntoConnectionInfo as _,
    RedisError, RedisResult, cmd, pipe,
};
use sha2::{Digest as _, Sha256};

use super::backend::{
    BackendResult, FORMAT, RowCommit, RowDraft, RowKind, SymbolBackend, SymbolRow, TRIES_MAX,
    bytes_of, numbers_of,
};
use super::error::SymbolStoreError;

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(3);

/// Longest wait for an answer.
const ANSWER: Duration = Duration::from_secs(10);

/// Longest prefix, in bytes.
const PREFIX_BYTES_MAX: usize = 64;

/// Rows that are asked for at once.
const PAGE: usize = 1_000;

/// Address, credentials and key prefix of the symbols on a Redis server.
#[derive(Clone)]
pub struct RedisAddress {
    info: ConnectionInfo,
    prefix: String,
}

impl RedisAddress {
    /// Reads `redis://user:password@host:port/database`. All keys begin with `prefix`.
    pub fn parse(url: &str, prefix: &str) -> BackendResult<Self> {
        let wrong = |what: &str| SymbolStoreError::Address { what: what.into() };
        if prefix.is_empty()
            || prefix.len() > PREFIX_BYTES_MAX
            || prefix.chars().any(char::is_control)
        {
            return Err(wrong("the key prefix is empty, too long or not printable"));
        }
        // What the parser says is left out: it may repeat the password.
        let info = url
            .into_connection_info()
            .map_err(|_| wrong("malformed URL"))?;
        Ok(Self {
            info,
            prefix: prefix.to_owned(),
        })
    }

    /// The server, without user and password.
    pub fn place(&self) -> String {
        self.info.addr().to_string()
    }
}

impl fmt::Debug for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisAddress")
            .field("place", &self.place())
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

pub(super) struct RedisRows {
    client: Client,
    place: String,
    prefix: String,
    /// None before the first request, and after one that failed.
    connection: Mutex<Option<Connection>>,
}

impl RedisRows {
    pub(super) fn open(address: &RedisAddress) -> BackendResult<Self> {
        let client =
            Client::open(address.info.clone()).map_err(|error| said(&address.place(), error))?;
        let rows = Self {
            client,
            place: address.place(),
            prefix: address.prefix.clone(),
            connection: Mutex::new(None),
        };
        let found: Option<u64> =
            rows.with(|connection| cmd("GET").arg(rows.name("format")).query(connection))?;
        match found {
            Some(found) if found != FORMAT => Err(SymbolStoreError::NewerFormat {
                found,
                known: FORMAT,
            }),
            Some(_) | None => Ok(rows),
        }
    }

    fn name(&self, part: &str) -> String {
        format!("{}:{part}", self.prefix)
    }

    fn name_of_newest(&self, kind: RowKind) -> String {
        format!("{}:newest:{}", self.prefix, kind.name())
    }

    fn name_of_versions(&self, kind: RowKind, id: &str) -> String {
        format!("{}:versions:{}:{id}", self.prefix, kind.name())
    }

    /// Works on a usable connection. One that broke since the last request is replaced; one that breaks now is
    /// an error, since its effect is unknown.
    fn with<T>(&self, work: impl FnOnce(&mut Connection) -> RedisResult<T>) -> BackendResult<T> {
        let mut kept = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Taken out: a connection that fails may still deliver the answer to an old request.
        let done = self.usable(kept.take()).and_then(|mut connection| {
            let done = work(&mut connection)?;
            Ok((done, connection))
        });
        let (done, connection) = done.map_err(|error| said(&self.place, error))?;
        *kept = Some(connection);
        Ok(done)
    }

    fn usable(&self, kept: Option<Connection>) -> RedisResult<Connection> {
        if let Some(mut connection) = kept
            && cmd("PING").exec(&mut connection).is_ok()
        {
            return Ok(connection);
        }
        let connection = self.client.get_connection_with_timeout(CONNECT)?;
        connection.set_read_timeout(Some(ANSWER))?;
        connection.set_write_timeout(Some(ANSWER))?;
        Ok(connection)
    }

    /// Values of a hash for fields, in their order. Redis refuses a request for none.
    fn fields<T: FromRedisValue>(
        &self,
        connection: &mut Connection,
        hash: &str,
        seqs: &[u64],
    ) -> RedisResult<Vec<Option<T>>> {
        let mut found = Vec::with_capacity(seqs.len());
        for page in seqs.chunks(PAGE) {
            let values: Vec<Option<T>> = cmd("HMGET")
                .arg(self.name(hash))
                .arg(page)
                .query(connection)?;
            found.extend(values);
        }
        Ok(found)
    }

    fn rows(&self, connection: &mut Connection, seqs: &[u64]) -> RedisResult<Vec<SymbolRow>> {
        let texts: Vec<Option<String>> = self.fields(connection, "rows", seqs)?;
        let rows = texts.iter().map(|text| {
            // Not JSON, so that a missing row ends up as a damaged one.
            let text = text.as_deref().unwrap_or("a row is missing");
            serde_json::from_str(text).map_err(|_| damaged("a row cannot be read"))
        });
        rows.collect()
    }

    fn newest_seqs(
        &self,
        connection: &mut Connection,
        kind: RowKind,
        ids: &[&str],
    ) -> RedisResult<Vec<Option<u64>>> {
        let mut found = Vec::with_capacity(ids.len());
        for page in ids.chunks(PAGE) {
            let scores: Vec<Option<u64>> = cmd("ZMSCORE")
                .arg(self.name_of_newest(kind))
                .arg(page)
                .query(connection)?;
            found.extend(scores);
        }
        Ok(found)
    }

    /// True if each draft follows the newest row of its id, and none of the keys was applied.
    fn is_fresh(&self, connection: &mut Connection, drafts: &[RowDraft]) -> RedisResult<bool> {
        for kind in RowKind::ALL {
            let of_kind: Vec<&RowDraft> =
                drafts.iter().filter(|draft| draft.kind == kind).collect();
            let ids: Vec<&str> = of_kind.iter().map(|draft| draft.id.as_str()).collect();
            let newest = self.newest_seqs(connection, kind, &ids)?;
            let follows = of_kind
                .iter()
                .map(|draft| draft.follows.map(|before| before.seq));
            if !follows.eq(newest) {
                return Ok(false);
            }
        }
        for by in drafts.iter().filter_map(|draft| draft.by.as_ref()) {
            let applied: bool = cmd("HEXISTS")
                .arg(self.name("applied"))
                .arg(&by.key)
                .query(connection)?;
            if applied {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds rows and everything that refers to them at once; `None` if another commit came in between.
    fn write(
        &self,
        connection: &mut Connection,
        drafts: &[RowDraft],
        rows: &[SymbolRow],
    ) -> RedisResult<Option<()>> {
        let mut all = pipe();
        all.atomic();
        all.cmd("SET").arg(self.name("format")).arg(FORMAT);
        if let Some(last) = rows.last() {
            all.cmd("SET").arg(self.name("seq")).arg(last.seq);
        }
        for (draft, row) in drafts.iter().zip(rows) {
            let text = serde_json::to_string(row).map_err(|_| damaged("a row is no JSON"))?;
            all.cmd("HSET")
                .arg(self.name("rows"))
                .arg(row.seq)
                .arg(text);
            all.cmd("ZADD")
                .arg(self.name_of_newest(row.kind))
                .arg(row.seq)
                .arg(&row.id);
            all.cmd("RPUSH")
                .arg(self.name_of_versions(row.kind, &row.id))
                .arg(row.seq);
            if let Some(by) = &row.by {
                all.cmd("HSET")
                    .arg(self.name("applied"))
                    .arg(&by.key)
                    .arg(row.seq);
            }
            if let Some(before) = draft.follows {
                // Only the newest version of a symbol is searched.
                all.cmd("HDEL").arg(self.name("vectors")).arg(before.seq);
            }
            if let Some(vector) = &draft.vector {
                all.cmd("HSET")
                    .arg(self.name("vectors"))
                    .arg(row.seq)
                    .arg(tagged(&vector.model, &vector.numbers));
            }
        }
        let done: Option<Vec<redis::Value>> = all.query(connection)?;
        Ok(done.map(|_| ()))
    }
}

/// A vector prefixed with the hash of its model's name.
fn tagged(model: &str, numbers: &[f32]) -> Vec<u8> {
    let mut bytes = Sha256::digest(model).to_vec();
    bytes.extend(bytes_of(numbers));
    bytes
}

fn damaged(what: &'static str) -> RedisError {
    (ErrorKind::Parse, what).into()
}

/// Classifies an error of the client or the server. None of it repeats the address.
fn said(place: &str, error: RedisError) -> SymbolStoreError {
    let place = place.to_owned();
    let kind = error.kind();
    let code = error.code().map(ToOwned::to_owned);
    let mut what = error.to_string();
    // A transaction that was given up says why in the errors of its commands.
    let inner = error.into_server_errors();
    let first = inner.as_ref().and_then(|errors| errors.first());
    let code = first.map_or(code, |(_, error)| Some(error.code().to_owned()));
    if let Some((_, error)) = first {
        what = format!("{} {}", error.code(), error.details().unwrap_or_default());
    }
    match (kind, code.as_deref()) {
        (_, Some("NOAUTH" | "WRONGPASS" | "NOPERM")) | (ErrorKind::AuthenticationFailed, _) => {
            SymbolStoreError::Denied { place, what }
        }
        (_, Some("WRONGTYPE")) | (ErrorKind::Parse | ErrorKind::UnexpectedReturnType, _) => {
            SymbolStoreError::Damaged { what }
        }
        (ErrorKind::Io, _) => SymbolStoreError::Unreachable { place, what },
        _ => SymbolStoreError::Refused { place, what },
    }
}

impl SymbolBackend for RedisRows {
    fn applied(&self, key: &str) -> BackendResult<Option<SymbolRow>> {
        self.with(|connection| {
            let seq: Option<u64> = cmd("HGET")
                .arg(self.name("applied"))
                .arg(key)
                .query(connection)?;
            Ok(self.rows(connection, seq.as_slice())?.pop())
        })
    }

    fn newest(&self, kind: RowKind, ids: &[&str]) -> BackendResult<Vec<Option<SymbolRow>>> {
        self.with(|connection| {
            let seqs = self.newest_seqs(connection, kind, ids)?;
            let known: Vec<u64> = seqs.iter().flatten().copied().collect();
            let mut rows = self.rows(connection, &known)?.into_iter();
            let rows = seqs.iter().map(|seq| seq.and_then(|_| rows.next()));
            Ok(rows.collect())
        })
    }

    fn after(&self, kind: RowKind, seq: u64, max: usize) -> BackendResult<Vec<SymbolRow>> {
        self.with(|connection| {
            let found: Vec<(String, u64)> = cmd("ZRANGE")
                .arg(self.name_of_newest(kind))
                .arg(format!("({seq}"))
                .arg("+inf")
                .arg("BYSCORE")
                .arg("LIMIT")
                .arg(0)
                .arg(max)
                .arg("WITHSCORES")
                .query(connection)?;
            let seqs: Vec<u64> = found.into_iter().map(|(_, seq)| seq).collect();
            self.rows(connection, &seqs)
        })
    }

    fn versions(&self, kind: RowKind, id: &str) -> BackendResult<Vec<SymbolRow>> {
        self.with(|connection| {
            let key = self.name_of_versions(kind, id);
            let seqs: Vec<u64> = cmd("LRANGE").arg(key).arg(0).arg(-1).query(connection)?;
            self.rows(connection, &seqs)
        })
    }

    fn commit(&self, drafts: &[RowDraft]) -> BackendResult<RowCommit> {
        self.with(|connection| {
            for _ in 0..TRIES_MAX {
                cmd("WATCH").arg(self.name("seq")).exec(connection)?;
                // `seq` is watched before anything is read: every commit changes it.
                let last: Option<u64> = cmd("GET").arg(self.name("seq")).query(connection)?;
                if !self.is_fresh(connection, drafts)? {
                    cmd("UNWATCH").exec(connection)?;
                    break;
                }
                let seqs = last.unwrap_or(0) + 1..;
                let rows: Vec<SymbolRow> = drafts
                    .iter()
                    .zip(seqs)
                    .map(|(draft, seq)| draft.row(seq))
                    .collect();
                if self.write(connection, drafts, &rows)?.is_some() {
                    return Ok(RowCommit::Done(rows));
                }
            }
            Ok(RowCommit::Stale)
        })
    }

    fn vectors(&self, model: &str, seqs: &[u64]) -> BackendResult<Vec<Option<Vec<f32>>>> {
        let tag = Sha256::digest(model);
        let found = self.with(|connection| self.fields::<Vec<u8>>(connection, "vectors", seqs))?;
        let vectors = found.into_iter().map(|bytes| {
            let bytes = bytes?;
            numbers_of(bytes.strip_prefix(tag.as_slice())?)
        });
        Ok(vectors.collect())
    }

    fn keep_vectors(&self, model: &str, vectors: &[(u64, Vec<f32>)]) -> BackendResult<()> {
        self.with(|connection| {
            let mut all = pipe();
            for (seq, numbers) in vectors {
                all.cmd("HSET")
                    .arg(self.name("vectors"))
                    .arg(*seq)
                    .arg(tagged(model, numbers));
            }
            if vectors.is_empty() {
                Ok(())
            } else {
                all.exec(connection)
            }
        })
    }
}
