//! The embedded language model: any GGUF file, in this process.
//!
//! [`LocalEngine`] uses the core's own types. One thread owns the model's working memory and serves all calls
//! together: it reads prompts in pieces, writes a token of every reply per step, and lets calls with a common
//! beginning share what was read. A call that does not fit beside the others waits; one that can never fit is
//! refused at once.
//!
//! Absences: no text of a speaker becomes a control token; no batch is larger than planned; no unchecked file
//! reaches the engine; nothing of the engine is written to stderr.

#![expect(
    clippy::result_large_err,
    reason = "a failure is moved a few times after a model call; boxing it would only complicate every caller"
)]

mod cache;
mod cache_cells;
mod chat_template;
mod constraint;
mod cpu;
mod decode_loop;
mod error;
pub mod gguf;
mod gguf_checks;
mod jobs;
mod load_monitor;
mod plan;
mod sampling;
mod tokenizer;
mod utf8_assembler;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::tool_call;
use fathom_core::model::{
    CallFuture, CountPrecision, ModelPrice, ModelReply, ModelRequest, ReplyMode, RequestEstimate,
    TokenSink, TokenUsage, UsageSource,
};
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::token::LlamaToken;
use llguidance::Matcher;
use tokio::sync::{Semaphore, mpsc, oneshot};

use cache::SequenceCache;
use chat_template::ChatTemplate;
use constraint::{ConstraintFactory, ConstraintSource};
use decode_loop::EngineQueue;
pub use error::EngineError;
use gguf::GgufHeader;
pub use jobs::EngineStats;
use jobs::{DELTAS_MAX, EngineCounters, EngineJob, JobOutput, millis};
use plan::EnginePlan;
pub use plan::{EngineFacts, EngineOptions};
use sampling::{SamplerRng, SamplingDefaults, TokenSampler};
pub use tokenizer::ModelTokenizer;

/// Maximum number of active and waiting calls. Further ones wait before they are queued.
pub const CALLS_MAX: usize = 256;

/// A loaded model. Clones are cheap and share it; dropping the last one frees it.
#[derive(Clone)]
pub struct LocalEngine {
    inner: Arc<EngineShared>,
}

struct EngineShared {
    mind: Arc<LoadedModel>,
    facts: EngineFacts,
    counters: Arc<EngineCounters>,
    places: Arc<Semaphore>,
    /// `None` while the engine is being closed.
    jobs: Option<SyncSender<EngineJob>>,
    thread: Option<JoinHandle<()>>,
}

/// Parts of the model that callers and the engine's thread share.
struct LoadedModel {
    vocabulary: ModelTokenizer,
    template: ChatTemplate,
    constraints: ConstraintFactory,
    habit: SamplingDefaults,
}

impl LocalEngine {
    /// Loads the GGUF file at `path`. Blocks for some tenths of a second, or as long as the disk takes.
    #[tracing::instrument(skip_all, fields(path = %path.display()))]
    pub fn load(path: &Path, options: EngineOptions) -> Result<Self, EngineError> {
        cpu::check_processor()?;
        let header = GgufHeader::read(path)?;
        gguf_checks::check(&header)?;
        let vocabulary = ModelTokenizer::open(&header, &LlamaModelParams::default())?;
        let plan = EnginePlan::of(&vocabulary.model, &header, &options)?;
        let facts = EngineFacts::of(&vocabulary.model, &header, &plan);
        let mind = Arc::new(LoadedModel {
            template: ChatTemplate::of(&vocabulary.model),
            vocabulary,
            constraints: ConstraintFactory::default(),
            habit: SamplingDefaults::of(&facts.architecture),
        });
        let counters = Arc::new(EngineCounters::default());
        let (jobs, thread) = start(Arc::clone(&mind), plan, Arc::clone(&counters))?;
        tracing::debug!(?facts, "model loaded");
        Ok(Self {
            inner: Arc::new(EngineShared {
                mind,
                facts,
                counters,
                places: Arc::new(Semaphore::new(CALLS_MAX)),
                jobs: Some(jobs),
                thread: Some(thread),
            }),
        })
    }

