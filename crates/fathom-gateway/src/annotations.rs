//! What a policy says about itself: its id, and on what terms a person must agree.

use std::collections::BTreeSet;

use cedar_policy::{Effect, Policy};
use fathom_core::unit::Millis;

use crate::ruling::Approval;

/// Longest id of a policy, in bytes.
const ID_BYTES_MAX: usize = 64;

/// The terms of a permit that has any. A word that is not known is refused: misspelt, it would ask nobody.
pub(crate) fn approval(policy: &Policy) -> Result<Option<Approval>, String> {
    for (key, _) in policy.annotations() {
        if !["id", "approval", "expires", "second_person"].contains(&key) {
            return Err(format!("the annotation `@{key}` is not known"));
        }
    }
    let expires = policy.annotation("expires");
    let second_person = policy.annotation("second_person");
    let Some(roles) = policy.annotation("approval") else {
        if expires.is_some() || second_person.is_some() {
            return Err("`@expires` and `@second_person` need `@approval`".to_owned());
        }
        return Ok(None);
    };
    if policy.effect() == Effect::Forbid {
        return Err("nobody can approve what is forbidden".to_owned());
    }
    let mut approval = Approval {
        roles: read_roles(roles)?,
        second_person: match second_person {
            None => false,
            Some("") => true,
            Some(_) => {
                return Err("`@second_person` takes nothing: `@second_person(\"\")`".to_owned());
            }
        },
        ..Approval::default()
    };
    if let Some(span) = expires {
        approval.expires_after = duration(span)
            .ok_or_else(|| format!("`{span}` is no span of time, as `72h`, `30m` or `7d`"))?;
    }
    Ok(Some(approval))
}

/// Checks an id: what stands in a journal and on a line must be readable there.
pub(crate) fn check_id(id: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if id.is_empty() || id.len() > ID_BYTES_MAX || !id.chars().all(is_plain) {
        return Err(format!(
            "`@id` takes at most {ID_BYTES_MAX} small letters, digits, `-` and `_`"
        ));
    }
    Ok(())
}

fn read_roles(roles: &str) -> Result<BTreeSet<String>, String> {
    if roles.is_empty() {
        return Ok(BTreeSet::new());
    }
    let roles = roles.split(',').map(|role| match role.trim() {
        "" => Err("`@approval` names roles with commas between them".to_owned()),
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
