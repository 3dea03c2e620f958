//! From a request to a run that can start.
//!
//! The rules of single programs here (a council's depth, the profiles of `rlm` and `think`, the router of `ask`) are those
//! of the command line, kept in this one module until both take them from the programs' registry.

use std::collections::BTreeMap;
use std::path::Path;

use fathom_core::budget::amounts::Budget;
use fathom_core::contract::{Contract, RecursionPolicy};
use fathom_core::model::{ModelSet, ModelSpec};
use fathom_core::sandbox::CellLimits;
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use fathom_host::charter::{Charter, ModelProfile};
use fathom_host::config;
use fathom_host::models::embedded::PROVIDER;
use fathom_host::programs::council::{CouncilContext, SkippedFile};
use fathom_host::programs::rlm::{MaterialDocument, PlainCallRule, RlmRequest, SandboxContext};
use fathom_host::{HostError, NewRun, Runtime};
use fathom_material::gather;
use fathom_models::count_o200k;
use fathom_programs::direct::{DirectConfig, PromptMaterial};
use fathom_programs::rlm::{RecipeMode, RlmConfig};
use fathom_programs::stages::StagesConfig;
use fathom_programs::{council, tools_loop};

use crate::error::FathomError;
use crate::home::Fathom;
use crate::model_choice::ModelChoice;
use crate::request::{AskOptions, ExploreOptions, RequestSettings, RunRequest};
use crate::run::StartedRun;

pub(crate) const ASK_CHARTER: &str = "default";
pub(crate) const COUNCIL_CHARTER: &str = "council";
pub(crate) const RLM_CHARTER: &str = "rlm";
pub(crate) const PHASES_CHARTER: &str = "signalzero";
pub(crate) const THINK_CHARTER: &str = "gaia";

/// The model when neither the request nor the home names one: it runs in this process.
const DEFAULT_MODEL: &str = "local/default";

/// Settings of a request, checked, with the charter and the home behind them.
pub(crate) struct Preparation {
    fathom: Fathom,
    question: String,
    settings: RequestSettings,
    charter: Charter,
    models: ModelSet,
    budget: Budget,
    contract: Contract,
    direct: DirectConfig,
    warnings: Vec<String>,
}

/// A run that can start.
pub(crate) struct ReadyRun {
    fathom: Fathom,
    new: NewRun,
    context: Option<SandboxContext>,
    warnings: Vec<String>,
}

impl ReadyRun {
    pub(crate) fn start(self) -> Result<StartedRun, FathomError> {
        let runtime = self.fathom.runtime();
        let handle = match self.context {
            Some(context) => runtime.start_in(self.new, context)?,
            None => runtime.start(self.new)?,
        };
        Ok(StartedRun::new(&self.fathom, handle, self.warnings))
    }
}

impl Preparation {
    pub(crate) fn of<P>(request: &RunRequest<P>, usual_charter: &str) -> Result<Self, FathomError> {
        let question = request.question.trim_end();
        if question.trim().is_empty() {
            return Err(FathomError::NoQuestion);
        }
        let fathom = request.fathom.clone();
        let settings = request.settings.clone();
        let home = fathom.defaults();
        let named = settings.charter.as_deref();
        // A path in a file is relative to the folder of the file.
        let (charter, folder) = match (named, home.config.charter.as_deref()) {
            (Some(named), _) => (named, Path::new("")),
            (None, Some(filed)) => (filed, home.folder.as_path()),
            (None, None) => (usual_charter, Path::new("")),
        };
        let charter = Charter::find(charter, folder, &home.folder, &count_o200k);
        let charter = charter.map_err(HostError::from)?;
        let mut models = charter.cast(models(&settings, &fathom)?);
        let mut warnings: Vec<String> = charter.warnings.iter().map(ToString::to_string).collect();
        warnings.extend(settle_embedded(fathom.runtime(), &mut models)?);
        let budget = home.config.budget.over(charter.budget.over(config::BUDGET));
        let budget = settings.budget.over(home.budget.over(budget));
        let recursion = home.config.recursion.clone();
        let recursion = recursion.or_else(|| charter.recursion.clone());
        let contract = settings.contract.clone().unwrap_or_else(|| Contract {
            recursion: recursion.unwrap_or_else(config::default_policy),
            ..Contract::default()
        });
        let direct = home.config.direct.clone();
        let direct = direct.or_else(|| charter.direct.clone());
        Ok(Self {
            question: question.to_owned(),
            direct: direct.unwrap_or_default(),
            fathom,
            settings,
            charter,
            models,
            budget,
            contract,
            warnings,
        })
    }

