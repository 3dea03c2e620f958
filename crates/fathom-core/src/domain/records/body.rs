//! Behaviour that the bodies of all kinds share.

use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::fault::{RecordFault, RecordRule};
use super::kind::{RecordPointer, check_id};
use crate::id::Digest;

/// Longest title or name, in characters.
pub const TITLE_CHARS_MAX: usize = 200;

/// Longest text, in characters, of a kind that has no bound of its own.
pub const TEXT_CHARS_MAX: usize = 16_000;

/// Most entries of a list.
pub const LIST_MAX: usize = 64;

/// A body of one kind.
pub(super) trait RecordBody: DeserializeOwned {
    /// Checks the guardrails of the kind.
    fn check(&self, evidence: &[String]) -> Result<(), RecordFault>;

    /// The records that it names, which must be there.
    fn names(&self) -> Vec<RecordPointer> {
        Vec::new()
    }
}

/// A field must say something, and not too much.
pub(super) fn filled(field: &str, text: &str, chars_max: usize) -> Result<(), RecordFault> {
    if text.trim().is_empty() {
        return Err(RecordFault::broken(
            RecordRule::Field,
            format_args!("`{field}` is empty"),
        ));
    }
    bounded(RecordRule::Field, field, text, chars_max)
}

pub(super) fn bounded(
    rule: RecordRule,
    field: &str,
    text: &str,
    chars_max: usize,
) -> Result<(), RecordFault> {
    let chars = text.chars().count();
    if chars > chars_max {
        return Err(RecordFault::broken(
            rule,
            format_args!("`{field}` has {chars} characters, the limit is {chars_max}"),
        ));
    }
    Ok(())
}

/// Every entry is short and says something, and there are not too many.
pub(super) fn listed(field: &str, entries: &[String]) -> Result<(), RecordFault> {
    if entries.len() > LIST_MAX {
        return Err(RecordFault::broken(
            RecordRule::Field,
            format_args!(
                "`{field}` has {} entries, the limit is {LIST_MAX}",
                entries.len()
            ),
        ));
    }
    entries
        .iter()
        .try_for_each(|entry| filled(field, entry, TITLE_CHARS_MAX))
}

/// Two ends, which are ids and not the same.
pub(super) fn ends(from: &str, to: &str) -> Result<(), RecordFault> {
    check_id(from)?;
    check_id(to)?;
    if from == to {
        return Err(RecordFault::broken(
            RecordRule::EdgeEnds,
            format_args!("the edge leads from `{from}` to itself"),
        ));
    }
    Ok(())
}

/// The digest that stands there must be the one of the content.
pub(super) fn same(rule: RecordRule, said: Digest, content: &str) -> Result<(), RecordFault> {
    let found = sha256(content);
    if said == found {
        return Ok(());
    }
    Err(RecordFault::broken(
        rule,
        format_args!("`sha256` is {said}, and that of the content is {found}"),
    ))
}

/// SHA-256 of a text, as records keep it.
pub fn sha256(text: &str) -> Digest {
    Digest(Sha256::digest(text).into())
}
