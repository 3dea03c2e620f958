//! Rules that the tree does not keep yet: how often each is broken today, a number that only goes down.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Context, bail};

use crate::finding::Finding;

/// The file, from the top of the repository.
pub(crate) const FILE: &str = "xtask/ratchets.txt";

/// More findings than these about one entry are summed up in one line.
const LISTED_MAX: usize = 20;

const INTRODUCTION: &str = "\
# How often a rule of `cargo xtask tidy` is broken today, by what it is counted for (mostly a crate).
# A number may only go down, and tidy fails where it is too high as well as where it is too low:
#   cargo xtask tidy --show CHECK [KEY]        lists the places
#   cargo xtask tidy --write-ratchets          lowers the numbers to what is left
#   cargo xtask tidy --write-ratchets --loosen counts anew, after files or types have moved
";

/// A rule broken at a place, and what it is counted under.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    pub(crate) check: &'static str,
    /// Without spaces.
    pub(crate) key: String,
    pub(crate) finding: Finding,
}

impl Violation {
    pub(crate) fn new(check: &'static str, key: impl Into<String>, finding: Finding) -> Self {
        let key = key.into();
        Self {
            check,
            key,
            finding,
        }
    }
}

/// Whether numbers may go up when they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Down,
    Any,
}

type Counts = BTreeMap<(String, String), usize>;

/// How many violations each check allows for each key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ratchets {
    allowed: Counts,
}

impl Ratchets {
    /// Reads `[check]` headings, each followed by lines of a key and a number.
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        let mut allowed = Counts::new();
        let mut check = None;
        for (index, line) in text.lines().enumerate() {
            let place = || format!("{FILE}, line {}", index + 1);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(name) = line
                .strip_prefix('[')
                .and_then(|line| line.strip_suffix(']'))
            {
                check = Some(name);
                continue;
            }
            let check = check.with_context(|| format!("{}: a line before any heading", place()))?;
            let entry = line.split_once(' ');
            let Some((key, Ok(count))) = entry.map(|(key, count)| (key, count.parse())) else {
                bail!("{}: expected `key number`, found `{line}`", place());
            };
            allowed.insert((check.to_owned(), key.to_owned()), count);
        }
        Ok(Self { allowed })
    }

    pub(crate) fn render(&self) -> String {
        let mut text = INTRODUCTION.to_owned();
        let mut heading = "";
        for ((check, key), count) in &self.allowed {
            if check != heading {
                heading = check;
                let _ = writeln!(text, "\n[{check}]");
            }
            let _ = writeln!(text, "{key} {count}");
        }
        text
    }

    /// What is worse than allowed, and what is better and not written down yet.
    pub(crate) fn judge(&self, violations: &[Violation], text: &str) -> Vec<Finding> {
        let found = counts(violations);
        let keys: BTreeSet<&(String, String)> = found.keys().chain(self.allowed.keys()).collect();
        let mut findings = Vec::new();
        for entry in keys {
            let (check, key) = (entry.0.as_str(), entry.1.as_str());
            let count = found.get(entry).copied().unwrap_or_default();
            let allowed = self.allowed.get(entry).copied().unwrap_or_default();
            if count == allowed {
                continue;
            }
            let line = line_of(text, check, key);
            if count < allowed {
                let message = format!(
                    "[{check}] {key}: {allowed} are allowed and {count} are left; run `cargo xtask tidy --write-ratchets`"
                );
                findings.push(Finding::new(FILE, line, message));
                continue;
            }
            let of_entry = violations
                .iter()
                .filter(|violation| violation.check == check && violation.key == key);
            if allowed > 0 || count > LISTED_MAX {
                let message = format!(
                    "[{check}] {key}: {count} found, {allowed} allowed; `cargo xtask tidy --show {check} {key}` lists them"
                );
                findings.push(Finding::new(FILE, line, message));
            }
            if count <= LISTED_MAX {
                findings.extend(of_entry.map(|violation| violation.finding.clone()));
            }
        }
        findings
    }

    /// The numbers to write after these violations were found.
    pub(crate) fn updated(&self, violations: &[Violation], direction: Direction) -> Self {
        let mut allowed = counts(violations);
        if direction == Direction::Down {
            for (entry, count) in &mut allowed {
                *count = self
                    .allowed
                    .get(entry)
                    .map_or(0, |&limit| limit.min(*count));
            }
            allowed.retain(|_, count| *count > 0);
        }
        Self { allowed }
    }

    /// What is allowed today, check by check.
    pub(crate) fn totals(&self) -> BTreeMap<&str, usize> {
        let mut totals = BTreeMap::new();
        for ((check, _), count) in &self.allowed {
            *totals.entry(check.as_str()).or_default() += count;
        }
        totals
    }
}

fn counts(violations: &[Violation]) -> Counts {
    let mut counts = Counts::new();
    for Violation { check, key, .. } in violations {
        *counts
            .entry(((*check).to_owned(), key.clone()))
            .or_default() += 1;
    }
    counts
}

/// The line of an entry in the file, or of the heading under which it would stand.
fn line_of(text: &str, check: &str, key: &str) -> usize {
    let heading = format!("[{check}]");
    let Some(start) = text.lines().position(|line| line == heading) else {
        return 1;
    };
    let entries = text.lines().skip(start + 1);
    let below = entries
        .take_while(|line| !line.starts_with('['))
        .position(|line| line.split(' ').next() == Some(key));
    below.map_or(start + 1, |below| start + below + 2)
}

#[cfg(test)]
#[path = "ratchet_tests.rs"]
mod tests;
