//! The interface of all models.

use std::fmt;

use fathom_core::model::failure::ModelFailure;
pub use fathom_core::model::{CallFuture, TokenSink};
use fathom_core::model::{ModelRequest, RequestEstimate};

use crate::http::endpoint::EndpointId;
use crate::prices::ModelFacts;

/// A callable model.
pub trait Model: fmt::Debug + Send + Sync {
    /// `PROVIDER/NAME`.
    fn id(&self) -> &str;

    /// The server behind it, to which limits and pauses apply.
    fn endpoint(&self) -> &EndpointId;

    /// Its static facts: price, window, tokenizer.
    fn facts(&self) -> &ModelFacts;

    /// Size and price of `request`. Fast enough for the task that drives a run.
    fn measure(&self, request: &ModelRequest) -> Result<RequestEstimate, ModelFailure>;

    /// Token count of a text by itself; an upper bound if the tokenizer is unknown.
    fn count(&self, text: &str) -> u64;

    /// Sends `request` once. A streamed reply is passed to `deltas` as it arrives.
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: &'a mut TokenSink<'_>,
    ) -> CallFuture<'a>;
}
