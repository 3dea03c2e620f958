//! The store: what is the same on every backend.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fathom_core::domain::symbols::{
    AgentProfile, FoundSymbol, Kit, OneOrMore, SearchBy, Symbol, SymbolAnswer, SymbolFaultKind,
    SymbolRequest,
};
use serde::de::DeserializeOwned;

use super::backend::{
    BackendResult, RowCommit, RowDraft, RowKind, RowVector, SymbolBackend, TRIES_MAX, WrittenBy,
};
use super::catalogue::{BadEntry, SymbolCatalogue};
use super::edits::{EditEntry, body_of};
use super::error::SymbolStoreError;
use super::redis::{RedisAddress, RedisRows};
use super::requests::{
    changed, checked, digest_of, distinct, draft, fault, faulty, found_in, milli, not_found,
    parsed, recorded, written,
};
use super::search_index::{SearchHit, SymbolIndex, embedded, symbol_of, text_of};
use super::sqlite::SqliteRows;
use super::{Embed, ImportReport, Progress, RequestKey, SymbolStore, SymbolVersion};

/// Maximum number of symbols in an answer.
pub const RESULTS_MAX: usize = 1_000;

/// Maximum number of ids in a request, and of links followed in one step.
pub const IDS_MAX: usize = 1_000;

/// Longest text to search for, in bytes.
pub const TEXT_BYTES_MAX: usize = 64 << 10;

/// Entries that are looked up or listed at once.
const PAGE: usize = 1_000;

const WORDS_ALONE: &str = "searched by words alone: there is no embedding model";

/// Symbols, kits and personas in a file or on a Redis server.
pub struct VersionedSymbols {
    rows: Box<dyn SymbolBackend>,
    embed: Option<Arc<dyn Embed>>,
    index: Mutex<SymbolIndex>,
}

impl fmt::Debug for VersionedSymbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Symbols")
    }
}

impl VersionedSymbols {
    /// Uses a file, which is made when it is not there. Without an embedding model there is no search by meaning.
    pub fn in_file(path: &Path, embed: Option<Arc<dyn Embed>>) -> BackendResult<Self> {
        Ok(Self::new(Box::new(SqliteRows::open(path)?), embed))
    }

    /// Uses a Redis server, which must answer.
    pub fn on_redis(address: &RedisAddress, embed: Option<Arc<dyn Embed>>) -> BackendResult<Self> {
        Ok(Self::new(Box::new(RedisRows::open(address)?), embed))
    }

    fn new(rows: Box<dyn SymbolBackend>, embed: Option<Arc<dyn Embed>>) -> Self {
        Self {
            rows,
            embed,
            index: Mutex::default(),
        }
    }

