//! A call of a model in progress, and the parts of its reply.

use std::pin::Pin;

use super::ModelReply;
use super::failure::ModelFailure;

/// Receives the parts of a streamed reply as they arrive.
pub type TokenSink<'a> = dyn FnMut(&str) + Send + 'a;

/// A call in progress. Dropping it ends the work on it: a provider's connection is closed, an engine in this process stops
/// before its next step.
pub type CallFuture<'a> =
    Pin<Box<dyn Future<Output = Result<ModelReply, ModelFailure>> + Send + 'a>>;
