//! Byte-pair counting with `OpenAI`'s vocabularies, exact and without loading time.
//!
//! The usual way parses a file of 200,000 lines into hash maps at every start, which takes hundreds of
//! milliseconds. Here the build script lays out the vocabulary as a table within the program. Tests compare it
//! with `tiktoken-rs`, the source of the vocabulary.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::LazyLock;

use fathom_core::model::CountPrecision;
use regex::Regex;
use serde::Deserialize;

use super::hash_slots::{self, EMPTY, TOKEN_BYTES_MAX};

/// Maximum size of a piece that is counted at once. Words are far shorter; longer pieces are endless runs, and
/// merging all of one at once would take forty times its memory.
const PIECE_BYTES_MAX: usize = 16 << 10;

/// Size of the head of a long text from which its token count is estimated.
const HEAD_BYTES: usize = 64 << 10;

/// One of `OpenAI`'s vocabularies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BpeVocabulary {
    /// The vocabulary of GPT-4o and later models.
    O200k,
    /// The vocabulary of GPT-4 and GPT-3.5.
    Cl100k,
}

/// A vocabulary's tokens, as laid out by the build script.
struct RankTable {
    bytes: &'static [u8],
    begins: &'static [u8],
    slots: &'static [u8],
}

static O200K: RankTable = RankTable {
    bytes: include_bytes!(concat!(env!("OUT_DIR"), "/o200k.bytes")),
    begins: include_bytes!(concat!(env!("OUT_DIR"), "/o200k.begins")),
    slots: include_bytes!(concat!(env!("OUT_DIR"), "/o200k.slots")),
};

static CL100K: RankTable = RankTable {
    bytes: include_bytes!(concat!(env!("OUT_DIR"), "/cl100k.bytes")),
    begins: include_bytes!(concat!(env!("OUT_DIR"), "/cl100k.begins")),
    slots: include_bytes!(concat!(env!("OUT_DIR"), "/cl100k.slots")),
};

/// Pattern that splits text before tokens are merged. The published patterns look ahead with `\s+(?!\S)`, which
/// needs a backtracking regex engine; [`give_back`] does the same afterwards, so that a linear one will do.
static O200K_PIECES: LazyLock<Result<Regex, regex::Error>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+",
    ))
});

static CL100K_PIECES: LazyLock<Result<Regex, regex::Error>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+",
    ))
});

impl BpeVocabulary {
    fn table(self) -> &'static RankTable {
        match self {
            Self::O200k => &O200K,
            Self::Cl100k => &CL100K,
        }
    }

    fn pieces(self) -> Option<&'static Regex> {
        match self {
            Self::O200k => O200K_PIECES.as_ref().ok(),
            Self::Cl100k => CL100K_PIECES.as_ref().ok(),
        }
    }

    /// Compiles the pattern on a separate thread: its Unicode classes take some milliseconds.
    pub(crate) fn warm_up(self) {
        std::thread::spawn(move || self.pieces());
    }

    /// Token count of `text`; `None` if there are more than `most`, which is found without reading on, or if
    /// the pattern did not compile, which a test rules out.
    pub(crate) fn count(self, text: &str, most: u64) -> Option<(u64, CountPrecision)> {
        // No text of this size has fewer tokens.
        if (text.len() / TOKEN_BYTES_MAX) as u64 > most {
            return None;
        }
        let (pieces, table) = (self.pieces()?, self.table());
        let mut tokens = 0;
        let mut exactness = CountPrecision::Exact;
        let mut at = 0;
        while let Some(found) = pieces.find_at(text, at) {
            at = give_back(text, found.start(), found.end());
            let piece = &text.as_bytes()[found.start()..at];
            if piece.len() > PIECE_BYTES_MAX {
                // Nothing is merged across a cut, so the true count may be lower.
                exactness = CountPrecision::UpperBound;
            }
            for part in piece.chunks(PIECE_BYTES_MAX) {
                tokens += table.count_piece(part) as u64;
                if tokens > most {
                    return None;
                }
            }
        }
        Some((tokens, exactness))
    }

    /// Estimated token count of a text with more than `most` tokens, as if all of it were like its head.
    pub(crate) fn about(self, text: &str, most: u64) -> Option<(u64, CountPrecision)> {
        let head = text.floor_char_boundary(HEAD_BYTES);
        let (tokens, _) = self.count(&text[..head], u64::MAX)?;
        let tokens = tokens.saturating_mul(text.len() as u64) / (head as u64).max(1);
        // Not a bound, but above `most` in any case: a caller with a limit only needs to know that it is
        // exceeded.
        Some((
            tokens.max(most.saturating_add(1)),
            CountPrecision::UpperBound,
        ))
    }
}

/// The end of a piece: white space before a word leaves its last character to the word.
fn give_back(text: &str, start: usize, end: usize) -> usize {
    let piece = &text[start..end];
    match piece.chars().next_back() {
        Some(last)
            if last.is_whitespace()
                && !matches!(last, '\r' | '\n')
                && end < text.len()
                && piece.len() > last.len_utf8() =>
        {
            end - last.len_utf8()
        }
        _ => end,
    }
}

impl RankTable {
    fn number(numbers: &[u8], index: usize) -> Option<u32> {
        let (numbers, _) = numbers.as_chunks::<4>();
        numbers.get(index).copied().map(u32::from_le_bytes)
    }

    fn token(&self, rank: u32) -> Option<&[u8]> {
        let rank = rank as usize;
        let begin = Self::number(self.begins, rank)? as usize;
        let end = Self::number(self.begins, rank + 1)? as usize;
        self.bytes.get(begin..end)
    }

    fn rank(&self, token: &[u8]) -> Option<u32> {
        if token.len() > TOKEN_BYTES_MAX {
            return None;
        }
        let slots = self.slots.len() / 4;
        let mut slot = hash_slots::first_slot(token, slots);
        loop {
            let rank = Self::number(self.slots, slot)?;
            if rank == EMPTY {
                return None;
            }
            if self.token(rank)? == token {
                return Some(rank);
            }
            slot = hash_slots::next_slot(slot, slots);
        }
    }

    /// Token count of one piece: neighbours are merged, lowest rank first and from the left, until no pair is a
    /// token.
    fn count_piece(&self, piece: &[u8]) -> usize {
        if self.rank(piece).is_some() {
            return 1;
        }
        // A part is identified by its start; `ends[start]` is its end, or zero once it is merged away.
        let mut ends: Vec<usize> = (1..=piece.len()).collect();
        let mut before: Vec<usize> = (0..piece.len())
            .map(|start| start.saturating_sub(1))
            .collect();
        let mut merges = BinaryHeap::new();
        let consider = |merges: &mut BinaryHeap<_>, start: usize, end: usize| {
            if let Some(rank) = self.rank(&piece[start..end]) {
                merges.push(Reverse((rank, start, end)));
            }
        };
        for start in 0..piece.len().saturating_sub(1) {
            consider(&mut merges, start, start + 2);
        }
        let mut parts = piece.len();
        while let Some(Reverse((_, left, end))) = merges.pop() {
            let right = ends[left];
            // The parts of this merge may have been merged with others since.
            if right == 0 || right >= end || ends[right] != end {
                continue;
            }
            ends[left] = end;
            ends[right] = 0;
            parts -= 1;
            if end < piece.len() {
                before[end] = left;
                consider(&mut merges, left, ends[end]);
            }
            if left > 0 {
                consider(&mut merges, before[left], end);
            }
        }
        parts
    }
}

#[cfg(test)]
#[path = "bpe_tests.rs"]
mod tests;
