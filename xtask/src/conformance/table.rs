//! The table as Markdown.

use std::collections::{BTreeMap, BTreeSet};

use super::requirements::{Requirement, Section};
use super::scan::Test;

const INTRODUCTION: &str = "\
<!-- Made by `cargo xtask conformance`; change the tests or xtask/src/requirements.txt instead. -->

# Conformance

A requirement is `shown` when at least one test carries its ID in its name or in the first line of its
docs. `make test` runs them all.
";

pub(crate) fn render(sections: &[Section], tests: &[Test]) -> String {
    let shown = shown_count(sections, tests);
    let count = format!("\n{shown} of {} are shown.\n", total_count(sections));
    let tables = sections
        .iter()
        .map(|section| render_section(section, tests));
    [INTRODUCTION.to_owned(), count]
        .into_iter()
        .chain(tables)
        .collect()
}

fn render_section(section: &Section, tests: &[Test]) -> String {
    let rows: Vec<String> = section
        .requirements
        .iter()
        .map(|requirement| {
            let Requirement { id, phrase } = requirement;
            let cell = tests_cell(id, tests);
            let state = if cell.is_empty() { "–" } else { "shown" };
            format!("| {id} | {phrase} | {cell} | {state} |\n")
        })
        .collect();
    let (title, rows) = (&section.title, rows.concat());
    format!("\n## {title}\n\n| ID | requirement | tests | state |\n|---|---|---|---|\n{rows}")
}

/// Tests by file, each file once; a line number would change with every edit.
fn tests_cell(id: &str, tests: &[Test]) -> String {
    let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for test in tests.iter().filter(|test| test.ids.contains(id)) {
        files.entry(&test.path).or_default().insert(&test.name);
    }
    let lines: Vec<String> = files
        .iter()
        .map(|(path, names)| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let label = path.trim_start_matches("crates/");
            format!("[{label}](../{path}): {}", names.join(", "))
        })
        .collect();
    lines.join("<br>")
}

pub(crate) fn total_count(sections: &[Section]) -> usize {
    known_ids(sections).len()
}

pub(crate) fn shown_count(sections: &[Section], tests: &[Test]) -> usize {
    let carried: BTreeSet<&str> = tests.iter().flat_map(ids_of).collect();
    known_ids(sections).intersection(&carried).count()
}

/// IDs that tests carry and the list does not have: a slip, or a name such as `p50_…`.
pub(crate) fn unknown_ids<'a>(sections: &[Section], tests: &'a [Test]) -> Vec<(&'a Test, &'a str)> {
    let known = known_ids(sections);
    tests
        .iter()
        .flat_map(|test| ids_of(test).map(move |id| (test, id)))
        .filter(|(_, id)| !known.contains(id))
        .collect()
}

fn ids_of(test: &Test) -> impl Iterator<Item = &str> {
    test.ids.iter().map(String::as_str)
}

fn known_ids(sections: &[Section]) -> BTreeSet<&str> {
    sections
        .iter()
        .flat_map(|section| &section.requirements)
        .map(|requirement| requirement.id.as_str())
        .collect()
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
