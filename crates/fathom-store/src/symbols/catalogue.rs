//! Catalogues: symbols, kits and personas as JSON files.

use std::collections::HashMap;
use std::fmt;

use fathom_core::domain::symbols::{AgentProfile, Kit, Symbol};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::backend::RowKind;
use super::edits::{EditEntry, SymbolFlaw, body_of};
use super::error::SymbolStoreError;

/// Maximum number of entries of a catalogue.
pub const CATALOGUE_ENTRIES_MAX: usize = 200_000;

/// Type of the entries of a bare list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOf {
    Symbols,
    Kits,
    /// Personas.
    Agents,
}

impl ListOf {
    const fn name(self) -> &'static str {
        match self {
            Self::Symbols => "symbols",
            Self::Kits => "kits",
            Self::Agents => "agents",
        }
    }
}

/// Symbols, kits and personas. Unknown fields are preserved; a field that is null or empty counts as missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SymbolCatalogue {
    pub symbols: Vec<Symbol>,
    pub kits: Vec<Kit>,
    pub agents: Vec<AgentProfile>,
}

/// An invalid entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadEntry {
    /// Its list: `symbols`, `kits` or `agents`.
    pub list: &'static str,
    /// Its index in the list, from zero.
    pub index: usize,
    pub reason: String,
}

impl fmt::Display for BadEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.list, self.index, self.reason)
    }
}

impl SymbolCatalogue {
    /// Reads an object with the optional lists `symbols`, `kits` and `agents`, or a list of the type `bare`. An
    /// invalid entry is an error that names it.
    pub fn read(json: &str, bare: ListOf) -> Result<Self, SymbolStoreError> {
        let not = |what: String| SymbolStoreError::NotACatalogue { what };
        let json = json.trim_start_matches('\u{feff}');
        let value: Value = serde_json::from_str(json).map_err(|error| not(error.to_string()))?;
        let mut catalogue = Self::default();
        let mut bad = Vec::new();
        match value {
            Value::Array(list) => catalogue.take(bare, list, &mut bad),
            Value::Object(fields) => {
                for (name, value) in fields {
                    let list = [ListOf::Symbols, ListOf::Kits, ListOf::Agents]
                        .into_iter()
                        .find(|list| list.name() == name)
                        .ok_or_else(|| not(format!("it has an unknown field `{name}`")))?;
                    let Value::Array(entries) = value else {
                        return Err(not(format!("`{name}` is no list")));
                    };
                    catalogue.take(list, entries, &mut bad);
                }
            }
            _ => return Err(not("it is neither an object nor a list".to_owned())),
        }
        if bad.is_empty() {
            catalogue.bodies()?;
            return Ok(catalogue);
        }
        Err(SymbolStoreError::BadEntries { bad })
    }

    /// All three lists as one JSON object, for a file.
    pub fn to_json(&self) -> Result<String, SymbolStoreError> {
        serde_json::to_string_pretty(self).map_err(|error| SymbolStoreError::NotACatalogue {
            what: error.to_string(),
        })
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.symbols.len() + self.kits.len() + self.agents.len()
    }

    /// True if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn take(&mut self, list: ListOf, entries: Vec<Value>, bad: &mut Vec<BadEntry>) {
        match list {
            ListOf::Symbols => self.symbols = typed(list, entries, bad),
            ListOf::Kits => self.kits = typed(list, entries, bad),
            ListOf::Agents => self.agents = typed(list, entries, bad),
        }
    }

    /// Every entry as it is stored, or all invalid ones.
    pub(super) fn bodies(&self) -> Result<Vec<(RowKind, &str, String)>, SymbolStoreError> {
        if self.len() > CATALOGUE_ENTRIES_MAX {
            return Err(SymbolStoreError::NotACatalogue {
                what: format!("it has more than {CATALOGUE_ENTRIES_MAX} entries"),
            });
        }
        let mut bodies = Vec::with_capacity(self.len());
        let mut bad = Vec::new();
        check(
            ListOf::Symbols,
            RowKind::Symbol,
            &self.symbols,
            &mut bodies,
            &mut bad,
        );
        check(
            ListOf::Kits,
            RowKind::Kit,
            &self.kits,
            &mut bodies,
            &mut bad,
        );
        check(
            ListOf::Agents,
            RowKind::Persona,
            &self.agents,
            &mut bodies,
            &mut bad,
        );
        if bad.is_empty() {
            Ok(bodies)
        } else {
            Err(SymbolStoreError::BadEntries { bad })
        }
    }
}

fn typed<T: DeserializeOwned>(
    list: ListOf,
    entries: Vec<Value>,
    bad: &mut Vec<BadEntry>,
) -> Vec<T> {
    let mut read = Vec::with_capacity(entries.len());
    for (index, entry) in entries.into_iter().enumerate() {
        match serde_json::from_value(entry) {
            Ok(entry) => read.push(entry),
            Err(error) => bad.push(BadEntry {
                list: list.name(),
                index,
                reason: error.to_string(),
            }),
        }
    }
    read
}

fn check<'a, T: EditEntry>(
    list: ListOf,
    kind: RowKind,
    entries: &'a [T],
    bodies: &mut Vec<(RowKind, &'a str, String)>,
    bad: &mut Vec<BadEntry>,
) {
    let mut seen = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        let body = match seen.insert(entry.id(), index) {
            Some(first) => Err(SymbolFlaw::Repeated {
                id: entry.id().to_owned(),
                first,
            }),
            None => body_of(entry),
        };
        match body {
            Ok(body) => bodies.push((kind, entry.id(), body)),
            Err(reason) => bad.push(BadEntry {
                list: list.name(),
                index,
                reason: reason.to_string(),
            }),
        }
    }
}
