//! The snapshot of the library API: every public item and signature that the sources of crate `fathom` write down.
//!
//! It reads text, so that it needs no nightly toolchain: what a re-exported type looks like inside is not in it, only that it
//! is exported. Modules of the crate are private and re-exported by name, so an item that is `pub` in a file counts.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, bail};

use crate::Report;
use crate::generated;
use crate::tree::{self, Tree};

const SOURCES: &str = "crates/fathom/src/";
const SNAPSHOT: &str = "crates/fathom/api.txt";

pub(crate) fn run(arguments: &[String]) -> anyhow::Result<Report> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let top = tree::top_folder()?;
    let tree = Tree::read(&top)?;
    let sources = tree
        .rust_texts()
        .filter(|(path, _)| path.starts_with(SOURCES) && !tree::is_test_file(path));
    let text = snapshot(sources);
    let mut findings = Vec::new();
    match arguments.as_slice() {
        [] => {
            fs::write(top.join(SNAPSHOT), &text)
                .with_context(|| format!("cannot write `{SNAPSHOT}`"))?;
        }
        ["--check"] => {
            let file = tree.text(SNAPSHOT).unwrap_or_default();
            findings.extend(generated::difference(SNAPSHOT, file, &text, "api"));
        }
        other => bail!(
            "`api` takes `--check` or nothing, not `{}`",
            other.join(" ")
        ),
    }
    let summary = format!("api: {} public items", text.lines().count());
    Ok(Report { findings, summary })
}

/// One line for each public item, sorted, with its type or module before it.
fn snapshot<'a>(sources: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let lines: BTreeSet<String> = sources.flat_map(|(_, text)| items(text)).collect();
    lines.into_iter().map(|line| line + "\n").collect()
}

/// The public items of one file. It is formatted code, so a block that begins at a column ends at the same one.
fn items(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut owner: Option<Owner> = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        if line == "}" {
            owner = None;
        }
        if code.starts_with("//") || code.starts_with('#') {
            continue;
        }
        let is_top = !line.starts_with(' ');
        let opens = is_top && (code.starts_with("impl") || code.starts_with("pub "));
        let is_member = owner.as_ref().is_some_and(|owner| owner.takes(line));
        if !opens && !is_member {
            continue;
        }
        let mut item = code.to_owned();
        let is_import = code.starts_with("pub use ");
        while !is_whole(&item, is_import) {
            let Some(more) = lines.next() else { break };
            item.push(' ');
            item.push_str(more.trim());
        }
        let is_block = item.ends_with('{');
        let name = tidied(&item);
        if is_top && is_block {
            owner = Some(Owner::of(&name));
            if name.starts_with("impl") && !name.contains(" for ") {
                continue;
            }
        }
        match &mut owner {
            Some(owner) if !is_top => {
                if line.starts_with("        ") {
                    found.push(format!("{}: {} {{ {name} }}", owner.name, owner.variant));
                } else {
                    found.push(format!("{}: {name}", owner.name));
                    owner.variant = name;
                }
            }
            _ => found.push(name),
        }
    }
    found
}

/// The block that an item stands in.
struct Owner {
    name: String,
    /// Variants of an enum are public without saying so.
    is_enum: bool,
    /// The last one seen; its fields follow it.
    variant: String,
}

impl Owner {
    fn of(head: &str) -> Self {
        Self {
            is_enum: head.starts_with("pub enum"),
            name: head.to_owned(),
            variant: String::new(),
        }
    }

    fn takes(&self, line: &str) -> bool {
        let Some(code) = line.strip_prefix("    ") else {
            return false;
        };
        let is_variant = self.is_enum && code.starts_with(char::is_uppercase);
        // The fields of a variant are public with it.
        let is_field = self.is_enum && code.starts_with("    ") && code.ends_with(',');
        code.starts_with("pub ") || is_variant || is_field
    }
}

/// Whether an item has come to its body, its end, or the comma after it.
fn is_whole(item: &str, is_import: bool) -> bool {
    if is_import {
        return item.ends_with(';');
    }
    let open = item.matches('(').count() > item.matches(')').count();
    !open && item.ends_with(['{', ';', ',', '}'])
}

fn tidied(item: &str) -> String {
    let item = item.trim_end_matches(['{', ';', ',', ' ']);
    item.replace("( ", "(")
        .replace(", )", ")")
        .replace("{ ", "{")
        .replace(", }", "}")
}

#[cfg(test)]
#[path = "api_tests.rs"]
mod tests;
