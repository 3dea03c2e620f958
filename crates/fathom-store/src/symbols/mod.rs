//! Symbols, kits and personas: kept in versions that are never changed, found by id, words, meaning and links.
//!
//! [`VersionedSymbols`] is the store on either backend. A backend keeps rows: every write adds one, a removal too, and a write carries the
//! key of its request, so that a request which comes again after a crash finds what it did before.

mod backend;
mod catalogue;
mod edits;
mod error;
mod redis;
mod requests;
mod search_index;
mod sqlite;
mod store;
mod vector_index;
mod word_index;

use std::fmt;

use fathom_core::domain::symbols::{AgentProfile, Kit, Symbol, SymbolAnswer, SymbolRequest};
use fathom_core::id::{AskId, EpisodeId, RunId};

pub use catalogue::{BadEntry, CATALOGUE_ENTRIES_MAX, ListOf, SymbolCatalogue};
pub use edits::{ID_CHARS_MAX, SYMBOL_BYTES_MAX};
pub use error::SymbolStoreError;
pub use redis::RedisAddress;
pub use store::{IDS_MAX, RESULTS_MAX, TEXT_BYTES_MAX, VersionedSymbols};

/// A store of symbols, kits and personas.
pub trait SymbolStore: Send + Sync {
    /// Answers a request. A write whose key was applied before changes nothing and is answered as it was then.
    fn carry_out(
        &self,
        key: &RequestKey,
        request: &SymbolRequest,
    ) -> Result<SymbolAnswer, SymbolStoreError>;

    /// Imports all of a catalogue or, if it has errors, nothing. Unchanged entries get no new version.
    /// `progress` is told of embeddings, which take longest. If they fail the entries stay, and the next search
    /// makes them.
    fn import(
        &self,
        catalogue: &SymbolCatalogue,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<ImportReport, SymbolStoreError>;

    /// All entries, in order of creation.
    fn export(&self) -> Result<SymbolCatalogue, SymbolStoreError>;

    /// All kits.
    fn kits(&self) -> Result<Vec<Kit>, SymbolStoreError>;

    /// All personas.
    fn personas(&self) -> Result<Vec<AgentProfile>, SymbolStoreError>;

    /// Stores a kit and returns its version.
    fn put_kit(&self, kit: &Kit) -> Result<u64, SymbolStoreError>;

    /// Stores a persona and returns its version.
    fn put_persona(&self, persona: &AgentProfile) -> Result<u64, SymbolStoreError>;

    /// All versions of a symbol, oldest first. Empty if it never existed.
    fn versions(&self, id: &str) -> Result<Vec<SymbolVersion>, SymbolStoreError>;

    /// Number of symbols.
    fn count(&self) -> Result<usize, SymbolStoreError>;
}

/// Turns texts into vectors that are close together if the texts have similar meanings.
pub trait Embed: Send + Sync {
    /// The model's name. Vectors of another name are never compared with its own.
    fn name(&self) -> &str;

    /// Number of dimensions.
    fn dimensions(&self) -> usize;

    /// The vectors of texts, in their order.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedFailed>;
}

/// An embedding model could not do its work.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct EmbedFailed(pub String);

/// Permanent identity of a request: the ask that it came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestKey(String);

impl RequestKey {
    /// The key of an ask.
    pub fn new(run: RunId, episode: &EpisodeId, ask: AskId) -> Self {
        Self(format!("{run}/{episode}/{}", ask.0))
    }

    fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One version of a symbol.
#[derive(Clone, Debug, PartialEq)]
pub struct SymbolVersion {
    /// Counted from one.
    pub version: u64,
    /// The symbol; `None` if this version deleted it.
    pub symbol: Option<Symbol>,
}

/// Progress of embedding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Number of embedded symbols.
    pub done: usize,
    /// Number of all symbols.
    pub total: usize,
}

/// Result of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Entries that did not exist before.
    pub new: usize,
    /// Entries that got another version.
    pub changed: usize,
    /// Entries that existed and are equal.
    pub unchanged: usize,
}
