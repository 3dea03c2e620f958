//! Opening a home.

use std::path::PathBuf;
use std::sync::Arc;

use fathom_host::config::{HostConfig, PartialBudget};
use fathom_host::models::embedded::EmbeddedModels;
use fathom_host::{HostError, Runtime, RuntimeOptions};

use crate::environment;
use crate::error::FathomError;
use crate::home::{Fathom, HomeDefaults};
use crate::model_choice::ModelChoice;

/// The configuration file of a home.
const CONFIG_FILE: &str = "fathom.toml";

/// Settings of a home before it is opened; [`Fathom::builder`] makes one.
///
/// ```
/// use fathom::Fathom;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let fathom = Fathom::builder()
///     .home(folder.path().join("home"))
///     .model("ollama/qwen3:8b")
///     .concurrency(4)
///     .open()?;
/// assert!(fathom.runs(10)?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing before `open`"]
pub struct FathomBuilder {
    home: Option<PathBuf>,
    model: Option<ModelChoice>,
    sub_model: Option<ModelChoice>,
    budget: PartialBudget,
    concurrency: Option<u32>,
    models_folder: Option<PathBuf>,
}

impl FathomBuilder {
    /// Sets the home folder, which is created if it does not exist. Without one, `open` fails.
    pub fn home(mut self, folder: impl Into<PathBuf>) -> Self {
        self.home = Some(folder.into());
        self
    }

    /// Sets the model of all runs that name none: otherwise the one of the home's `fathom.toml`, or `local/default`.
    pub fn model(mut self, model: impl Into<ModelChoice>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the model of sub-questions, where it is not the main model.
    pub fn sub_model(mut self, model: impl Into<ModelChoice>) -> Self {
        self.sub_model = Some(model.into());
        self
    }

    /// Sets limits of all runs; a run's own limits override them one by one.
    pub fn budget(mut self, budget: PartialBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Sets the maximum number of model calls of one run that are in flight at once.
    pub fn concurrency(mut self, calls: u32) -> Self {
        self.concurrency = Some(calls);
        self
    }

    /// Sets the folder of embedded weights: otherwise the one where `fathom models pull` puts them.
    pub fn models_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.models_folder = Some(folder.into());
        self
    }

    /// Opens the home.
    ///
    /// A `fathom.toml` in the home holds here as it does for the command line: people and their roles, trusted keys,
    /// symbols, channels, signed heads, limits and models. So a program cannot approve what its user may not.
    pub fn open(self) -> Result<Fathom, FathomError> {
        let home = self.home.ok_or(FathomError::BadSetting {
            setting: "home",
            value: String::new(),
            why: "no folder given",
        })?;
        let file = home.join(CONFIG_FILE);
        let config = if file.exists() {
            HostConfig::read(&file)?
        } else {
            HostConfig::default()
        };
        let symbols = config
            .symbols
            .settle(environment::key)
            .map_err(HostError::from)?;
        let weights = self.models_folder.or_else(environment::models_folder);
        let weights = weights.unwrap_or_else(|| home.join("models"));
        let usual = RuntimeOptions::new(home.clone(), environment::key);
        let options = RuntimeOptions {
            heads: config.heads.as_ref().map(|heads| home.join(heads)),
            concurrency: self
                .concurrency
                .or(config.concurrency)
                .unwrap_or(usual.concurrency)
                .max(1),
            embedded: Arc::new(EmbeddedModels::new(weights)),
            symbols,
            people: config.people.clone(),
            discord: config.discord.clone(),
            identity: config.identity.clone(),
            ..usual
        };
        let defaults = HomeDefaults {
            budget: self.budget,
            model: self.model,
            sub_model: self.sub_model,
            config,
            folder: home,
        };
        Ok(Fathom::new(Runtime::open(options)?, defaults))
    }
}