    /// Facts of the model.
    pub fn facts(&self) -> &EngineFacts {
        &self.inner.facts
    }

    /// Work of the engine so far.
    pub fn stats(&self) -> EngineStats {
        self.inner.counters.read()
    }

    /// Token count of `text` by itself, with the model's own tokenizer.
    pub fn count(&self, text: &str) -> u64 {
        self.inner.mind.vocabulary.count(text)
    }

    /// Size of `request`, including the template. It costs no money.
    pub fn measure(&self, request: &ModelRequest) -> Result<RequestEstimate, ModelFailure> {
        let worded = tool_call::in_words(request);
        let request = worded.as_ref().unwrap_or(request);
        Ok(RequestEstimate {
            input_tokens: self.inner.mind.prompt(request)?.len() as u64,
            exactness: CountPrecision::Exact,
            window_tokens: Some(u64::from(self.inner.facts.window_tokens)),
            price: ModelPrice::default(),
        })
    }

    /// Calls the model; needs a tokio runtime. A streamed reply is passed to `deltas` as it arrives.
    ///
    /// The request's timeout is the maximum time between two tokens (read or written) once its turn has come.
    /// Waiting for the turn does not count: other calls are no reason to give up this one. Without a
    /// temperature, a constrained reply is greedy, and any other is sampled as recommended for the model's
    /// family (Qwen: 0.7, top-p 0.8, top-k 20; others: 0.2, 0.9, 40).
    pub fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: &'a mut TokenSink<'_>,
    ) -> CallFuture<'a> {
        Box::pin(self.inner.call(request, deltas))
    }
}

impl fmt::Debug for LocalEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("facts", &self.inner.facts)
            .finish_non_exhaustive()
    }
}

impl EngineShared {
    async fn call(
        &self,
        request: &ModelRequest,
        deltas: &mut TokenSink<'_>,
    ) -> Result<ModelReply, ModelFailure> {
        let begin = cpu::now();
        let matcher = self.matcher(request).await?;
        // The model has no native tool calls: tools are described in words, and its JSON is a call or an
        // answer.
        let worded = tool_call::in_words(request);
        let request = worded.as_ref().unwrap_or(request);
        let prompt = self.mind.prompt(request)?;
        let input_tokens = prompt.len() as u64;
        self.check_size(input_tokens, request)?;
        let place = Arc::clone(&self.places)
            .acquire_owned()
            .await
            .map_err(|_| stopped())?;
        let (pieces, mut heard) = mpsc::channel(DELTAS_MAX);
        let (reply, spoken) = oneshot::channel();
        let job = EngineJob {
            prompt,
            output_tokens_max: request.output_tokens_max,
            sampler: TokenSampler::of(request, self.mind.habit, dice(request.seed)?),
            matcher,
            timeout: Duration::from(request.timeout),
            deltas: (request.delivery == ReplyMode::Streamed).then_some(pieces),
            reply,
            place,
        };
        let jobs = self.jobs.as_ref().ok_or_else(stopped)?;
        // There are as many slots as places, so it is never full while the thread lives.
        jobs.try_send(job).map_err(|_| stopped())?;
        let mut passed_bytes = 0;
        while let Some(piece) = heard.recv().await {
            deltas(&piece);
            passed_bytes += piece.len();
        }
        let JobOutput {
            text,
            ending,
            margin_milli,
            output_tokens,
            timing,
        } = spoken.await.map_err(|_| stopped())??;
        if request.delivery == ReplyMode::Streamed && passed_bytes < text.len() {
            deltas(&text[passed_bytes..]);
        }
        let (text, tool_calls) = match worded {
            Some(_) => tool_call::out_of_words(text),
            None => (text, Vec::new()),
        };
        Ok(ModelReply {
            text: text.into(),
            tool_calls,
            ending,
            usage: TokenUsage {
                input_tokens,
                output_tokens,
                source: UsageSource::Counted,
            },
            latency: millis(cpu::now() - begin),
            timing: Some(timing),
            recalled: None,
            margin_milli,
        })
    }

