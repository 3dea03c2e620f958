//! The table as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::declared::Key;
use super::shown::Shown;

const INTRODUCTION: &str = "\
<!-- Made by `cargo xtask config-keys`; change the journeys or xtask/config_files.txt instead. -->

# Configuration keys

Every key of the files that people write, as the source declares them, with the journeys in which changing it
changes what happens. A journey says so in a line of its docs for each file: `/// Key: fathom.toml budget.tokens, heads`.
Where no journey says so yet, the files of journeys are named that give a key of that name a value; they may mean another file's key.
A `*` stands for a name that people choose.
";

pub(super) fn render(keys: &[Key<'_>], shown: &Shown<'_>) -> String {
    let mut text = format!("{INTRODUCTION}\n{}\n", summary(keys, shown));
    let mut file = "";
    for key in keys {
        if key.file != file {
            file = key.file;
            let head = "| key | shown by | written in |\n|---|---|---|";
            let _ = writeln!(text, "\n## {file}\n\n{head}");
        }
        let journeys = shown.journeys(key);
        let written = match journeys.as_slice() {
            [] => written_cell(shown.written_in(key)),
            _ => String::new(),
        };
        let shown_by = journeys_cell(&journeys);
        let _ = writeln!(text, "| `{}` | {shown_by} | {written} |", key.name);
    }
    text
}

pub(super) fn summary(keys: &[Key<'_>], shown: &Shown<'_>) -> String {
    let with = keys.iter().filter(|key| !shown.journeys(key).is_empty());
    format!("Journeys show {} of {} keys.", with.count(), keys.len())
}

fn journeys_cell(journeys: &[(&str, &str)]) -> String {
    let mut files: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (path, test) in journeys {
        files.entry(path).or_default().push(format!("`{test}`"));
    }
    let lines: Vec<String> = files
        .into_iter()
        .map(|(path, tests)| format!("[{}](../../{path}): {}", label(path), tests.join(", ")))
        .collect();
    lines.join("<br>")
}

fn written_cell<'a>(files: impl Iterator<Item = &'a str>) -> String {
    /// More files than these say only that the name is common.
    const FILES_MAX: usize = 4;
    let labels: Vec<&str> = files.map(label).collect();
    match labels.len() {
        0..=FILES_MAX => labels.join(", "),
        count => format!("{count} files"),
    }
}

/// The file's name without what all journeys share.
fn label(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
