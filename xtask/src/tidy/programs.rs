//! The engine knows no program, and programs look alike.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::finding::Finding;
use crate::pattern;
use crate::ratchet::Violation;
use crate::sources::Source;
use crate::tree::{self, Tree};

const PROGRAMS: &str = "crates/fathom-programs/src/";

/// What each program's folder holds beside `program.rs`.
const FILES: [&str; 3] = ["config.rs", "prompts.rs", "report.rs"];

/// The registry, which is all that the runtime may name.
const REGISTRY: [&str; 2] = ["BuiltInPrograms", "BuiltIn"];

/// What a part of the tree may know of programs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Knowledge {
    Nothing,
    Registry,
}

pub(super) fn check_names(sources: &[Source<'_>]) -> Vec<Violation> {
    static PROGRAM: LazyLock<Regex> = LazyLock::new(|| {
        pattern::constant(
            r"\b(?:fathom_programs|fathom_core::programs|crate::programs)\b(?:::(\{[^;]*\}|\w+))?",
        )
    });
    let mut violations = Vec::new();
    for source in sources.iter().filter(|source| source.is_product()) {
        let Some((key, knowledge)) = knowledge(source) else {
            continue;
        };
        for captures in PROGRAM.captures_iter(&source.shipped) {
            let Some(found) = captures.get(0) else {
                continue;
            };
            let named = captures.get(1).map_or("", |named| named.as_str());
            if knowledge == Knowledge::Registry && is_registry_only(named) {
                continue;
            }
            let message = match knowledge {
                Knowledge::Nothing => format!("`{key}` names a program: `{}`", found.as_str()),
                Knowledge::Registry => {
                    format!(
                        "`{key}` may name the registry of programs only, not `{}`",
                        found.as_str()
                    )
                }
            };
            let finding = Finding::at(source.path, source.rust.raw, found.start(), message);
            violations.push(Violation::new("program-named", key, finding));
        }
    }
    violations
}

/// The part of the tree that a source belongs to, where programs are not everybody's business.
fn knowledge<'a>(source: &Source<'a>) -> Option<(&'a str, Knowledge)> {
    const ADAPTERS: [&str; 8] = [
        "fathom-store",
        "fathom-models",
        "fathom-local",
        "fathom-material",
        "fathom-sandbox",
        "fathom-gateway",
        "fathom-tools",
        "fathom-output",
    ];
    let path = source.path;
    if let Some(inside) = path.strip_prefix("crates/fathom-core/src/") {
        // The programs themselves, as long as they are here.
        return (!inside.starts_with("programs/")).then_some(("fathom-core", Knowledge::Nothing));
    }
    if ADAPTERS.contains(&source.owner) {
        return Some((source.owner, Knowledge::Nothing));
    }
    let inside = path.strip_prefix("crates/fathom-host/src/")?;
    let is_in = |module: &str| {
        inside
            .strip_prefix(module)
            .is_some_and(|rest| rest.starts_with(['/', '.']))
    };
    if is_in("driver") {
        Some(("fathom-host/driver", Knowledge::Nothing))
    } else if is_in("runtime") {
        Some(("fathom-host/runtime", Knowledge::Registry))
    } else {
        None
    }
}

fn is_registry_only(path: &str) -> bool {
    let listed = path.trim_matches(['{', '}']).split(',').map(str::trim);
    let mut listed = listed.filter(|name| !name.is_empty()).peekable();
    listed.peek().is_some() && listed.all(|name| REGISTRY.contains(&name))
}

pub(super) fn check_folders(tree: &Tree) -> Vec<Violation> {
    let files: BTreeSet<&str> = tree.rust_texts().map(|(path, _)| path).collect();
    let mut violations = Vec::new();
    for program in &files {
        if !program.starts_with(PROGRAMS) || tree::file_name(program) != "program.rs" {
            continue;
        }
        let folder = tree::folder(program);
        for file in FILES {
            if !files.contains(format!("{folder}/{file}").as_str()) {
                let message = format!("this program has no `{file}` beside it, as others have");
                let key = format!("{}/{file}", folder.trim_start_matches(PROGRAMS));
                let finding = Finding::whole(program, message);
                violations.push(Violation::new("program-files", key, finding));
            }
        }
    }
    violations
}

#[cfg(test)]
#[path = "programs_tests.rs"]
mod tests;