    fn check_size(&self, input_tokens: u64, request: &ModelRequest) -> Result<(), ModelFailure> {
        let output_tokens = u64::from(request.output_tokens_max);
        if output_tokens == 0 {
            return Err(ModelFailure::unsent(
                FailureKind::Rejected,
                "a reply of no tokens was asked for",
            ));
        }
        let window = u64::from(self.facts.window_tokens);
        if input_tokens.saturating_add(output_tokens) > window {
            return Err(ModelFailure::unsent(
                FailureKind::TooLarge,
                format!(
                    "the request takes {input_tokens} tokens and its reply up to {output_tokens}; \
                     the model's window holds {window}"
                ),
            ));
        }
        Ok(())
    }

    async fn matcher(&self, request: &ModelRequest) -> Result<Option<Matcher>, ModelFailure> {
        let Some(source) = ConstraintSource::of(request)? else {
            return Ok(None);
        };
        let mind = Arc::clone(&self.mind);
        // The first compilation walks through the whole vocabulary: too long for a task that drives a run.
        tokio::task::spawn_blocking(move || mind.constraints.compile(&mind.vocabulary, &source))
            .await
            .map_err(|_| {
                ModelFailure::unsent(FailureKind::Rejected, "the form cannot be compiled")
            })?
            .map(Some)
    }
}

impl LoadedModel {
    fn prompt(&self, request: &ModelRequest) -> Result<Vec<LlamaToken>, ModelFailure> {
        let rejected = |cause: &str| ModelFailure::unsent(FailureKind::Rejected, cause);
        if request.messages.is_empty() {
            return Err(rejected("the request holds no message"));
        }
        let stretches = self
            .template
            .fill(&self.vocabulary, &request.messages)
            .ok_or_else(|| rejected("the model's chat template does not take the conversation"))?;
        let mut tokens = Vec::new();
        self.vocabulary.prompt(&stretches, &mut tokens);
        if tokens.is_empty() {
            return Err(rejected("the request says nothing"));
        }
        Ok(tokens)
    }
}

impl Drop for EngineShared {
    fn drop(&mut self) {
        drop(self.jobs.take());
        // The thread ends after its current step. Left behind, it could outlive the library it computes with.
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Starts the engine's thread and waits until it has its working memory, or failed to get it.
fn start(
    mind: Arc<LoadedModel>,
    plan: EnginePlan,
    counters: Arc<EngineCounters>,
) -> Result<(SyncSender<EngineJob>, JoinHandle<()>), EngineError> {
    let (jobs, taken) = sync_channel(CALLS_MAX);
    let (ready, started) = sync_channel(1);
    let thread = thread::Builder::new()
        .name("fathom-engine".to_owned())
        .spawn(
            move || match SequenceCache::new(&mind.vocabulary.model, &plan, plan.threads) {
                Ok(cache) => {
                    drop(ready.send(Ok(())));
                    EngineQueue::new(plan, taken, counters).serve(&mind.vocabulary, cache);
                }
                Err(error) => drop(ready.send(Err(error))),
            },
        )
        .map_err(|error| EngineError::NotStarted {
            cause: error.to_string(),
        })?;
    started.recv().unwrap_or_else(|_| {
        Err(EngineError::NotStarted {
            cause: "its thread ended at once".to_owned(),
        })
    })?;
    Ok((jobs, thread))
}

/// A random generator with the request's seed, or with a random one.
fn dice(seed: Option<u32>) -> Result<SamplerRng, ModelFailure> {
    if let Some(seed) = seed {
        return Ok(SamplerRng::new(seed.into()));
    }
    let mut seed = [0; 8];
    getrandom::fill(&mut seed).map_err(|error| {
        ModelFailure::unsent(FailureKind::Server, format!("no random numbers: {error}"))
    })?;
    Ok(SamplerRng::new(u64::from_le_bytes(seed)))
}

fn stopped() -> ModelFailure {
    ModelFailure::unsent(FailureKind::Server, "the engine has stopped")
}