    /// The index, up to date.
    fn index(&self) -> BackendResult<MutexGuard<'_, SymbolIndex>> {
        let mut index = self.index.lock().unwrap_or_else(|poisoned| {
            // The panic may have left it half filled.
            let mut index = PoisonError::into_inner(poisoned);
            *index = SymbolIndex::default();
            index
        });
        index.read(self.rows.as_ref())?;
        Ok(index)
    }

    fn write(
        &self,
        key: &RequestKey,
        request: &SymbolRequest,
        id: &str,
    ) -> BackendResult<SymbolAnswer> {
        let by = WrittenBy {
            key: key.as_str().to_owned(),
            request: digest_of(request)?,
        };
        // Another writer in between makes the draft stale; then the row is read and changed again.
        for _ in 0..TRIES_MAX {
            // Within the loop: the same request may be at work in another process.
            if let Some(row) = self.rows.applied(&by.key)? {
                return recorded(&row, &by);
            }
            let before = self.rows.newest(RowKind::Symbol, &[id])?.pop().flatten();
            let now = match before.as_ref().and_then(|row| row.body.as_deref()) {
                Some(body) => Some(symbol_of(body)?),
                None => None,
            };
            let after = match changed(request, now.as_ref()) {
                Ok(after) => after,
                Err(fault) => return Ok(faulty(fault)),
            };
            let (body, vector) = match &after {
                Some((symbol, body)) => (Some(body.clone()), self.vector_of(symbol)?),
                None => (None, None),
            };
            let draft = RowDraft {
                kind: RowKind::Symbol,
                id: id.to_owned(),
                body,
                follows: before.as_ref().map(Into::into),
                by: Some(by.clone()),
                vector,
            };
            if let RowCommit::Done(rows) = self.rows.commit(&[draft])? {
                return rows
                    .first()
                    .map_or_else(|| Ok(SymbolAnswer::default()), written);
            }
        }
        Err(SymbolStoreError::Contended)
    }

    fn vector_of(&self, symbol: &Symbol) -> BackendResult<Option<RowVector>> {
        let Some(embed) = &self.embed else {
            return Ok(None);
        };
        let numbers = embedded(embed.as_ref(), &[text_of(symbol)])?.pop();
        Ok(numbers.map(|numbers| RowVector {
            model: embed.name().to_owned(),
            numbers,
        }))
    }

    /// The existing symbols of ids, in order, and the ids without one.
    fn found(&self, ids: &[&str]) -> BackendResult<(Vec<FoundSymbol>, Vec<String>)> {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for (id, row) in ids.iter().zip(self.rows.newest(RowKind::Symbol, ids)?) {
            match row.as_ref().map(found_in).transpose()?.flatten() {
                Some(symbol) => found.push(symbol),
                None => missing.push((*id).to_owned()),
            }
        }
        Ok((found, missing))
    }

    fn get(&self, ids: &[String]) -> BackendResult<SymbolAnswer> {
        let (symbols, missing) = self.found(&distinct(ids.iter()))?;
        Ok(SymbolAnswer {
            symbols,
            missing,
            ..SymbolAnswer::default()
        })
    }

    fn search(&self, text: &str, by: SearchBy, limit: usize) -> BackendResult<SymbolAnswer> {
        let limit = limit.min(RESULTS_MAX);
        let mut index = self.index()?;
        let (places, note) = match (by, &self.embed) {
            (SearchBy::Words, _) => (index.by_words(text, limit), None),
            (SearchBy::Both, None) => (index.by_words(text, limit), Some(WORDS_ALONE.to_owned())),
            (SearchBy::Meaning, None) => {
                return Ok(faulty(fault(
                    SymbolFaultKind::NoEmbeddings,
                    "search by meaning needs an embedding model, and none is there; search by words works",
                )));
            }
            (SearchBy::Meaning | SearchBy::Both, Some(embed)) => {
                index.read_vectors(self.rows.as_ref(), embed.as_ref(), &mut |_| {})?;
                let query = embedded(embed.as_ref(), &[text.to_owned()])?;
                let query = query.first().map_or(&[][..], Vec::as_slice);
                let places = if by == SearchBy::Both {
                    index.by_both(text, query, limit)
                } else {
                    index.by_meaning(query, limit)
                };
                (places, None)
            }
        };
        // Released before rows are read, so that one search does not hold up the next.
        drop(index);
        Ok(SymbolAnswer {
            symbols: self.found_at(&places)?,
            note,
            ..SymbolAnswer::default()
        })
    }

    /// The symbols at places, without those deleted in the meantime.
    fn found_at(&self, places: &[SearchHit]) -> BackendResult<Vec<FoundSymbol>> {
        let ids: Vec<&str> = places.iter().map(|place| place.id.as_str()).collect();
        let mut symbols = Vec::with_capacity(places.len());
        for (place, row) in places.iter().zip(self.rows.newest(RowKind::Symbol, &ids)?) {
            if let Some(found) = row.as_ref().map(found_in).transpose()?.flatten() {
                symbols.push(FoundSymbol {
                    near_milli: Some(milli(place.near)),
                    ..found
                });
            }
        }
        Ok(symbols)
    }

    /// Follows links breadth first; visits no symbol twice, and none of the starting ones.
    fn links(&self, ids: &[String], depth: u8, limit: usize) -> BackendResult<SymbolAnswer> {
        let limit = limit.min(RESULTS_MAX);
        let mut answer = SymbolAnswer::default();
        let mut seen: HashSet<String> = ids.iter().cloned().collect();
        let (mut layer, missing) = self.found(&distinct(ids.iter()))?;
        answer.missing = missing;
        for _ in 0..depth {
            let links = layer
                .iter()
                .filter_map(|found| found.symbol.linked_patterns.as_ref())
                .flatten();
            let next: Vec<String> = links
                .filter(|id| seen.insert((*id).clone()))
                .take(IDS_MAX)
                .cloned()
                .collect();
            let (found, missing) = self.found(&distinct(next.iter()))?;
            let room = IDS_MAX.saturating_sub(answer.missing.len());
            answer.missing.extend(missing.into_iter().take(room));
            if answer.symbols.len() + found.len() > limit {
                answer.note = Some(format!("more than {limit} symbols are linked"));
            }
            let room = limit - answer.symbols.len();
            answer.symbols.extend(found.iter().take(room).cloned());
            layer = found;
            if layer.is_empty() || answer.symbols.len() == limit {
                break;
            }
        }
        Ok(answer)
    }

    fn kit(&self, id: &str) -> BackendResult<SymbolAnswer> {
        let Some(kit): Option<Kit> = self.entry(RowKind::Kit, id)? else {
            return Ok(faulty(not_found(RowKind::Kit, id)));
        };
        let lists = [&kit.anchor, &kit.exec, &kit.triad];
        let ids = distinct(lists.into_iter().flatten().flat_map(OneOrMore::as_slice));
        // Some of them are steps in words, so an id without a symbol is not missing.
        let (symbols, _) = self.found(&ids)?;
        Ok(SymbolAnswer {
            symbols,
            kit: Some(kit),
            ..SymbolAnswer::default()
        })
    }

    fn persona(&self, id: &str) -> BackendResult<SymbolAnswer> {
        let Some(persona): Option<AgentProfile> = self.entry(RowKind::Persona, id)? else {
            return Ok(faulty(not_found(RowKind::Persona, id)));
        };
        let ids = distinct(persona.linked_patterns.iter().flatten());
        let (symbols, missing) = self.found(&ids)?;
        Ok(SymbolAnswer {
            symbols,
            missing,
            persona: Some(persona),
            ..SymbolAnswer::default()
        })
    }

    fn entry<T: DeserializeOwned>(&self, kind: RowKind, id: &str) -> BackendResult<Option<T>> {
        let row = self.rows.newest(kind, &[id])?.pop().flatten();
        row.and_then(|row| row.body)
            .as_deref()
            .map(parsed)
            .transpose()
    }

    /// All entries of a kind, in order of creation.
    fn all<T: DeserializeOwned>(&self, kind: RowKind) -> BackendResult<Vec<T>> {
        let mut found = Vec::new();
        let mut upto = 0;
        loop {
            let page = self.rows.after(kind, upto, PAGE)?;
            let whole = page.len() == PAGE;
            upto = page.last().map_or(upto, |row| row.seq);
            found.extend(
                page.into_iter()
                    .filter_map(|row| Some((row.born, row.body?))),
            );
            if !whole {
                break;
            }
        }
        // By first version: an entry that was changed keeps its place in an export.
        found.sort_by_key(|(born, _)| *born);
        found.iter().map(|(_, body)| parsed(body)).collect()
    }

    fn put(&self, kind: RowKind, list: &'static str, entry: &impl EditEntry) -> BackendResult<u64> {
        let body = body_of(entry).map_err(|reason| SymbolStoreError::BadEntries {
            bad: vec![BadEntry {
                list,
                index: 0,
                reason: reason.to_string(),
            }],
        })?;
        for _ in 0..TRIES_MAX {
            let before = self.rows.newest(kind, &[entry.id()])?.pop().flatten();
            let draft = draft(kind, entry.id(), &body, before.as_ref());
            if let RowCommit::Done(rows) = self.rows.commit(&[draft])? {
                return Ok(rows.first().map_or(0, |row| row.version));
            }
        }
        Err(SymbolStoreError::Contended)
    }

    /// The rows that a catalogue would add, and their counts.
    fn drafts(
        &self,
        bodies: &[(RowKind, &str, String)],
    ) -> BackendResult<(Vec<RowDraft>, ImportReport)> {
        let mut drafts = Vec::new();
        let mut imported = ImportReport::default();
        for page in bodies
            .chunk_by(|a, b| a.0 == b.0)
            .flat_map(|kind| kind.chunks(PAGE))
        {
            let ids: Vec<&str> = page.iter().map(|(_, id, _)| *id).collect();
            for ((kind, id, body), before) in page.iter().zip(self.rows.newest(page[0].0, &ids)?) {
                let old = before.as_ref().and_then(|row| row.body.as_ref());
                match old {
                    Some(old) if old == body => {
                        imported.unchanged += 1;
                        continue;
                    }
                    Some(_) => imported.changed += 1,
                    None => imported.new += 1,
                }
                drafts.push(draft(*kind, id, body, before.as_ref()));
            }
        }
        Ok((drafts, imported))
    }
}

