//! Translation of requests into rows, and of rows into answers.

use std::collections::HashSet;

use fathom_core::domain::symbols::{
    FoundSymbol, Symbol, SymbolAnswer, SymbolFault, SymbolFaultKind, SymbolRequest,
};
use fathom_core::id::Digest;
use serde::de::DeserializeOwned;
use sha2::Digest as _;

use super::backend::{BackendResult, RowDraft, RowKind, SymbolRow, WrittenBy};
use super::edits::{SymbolFlaw, body_of, check_id, merged};
use super::error::SymbolStoreError;
use super::search_index::symbol_of;
use super::store::{IDS_MAX, TEXT_BYTES_MAX};

/// Checks a request independently of the store's content.
pub(super) fn checked(request: &SymbolRequest) -> std::result::Result<(), SymbolFlaw> {
    match request {
        SymbolRequest::Put { symbol } => body_of(symbol.as_ref()).map(|_| ()),
        SymbolRequest::Update { id, .. } | SymbolRequest::Delete { id } => check_id(id),
        SymbolRequest::Get { ids } | SymbolRequest::Links { ids, .. } if ids.len() > IDS_MAX => {
            Err(SymbolFlaw::TooManyIds)
        }
        SymbolRequest::Search { text, .. } if text.trim().is_empty() => {
            Err(SymbolFlaw::NothingToSearch)
        }
        SymbolRequest::Search { text, .. } if text.len() > TEXT_BYTES_MAX => {
            Err(SymbolFlaw::TextTooLong(text.len()))
        }
        SymbolRequest::Get { .. }
        | SymbolRequest::Links { .. }
        | SymbolRequest::Search { .. }
        | SymbolRequest::Kit { .. }
        | SymbolRequest::Persona { .. } => Ok(()),
    }
}

/// The symbol after a write, with its JSON; `None` if the write deletes it.
pub(super) fn changed(
    request: &SymbolRequest,
    now: Option<&Symbol>,
) -> std::result::Result<Option<(Symbol, String)>, SymbolFault> {
    let invalid = |flaw: SymbolFlaw| fault(SymbolFaultKind::Invalid, flaw.to_string());
    let kept = |symbol: Symbol| {
        let body = body_of(&symbol).map_err(invalid)?;
        Ok(Some((symbol, body)))
    };
    match (request, now) {
        (SymbolRequest::Put { symbol }, _) => kept(symbol.as_ref().clone()),
        (SymbolRequest::Update { changes, .. }, Some(now)) => {
            kept(merged(now, changes).map_err(invalid)?)
        }
        (SymbolRequest::Delete { .. }, Some(_)) => Ok(None),
        (SymbolRequest::Update { id, .. } | SymbolRequest::Delete { id }, None) => {
            Err(not_found(RowKind::Symbol, id))
        }
        (
            SymbolRequest::Get { .. }
            | SymbolRequest::Search { .. }
            | SymbolRequest::Links { .. }
            | SymbolRequest::Kit { .. }
            | SymbolRequest::Persona { .. },
            _,
        ) => Err(invalid(SymbolFlaw::ChangesNothing)),
    }
}

pub(super) fn draft(kind: RowKind, id: &str, body: &str, before: Option<&SymbolRow>) -> RowDraft {
    RowDraft {
        kind,
        id: id.to_owned(),
        body: Some(body.to_owned()),
        follows: before.map(Into::into),
        by: None,
        vector: None,
    }
}

/// The answer to a write, made from the row that it left: the same however often it is requested.
pub(super) fn written(row: &SymbolRow) -> BackendResult<SymbolAnswer> {
    let found = found_in(row)?;
    let note = found.is_none().then(|| {
        format!(
            "`{}` is taken away; its versions stay in the record",
            row.id
        )
    });
    Ok(SymbolAnswer {
        symbols: found.into_iter().collect(),
        note,
        ..SymbolAnswer::default()
    })
}

pub(super) fn recorded(row: &SymbolRow, by: &WrittenBy) -> BackendResult<SymbolAnswer> {
    if row.by.as_ref() == Some(by) {
        written(row)
    } else {
        Err(SymbolStoreError::AnotherRequest {
            key: by.key.clone(),
        })
    }
}

pub(super) fn digest_of(request: &SymbolRequest) -> BackendResult<String> {
    let bytes = serde_json::to_vec(request)
        .map_err(|error| SymbolStoreError::damaged(format!("a request is no JSON: {error}")))?;
    Ok(Digest(sha2::Sha256::digest(bytes).into()).to_string())
}

pub(super) fn found_in(row: &SymbolRow) -> BackendResult<Option<FoundSymbol>> {
    let symbol = row.body.as_deref().map(symbol_of).transpose()?;
    Ok(symbol.map(|symbol| FoundSymbol {
        symbol,
        version: row.version,
        near_milli: None,
    }))
}

pub(super) fn parsed<T: DeserializeOwned>(body: &str) -> BackendResult<T> {
    serde_json::from_str(body)
        .map_err(|error| SymbolStoreError::damaged(format!("an entry cannot be read: {error}")))
}

/// The ids without repetitions, in order, at most `IDS_MAX`.
pub(super) fn distinct<'a>(ids: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    ids.map(String::as_str)
        .filter(|id| seen.insert(*id))
        .take(IDS_MAX)
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is between nought and a thousand"
)]
pub(super) fn milli(near: f32) -> u16 {
    (near.clamp(0.0, 1.0) * 1000.0).round() as u16
}

pub(super) fn not_found(kind: RowKind, id: &str) -> SymbolFault {
    fault(
        SymbolFaultKind::NotFound,
        format!("there is no {} `{id}`", kind.name()),
    )
}

pub(super) fn fault(kind: SymbolFaultKind, message: impl Into<String>) -> SymbolFault {
    SymbolFault {
        kind,
        message: message.into(),
    }
}

pub(super) fn faulty(fault: SymbolFault) -> SymbolAnswer {
    SymbolAnswer {
        fault: Some(fault),
        ..SymbolAnswer::default()
    }
}
