//! A snapshot is named after its module's path, and nothing compares with one whose module has moved.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::tree::{self, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let files: BTreeSet<&str> = tree.rust_texts().map(|(path, _)| path).collect();
    tree.texts()
        .map(|(path, _)| path)
        .filter(|path| tree::has_extension(path, "snap") && !has_module(path, &files))
        .map(|path| {
            Finding::whole(
                path,
                "no module has this snapshot's name: move it along with its module",
            )
        })
        .collect()
}

/// Walks the name's parts down from the crate's root. What is left is the tests' own module and the snapshot's name.
fn has_module(path: &str, files: &BTreeSet<&str>) -> bool {
    /// `tests` and the name of the snapshot.
    const LEFT_MAX: usize = 2;
    let folder = tree::folder(path);
    let Some(home) = folder.strip_suffix("/snapshots") else {
        return false;
    };
    let Some(root) = root(home) else {
        return false;
    };
    let name = tree::file_name(path).trim_end_matches(".snap");
    let parts: Vec<&str> = name.split("__").skip(1).collect();
    let mut module = root.to_owned();
    let mut file_folder = root;
    let mut taken = 0;
    for part in &parts {
        module = format!("{module}/{part}");
        let candidates = [format!("{module}.rs"), format!("{module}/mod.rs")];
        let Some(file) = candidates.iter().find_map(|file| files.get(file.as_str())) else {
            break;
        };
        file_folder = tree::folder(file);
        taken += 1;
    }
    let left = parts.len() - taken;
    let is_whole = (1..=LEFT_MAX).contains(&left) && (taken > 0 || parts.first() == Some(&"tests"));
    is_whole && file_folder == home
}

/// The folder of the crate root that a module lies under.
fn root(folder: &str) -> Option<&str> {
    let parts: Vec<&str> = folder.split('/').collect();
    let depth = match parts.as_slice() {
        ["crates", _, "src", ..] => 3,
        ["crates", _, "tests", "it", ..] => 4,
        ["xtask", "src", ..] => 2,
        _ => return None,
    };
    let length = parts
        .iter()
        .take(depth)
        .map(|part| part.len() + 1)
        .sum::<usize>()
        - 1;
    folder.get(..length)
}

#[cfg(test)]
#[path = "snapshots_tests.rs"]
mod tests;