impl SymbolStore for VersionedSymbols {
    fn carry_out(&self, key: &RequestKey, request: &SymbolRequest) -> BackendResult<SymbolAnswer> {
        if let Err(what) = checked(request) {
            return Ok(faulty(fault(SymbolFaultKind::Invalid, what.to_string())));
        }
        match request {
            SymbolRequest::Put { symbol } => self.write(key, request, &symbol.id),
            SymbolRequest::Update { id, .. } | SymbolRequest::Delete { id } => {
                self.write(key, request, id)
            }
            SymbolRequest::Get { ids } => self.get(ids),
            SymbolRequest::Search { text, by, limit } => {
                self.search(text, *by, usize::from(*limit))
            }
            SymbolRequest::Links { ids, depth, limit } => {
                self.links(ids, *depth, usize::from(*limit))
            }
            SymbolRequest::Kit { id } => self.kit(id),
            SymbolRequest::Persona { id } => self.persona(id),
        }
    }

    fn import(
        &self,
        catalogue: &SymbolCatalogue,
        progress: &mut dyn FnMut(Progress),
    ) -> BackendResult<ImportReport> {
        let bodies = catalogue.bodies()?;
        for _ in 0..TRIES_MAX {
            let (drafts, imported) = self.drafts(&bodies)?;
            if drafts.is_empty() || matches!(self.rows.commit(&drafts)?, RowCommit::Done(_)) {
                if let Some(embed) = &self.embed {
                    self.index()?
                        .read_vectors(self.rows.as_ref(), embed.as_ref(), progress)?;
                }
                return Ok(imported);
            }
        }
        Err(SymbolStoreError::Contended)
    }

    fn export(&self) -> BackendResult<SymbolCatalogue> {
        Ok(SymbolCatalogue {
            symbols: self.all(RowKind::Symbol)?,
            kits: self.kits()?,
            agents: self.personas()?,
        })
    }

    fn kits(&self) -> BackendResult<Vec<Kit>> {
        self.all(RowKind::Kit)
    }

    fn personas(&self) -> BackendResult<Vec<AgentProfile>> {
        self.all(RowKind::Persona)
    }

    fn put_kit(&self, kit: &Kit) -> BackendResult<u64> {
        self.put(RowKind::Kit, "kits", kit)
    }

    fn put_persona(&self, persona: &AgentProfile) -> BackendResult<u64> {
        self.put(RowKind::Persona, "agents", persona)
    }

    fn versions(&self, id: &str) -> BackendResult<Vec<SymbolVersion>> {
        let rows = self.rows.versions(RowKind::Symbol, id)?;
        let versions = rows.iter().map(|row| {
            Ok(SymbolVersion {
                version: row.version,
                symbol: row.body.as_deref().map(symbol_of).transpose()?,
            })
        });
        versions.collect()
    }

    fn count(&self) -> BackendResult<usize> {
        Ok(self.index()?.count())
    }
}
