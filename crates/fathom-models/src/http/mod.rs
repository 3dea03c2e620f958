//! One call over HTTP: endpoint, client, frames, and the reply built from them.

pub(crate) mod classify_failure;
pub(crate) mod client;
pub(crate) mod endpoint;
pub(crate) mod exchange;
pub(crate) mod frames;
pub(crate) mod reply_builder;
