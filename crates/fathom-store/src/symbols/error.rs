//! Errors of the symbol store.

use std::path::PathBuf;

use fathom_core::domain::symbols::{SymbolFault, SymbolFaultKind};

use super::catalogue::BadEntry;
use crate::error::StoreError;

/// Failure of the symbol store. Nothing was changed, unless a variant says otherwise.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SymbolStoreError {
    /// The Redis server does not answer. A write may have been stored; repeating the request tells.
    #[error("the Redis server at `{place}` cannot be reached: {what}")]
    Unreachable {
        /// Its address, without a password.
        place: String,
        /// The connection's error.
        what: String,
    },
    /// The Redis server answers with an error.
    #[error("the Redis server at `{place}` refuses: {what}")]
    Refused {
        /// Its address, without a password.
        place: String,
        /// The server's error.
        what: String,
    },
    /// The Redis server denies access.
    #[error("access denied by the Redis server at `{place}`: {what}")]
    Denied {
        /// Its address, without a password.
        place: String,
        /// The server's error.
        what: String,
    },
    /// An invalid address or key prefix.
    #[error("invalid Redis address: {what}")]
    Address {
        /// The mistake, without the address: it may contain a password.
        what: String,
    },
    /// The file cannot be used.
    #[error("cannot use the symbols in `{}`: {source}", path.display())]
    File { path: PathBuf, source: StoreError },
    /// Stored data that cannot have been written.
    #[error("the symbol store is damaged: {what}")]
    Damaged { what: String },
    /// A newer Fathom wrote it.
    #[error("the symbols have format {found}; this version supports {known}")]
    NewerFormat {
        found: u64,
        /// The supported format.
        known: u64,
    },
    /// A text that is not a catalogue.
    #[error("invalid catalogue: {what}")]
    NotACatalogue { what: String },
    /// Invalid entries of a catalogue.
    #[error("the catalogue has {} invalid {}: {}", bad.len(), if bad.len() == 1 { "entry" } else { "entries" }, first_of(bad))]
    BadEntries {
        /// All of them.
        bad: Vec<BadEntry>,
    },
    /// The embedding model failed.
    #[error("the embedding model `{model}` failed: {what}")]
    Embedding {
        model: String,
        /// The model's error.
        what: String,
    },
    /// A key was used before for a different request.
    #[error("request key `{key}` was already used for a different request")]
    AnotherRequest { key: String },
    /// Other writers kept changing the same symbols.
    #[error("gave up after repeated concurrent changes to the same symbols")]
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

    /// Advice for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreachable { .. } => {
                "check that the server is running and the address is right, then retry; retrying is safe"
            }
            Self::Refused { .. } => {
                "check the server's memory, disk, replicas and log, then retry"
            }
            Self::Denied { .. } => "check the user and password in the address, and the user's permissions",
            Self::Address { .. } => "write it as `redis://user:password@host:6379/0`",
            Self::File { source, .. } => return file_hint(source),
            Self::Damaged { .. } => "restore the symbols from a backup, or import the catalogue into a new store",
            Self::NewerFormat { .. } => "use the version of Fathom that wrote them, or another store",
            Self::NotACatalogue { .. } => {
                "provide a JSON object with `symbols`, `kits` and `agents`, or a list of one of them"
            }
            Self::BadEntries { .. } => "fix the listed entries; nothing was imported",
            Self::Embedding { .. } => {
                "search by words instead; missing embeddings are made at the next search by meaning"
            }
            Self::AnotherRequest { .. } => "this is a bug in Fathom; please report it (nothing was changed)",
            Self::Contended => "retry",
        }
        .to_owned()
    }

    /// The same error as part of an answer, for an asker within a run.
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
