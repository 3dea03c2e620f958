//! Embedded models and the summariser, each loaded once and shared by all runs of this process.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fathom_core::model::failure::ModelFailure;
use fathom_core::model::{ModelRequest, ModelSpec, RequestEstimate};
use fathom_local::embedding::{Embedding, SentenceEmbedder};
use fathom_local::engine::{EngineOptions, LocalEngine};
use fathom_local::summary::ExtractiveSummariser;
use fathom_local::weights::{FallbackRule, WeightsCatalogue, WeightsFolder, memory_available};
use fathom_models::{CallFuture, EndpointId, Model, ModelFacts, TokenSink};

use super::embedder_error::{EmbedderError, ShortenError};
use crate::error::HostError;

/// The provider of models in this process.
pub const PROVIDER: &str = "local";

/// The name that means the largest model that is there and fits.
pub const LARGEST: &str = "auto";

/// The name of the usual model.
pub const DEFAULT: &str = "default";

/// Weights chosen for a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenWeights {
    /// Their own name.
    pub name: String,
    /// Reason why they replace the requested ones.
    pub instead: Option<String>,
}

/// The weights that the summariser works with.
const EMBEDDINGS: &str = "minilm";

/// Embedded models and the summariser, with the folder that their weights lie in.
pub struct EmbeddedModels {
    folder: PathBuf,
    engines: Mutex<BTreeMap<PathBuf, LocalEngine>>,
    embedder: OnceLock<Result<Arc<SentenceEmbedder>, EmbedderError>>,
}

impl fmt::Debug for EmbeddedModels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl EmbeddedModels {
    /// Weights are looked for in `folder`. Nothing is loaded before it is needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            engines: Mutex::new(BTreeMap::new()),
            embedder: OnceLock::new(),
        }
    }

    /// Folder of the weights.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The weights that are known and those that are there.
    pub fn store(&self) -> Result<WeightsFolder, HostError> {
        Ok(WeightsFolder::new(
            &self.folder,
            WeightsCatalogue::built_in()?,
        ))
    }

    /// Connects a model whose id begins with `local/`: the name of weights, or the path of a GGUF file.
    pub(crate) fn connect(&self, spec: &ModelSpec) -> Result<Arc<dyn Model>, HostError> {
        let engine = self.engine(&self.file(spec.name())?)?;
        let facts = ModelFacts::in_process(Some(engine.facts().window_tokens.into()));
        Ok(Arc::new(EmbeddedModel {
            id: spec.id.clone(),
            endpoint: EndpointId::in_process(&spec.id),
            facts,
            engine,
        }))
    }

    /// The weights that answer for `name`: those of a smaller model when memory is short, or when the largest that is
    /// there was asked for.
    pub fn choose(&self, name: &str) -> Result<ChosenWeights, HostError> {
        let store = self.store()?;
        let (wanted, smaller) = match name {
            LARGEST => (DEFAULT, FallbackRule::WhenMissing),
            name => (name, FallbackRule::WhenMemoryIsShort),
        };
        // Not in the catalogue, so it may be a file that the user put there; it has no smaller sibling.
        if store.catalogue().find(wanted).is_none() {
            return Ok(ChosenWeights {
                name: name.to_owned(),
                instead: None,
            });
        }
        let choice = store.choose(wanted, memory_available(), smaller)?;
        let instead = (choice.name != choice.wanted).then(|| choice.to_string());
        Ok(ChosenWeights {
            name: choice.name,
            instead,
        })
    }

    /// The file that holds the weights called `name`.
    pub fn file(&self, name: &str) -> Result<PathBuf, HostError> {
        let path = Path::new(name);
        let is_file = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"));
        // A path was recorded by the run that is resumed, so it is used as it is, even if the catalogue has changed
        // since.
        if is_file || path.is_absolute() {
            return Ok(path.to_owned());
        }
        let found = self.store()?.find(name)?;
        let file = found.weights().ok_or_else(|| HostError::NoLanguageModel {
            name: name.to_owned(),
        })?;
        Ok(file.to_owned())
    }

    fn engine(&self, file: &Path) -> Result<LocalEngine, HostError> {
        // Held while loading: two runs that start at once must share one copy, since two may not fit into memory.
        let mut engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = engines.get(file) {
            return Ok(engine.clone());
        }
        let engine = LocalEngine::load(file, EngineOptions::default())?;
        engines.insert(file.to_owned(), engine.clone());
        Ok(engine)
    }

    /// Shortens the text to at most `tokens_max` tokens, as `count` counts them. It takes a while.
    pub(crate) fn shorten(
        &self,
        text: &str,
        tokens_max: u32,
        count: &dyn Fn(&str) -> u64,
    ) -> Result<String, ShortenError> {
        let summariser = ExtractiveSummariser::new(self.embedder()?);
        Ok(summariser.shorten(text, tokens_max, count)?.text)
    }

    /// Vectors of texts, or why there are none. It takes a while.
    pub(crate) fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedderError> {
        Ok(self.embedder()?.embed(texts)?)
    }

    /// The embedding model, or why there is none.
    pub(crate) fn embedder(&self) -> Result<Arc<SentenceEmbedder>, EmbedderError> {
        // A failure is kept, too: every request would otherwise read the weights again to fail the same way.
        self.embedder.get_or_init(|| self.load_embedder()).clone()
    }

    fn load_embedder(&self) -> Result<Arc<SentenceEmbedder>, EmbedderError> {
        let store = self
            .store()
            .map_err(|error| EmbedderError::Catalogue(Arc::new(error)))?;
        let found = store
            .find(EMBEDDINGS)
            .map_err(|error| EmbedderError::Weights(Arc::new(error)))?;
        let (Some(weights), Some(tokenizer)) = (found.weights(), found.tokenizer()) else {
            return Err(EmbedderError::Incomplete { name: EMBEDDINGS });
        };
        Ok(Arc::new(SentenceEmbedder::load(weights, tokenizer)?))
    }
}

/// An engine as the driver sees any model.
struct EmbeddedModel {
    id: String,
    endpoint: EndpointId,
    facts: ModelFacts,
    engine: LocalEngine,
}

impl fmt::Debug for EmbeddedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddedModel")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl Model for EmbeddedModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn endpoint(&self) -> &EndpointId {
        &self.endpoint
    }

    fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    fn measure(&self, request: &ModelRequest) -> Result<RequestEstimate, ModelFailure> {
        self.engine.measure(request)
    }

    fn count(&self, text: &str) -> u64 {
        self.engine.count(text)
    }

    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: &'a mut TokenSink<'_>,
    ) -> CallFuture<'a> {
        self.engine.call(request, deltas)
    }
}
