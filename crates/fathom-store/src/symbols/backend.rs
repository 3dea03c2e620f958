//! Rows: the append-only data of a backend.

use serde::{Deserialize, Serialize};

use super::error::SymbolStoreError;

/// The format of what is kept.
pub(super) const FORMAT: u64 = 1;

/// Tries of a write while others write too.
pub(super) const TRIES_MAX: u32 = 64;

pub(super) type BackendResult<T> = std::result::Result<T, SymbolStoreError>;

/// Type of a row's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RowKind {
    Symbol,
    Kit,
    Persona,
}

impl RowKind {
    pub(super) const ALL: [Self; 3] = [Self::Symbol, Self::Kit, Self::Persona];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Symbol => "symbol",
            Self::Kit => "kit",
            Self::Persona => "persona",
        }
    }
}

/// One version of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SymbolRow {
    /// Its number among all rows, from one.
    pub(super) seq: u64,
    pub(super) kind: RowKind,
    pub(super) id: String,
    /// Counted from one for each id, over removals too.
    pub(super) version: u64,
    /// Number of the first version: the order of creation.
    pub(super) born: u64,
    /// JSON; `None` if this version deleted the entry.
    pub(super) body: Option<String>,
    /// The request that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<WrittenBy>,
}

/// The request that wrote a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WrittenBy {
    pub(super) key: String,
    /// SHA-256 of it, in hex.
    pub(super) request: String,
}

/// A row before it has a number.
#[derive(Clone, Debug)]
pub(super) struct RowDraft {
    pub(super) kind: RowKind,
    pub(super) id: String,
    pub(super) body: Option<String>,
    /// The version that it follows. If that is no longer the newest, nothing is written.
    pub(super) follows: Option<PreviousVersion>,
    pub(super) by: Option<WrittenBy>,
    pub(super) vector: Option<RowVector>,
}

/// The version before.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreviousVersion {
    pub(super) seq: u64,
    pub(super) version: u64,
    pub(super) born: u64,
}

impl From<&SymbolRow> for PreviousVersion {
    fn from(row: &SymbolRow) -> Self {
        Self {
            seq: row.seq,
            version: row.version,
            born: row.born,
        }
    }
}

impl RowDraft {
    /// The row, once its number is known.
    pub(super) fn row(&self, seq: u64) -> SymbolRow {
        SymbolRow {
            seq,
            kind: self.kind,
            id: self.id.clone(),
            version: self.follows.map_or(1, |before| before.version + 1),
            born: self.follows.map_or(seq, |before| before.born),
            body: self.body.clone(),
            by: self.by.clone(),
        }
    }
}

/// An embedding, and the model that made it.
#[derive(Clone, Debug)]
pub(super) struct RowVector {
    pub(super) model: String,
    pub(super) numbers: Vec<f32>,
}

/// Outcome of a commit.
#[derive(Debug)]
pub(super) enum RowCommit {
    /// All are rows now, in their order.
    Done(Vec<SymbolRow>),
    /// Nothing was written: another request was faster, or this one was applied before.
    Stale,
}

/// A backend.
pub(super) trait SymbolBackend: Send + Sync {
    /// The row that a key wrote.
    fn applied(&self, key: &str) -> BackendResult<Option<SymbolRow>>;

    /// The newest rows of ids, deletions too, in the order of the ids.
    fn newest(&self, kind: RowKind, ids: &[&str]) -> BackendResult<Vec<Option<SymbolRow>>>;

    /// The newest rows of their ids after a number, in order, at most `max`.
    fn after(&self, kind: RowKind, seq: u64, max: usize) -> BackendResult<Vec<SymbolRow>>;

    /// All rows of an id, the oldest first.
    fn versions(&self, kind: RowKind, id: &str) -> BackendResult<Vec<SymbolRow>>;

    /// Writes all drafts, each with its vector, or none.
    fn commit(&self, drafts: &[RowDraft]) -> BackendResult<RowCommit>;

    /// The vectors of rows by a model, in the order of the rows.
    fn vectors(&self, model: &str, seqs: &[u64]) -> BackendResult<Vec<Option<Vec<f32>>>>;

    /// Stores vectors of rows by a model. They replace those of other models.
    fn keep_vectors(&self, model: &str, vectors: &[(u64, Vec<f32>)]) -> BackendResult<()>;
}

pub(super) fn bytes_of(numbers: &[f32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

/// The vector in these bytes; `None` if they are malformed.
pub(super) fn numbers_of(bytes: &[u8]) -> Option<Vec<f32>> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    rest.is_empty().then(|| {
        numbers
            .iter()
            .map(|four| f32::from_le_bytes(*four))
            .collect()
    })
}
