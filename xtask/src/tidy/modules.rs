//! Every file has a telling name and is compiled by somebody.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::finding::Finding;
use crate::pattern;
use crate::sources::Source;
use crate::tree::{self, Tree};

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 4] = ["utils", "helpers", "common", "manager"];

pub(super) fn check_name(path: &str) -> Vec<Finding> {
    let stem = tree::file_name(path).trim_end_matches(".rs");
    let name = match stem {
        "mod" => tree::file_name(tree::folder(path)),
        stem => stem,
    };
    if !EMPTY_NAMES.contains(&name) {
        return Vec::new();
    }
    let message =
        format!("a module called `{name}` can hold anything: name it after what it is about");
    vec![Finding::whole(path, message)]
}

/// A file that no `mod` names is not compiled, and its tests never run.
pub(super) fn check_reached(sources: &[Source<'_>]) -> Vec<Finding> {
    let declared: BTreeSet<String> = sources.iter().flat_map(declared_files).collect();
    sources
        .iter()
        .map(|source| source.path)
        .filter(|path| is_module_file(path) && !declared.contains(*path))
        .map(|path| Finding::whole(path, "no `mod` names this file, so it is never compiled"))
        .collect()
}

/// One integration binary links once; each further one links everything again.
pub(super) fn check_one_integration_binary(tree: &Tree) -> Vec<Finding> {
    tree.rust_texts()
        .filter(|(path, _)| {
            let parts: Vec<&str> = path.split('/').collect();
            match parts.as_slice() {
                ["crates", _, "tests", _] => true,
                // The conformance table knows journeys by this folder.
                [
                    "crates",
                    "fathom" | "fathom-server",
                    "tests",
                    "journeys",
                    "main.rs",
                ] => false,
                ["crates", _, "tests", folder, "main.rs"] => *folder != "it",
                _ => false,
            }
        })
        .map(|(path, _)| {
            Finding::whole(
                path,
                "a second integration binary: make it a module of tests/it/main.rs",
            )
        })
        .collect()
}

/// Whether a file is compiled only through a `mod`: not a crate root, not a fixture.
fn is_module_file(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let (["crates", _, "src", inside @ ..]
    | ["crates", _, "tests", "it" | "journeys", inside @ ..]
    | ["xtask", "src", inside @ ..]) = parts.as_slice()
    else {
        return false;
    };
    !matches!(
        inside,
        ["lib.rs" | "main.rs"] | ["bin", _] | ["bin", _, "main.rs"]
    )
}

/// The files that a file's `mod name;` lines may stand for.
fn declared_files(source: &Source<'_>) -> Vec<String> {
    static MODULE: LazyLock<Regex> = LazyLock::new(|| {
        pattern::constant(r"(?m)^[ \t]*(?:pub(?:\([^)]*\))?\s+)?mod\s+(?:r#)?(\w+)\s*;")
    });
    let mut files = Vec::new();
    for captures in MODULE.captures_iter(&source.rust.code) {
        let (Some(item), Some(name)) = (captures.get(0), captures.get(1)) else {
            continue;
        };
        let attributes = source.rust.preamble(item.start()).attributes;
        files.extend(child_files(source.path, &attributes, name.as_str()));
    }
    files
}

/// The files that `mod name;` in a file may stand for.
pub(super) fn child_files(parent: &str, attributes: &[&str], name: &str) -> Vec<String> {
    let target = attributes
        .iter()
        .find_map(|attribute| path_attribute(attribute));
    if let Some(target) = target {
        return vec![join(tree::folder(parent), target)];
    }
    let children = children_folder(parent);
    vec![
        join(&children, &format!("{name}.rs")),
        join(&children, &format!("{name}/mod.rs")),
    ]
}

/// The folder in which a file's child modules lie.
fn children_folder(path: &str) -> String {
    let folder = tree::folder(path);
    let is_root = folder.ends_with("/bin");
    match tree::file_name(path) {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        _ if is_root => folder.to_owned(),
        name => join(folder, name.trim_end_matches(".rs")),
    }
}

/// The file in `#[path = "file"]`.
fn path_attribute(attribute: &str) -> Option<&str> {
    let value = attribute
        .strip_prefix("#[")?
        .trim_start()
        .strip_prefix("path")?;
    value.split('"').nth(1)
}

/// Joins a folder and a path that may climb out of it.
fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
#[path = "modules_tests.rs"]
mod tests;
