//! A model behind its server's circuit breaker.

use std::sync::Arc;

use fathom_core::failure::ModelFailure;
use fathom_core::model::{Measured, Request};

use crate::breaker::Breaker;
use crate::endpoint::EndpointId;
use crate::exchange::HttpModel;
use crate::model::{CallFuture, Deltas, Model};
use crate::prices::Facts;

/// Calls only while the circuit is closed, and reports the outcome to the breaker.
#[derive(Debug)]
pub(crate) struct Guarded {
    pub(crate) model: HttpModel,
    pub(crate) breaker: Arc<Breaker>,
}

impl Model for Guarded {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn endpoint(&self) -> &EndpointId {
        self.model.endpoint()
    }

    fn facts(&self) -> &Facts {
        self.model.facts()
    }

    fn measure(&self, request: &Request) -> Result<Measured, ModelFailure> {
        self.model.measure(request)
    }

    fn count(&self, text: &str) -> u64 {
        self.model.count(text)
    }

    fn call<'a>(&'a self, request: &'a Request, deltas: &'a mut Deltas<'_>) -> CallFuture<'a> {
        Box::pin(async move {
            let admission = self.breaker.admit()?;
            let outcome = self.model.call(request, deltas).await;
            admission.settle(outcome.as_ref().err().map(|failure| failure.kind));
            outcome
        })
    }
}
