//! Requests to people and their decisions: approvals, overrides, kill orders and pins.

use fathom_core::effect::{IdempotencyKey, KillScope};
use fathom_core::id::{Digest, RunId};
use fathom_core::unit::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::columns::SqlValue;
use super::read::parsed;
use super::tables::{self, json};
use crate::approvals::{
    APPROVALS_LISTED_MAX, ApprovalFilter, ApprovalId, ApprovalRecord, ApprovalState, ApprovalWord,
    DecideOutcome, UseOutcome,
};
use crate::error::StoreError;
use crate::journal::idempotency::{ClaimOwner, KeyOverride};
use crate::journal::signals::{KillOrder, KillRecord, LiftOutcome};
use crate::pins::{AcceptOutcome, PinOutcome, PinStanding, ToolPin, ToolSighting};

fn approval(body: &str) -> Result<ApprovalRecord, StoreError> {
    parsed(body, "an approval")
}

fn find(connection: &Connection, id: &ApprovalId) -> Result<Option<ApprovalRecord>, StoreError> {
    let body: Option<String> = connection
        .prepare_cached("SELECT body FROM approvals WHERE id = ?1")?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?;
    body.map(|body| approval(&body)).transpose()
}

fn save(connection: &Connection, approval: &ApprovalRecord) -> Result<(), StoreError> {
    connection
        .prepare_cached("UPDATE approvals SET is_open = ?2, body = ?3 WHERE id = ?1")?
        .execute(params![
            approval.id.as_str(),
            approval.is_open(),
            json(approval)?
        ])?;
    Ok(())
}

fn selected(
    connection: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
) -> Result<Vec<ApprovalRecord>, StoreError> {
    let mut query = connection.prepare_cached(sql)?;
    let rows = query.query_map(params, |row| row.get::<_, String>(0))?;
    rows.map(|body| approval(&body?)).collect()
}

pub(super) fn open_approval(
    connection: &Connection,
    new: &ApprovalRecord,
) -> Result<(), StoreError> {
    let owner = &new.owner;
    // In one transaction with the insert, so that an ask has at most one open approval, whichever process asks.
    let before = selected(
        connection,
        "SELECT body FROM approvals
         WHERE run = ?1 AND episode = ?2 AND ask = ?3 AND is_open = 1 AND id <> ?4",
        params![
            SqlValue(owner.run),
            SqlValue(&owner.episode),
            owner.ask.0,
            new.id.as_str()
        ],
    )?;
    for mut other in before {
        other.withdraw(new.opened_at);
        save(connection, &other)?;
    }
    match find(connection, &new.id)?.map(|found| found.state) {
        // A withdrawn request may be opened again; a decided one keeps its decision.
        Some(ApprovalState::Open | ApprovalState::Withdrawn { .. }) => save(connection, new),
        Some(_) => Ok(()),
        None => {
            connection
                .prepare_cached(
                    "INSERT INTO approvals (id, run, episode, ask, is_open, body)
                     VALUES (?1, ?2, ?3, ?4, 1, ?5)",
                )?
                .execute(params![
                    new.id.as_str(),
                    SqlValue(owner.run),
                    SqlValue(&owner.episode),
                    owner.ask.0,
                    json(new)?
                ])?;
            Ok(())
        }
    }
}

pub(super) fn decide_approval(
    connection: &Connection,
    id: &ApprovalId,
    word: &ApprovalWord,
) -> Result<DecideOutcome, StoreError> {
    let Some(mut approval) = find(connection, id)? else {
        return Ok(DecideOutcome::Unknown);
    };
    let decided = approval.decide(word);
    save(connection, &approval)?;
    Ok(match decided {
        Ok(()) => {
            // In one transaction with the decision: one that the run never hears of would leave it waiting.
            tables::post_signal(connection, approval.owner.run, &approval.signal(word))?;
            DecideOutcome::Decided(approval)
        }
        Err(why) => DecideOutcome::Refused(approval, why),
    })
}

pub(super) fn approval_of(
    connection: &Connection,
    owner: &ClaimOwner,
) -> Result<Option<ApprovalRecord>, StoreError> {
    let newest = selected(
        connection,
        "SELECT body FROM approvals WHERE run = ?1 AND episode = ?2 AND ask = ?3
         ORDER BY number DESC LIMIT 1",
        params![SqlValue(owner.run), SqlValue(&owner.episode), owner.ask.0],
    )?;
    Ok(newest.into_iter().next())
}

