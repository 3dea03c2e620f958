//! Finds a Python that is a program by itself.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Most interpreters that are tried.
const CANDIDATES_MAX: usize = 8;

/// The first bytes of a program for Linux. A script in its place, as version managers put it there, starts slowly and wants
/// an environment.
const ELF: [u8; 4] = [0x7f, b'E', b'L', b'F'];

/// The Pythons in these folders, each once: `python3` of every folder first, then those with a version in their names.
pub(crate) fn candidates(folders: &[PathBuf]) -> Vec<PathBuf> {
    let plain = folders.iter().map(|folder| folder.join("python3"));
    let versioned = (9..20).rev().flat_map(|minor| {
        folders
            .iter()
            .map(move |folder| folder.join(format!("python3.{minor}")))
    });
    let mut found = Vec::new();
    for path in plain.chain(versioned) {
        let Ok(path) = fs::canonicalize(path) else {
            continue;
        };
        if !found.contains(&path) && is_program(&path) {
            found.push(path);
            if found.len() == CANDIDATES_MAX {
                break;
            }
        }
    }
    found
}

fn is_program(path: &Path) -> bool {
    let mut start = [0; 4];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut start))
        .is_ok_and(|()| start == ELF)
}

#[cfg(test)]
#[path = "find_python_tests.rs"]
mod tests;
