//! Sizes for a model on this machine, and the facts reported about it.

use llama_cpp_2::model::LlamaModel;

use super::error::EngineError;
use super::gguf::GgufHeader;
use super::{cpu, gguf_checks};

/// Smallest useful window.
const WINDOW_TOKENS_MIN: u32 = 256;
/// The engine allocates the cache in blocks of this many tokens.
const CACHE_BLOCK_TOKENS: u32 = 256;
const SEQUENCES_MAX: u32 = 64;
const BATCH_TOKENS_MAX: u32 = 2048;
const CACHE_BYTES_PER_NUMBER: u64 = 2;

/// Options of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// Maximum window in tokens, even if the model was trained with a longer one: the cache grows with it.
    pub window_tokens_max: u32,
    /// Maximum size of the cache in bytes.
    pub cache_bytes_max: u64,
    /// Number of calls served at the same time; the rest wait.
    pub sequences: u32,
    /// Tokens read in one step. A call can be cancelled between steps.
    pub batch_tokens: u32,
    /// Number of computing threads. `None` uses all physical cores.
    pub threads: Option<u32>,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            window_tokens_max: 8192,
            cache_bytes_max: 1024 * 1024 * 1024,
            sequences: 12,
            batch_tokens: 128,
            threads: None,
        }
    }
}

/// The options, adapted to the model and the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnginePlan {
    pub(crate) window_tokens: u32,
    pub(crate) cache_tokens: u32,
    pub(crate) cache_bytes: u64,
    pub(crate) sequences: u32,
    pub(crate) batch_tokens: u32,
    pub(crate) threads: u32,
}

impl EnginePlan {
    pub(crate) fn of(
        model: &LlamaModel,
        header: &GgufHeader,
        options: &EngineOptions,
    ) -> Result<Self, EngineError> {
        let token_bytes = cache_bytes_per_token(model, header);
        let affordable = u32::try_from(options.cache_bytes_max / token_bytes).unwrap_or(u32::MAX);
        let wished = model
            .n_ctx_train()
            .min(options.window_tokens_max)
            .max(WINDOW_TOKENS_MIN);
        // Half a window in addition to a full one, so that a long call leaves room for others.
        let cache_tokens = wished.saturating_add(wished / 2).min(affordable) / CACHE_BLOCK_TOKENS
            * CACHE_BLOCK_TOKENS;
        let cache_bytes = u64::from(cache_tokens).saturating_mul(token_bytes);
        if cache_tokens < WINDOW_TOKENS_MIN {
            return Err(EngineError::NoRoom {
                cache_tokens: u64::from(WINDOW_TOKENS_MIN),
                cache_bytes: u64::from(WINDOW_TOKENS_MIN).saturating_mul(token_bytes),
            });
        }
        let sequences = options.sequences.clamp(1, SEQUENCES_MAX);
        Ok(Self {
            window_tokens: wished.min(cache_tokens),
            cache_tokens,
            cache_bytes,
            sequences,
            // Every call that is writing must fit into a batch with one token.
            batch_tokens: options
                .batch_tokens
                .clamp(sequences, BATCH_TOKENS_MAX)
                .min(cache_tokens),
            threads: options.threads.unwrap_or_else(cpu::cores).max(1),
        })
    }
}

/// Size of the keys and values of one token in all layers.
fn cache_bytes_per_token(model: &LlamaModel, header: &GgufHeader) -> u64 {
    let architecture = header.text("general.architecture").unwrap_or_default();
    let number = |name: &str| {
        header
            .integer(&format!("{architecture}.{name}"))
            .and_then(|number| u64::try_from(number).ok())
    };
    let width = u64::try_from(model.n_embd()).unwrap_or(1);
    let head = width / u64::from(model.n_head().max(1));
    let numbers = number("attention.key_length").unwrap_or(head)
        + number("attention.value_length").unwrap_or(head);
    (u64::from(model.n_layer()) * u64::from(model.n_head_kv().max(1)) * numbers)
        .saturating_mul(CACHE_BYTES_PER_NUMBER)
        .max(1)
}

/// Facts of a loaded model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineFacts {
    /// The name in its file, or the file's own.
    pub name: String,
    /// Its architecture, such as `qwen2`.
    pub architecture: String,
    /// Its quantisation, such as `Q4_K_M`.
    pub quantisation: String,
    /// Number of weights.
    pub parameters: u64,
    /// Size of the weights in bytes.
    pub weights_bytes: u64,
    pub layers: u32,
    /// The window that it was trained with.
    pub trained_window_tokens: u32,
    /// The window used here: prompt and reply together.
    pub window_tokens: u32,
    /// Maximum number of tokens of all calls together in the cache.
    pub cache_tokens: u32,
    /// Size of the cache in bytes.
    pub cache_bytes: u64,
    /// Number of calls served at the same time.
    pub sequences: u32,
    /// Number of computing threads.
    pub threads: u32,
}

impl EngineFacts {
    pub(crate) fn of(model: &LlamaModel, header: &GgufHeader, plan: &EnginePlan) -> Self {
        let file_name = || {
            let stem = header.path().file_stem().unwrap_or_default();
            stem.to_string_lossy().into_owned()
        };
        Self {
            name: header
                .text("general.name")
                .map_or_else(file_name, str::to_owned),
            architecture: header
                .text("general.architecture")
                .unwrap_or_default()
                .to_owned(),
            quantisation: gguf_checks::quantisation(header.integer("general.file_type")),
            parameters: model.n_params(),
            weights_bytes: model.size(),
            layers: model.n_layer(),
            trained_window_tokens: model.n_ctx_train(),
            window_tokens: plan.window_tokens,
            cache_tokens: plan.cache_tokens,
            cache_bytes: plan.cache_bytes,
            sequences: plan.sequences,
            threads: plan.threads,
        }
    }
}
