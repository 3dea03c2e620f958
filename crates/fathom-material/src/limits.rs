//! How much is read, and how it is cut.

/// Most files of all folders together.
pub const FILES_MAX: usize = 10_000;

/// Most entries of all folders together, those that are left out included.
pub const ENTRIES_MAX: usize = 100_000;

/// Most folders below the one that was named.
pub const DEPTH_MAX: usize = 32;

/// Most bytes of one file whose passages are wanted.
pub const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Most bytes of all such files together.
pub const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How much is read. What is compressed counts by what it unfolds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most bytes of one file.
    pub file_bytes: u64,
    /// Most bytes of all files together.
    pub bytes: u64,
}

impl Bounds {
    /// For material that is read in passages.
    pub const PASSAGES: Self = Self {
        file_bytes: FILE_BYTES_MAX,
        bytes: BYTES_MAX,
    };

    /// For material that only code looks at.
    pub const WHOLE: Self = Self {
        file_bytes: 1 << 30,
        bytes: 2 << 30,
    };
}

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
