//! The crates that `Cargo.lock` holds.

use std::collections::{BTreeMap, BTreeSet};

use super::{Figure, Tenths};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Package<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
}

impl<'a> Package<'a> {
    /// What Cargo takes as one: `1` of `1.2.3`, `0.2` of `0.2.3`, and the whole of `0.0.3`.
    fn major(&self) -> &'a str {
        let mut ends = self.version.match_indices('.').map(|(at, _)| at);
        let zeros = self.version.split('.').take_while(|part| *part == "0");
        let end = ends.nth(zeros.count()).unwrap_or(self.version.len());
        &self.version[..end]
    }
}

/// All packages, those of the workspace as well.
pub(crate) struct Lock<'a> {
    pub(crate) packages: Vec<Package<'a>>,
}

impl<'a> Lock<'a> {
    pub(crate) fn parse(text: &'a str) -> Self {
        let value = |block: &'a str, key: &str| {
            let line = block.lines().find_map(|line| line.strip_prefix(key));
            line.map(|line| line.trim_start_matches([' ', '=']).trim_matches('"'))
        };
        let packages = text
            .split("[[package]]")
            .skip(1)
            .filter_map(|block| {
                Some(Package {
                    name: value(block, "name")?,
                    version: value(block, "version")?,
                })
            })
            .collect();
        Self { packages }
    }

    /// Crates in two major versions or more, with the first version of each.
    pub(crate) fn repeated(&self) -> BTreeMap<&'a str, Vec<&'a str>> {
        let mut majors: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
        for package in &self.packages {
            let versions = majors.entry(package.name).or_default();
            versions.entry(package.major()).or_insert(package.version);
        }
        majors.retain(|_, versions| versions.len() > 1);
        majors
            .into_iter()
            .map(|(name, versions)| (name, versions.into_values().collect()))
            .collect()
    }

    pub(super) fn figures(&self) -> Vec<Figure> {
        let names: BTreeSet<&Package<'_>> = self.packages.iter().collect();
        let repeated = self.repeated();
        vec![
            Figure {
                name: "locked-crates".to_owned(),
                value: Tenths::whole(names.len()),
                step: Tenths::whole(1),
                about: "packages in Cargo.lock, our own as well",
                details: Vec::new(),
            },
            Figure {
                name: "locked-twice".to_owned(),
                value: Tenths::whole(repeated.len()),
                step: Tenths::whole(1),
                about: "crates that Cargo.lock has in two major versions or more",
                details: repeated
                    .iter()
                    .map(|(name, versions)| format!("{name}: {}", versions.join(", ")))
                    .collect(),
            },
        ]
    }
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
