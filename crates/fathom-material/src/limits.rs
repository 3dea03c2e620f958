//! How much is read, and how it is cut.

/// Most files of all folders together.
pub const FILES_MAX: usize = 10_000;

/// Most entries of all folders together, those that are left out included.
pub const ENTRIES_MAX: usize = 100_000;

/// Most folders below the one that was named.
pub const DEPTH_MAX: usize = 32;

/// Most bytes of one file.
pub const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Most bytes of all files together.
pub const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Words from which on a passage is long enough to stand by itself.
pub const PASSAGE_WORDS_MIN: usize = 20;

/// Most words of a passage.
pub const PASSAGE_WORDS_MAX: usize = 120;

/// Bytes that count as one word at least, for scripts without spaces and for text without words.
pub const WORD_BYTES: usize = 12;

/// Most characters of the headings above a passage.
pub const HEADINGS_CHARS_MAX: usize = 160;

/// Texts that are embedded at once.
pub const EMBED_BATCH: usize = 64;
