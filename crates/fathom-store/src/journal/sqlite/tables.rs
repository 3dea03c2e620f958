//! Changes to the tables, each within the writer's transaction.

use fathom_core::effect::IdempotencyKey;
use fathom_core::id::{AskId, Digest, EpisodeId, Epoch, RunId};
use fathom_core::journal::event::Signal;
use fathom_core::unit::Timestamp;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params};
use serde::Serialize;

use super::columns::SqlValue;
use crate::error::StoreError;
use crate::journal::entry::JournalEntry;
use crate::journal::idempotency::{
    ClaimOutcome, ClaimOwner, KeyClaim, KeyOverride, OverrideOutcome,
};
use crate::journal::run_list::{NewRun, RunDelta, RunState};
use crate::journal::signals::SignalId;

/// Runs a statement that has neither parameters nor rows.
pub(super) fn execute(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}

pub(super) fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::NotARecord {
        what: error.to_string(),
    })
}

/// Outcome of inserting a record.
pub(super) enum InsertOutcome {
    Now,
    PlaceTaken,
}

pub(super) fn insert_entry(
    connection: &Connection,
    run: RunId,
    entry: &JournalEntry,
) -> Result<InsertOutcome, StoreError> {
    let inserted = connection
        .prepare_cached(
            "INSERT INTO events (run, episode, seq, body, hash) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            SqlValue(run),
            SqlValue(&entry.episode),
            SqlValue(entry.seq.0),
            entry.bytes,
            SqlValue(entry.hash)
        ]);
    match inserted {
        // Another owner was faster. That ends one log and not the whole commit.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            return Ok(InsertOutcome::PlaceTaken);
        }
        inserted => inserted?,
    };
    // Sealing is deterministic within a run, so an address that exists already has the same bytes.
    for blob in &entry.blobs {
        connection
            .prepare_cached(
                "INSERT INTO blobs (run, address, body) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            )?
            .execute(params![SqlValue(run), SqlValue(blob.address), blob.bytes])?;
    }
    // With the record that takes the signal in: an owner that dies in between leaves it to the next one.
    for signal in &entry.settles {
        connection
            .prepare_cached("DELETE FROM signals WHERE run = ?1 AND id = ?2")?
            .execute(params![SqlValue(run), SqlValue(signal.0)])?;
    }
    Ok(InsertOutcome::Now)
}

pub(super) fn epoch(connection: &Connection, run: RunId) -> Result<Option<Epoch>, StoreError> {
    let epoch = connection
        .prepare_cached("SELECT epoch FROM runs WHERE run = ?1")?
        .query_row([SqlValue(run)], |row| row.get(0))
        .optional()?;
    Ok(epoch.map(|SqlValue(epoch)| Epoch(epoch)))
}

pub(super) fn create_run(connection: &Connection, new: &NewRun) -> Result<Epoch, StoreError> {
    if epoch(connection, new.run)?.is_some() {
        return Err(StoreError::RunExists { run: new.run });
    }
    let first = Epoch(1);
    connection
        .prepare_cached(
            "INSERT INTO runs (run, epoch, state, is_finished, program, model, created_at, updated_at,
                               events, episodes, model_calls, started_by)
             VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6, ?6, 0, 0, 0, ?7)",
        )?
        .execute(params![
            SqlValue(new.run),
            SqlValue(first.0),
            json(&RunState::Running)?,
            new.program,
            new.model,
            SqlValue(new.created_at.0),
            new.started_by
        ])?;
    Ok(first)
}

pub(super) fn acquire(connection: &Connection, run: RunId) -> Result<Epoch, StoreError> {
    let epoch = connection
        .prepare_cached("UPDATE runs SET epoch = epoch + 1 WHERE run = ?1 RETURNING epoch")?
        .query_row([SqlValue(run)], |row| row.get(0))
        .optional()?;
    let SqlValue(epoch) = epoch.ok_or(StoreError::UnknownRun { run })?;
    Ok(Epoch(epoch))
}

pub(super) fn update_run(
    connection: &Connection,
    run: RunId,
    delta: &RunDelta,
) -> Result<(), StoreError> {
    let state = delta.state.map(|state| json(&state)).transpose()?;
    connection
        .prepare_cached(
            "UPDATE runs SET events = events + ?2, episodes = episodes + ?3, model_calls = model_calls + ?4,
                             updated_at = max(updated_at, ?5), state = ifnull(?6, state),
                             is_finished = ifnull(?7, is_finished)
             WHERE run = ?1",
        )?
        .execute(params![
            SqlValue(run),
            SqlValue(delta.events),
            SqlValue(delta.episodes),
            SqlValue(delta.model_calls),
            SqlValue(delta.updated_at.0),
            state,
            delta.state.map(RunState::is_finished)
        ])?;
    Ok(())
}

pub(super) fn post_signal(
    connection: &Connection,
    run: RunId,
    signal: &Signal,
) -> Result<SignalId, StoreError> {
    // No owner would ever take it in.
    if epoch(connection, run)?.is_none() {
        return Err(StoreError::UnknownRun { run });
    }
    let SqlValue(id) = connection
        .prepare_cached("INSERT INTO signals (run, body) VALUES (?1, ?2) RETURNING id")?
        .query_row(params![SqlValue(run), json(signal)?], |row| row.get(0))?;
    Ok(SignalId(id))
}

