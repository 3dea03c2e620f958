//! A simulated model provider. It bills honestly, and never forgets what it billed.

use std::collections::BTreeMap;

use fathom_core::budget::amounts::Amounts;
use fathom_core::id::{AskId, EpisodeId, Epoch};
use fathom_core::journal::event::ModelCallOutcome;
use fathom_core::model::failure::{CallBilling, FailureKind, ModelFailure};
use fathom_core::model::{
    CountPrecision, FinishReason, ModelPrice, ModelReply, ModelRequest, ModelRole, RequestEstimate,
    TokenUsage, UsageSource,
};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars};
use serde_json::json;

use super::rng::SimRng;

/// Tokens of a request beyond its words.
const TEMPLATE_TOKENS: u64 = 4;

/// Behaviour of a provider.
#[derive(Clone, Debug)]
pub(super) struct ProviderFaults {
    pub(super) failures_permille: u64,
    /// True if every reply uses all that was reserved.
    pub(super) is_greedy: bool,
    /// Precision of token counts.
    pub(super) exactness: CountPrecision,
    pub(super) latency_max: u64,
    pub(super) window_tokens: Option<u64>,
    pub(super) price: ModelPrice,
}

/// Names one call on the wire. Owners are told apart, because a new one may use an attempt's number again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallId {
    pub(super) epoch: Epoch,
    pub(super) episode: EpisodeId,
    pub(super) ask: AskId,
    pub(super) attempt: u16,
}

/// A simulated provider of models.
pub(super) struct SimProvider {
    pub(super) manners: ProviderFaults,
    /// True cost of each episode's calls.
    pub(super) billed: BTreeMap<EpisodeId, Amounts>,
    /// Answers by call.
    pub(super) answers: BTreeMap<CallId, ModelCallOutcome>,
    pub(super) sent: u64,
    rng: SimRng,
}

impl SimProvider {
    pub(super) fn new(manners: ProviderFaults, rng: SimRng) -> Self {
        Self {
            manners,
            billed: BTreeMap::new(),
            answers: BTreeMap::new(),
            sent: 0,
            rng,
        }
    }

    pub(super) fn measure(&self, model: ModelRole, request: &ModelRequest) -> RequestEstimate {
        let messages = request.messages.iter();
        let tokens = messages
            .map(|m| Self::weigh(&m.text) + TEMPLATE_TOKENS)
            .sum();
        let price = self.manners.price;
        let cheaper = |Nanodollars(price)| Nanodollars(price / 4);
        RequestEstimate {
            input_tokens: tokens,
            exactness: self.manners.exactness,
            window_tokens: self.manners.window_tokens,
            price: match model {
                ModelRole::Main | ModelRole::Prime | ModelRole::CodeMind => price,
                ModelRole::Sub | ModelRole::Lite => ModelPrice {
                    input_per_million: cheaper(price.input_per_million),
                    output_per_million: cheaper(price.output_per_million),
                },
            },
        }
    }

    /// Tokens of a text by itself.
    pub(super) fn weigh(text: &Text) -> u64 {
        text.as_str().len() as u64 / 4
    }

    /// A shorter text, most of the time.
    pub(super) fn shorten(&mut self, text: &Text, tokens_max: u32) -> Option<Text> {
        if self.rng.chance(300) {
            return None;
        }
        let bytes = (tokens_max as usize * 4).min(text.as_str().len());
        text.as_str().get(..bytes).map(Text::from)
    }

    pub(super) fn latency(&mut self) -> u64 {
        self.rng.between(1, self.manners.latency_max)
    }

    /// Takes a call and decides at once what it costs and how it ends, whoever is there to hear it.
    pub(super) fn send(
        &mut self,
        id: CallId,
        model: ModelRole,
        request: &ModelRequest,
    ) -> ModelCallOutcome {
        self.sent += 1;
        let measured = self.measure(model, request);
        let cap = u64::from(request.output_tokens_max);
        let output = if self.manners.is_greedy {
            cap
        } else {
            self.rng.between(1.min(cap), cap)
        };
        let input = match self.manners.exactness {
            CountPrecision::Exact => measured.input_tokens,
            CountPrecision::UpperBound => {
                // The bound is nearly always one.
                let percent = if self.rng.chance(900) { 50 } else { 100 };
                let percent = percent + self.rng.below(51);
                measured.input_tokens * percent / 100
            }
        };
        let usage = TokenUsage {
            input_tokens: input,
            output_tokens: output,
            source: UsageSource::Reported,
        };
        let fails = self.rng.chance(self.manners.failures_permille);
        let outcome = if fails {
            self.failure(usage)
        } else {
            self.reply(&id, request, usage, cap)
        };
        let bill = self.bill(&outcome, usage, &measured, cap);
        let billed = self.billed.entry(id.episode.clone()).or_default();
        *billed = billed.plus(bill);
        self.answers.insert(id, outcome.clone());
        outcome
    }

