//! The table as Markdown.

use std::collections::{BTreeMap, BTreeSet};

use super::requirements::{Requirement, Section};
use super::scan::Test;

const INTRODUCTION: &str = "\
<!-- Made by `cargo xtask conformance`; change the tests or xtask/src/requirements.txt instead. -->

# Conformance

A **journey** is a test that drives only what a user drives. Which tests are journeys follows from their path:
those under `crates/fathom-cli/tests/it/`, which run the binary `fathom`, and those under `tests/journeys/` of
the crates `fathom` and `fathom-server`, which use the public API or the server's addresses. The name of a
journey begins with the IDs that it shows (`h02_…`). Any other test carries an ID in its name or in the first line of
its docs.

A requirement **works** when a journey shows it, is **covered** when only other tests do, and is **open** otherwise.
`make test` runs them all.
";

/// How far a requirement is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Works,
    Covered,
    Open,
}

impl State {
    fn of(id: &str, tests: &[Test]) -> Self {
        if tests.iter().any(|test| test.journey_ids.contains(id)) {
            Self::Works
        } else if tests.iter().any(|test| test.ids.contains(id)) {
            Self::Covered
        } else {
            Self::Open
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Covered => "covered",
            Self::Open => "open",
        }
    }
}

pub(crate) fn render(sections: &[Section], tests: &[Test]) -> String {
    let count = format!("\n{}\n", counts(sections, tests));
    let tables = sections
        .iter()
        .map(|section| render_section(section, tests));
    [INTRODUCTION.to_owned(), count]
        .into_iter()
        .chain(tables)
        .collect()
}

/// How many requirements are in which state, as a sentence.
pub(crate) fn counts(sections: &[Section], tests: &[Test]) -> String {
    let known = known_ids(sections);
    let count = |state| {
        let ids = known.iter();
        ids.filter(|id| State::of(id, tests) == state).count()
    };
    format!(
        "Of {} requirements {} work, {} are covered and {} are open.",
        known.len(),
        count(State::Works),
        count(State::Covered),
        count(State::Open)
    )
}

fn render_section(section: &Section, tests: &[Test]) -> String {
    let rows: Vec<String> = section
        .requirements
        .iter()
        .map(|requirement| {
            let Requirement { id, phrase } = requirement;
            let (journeys, others): (Vec<&Test>, Vec<&Test>) = tests
                .iter()
                .filter(|test| test.ids.contains(id))
                .partition(|test| test.journey_ids.contains(id));
            let (journeys, others) = (tests_cell(&journeys), tests_cell(&others));
            let state = State::of(id, tests).word();
            format!("| {id} | {phrase} | {journeys} | {others} | {state} |\n")
        })
        .collect();
    let (title, rows) = (&section.title, rows.concat());
    format!(
        "\n## {title}\n\n| ID | requirement | journeys | other tests | state |\n|---|---|---|---|---|\n{rows}"
    )
}

/// Tests by file, each file once; a line number would change with every edit.
fn tests_cell(tests: &[&Test]) -> String {
    let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for test in tests {
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
