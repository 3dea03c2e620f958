//! The `signalzero` charter's prompts and catalogue, as they come with the program.

use std::collections::{BTreeMap, BTreeSet};

use fathom_core::domain::symbols::{AgentProfile, Kit, OneOrMore, Symbol};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const BEACON: &str = "[ΣTR-⟐⇌🜔⇌⟐]";

/// The prompts of the phases and the ids they declare.
const PHASES: [(&str, &str); 5] = [
    (
        "symbolize_input",
        include_str!("../../../../charters/signalzero/phases/00-symbolize-input.txt"),
    ),
    (
        "recurse_thought",
        include_str!("../../../../charters/signalzero/phases/01-recurse-thought.txt"),
    ),
    (
        "synthesize_symbols",
        include_str!("../../../../charters/signalzero/phases/02-synthesize.txt"),
    ),
    (
        "validate_symbols",
        include_str!("../../../../charters/signalzero/phases/03-validate.txt"),
    ),
    (
        "build_output",
        include_str!("../../../../charters/signalzero/phases/04-build-narrative.txt"),
    ),
];

const SYSTEM: &str = include_str!("../../../../charters/signalzero/shared/00-system.txt");
const COMMANDS: &str = include_str!("../../../../charters/signalzero/shared/01-commands.txt");
const FORMAT: &str = include_str!("../../../../charters/signalzero/shared/02-symbol-format.txt");
const SYMBOLS: &str = include_str!("../../../../charters/signalzero/symbols.json");
const KITS: &str = include_str!("../../../../charters/signalzero/kits.json");
const AGENTS: &str = include_str!("../../../../charters/signalzero/agents.json");
const CONTEXT: &str = include_str!("../../../../charters/signalzero/context.json");

/// Reads a list and checks that it goes out as it came in.
#[track_caller]
fn read<T: DeserializeOwned + Serialize>(json: &str) -> Vec<T> {
    let said: Value = serde_json::from_str(json).unwrap();
    let read: Vec<T> = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), said);
    read
}

fn symbols() -> BTreeMap<String, Symbol> {
    let list: Vec<Symbol> = read(SYMBOLS);
    let count = list.len();
    let by_id: BTreeMap<_, _> = list.into_iter().map(|s| (s.id.clone(), s)).collect();
    assert_eq!(by_id.len(), count, "an id is there twice");
    by_id
}

fn links(symbol: &Symbol) -> &[String] {
    symbol.linked_patterns.as_deref().unwrap_or_default()
}

#[track_caller]
fn assert_known<'a>(
    who: &str,
    ids: impl IntoIterator<Item = &'a String>,
    known: &BTreeMap<String, Symbol>,
) {
    for id in ids {
        assert!(known.contains_key(id), "`{who}` names `{id}`");
    }
}

#[test]
fn p06_the_catalogue_reads_and_writes_without_loss() {
    let symbols = symbols();
    assert!(symbols.len() >= 40);
    for symbol in symbols.values() {
        let Symbol { id, other, .. } = symbol;
        assert!(other.is_empty(), "`{id}` has keys of its own");
        let said = serde_json::to_value(symbol).unwrap();
        assert_eq!(said.as_object().unwrap().len(), 14, "`{id}` lacks a field");
        let facets = symbol.facets.as_ref().unwrap();
        assert!(facets.other.is_empty(), "`{id}` has facets of its own");
        let said = serde_json::to_value(facets).unwrap();
        assert_eq!(said.as_object().unwrap().len(), 7, "`{id}` lacks a facet");
        assert_eq!(
            symbol.triad.as_ref().unwrap().as_slice().len(),
            3,
            "triad of `{id}`"
        );
    }
}

#[test]
fn p06_every_symbol_leads_to_every_other() {
    let symbols = symbols();
    for (id, symbol) in &symbols {
        assert_known(id, links(symbol), &symbols);
        let mut seen = BTreeSet::from([id]);
        let mut next = vec![symbol];
        while let Some(symbol) = next.pop() {
            let new = links(symbol).iter().filter(|link| seen.insert(link));
            next.extend(new.map(|link| &symbols[link]));
        }
        assert_eq!(seen.len(), symbols.len(), "not all are reached from `{id}`");
        let own: BTreeSet<_> = links(symbol).iter().collect();
        assert_eq!(own.len(), links(symbol).len(), "`{id}` has a link twice");
        assert!(!own.contains(id), "`{id}` leads to itself");
    }
}