    fn reply(
        &mut self,
        id: &CallId,
        request: &ModelRequest,
        usage: TokenUsage,
        cap: u64,
    ) -> ModelCallOutcome {
        let first = request.messages.first();
        let prompt = first.map_or("", |message| message.text.as_str());
        // No two replies are the same, so an answer in the wrong place is seen.
        let mut said = format!("{} to {prompt} in {}", self.sent, id.episode);
        // Only who votes asks for a form; now and then it gets another.
        if request.schema.is_some() && self.rng.chance(850) {
            let vote = self.rng.pick(&["yes", "no", "abstain"]);
            let confidence = self.rng.below(101);
            let form = json!({"reason": said, "vote": vote, "confidence": confidence});
            said = form.to_string();
        }
        ModelCallOutcome::Replied(ModelReply {
            text: Text::new(said),
            tool_calls: Vec::new(),
            ending: if usage.output_tokens == cap && self.rng.chance(500) {
                FinishReason::Truncated
            } else {
                FinishReason::Complete
            },
            usage,
            latency: Millis(1),
            timing: None,
            recalled: None,
            margin_milli: None,
        })
    }

    fn failure(&mut self, usage: TokenUsage) -> ModelCallOutcome {
        use FailureKind as K;
        let kind = self.rng.pick(&[
            K::Timeout,
            K::RateLimited,
            K::Connection,
            K::Server,
            K::CircuitOpen,
            K::Auth,
            K::Rejected,
            K::Refused,
            K::Empty,
            K::Truncated,
            K::Malformed,
            K::TooLarge,
        ]);
        let billing = match kind {
            K::RateLimited | K::CircuitOpen | K::Auth | K::Rejected => CallBilling::Nothing,
            K::Timeout | K::Malformed | K::Cancelled => CallBilling::Perhaps,
            K::Connection => self.rng.pick(&[CallBilling::Nothing, CallBilling::Perhaps]),
            K::Server => self.rng.pick(&[
                CallBilling::Nothing,
                CallBilling::Perhaps,
                CallBilling::Reported(usage),
            ]),
            K::Refused | K::Empty | K::Truncated | K::TooLarge => CallBilling::Reported(usage),
        };
        let retry_after = (kind == K::RateLimited && self.rng.chance(300))
            .then(|| Millis(self.rng.between(1, 2_000)));
        ModelCallOutcome::Failed(ModelFailure {
            kind,
            detail: Text::new(format!("failure {}", self.sent)),
            billing,
            retry_after,
            partial: Text::default(),
        })
    }

    /// True cost of the call.
    fn bill(
        &mut self,
        outcome: &ModelCallOutcome,
        usage: TokenUsage,
        measured: &RequestEstimate,
        cap: u64,
    ) -> Amounts {
        let (input, output) = match outcome {
            ModelCallOutcome::Replied(reply) => {
                (reply.usage.input_tokens, reply.usage.output_tokens)
            }
            ModelCallOutcome::Failed(failure) => match failure.billing {
                CallBilling::Nothing => return Amounts::ZERO,
                CallBilling::Reported(usage) => (usage.input_tokens, usage.output_tokens),
                // Perhaps all of it, and a greedy provider takes what it may.
                CallBilling::Perhaps if self.manners.is_greedy || self.rng.chance(300) => {
                    (usage.input_tokens.min(measured.input_tokens), cap)
                }
                CallBilling::Perhaps if self.rng.chance(500) => return Amounts::ZERO,
                CallBilling::Perhaps => (
                    usage.input_tokens.min(measured.input_tokens),
                    self.rng.between(0, cap),
                ),
            },
        };
        Amounts {
            tokens: input + output,
            calls: 1,
            money: measured.price.of(input, output),
            ..Amounts::ZERO
        }
    }

    /// The caller gave a call up. It was sent, so its bill stands; the answer changes.
    pub(super) fn cancel(&mut self, id: &CallId) -> ModelCallOutcome {
        let outcome = ModelCallOutcome::Failed(ModelFailure::sent(
            FailureKind::Cancelled,
            "given up by the caller",
        ));
        self.answers.insert(id.clone(), outcome.clone());
        outcome
    }

    /// True cost of `episode` and all below it.
    pub(super) fn bill_of(&self, episode: &EpisodeId) -> Amounts {
        let tree = self.billed.iter().filter(|(id, _)| episode.covers(id));
        tree.fold(Amounts::ZERO, |sum, (_, bill)| sum.plus(*bill))
    }
}
