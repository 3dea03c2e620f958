//! Limits of reading and splitting.

/// Maximum number of files of all folders together.
pub const FILES_MAX: usize = 10_000;

/// Maximum number of entries of all folders together, including those left out.
pub const ENTRIES_MAX: usize = 100_000;

/// Maximum number of folders below the named one.
pub const DEPTH_MAX: usize = 32;

/// Maximum size of one file that is split into passages.
pub const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Maximum size of all such files together.
pub const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Limits on the size of material. Compressed files count by their uncompressed size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Maximum number of bytes of one file.
    pub file_bytes: u64,
    /// Maximum number of bytes of all files together.
    pub bytes: u64,
}

impl ReadLimits {
    /// For material that is split into passages.
    pub const PASSAGES: Self = Self {
        file_bytes: FILE_BYTES_MAX,
        bytes: BYTES_MAX,
    };

    /// For material that only code reads.
    pub const WHOLE: Self = Self {
        file_bytes: 1 << 30,
        bytes: 2 << 30,
    };
}

/// Number of words from which a passage is long enough to stand by itself.
pub const PASSAGE_WORDS_MIN: usize = 20;

/// Maximum number of words of a passage.
pub const PASSAGE_WORDS_MAX: usize = 120;

/// Number of bytes that count as at least one word, for scripts without spaces and for text without words.
pub const WORD_BYTES: usize = 12;

/// Maximum number of characters of the headings above a passage.
pub const HEADINGS_CHARS_MAX: usize = 160;

/// Number of texts embedded at once.
pub const EMBED_BATCH: usize = 64;
