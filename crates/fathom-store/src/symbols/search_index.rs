//! The search index: words and vectors of all symbols, brought up to date before each search.
//!
//! It lives in memory and follows the rows, so it sees the writes of other processes too. A version has a slot;
//! a newer version gets another slot, and the old one is emptied.

use std::collections::HashMap;

use fathom_core::domain::symbols::{OneOrMore, Symbol};
use serde_json::Value;

use super::backend::{BackendResult, RowKind, SymbolBackend, SymbolRow};
use super::error::SymbolStoreError;
use super::vector_index::{VectorHit, VectorIndex, best, unit};
use super::word_index::WordIndex;
use super::{Embed, Progress};

/// Rows or vectors that are read at once.
const PAGE: usize = 1_000;

/// Texts that are embedded at once.
const EMBED_BATCH: usize = 64;

/// With more empty slots than this, and more than filled ones, the index is rebuilt.
const EMPTY_MAX: usize = 1_000;

/// Weight of the first ranks when two rankings are joined.
// The customary constant of reciprocal rank fusion.
const FUSION: f32 = 60.0;

/// Minimum number of ranks of each ranking that are joined.
const FUSED_MIN: usize = 50;

#[derive(Default)]
pub(super) struct SymbolIndex {
    /// The last row that was read.
    upto: u64,
    slots: Vec<IndexSlot>,
    by_id: HashMap<String, u32>,
    words: WordIndex,
    nearest: VectorIndex,
}

struct IndexSlot {
    seq: u64,
    id: String,
}

/// A search hit and its similarity.
pub(super) struct SearchHit {
    pub(super) id: String,
    pub(super) near: f32,
}

impl SymbolIndex {
    /// Number of symbols.
    pub(super) fn count(&self) -> usize {
        self.by_id.len()
    }

    /// Adds the rows written since the last call.
    pub(super) fn read(&mut self, rows: &dyn SymbolBackend) -> BackendResult<()> {
        if self.slots.len() - self.by_id.len() > EMPTY_MAX.max(self.by_id.len()) {
            *self = Self::default();
        }
        loop {
            let page = rows.after(RowKind::Symbol, self.upto, PAGE)?;
            for row in &page {
                let symbol = row.body.as_deref().map(symbol_of).transpose()?;
                self.take(row, symbol.as_ref());
            }
            if page.len() < PAGE {
                return Ok(());
            }
        }
    }

    fn take(&mut self, row: &SymbolRow, symbol: Option<&Symbol>) {
        if let Some(old) = self.by_id.remove(&row.id) {
            self.words.remove(old);
            self.nearest.remove(old);
        }
        if let Some(symbol) = symbol {
            let slot = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
            self.words
                .add(&format!("{} {}", symbol.id, text_of(symbol)));
            self.by_id.insert(row.id.clone(), slot);
            self.slots.push(IndexSlot {
                seq: row.seq,
                id: row.id.clone(),
            });
        }
        self.upto = row.seq;
    }

    /// Gives every slot its vector: a stored one, or else a new one, which is then stored.
    pub(super) fn read_vectors(
        &mut self,
        rows: &dyn SymbolBackend,
        embed: &dyn Embed,
        progress: &mut dyn FnMut(Progress),
    ) -> BackendResult<()> {
        let total = self.slots.len();
        let nowhere = vec![0.0; embed.dimensions()];
        while self.nearest.len() < total {
            let done = self.nearest.len();
            let slots = &self.slots[done..total.min(done + PAGE)];
            let seqs: Vec<u64> = slots.iter().map(|slot| slot.seq).collect();
            let mut vectors = rows.vectors(embed.name(), &seqs)?;
            for (vector, (number, slot)) in vectors.iter_mut().zip((done..).zip(slots)) {
                // Stored by a model of this name that had another number of dimensions: made again.
                vector.take_if(|vector| vector.len() != nowhere.len());
                // A slot that was emptied before its vector came must not be found by it.
                if self.by_id.get(&slot.id).map(|slot| *slot as usize) != Some(number) {
                    *vector = Some(nowhere.clone());
                }
            }
            let without: Vec<usize> = (0..vectors.len())
                .filter(|place| vectors[*place].is_none())
                .collect();
            for batch in without.chunks(EMBED_BATCH) {
                let slots: Vec<&IndexSlot> = batch.iter().map(|place| &slots[*place]).collect();
                let made = made(rows, embed, &slots)?;
                for (place, vector) in batch.iter().zip(made) {
                    vectors[*place] = Some(vector);
                }
                let missing = vectors.iter().filter(|vector| vector.is_none()).count();
                progress(Progress {
                    done: done + vectors.len() - missing,
                    total,
                });
            }
            for vector in vectors {
                self.nearest.add(vector.as_ref().unwrap_or(&nowhere));
            }
        }
        progress(Progress { done: total, total });
        Ok(())
    }

    pub(super) fn by_words(&self, text: &str, limit: usize) -> Vec<SearchHit> {
        self.places(self.words.search(text, limit))
    }

