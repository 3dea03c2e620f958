//! The models of one run, connected: one for each role, and a model in two roles once.

use std::sync::Arc;

use fathom_core::model::{ModelRole, ModelSpec, Models};
use fathom_models::Model;

use crate::error::HostError;
use crate::local::{Embedded, PROVIDER};

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
        models: &Models,
        embedded: &Embedded,
        read_env: fn(&str) -> Option<String>,
    ) -> Result<Self, HostError> {
        let mut known: Vec<(&ModelSpec, Arc<dyn Model>)> = Vec::new();
        let mut connect = |role: ModelRole| -> Result<Arc<dyn Model>, HostError> {
            let spec = models.get(role);
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
