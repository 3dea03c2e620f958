//! The limits of figures, each with a reason.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context, bail};

use super::{Figure, Tenths};
use crate::finding::Finding;
use crate::ratchet::Direction;

/// The file, from the top of the repository.
pub(super) const FILE: &str = "xtask/ceilings.txt";

/// Figures that have their own line for each crate.
const BY_CRATE: &str = "why-comments/";

const INTRODUCTION: &str = "\
# Limits of the figures that `cargo xtask figures` counts: name, `at-most` or `at-least`, number, reason.
# `cargo xtask figures --write-ceilings` moves each to where the tree is better; with `--loosen` it counts the
# lines of crates anew, after code has moved. Any other limit is loosened by hand, in a change that says why.
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    AtMost,
    AtLeast,
}

impl Bound {
    const fn word(self) -> &'static str {
        match self {
            Self::AtMost => "at-most",
            Self::AtLeast => "at-least",
        }
    }

    /// Whether a value is on the wrong side of its limit.
    fn is_broken(self, value: Tenths, limit: Tenths) -> bool {
        match (self, value.cmp(&limit)) {
            (Self::AtMost, Ordering::Greater) | (Self::AtLeast, Ordering::Less) => true,
            (Self::AtMost | Self::AtLeast, _) => false,
        }
    }

    /// The limit next to a value, on the side that leaves it some room.
    const fn beside(self, value: Tenths, step: Tenths) -> Tenths {
        Tenths(match self {
            Self::AtMost => value.0.div_ceil(step.0) * step.0,
            Self::AtLeast => value.0 / step.0 * step.0,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Ceiling {
    name: String,
    bound: Bound,
    limit: Tenths,
    reason: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ceilings {
    ceilings: Vec<Ceiling>,
}

impl Ceilings {
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let mut ceilings = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let ceiling = parse_line(line).with_context(|| {
                format!(
                    "{FILE}, line {}: expected `name at-most|at-least number reason`",
                    index + 1
                )
            })?;
            if ceilings
                .iter()
                .any(|known: &Ceiling| known.name == ceiling.name)
            {
                bail!(
                    "{FILE}, line {}: a second line of `{}`",
                    index + 1,
                    ceiling.name
                );
            }
            ceilings.push(ceiling);
        }
        Ok(Self { ceilings })
    }

    pub(super) fn render(&self) -> String {
        let mut text = format!("{INTRODUCTION}\n");
        for ceiling in &self.ceilings {
            let Ceiling {
                name,
                bound,
                limit,
                reason,
            } = ceiling;
            let _ = writeln!(text, "{name} {} {limit} {reason}", bound.word());
        }
        text
    }

    fn of(&self, name: &str) -> Option<&Ceiling> {
        self.ceilings.iter().find(|ceiling| ceiling.name == name)
    }

    /// A figure's limit in words.
    pub(super) fn limit_of(&self, name: &str) -> Option<String> {
        let ceiling = self.of(name)?;
        Some(format!("({} {})", ceiling.bound.word(), ceiling.limit))
    }

    /// Figures beyond their limit or without one, and limits of figures that are no more.
    pub(super) fn judge(&self, figures: &[Figure], text: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        for Figure { name, value, .. } in figures {
            let Some(Ceiling { bound, limit, .. }) = self.of(name) else {
                let message = format!(
                    "`{name}` is {value} and has no limit; run `cargo xtask figures --write-ceilings`"
                );
                findings.push(Finding::whole(FILE, message));
                continue;
            };
            if bound.is_broken(*value, *limit) {
                let word = bound.word().replace('-', " ");
                let message = format!(
                    "`{name}` is {value}, the limit is {word} {limit}; `cargo xtask figures -v` shows what was counted"
                );
                findings.push(Finding::new(FILE, line_of(text, name), message));
            }
        }
        let known: BTreeSet<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
        let gone = self
            .ceilings
            .iter()
            .filter(|ceiling| !known.contains(ceiling.name.as_str()));
        findings.extend(gone.map(|ceiling| {
            let message = format!("there is no figure `{}`; remove the line", ceiling.name);
            Finding::new(FILE, line_of(text, &ceiling.name), message)
        }));
        findings
    }

    /// The same limits, moved to where figures are better, with lines for crates that are new. Where code has moved
    /// between crates, their lines may be loosened too.
    pub(super) fn updated(&self, figures: &[Figure], direction: Direction) -> Self {
        let ceilings = figures.iter().map(|figure| {
            let Figure {
                name, value, step, ..
            } = figure;
            let Some(known) = self.of(name) else {
                return new_ceiling(figure);
            };
            let beside = known.bound.beside(*value, *step);
            let limit = match (known.bound, direction) {
                (_, Direction::Any) if name.starts_with(BY_CRATE) => beside,
                (Bound::AtMost, _) => known.limit.min(beside),
                (Bound::AtLeast, _) => known.limit.max(beside),
            };
            Ceiling {
                limit,
                ..known.clone()
            }
        });
        Self {
            ceilings: ceilings.collect(),
        }
    }
}

fn new_ceiling(figure: &Figure) -> Ceiling {
    let (bound, reason) = if figure.name.starts_with(BY_CRATE) {
        (
            Bound::AtLeast,
            "Goal 15; this is where it was when it was first counted.",
        )
    } else if figure.name == BY_CRATE.trim_end_matches('/') {
        (Bound::AtLeast, "Where it was when it was first counted.")
    } else {
        (Bound::AtMost, "Where it was when it was first counted.")
    };
    Ceiling {
        name: figure.name.clone(),
        bound,
        limit: bound.beside(figure.value, figure.step),
        reason: reason.to_owned(),
    }
}

fn parse_line(line: &str) -> Option<Ceiling> {
    let mut words = line.splitn(4, ' ');
    let name = words.next()?.to_owned();
    let bound = match words.next()? {
        "at-most" => Bound::AtMost,
        "at-least" => Bound::AtLeast,
        _ => return None,
    };
    let limit = parse_tenths(words.next()?)?;
    let reason = words.next()?.trim().to_owned();
    (!reason.is_empty()).then_some(Ceiling {
        name,
        bound,
        limit,
        reason,
    })
}

fn parse_tenths(text: &str) -> Option<Tenths> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let fraction: u64 = Some(fraction)
        .filter(|digits| digits.len() == 1)?
        .parse()
        .ok()?;
    Some(Tenths(
        whole.parse::<u64>().ok()?.checked_mul(10)? + fraction,
    ))
}

fn line_of(text: &str, name: &str) -> usize {
    let line = text
        .lines()
        .position(|line| line.split(' ').next() == Some(name));
    line.map_or(1, |index| index + 1)
}

#[cfg(test)]
#[path = "ceilings_tests.rs"]
mod tests;
