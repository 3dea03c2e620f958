//! Limits on the contents of a charter. Limits of a packet are in the core.

use std::ops::RangeInclusive;

pub use fathom_core::packet::INSTRUCTION_TOKENS_MAX;

/// Bytes of one file.
pub const FILE_BYTES_MAX: u64 = 256 * 1024;

/// Bytes of the head of a Markdown file.
pub const HEAD_BYTES_MAX: usize = 16 * 1024;

/// Lists and tables within each other in such a head.
// The reader is recursive, and no head needs more than two levels.
pub const HEAD_NESTING_MAX: usize = 8;

/// Entries of a charter's folder, and of each folder in it.
pub const FILES_MAX: usize = 256;

/// Findings of each kind that one check lists.
// Also bounds how often a file is read again after a wrong key was taken out of it.
pub const FINDINGS_MAX: usize = 100;

/// Instructions in the registry.
pub const INSTRUCTIONS_MAX: usize = 256;

/// Entries of one list: traits, rules, constraints, layers, tools.
pub const LIST_MAX: usize = 64;

/// Characters of a name or an id.
pub const NAME_CHARS_MAX: usize = 64;

/// Characters of a description.
pub const DESCRIPTION_CHARS_MAX: usize = 400;

/// Tokens of the smallest packet in which every part has room.
// Below this the header alone would leave no room for a question.
pub const MTU_TOKENS_MIN: u64 = 512;

/// Tokens of the largest packet.
pub const MTU_TOKENS_MAX: u64 = 16_000_000;

/// Chiefs of a council.
pub const CHIEFS_MAX: usize = 8;

/// Sub-chiefs listed below one seat, of which only those that a question concerns are asked.
pub const SUB_CHIEFS_LISTED_MAX: usize = 16;

/// Characters of what a seat looks at.
pub const FOCUS_CHARS_MAX: usize = 400;

/// Characters of what every voter is told.
pub const COUNCIL_INSTRUCTIONS_CHARS_MAX: usize = 4_000;

/// Default number of tokens for the passages of one seat.
pub const PASSAGE_TOKENS_USUAL: u32 = 1_200;

/// Tokens of the passages of one seat.
pub const PASSAGE_TOKENS: RangeInclusive<u64> = 50..=32_000;

/// Default number of characters for a voter's reasoning.
pub const REASONING_CHARS_USUAL: u32 = 600;

/// Characters of a voter's reasoning.
pub const REASONING_CHARS: RangeInclusive<u64> = 40..=4_000;

/// Output tokens of a vote.
pub const VOTE_TOKENS: RangeInclusive<u64> = 32..=8_192;
