//! Thought seeds: ideas that a model had on the way, and checks of its answers.

use std::fmt;
use std::sync::Arc;

use fathom_core::id::RunId;
use fathom_core::unit::Timestamp;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};
use serde::{Deserialize, Serialize};

use super::error::ChannelResult;
use super::sqlite::ChannelFile;

/// Maximum number of seeds listed at once.
pub const SEEDS_LISTED_MAX: u32 = 1_000;

/// Type of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeedKind {
    /// An idea for later.
    ThoughtSeed,
    /// A check whether an answer was right. Nothing in it to think about.
    Verify,
}

impl SeedKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::ThoughtSeed => "thought_seed",
            Self::Verify => "verify",
        }
    }
}

/// State of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeedState {
    /// Not reviewed.
    New,
    /// Reviewed.
    Reviewed,
    /// Deferred.
    Deferred,
}

impl SeedState {
    /// The state as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Reviewed => "reviewed",
            Self::Deferred => "deferred",
        }
    }

    fn read(word: &str) -> Self {
        match word {
            "reviewed" => Self::Reviewed,
            "deferred" => Self::Deferred,
            _ => Self::New,
        }
    }
}

impl fmt::Display for SeedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A seed to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSeed<'a> {
    /// Its id: run, episode and block.
    pub id: &'a str,
    /// The run that produced it.
    pub run: RunId,
    pub kind: SeedKind,
    /// The text. It is sealed under the key of its run.
    pub text: &'a str,
    pub created: Timestamp,
}

/// A stored seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThoughtSeed {
    pub id: String,
    /// The run that produced it.
    pub run: RunId,
    pub kind: SeedKind,
    /// The text; `None` if its run was shredded.
    pub text: Option<String>,
    pub state: SeedState,
    pub created: Timestamp,
}

/// The seeds of a home.
#[derive(Clone)]
pub struct SeedStore {
    pub(super) file: Arc<ChannelFile>,
}

impl fmt::Debug for SeedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seeds")
    }
}

const COLUMNS: &str = "id, run, kind, state, created_ms, text";

/// Order of rows.
#[derive(Clone, Copy)]
enum SeedOrder {
    OldestFirst,
    NewestFirst,
}

/// A row, with its text still sealed.
type SealedSeed = (ThoughtSeed, Vec<u8>);

fn row(row: &Row<'_>) -> rusqlite::Result<SealedSeed> {
    let kind: String = row.get(2)?;
    let state: String = row.get(3)?;
    let created: i64 = row.get(4)?;
    let seed = ThoughtSeed {
        id: row.get(0)?,
        run: RunId::from_bytes(row.get(1)?),
        kind: if kind == SeedKind::Verify.as_str() {
            SeedKind::Verify
        } else {
            SeedKind::ThoughtSeed
        },
        text: None,
        state: SeedState::read(&state),
        created: Timestamp(u64::try_from(created).unwrap_or_default()),
    };
    Ok((seed, row.get(5)?))
}

impl SeedStore {
    /// Stores a seed. An existing one of the same id is left as it is.
    pub fn add(&self, seed: &NewSeed<'_>) -> ChannelResult<()> {
        let sealed = self.file.seal(seed.run, seed.id, seed.text)?;
        self.file.write(|within| insert(within, seed, &sealed))
    }

    /// The oldest unreviewed idea with a readable text.
    pub fn next(&self) -> ChannelResult<Option<ThoughtSeed>> {
        let kind = SeedKind::ThoughtSeed;
        let found = self.rows(Some(SeedState::New), Some(kind), SeedOrder::OldestFirst)?;
        // The text of a shredded run stays closed for ever, so such a seed must not hold up the others.
        for sealed in found {
            let seed = self.opened(sealed)?;
            if seed.text.is_some() {
                return Ok(Some(seed));
            }
        }
        Ok(None)
    }

    /// Seeds of a state, or all, oldest first; if there are too many, the newest of them.
    pub fn list(&self, state: Option<SeedState>) -> ChannelResult<Vec<ThoughtSeed>> {
        let found = self.rows(state, None, SeedOrder::NewestFirst)?;
        found
            .into_iter()
            .rev()
            .map(|sealed| self.opened(sealed))
            .collect()
    }

    /// The seed with this id.
    pub fn get(&self, id: &str) -> ChannelResult<Option<ThoughtSeed>> {
        let query = format!("SELECT {COLUMNS} FROM seeds WHERE id = ?1");
        let found = self
            .file
            .read(|connection| connection.query_row(&query, [id], row).optional())?;
        found.map(|sealed| self.opened(sealed)).transpose()
    }

    /// Sets the state of a seed. Returns false if there is none with this id.
    pub fn mark(&self, id: &str, state: SeedState) -> ChannelResult<bool> {
        let update = "UPDATE seeds SET state = ?2 WHERE id = ?1";
        let changed = self
            .file
            .write(|within| within.execute(update, params![id, state.as_str()]))?;
        Ok(changed > 0)
    }

    /// Takes up a new seed; returns true for the first caller. It counts as deferred until there is a result,
    /// because the caller may be killed.
    pub fn take(&self, id: &str) -> ChannelResult<bool> {
        let update = "UPDATE seeds SET state = ?2 WHERE id = ?1 AND state = ?3";
        let (from, to) = (SeedState::New, SeedState::Deferred);
        let changed = self
            .file
            .write(|within| within.execute(update, params![id, to.as_str(), from.as_str()]))?;
        Ok(changed > 0)
    }

    /// Number of unreviewed ideas.
    pub fn waiting(&self) -> ChannelResult<u64> {
        let query = "SELECT count(*) FROM seeds WHERE state = ?1 AND kind = ?2";
        let values = [SeedState::New.as_str(), SeedKind::ThoughtSeed.as_str()];
        self.file
            .read(|connection| connection.query_row(query, values, |row| row.get(0)))
    }

    fn rows(
        &self,
        state: Option<SeedState>,
        kind: Option<SeedKind>,
        order: SeedOrder,
    ) -> ChannelResult<Vec<SealedSeed>> {
        let order = match order {
            SeedOrder::OldestFirst => "ASC",
            SeedOrder::NewestFirst => "DESC",
        };
        let query = format!(
            "SELECT {COLUMNS} FROM seeds WHERE (?1 IS NULL OR state = ?1) \
             AND (?2 IS NULL OR kind = ?2) ORDER BY seq {order} LIMIT ?3"
        );
        let (state, kind) = (state.map(SeedState::as_str), kind.map(SeedKind::as_str));
        self.file.read(|connection| {
            let mut statement = connection.prepare_cached(&query)?;
            let found = statement.query_map(params![state, kind, SEEDS_LISTED_MAX], row)?;
            found.collect()
        })
    }

    fn opened(&self, (seed, sealed): SealedSeed) -> ChannelResult<ThoughtSeed> {
        let text = self.file.open_text(seed.run, &seed.id, sealed)?;
        Ok(ThoughtSeed { text, ..seed })
    }
}

pub(super) fn insert(
    within: &Transaction<'_>,
    seed: &NewSeed<'_>,
    sealed: &[u8],
) -> rusqlite::Result<()> {
    let insert = "INSERT INTO seeds (id, run, kind, state, created_ms, text) \
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO NOTHING";
    let created = i64::try_from(seed.created.0).unwrap_or(i64::MAX);
    let values = params![
        seed.id,
        seed.run.as_bytes(),
        seed.kind.as_str(),
        SeedState::New.as_str(),
        created,
        sealed
    ];
    within.execute(insert, values).map(drop)
}
