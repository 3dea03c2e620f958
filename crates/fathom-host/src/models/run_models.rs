//! The models of one run, connected: one for each role, and a model in two roles once.

use std::sync::Arc;

use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{ModelRequest, ModelRole, ModelSet, ModelSpec, RequestEstimate};
use fathom_models::{CallFuture, EndpointId, Model, ModelFacts, TokenSink};

use crate::error::HostError;
use crate::models::embedded::{EmbeddedModels, PROVIDER};

/// The models of a run.
pub(crate) struct RunModels {
    main: Arc<dyn Model>,
    sub: Arc<dyn Model>,
    prime: Arc<dyn Model>,
    lite: Arc<dyn Model>,
    code_mind: Arc<dyn Model>,
}

impl RunModels {
    /// Connects every model that the run may call.
    pub(crate) fn connect(
        models: &ModelSet,
        embedded: &EmbeddedModels,
        read_env: fn(&str) -> Option<String>,
    ) -> Result<Self, HostError> {
        // Roles with the same settings share one connection, and so its rate limit and its health.
        let mut known: Vec<(&ModelSpec, Arc<dyn Model>)> = Vec::new();
        let mut connect = |role: ModelRole| -> Result<Arc<dyn Model>, HostError> {
            let spec = models.get(role);
            // A model in two roles is connected once, so that its connections are shared.
            let model = match known.iter().find(|(other, _)| *other == spec) {
                Some((_, model)) => Arc::clone(model),
                None if spec.provider() == PROVIDER => embedded.connect(spec)?,
                None => fathom_models::connect(spec, read_env)?,
            };
            known.push((spec, Arc::clone(&model)));
            Ok(model)
        };
        Ok(Self {
            main: connect(ModelRole::Main)?,
            sub: connect(ModelRole::Sub)?,
            prime: connect(ModelRole::Prime)?,
            lite: connect(ModelRole::Lite)?,
            code_mind: connect(ModelRole::CodeMind)?,
        })
    }

    /// The models of a run that is only taken over to end it. None is asked, so no key and no weights need be there.
    // For runs that are only ended: their servers, keys and weights may be gone.
    pub(crate) fn unasked(models: &ModelSet) -> Self {
        let unasked = |role: ModelRole| -> Arc<dyn Model> {
            let id = models.get(role).id.clone();
            Arc::new(NamedModel {
                endpoint: EndpointId::in_process(&id),
                facts: ModelFacts::in_process(None),
                id,
            })
        };
        Self {
            main: unasked(ModelRole::Main),
            sub: unasked(ModelRole::Sub),
            prime: unasked(ModelRole::Prime),
            lite: unasked(ModelRole::Lite),
            code_mind: unasked(ModelRole::CodeMind),
        }
    }

    /// The model in a role.
    pub(crate) const fn get(&self, role: ModelRole) -> &Arc<dyn Model> {
        match role {
            ModelRole::Main => &self.main,
            ModelRole::Sub => &self.sub,
            ModelRole::Prime => &self.prime,
            ModelRole::Lite => &self.lite,
            ModelRole::CodeMind => &self.code_mind,
        }
    }
}

/// A model by its name alone.
#[derive(Debug)]
struct NamedModel {
    id: String,
    endpoint: EndpointId,
    facts: ModelFacts,
}

impl NamedModel {
    fn failure() -> ModelFailure {
        ModelFailure::unsent(FailureKind::Cancelled, "the run is being ended")
    }
}

impl Model for NamedModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn endpoint(&self) -> &EndpointId {
        &self.endpoint
    }

    fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    fn measure(&self, _: &ModelRequest) -> Result<RequestEstimate, ModelFailure> {
        Err(Self::failure())
    }

    /// No token is shorter than a byte.
    fn count(&self, text: &str) -> u64 {
        // One token per byte is the upper bound for any tokenizer.
        text.len() as u64
    }

    fn call<'a>(&'a self, _: &'a ModelRequest, _: &'a mut TokenSink<'_>) -> CallFuture<'a> {
        Box::pin(async { Err(Self::failure()) })
    }
}
