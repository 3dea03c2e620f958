//! One call on its way through the engine.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fathom_core::model::failure::{CallBilling, FailureKind, ModelFailure};
use fathom_core::model::{FinishReason, LocalTiming, TokenUsage, UsageSource};
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use llama_cpp_2::token::LlamaToken;
use llguidance::Matcher;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use super::sampling::TokenSampler;
use super::utf8_assembler::Utf8Assembler;

/// Number of pieces of a reply that are queued for a slow listener. The rest comes with the reply.
pub(crate) const DELTAS_MAX: usize = 64;

/// A call for the engine's thread.
pub(crate) struct EngineJob {
    pub(crate) prompt: Vec<LlamaToken>,
    pub(crate) output_tokens_max: u32,
    pub(crate) sampler: TokenSampler,
    pub(crate) matcher: Option<Matcher>,
    pub(crate) timeout: Duration,
    pub(crate) deltas: Option<mpsc::Sender<String>>,
    pub(crate) reply: oneshot::Sender<Result<JobOutput, ModelFailure>>,
    /// The call's place in the bounded queue.
    pub(crate) place: OwnedSemaphorePermit,
}

/// Result of a job.
pub(crate) struct JobOutput {
    pub(crate) text: String,
    pub(crate) ending: FinishReason,
    pub(crate) margin_milli: Option<i32>,
    pub(crate) output_tokens: u64,
    pub(crate) timing: LocalTiming,
}

/// A job with the tokens read and written so far.
pub(crate) struct ActiveJob {
    job: EngineJob,
    /// The prompt followed by the reply.
    pub(crate) tokens: Vec<LlamaToken>,
    pub(crate) shared_tokens: usize,
    speech: Utf8Assembler,
    sent_bytes: usize,
    written: u32,
    began: Option<Instant>,
    first_word: Option<Instant>,
    margin_milli: Option<i32>,
}

impl ActiveJob {
    pub(crate) fn new(mut job: EngineJob) -> Self {
        Self {
            tokens: std::mem::take(&mut job.prompt),
            job,
            shared_tokens: 0,
            speech: Utf8Assembler::default(),
            sent_bytes: 0,
            written: 0,
            began: None,
            first_word: None,
            margin_milli: None,
        }
    }

    /// True if the caller no longer waits for the reply.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.job.reply.is_closed()
    }

    pub(crate) fn left_to_write(&self) -> usize {
        (self.job.output_tokens_max - self.written) as usize
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.job.timeout
    }

    /// Records the start of the turn. A second start, after making room, does not count.
    pub(crate) fn begin(&mut self, now: Instant, shared_tokens: usize) {
        if self.began.is_none() {
            self.began = Some(now);
            self.shared_tokens = shared_tokens;
        }
    }

    pub(crate) fn has_begun_to_write(&self) -> bool {
        self.written > 0
    }

    /// Records the margin of the first token over the alternatives.
    pub(crate) fn weigh(&mut self, margin_milli: Option<i32>) {
        self.margin_milli = margin_milli;
    }

    pub(crate) fn parts(&mut self) -> (&mut TokenSampler, Option<&mut Matcher>) {
        (&mut self.job.sampler, self.job.matcher.as_mut())
    }

    /// Appends the next token and its bytes, and passes on complete characters.
    pub(crate) fn write(&mut self, now: Instant, token: LlamaToken, bytes: &[u8]) {
        self.first_word.get_or_insert(now);
        self.tokens.push(token);
        self.written += 1;
        self.speech.hear(bytes);
        let fresh = &self.speech.text()[self.sent_bytes..];
        // Never waits: a slow listener must not hold up the other calls.
        if let Some(deltas) = &self.job.deltas
            && !fresh.is_empty()
            && deltas.try_send(fresh.to_owned()).is_ok()
        {
            self.sent_bytes = self.speech.text().len();
        }
    }

    pub(crate) fn finish(self, now: Instant, ending: FinishReason) {
        let prompt_tokens = self.tokens.len() as u64 - u64::from(self.written);
        let began = self.began.unwrap_or(now);
        let first_word = self.first_word.unwrap_or(now);
        let text = self.speech.end();
        let outcome = if text.trim().is_empty() {
            Err(ModelFailure {
                billing: CallBilling::Reported(TokenUsage {
                    input_tokens: prompt_tokens,
                    output_tokens: u64::from(self.written),
                    source: UsageSource::Counted,
                }),
                ..ModelFailure::unsent(FailureKind::Empty, "the model ended without a word")
            })
        } else {
            Ok(JobOutput {
                text,
                ending,
                margin_milli: self.margin_milli,
                output_tokens: u64::from(self.written),
                timing: LocalTiming {
                    reading: millis(first_word - began),
                    shared_tokens: self.shared_tokens as u64,
                    writing: millis(now - first_word),
                },
            })
        };
        self.job.answer(outcome);
    }

    pub(crate) fn fail(self, kind: FailureKind, detail: &str) {
        let failure = ModelFailure {
            partial: Text::from(self.speech.end()),
            ..ModelFailure::sent(kind, detail)
        };
        self.job.answer(Err(failure));
    }
}

impl EngineJob {
    fn answer(self, outcome: Result<JobOutput, ModelFailure>) {
        let Self { reply, place, .. } = self;
        // A missing receiver is no fault: the call was given up at this very moment.
        drop(reply.send(outcome));
        drop(place);
    }
}

pub(crate) fn millis(span: Duration) -> Millis {
    Millis(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}

/// Work of the engine since it was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineStats {
    /// Computed batches.
    pub steps: u64,
    /// Prompt tokens read.
    pub tokens_read: u64,
    /// Prompt tokens shared with another call.
    pub tokens_shared: u64,
    pub tokens_written: u64,
    /// Calls that had to make room for another and were read again later.
    pub calls_set_back: u64,
    /// Time in the model itself.
    pub computing: Duration,
    /// Time spent on constraints.
    pub constraining: Duration,
}

/// The same as counters.
#[derive(Debug, Default)]
pub(crate) struct EngineCounters {
    pub(crate) steps: AtomicU64,
    pub(crate) tokens_read: AtomicU64,
    pub(crate) tokens_shared: AtomicU64,
    pub(crate) tokens_written: AtomicU64,
    pub(crate) calls_set_back: AtomicU64,
    computing_nanos: AtomicU64,
    constraining_nanos: AtomicU64,
}

impl EngineCounters {
    pub(crate) fn add(counter: &AtomicU64, count: usize) {
        // Relaxed: nothing is ordered by these figures.
        counter.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn computed(&self, span: Duration) {
        add_span(&self.computing_nanos, span);
        Self::add(&self.steps, 1);
    }

    pub(crate) fn constrained(&self, span: Duration) {
        add_span(&self.constraining_nanos, span);
    }

    pub(crate) fn read(&self) -> EngineStats {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        EngineStats {
            steps: count(&self.steps),
            tokens_read: count(&self.tokens_read),
            tokens_shared: count(&self.tokens_shared),
            tokens_written: count(&self.tokens_written),
            calls_set_back: count(&self.calls_set_back),
            computing: Duration::from_nanos(count(&self.computing_nanos)),
            constraining: Duration::from_nanos(count(&self.constraining_nanos)),
        }
    }
}

fn add_span(counter: &AtomicU64, span: Duration) {
    counter.fetch_add(
        u64::try_from(span.as_nanos()).unwrap_or(0),
        Ordering::Relaxed,
    );
}
