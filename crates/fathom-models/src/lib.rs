//! Model providers behind one call: OpenAI-compatible, Anthropic, Ollama and scripted, with tokenizers, limits and prices.
//!
//! [`connect`] turns a [`ModelSpec`](fathom_core::model::ModelSpec) into a [`Model`]. A [`Model::call`] is exactly one
//! attempt, because each attempt may cost: whoever calls decides on the next one, within its budget. What comes back is
//! a reply, or a failure that says what it may have cost.
//!
//! Absences: no retry, no redirect followed, no proxy taken from the environment, no key in any text.

#![expect(
    clippy::result_large_err,
    reason = "a failure is moved a few times after a network round trip; boxing it would only complicate every caller"
)]

mod api_key;
mod breaker;
mod clock;
mod connect;
mod error;
mod guarded_model;
mod health_check;
mod http;
mod limiter;
mod model;
mod prices;
mod providers;
mod tokens;

pub use api_key::ApiKey;
pub use breaker::{BREAKER_COOL_DOWN, BREAKER_FAILURES, BREAKER_WINDOW};
pub use connect::{ModelCatalog, connect, health};
pub use error::ModelsError;
pub use health_check::{HealthReport, HealthState};
pub use http::classify_failure::{DETAIL_CHARS_MAX, RETRY_AFTER_MAX};
pub use http::endpoint::EndpointId;
pub use http::exchange::REPLY_BYTES_MAX;
pub use limiter::{CallLimiter, CallPermit, IN_FLIGHT_DEFAULT};
pub use model::{CallFuture, Model, TokenSink};
pub use prices::{ModelFacts, PriceBasis, price_dates, price_list};
pub use providers::render;
pub use tokens::count_o200k;
