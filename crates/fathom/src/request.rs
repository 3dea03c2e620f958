//! Requests for runs, before they start.

use std::path::PathBuf;

use fathom_core::contract::Contract;
use fathom_host::config::PartialBudget;

use crate::error::FathomError;
use crate::home::Fathom;
use crate::model_choice::ModelChoice;
use crate::preparation::{self, Preparation};
use crate::run::StartedRun;

/// A run before it starts: a question, and settings that override those of the home and of the charter.
///
/// `P` holds the options of the program that answers. [`Fathom::ask`], [`Fathom::council`], [`Fathom::explore`],
/// [`Fathom::phases`] and [`Fathom::think`] make one.
#[derive(Clone, Debug)]
#[must_use = "a request does nothing before `start`"]
pub struct RunRequest<P> {
    pub(crate) fathom: Fathom,
    pub(crate) question: String,
    pub(crate) settings: RequestSettings,
    pub(crate) program: P,
}

/// Settings that every request has.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestSettings {
    pub(crate) model: Option<ModelChoice>,
    pub(crate) sub_model: Option<ModelChoice>,
    pub(crate) charter: Option<String>,
    pub(crate) budget: PartialBudget,
    pub(crate) contract: Option<Contract>,
    pub(crate) context: Vec<PathBuf>,
    /// Texts without a file, with their names.
    pub(crate) texts: Vec<(String, String)>,
}

/// Options of [`Fathom::ask`].
#[derive(Clone, Debug, Default)]
pub struct AskOptions {
    pub(crate) system: Option<String>,
    pub(crate) output_tokens_max: Option<u32>,
}

/// Options of [`Fathom::council`].
#[derive(Clone, Debug, Default)]
pub struct CouncilOptions {
    pub(crate) depth_max: Option<u8>,
}

/// Options of [`Fathom::explore`].
#[derive(Clone, Debug, Default)]
pub struct ExploreOptions {
    pub(crate) schema: Option<serde_json::Value>,
    pub(crate) turns_max: Option<u32>,
}

/// Options of [`Fathom::phases`].
#[derive(Clone, Debug, Default)]
pub struct PhasesOptions {
    pub(crate) session: Option<String>,
}

/// Options of [`Fathom::think`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ThinkOptions;

impl<P: Default> RunRequest<P> {
    pub(crate) fn new(fathom: &Fathom, question: String) -> Self {
        Self {
            fathom: fathom.clone(),
            question,
            settings: RequestSettings::default(),
            program: P::default(),
        }
    }
}

impl<P> RunRequest<P> {
    /// Sets the model: a name such as `openai/gpt-5`, or a [`ModelChoice`] with the address of a server.
    pub fn model(mut self, model: impl Into<ModelChoice>) -> Self {
        self.settings.model = Some(model.into());
        self
    }

    /// Sets the model of sub-questions, where it is not the main model.
    pub fn sub_model(mut self, model: impl Into<ModelChoice>) -> Self {
        self.settings.sub_model = Some(model.into());
        self
    }

    /// Sets the charter: the name of a built-in one or of one in the home, or the path of its folder.
    pub fn charter(mut self, charter: impl Into<String>) -> Self {
        self.settings.charter = Some(charter.into());
        self
    }

    /// Sets limits of the run. Limits that are `None` stay as the charter and the home have them.
    pub fn budget(mut self, budget: PartialBudget) -> Self {
        self.settings.budget = budget;
        self
    }

    /// Sets the contract: what the run may do at most. Programs tighten it or add the tools of their charter.
    pub fn contract(mut self, contract: Contract) -> Self {
        self.settings.contract = Some(contract);
        self
    }
}

impl RunRequest<AskOptions> {
    /// Adds a file or folder to the prompt.
    pub fn context(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.context.push(path.into());
        self
    }

    /// Adds a text without a file to the prompt, under a name.
    pub fn text(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.settings.texts.push((name.into(), text.into()));
        self
    }

    /// Sets standing instructions for the model.
    pub fn system(mut self, instructions: impl Into<String>) -> Self {
        self.program.system = Some(instructions.into());
        self
    }

    /// Sets the maximum number of tokens of one reply.
    pub fn max_output(mut self, tokens: u32) -> Self {
        self.program.output_tokens_max = Some(tokens);
        self
    }

    /// Starts the run.
    pub async fn start(self) -> Result<StartedRun, FathomError> {
        let preparation = Preparation::of(&self, preparation::ASK_CHARTER)?;
        // Boxed, so that the future of a caller stays small.
        let ready = Box::pin(preparation.ask(self.program)).await?;
        ready.start()
    }
}

impl RunRequest<CouncilOptions> {
    /// Adds a file or folder. Each seat of the council is given the passages that matter to it.
    pub fn context(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.context.push(path.into());
        self
    }

    /// Adds a text without a file, under a name.
    pub fn text(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.settings.texts.push((name.into(), text.into()));
        self
    }

    /// Sets the maximum depth: 0 asks the chiefs alone, 1 lets them consult their sub-chiefs.
    pub fn max_depth(mut self, depth: u8) -> Self {
        self.program.depth_max = Some(depth);
        self
    }

    /// Starts the run, after the material was read and searched.
    pub async fn start(self) -> Result<StartedRun, FathomError> {
        let preparation = Preparation::of(&self, preparation::COUNCIL_CHARTER)?;
        let ready = Box::pin(preparation.council(self.program.depth_max)).await?;
        ready.start()
    }
}

impl RunRequest<ExploreOptions> {
    /// Adds a file or folder. Code in the sandbox sees its text; the model sees what the code prints.
    pub fn context(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.context.push(path.into());
        self
    }

    /// Adds a text without a file, under a name. It is stored with the run; a later text replaces an earlier one.
    pub fn text(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.settings.texts = vec![(name.into(), text.into())];
        self
    }

    /// Sets a JSON schema that the answer has to fit.
    pub fn schema(mut self, schema: serde_json::Value) -> Self {
        self.program.schema = Some(schema);
        self
    }

    /// Sets the maximum number of turns of the model.
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.program.turns_max = Some(turns);
        self
    }

    /// Starts the run, after the material was read and loaded into the sandbox. Material that fits the model's window goes
    /// out as one plain call instead.
    pub async fn start(self) -> Result<StartedRun, FathomError> {
        let preparation = Preparation::of(&self, preparation::RLM_CHARTER)?;
        let ready = Box::pin(preparation.explore(self.program)).await?;
        ready.start()
    }
}

impl RunRequest<PhasesOptions> {
    /// Sets the session whose history the question continues and extends.
    pub fn session(mut self, name: impl Into<String>) -> Self {
        self.program.session = Some(name.into());
        self
    }

    /// Starts the run.
    pub async fn start(self) -> Result<StartedRun, FathomError> {
        let preparation = Preparation::of(&self, preparation::PHASES_CHARTER)?;
        let ready = Box::pin(preparation.phases(self.program.session)).await?;
        ready.start()
    }
}

impl RunRequest<ThinkOptions> {
    /// Starts the run.
    pub async fn start(self) -> Result<StartedRun, FathomError> {
        let preparation = Preparation::of(&self, preparation::THINK_CHARTER)?;
        let ready = Box::pin(preparation.think()).await?;
        ready.start()
    }
}
