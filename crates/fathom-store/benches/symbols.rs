//! How fast symbols are imported and found, and how much of what is nearest a search finds.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark prints, measures time and stops where it fails"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use fathom_core::domain::symbols::{SearchBy, Symbol, SymbolRequest};
use fathom_core::id::{AskId, EpisodeId, RunId};
use fathom_store::symbols::{
    Embed, EmbedFailed, ListOf, RequestKey, SymbolCatalogue, SymbolStore as _, VersionedSymbols,
};

const IMPORTED: usize = 10_000;
const VECTORS: usize = 100_000;
const DIMENSIONS: usize = 384;
const QUERIES: usize = 200;
const TOP: usize = 10;
/// Subjects that texts are about: vectors of real texts lie in groups.
const SUBJECTS: u64 = 2_000;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Near enough to a normal distribution.
    fn normal(&mut self) -> f32 {
        let bits = self.next();
        let sum: u64 = (0..4).map(|part| (bits >> (16 * part)) & 0xffff).sum();
        (sum as f32 / 65_536.0 - 2.0) * 3.0_f32.sqrt()
    }
}

/// Makes a vector of a number: alone, or with a subject in common with others.
struct Drawn {
    name: &'static str,
    in_groups: bool,
}

impl Drawn {
    fn vector(&self, number: u64) -> Vec<f32> {
        let mut own = Random(number.wrapping_mul(0x5851_f42d_4c95_7f2d));
        let mut subject = Random(own.next() % SUBJECTS);
        let share = if self.in_groups { 1.0 } else { 0.0 };
        let numbers = (0..DIMENSIONS).map(|_| share * subject.normal() + own.normal());
        let vector: Vec<f32> = numbers.collect();
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| x / length).collect()
    }
}

