//! What has been heard of a reply so far, whole or streamed, in any wire format.

use fathom_core::failure::{Billing, FailureKind, ModelFailure};
use fathom_core::model::{Ending, Exactness, Measured, Reply, Request, Usage, UsageSource};
use fathom_core::text::Text;
use fathom_core::unit::Millis;

use crate::tokens::Counter;

/// Why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It was done.
    Complete,
    /// It ran into the output cap or the window.
    Length,
    /// It, or a filter before it, declined, in these words.
    Declined(String),
}

/// A reply as far as it has come.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) text: String,
    pub(crate) stop: Option<Stop>,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
    /// The wire format's own end was seen.
    pub(crate) ended: bool,
}

impl Heard {
    /// Whether nothing of the reply itself can be missing.
    pub(crate) fn is_complete(&self) -> bool {
        self.ended || self.stop.is_some()
    }

    fn reported(&self) -> Option<Usage> {
        Some(Usage {
            input_tokens: self.input_tokens?,
            output_tokens: self.output_tokens?,
            source: UsageSource::Reported,
        })
    }

    /// Turns a complete reply into the result of the call.
    pub(crate) fn settle(
        self,
        request: &Request,
        measured: &Measured,
        counter: &Counter,
        latency: Millis,
    ) -> Result<Reply, ModelFailure> {
        let reported = self.reported();
        let fail = |kind, detail: &str, partial: String| {
            let billing = reported.map_or(Billing::Perhaps, Billing::Reported);
            Err(ModelFailure {
                billing,
                partial: Text::from(partial),
                ..ModelFailure::sent(kind, detail)
            })
        };
        let ending = match self.stop {
            Some(Stop::Declined(words)) => {
                return fail(FailureKind::Refused, &words, self.text);
            }
            Some(Stop::Length) => Ending::Truncated,
            Some(Stop::Complete) | None => Ending::Complete,
        };
        if self.text.trim().is_empty() {
            let detail = match ending {
                Ending::Truncated => "the output cap was used up before any text",
                Ending::Complete => "the reply has no text",
            };
            return fail(FailureKind::Empty, detail, String::new());
        }
        let usage = reported.unwrap_or_else(|| Usage {
            input_tokens: self.input_tokens.unwrap_or(measured.input_tokens),
            output_tokens: self.output_tokens.unwrap_or_else(|| {
                let cap = u64::from(request.output_tokens_max);
                match counter.count(&self.text) {
                    (tokens, Exactness::Exact) => tokens,
                    // The provider kept to its cap, so the cap is a bound too.
                    (bound, Exactness::UpperBound) => bound.min(cap),
                }
            }),
            source: UsageSource::Counted,
        });
        Ok(Reply {
            text: Text::from(self.text),
            ending,
            usage,
            latency,
            timing: None,
            recalled: None,
        })
    }
}
