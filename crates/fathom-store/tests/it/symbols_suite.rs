//! What the symbol store must do on every backend. Each case takes a place that holds nothing yet.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fathom_core::domain::symbols::{
    AgentProfile, Kit, OneOrMore, SearchBy, Symbol, SymbolAnswer, SymbolFaultKind, SymbolRequest,
};
use fathom_core::id::{AskId, EpisodeId};
use fathom_store::symbols::{
    Embed, EmbedFailed, ImportReport, ListOf, Progress, RequestKey, SymbolCatalogue, SymbolStore,
    SymbolStoreError, VersionedSymbols,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use crate::sample::run;

/// A place for symbols, which can be opened more than once, as by several processes.
pub(crate) trait Place: Sync {
    fn open(&self, embed: Option<Arc<dyn Embed>>) -> VersionedSymbols;
}

const DIMENSIONS: usize = 64;

/// Words that mean the same to [`Toy`].
const SAME: [(&str, &str); 3] = [
    ("automobile", "car"),
    ("physician", "doctor"),
    ("glad", "happy"),
];

/// A model for tests: texts are near when they share words, or words that mean the same.
pub(crate) struct Toy {
    name: &'static str,
    pub(crate) texts: AtomicUsize,
}

impl Toy {
    pub(crate) fn new(name: &'static str) -> Arc<Self> {
        let texts = AtomicUsize::new(0);
        Arc::new(Self { name, texts })
    }

    fn take_count(&self) -> usize {
        self.texts.swap(0, Ordering::Relaxed)
    }
}

impl Embed for Toy {
    fn name(&self) -> &str {
        self.name
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedFailed> {
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        let same: HashMap<_, _> = SAME.into_iter().collect();
        let vector = |text: &&str| {
            let mut vector = vec![0.0; DIMENSIONS];
            for word in text.split_whitespace() {
                let word = same.get(word).unwrap_or(&word);
                let sum = word
                    .bytes()
                    .fold(7_usize, |sum, byte| sum * 31 + usize::from(byte));
                vector[sum % DIMENSIONS] += 1.0;
            }
            vector
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// A model that gives what it was told to give.
struct Broken(Result<Vec<Vec<f32>>, EmbedFailed>);

impl Embed for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, EmbedFailed> {
        self.0.clone()
    }
}

pub(crate) fn key(number: u32) -> RequestKey {
    RequestKey::new(run(1), &EpisodeId::root(), AskId(number))
}

pub(crate) fn symbol(id: &str, text: &str) -> Symbol {
    Symbol {
        id: id.to_owned(),
        macro_text: Some(text.to_owned()),
        ..Symbol::default()
    }
}

pub(crate) fn put(id: &str, text: &str) -> SymbolRequest {
    SymbolRequest::Put {
        symbol: Box::new(symbol(id, text)),
    }
}

fn update(id: &str, changes: Value) -> SymbolRequest {
    SymbolRequest::Update {
        id: id.to_owned(),
        changes: serde_json::from_value(changes).unwrap(),
    }
}

fn delete(id: &str) -> SymbolRequest {
    SymbolRequest::Delete { id: id.to_owned() }
}

pub(crate) fn get(ids: &[&str]) -> SymbolRequest {
    SymbolRequest::Get {
        ids: ids.iter().map(|&id| id.to_owned()).collect(),
    }
}

pub(crate) fn search(text: &str, by: SearchBy) -> SymbolRequest {
    SymbolRequest::Search {
        text: text.to_owned(),
        by,
        limit: 10,
    }
}

pub(crate) fn ask(store: &VersionedSymbols, number: u32, request: &SymbolRequest) -> SymbolAnswer {
    store.carry_out(&key(number), request).unwrap()
}

/// Puts symbols without embeddings of their own kind of request; keys count from a thousand.
fn put_all(store: &VersionedSymbols, symbols: &[(&str, &str)]) {
    for (number, (id, text)) in (1_000..).zip(symbols) {
        let answer = ask(store, number, &put(id, text));
        assert_eq!(answer.fault, None);
    }
}

pub(crate) fn ids(answer: &SymbolAnswer) -> Vec<&str> {
    let ids = answer.symbols.iter().map(|found| found.symbol.id.as_str());
    ids.collect()
}

fn fault(answer: &SymbolAnswer) -> Option<SymbolFaultKind> {
    answer.fault.as_ref().map(|fault| fault.kind)
}

fn no_progress() -> impl FnMut(Progress) {
    |_| {}
}

pub(crate) fn every_write_is_a_version(place: &dyn Place) {
    let store = place.open(None);
    let requests = [
        put("A", "one"),
        put("A", "two"),
        update("A", json!({"name": "three"})),
        delete("A"),
        put("A", "five"),
    ];
    for (number, request) in (0..).zip(&requests) {
        let answer = ask(&store, number, request);
        let deleted = matches!(request, SymbolRequest::Delete { .. });
        let versions: Vec<u64> = answer.symbols.iter().map(|found| found.version).collect();
        let wanted = if deleted {
            vec![]
        } else {
            vec![u64::from(number) + 1]
        };
        assert_eq!(versions, wanted, "{answer:?}");
        assert_eq!(store.count().unwrap(), usize::from(!deleted));
        let there = ask(&store, 99, &get(&["A"]));
        assert_eq!(there.symbols, answer.symbols);
        assert_eq!(there.missing.is_empty(), !deleted);
    }
    let versions = place.open(None).versions("A").unwrap();
    let texts: Vec<_> = versions
        .iter()
        .map(|version| {
            let symbol = version.symbol.as_ref();
            (
                version.version,
                symbol.and_then(|symbol| symbol.macro_text.as_deref()),
            )
        })
        .collect();
    let wanted = [
        (1, Some("one")),
        (2, Some("two")),
        (3, Some("two")),
        (4, None),
        (5, Some("five")),
    ];
    assert_eq!(texts, wanted);
    assert_eq!(store.versions("B").unwrap(), []);
}

pub(crate) fn a_write_that_comes_again_changes_nothing(place: &dyn Place) {
    let store = place.open(Some(Toy::new("toy")));
    let requests = [
        put("A", "one"),
        update("A", json!({"name": "a name"})),
        put("A", "two"),
        delete("A"),
        put("A", "three"),
    ];
    let answers: Vec<SymbolAnswer> = (0..)
        .zip(&requests)
        .map(|(number, request)| ask(&store, number, request))
        .collect();
    // Another process goes over the same requests, as after a crash.
    let store = place.open(None);
    for (number, (request, answer)) in (0..).zip(requests.iter().zip(&answers)) {
        assert_eq!(&ask(&store, number, request), answer);
    }
    assert_eq!(store.versions("A").unwrap().len(), requests.len());
    let other = store.carry_out(&key(0), &put("A", "something else"));
    assert_eq!(other.unwrap_err().code(), "F0912");
    assert_eq!(store.versions("A").unwrap().len(), requests.len());
}

pub(crate) fn an_update_merges_facets_and_replaces_the_rest(place: &dyn Place) {
    let store = place.open(None);
    let first = json!({"id": "A", "name": "old", "origin": "here", "triad": ["x", "y"],
        "facets": {"function": "f", "gate": ["g"], "own": 1}, "extra": {"a": 1}});
    let symbol = Box::new(serde_json::from_value(first).unwrap());
    ask(&store, 1, &SymbolRequest::Put { symbol });
    let changes = json!({"id": "A", "name": "new", "origin": null, "triad": "z", "extra": {"b": 2},
        "facets": {"gate": "h", "own": null, "commit": "c"}});
    let answer = ask(&store, 2, &update("A", changes));
    let wanted = json!({"id": "A", "name": "new", "triad": "z", "extra": {"b": 2},
        "facets": {"function": "f", "gate": "h", "commit": "c"}});
    let found = &answer.symbols[0];
    assert_eq!(serde_json::to_value(&found.symbol).unwrap(), wanted);
    assert_eq!(found.version, 2);
    let refused = [
        (update("B", json!({"name": "x"})), SymbolFaultKind::NotFound),
        (delete("B"), SymbolFaultKind::NotFound),
        (update("A", json!({"id": "B"})), SymbolFaultKind::Invalid),
        (update("A", json!({"id": null})), SymbolFaultKind::Invalid),
        (update("A", json!({"name": 5})), SymbolFaultKind::Invalid),
        (
            update("A", json!({"facets": "f"})),
            SymbolFaultKind::Invalid,
        ),
    ];
    for (number, (request, kind)) in (3..).zip(&refused) {
        assert_eq!(
            fault(&ask(&store, number, request)),
            Some(*kind),
            "{request:?}"
        );
    }
    assert_eq!(store.versions("A").unwrap().len(), 2);
    assert_eq!(store.count().unwrap(), 1);
    // What was refused was not applied: its key is free.
    put_all(&store, &[("B", "now it is there")]);
    assert_eq!(fault(&ask(&store, 3, &refused[0].0)), None);
}

pub(crate) fn what_cannot_be_kept_is_refused(place: &dyn Place) {
    let store = place.open(None);
    let long = "é".repeat(201);
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let mut nested = symbol("deep", "x");
    nested.other.insert("deep".to_owned(), deep);
    let many: Vec<String> = (0..1_001).map(|number| number.to_string()).collect();
    let requests = [
        put("", "x"),
        put(" ", "x"),
        put(&long, "x"),
        put("a\nb", "x"),
        put("a\u{7f}", "x"),
        put("large", &"x".repeat(256 << 10)),
        SymbolRequest::Put {
            symbol: Box::new(nested),
        },
        update("", json!({})),
        delete("\0"),
        SymbolRequest::Get { ids: many },
        search(" \n", SearchBy::Both),
        search(&"x ".repeat(40 << 10), SearchBy::Both),
    ];
    for (number, request) in (0..).zip(&requests) {
        let answer = ask(&store, number, request);
        assert_eq!(fault(&answer), Some(SymbolFaultKind::Invalid), "{number}");
    }
    assert_eq!(store.count().unwrap(), 0);
    let longest = "é".repeat(200);
    put_all(&store, &[(&longest, "x")]);
    assert_eq!(
        ids(&ask(&store, 1, &get(&[&longest, "b", &longest]))),
        [longest]
    );
}

pub(crate) fn links_are_followed_once_each(place: &dyn Place) {
    let store = place.open(None);
    let links = [
        ("A", vec!["B", "C"]),
        ("B", vec!["A", "D", "gone"]),
        ("C", vec!["D", "C"]),
        ("D", vec!["E"]),
        ("E", vec!["A"]),
    ];
    let symbols = links.into_iter().map(|(id, links)| Symbol {
        linked_patterns: Some(links.into_iter().map(str::to_owned).collect()),
        ..symbol(id, "x")
    });
    let catalogue = SymbolCatalogue {
        symbols: symbols.collect(),
        ..SymbolCatalogue::default()
    };
    store.import(&catalogue, &mut no_progress()).unwrap();
    let follow = |from: &[&str], depth, limit| {
        let ids = from.iter().map(|&id| id.to_owned()).collect();
        ask(&store, 0, &SymbolRequest::Links { ids, depth, limit })
    };
    assert_eq!(ids(&follow(&["A"], 0, 10)), [""; 0]);
    assert_eq!(ids(&follow(&["A"], 1, 10)), ["B", "C"]);
    let two = follow(&["A"], 2, 10);
    assert_eq!(ids(&two), ["B", "C", "D"]);
    assert_eq!(two.missing, ["gone"]);
    assert_eq!(two.note, None);
    assert_eq!(ids(&follow(&["A"], 255, 10)), ["B", "C", "D", "E"]);
    assert_eq!(ids(&follow(&["A", "C"], 1, 10)), ["B", "D"]);
    let few = follow(&["A"], 255, 3);
    assert_eq!(ids(&few), ["B", "C", "D"]);
    let unknown = follow(&["X"], 3, 10);
    assert_eq!(ids(&unknown), [""; 0]);
    assert_eq!(unknown.missing, ["X"]);
    assert!(follow(&["A"], 1, 1).note.is_some(), "there was one more");
}

pub(crate) fn kits_and_personas_come_with_their_symbols(place: &dyn Place) {
    let store = place.open(None);
    put_all(&store, &[("A", "x"), ("B", "x"), ("C", "x")]);
    let kit = Kit {
        id: "K".to_owned(),
        anchor: Some(OneOrMore::One("B".to_owned())),
        exec: Some(OneOrMore::More(vec![
            "A".to_owned(),
            "then rest".to_owned(),
        ])),
        triad: Some(OneOrMore::More(vec!["B".to_owned(), "C".to_owned()])),
        ..Kit::default()
    };
    assert_eq!(store.put_kit(&kit).unwrap(), 1);
    assert_eq!(store.put_kit(&kit).unwrap(), 2);
    let answer = ask(&store, 0, &SymbolRequest::Kit { id: "K".to_owned() });
    assert_eq!(ids(&answer), ["B", "A", "C"]);
    assert_eq!(answer.kit, Some(kit.clone()));
    assert_eq!(answer.missing, [""; 0]);
    let persona = AgentProfile {
        id: "P".to_owned(),
        linked_patterns: Some(vec!["C".to_owned(), "gone".to_owned()]),
        ..AgentProfile::default()
    };
    store.put_persona(&persona).unwrap();
    let answer = ask(&store, 0, &SymbolRequest::Persona { id: "P".to_owned() });
    assert_eq!(ids(&answer), ["C"]);
    assert_eq!(answer.missing, ["gone"]);
    assert_eq!(answer.persona, Some(persona.clone()));
    for request in [
        SymbolRequest::Kit { id: "P".to_owned() },
        SymbolRequest::Persona { id: "K".to_owned() },
    ] {
        let answer = ask(&store, 0, &request);
        assert_eq!(fault(&answer), Some(SymbolFaultKind::NotFound));
    }
    let nameless = Kit::default();
    assert_eq!(store.put_kit(&nameless).unwrap_err().code(), "F0910");
    let store = place.open(None);
    assert_eq!(store.kits().unwrap(), [kit]);
    assert_eq!(store.personas().unwrap(), [persona]);
}

pub(crate) fn words_are_words_and_no_syntax(place: &dyn Place) {
    let store = place.open(None);
    let symbols = [
        (
            "SYM-001",
            "recursion feeds an answer back into its question",
        ),
        ("SYM-002", "an anchor holds still"),
        ("SYM-003", "the sign 🜔 and the anchor"),
    ];
    put_all(&store, &symbols);
    let found = |text: &str| {
        let answer = ask(&store, 0, &search(text, SearchBy::Words));
        assert_eq!(answer.fault, None);
        ids(&answer)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found("recursions and questions")[0],
        "SYM-001",
        "by their stems"
    );
    assert_eq!(
        found("ANCHORS"),
        ["SYM-002", "SYM-003"],
        "the shorter one first"
    );
    assert_eq!(found("🜔"), ["SYM-003"]);
    assert_eq!(found("003"), ["SYM-003"]);
    assert_eq!(found("zebra crossing"), [""; 0]);
    for hostile in [
        "\"",
        "*",
        "NEAR(",
        "anchor* OR",
        "'; DROP TABLE rows; --",
        "macro:",
        "a AND NOT",
        "\0",
        "-(^",
    ] {
        found(hostile);
    }
    assert_eq!(found("\"anchor NOT still"), ["SYM-002", "SYM-003"]);
    ask(&store, 1, &delete("SYM-002"));
    ask(&store, 2, &update("SYM-003", json!({"macro": "a harbour"})));
    assert_eq!(found("anchor"), [""; 0]);
    assert_eq!(found("harbour"), ["SYM-003"]);
}

pub(crate) fn meaning_follows_every_write(place: &dyn Place) {
    let toy = Toy::new("toy");
    let store = place.open(Some(toy.clone()));
    let other = place.open(Some(toy.clone()));
    put_all(
        &store,
        &[
            ("A", "the automobile"),
            ("B", "a physician"),
            ("C", "so glad"),
        ],
    );
    assert_eq!(toy.take_count(), 3, "each write makes its embedding");
    for (by, text) in [(SearchBy::Meaning, "car"), (SearchBy::Both, "car")] {
        let answer = ask(&other, 0, &search(text, by));
        assert_eq!(ids(&answer)[0], "A", "{by:?}");
        assert_eq!(answer.symbols[0].near_milli, Some(707), "one word of two");
        assert_eq!(answer.note, None);
    }
    assert_eq!(toy.take_count(), 2, "only the questions");
    ask(&store, 1, &update("A", json!({"macro": "happy"})));
    ask(&store, 2, &delete("C"));
    for store in [&store, &other] {
        let answer = ask(store, 0, &search("glad", SearchBy::Meaning));
        assert_eq!(ids(&answer)[0], "A");
        assert_eq!(answer.symbols[0].near_milli, Some(1000));
        assert_eq!(answer.symbols[0].version, 2);
        assert_eq!(answer.symbols.len(), 2);
    }
}

pub(crate) fn without_a_model_nothing_stands_in_for_it(place: &dyn Place) {
    let store = place.open(None);
    put_all(&store, &[("A", "the automobile"), ("B", "a physician")]);
    let answer = ask(&store, 0, &search("car", SearchBy::Meaning));
    assert_eq!(fault(&answer), Some(SymbolFaultKind::NoEmbeddings));
    assert_eq!(answer.symbols, []);
    let answer = ask(&store, 0, &search("automobile", SearchBy::Both));
    assert_eq!(ids(&answer), ["A"]);
    assert!(answer.note.unwrap().contains("by words alone"));
    // A model comes later, then another, then the first once more.
    for (name, texts) in [("one", 3), ("one", 1), ("two", 3), ("one", 3)] {
        let toy = Toy::new(name);
        let store = place.open(Some(toy.clone()));
        let answer = ask(&store, 0, &search("car", SearchBy::Meaning));
        assert_eq!(ids(&answer)[0], "A");
        assert_eq!(toy.take_count(), texts, "{name}");
    }
}

pub(crate) fn a_model_that_fails_changes_nothing(place: &dyn Place) {
    let failed = [
        Err(EmbedFailed("out of memory".to_owned())),
        Ok(vec![]),
        Ok(vec![vec![1.0]]),
        Ok(vec![vec![1.0, f32::NAN]]),
    ];
    for (number, given) in (0..).zip(failed) {
        let store = place.open(Some(Arc::new(Broken(given))));
        let error = store.carry_out(&key(number), &put("A", "x")).unwrap_err();
        assert_eq!(error.code(), "F0911");
        assert_eq!(store.versions("A").unwrap(), []);
        let error = store.carry_out(&key(number), &search("x", SearchBy::Both));
        assert_eq!(error.unwrap_err().code(), "F0911", "it is not hidden");
    }
}

pub(crate) fn a_bad_entry_stops_a_whole_import(place: &dyn Place) {
    let store = place.open(None);
    put_all(&store, &[("A", "was here before")]);
    let before = store.export().unwrap();
    let json = r#"{"symbols": [{"id": "B"}, {"name": "no id"}, {"id": 5}], "kits": [{"kit": "K", "anchor": {}}]}"#;
    let Err(SymbolStoreError::BadEntries { bad }) = SymbolCatalogue::read(json, ListOf::Symbols)
    else {
        unreachable!("it is bad");
    };
    let places: Vec<_> = bad.iter().map(|bad| (bad.list, bad.index)).collect();
    assert_eq!(places, [("symbols", 1), ("symbols", 2), ("kits", 0)]);
    assert!(bad[0].reason.contains("`id`"), "{}", bad[0]);
    let twice = SymbolCatalogue {
        symbols: vec![
            symbol("B", "x"),
            symbol("C", "x"),
            symbol("B", "y"),
            symbol("", "z"),
        ],
        ..SymbolCatalogue::default()
    };
    let error = store.import(&twice, &mut no_progress()).unwrap_err();
    assert_eq!(error.code(), "F0910");
    assert_eq!(
        error.to_string(),
        "the catalogue has 2 invalid entries: symbols[2]: `B` stands at 0 already; symbols[3]: its id is empty"
    );
    assert_eq!(store.export().unwrap(), before);
    for text in ["", "5", "{", r#"{"symbol": []}"#, r#"{"symbols": {}}"#] {
        let error = SymbolCatalogue::read(text, ListOf::Symbols).unwrap_err();
        assert_eq!(error.code(), "F0909", "{text}");
    }
}

pub(crate) fn an_import_adds_what_is_new_and_says_how_far_it_is(place: &dyn Place) {
    let toy = Toy::new("toy");
    let store = place.open(Some(toy.clone()));
    let symbols: Vec<Symbol> = (0..150)
        .map(|number| symbol(&format!("S{number}"), &format!("word{number} happy")))
        .collect();
    let mut catalogue = SymbolCatalogue {
        symbols,
        ..SymbolCatalogue::default()
    };
    let mut heard = Vec::new();
    let imported = store.import(&catalogue, &mut |progress| heard.push(progress.done));
    let all = |new, changed, unchanged| ImportReport {
        new,
        changed,
        unchanged,
    };
    assert_eq!(imported.unwrap(), all(150, 0, 0));
    assert_eq!(heard, [64, 128, 150, 150]);
    assert_eq!(toy.take_count(), 150);
    "another".clone_into(&mut catalogue.symbols[7].name);
    let imported = store.import(&catalogue, &mut no_progress()).unwrap();
    assert_eq!(imported, all(0, 1, 149));
    assert_eq!(toy.take_count(), 1);
    assert_eq!(store.versions("S7").unwrap().len(), 2);
    assert_eq!(
        store.export().unwrap(),
        catalogue,
        "in the order in which they came"
    );
    let bare = serde_json::to_string(&catalogue.symbols).unwrap();
    let read = SymbolCatalogue::read(&format!("\u{feff}{bare}"), ListOf::Symbols).unwrap();
    assert_eq!(read, catalogue);
    for (list, text) in [
        (ListOf::Kits, r#"[{"kit": "K"}]"#),
        (ListOf::Agents, r#"[{"id": "P"}]"#),
    ] {
        let read = SymbolCatalogue::read(text, list).unwrap();
        assert_eq!(
            store.import(&read, &mut no_progress()).unwrap(),
            all(1, 0, 0)
        );
    }
    assert_eq!(
        (store.kits().unwrap().len(), store.personas().unwrap().len()),
        (1, 1)
    );
}

/// Any JSON a catalogue may hold, without null: a field that is null counts as missing.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_map(Value::from)
            .prop_filter("a number", |value| !value.is_null()),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,6}", inner), 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn one_or_more() -> impl Strategy<Value = Value> {
    prop_oneof![
        ".{0,12}".prop_map(Value::from),
        prop::collection::vec(".{0,8}", 0..3).prop_map(Value::from),
    ]
}

/// An object with some of these fields, and some that nobody knows.
fn object(fields: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let fields: Vec<_> = fields
        .into_iter()
        .map(|(name, value)| {
            prop::option::of(value.prop_map(move |value| (name.to_owned(), value)))
        })
        .collect();
    let own = prop::collection::vec(("x_[a-z]{1,4}", any_json()), 0..3);
    (fields, own)
        .prop_map(|(fields, own)| {
            let all: Map<String, Value> = fields.into_iter().flatten().chain(own).collect();
            Value::Object(all)
        })
        .boxed()
}

fn any_catalogue() -> impl Strategy<Value = Value> {
    let text = || ".{1,20}".prop_map(Value::from).boxed();
    let list = || {
        prop::collection::vec(".{0,8}", 0..4)
            .prop_map(Value::from)
            .boxed()
    };
    let more = || one_or_more().boxed();
    let facets = object(vec![
        ("function", text()),
        ("topology", text()),
        ("commit", text()),
        ("gate", more()),
        ("substrate", more()),
        ("temporal", text()),
        ("invariants", more()),
    ]);
    let symbol = object(vec![
        ("name", text()),
        ("macro", text()),
        ("facets", facets),
        ("failure_mode", text()),
        ("linked_patterns", list()),
        ("symbolic_role", text()),
        ("triad", more()),
        ("invocations", list()),
        ("symbol_domain", text()),
        ("symbol_tag", text()),
        ("version", any_json().boxed()),
        ("origin", text()),
        ("scope", more()),
    ]);
    let kit = object(vec![
        ("triad", more()),
        ("anchor", more()),
        ("exec", more()),
    ]);
    let agent = object(vec![
        ("name", text()),
        ("description", text()),
        ("linked_patterns", list()),
    ]);
    let numbered = |entry: BoxedStrategy<Value>, id: &'static str| {
        prop::collection::vec(entry, 0..4).prop_map(move |mut entries| {
            for (number, entry) in entries.iter_mut().enumerate() {
                entry[id] = Value::from(format!("E-{number}"));
            }
            Value::from(entries)
        })
    };
    let lists = (
        numbered(symbol, "id"),
        numbered(kit, "kit"),
        numbered(agent, "id"),
    );
    lists.prop_map(
        |(symbols, kits, agents)| json!({"symbols": symbols, "kits": kits, "agents": agents}),
    )
}

/// `fresh` gives places that hold nothing yet.
pub(crate) fn a_catalogue_comes_out_as_it_went_in(fresh: &dyn Fn() -> Box<dyn Place>) {
    let config = Config {
        failure_persistence: None,
        ..Config::with_cases(64)
    };
    let round_trip = |given: Value| {
        let place = fresh();
        let store = place.open(None);
        let catalogue = SymbolCatalogue::read(&given.to_string(), ListOf::Symbols).unwrap();
        store.import(&catalogue, &mut no_progress()).unwrap();
        let out = place.open(None).export().unwrap().to_json().unwrap();
        let out: Value = serde_json::from_str(&out).unwrap();
        prop_assert_eq!(out, given);
        Ok(())
    };
    TestRunner::new(config)
        .run(&any_catalogue(), round_trip)
        .unwrap();
}

pub(crate) fn writers_at_once_lose_nothing(place: &dyn Place) {
    const WRITERS: u32 = 4;
    const WRITES: u32 = 8;
    let store = place.open(None);
    put_all(&store, &[("A", "x")]);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let store = place.open(None);
                for number in 0..WRITES {
                    let number = writer * WRITES + number;
                    let mut changes = Map::new();
                    changes.insert(format!("field{number}"), Value::from(number));
                    let request = SymbolRequest::Update {
                        id: "A".to_owned(),
                        changes,
                    };
                    assert_eq!(ask(&store, number, &request).fault, None);
                }
            });
        }
    });
    let answer = ask(&store, 0, &get(&["A"]));
    let found = &answer.symbols[0];
    assert_eq!(found.version, u64::from(WRITERS * WRITES) + 1);
    assert_eq!(found.symbol.other.len(), (WRITERS * WRITES) as usize);
}