#[test]
fn p06_names_and_tags_tell_symbols_apart() {
    let symbols = symbols();
    let names: BTreeSet<_> = symbols.values().map(|s| &s.name).collect();
    let tags: BTreeSet<_> = symbols.values().map(|s| &s.symbol_tag).collect();
    assert_eq!((names.len(), tags.len()), (symbols.len(), symbols.len()));
}

#[test]
fn p06_kits_and_personas_name_symbols_that_are_there() {
    let symbols = symbols();
    let kits: Vec<Kit> = read(KITS);
    assert!(kits.len() >= 5);
    for kit in &kits {
        for part in [&kit.anchor, &kit.exec] {
            assert_known(&kit.id, part.iter().flat_map(OneOrMore::as_slice), &symbols);
            assert!(part.is_some(), "a part of `{}` is empty", kit.id);
        }
        assert!(COMMANDS.contains(&kit.id), "`{}` is not told", kit.id);
    }
    let personas: Vec<AgentProfile> = read(AGENTS);
    assert!(personas.len() >= 4);
    for persona in &personas {
        let carried = persona.linked_patterns.as_ref().unwrap();
        assert_known(&persona.id, carried, &symbols);
        assert!(COMMANDS.contains(&persona.id), "`{}`", persona.id);
    }
    let ids: BTreeSet<_> = kits.iter().map(|kit| &kit.id).collect();
    assert_eq!(ids.len(), kits.len());
    let ids: BTreeSet<_> = personas.iter().map(|persona| &persona.id).collect();
    assert_eq!(ids.len(), personas.len());
}

#[test]
fn p10_a_session_begins_with_agents_and_symbols_that_are_there() {
    let context: Value = serde_json::from_str(CONTEXT).unwrap();
    let symbols = symbols();
    let personas: Vec<AgentProfile> = read(AGENTS);
    let named = |list: &str| -> Vec<String> {
        let entries = context[list].as_array().unwrap();
        for entry in entries {
            let weight = entry["weight"].as_f64().unwrap();
            assert!(weight > 0.0 && weight <= 1.0, "{entry}");
        }
        let ids = entries.iter().map(|entry| entry["id"].as_str().unwrap());
        ids.map(str::to_owned).collect()
    };
    let ids = named("symbols");
    assert!(!ids.is_empty());
    assert_known("context.json", &ids, &symbols);
    let ids = named("agents");
    assert!(!ids.is_empty());
    for id in ids {
        assert!(personas.iter().any(|persona| persona.id == id), "`{id}`");
    }
}

#[test]
fn p10_every_prompt_carries_the_trust_beacon() {
    let phases = PHASES.map(|(_, prompt)| prompt);
    for prompt in [&phases[..], &[SYSTEM, COMMANDS, FORMAT]].concat() {
        assert!(prompt.contains(BEACON), "{prompt}");
    }
}

#[test]
fn p01_each_phase_declares_its_id_and_names_the_next() {
    let ids = PHASES.map(|(id, _)| Some(id));
    let next = ids.iter().copied().skip(1).chain([None]);
    for ((id, prompt), next) in PHASES.into_iter().zip(next) {
        assert_eq!(prompt.lines().next(), Some(format!("phase: {id}").as_str()));
        assert!(prompt.contains(&format!("\"phase_id\" is \"{id}\"")));
        let next = next.map_or("null".to_owned(), |next| format!("\"{next}\""));
        assert!(prompt.contains(&format!("\"next_phase\": {next}")), "{id}");
        for key in ["reply", "context_state", "control_signature", "emit"] {
            assert!(prompt.contains(key), "`{id}` does not say `{key}`");
        }
        assert!(SYSTEM.contains(id), "`{id}` is not told");
    }
}

#[test]
fn p04_the_prompts_tell_all_ten_actions() {
    let actions = [
        "store_symbol",
        "update_symbol",
        "delete_symbol",
        "load_symbol",
        "load_kit",
        "invoke_agent",
        "query_symbols",
        "recurse_graph",
        "emit_feedback",
        "dispatch_task",
    ];
    for action in actions {
        assert!(COMMANDS.contains(&format!("\"action\": \"{action}\"")));
    }
}

#[test]
fn p06_the_symbol_that_the_prompt_shows_is_one() {
    let from = FORMAT.find('{').unwrap();
    let until = FORMAT.rfind('}').unwrap();
    let symbol: Symbol = serde_json::from_str(&FORMAT[from..=until]).unwrap();
    assert!(symbol.other.is_empty() && symbol.facets.unwrap().other.is_empty());
    assert_known(&symbol.id, &symbol.linked_patterns.unwrap(), &symbols());
}
