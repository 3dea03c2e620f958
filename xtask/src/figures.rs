//! Figures of the tree, counted from its texts, and the limits they must keep.

mod ceilings;
mod lock;
mod size;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, bail};

use crate::Report;
use crate::finding::Finding;
use crate::ratchet::{Direction, Violation};
use crate::sources::{self, Source};
use crate::tree::{self, Tree};
use crate::type_names::{self, TypeDefinition};
use ceilings::{Ceilings, FILE};

pub(crate) use lock::Lock;

/// A number with one decimal: enough for a share, and no rounding to argue about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tenths(pub(crate) u64);

impl Tenths {
    pub(crate) const fn whole(number: usize) -> Self {
        Self(number as u64 * 10)
    }

    /// `part` for each `unit` of `whole`.
    fn ratio(part: usize, whole: usize, unit: usize) -> Self {
        let tenths = (part * unit * 10).checked_div(whole);
        Self(tenths.unwrap_or_default() as u64)
    }
}

impl std::fmt::Display for Tenths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(tenths) = self;
        match tenths % 10 {
            0 => write!(f, "{}", tenths / 10),
            fraction => write!(f, "{}.{fraction}", tenths / 10),
        }
    }
}

/// One number of the tree.
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: Tenths,
    /// A limit is a multiple of this, so that it need not move with every line.
    step: Tenths,
    about: &'static str,
    /// What was counted, one line each.
    details: Vec<String>,
}

enum Mode {
    Print { verbose: bool },
    Check,
    Write(Direction),
}

pub(crate) fn run(arguments: &[String]) -> anyhow::Result<Report> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mode = match arguments.as_slice() {
        [] => Mode::Print { verbose: false },
        ["-v" | "--verbose"] => Mode::Print { verbose: true },
        ["--check"] => Mode::Check,
        ["--write-ceilings"] => Mode::Write(Direction::Down),
        ["--write-ceilings", "--loosen"] => Mode::Write(Direction::Any),
        other => bail!(
            "`figures` takes `-v`, `--check`, `--write-ceilings [--loosen]` or nothing, not `{}`",
            other.join(" ")
        ),
    };
    let top = tree::top_folder()?;
    let tree = Tree::read(&top)?;
    let sources = sources::parse_all(&tree);
    let figures = all(&tree, &sources)?;
    let text = tree.text(FILE).unwrap_or_default();
    let ceilings = Ceilings::parse(text)?;
    Ok(match mode {
        Mode::Print { verbose } => Report::of(print(&figures, &ceilings, verbose)),
        Mode::Check => {
            let summary = format!("figures: {} counted", figures.len());
            let findings = ceilings.judge(&figures, text);
            Report { findings, summary }
        }
        Mode::Write(direction) => {
            let written = ceilings.updated(&figures, direction).render();
            fs::write(top.join(FILE), written).with_context(|| format!("cannot write `{FILE}`"))?;
            Report::of(format!("{FILE}: written"))
        }
    })
}

/// The part of this task that `cargo xtask tidy` runs.
pub(crate) fn check(tree: &Tree, sources: &[Source<'_>]) -> anyhow::Result<Vec<Finding>> {
    let text = tree.text(FILE).unwrap_or_default();
    Ok(Ceilings::parse(text)?.judge(&all(tree, sources)?, text))
}

fn print(figures: &[Figure], ceilings: &Ceilings, verbose: bool) -> String {
    let mut text = String::new();
    for figure in figures {
        let Figure {
            name,
            value,
            about,
            details,
            ..
        } = figure;
        let limit = ceilings.limit_of(name).unwrap_or_default();
        let value = value.to_string();
        let _ = writeln!(text, "{value:>8}  {limit:<18} {name:<28} {about}");
        if verbose {
            for line in details {
                let _ = writeln!(text, "          {line}");
            }
        }
    }
    text.trim_end().to_owned()
}

pub(crate) fn all(tree: &Tree, sources: &[Source<'_>]) -> anyhow::Result<Vec<Figure>> {
    let mut figures = type_figures(tree, sources)?;
    figures.extend(counted(sources));
    figures.extend(size::figures(sources));
    let lock = Lock::parse(tree.text("Cargo.lock").unwrap_or_default());
    figures.extend(lock.figures());
    Ok(figures)
}

fn type_figures(tree: &Tree, sources: &[Source<'_>]) -> anyhow::Result<Vec<Figure>> {
    let definitions = type_names::definitions(sources);
    let listed = tree.text(type_names::SHARED_FILE).unwrap_or_default();
    let listed = type_names::parse_shared(listed)?;
    let mut shared = type_names::shared_across_crates(&definitions);
    shared.retain(|name, _| !listed.contains_key(name));
    let mut repeated = type_names::by_name(definitions.iter());
    repeated.retain(|_, places| places.len() > 1);
    let repeated_count = repeated.values().map(Vec::len).sum();
    let one_word = definitions
        .iter()
        .filter(|definition| is_one_word(definition.name));
    let one_word = type_names::by_name(one_word);
    let one_word_count = one_word.values().map(Vec::len).sum();
    let with_owners = |(name, places): (&&str, &Vec<&TypeDefinition<'_>>)| {
        let owners: BTreeSet<&str> = places.iter().map(|place| place.owner).collect();
        let owners: Vec<&str> = owners.into_iter().collect();
        format!("{name}: {} in {}", places.len(), owners.join(", "))
    };
    let percent = |part| Tenths::ratio(part, definitions.len(), 100);
    Ok(vec![
        Figure {
            name: "shared-type-names".to_owned(),
            value: Tenths::whole(shared.len()),
            step: Tenths::whole(1),
            about: "names that are `pub` or `pub(crate)` in two crates or more, but for those with a reason",
            details: shared.iter().map(with_owners).collect(),
        },
        Figure {
            name: "repeated-type-percent".to_owned(),
            value: percent(repeated_count),
            step: Tenths::whole(1),
            about: "of all types outside tests: those whose name another type has",
            details: repeated.iter().map(with_owners).collect(),
        },
        Figure {
            name: "one-word-type-percent".to_owned(),
            value: percent(one_word_count),
            step: Tenths::whole(1),
            about: "of all types outside tests: those called by a single word",
            details: one_word.iter().map(with_owners).collect(),
        },
    ])
}

/// Whether a name in camel case is a single word: `Budget`, not `BudgetPart`.
fn is_one_word(name: &str) -> bool {
    name.chars().filter(char::is_ascii_uppercase).count() <= 1
}

/// Figures that are a check's violations, counted.
fn counted(sources: &[Source<'_>]) -> Vec<Figure> {
    let figure = |name: &str, violations: Vec<Violation>, about| Figure {
        name: name.to_owned(),
        value: Tenths::whole(violations.len()),
        step: Tenths::whole(1),
        about,
        details: violations
            .iter()
            .map(|violation| violation.finding.to_string())
            .collect(),
    };
    let mut fillers = crate::tidy::check_docs(sources);
    fillers.retain(|violation| violation.check == "doc-filler");
    vec![
        figure(
            "string-errors",
            crate::tidy::check_string_errors(sources),
            "`Result<_, String>` outside tests",
        ),
        figure(
            "doc-fillers",
            fillers,
            "documentation that is `The x.`, `Its x.` or a question word",
        ),
        figure(
            "unused-items",
            crate::tidy::check_unused_items(sources),
            "public items that only tests name",
        ),
    ]
}

#[cfg(test)]
#[path = "figures_tests.rs"]
mod tests;