impl Embed for Drawn {
    fn name(&self) -> &str {
        self.name
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedFailed> {
        let vector = |text: &&str| self.vector(text.trim().parse().unwrap());
        Ok(texts.iter().map(vector).collect())
    }
}

fn line(name: &str, figure: f64, unit: &str) {
    println!("{name:<52} {figure:>9.3} {unit}");
}

fn key(number: usize) -> RequestKey {
    let ask = AskId(u32::try_from(number).unwrap());
    RequestKey::new(RunId::from_bytes([1; 16]), &EpisodeId::root(), ask)
}

fn search(store: &VersionedSymbols, text: String, by: SearchBy) -> Vec<String> {
    let request = SymbolRequest::Search {
        text,
        by,
        limit: u16::try_from(TOP).unwrap(),
    };
    let answer = store.carry_out(&key(0), &request).unwrap();
    let found = answer.symbols.into_iter().map(|found| found.symbol.id);
    found.collect()
}

/// Asks often; prints the median and the slowest of ten.
fn timed(name: &str, mut ask: impl FnMut(usize)) {
    let mut times: Vec<f64> = (0..QUERIES)
        .map(|number| {
            let begun = Instant::now();
            ask(number);
            begun.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    line(&format!("{name}, p50"), times[QUERIES / 2], "ms");
    line(&format!("{name}, p90"), times[QUERIES * 9 / 10], "ms");
}

/// Symbols with all that a symbol usually has.
fn full_catalogue() -> SymbolCatalogue {
    let symbols: Vec<_> = (0..IMPORTED)
        .map(|number| {
            serde_json::json!({
                "id": format!("SYM-{number:05}"),
                "name": format!("Pattern {number}"),
                "macro": "what comes in → what it is like → what it does → what comes out",
                "facets": {
                    "function": format!("keeps part {number} of a thought apart from part {}", number / 7),
                    "topology": "a ring with one way in",
                    "commit": "the next step is named",
                    "gate": ["asked for", "not yet visited"],
                    "substrate": ["text", "notes"],
                    "temporal": "once a phase",
                    "invariants": ["it can be undone", "it says what it did"]
                },
                "failure_mode": "it goes round without end",
                "linked_patterns": [format!("SYM-{:05}", number / 2), format!("SYM-{:05}", number / 3)],
                "symbolic_role": "a step",
                "triad": ["⟐", "⇌", "🜔"],
                "invocations": ["begin", "again"],
                "symbol_domain": format!("domain {}", number % 20),
                "symbol_tag": "bench"
            })
        })
        .collect();
    let json = serde_json::to_string(&symbols).unwrap();
    let begun = Instant::now();
    let catalogue = SymbolCatalogue::read(&json, ListOf::Symbols).unwrap();
    line(
        "10,000 symbols: read the catalogue",
        begun.elapsed().as_secs_f64(),
        "s",
    );
    catalogue
}

fn words(folder: &Path) {
    let catalogue = full_catalogue();
    let store = VersionedSymbols::in_file(&folder.join("words.db"), None).unwrap();
    let begun = Instant::now();
    store.import(&catalogue, &mut |_| {}).unwrap();
    line(
        "10,000 symbols: import without embeddings",
        begun.elapsed().as_secs_f64(),
        "s",
    );
    let begun = Instant::now();
    search(&store, "thought".to_owned(), SearchBy::Words);
    line(
        "10,000 symbols: first search",
        begun.elapsed().as_secs_f64() * 1e3,
        "ms",
    );
    timed("10,000 symbols: search by words", |number| {
        search(
            &store,
            format!("part {number} of a thought"),
            SearchBy::Words,
        );
    });
    timed("10,000 symbols: put", |number| {
        let symbol = Box::new(catalogue.symbols[number].clone());
        let request = SymbolRequest::Put { symbol };
        store.carry_out(&key(number), &request).unwrap();
    });
}

/// The true nearest, by comparing with all.
fn nearest(all: &[Vec<f32>], query: &[f32]) -> Vec<String> {
    let mut scores: Vec<(f32, usize)> = all
        .iter()
        .enumerate()
        .map(|(number, vector)| (vector.iter().zip(query).map(|(a, b)| a * b).sum(), number))
        .collect();
    scores.sort_by(|a, b| b.0.total_cmp(&a.0));
    let top = scores.iter().take(TOP);
    top.map(|(_, number)| format!("S{number}")).collect()
}

fn meaning(folder: &Path, name: &'static str, in_groups: bool) {
    let embed = Arc::new(Drawn { name, in_groups });
    let path = folder.join(name);
    let store = VersionedSymbols::in_file(&path, Some(embed.clone())).unwrap();
    let symbols = (0..VECTORS).map(|number| Symbol {
        id: format!("S{number}"),
        name: number.to_string(),
        ..Symbol::default()
    });
    let catalogue = SymbolCatalogue {
        symbols: symbols.collect(),
        ..SymbolCatalogue::default()
    };
    let begun = Instant::now();
    store.import(&catalogue, &mut |_| {}).unwrap();
    line(
        &format!("100,000 × 384 {name}: import"),
        begun.elapsed().as_secs_f64(),
        "s",
    );
    let store = VersionedSymbols::in_file(&path, Some(embed.clone())).unwrap();
    let begun = Instant::now();
    search(&store, "1".to_owned(), SearchBy::Meaning);
    line(
        &format!("100,000 × 384 {name}: open and first search"),
        begun.elapsed().as_secs_f64(),
        "s",
    );
    let query = |number: usize| VECTORS + 1 + number;
    let mut found = Vec::new();
    timed(&format!("100,000 × 384 {name}: search"), |number| {
        found.push(search(&store, query(number).to_string(), SearchBy::Meaning));
    });
    let all: Vec<Vec<f32>> = (0..VECTORS)
        .map(|number| embed.vector(number as u64))
        .collect();
    let hits: usize = found
        .iter()
        .enumerate()
        .map(|(number, found)| {
            let wanted = nearest(&all, &embed.vector(query(number) as u64));
            wanted.iter().filter(|id| found.contains(id)).count()
        })
        .sum();
    line(
        &format!("100,000 × 384 {name}: recall@10"),
        hits as f64 / (QUERIES * TOP) as f64,
        "",
    );
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    words(folder.path());
    meaning(folder.path(), "in groups", true);
    meaning(folder.path(), "anywhere", false);
}
