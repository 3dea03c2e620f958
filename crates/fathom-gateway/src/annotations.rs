//! Annotations of a policy: its id, and the terms on which a person may approve.

use std::collections::BTreeSet;

use cedar_policy::{Effect, Policy};
use fathom_core::unit::Millis;

use crate::policy_ruling::RequiredApproval;

/// Longest id of a policy, in bytes.
const ID_BYTES_MAX: usize = 64;

/// A mistake in the annotations of a policy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnnotationFault {
    #[error("unknown annotation `@{0}`")]
    Unknown(String),
    #[error("`@expires` and `@second_person` need `@approval`")]
    WithoutApproval,
    #[error("`@approval` is not allowed on a `forbid` policy")]
    OnForbid,
    #[error("`@second_person` takes no value; write `@second_person(\"\")`")]
    SecondPersonValue,
    #[error("invalid duration `{0}`; expected e.g. `72h`, `30m` or `7d`")]
    Expires(String),
    #[error("invalid `@id`; expected 1 to {ID_BYTES_MAX} lowercase letters, digits, `-` and `_`")]
    Id,
    #[error("empty role in `@approval`; expected role names separated by commas")]
    EmptyRole,
}

/// The approval terms of a permit, if it has any. An unknown annotation is refused: misspelt, it would require
/// no approval.
pub(crate) fn approval(policy: &Policy) -> Result<Option<RequiredApproval>, AnnotationFault> {
    for (key, _) in policy.annotations() {
        if !["id", "approval", "expires", "second_person"].contains(&key) {
            return Err(AnnotationFault::Unknown(key.to_owned()));
        }
    }
    let expires = policy.annotation("expires");
    let second_person = policy.annotation("second_person");
    let Some(roles) = policy.annotation("approval") else {
        if expires.is_some() || second_person.is_some() {
            return Err(AnnotationFault::WithoutApproval);
        }
        return Ok(None);
    };
    if policy.effect() == Effect::Forbid {
        return Err(AnnotationFault::OnForbid);
    }
    let mut approval = RequiredApproval {
        roles: read_roles(roles)?,
        second_person: match second_person {
            None => false,
            Some("") => true,
            Some(_) => {
                return Err(AnnotationFault::SecondPersonValue);
            }
        },
        ..RequiredApproval::default()
    };
    if let Some(span) = expires {
        approval.expires_after =
            duration(span).ok_or_else(|| AnnotationFault::Expires(span.to_owned()))?;
    }
    Ok(Some(approval))
}

/// Checks an id: it appears in journals and in one-line messages, so it is plain ASCII without spaces.
pub(crate) fn check_id(id: &str) -> Result<(), AnnotationFault> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if id.is_empty() || id.len() > ID_BYTES_MAX || !id.chars().all(is_plain) {
        return Err(AnnotationFault::Id);
    }
    Ok(())
}

fn read_roles(roles: &str) -> Result<BTreeSet<String>, AnnotationFault> {
    // An empty list means any person, so it is not the same as a list with an empty name, which is a mistake.
    if roles.is_empty() {
        return Ok(BTreeSet::new());
    }
    let roles = roles.split(',').map(|role| match role.trim() {
        "" => Err(AnnotationFault::EmptyRole),
        role => Ok(role.to_owned()),
    });
    roles.collect()
}

/// A whole number with a unit: `s`, `m`, `h` or `d`.
pub(crate) fn duration(text: &str) -> Option<Millis> {
    let (at, unit) = text.char_indices().next_back()?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return None,
    };
    let count: u64 = text[..at].parse().ok()?;
    let millis = count.checked_mul(seconds)?.checked_mul(1_000)?;
    (millis > 0).then_some(Millis(millis))
}
