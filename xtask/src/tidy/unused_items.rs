//! A public item that only tests name is gone for users: it is wired to something, or removed.
//!
//! The compiler takes every public item for used. Here an item counts as used when its name stands anywhere
//! in shipped code but at its definition, in a re-export or in an `impl`: common names hide others, so
//! what is found is really unused, and not all that is unused is found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::finding::Finding;
use crate::pattern;
use crate::ratchet::Violation;
use crate::sources::Source;

/// The library's own crate, whose re-exports are what users reach.
const FACADE: &str = "fathom";

pub(crate) fn check(sources: &[Source<'_>]) -> Vec<Violation> {
    static ITEM: LazyLock<Regex> = LazyLock::new(|| {
        pattern::constant(
            r"(?m)^[ \t]*(pub\s+)?(?:pub\([^)]*\)\s+)?(?:(?:const|async|unsafe)\s+)*(fn|struct|enum|union|trait|const|static|type)\s+(\w+)",
        )
    });
    let product: Vec<&Source<'_>> = sources
        .iter()
        .filter(|source| source.is_product())
        .collect();
    let mut definitions: BTreeMap<&str, usize> = BTreeMap::new();
    let mut public = Vec::new();
    for source in &product {
        for captures in ITEM.captures_iter(&source.shipped) {
            let Some(name) = captures.get(3) else {
                continue;
            };
            *definitions.entry(name.as_str()).or_default() += 1;
            if captures.get(1).is_some() && source.owner != FACADE {
                public.push((*source, name));
            }
        }
    }
    let mentions = mentions(
        &product,
        &public.iter().map(|(_, name)| name.as_str()).collect(),
    );
    let is_used = |name: &str| {
        let mentions = mentions.get(name).copied().unwrap_or_default();
        mentions > definitions.get(name).copied().unwrap_or_default()
    };
    public
        .into_iter()
        .filter(|(_, name)| !is_used(name.as_str()))
        .map(|(source, name)| {
            let message = format!(
                "nothing but tests names `{}`: wire it, or remove it",
                name.as_str()
            );
            let finding = Finding::at(source.path, source.rust.raw, name.start(), message);
            Violation::new("unused-item", source.owner, finding)
        })
        .collect()
}

/// How often each of some names stands in shipped code, re-exports and heads of `impl` aside.
fn mentions<'s>(product: &[&'s Source<'_>], names: &BTreeSet<&str>) -> BTreeMap<&'s str, usize> {
    static WORD: LazyLock<Regex> = LazyLock::new(|| pattern::constant(r"(?-u:\b[A-Za-z_]\w+)"));
    static ASIDE: LazyLock<Regex> = LazyLock::new(|| {
        pattern::constant(
            r"(?m)^[ \t]*pub(?:\([^)]*\))?\s+use\s[^;]*;|^[ \t]*(?:unsafe )?impl\b[^{;]*\{",
        )
    });
    // An attribute names functions in strings, and a format string names constants.
    static IN_LITERAL: LazyLock<Regex> =
        LazyLock::new(|| pattern::constant(r#"(?-u:^"[\w:]+"$|\{\w+[:}])"#));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut count = |text: &'s str, skip: &dyn Fn(usize) -> bool| {
        for word in WORD.find_iter(text) {
            if names.contains(word.as_str()) && !skip(word.start()) {
                *counts.entry(word.as_str()).or_default() += 1;
            }
        }
    };
    for source in product {
        let aside: Vec<_> = if source.owner == FACADE {
            Vec::new()
        } else {
            ASIDE
                .find_iter(&source.shipped)
                .map(|found| found.range())
                .collect()
        };
        count(&source.shipped, &|at| {
            let next = aside.partition_point(|range| range.end <= at);
            aside.get(next).is_some_and(|range| range.contains(&at))
        });
        for literal in &source.rust.literals {
            if source.is_shipped_at(literal.start) {
                for named in IN_LITERAL.find_iter(&source.rust.raw[literal.clone()]) {
                    count(named.as_str(), &|_| false);
                }
            }
        }
    }
    counts
}

#[cfg(test)]
#[path = "unused_items_tests.rs"]
mod tests;
