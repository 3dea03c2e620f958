//! Rules of the house that neither the compiler nor a linter knows.
//!
//! Each check is a function from texts to findings, so its tests need no files. A rule that the tree
//! does not keep yet gives violations, which are counted against [`ratchet`].

mod banned;
mod dependencies;
mod docs;
mod doors;
mod edges;
mod error_pages;
mod error_titles;
mod file_names;
mod locks;
mod modules;
mod phrases;
mod programs;
mod prose;
mod sizes;
mod snapshots;
mod string_errors;
mod type_rules;
mod unused_items;

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};

use crate::Report;
use crate::config_keys;
use crate::figures;
use crate::finding::Finding;
use crate::ratchet::{self, Direction, Ratchets, Violation};
use crate::sources::{self, Source};
use crate::tree::{self, Tree};
use crate::type_names;

pub(crate) use docs::check as check_docs;
pub(crate) use string_errors::check as check_string_errors;
pub(crate) use unused_items::check as check_unused_items;

/// What the task is asked to do.
#[derive(Debug, PartialEq, Eq)]
enum Mode<'a> {
    Check,
    Write(Direction),
    /// Lists the places of a check, of all keys or of one.
    Show {
        check: Option<&'a str>,
        key: Option<&'a str>,
    },
}

pub(crate) fn run(arguments: &[String]) -> anyhow::Result<Report> {
    let mode = mode(arguments)?;
    let top = tree::top_folder()?;
    let tree = Tree::read(&top)?;
    let sources = sources::parse_all(&tree);
    let metadata = tree::output_of(
        &top,
        "cargo",
        &["metadata", "--format-version", "1", "--no-deps"],
    )?;
    let mut checked = check_tree(&tree, &sources)?;
    let edges = edges::check(&metadata, &tree)?;
    checked.findings.extend(edges.findings);
    checked.violations.extend(edges.violations);
    let text = tree.text(ratchet::FILE).unwrap_or_default();
    match mode {
        Mode::Check => {
            let mut findings = checked.findings;
            findings.extend(Ratchets::parse(text)?.judge(&checked.violations, text));
            findings.sort();
            findings.dedup();
            let summary = match findings.len() {
                0 => format!("tidy: {} files, nothing to fix", tree.files.len()),
                count => format!("tidy: {count} to fix in {} files", tree.files.len()),
            };
            Ok(Report { findings, summary })
        }
        Mode::Write(direction) => write(&top, &checked.violations, text, direction),
        Mode::Show { check: None, .. } => {
            let ratchets = Ratchets::parse(text)?;
            let lines = ratchets.totals().into_iter();
            let lines: Vec<String> = lines
                .map(|(check, count)| format!("{count:>6}  {check}"))
                .collect();
            Ok(Report::of(lines.join("\n")))
        }
        Mode::Show {
            check: Some(check),
            key,
        } => Ok(Report::of(listed(&checked.violations, check, key))),
    }
}

fn mode(arguments: &[String]) -> anyhow::Result<Mode<'_>> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Ok(match arguments.as_slice() {
        [] => Mode::Check,
        ["--write-ratchets"] => Mode::Write(Direction::Down),
        ["--write-ratchets", "--loosen"] => Mode::Write(Direction::Any),
        ["--show", rest @ ..] if rest.len() <= 2 => Mode::Show {
            check: rest.first().copied(),
            key: rest.get(1).copied(),
        },
        other => bail!(
            "`tidy` takes `--write-ratchets [--loosen]`, `--show [CHECK [KEY]]` or nothing, not `{}`",
            other.join(" ")
        ),
    })
}

fn write(
    top: &Path,
    violations: &[Violation],
    text: &str,
    direction: Direction,
) -> anyhow::Result<Report> {
    // A file that a merge left with marks can be counted anew.
    let before = match direction {
        Direction::Down => Ratchets::parse(text)?,
        Direction::Any => Ratchets::parse(text).unwrap_or_default(),
    };
    let after = before.updated(violations, direction);
    let file = ratchet::FILE;
    fs::write(top.join(file), after.render()).with_context(|| format!("cannot write `{file}`"))?;
    let sum = |ratchets: &Ratchets| ratchets.totals().values().sum::<usize>();
    Ok(Report::of(format!(
        "{file}: {} before, {} now",
        sum(&before),
        sum(&after)
    )))
}

fn listed(violations: &[Violation], check: &str, key: Option<&str>) -> String {
    let mut findings: Vec<&Finding> = violations
        .iter()
        .filter(|violation| violation.check == check)
        .filter(|violation| key.is_none_or(|key| violation.key == key))
        .map(|violation| &violation.finding)
        .collect();
    findings.sort();
    let mut lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    lines.push(format!("{check}: {} found", lines.len()));
    lines.join("\n")
}

/// What the files alone show.
#[derive(Default)]
struct Checked {
    findings: Vec<Finding>,
    violations: Vec<Violation>,
}

fn check_tree(tree: &Tree, sources: &[Source<'_>]) -> anyhow::Result<Checked> {
    let mut findings = Vec::new();
    for file in &tree.files {
        findings.extend(sizes::check_bytes(&file.path, file.size_bytes));
    }
    for (path, text) in tree.texts() {
        findings.extend(sizes::check_lines(path, text));
        findings.extend(banned::check_machine_paths(path, text));
        findings.extend(locks::check(path, text));
        findings.extend(prose::check(path, text));
    }
    for source in sources {
        findings.extend(banned::check_rust(source));
        findings.extend(modules::check_name(source.path));
    }
    findings.extend(modules::check_reached(sources));
    findings.extend(modules::check_one_integration_binary(tree));
    findings.extend(error_pages::check(tree));
    findings.extend(doors::check(sources));
    findings.extend(snapshots::check(tree));
    findings.extend(dependencies::check(tree));
    findings.extend(figures::check(tree, sources)?);

    let shared = tree.text(type_names::SHARED_FILE).unwrap_or_default();
    let shared = type_names::parse_shared(shared)?;
    let types = type_rules::check(sources, &shared);
    findings.extend(types.findings);
    let mut violations = types.violations;
    violations.extend(file_names::check(tree));
    violations.extend(phrases::check(tree, sources));
    violations.extend(docs::check(sources));
    violations.extend(programs::check_names(sources));
    violations.extend(programs::check_folders(tree));
    violations.extend(error_titles::check(tree, sources));
    violations.extend(string_errors::check(sources));
    violations.extend(unused_items::check(sources));
    let (key_findings, key_violations) = config_keys::check(tree, sources)?;
    findings.extend(key_findings);
    violations.extend(key_violations);
    Ok(Checked {
        findings,
        violations,
    })
}

#[cfg(test)]
#[path = "tidy_tests.rs"]
mod tests;