    pub(crate) async fn ask(mut self, options: AskOptions) -> Result<ReadyRun, FathomError> {
        if self.charter.router.ask == council::NAME {
            return self.council(None).await;
        }
        let mut direct = std::mem::take(&mut self.direct);
        if let Some(system) = options.system {
            direct.system = system;
        }
        if let Some(tokens) = options.output_tokens_max {
            direct.output_tokens_max = tokens;
            direct.output_tokens_min = direct.output_tokens_min.min(tokens);
        }
        if self.charter.router.ask == tools_loop::NAME {
            let base = self.contract.clone();
            let values = BTreeMap::new();
            let offered =
                self.fathom
                    .runtime()
                    .tool_params(&self.charter, &self.question, base, &values);
            let (mut tools, contract) = offered.await?;
            tools.system = direct.system;
            self.contract = contract;
            return Ok(self.ready(tools.spec(), None));
        }
        direct.material.extend(self.prompt_material().await?);
        Ok(self.ready(direct.spec(), None))
    }

    /// Files, folders and texts, whole, for one prompt.
    async fn prompt_material(&mut self) -> Result<Vec<PromptMaterial>, FathomError> {
        let mut material = Vec::new();
        if !self.settings.context.is_empty() {
            let paths = self.settings.context.clone();
            let gathered = in_background(move || gather(&paths)).await;
            let gathered = gathered.map_err(HostError::from)?;
            self.note_skipped(&gathered.skipped);
            material.extend(gathered.documents.iter().map(|document| PromptMaterial {
                source: document.source.clone(),
                text: document.plain().into_owned(),
            }));
        }
        let texts = std::mem::take(&mut self.settings.texts).into_iter();
        material.extend(texts.map(|(source, text)| PromptMaterial { source, text }));
        Ok(material)
    }

    pub(crate) async fn council(mut self, depth: Option<u8>) -> Result<ReadyRun, FathomError> {
        let Some(seats) = &self.charter.council else {
            return Err(FathomError::BadSetting {
                setting: "charter",
                value: self.charter.name,
                why: "the charter has no `[council]` section; the built-in `council` has one",
            });
        };
        let profile = ModelProfile::of(&self.models.sub);
        let mut params = seats.params(profile);
        if let Some(depth) = depth {
            if depth > council::DEPTH_MAX {
                return Err(FathomError::BadSetting {
                    setting: "max_depth",
                    value: depth.to_string(),
                    why: "the council is not that deep",
                });
            }
            params.depth_max = depth;
        }
        let context = CouncilContext {
            paths: std::mem::take(&mut self.settings.context),
            text: joined(std::mem::take(&mut self.settings.texts))
                .map(|(name, text)| MaterialDocument::new(name, text)),
            tokens_max: seats.passage_tokens(profile),
        };
        let runtime = self.fathom.runtime().clone();
        let (question, models) = (self.question.clone(), self.models.clone());
        let (params, found) = in_background(move || {
            let found = runtime.convene(&mut params, &question, &context, &models, &mut |_| ());
            (params, found)
        })
        .await;
        let found = found?;
        self.note_skipped(&found.skipped);
        if let Some(why) = found.words_only {
            self.warnings
                .push(format!("searching by keywords only: {why}"));
        }
        // A chief is at depth 0 of the council and at depth 1 of the engine.
        self.contract.recursion = RecursionPolicy {
            max_depth: params.depth_max + 1,
            ..self.contract.recursion
        };
        Ok(self.ready(params.spec(), None))
    }

    pub(crate) async fn explore(
        mut self,
        options: ExploreOptions,
    ) -> Result<ReadyRun, FathomError> {
        let mut params = rlm_params(ModelProfile::of(&self.models.main));
        params.schema = options.schema;
        if let Some(turns) = options.turns_max {
            params.turns_max = turns;
        }
        let text = std::mem::take(&mut self.settings.texts).into_iter().next();
        let request = RlmRequest {
            goal: Text::new(self.question.clone()),
            paths: std::mem::take(&mut self.settings.context),
            text: text.map(|(name, text)| MaterialDocument::new(name, text)),
            params,
            plain: PlainCallRule::IfItFits,
            direct: std::mem::take(&mut self.direct),
        };
        let frame = self.charter.frame();
        let explored = self.fathom.runtime().explore(request, &self.models, &frame);
        let explored = explored.await?;
        self.note_skipped(&explored.skipped);
        Ok(self.ready(explored.program, explored.context))
    }

    pub(crate) async fn phases(mut self, session: Option<String>) -> Result<ReadyRun, FathomError> {
        let Some(phases) = self.charter.phases.clone() else {
            return Err(HostError::NoPhases {
                name: self.charter.name,
            }
            .into());
        };
        self.contract.read_scopes.clone_from(&phases.read_scopes);
        self.contract.write_scopes.clone_from(&phases.write_scopes);
        let profile = ModelProfile::of(&self.models.main);
        let runtime = self.fathom.runtime().clone();
        let params = in_background(move || {
            runtime.phase_params(&phases, profile, session.as_deref(), &mut |_| ())
        });
        let params = params.await?;
        Ok(self.ready(params.spec(), None))
    }