pub(super) fn use_approval(
    connection: &Connection,
    owner: &ClaimOwner,
    at: Timestamp,
) -> Result<UseOutcome, StoreError> {
    let Some(mut approval) = approval_of(connection, owner)? else {
        return Ok(UseOutcome::NotAsked);
    };
    let outcome = approval.consume(at);
    save(connection, &approval)?;
    Ok(outcome)
}

pub(super) fn withdraw_approvals(
    connection: &Connection,
    run: RunId,
    at: Timestamp,
) -> Result<(), StoreError> {
    let open = selected(
        connection,
        "SELECT body FROM approvals WHERE run = ?1 AND is_open = 1",
        [SqlValue(run)],
    )?;
    for mut approval in open {
        approval.withdraw(at);
        save(connection, &approval)?;
    }
    Ok(())
}

pub(super) fn approvals(
    connection: &Connection,
    filter: ApprovalFilter,
) -> Result<Vec<ApprovalRecord>, StoreError> {
    let wanted = match filter {
        ApprovalFilter::Open => "is_open = 1",
        ApprovalFilter::All => "TRUE",
    };
    let sql = format!("SELECT body FROM approvals WHERE {wanted} ORDER BY number DESC LIMIT ?1");
    // The newest ones if there are too many, but shown oldest first.
    let mut found = selected(connection, &sql, [SqlValue(APPROVALS_LISTED_MAX as u64)])?;
    found.reverse();
    Ok(found)
}

pub(super) fn set_kill(connection: &Connection, order: &KillOrder) -> Result<(), StoreError> {
    // `kills_in_force` allows one active order per scope: the first one stands.
    connection
        .prepare_cached(
            "INSERT INTO kills (scope, thrown_by, thrown_at, thrown_why) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            json(&order.scope)?,
            order.by,
            SqlValue(order.at.0),
            order.why
        ])?;
    Ok(())
}

pub(super) fn lift_kill(
    connection: &Connection,
    order: &KillOrder,
) -> Result<LiftOutcome, StoreError> {
    let lifted = connection
        .prepare_cached(
            "UPDATE kills SET lifted_by = ?2, lifted_at = ?3, lifted_why = ?4
             WHERE scope = ?1 AND lifted_at IS NULL",
        )?
        .execute(params![
            json(&order.scope)?,
            order.by,
            SqlValue(order.at.0),
            order.why
        ])?;
    Ok(match lifted {
        0 => LiftOutcome::WasNotThrown,
        _ => LiftOutcome::Now,
    })
}

/// The active kill switches; queried twenty times a second.
pub(super) fn kills(connection: &Connection) -> Result<Vec<KillOrder>, StoreError> {
    let sql = "SELECT scope, thrown_by, thrown_at, thrown_why, NULL, NULL, NULL FROM kills
               WHERE lifted_at IS NULL ORDER BY id";
    let records = kill_records(connection, sql)?;
    Ok(records.into_iter().map(|record| record.thrown).collect())
}

pub(super) fn kill_record(connection: &Connection) -> Result<Vec<KillRecord>, StoreError> {
    let sql = "SELECT scope, thrown_by, thrown_at, thrown_why, lifted_by, lifted_at, lifted_why FROM kills
               ORDER BY id";
    kill_records(connection, sql)
}

fn kill_records(connection: &Connection, sql: &str) -> Result<Vec<KillRecord>, StoreError> {
    let mut query = connection.prepare_cached(sql)?;
    let mut rows = query.query([])?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        let scope: String = row.get(0)?;
        let scope: KillScope = parsed(&scope, "the scope of a kill switch")?;
        let SqlValue(at) = row.get(2)?;
        let lifted_at: Option<SqlValue<u64>> = row.get(5)?;
        let lifted = lifted_at.map(|SqlValue(at)| {
            Ok::<_, rusqlite::Error>(KillOrder {
                scope: scope.clone(),
                by: row.get(4)?,
                at: Timestamp(at),
                why: row.get::<_, Option<String>>(6)?.unwrap_or_default(),
            })
        });
        records.push(KillRecord {
            lifted: lifted.transpose()?,
            thrown: KillOrder {
                scope,
                by: row.get(1)?,
                at: Timestamp(at),
                why: row.get(3)?,
            },
        });
    }
    Ok(records)
}

