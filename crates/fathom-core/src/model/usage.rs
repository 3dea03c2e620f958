//! Tokens and money of a call, before it is sent and afterwards.

use serde::{Deserialize, Serialize};

use crate::budget::amounts::Amounts;
use crate::unit::{Millis, Nanodollars};

/// The precision of a token count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountPrecision {
    /// With the model's own tokenizer.
    Exact,
    /// An upper bound (bytes and template), because the tokenizer is unknown.
    UpperBound,
}

/// Price of a model per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelPrice {
    /// Per million input tokens.
    pub input_per_million: Nanodollars,
    /// Per million output tokens.
    pub output_per_million: Nanodollars,
}

impl ModelPrice {
    /// Cost of `input` and `output` tokens, rounded up.
    pub fn of(&self, input: u64, output: u64) -> Nanodollars {
        const MILLION: u128 = 1_000_000;
        let nanos = (u128::from(self.input_per_million.0) * u128::from(input))
            .saturating_add(u128::from(self.output_per_million.0) * u128::from(output))
            .div_ceil(MILLION);
        Nanodollars(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// Size and price of a request before it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestEstimate {
    /// Tokens the request will take, chat template included.
    pub input_tokens: u64,
    pub exactness: CountPrecision,
    /// The model's window in tokens, where known: input and output together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_tokens: Option<u64>,
    pub price: ModelPrice,
}

impl RequestEstimate {
    /// Reservation for this request with an output cap of `output_tokens`.
    pub fn worst_case(&self, output_tokens: u32) -> Amounts {
        let output = u64::from(output_tokens);
        Amounts {
            tokens: self.input_tokens.saturating_add(output),
            calls: 1,
            money: self.price.of(self.input_tokens, output),
            ..Amounts::ZERO
        }
    }
}

/// The origin of a usage figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// The provider said so.
    Reported,
    /// The provider said nothing; counted on this side.
    Counted,
}

/// Tokens a call took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Tokens of the request.
    pub input_tokens: u64,
    /// Tokens of the reply.
    pub output_tokens: u64,
    pub source: UsageSource,
}

/// Time of a call to the embedded model, by stage. Time spent waiting for a turn is in neither part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalTiming {
    /// Reading what had to be read of the request.
    pub reading: Millis,
    /// Tokens of the request that another call had already read.
    pub shared_tokens: u64,
    /// Writing the reply.
    pub writing: Millis,
}
