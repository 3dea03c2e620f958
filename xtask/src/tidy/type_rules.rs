//! A type's name means something without its path, and to one crate only.

use std::collections::BTreeMap;

use super::Checked;
use crate::finding::Finding;
use crate::ratchet::Violation;
use crate::sources::Source;
use crate::type_names::{self, SHARED_FILE, TypeDefinition};

/// Single words that do not say what the type is.
const VAGUE: [&str; 43] = [
    "Said", "Asked", "Told", "Heard", "Spoken", "Found", "Given", "Kept", "Known", "Held", "Form",
    "Line", "Piece", "Part", "Place", "At", "Turn", "Way", "Work", "Going", "Why", "How", "Came",
    "Fate", "There", "Other", "Read", "Written", "Live", "Out", "Mind", "Desk", "Habit", "Past",
    "Stated", "Means", "Look", "Trouble", "Ears", "Beside", "Passing", "Thing", "Stuff",
];

/// Names that every program or command could have; each needs to say whose it is.
const BARE: [&str; 5] = ["Params", "Report", "Outcome", "Options", "Cause"];

pub(super) fn check(sources: &[Source<'_>], shared: &BTreeMap<&str, &str>) -> Checked {
    let definitions = type_names::definitions(sources);
    let mut violations = Vec::new();
    let across = type_names::shared_across_crates(&definitions);
    for (name, places) in across
        .iter()
        .filter(|(name, _)| !shared.contains_key(*name))
    {
        violations.extend(places.iter().map(|place| {
            let others: Vec<&str> = places
                .iter()
                .filter(|other| other.path != place.path || other.offset != place.offset)
                .map(|other| other.path)
                .collect();
            let message = format!(
                "`{name}` is public elsewhere too ({}): give each a name of its own, or a reason in {SHARED_FILE}",
                others.join(", ")
            );
            violation("shared-type-name", name, place, message)
        }));
    }
    for definition in &definitions {
        let TypeDefinition { name, owner, .. } = definition;
        if VAGUE.contains(name) {
            let message = format!("`{name}` does not say what the type is");
            violations.push(violation("vague-type-name", owner, definition, message));
        }
        if definition.is_public && BARE.contains(name) {
            let message =
                format!("`{name}` does not say whose it is: `RlmConfig`, `CouncilReport`");
            violations.push(violation("bare-type-name", owner, definition, message));
        }
    }
    let unneeded = shared.keys().filter(|name| !across.contains_key(*name));
    let findings = unneeded
        .map(|name| {
            Finding::whole(
                SHARED_FILE,
                format!("no two crates share `{name}`: remove the line"),
            )
        })
        .collect();
    Checked {
        findings,
        violations,
    }
}

fn violation(
    check: &'static str,
    key: &str,
    place: &TypeDefinition<'_>,
    message: String,
) -> Violation {
    let finding = Finding::at(place.path, place.text, place.offset, message);
    Violation::new(check, key, finding)
}

#[cfg(test)]
#[path = "type_rules_tests.rs"]
mod tests;
