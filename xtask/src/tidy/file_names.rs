//! A file is found by its name: it says what is inside, and no other file of the crate has it.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::ratchet::Violation;
use crate::tree::{self, Tree};

/// Names after a mood, a body part or a form of a verb.
const VAGUE: [&str; 24] = [
    "words",
    "said",
    "told",
    "deeds",
    "heart",
    "scales",
    "parcel",
    "lens",
    "errands",
    "convening",
    "exploring",
    "phasing",
    "staging",
    "looking",
    "beside",
    "ended",
    "passing",
    "typed",
    "spoken",
    "heard",
    "desk",
    "things",
    "stuff",
    "going",
];

/// Names that every folder may have: what they hold is said by the folder.
const SHARED: [&str; 11] = [
    "mod", "lib", "main", "error", "config", "prompts", "program", "reply", "report", "state",
    "tests",
];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut places: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (path, _) in tree.rust_texts() {
        let Some((owner, inside)) = crate_source(path) else {
            continue;
        };
        let stem = tree::file_name(path).trim_end_matches(".rs");
        let name = match stem {
            "mod" => tree::file_name(tree::folder(path)),
            stem => stem,
        };
        if VAGUE.contains(&name) {
            let message = format!("a file called `{name}` does not say what is inside");
            let finding = Finding::whole(path, message);
            violations.push(Violation::new("vague-file-name", owner, finding));
        }
        if !SHARED.contains(&stem) && !inside.starts_with("bin/") {
            places.entry((owner, stem)).or_default().push(path);
        }
    }
    for ((owner, stem), paths) in places.into_iter().filter(|(_, paths)| paths.len() > 1) {
        violations.extend(paths.iter().map(|path| {
            let message = format!(
                "{} files of {owner} are called `{stem}`: {}",
                paths.len(),
                paths.join(", ")
            );
            let key = format!("{owner}/{stem}");
            Violation::new("repeated-file-name", key, Finding::whole(path, message))
        }));
    }
    violations
}

/// The crate of a source that is no test, and its path below `src`.
fn crate_source(path: &str) -> Option<(&str, &str)> {
    let (owner, inside) = path.strip_prefix("crates/")?.split_once('/')?;
    let inside = inside.strip_prefix("src/")?;
    (!tree::is_test_file(path)).then_some((owner, inside))
}

#[cfg(test)]
#[path = "file_names_tests.rs"]
mod tests;
