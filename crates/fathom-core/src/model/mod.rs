//! Models: what goes to one and what comes back, free of any provider's wire format.

pub mod failure;
mod reply;
mod request;
pub mod retry;
mod spec;
mod stream;
pub mod tool_call;
mod usage;

pub use reply::{FinishReason, ModelReply, ReuseSource};
pub use request::{ChatMessage, ModelRequest, ReplyMode, ReuseGrant, Speaker};
pub use spec::{ModelRole, ModelSet, ModelSpec};
pub use stream::{CallFuture, TokenSink};
pub use usage::{
    CountPrecision, LocalTiming, ModelPrice, RequestEstimate, TokenUsage, UsageSource,
};
