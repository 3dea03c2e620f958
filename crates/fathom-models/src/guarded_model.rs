//! A model behind its server's circuit breaker.

use std::sync::Arc;

use fathom_core::model::failure::ModelFailure;
use fathom_core::model::{ModelRequest, RequestEstimate};

use crate::breaker::CircuitBreaker;
use crate::http::endpoint::EndpointId;
use crate::http::exchange::HttpModel;
use crate::model::{CallFuture, Model, TokenSink};
use crate::prices::ModelFacts;

/// Calls only while the circuit is closed, and reports the outcome to the breaker.
#[derive(Debug)]
pub(crate) struct GuardedModel {
    pub(crate) model: HttpModel,
    pub(crate) breaker: Arc<CircuitBreaker>,
}

impl Model for GuardedModel {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn endpoint(&self) -> &EndpointId {
        self.model.endpoint()
    }

    fn facts(&self) -> &ModelFacts {
        self.model.facts()
    }

    fn measure(&self, request: &ModelRequest) -> Result<RequestEstimate, ModelFailure> {
        self.model.measure(request)
    }

    fn count(&self, text: &str) -> u64 {
        self.model.count(text)
    }

    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: &'a mut TokenSink<'_>,
    ) -> CallFuture<'a> {
        Box::pin(async move {
            let admission = self.breaker.admit()?;
            let outcome = self.model.call(request, deltas).await;
            admission.settle(outcome.as_ref().err().map(|failure| failure.kind));
            outcome
        })
    }
}
