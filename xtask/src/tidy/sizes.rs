//! Nothing grows past what a reader can hold.

use std::path::Path;

use crate::finding::Finding;
use crate::tree;

const SOURCE_LINES_MAX: usize = 500;
/// Tables of cases are long without being hard to read.
const TEST_LINES_MAX: usize = 900;
const ARCHITECTURE_LINES_MAX: usize = 300;
const FILE_BYTES_MAX: u64 = 1024 * 1024;

pub(super) fn check_lines(path: &str, text: &str) -> Vec<Finding> {
    let limit = match tree::file_name(path) {
        "architecture.md" => ARCHITECTURE_LINES_MAX,
        _ if !tree::is_rust(path) && !is_python(path) => return Vec::new(),
        _ if tree::is_test_file(path) || in_benches(path) => TEST_LINES_MAX,
        _ => SOURCE_LINES_MAX,
    };
    let lines = text.lines().count();
    if lines <= limit {
        return Vec::new();
    }
    let message = format!("{lines} lines, the limit is {limit}: split it by what it is about");
    vec![Finding::new(path, limit + 1, message)]
}

pub(super) fn check_bytes(path: &str, size_bytes: u64) -> Vec<Finding> {
    if size_bytes <= FILE_BYTES_MAX {
        return Vec::new();
    }
    let message =
        format!("{size_bytes} bytes, the limit is {FILE_BYTES_MAX}: fetch it in set-up instead");
    vec![Finding::whole(path, message)]
}

fn is_python(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ext| ext == "py")
}

fn in_benches(path: &str) -> bool {
    path.split('/').any(|part| part == "benches")
}

#[cfg(test)]
#[path = "sizes_tests.rs"]
mod tests;
