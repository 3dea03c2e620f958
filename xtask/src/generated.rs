//! Files that are made from the tree and kept in it.

use crate::finding::Finding;

/// The first line at which the file in the tree and what would be written now differ.
pub(crate) fn difference(path: &str, file: &str, made: &str, task: &str) -> Option<Finding> {
    if file == made {
        return None;
    }
    let same = file
        .lines()
        .zip(made.lines())
        .take_while(|(in_file, in_made)| in_file == in_made)
        .count();
    let message = format!("out of date: run `cargo xtask {task}`");
    Some(Finding::new(path, same + 1, message))
}

#[cfg(test)]
#[path = "generated_tests.rs"]
mod tests;
