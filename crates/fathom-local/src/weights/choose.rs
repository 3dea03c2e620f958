//! Choice of a language model: the wanted one, or the next smaller one that is available.

use std::fmt;

use super::catalogue::{CatalogueEntry, LanguageModel};
use super::error::WeightsError;
use super::folder::WeightsFolder;

/// Conditions under which a smaller model may replace the wanted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FallbackRule {
    /// Only if memory is short.
    WhenMemoryIsShort,
    /// Also if the wanted one is not installed and a smaller one is.
    WhenMissing,
}

/// The chosen model and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightsChoice {
    /// Name of the chosen model.
    pub name: String,
    /// Name of the wanted model.
    pub wanted: String,
    pub why: ChoiceReason,
}

/// Reasons for a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChoiceReason {
    /// It was the wanted one.
    Wanted,
    /// The wanted one does not fit into memory.
    Memory {
        /// Memory that the wanted one needs.
        needed_bytes: u64,
        /// Available memory.
        available_bytes: u64,
    },
    /// The wanted one is not installed.
    Missing,
}

impl fmt::Display for WeightsChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, wanted, why } = self;
        match why {
            ChoiceReason::Wanted => write!(f, "{name}"),
            ChoiceReason::Memory {
                needed_bytes,
                available_bytes,
            } => write!(
                f,
                "{name} instead of {wanted}, which needs {} GB of memory: {} GB are available",
                gigabytes(*needed_bytes),
                gigabytes(*available_bytes)
            ),
            ChoiceReason::Missing => {
                write!(f, "{name} instead of {wanted}, which is not installed")
            }
        }
    }
}

/// In gigabytes with one decimal.
fn gigabytes(bytes: u64) -> String {
    let tenths = bytes / 100_000_000;
    format!("{}.{}", tenths / 10, tenths % 10)
}

impl WeightsFolder {
    /// Chooses a language model. If the available memory is unknown, every model fits.
    pub fn choose(
        &self,
        wanted: &str,
        memory_available: Option<u64>,
        smaller: FallbackRule,
    ) -> Result<WeightsChoice, WeightsError> {
        let first = self.catalogue.get(wanted)?;
        let choice = |name: &CatalogueEntry, why| WeightsChoice {
            name: name.name.clone(),
            wanted: first.name.clone(),
            why,
        };
        // Embedding models have no tiers.
        let Some(language) = first.language else {
            return Ok(choice(first, ChoiceReason::Wanted));
        };
        let fits = |model: &LanguageModel| {
            memory_available.is_none_or(|available| model.memory_bytes <= available)
        };
        let why = match memory_available.filter(|_| !fits(&language)) {
            Some(available_bytes) => ChoiceReason::Memory {
                needed_bytes: language.memory_bytes,
                available_bytes,
            },
            None if smaller == FallbackRule::WhenMissing && !self.is_installed(&first.name) => {
                ChoiceReason::Missing
            }
            None => return Ok(choice(first, ChoiceReason::Wanted)),
        };
        let below = self.stand_ins(language.tier);
        let fitting: Vec<&CatalogueEntry> = below
            .iter()
            .filter(|(_, model)| fits(model))
            .map(|(weights, _)| *weights)
            .collect();
        let installed = fitting.iter().find(|one| self.is_installed(&one.name));
        match (why, installed, fitting.first()) {
            // Fetching another model than the wanted one gains nothing.
            (ChoiceReason::Missing, None, _) => Ok(choice(first, ChoiceReason::Wanted)),
            (why, Some(one), _) if smaller == FallbackRule::WhenMissing => Ok(choice(one, why)),
            (why, _, Some(one)) => Ok(choice(one, why)),
            (_, _, None) => {
                let last = below.last().map_or((first, language), |last| *last);
                Err(WeightsError::NoMemory {
                    name: last.0.name.clone(),
                    needed_bytes: last.1.memory_bytes,
                    available_bytes: memory_available.unwrap_or_default(),
                })
            }
        }
    }

    /// Smaller models that may replace one of this tier, largest first.
    fn stand_ins(&self, tier: u8) -> Vec<(&CatalogueEntry, LanguageModel)> {
        let all = self.catalogue.all().iter();
        let mut below: Vec<(&CatalogueEntry, LanguageModel)> = all
            .filter_map(|weights| Some((weights, weights.language?)))
            .filter(|(_, model)| model.tier > tier && model.stands_in)
            .collect();
        below.sort_by_key(|(_, model)| model.tier);
        below
    }
}
