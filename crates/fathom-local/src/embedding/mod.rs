//! Sentence embeddings with all-MiniLM-L6-v2.
//!
//! A text becomes a vector of 384 numbers of length one; texts that mean much the same have vectors that point much the
//! same way. Computed in 32 bits from the original weights, on this machine; see `docs/decisions/0006`.
//!
//! Absences: no padding, so nothing that is embedded together with a text has a say in its vector; no more than
//! [`THREADS_MAX`] threads at work, and none that spins; no panic on a file, whatever is in it.

mod bert;
mod error;
mod safetensors;
mod vector;

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::thread;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use tokenizers::{Tokenizer, TruncationParams};

pub use error::EmbeddingError;
pub use vector::{DIMENSIONS, Embedding};

use bert::Bert;
use safetensors::Tensors;

/// Word pieces of one text that are looked at, with the two that mark its ends. The model was trained so.
pub const WORD_PIECES_MAX: usize = 256;

/// Bytes of one text that are looked at. Far more than [`WORD_PIECES_MAX`] pieces of ordinary text.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;

/// Threads that compute.
pub const THREADS_MAX: usize = 2;

/// Bytes that a file of weights may have: the real one has 91 MB.
const WEIGHTS_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Bytes that a tokenizer file may have: the real one has half a megabyte.
const TOKENIZER_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Word pieces that go through the model at once.
const BATCH_PIECES_MAX: usize = WORD_PIECES_MAX;

/// What a file must be able to embed before it counts as the right one.
const PROBE: &str = "A short sentence shows that the weights and the tokenizer belong together.";

/// The model, ready to embed. Shared by reference: it keeps nothing between calls.
pub struct Embedder {
    bert: Bert,
    tokenizer: Tokenizer,
    threads: ThreadPool,
}

impl Embedder {
    /// Loads the weights (`.safetensors`) and the tokenizer (`tokenizer.json`), and embeds one sentence to see that they
    /// belong together.
    pub fn load(weights: &Path, tokenizer: &Path) -> Result<Self, EmbeddingError> {
        let unusable = |cause: String| EmbeddingError::Weights {
            path: weights.to_owned(),
            cause,
        };
        let file = read(weights, WEIGHTS_BYTES_MAX)?;
        let bert = unwinding(|| Bert::load(&Tensors::parse(&file)?)).map_err(unusable)?;
        let embedder = Self {
            bert,
            tokenizer: load_tokenizer(tokenizer)?,
            threads: start_threads()?,
        };
        match embedder.embed(&[PROBE]) {
            Ok(_) => Ok(embedder),
            Err(EmbeddingError::Failed { cause }) => Err(unusable(cause)),
            Err(error) => Err(error),
        }
    }

    /// Embeds texts, in their order. A text has the same vector whatever it is embedded together with.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        unwinding(|| {
            let texts = texts
                .iter()
                .map(|text| self.pieces(text))
                .collect::<Result<Vec<_>, _>>()?;
            let batches: Vec<Result<Vec<Embedding>, String>> = self.threads.install(|| {
                batches(&texts)
                    .par_iter()
                    .map(|batch| self.bert.embed(batch))
                    .collect()
            });
            let batches = batches.into_iter().collect::<Result<Vec<_>, _>>()?;
            Ok(batches.into_iter().flatten().collect())
        })
        .map_err(|cause| EmbeddingError::Failed { cause })
    }

    /// The word pieces of one text, cut at [`WORD_PIECES_MAX`].
    fn pieces(&self, text: &str) -> Result<Vec<u32>, String> {
        let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
        let encoding = self
            .tokenizer
            .encode_fast(text, true)
            .map_err(|error| error.to_string())?;
        match encoding.len() {
            0 => Err("a text has no word pieces, not even those that mark its ends".to_owned()),
            1..=WORD_PIECES_MAX => Ok(encoding.get_ids().to_vec()),
            count => Err(format!("a text has {count} word pieces after it was cut")),
        }
    }
}

impl fmt::Debug for Embedder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Embedder").finish_non_exhaustive()
    }
}

/// Neighbours together, as many as make [`BATCH_PIECES_MAX`] word pieces.
fn batches(texts: &[Vec<u32>]) -> Vec<Vec<&[u32]>> {
    let mut batches: Vec<Vec<&[u32]>> = Vec::new();
    let mut pieces = 0;
    for text in texts {
        match batches.last_mut() {
            Some(batch) if pieces + text.len() <= BATCH_PIECES_MAX => {
                batch.push(text);
                pieces += text.len();
            }
            Some(_) | None => {
                batches.push(vec![text]);
                pieces = text.len();
            }
        }
    }
    batches
}

fn load_tokenizer(path: &Path) -> Result<Tokenizer, EmbeddingError> {
    let bytes = read(path, TOKENIZER_BYTES_MAX)?;
    unwinding(|| {
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| error.to_string())?;
        let truncation = TruncationParams {
            max_length: WORD_PIECES_MAX,
            ..TruncationParams::default()
        };
        tokenizer
            .with_padding(None)
            .with_truncation(Some(truncation))
            .map_err(|error| error.to_string())?;
        Ok(tokenizer)
    })
    .map_err(|cause| EmbeddingError::Tokenizer {
        path: path.to_owned(),
        cause,
    })
}

/// Reads a file whole, up to a limit that also holds for a file that grows.
fn read(path: &Path, bytes_max: u64) -> Result<Vec<u8>, EmbeddingError> {
    let unreadable = |source| EmbeddingError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(bytes_max + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > bytes_max {
        return Err(EmbeddingError::TooLarge {
            path: path.to_owned(),
            bytes_max,
        });
    }
    Ok(bytes)
}

/// Other crates read files and texts here; should one of them panic, it is that file's or that text's error.
fn unwinding<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let said = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied());
        Err(format!(
            "it broke the engine: {}",
            said.unwrap_or("no reason given")
        ))
    })
}

fn start_threads() -> Result<ThreadPool, EmbeddingError> {
    let count = thread::available_parallelism()
        .map_or(1, NonZeroUsize::get)
        .min(THREADS_MAX);
    ThreadPoolBuilder::new()
        .num_threads(count)
        .thread_name(|index| format!("embedding-{index}"))
        .build()
        .map_err(|error| EmbeddingError::Failed {
            cause: error.to_string(),
        })
}

#[cfg(test)]
#[path = "embedding_tests.rs"]
mod tests;