pub(super) fn drop_signals(
    connection: &Connection,
    run: RunId,
    upto: SignalId,
) -> Result<(), StoreError> {
    connection
        .prepare_cached("DELETE FROM signals WHERE run = ?1 AND id <= ?2")?
        .execute(params![SqlValue(run), SqlValue(upto.0)])?;
    Ok(())
}

/// The claim that holds a key, and its generation.
pub(super) struct HeldClaim {
    generation: u64,
    pub(super) owner: ClaimOwner,
    pub(super) payload: Digest,
    pub(super) at: Timestamp,
}

impl HeldClaim {
    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let SqlValue(generation): SqlValue<u64> = row.get(0)?;
        let SqlValue(payload): SqlValue<Digest> = row.get(1)?;
        let SqlValue(run): SqlValue<RunId> = row.get(2)?;
        let SqlValue(episode): SqlValue<EpisodeId> = row.get(3)?;
        let SqlValue(at): SqlValue<u64> = row.get(5)?;
        Ok(Self {
            generation,
            owner: ClaimOwner {
                run,
                episode,
                ask: AskId(row.get(4)?),
            },
            payload,
            at: Timestamp(at),
        })
    }
}

pub(super) fn held(
    connection: &Connection,
    key: &IdempotencyKey,
) -> Result<Option<HeldClaim>, StoreError> {
    let held = connection
        .prepare_cached(
            "SELECT generation, payload, run, episode, ask, claimed_at FROM claims
             WHERE key = ?1 AND is_released = 0 ORDER BY generation DESC LIMIT 1",
        )?
        .query_row([key.as_str()], HeldClaim::of_row)
        .optional()?;
    Ok(held)
}

fn next_generation(connection: &Connection, key: &IdempotencyKey) -> Result<u64, StoreError> {
    let SqlValue(next): SqlValue<u64> = connection
        // Over released claims too: a generation is never used twice, or an old override would apply again.
        .prepare_cached("SELECT coalesce(max(generation) + 1, 0) FROM claims WHERE key = ?1")?
        .query_row([key.as_str()], |row| row.get(0))?;
    Ok(next)
}

/// Generation that a claim would get, `None` if it holds the key already, or the claim that is in the way.
pub(super) fn next_claim(
    connection: &Connection,
    claim: &KeyClaim,
) -> Result<Result<Option<u64>, ClaimOutcome>, StoreError> {
    let next = next_generation(connection, &claim.key)?;
    let Some(held) = held(connection, &claim.key)? else {
        return Ok(Ok(Some(next)));
    };
    // The same ask after a crash: the key is still its own.
    if held.owner == claim.owner && held.payload == claim.payload {
        return Ok(Ok(None));
    }
    // An override names the generation that it allows, so it lets exactly one claim pass.
    let may_pass = connection
        .prepare_cached("SELECT 1 FROM overrides WHERE key = ?1 AND generation = ?2")?
        .exists(params![claim.key.as_str(), SqlValue(next)])?;
    if may_pass {
        return Ok(Ok(Some(next)));
    }
    Ok(Err(ClaimOutcome::HeldBy {
        owner: held.owner,
        payload: held.payload,
        at: held.at,
    }))
}

pub(super) fn claim(connection: &Connection, claim: &KeyClaim) -> Result<ClaimOutcome, StoreError> {
    let generation = match next_claim(connection, claim)? {
        Ok(Some(generation)) => generation,
        Ok(None) => return Ok(ClaimOutcome::Claimed),
        Err(held) => return Ok(held),
    };
    connection
        .prepare_cached(
            "INSERT INTO claims (key, generation, payload, run, episode, ask, claimed_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            claim.key.as_str(),
            SqlValue(generation),
            SqlValue(claim.payload),
            SqlValue(claim.owner.run),
            SqlValue(&claim.owner.episode),
            claim.owner.ask.0,
            SqlValue(claim.at.0)
        ])?;
    Ok(ClaimOutcome::Claimed)
}

pub(super) fn release(
    connection: &Connection,
    key: &IdempotencyKey,
    owner: &ClaimOwner,
) -> Result<(), StoreError> {
    let Some(held) = held(connection, key)?.filter(|held| held.owner == *owner) else {
        return Ok(());
    };
    connection
        .prepare_cached("UPDATE claims SET is_released = 1 WHERE key = ?1 AND generation = ?2")?
        .execute(params![key.as_str(), SqlValue(held.generation)])?;
    Ok(())
}

pub(super) fn override_claim(
    connection: &Connection,
    order: &KeyOverride,
) -> Result<OverrideOutcome, StoreError> {
    if held(connection, &order.key)?.is_none() {
        return Ok(OverrideOutcome::NothingHeld);
    }
    let next = next_generation(connection, &order.key)?;
    // Ordered twice before it is used, it is still one override.
    connection
        .prepare_cached(
            "INSERT INTO overrides (key, generation, ordered_by, ordered_at, why) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            order.key.as_str(),
            SqlValue(next),
            order.by,
            SqlValue(order.at.0),
            order.why
        ])?;
    Ok(OverrideOutcome::Recorded)
}
