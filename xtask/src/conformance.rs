//! The table that says which tests show which requirement.

mod requirements;
mod scan;
mod table;

use std::fs;

use anyhow::{Context, bail};

use crate::Report;
use crate::generated;
use crate::sources;
use crate::tree::{self, Tree};

pub(crate) use scan::is_journey_file;

const TABLE: &str = "docs/conformance.md";

enum Mode {
    Write,
    Check,
}

pub(crate) fn run(arguments: &[String]) -> anyhow::Result<Report> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mode = match arguments.as_slice() {
        [] => Mode::Write,
        ["--check"] => Mode::Check,
        other => bail!(
            "`conformance` takes `--check` or nothing, not `{}`",
            other.join(" ")
        ),
    };
    let top = tree::top_folder()?;
    let tree = Tree::read(&top)?;
    let sections = requirements::all()?;
    let sources = sources::parse_all(&tree);
    let tests: Vec<scan::Test> = sources
        .iter()
        .filter(|source| is_scanned(source.path))
        .flat_map(|source| scan::tests_in(source.path, &source.rust))
        .collect();
    let text = table::render(&sections, &tests);
    let mut findings = Vec::new();
    match mode {
        Mode::Write => {
            fs::write(top.join(TABLE), &text).with_context(|| format!("cannot write `{TABLE}`"))?;
        }
        Mode::Check => {
            let file = tree.text(TABLE).unwrap_or_default();
            findings.extend(generated::difference(TABLE, file, &text, "conformance"));
        }
    }
    let summary = summary(&sections, &tests);
    Ok(Report { findings, summary })
}

/// Where tests live that may carry an ID.
fn is_scanned(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(
        parts.as_slice(),
        ["crates", _, "src" | "tests", ..] | ["xtask", ..]
    )
}

fn summary(sections: &[requirements::Section], tests: &[scan::Test]) -> String {
    let count = format!("conformance: {}", table::counts(sections, tests));
    let notes = table::unknown_ids(sections, tests)
        .into_iter()
        .map(|(test, id)| {
            let scan::Test { name, path, .. } = test;
            format!("note: `{name}` in {path} carries {id}, which is no requirement")
        });
    std::iter::once(count)
        .chain(notes)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
#[path = "conformance_tests.rs"]
mod tests;
