//! The reply so far, whole or streamed, in any wire format.

use fathom_core::model::failure::{CallBilling, FailureKind, ModelFailure};
use fathom_core::model::tool_call::ToolCall;
use fathom_core::model::{
    CountPrecision, FinishReason, ModelReply, ModelRequest, TokenUsage, UsageSource,
};
use fathom_core::text::Text;
use fathom_core::unit::Millis;

use crate::model::Model;
use crate::providers::ReplyError;
use crate::tokens::TokenCounter;

/// Maximum number of tool calls in one reply.
const CALLS_MAX: usize = 64;

/// Reasons for the end of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProviderStop {
    /// Finished.
    Complete,
    /// The output cap or the window was reached.
    Length,
    /// Declined by the model or a filter, with this explanation.
    Declined(String),
}

/// A tool call so far.
#[derive(Debug)]
struct PartialToolCall {
    /// Number in the wire format.
    index: u64,
    name: String,
    arguments: String,
}

/// A reply so far.
#[derive(Debug, Default)]
pub(crate) struct ReplyBuilder {
    pub(crate) text: String,
    /// True if tools were offered. Without an offer, nothing in the reply is a tool call.
    pub(crate) offered: bool,
    calls: Vec<PartialToolCall>,
    pub(crate) stop: Option<ProviderStop>,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
    /// The wire format's own end marker was seen.
    pub(crate) ended: bool,
}

impl ReplyBuilder {
    /// An empty reply to `request`.
    pub(crate) fn of(request: &ModelRequest) -> Self {
        Self {
            offered: !request.tools.is_empty(),
            ..Self::default()
        }
    }

    /// Adds a part of a call. Without a number, a name starts the next call and anything else belongs to the
    /// last one.
    pub(crate) fn call(
        &mut self,
        index: Option<u64>,
        name: &str,
        arguments: &str,
    ) -> Result<(), ReplyError> {
        if !self.offered {
            return Ok(());
        }
        let place = match index {
            Some(index) => self.calls.iter().position(|call| call.index == index),
            None if name.is_empty() => self.calls.len().checked_sub(1),
            None => None,
        };
        if let Some(call) = place.and_then(|place| self.calls.get_mut(place)) {
            if call.name.is_empty() {
                name.clone_into(&mut call.name);
            }
            call.arguments += arguments;
            return Ok(());
        }
        if self.calls.len() == CALLS_MAX {
            return Err(ReplyError::Unexpected("expected fewer calls of tools"));
        }
        let highest = self.calls.iter().map(|call| call.index).max();
        self.calls.push(PartialToolCall {
            index: index.unwrap_or_else(|| highest.map_or(0, |index| index.saturating_add(1))),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        });
        Ok(())
    }

    /// Size of the reply in bytes.
    pub(crate) fn len(&self) -> usize {
        let calls = self.calls.iter();
        let calls = calls.map(|call| call.name.len() + call.arguments.len());
        self.text.len() + calls.sum::<usize>()
    }

    /// True if nothing of the reply can be missing.
    pub(crate) fn is_complete(&self) -> bool {
        self.ended || self.stop.is_some()
    }

    fn reported(&self) -> Option<TokenUsage> {
        Some(TokenUsage {
            input_tokens: self.input_tokens?,
            output_tokens: self.output_tokens?,
            source: UsageSource::Reported,
        })
    }

    /// Turns a complete reply into the result of the call. Token counts that the provider omits are computed.
    pub(crate) fn settle(
        self,
        model: &dyn Model,
        request: &ModelRequest,
        counter: &TokenCounter,
        latency: Millis,
    ) -> Result<ModelReply, ModelFailure> {
        let reported = self.reported();
        // Measured even if the reply failed: the input was processed.
        let input_tokens = match self.input_tokens {
            Some(tokens) => tokens,
            None => model.measure(request)?.input_tokens,
        };
        let fail = |kind, detail: &str, partial: String| {
            let billing = reported.map_or(CallBilling::Perhaps, CallBilling::Reported);
            Err(ModelFailure {
                billing,
                partial: Text::from(partial),
                ..ModelFailure::sent(kind, detail)
            })
        };
        let ending = match self.stop {
            Some(ProviderStop::Declined(words)) => {
                return fail(FailureKind::Refused, &words, self.text);
            }
            Some(ProviderStop::Length) => FinishReason::Truncated,
            Some(ProviderStop::Complete) | None => FinishReason::Complete,
        };
        if self.text.trim().is_empty() && self.calls.is_empty() {
            let detail = match ending {
                FinishReason::Truncated => "the output cap was used up before any text",
                FinishReason::Complete => "the reply has no text",
            };
            return fail(FailureKind::Empty, detail, String::new());
        }
        let usage = reported.unwrap_or_else(|| TokenUsage {
            input_tokens,
            output_tokens: self.output_tokens.unwrap_or_else(|| {
                let cap = u64::from(request.output_tokens_max);
                let calls = self.calls.iter();
                let said: String = calls.fold(self.text.clone(), |said, call| {
                    said + &call.name + &call.arguments
                });
                match counter.count(&said) {
                    (tokens, CountPrecision::Exact) => tokens,
                    // The provider respected its cap, so the cap is a bound too.
                    (bound, CountPrecision::UpperBound) => bound.min(cap),
                }
            }),
            source: UsageSource::Counted,
        });
        Ok(ModelReply {
            text: Text::from(self.text),
            tool_calls: self.calls.into_iter().map(ToolCall::from).collect(),
            ending,
            usage,
            latency,
            timing: None,
            recalled: None,
            margin_milli: None,
        })
    }
}

impl From<PartialToolCall> for ToolCall {
    fn from(call: PartialToolCall) -> Self {
        // A tool without parameters is often called with empty arguments.
        let is_bare = call.arguments.trim().is_empty();
        Self {
            name: Text::from(call.name),
            arguments: Text::from(if is_bare {
                "{}".to_owned()
            } else {
                call.arguments
            }),
        }
    }
}
