//! The model's working memory: active sequences, shared beginnings, and ended sequences kept for reuse.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};

use llama_cpp_2::DecodeError;
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;

use super::EnginePlan;
use super::cache_cells::CacheCells;
use super::error::EngineError;
use super::tokenizer;

/// Maximum number of ended sequences kept for later calls.
pub(crate) const KEPT_MAX: u32 = 3;
/// Fewer common tokens than this are read again instead of being waited for or copied.
pub(crate) const SHARED_TOKENS_MIN: usize = 8;

/// A sequence in the cache, with the cells of its tokens.
#[derive(Debug)]
pub(crate) struct SequenceSlot {
    pub(crate) sequence: i32,
    pub(crate) cells: Vec<u32>,
}

/// A sequence that ended.
struct RetainedSequence {
    seat: SequenceSlot,
    tokens: Vec<LlamaToken>,
}

pub(crate) struct SequenceCache<'m> {
    context: LlamaContext<'m>,
    cells: CacheCells,
    sequences: Vec<i32>,
    /// Oldest first.
    kept: VecDeque<RetainedSequence>,
    shares: bool,
}

impl<'m> SequenceCache<'m> {
    pub(crate) fn new(
        model: &'m LlamaModel,
        plan: &EnginePlan,
        threads: u32,
    ) -> Result<Self, EngineError> {
        // Two contexts created at the same time would write to the same model.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let sequences = plan.sequences + KEPT_MAX;
        let threads = i32::try_from(threads).unwrap_or(1);
        let params = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(plan.cache_tokens))
            .with_n_batch(plan.batch_tokens)
            .with_n_ubatch(plan.batch_tokens)
            .with_n_seq_max(sequences)
            // One pool of cells, so that sequences can share those of a common beginning.
            .with_kv_unified(true)
            // Keeps the cells beyond a sliding window too: a shared beginning needs all of them.
            .with_swa_full(true)
            .with_n_threads(threads)
            .with_n_threads_batch(threads)
            .with_no_perf(true);
        let no_room = |_| EngineError::NoRoom {
            cache_tokens: u64::from(plan.cache_tokens),
            cache_bytes: plan.cache_bytes,
        };
        let context = {
            let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
            model
                .new_context(tokenizer::backend()?, params)
                .map_err(no_room)?
        };
        if context.n_batch() < plan.batch_tokens || context.n_ctx() < plan.cache_tokens {
            return Err(EngineError::NotStarted {
                cause: "the engine made a smaller cache than it was asked for".to_owned(),
            });
        }
        let sequences = i32::try_from(sequences).unwrap_or(1);
        Ok(Self {
            context,
            cells: CacheCells::new(plan.cache_tokens),
            // Reversed, so that `pop` takes the lowest number first.
            sequences: (0..sequences).rev().collect(),
            kept: VecDeque::new(),
            // A recurrent state cannot be cut in the middle.
            shares: !model.is_recurrent() && !model.is_hybrid(),
        })
    }

    pub(crate) fn shares(&self) -> bool {
        self.shares
    }

    /// An empty sequence, if necessary that of the oldest kept one.
    pub(crate) fn seat(&mut self) -> Option<SequenceSlot> {
        if self.sequences.is_empty() {
            self.forget_oldest();
        }
        self.sequences.pop().map(|sequence| SequenceSlot {
            sequence,
            cells: Vec::new(),
        })
    }

    /// Starts the empty `seat` with the first `count` tokens of `donor`.
    pub(crate) fn share(&mut self, donor: &SequenceSlot, seat: &mut SequenceSlot, count: usize) {
        let upto = u32::try_from(count).ok();
        let copied = self
            .context
            .copy_kv_cache_seq(donor.sequence, seat.sequence, Some(0), upto);
        // A failed copy only costs time: the tokens are read again.
        if copied.is_ok() {
            seat.cells = self.cells.share(&donor.cells[..count]);
        }
    }

    /// Starts the empty `seat` with the tokens that a kept sequence has in common with `tokens`.
    pub(crate) fn share_kept(&mut self, seat: &mut SequenceSlot, tokens: &[LlamaToken]) {
        let best = self
            .kept
            .iter()
            .enumerate()
            .map(|(index, kept)| (common(&kept.tokens, tokens), index))
            .max();
        let Some((count, index)) = best.filter(|(count, _)| *count >= SHARED_TOKENS_MIN) else {
            return;
        };
        if let Some(kept) = self.kept.remove(index) {
            self.share(&kept.seat, seat, count);
            // Just used, so it is the last to be dropped.
            self.kept.push_back(kept);
        }
    }

    /// Number of tokens that a kept sequence has in common with `tokens`.
    pub(crate) fn kept_in_common(&self, tokens: &[LlamaToken]) -> usize {
        let counts = self.kept.iter().map(|kept| common(&kept.tokens, tokens));
        counts.max().unwrap_or(0)
    }

    /// Frees `count` cells, if necessary at the cost of kept sequences. Returns false if that is not enough.
    pub(crate) fn make_room(&mut self, count: usize) -> bool {
        while self.cells.free() < count && self.forget_oldest() {}
        self.cells.free() >= count
    }

    pub(crate) fn forget_oldest(&mut self) -> bool {
        match self.kept.pop_front() {
            Some(kept) => {
                self.leave(kept.seat);
                true
            }
            None => false,
        }
    }

    /// Ends a sequence and drops it.
    pub(crate) fn leave(&mut self, seat: SequenceSlot) {
        let SequenceSlot { sequence, cells } = seat;
        // Removing a whole sequence cannot fail.
        drop(
            self.context
                .clear_kv_cache_seq(u32::try_from(sequence).ok(), None, None),
        );
        self.cells.release(&cells);
        self.sequences.push(sequence);
    }

    /// Ends a sequence whose `tokens` may start a later one.
    pub(crate) fn keep(&mut self, seat: SequenceSlot, mut tokens: Vec<LlamaToken>) {
        if !self.shares {
            return self.leave(seat);
        }
        // Only tokens that were read into the cache can be shared.
        tokens.truncate(seat.cells.len());
        self.kept.push_back(RetainedSequence { seat, tokens });
        if self.kept.len() > KEPT_MAX as usize {
            self.forget_oldest();
        }
    }

    /// Computes `batch`, whose tokens belong to the sequences with these numbers.
    pub(crate) fn compute(&mut self, batch: &mut LlamaBatch<'_>) -> Result<(), DecodeError> {
        self.context.decode(batch)
    }

    /// Records `count` more tokens in `seat`.
    pub(crate) fn extend(&mut self, seat: &mut SequenceSlot, count: usize) {
        seat.cells
            .extend(std::iter::from_fn(|| self.cells.take()).take(count));
    }

    /// The logits of the token in `row` of the last batch.
    pub(crate) fn logits(&self, row: i32) -> &[f32] {
        self.context.get_logits_ith(row)
    }
}

/// Length of the common beginning.
pub(crate) fn common(one: &[LlamaToken], other: &[LlamaToken]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}
