//! The one thing every provider is.

use std::fmt;
use std::pin::Pin;

use fathom_core::failure::ModelFailure;
use fathom_core::model::{Measured, Reply, Request};

use crate::endpoint::EndpointId;
use crate::prices::Facts;

/// Takes a streamed reply's words as they come.
pub type Deltas<'a> = dyn FnMut(&str) + Send + 'a;

/// A call under way. Dropping it aborts the request and closes its connection.
pub type CallFuture<'a> = Pin<Box<dyn Future<Output = Result<Reply, ModelFailure>> + Send + 'a>>;

/// A model that can be asked.
pub trait Model: fmt::Debug + Send + Sync {
    /// `PROVIDER/NAME`.
    fn id(&self) -> &str;

    /// The server behind it, which limits and pauses go by.
    fn endpoint(&self) -> &EndpointId;

    /// What is known of it beforehand: price, window, tokenizer.
    fn facts(&self) -> &Facts;

    /// What `request` will take. Quick enough for the task that drives a run.
    fn measure(&self, request: &Request) -> Result<Measured, ModelFailure>;

    /// Tokens of a text by itself; at most too many where the tokenizer is not known.
    fn count(&self, text: &str) -> u64;

    /// Sends `request` once. A streamed one passes its words to `deltas` on the way.
    fn call<'a>(&'a self, request: &'a Request, deltas: &'a mut Deltas<'_>) -> CallFuture<'a>;
}