    pub(super) fn by_meaning(&self, query: &[f32], limit: usize) -> Vec<SearchHit> {
        self.places(self.nearest.search(&unit(query), limit))
    }

    /// Joins both rankings: a high rank in one scores high, a high rank in both comes first.
    #[expect(clippy::cast_precision_loss, reason = "a rank is a small number")]
    pub(super) fn by_both(&self, text: &str, query: &[f32], limit: usize) -> Vec<SearchHit> {
        let query = unit(query);
        let ranked = limit.max(FUSED_MIN);
        let mut scores: HashMap<u32, f32> = HashMap::new();
        for hits in [
            self.words.search(text, ranked),
            self.nearest.search(&query, ranked),
        ] {
            for (rank, hit) in hits.iter().enumerate() {
                *scores.entry(hit.slot).or_default() += 1.0 / (FUSION + rank as f32);
            }
        }
        let joined = scores
            .into_iter()
            .map(|(slot, near)| VectorHit { slot, near });
        let mut hits = best(joined.collect(), limit);
        for hit in &mut hits {
            hit.near = self.nearest.near(hit.slot, &query);
        }
        self.places(hits)
    }

    fn places(&self, hits: Vec<VectorHit>) -> Vec<SearchHit> {
        let place = |hit: VectorHit| SearchHit {
            id: self.slots[hit.slot as usize].id.clone(),
            near: hit.near,
        };
        hits.into_iter().map(place).collect()
    }
}

/// Makes and stores new vectors of slots.
fn made(
    rows: &dyn SymbolBackend,
    embed: &dyn Embed,
    slots: &[&IndexSlot],
) -> BackendResult<Vec<Vec<f32>>> {
    let ids: Vec<&str> = slots.iter().map(|slot| slot.id.as_str()).collect();
    let newest = rows.newest(RowKind::Symbol, &ids)?;
    let texts = slots.iter().zip(newest).map(|(slot, row)| {
        // One that is newer by now gets a slot of its own at the next search.
        let body = row
            .filter(|row| row.seq == slot.seq)
            .and_then(|row| row.body);
        let symbol = body.as_deref().map(symbol_of).transpose()?;
        Ok(symbol.as_ref().map(text_of).unwrap_or_default())
    });
    let vectors = embedded(embed, &texts.collect::<BackendResult<Vec<String>>>()?)?;
    let seqs = slots.iter().map(|slot| slot.seq);
    let made: Vec<(u64, Vec<f32>)> = seqs.zip(vectors).collect();
    rows.keep_vectors(embed.name(), &made)?;
    Ok(made.into_iter().map(|(_, vector)| vector).collect())
}

/// The vectors of texts, with their number and lengths checked.
pub(super) fn embedded(embed: &dyn Embed, texts: &[String]) -> BackendResult<Vec<Vec<f32>>> {
    let failed = |what: String| SymbolStoreError::Embedding {
        model: embed.name().to_owned(),
        what,
    };
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embed
        .embed(&texts)
        .map_err(|error| failed(error.to_string()))?;
    let fits = |vector: &Vec<f32>| {
        vector.len() == embed.dimensions() && vector.iter().all(|number| number.is_finite())
    };
    if vectors.len() != texts.len() || !vectors.iter().all(fits) {
        return Err(failed("its vectors are not what it promised".to_owned()));
    }
    Ok(vectors)
}

pub(super) fn symbol_of(body: &str) -> BackendResult<Symbol> {
    serde_json::from_str(body)
        .map_err(|error| SymbolStoreError::damaged(format!("a symbol cannot be read: {error}")))
}

/// Searchable text of a symbol: all of its fields, the most telling first, since an embedding model may not
/// read to the end.
pub(super) fn text_of(symbol: &Symbol) -> String {
    let mut parts = vec![symbol.name.as_str()];
    let facets = symbol.facets.as_ref();
    let function = facets.and_then(|facets| facets.function.as_deref());
    parts.extend(symbol.macro_text.as_deref());
    parts.extend(function);
    let fields = [
        &symbol.symbolic_role,
        &symbol.symbol_domain,
        &symbol.symbol_tag,
        &symbol.failure_mode,
        &symbol.origin,
    ];
    parts.extend(fields.into_iter().filter_map(Option::as_deref));
    parts.extend(symbol.invocations.iter().flatten().map(String::as_str));
    let lists = [&symbol.triad, &symbol.scope];
    parts.extend(
        lists
            .into_iter()
            .flatten()
            .flat_map(OneOrMore::as_slice)
            .map(String::as_str),
    );
    if let Some(facets) = facets {
        let fields = [&facets.topology, &facets.commit, &facets.temporal];
        parts.extend(fields.into_iter().filter_map(Option::as_deref));
        let lists = [&facets.gate, &facets.substrate, &facets.invariants];
        parts.extend(
            lists
                .into_iter()
                .flatten()
                .flat_map(OneOrMore::as_slice)
                .map(String::as_str),
        );
        parts.extend(facets.other.values().filter_map(Value::as_str));
    }
    parts.extend(symbol.other.values().filter_map(Value::as_str));
    parts.join("\n")
}
