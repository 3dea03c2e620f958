//! Deliveries, append-only feeds, and thought seeds.
//!
//! A delivery is identified by run, episode and block. Entries of a feed and seeds are written together with
//! the note that the delivery is done: however often it comes, they are there once. For external channels the
//! start is recorded first, so that after a crash it is known what may have been sent.

mod error;
mod seeds;
mod sqlite;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use fathom_core::id::RunId;
use fathom_core::unit::Timestamp;
use rusqlite::{OptionalExtension as _, Transaction, params};
use serde::Serialize;

pub use error::ChannelStoreError;
pub use seeds::{NewSeed, SEEDS_LISTED_MAX, SeedKind, SeedState, SeedStore, ThoughtSeed};

use crate::keys::KeyRing;
use error::ChannelResult;
use sqlite::ChannelFile;

/// Maximum number of feed entries read at once.
pub const FEED_READ_MAX: u32 = 1_000;

/// A delivery to one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryId<'a> {
    /// Run, episode and block.
    pub id: &'a str,
    pub channel: &'a str,
}

/// Progress of a delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryProgress {
    /// True if nothing is left to do.
    pub is_over: bool,
    /// Number of messages started.
    pub begun: u32,
    /// Time of the last start.
    pub begun_at: Timestamp,
    /// Number of messages known to have arrived.
    pub sent: u32,
}

/// An entry of a feed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FeedEntry {
    /// Its number, which only grows. A reader resumes after the last one it saw.
    pub seq: u64,
    pub run: RunId,
    pub at: Timestamp,
    /// The filtered text; `None` if its run was shredded.
    pub body: Option<String>,
}

/// Deliveries, feeds and seeds of a home.
#[derive(Clone)]
pub struct ChannelStore {
    file: Arc<ChannelFile>,
}

impl fmt::Debug for ChannelStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Channels")
    }
}

impl ChannelStore {
    /// Opens the file, or creates it.
    pub(crate) fn open(path: &Path, keys: KeyRing) -> ChannelResult<Self> {
        let file = Arc::new(ChannelFile::open(path, keys)?);
        Ok(Self { file })
    }

    /// The thought seeds.
    pub fn seeds(&self) -> SeedStore {
        SeedStore {
            file: Arc::clone(&self.file),
        }
    }

    /// Progress of a delivery; zero if it was never started.
    pub fn progress(&self, of: DeliveryId<'_>) -> ChannelResult<DeliveryProgress> {
        self.file.read(|connection| {
            let query =
                "SELECT state, begun, sent, at_ms FROM deliveries WHERE id = ?1 AND channel = ?2";
            let found = connection.query_row(query, params![of.id, of.channel], |row| {
                Ok(DeliveryProgress {
                    is_over: row.get::<_, String>(0)? == OVER,
                    begun: row.get(1)?,
                    sent: row.get(2)?,
                    begun_at: Timestamp(row.get(3)?),
                })
            });
            Ok(found.optional()?.unwrap_or_default())
        })
    }

    /// Records the progress of a delivery.
    pub fn note(&self, of: DeliveryId<'_>, progress: DeliveryProgress) -> ChannelResult<()> {
        self.file.write(|within| note(within, of, progress))
    }

    /// Adds entries to a feed, once per delivery. They are sealed under the key of the run.
    pub fn publish(
        &self,
        of: DeliveryId<'_>,
        run: RunId,
        bodies: &[String],
        at: Timestamp,
    ) -> ChannelResult<()> {
        let mut sealed = Vec::new();
        for (part, body) in bodies.iter().enumerate() {
            sealed.push(self.file.seal(run, &place(of, part), body)?);
        }
        self.file.write(|within| {
            let insert = "INSERT INTO feed (channel, delivery, part, run, at_ms, body) \
                          VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
            for (part, body) in sealed.iter().enumerate() {
                let part = i64::try_from(part).unwrap_or(i64::MAX);
                let values = params![of.channel, of.id, part, run.as_bytes(), millis(at), body];
                within.execute(insert, values)?;
            }
            note(within, of, done(at))
        })
    }

    /// Stores a seed, once per delivery.
    pub fn remember(&self, of: DeliveryId<'_>, seed: &NewSeed<'_>) -> ChannelResult<()> {
        let sealed = self.file.seal(seed.run, seed.id, seed.text)?;
        self.file.write(|within| {
            seeds::insert(within, seed, &sealed)?;
            note(within, of, done(seed.created))
        })
    }

    /// At most `limit` entries of a channel's feed after a number.
    pub fn feed(&self, channel: &str, after: u64, limit: u32) -> ChannelResult<Vec<FeedEntry>> {
        let rows = self.file.read(|connection| {
            let query = "SELECT seq, delivery, part, run, at_ms, body FROM feed \
                         WHERE channel = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
            let mut statement = connection.prepare_cached(query)?;
            let after = i64::try_from(after).unwrap_or(i64::MAX);
            let limit = limit.min(FEED_READ_MAX);
            let rows = statement.query_map(params![channel, after, limit], |row| {
                let (delivery, part): (String, usize) = (row.get(1)?, row.get(2)?);
                let of = DeliveryId {
                    id: &delivery,
                    channel,
                };
                let entry = FeedEntry {
                    seq: row.get(0)?,
                    run: RunId::from_bytes(row.get(3)?),
                    at: Timestamp(row.get(4)?),
                    body: None,
                };
                Ok((entry, place(of, part), row.get::<_, Vec<u8>>(5)?))
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        // After the query: opening reads key files, and the connection is shared.
        let opened = rows.into_iter().map(|(entry, place, sealed)| {
            let body = self.file.open_text(entry.run, &place, sealed)?;
            Ok(FeedEntry { body, ..entry })
        });
        opened.collect()
    }
}

/// State of a delivery with nothing left to do.
const OVER: &str = "over";
/// State of a delivery that was started.
const BEGUN: &str = "begun";

/// A delivery in a single step.
const fn done(at: Timestamp) -> DeliveryProgress {
    DeliveryProgress {
        is_over: true,
        begun: 1,
        begun_at: at,
        sent: 1,
    }
}

fn note(
    within: &Transaction<'_>,
    of: DeliveryId<'_>,
    progress: DeliveryProgress,
) -> rusqlite::Result<()> {
    let upsert = "INSERT INTO deliveries (id, channel, state, begun, sent, at_ms) \
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id, channel) DO UPDATE \
                  SET state = excluded.state, begun = excluded.begun, sent = excluded.sent, \
                  at_ms = excluded.at_ms";
    let state = if progress.is_over { OVER } else { BEGUN };
    let values = params![
        of.id,
        of.channel,
        state,
        progress.begun,
        progress.sent,
        millis(progress.begun_at)
    ];
    within.execute(upsert, values).map(drop)
}

/// Place of an entry, which its seal is bound to.
fn place(of: DeliveryId<'_>, part: usize) -> String {
    format!("{}/{}/{part}", of.channel, of.id)
}

fn millis(at: Timestamp) -> i64 {
    i64::try_from(at.0).unwrap_or(i64::MAX)
}
