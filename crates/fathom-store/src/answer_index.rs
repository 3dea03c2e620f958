//! Index of earlier answers in the journal, which contains no answer itself.
//!
//! Requests and scopes are known by keyed hashes, so the index tells nobody what was asked; the answer is read from the
//! journal with the key of the run that gave it. A shredded run's answers are gone with its key.

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fathom_core::id::{AskId, EpisodeId, RunId};
use fathom_core::model::ModelRequest;
use fathom_core::unit::{Millis, Timestamp};
use hmac::Mac;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::error::StoreError;
use crate::journal::seal::RunKey;
use crate::sqlite_file::cache;

/// Maximum number of indexed answers; the oldest are dropped.
pub const ANSWERS_MAX: u32 = 20_000;

/// Maximum age of a reused answer: models change behind their names.
pub const ANSWER_AGE_MAX: Millis = Millis(30 * 86_400_000);

/// Maximum number of answers of one scope that are compared with a question.
const COMPARED_MAX: u32 = 2_000;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS answers (
    key BLOB PRIMARY KEY,
    scope BLOB NOT NULL,
    run BLOB NOT NULL,
    episode TEXT NOT NULL,
    ask INTEGER NOT NULL,
    given_at INTEGER NOT NULL,
    question BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS answers_by_scope ON answers (scope, given_at);
CREATE INDEX IF NOT EXISTS answers_by_age ON answers (given_at);
";

/// Knows a request, or what must be the same beside a question, without telling what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerKey([u8; 32]);

/// Position of an answer in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerPlace {
    pub run: RunId,
    pub episode: EpisodeId,
    pub ask: AskId,
}

/// An answer to be indexed.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedAnswer {
    /// The request it answers.
    pub key: AnswerKey,
    /// Everything that must be equal for it to answer a similar question.
    pub scope: AnswerKey,
    pub place: AnswerPlace,
    pub at: Timestamp,
    /// The question as a vector, if similar questions may reuse the answer.
    pub question: Option<Vec<f32>>,
}

/// The index.
pub struct AnswerIndex {
    connection: Mutex<Connection>,
    secret: RunKey,
}

impl fmt::Debug for AnswerIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answers")
    }
}

impl AnswerIndex {
    /// Opens the index in a file.
    pub(crate) fn open(path: &Path, secret: RunKey) -> Result<Self, StoreError> {
        Ok(Self {
            connection: Mutex::new(cache::open(path, TABLES)?),
            secret,
        })
    }

    /// The key of a request to a model: everything that the model sees or is held to.
    pub fn key(&self, model: &str, request: &ModelRequest) -> AnswerKey {
        let mut hash = self.secret.keyed(b"fathom/answers/1/request");
        // Length before content, or bytes could move from one part to the next without changing the key.
        let mut part = |bytes: &[u8]| {
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(model.as_bytes());
        request.each_part(&mut part);
        AnswerKey(hash.finalize().into_bytes().into())
    }

    /// The key of everything that must be equal for an answer of this model to serve a similar question.
    pub fn scope(&self, model: &str, scope: &str) -> AnswerKey {
        let mut hash = self.secret.keyed(b"fathom/answers/1/scope");
        hash.update(&(model.len() as u64).to_le_bytes());
        hash.update(model.as_bytes());
        hash.update(scope.as_bytes());
        AnswerKey(hash.finalize().into_bytes().into())
    }

    /// Position of the answer to exactly this request.
    pub fn find(&self, key: &AnswerKey, now: Timestamp) -> Result<Option<AnswerPlace>, StoreError> {
        let query = "SELECT run, episode, ask FROM answers WHERE key = ?1 AND given_at >= ?2";
        let found = self
            .lock()
            .query_row(query, params![key.0, oldest(now)], place)
            .optional()?;
        Ok(found.flatten())
    }

    /// Vectors of the questions of this scope, newest first, and the positions of their answers.
    pub fn questions(
        &self,
        scope: &AnswerKey,
        now: Timestamp,
    ) -> Result<Vec<(Vec<f32>, AnswerPlace)>, StoreError> {
        let query = "SELECT run, episode, ask, question FROM answers \
                     WHERE scope = ?1 AND given_at >= ?2 AND question IS NOT NULL \
                     ORDER BY given_at DESC LIMIT ?3";
        let connection = self.lock();
        let mut statement = connection.prepare_cached(query)?;
        let rows = statement.query_map(params![scope.0, oldest(now), COMPARED_MAX], |row| {
            Ok((vector(&row.get::<_, Vec<u8>>(3)?), place(row)?))
        })?;
        let mut found = Vec::new();
        for row in rows {
            if let (vector, Some(place)) = row? {
                found.push((vector, place));
            }
        }
        Ok(found)
    }

    /// Indexes an answer. It replaces an older one to the same request.
    pub fn keep(&self, answer: &IndexedAnswer) -> Result<(), StoreError> {
        let insert = "INSERT OR REPLACE INTO answers (key, scope, run, episode, ask, given_at, question) \
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let question = answer.question.as_deref().map(bytes);
        let AnswerPlace { run, episode, ask } = &answer.place;
        let connection = self.lock();
        connection.prepare_cached(insert)?.execute(params![
            answer.key.0,
            answer.scope.0,
            run.as_bytes(),
            episode.to_string(),
            ask.0,
            millis(answer.at),
            question,
        ])?;
        let forget = "DELETE FROM answers WHERE given_at < \
                      (SELECT given_at FROM answers ORDER BY given_at DESC LIMIT 1 OFFSET ?1)";
        connection.prepare_cached(forget)?.execute([ANSWERS_MAX])?;
        Ok(())
    }

    /// Removes an answer that turned out to be missing.
    pub fn forget(&self, place: &AnswerPlace) -> Result<(), StoreError> {
        let delete = "DELETE FROM answers WHERE run = ?1 AND episode = ?2 AND ask = ?3";
        let AnswerPlace { run, episode, ask } = place;
        self.lock()
            .execute(delete, params![run.as_bytes(), episode.to_string(), ask.0])?;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The position in a row; `None` if the row is malformed.
fn place(row: &Row<'_>) -> rusqlite::Result<Option<AnswerPlace>> {
    let (run, episode, ask): (_, String, _) = (row.get(0)?, row.get(1)?, row.get(2)?);
    Ok(episode.parse().ok().map(|episode| AnswerPlace {
        run: RunId::from_bytes(run),
        episode,
        ask: AskId(ask),
    }))
}

fn oldest(now: Timestamp) -> i64 {
    millis(now).saturating_sub(i64::try_from(ANSWER_AGE_MAX.0).unwrap_or(i64::MAX))
}

fn millis(at: Timestamp) -> i64 {
    i64::try_from(at.0).unwrap_or(i64::MAX)
}

fn bytes(vector: &[f32]) -> Vec<u8> {
    vector
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn vector(bytes: &[u8]) -> Vec<f32> {
    let (values, _) = bytes.as_chunks::<4>();
    values
        .iter()
        .map(|value| f32::from_le_bytes(*value))
        .collect()
}
