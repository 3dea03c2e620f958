//! Rules of the house that neither the compiler nor a linter knows.
//!
//! Each check is a function from texts to findings, so its tests need no files.

mod banned;
mod doors;
mod edges;
mod error_pages;
mod locks;
mod modules;
mod prose;
mod sizes;

use anyhow::bail;

use crate::Report;
use crate::finding::Finding;
use crate::tree::{self, Tree};

pub(crate) fn run(arguments: &[String]) -> anyhow::Result<Report> {
    if let Some(argument) = arguments.first() {
        bail!("`tidy` takes no argument, not even `{argument}`");
    }
    let top = tree::top_folder()?;
    let tree = Tree::read(&top)?;
    let metadata = tree::output_of(
        &top,
        "cargo",
        &["metadata", "--format-version", "1", "--no-deps"],
    )?;
    let mut findings = edges::check(&metadata, &tree)?;
    findings.extend(check_tree(&tree));
    findings.sort();
    findings.dedup();
    let summary = match findings.len() {
        0 => format!("tidy: {} files, nothing to mend", tree.files.len()),
        count => format!("tidy: {count} to mend in {} files", tree.files.len()),
    };
    Ok(Report { findings, summary })
}

/// Every check that needs the files alone.
fn check_tree(tree: &Tree) -> Vec<Finding> {
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
    for (path, text) in tree.rust_texts() {
        findings.extend(banned::check_rust(path, text));
        findings.extend(modules::check_name(path));
    }
    findings.extend(modules::check_reached(tree));
    findings.extend(modules::check_one_integration_binary(tree));
    findings.extend(error_pages::check(tree));
    findings.extend(doors::check(tree.rust_texts()));
    findings
}
