//! What can go wrong with symbols.

use std::path::PathBuf;

use fathom_core::symbols::{SymbolFault, SymbolFaultKind};

use super::catalogue::BadEntry;
use crate::error::StoreError;

/// What the symbol store could not do. Nothing was changed, unless a variant says otherwise.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SymbolStoreError {
    /// The Redis server does not answer. What was being written may have been kept; the same request finds out.
    #[error("the Redis server at `{place}` cannot be reached: {what}")]
    Unreachable {
        /// Its address, without a password.
        place: String,
        /// What the connection said.
        what: String,
    },
    /// The Redis server is there and does not do what it is asked.
    #[error("the Redis server at `{place}` refuses: {what}")]
    Refused {
        /// Its address, without a password.
        place: String,
        /// What it said.
        what: String,
    },
    /// The Redis server does not let us in.
    #[error("the Redis server at `{place}` does not let us in: {what}")]
    Denied {
        /// Its address, without a password.
        place: String,
        /// What it said.
        what: String,
    },
    /// An address or a prefix that cannot be meant.
    #[error("not the address of a Redis server: {what}")]
    Address {
        /// What is wrong, without the address: it may hold a password.
        what: String,
    },
    /// The file cannot be used.
    #[error("the symbols in `{}` cannot be used: {source}", path.display())]
    File {
        path: PathBuf,
        source: StoreError,
    },
    /// Something that nobody can have written.
    #[error("the symbol store is damaged: {what}")]
    Damaged {
        /// What was found.
        what: String,
    },
    /// A newer Fathom wrote it.
    #[error("the symbols have format {found}; this program knows {known}")]
    NewerFormat {
        /// The format that was found.
        found: u64,
        /// The one that is known.
        known: u64,
    },
    /// A text that is no catalogue.
    #[error("not a catalogue: {what}")]
    NotACatalogue {
        /// What is wrong with it.
        what: String,
    },
    /// Entries of a catalogue that cannot be taken in.
    #[error("the catalogue has {} bad {}: {}", bad.len(), if bad.len() == 1 { "entry" } else { "entries" }, first_of(bad))]
    BadEntries {
        /// All of them.
        bad: Vec<BadEntry>,
    },
    /// The embedding model failed.
    #[error("the embedding model `{model}` failed: {what}")]
    Embedding {
        model: String,
        /// What it said.
        what: String,
    },
    /// A key came with another request than the first time.
    #[error("the request `{key}` was another one before")]
    AnotherRequest {
        key: String,
    },
    /// Others changed the same things again and again.
    #[error("others change the same symbols all the time")]
    Contended,
}

/// Bad entries that a message names; the error holds all of them.
const NAMED_MAX: usize = 10;

fn first_of(bad: &[BadEntry]) -> String {
    let mut named: Vec<String> = bad
        .iter()
        .take(NAMED_MAX)
        .map(ToString::to_string)
        .collect();
    if bad.len() > NAMED_MAX {
        named.push(format!("and {} more", bad.len() - NAMED_MAX));
    }
    named.join("; ")
}

impl SymbolStoreError {
    /// The code a user can look up.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => "F0902",
            Self::Refused { .. } => "F0903",
            Self::Denied { .. } => "F0904",
            Self::Address { .. } => "F0905",
            Self::File { .. } => "F0906",
            Self::Damaged { .. } => "F0907",
            Self::NewerFormat { .. } => "F0908",
            Self::NotACatalogue { .. } => "F0909",
            Self::BadEntries { .. } => "F0910",
            Self::Embedding { .. } => "F0911",
            Self::AnotherRequest { .. } => "F0912",
            Self::Contended => "F0913",
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreachable { .. } => {
                "check that the server runs and that the address is right; asking again is safe"
            }
            Self::Refused { .. } => {
                "look at the server's memory, disk, replicas and log; once it takes writes again, ask again"
            }
            Self::Denied { .. } => "check user and password of the address, and the rights of the user",
            Self::Address { .. } => "write it as `redis://user:password@host:6379/0`",
            Self::File { source, .. } => return file_hint(source),
            Self::Damaged { .. } => "restore the symbols from a backup, or import the catalogue into a new store",
            Self::NewerFormat { .. } => "use the Fathom that wrote them, or another store",
            Self::NotACatalogue { .. } => {
                "give a JSON object with `symbols`, `kits` and `agents`, or a list of one of them"
            }
            Self::BadEntries { .. } => "repair the entries that are named; nothing was imported",
            Self::Embedding { .. } => {
                "search by words works without it; what was imported gets its embeddings at the next search by meaning"
            }
            Self::AnotherRequest { .. } => "this is a bug worth a report; nothing was changed",
            Self::Contended => "ask again",
        }
        .to_owned()
    }

    /// The same as a part of an answer, for who asked in a run.
    pub fn fault(&self) -> SymbolFault {
        SymbolFault {
            kind: SymbolFaultKind::Unavailable,
            message: format!("{self}; {}", self.hint()),
        }
    }

    pub(super) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged { what: what.into() }
    }
}

fn file_hint(source: &StoreError) -> String {
    match source {
        StoreError::Damaged { .. } => {
            "restore the file from a backup, or move it away and import the catalogue again"
                .to_owned()
        }
        other => other.hint_beside_journal(),
    }
}