pub(super) fn overrides_of(
    connection: &Connection,
    key: &IdempotencyKey,
) -> Result<Vec<KeyOverride>, StoreError> {
    let mut query = connection.prepare_cached(
        "SELECT ordered_by, ordered_at, why FROM overrides WHERE key = ?1 ORDER BY generation",
    )?;
    let rows = query.query_map([key.as_str()], |row| {
        let SqlValue(at) = row.get(1)?;
        Ok(KeyOverride {
            key: key.clone(),
            by: row.get(0)?,
            at: Timestamp(at),
            why: row.get(2)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The accepted digest of a tool.
fn pinned(connection: &Connection, seen: &ToolSighting) -> Result<Option<Digest>, StoreError> {
    // `let_in` counts up with each acceptance; the highest one is in force.
    let found = connection
        .prepare_cached(
            "SELECT digest FROM pins WHERE charter = ?1 AND tool = ?2 AND let_in IS NOT NULL
             ORDER BY let_in DESC LIMIT 1",
        )?
        .query_row([&seen.charter, &seen.tool], |row| row.get(0))
        .optional()?;
    Ok(found.map(|SqlValue(digest)| digest))
}

pub(super) fn pin(connection: &Connection, seen: &ToolSighting) -> Result<PinOutcome, StoreError> {
    let pinned = pinned(connection, seen)?;
    if pinned == Some(seen.digest) {
        return Ok(PinOutcome::Pinned);
    }
    // The first sighting is trusted. Its 0 sorts below every digest that a person accepts later.
    connection
        .prepare_cached(
            "INSERT INTO pins (charter, tool, digest, seen_at, let_in) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            seen.charter,
            seen.tool,
            SqlValue(seen.digest),
            SqlValue(seen.at.0),
            pinned.is_none().then_some(0)
        ])?;
    Ok(match pinned {
        None => PinOutcome::Pinned,
        Some(pinned) => PinOutcome::Quarantined { pinned },
    })
}

pub(super) fn accept_pin(
    connection: &Connection,
    seen: &ToolSighting,
    by: &str,
) -> Result<AcceptOutcome, StoreError> {
    let changed = connection
        .prepare_cached(
            "UPDATE pins SET accepted_by = ?4, accepted_at = ?5,
                 let_in = 1 + (SELECT max(ifnull(let_in, 0)) FROM pins WHERE charter = ?1 AND tool = ?2)
             WHERE charter = ?1 AND tool = ?2 AND digest = ?3",
        )?
        .execute(params![
            seen.charter,
            seen.tool,
            SqlValue(seen.digest),
            by,
            SqlValue(seen.at.0)
        ])?;
    // Only what was seen can be accepted: without a row there is nothing to change.
    Ok(match changed {
        0 => AcceptOutcome::NeverMet,
        _ => AcceptOutcome::Now,
    })
}

pub(super) fn pins(connection: &Connection, charter: &str) -> Result<Vec<ToolPin>, StoreError> {
    let mut query = connection.prepare_cached(
        "SELECT tool, digest, seen_at, let_in IS NULL, accepted_by, accepted_at FROM pins
         WHERE charter = ?1 ORDER BY number",
    )?;
    let rows = query.query_map([charter], |row| pin_of_row(charter, row))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn pin_of_row(charter: &str, row: &Row<'_>) -> rusqlite::Result<ToolPin> {
    let SqlValue(digest) = row.get(1)?;
    let SqlValue(seen_at) = row.get(2)?;
    let accepted: (Option<String>, Option<SqlValue<u64>>) = (row.get(4)?, row.get(5)?);
    let standing = match accepted {
        (Some(by), Some(SqlValue(at))) => PinStanding::Accepted {
            by,
            at: Timestamp(at),
        },
        _ if row.get(3)? => PinStanding::Quarantined,
        _ => PinStanding::First,
    };
    Ok(ToolPin {
        seen: ToolSighting {
            charter: charter.to_owned(),
            tool: row.get(0)?,
            digest,
            at: Timestamp(seen_at),
        },
        standing,
    })
}