    pub(crate) async fn think(mut self) -> Result<ReadyRun, FathomError> {
        let usual = self.charter.stages.clone().unwrap_or_default();
        let params = stages_params(usual, ModelProfile::of(&self.models.main));
        let base = self.contract.clone();
        let prepared = self
            .fathom
            .runtime()
            .stages_params(&self.charter, params, base);
        let (params, contract) = prepared.await?;
        self.contract = contract;
        Ok(self.ready(params.spec(), None))
    }

    fn note_skipped(&mut self, skipped: &[SkippedFile]) {
        self.warnings
            .extend(skipped.iter().map(ToString::to_string));
    }

    fn ready(
        self,
        program: fathom_core::journal::event::ProgramSpec,
        context: Option<SandboxContext>,
    ) -> ReadyRun {
        ReadyRun {
            new: NewRun {
                goal: Text::new(self.question),
                program,
                contract: self.contract,
                budget: self.budget,
                frame: self.charter.frame(),
                models: self.models,
            },
            fathom: self.fathom,
            context,
            warnings: self.warnings,
        }
    }
}

/// The models of a run: the request's, or the home's.
fn models(settings: &RequestSettings, fathom: &Fathom) -> Result<ModelSet, FathomError> {
    let home = fathom.defaults();
    let config = &home.config;
    // A path in the home's file is relative to the home.
    let filed = |name: &Option<String>| -> Result<Option<ModelSpec>, FathomError> {
        let Some(name) = name else { return Ok(None) };
        let choice = ModelChoice::from_config(name, config);
        choice.resolve(&home.folder).map(Some)
    };
    let said = |choice: Option<&ModelChoice>| {
        let choice = choice.map(|choice| choice.resolve(Path::new("")));
        choice.transpose()
    };
    let main = said(settings.model.as_ref().or(home.model.as_ref()))?;
    let named = main.is_some();
    let main = match main {
        Some(main) => main,
        None => match filed(&config.model)? {
            Some(filed) => filed,
            None => ModelChoice::new(DEFAULT_MODEL).resolve(Path::new(""))?,
        },
    };
    let sub = said(settings.sub_model.as_ref().or(home.sub_model.as_ref()))?;
    let sub = match sub {
        Some(sub) => sub,
        // A main model that code names is not paired with one that a file names.
        None if named => main.clone(),
        None => filed(&config.sub_model)?.unwrap_or_else(|| main.clone()),
    };
    Ok(ModelSet::new(main, sub))
}

/// Puts the weights that are really used in the place of names like `local/default`; says where they are others.
fn settle_embedded(runtime: &Runtime, models: &mut ModelSet) -> Result<Vec<String>, FathomError> {
    let mut warnings = Vec::new();
    let specs: [Option<&mut ModelSpec>; 5] = [
        Some(&mut models.main),
        Some(&mut models.sub),
        models.prime.as_mut(),
        models.lite.as_mut(),
        models.code_mind.as_mut(),
    ];
    for spec in specs.into_iter().flatten() {
        if spec.provider() != PROVIDER {
            continue;
        }
        let chosen = runtime.embedded().choose(spec.name())?;
        spec.id = format!("{PROVIDER}/{}", chosen.name);
        warnings.extend(chosen.instead);
    }
    warnings.dedup();
    Ok(warnings)
}

/// Several texts as one, under the name of the first.
fn joined(texts: Vec<(String, String)>) -> Option<(String, String)> {
    texts.into_iter().reduce(|(name, mut text), (_, more)| {
        text.push_str("\n\n");
        text.push_str(&more);
        (name, text)
    })
}

/// A small model reads and writes slowly, and writes code that does not work: it chooses among recipes.
fn rlm_params(profile: ModelProfile) -> RlmConfig {
    match profile {
        ModelProfile::Local => RlmConfig {
            recipes: RecipeMode::Chosen,
            limits: CellLimits {
                output: 2 << 10,
                ..CellLimits::default()
            },
            output_tokens_max: 512,
            leaf_tokens_max: 256,
            timeout: Millis(480_000),
            temperature_milli: Some(0),
            ..RlmConfig::default()
        },
        ModelProfile::Remote => RlmConfig::default(),
    }
}

/// A small model forgets its form, and is slow.
fn stages_params(usual: StagesConfig, profile: ModelProfile) -> StagesConfig {
    match profile {
        ModelProfile::Local => StagesConfig {
            structured: true,
            output_tokens_max: usual.output_tokens_max.min(384),
            timeout: Millis(480_000),
            ..usual
        },
        ModelProfile::Remote => usual,
    }
}

/// Does work that reads disks or computes for long on a thread that may wait.
pub(crate) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
