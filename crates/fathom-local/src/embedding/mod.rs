//! Sentence embeddings with all-MiniLM-L6-v2.
//!
//! A text becomes a vector of 384 numbers and length one; texts with similar meanings have vectors of similar
//! directions. Computed in 32 bits from the original weights, on this machine; see `docs/decisions/0006`.
//!
//! Absences: no padding, so a text's vector does not depend on the texts embedded with it; no more than
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

use bert::BertModel;
use error::ModelFault;
use safetensors::TensorFile;

/// Maximum number of word pieces read of one text, including the two end markers: the model was trained so.
pub const WORD_PIECES_MAX: usize = 256;

/// Maximum number of bytes read of one text. Far more than [`WORD_PIECES_MAX`] pieces of ordinary text.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;

/// Maximum number of computing threads.
pub const THREADS_MAX: usize = 2;

/// Maximum size of a weights file: the real one has 91 MB.
const WEIGHTS_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Maximum size of a tokenizer file: the real one has half a megabyte.
const TOKENIZER_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Maximum number of word pieces that go through the model at once.
const BATCH_PIECES_MAX: usize = WORD_PIECES_MAX;

/// Test sentence for the loaded files.
const PROBE: &str = "A short sentence shows that the weights and the tokenizer belong together.";

/// The loaded model. Shared by reference: it keeps nothing between calls.
pub struct SentenceEmbedder {
    bert: BertModel,
    tokenizer: Tokenizer,
    threads: ThreadPool,
}

impl SentenceEmbedder {
    /// Loads the weights (`.safetensors`) and the tokenizer (`tokenizer.json`), and embeds one sentence to see
    /// that they belong together.
    pub fn load(weights: &Path, tokenizer: &Path) -> Result<Self, EmbeddingError> {
        let unusable = |cause: String| EmbeddingError::Weights {
            path: weights.to_owned(),
            cause,
        };
        let file = read(weights, WEIGHTS_BYTES_MAX)?;
        let bert = unwinding(|| BertModel::load(&TensorFile::parse(&file)?))
            .map_err(|fault| unusable(fault.to_string()))?;
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

    /// Embeds texts, in their order. A text has the same vector whatever it is embedded with.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        unwinding(|| {
            let texts = texts
                .iter()
                .map(|text| self.pieces(text))
                .collect::<Result<Vec<_>, _>>()?;
            let batches: Vec<Result<Vec<Embedding>, ModelFault>> = self.threads.install(|| {
                batches(&texts)
                    .par_iter()
                    .map(|batch| self.bert.embed(batch))
                    .collect()
            });
            let batches = batches.into_iter().collect::<Result<Vec<_>, _>>()?;
            Ok(batches.into_iter().flatten().collect())
        })
        .map_err(|fault| EmbeddingError::Failed {
            cause: fault.to_string(),
        })
    }

    /// The word pieces of one text, cut at [`WORD_PIECES_MAX`].
    fn pieces(&self, text: &str) -> Result<Vec<u32>, ModelFault> {
        // Before the tokenizer, whose time grows with the text.
        let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
        let encoding = self
            .tokenizer
            .encode_fast(text, true)
            .map_err(ModelFault::engine)?;
        match encoding.len() {
            0 => Err(ModelFault::NoPieces),
            1..=WORD_PIECES_MAX => Ok(encoding.get_ids().to_vec()),
            count => Err(ModelFault::TooManyPieces(count)),
        }
    }
}

impl fmt::Debug for SentenceEmbedder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Embedder").finish_non_exhaustive()
    }
}

/// Groups neighbours into batches of up to [`BATCH_PIECES_MAX`] word pieces.
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
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(ModelFault::engine)?;
        let truncation = TruncationParams {
            max_length: WORD_PIECES_MAX,
            ..TruncationParams::default()
        };
        // Whatever the file asks for: padding would let one text change another's vector.
        tokenizer
            .with_padding(None)
            .with_truncation(Some(truncation))
            .map_err(ModelFault::engine)?;
        Ok(tokenizer)
    })
    .map_err(|fault: ModelFault| EmbeddingError::Tokenizer {
        path: path.to_owned(),
        cause: fault.to_string(),
    })
}

/// Reads a whole file, up to a limit that also holds for a file that grows.
fn read(path: &Path, bytes_max: u64) -> Result<Vec<u8>, EmbeddingError> {
    let unreadable = |source| EmbeddingError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    // One byte above the limit shows that there is more.
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

/// Turns a panic into an error: other crates read files and texts here, and a panic of theirs is an error of
/// that file or text.
fn unwinding<T>(work: impl FnOnce() -> Result<T, ModelFault>) -> Result<T, ModelFault> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let said = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied());
        Err(ModelFault::Panicked(
            said.unwrap_or("no reason given").to_owned(),
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
