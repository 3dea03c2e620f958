//! Keys of the files that people write, and the journeys in which changing one changes what happens.
//!
//! Keys are found in the types that a file is read into. A journey names them in its docs, each file in
//! a line of its own: `/// Key: fathom.toml recursion.max_depth, recursion.max_children`.

mod declared;
mod imports;
mod shown;
mod table;

use std::fs;

use anyhow::{Context, bail};

use crate::Report;
use crate::finding::Finding;
use crate::generated;
use crate::ratchet::Violation;
use crate::sources::{self, Source};
use crate::tree::{self, Tree};
use declared::Key;
use shown::Shown;

/// The table, from the top of the repository.
pub(crate) const TABLE: &str = "docs/dev/config-keys.md";

/// Which types to begin with.
const ROOTS: &str = "xtask/config_files.txt";

pub(crate) fn run(arguments: &[String]) -> anyhow::Result<Report> {
    if !arguments.is_empty() {
        bail!("`config-keys` takes no argument; `tidy` checks that the table is current");
    }
    let top = tree::top_folder()?;
    let tree = Tree::read(&top)?;
    let sources = sources::parse_all(&tree);
    let found = Found::read(&tree, &sources)?;
    let path = top.join(TABLE);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder of `{TABLE}`"))?;
    }
    let text = table::render(&found.keys, &found.shown);
    fs::write(&path, text).with_context(|| format!("cannot write `{TABLE}`"))?;
    Ok(Report {
        findings: found.findings,
        summary: table::summary(&found.keys, &found.shown),
    })
}

/// What is wrong at once, and keys without a journey, which are counted by file.
pub(crate) fn check(
    tree: &Tree,
    sources: &[Source<'_>],
) -> anyhow::Result<(Vec<Finding>, Vec<Violation>)> {
    let Found {
        keys,
        shown,
        mut findings,
    } = Found::read(tree, sources)?;
    let made = table::render(&keys, &shown);
    let file = tree.text(TABLE).unwrap_or_default();
    findings.extend(generated::difference(TABLE, file, &made, "config-keys"));
    let without = keys.iter().filter(|key| shown.journeys(key).is_empty());
    let violations = without.map(|key| {
        let message = format!(
            "no journey shows what `{}` of {} changes",
            key.name, key.file
        );
        let finding = Finding::at(key.path, key.text, key.offset, message);
        Violation::new("config-key", key.file, finding)
    });
    Ok((findings, violations.collect()))
}

/// Keys, and what tests say of them.
struct Found<'a> {
    keys: Vec<Key<'a>>,
    shown: Shown<'a>,
    findings: Vec<Finding>,
}

impl<'a> Found<'a> {
    fn read(tree: &'a Tree, sources: &'a [Source<'a>]) -> anyhow::Result<Self> {
        let roots = declared::parse_roots(tree.text(ROOTS).unwrap_or_default())?;
        let types = declared::Types::of(sources);
        let mut findings = Vec::new();
        let keys = declared::keys(&roots, &types, &mut findings);
        let shown = Shown::read(sources);
        findings.extend(shown.unknown(&keys));
        Ok(Self {
            keys,
            shown,
            findings,
        })
    }
}

#[cfg(test)]
#[path = "config_keys_tests.rs"]
mod tests;
