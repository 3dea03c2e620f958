//! Arguments of every action under every name, and the bounds of commands.

use serde_json::{Value, json};

use super::super::reply::CommandText;
use super::{
    ACTIONS, COMMAND_BYTES_MAX, COMMANDS_MAX, CommandRejection, CommandWork, PhaseCommand, read,
    schema,
};
use fathom_core::domain::symbols::{SearchBy, Symbol, SymbolRequest};

fn stated(command: Value) -> CommandText {
    match command {
        Value::Object(members) => CommandText::Command(members),
        other => panic!("{other} is no object"),
    }
}

fn command(command: Value) -> PhaseCommand {
    let mut commands = read(&[stated(command)]);
    assert_eq!(commands.list.len(), 1);
    commands.list.remove(0)
}

#[track_caller]
fn works(text: Value, wanted: &[CommandWork]) {
    let said = text.to_string();
    assert_eq!(command(text).work.as_deref(), Ok(wanted), "{said}");
}

#[track_caller]
fn fails(text: Value, why: &str) {
    let said = text.to_string();
    match command(text).work {
        Err(CommandRejection::Arguments(problem)) => assert_eq!(problem.to_string(), why, "{said}"),
        other => panic!("{said}: {other:?}"),
    }
}

fn ask(request: SymbolRequest) -> CommandWork {
    CommandWork::Symbols(request)
}

fn get(ids: &[&str]) -> CommandWork {
    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
    ask(SymbolRequest::Get { ids })
}

#[test]
fn p04_ids_are_taken_under_every_name() {
    for name in ["id", "ids", "symbol_id", "symbol_ids", "symbol", "symbols"] {
        works(
            json!({ "action": "load_symbol", name: "A" }),
            &[get(&["A"])],
        );
        works(
            json!({ "action": "load_symbol", name: [" A ", "B", "A", ""] }),
            &[get(&["A", "B"])],
        );
    }
    for name in ["arguments", "args", "params", "parameters", "payload"] {
        works(
            json!({ "action": "load_symbol", name: { "ids": ["A"] } }),
            &[get(&["A"])],
        );
    }
    for action in ["LOAD_SYMBOL", "load-symbol", " load_symbol "] {
        works(json!({ "action": action, "id": "A" }), &[get(&["A"])]);
    }
    works(
        json!({ "command": "load_symbol", "id": "A" }),
        &[get(&["A"])],
    );
    fails(json!({ "action": "load_symbol" }), "`ids` is missing");
    fails(
        json!({ "action": "load_symbol", "ids": [] }),
        "`ids` is missing",
    );
    fails(
        json!({ "action": "load_symbol", "ids": null }),
        "`ids` is missing",
    );
    fails(
        json!({ "action": "load_symbol", "ids": [1] }),
        "`ids` is not a list of ids",
    );
    fails(
        json!({ "action": "load_symbol", "id": 1 }),
        "`ids` is not an id or a list of ids",
    );
    let many: Vec<String> = (0..65).map(|n| format!("S{n}")).collect();
    fails(
        json!({ "action": "load_symbol", "ids": many }),
        "there are 65 ids, and a command may have 64",
    );
}

#[test]
fn p04_store_symbol_takes_a_symbol_or_its_fields() {
    let symbol = Symbol {
        id: "A".into(),
        name: "alpha".into(),
        macro_text: Some("first".into()),
        ..Symbol::default()
    };
    let put = [ask(SymbolRequest::Put {
        symbol: Box::new(symbol),
    })];
    let fields = json!({ "id": "A", "name": "alpha", "macro": "first" });
    works(json!({ "action": "store_symbol", "symbol": fields }), &put);
    works(json!({ "action": "store_symbol", "data": fields }), &put);
    works(json!({ "action": "store_symbol", "args": fields }), &put);
    works(
        json!({ "action": "store_symbol", "id": "A", "name": "alpha", "macro": "first" }),
        &put,
    );
    works(
        json!({ "action": "store_symbol", "symbol_id": "A", "symbol": { "name": "alpha", "macro": "first" } }),
        &put,
    );
    fails(
        json!({ "action": "store_symbol", "symbol": { "name": "x" } }),
        "`id` is missing",
    );
    let wrong = command(json!({ "action": "store_symbol", "id": "A", "name": 7 }));
    assert!(
        matches!(wrong.work, Err(CommandRejection::Arguments(_))),
        "{wrong:?}"
    );
}

#[test]
fn p04_update_symbol_takes_changes_or_fields() {
    let changes = json!({ "macro": "new", "facets": { "gate": null } });
    let Value::Object(members) = changes.clone() else {
        panic!("these are members");
    };
    let update = [ask(SymbolRequest::Update {
        id: "A".into(),
        changes: members,
    })];
    for name in ["updates", "changes", "fields", "patch", "data", "symbol"] {
        works(
            json!({ "action": "update_symbol", "id": "A", name: changes }),
            &update,
        );
    }
    works(
        json!({ "action": "update_symbol", "symbol_id": "A", "changes": changes }),
        &update,
    );
    works(
        json!({ "action": "update_symbol", "ids": ["A"], "changes": changes }),
        &update,
    );
    works(
        json!({ "action": "update_symbol", "id": "A", "macro": "new", "facets": { "gate": null } }),
        &update,
    );
    works(
        json!({ "action": "update_symbol", "symbol": { "id": "A", "macro": "new", "facets": { "gate": null } } }),
        &update,
    );
    fails(
        json!({ "action": "update_symbol", "changes": changes }),
        "`id` is missing",
    );
    fails(
        json!({ "action": "update_symbol", "id": "A" }),
        "`changes` is missing",
    );
    fails(
        json!({ "action": "update_symbol", "id": "A", "changes": { "id": "B", "macro": "x" } }),
        "the id of a symbol cannot be changed",
    );
}

#[test]
fn p04_delete_kit_and_agent_take_one_or_more() {
    let delete = |id: &str| ask(SymbolRequest::Delete { id: id.into() });
    let kit = |id: &str| ask(SymbolRequest::Kit { id: id.into() });
    let agent = |id: &str| ask(SymbolRequest::Persona { id: id.into() });
    works(
        json!({ "action": "delete_symbol", "symbol_id": "A" }),
        &[delete("A")],
    );
    works(
        json!({ "action": "delete_symbol", "ids": ["A", "B"] }),
        &[delete("A"), delete("B")],
    );
    for name in ["kit", "kit_id", "id", "name"] {
        works(json!({ "action": "load_kit", name: "K" }), &[kit("K")]);
    }
    for name in ["agent", "agent_id", "persona", "persona_id", "id", "name"] {
        works(
            json!({ "action": "invoke_agent", name: "P" }),
            &[agent("P")],
        );
    }
    fails(json!({ "action": "delete_symbol" }), "`ids` is missing");
    fails(json!({ "action": "load_kit" }), "`kit` is missing");
    fails(json!({ "action": "invoke_agent" }), "`agent` is missing");
}

#[test]
fn p04_query_symbols_takes_ids_and_text() {
    let search = |text: &str, by, limit| {
        ask(SymbolRequest::Search {
            text: text.into(),
            by,
            limit,
        })
    };
    works(
        json!({ "action": "query_symbols", "ids": ["A"] }),
        &[get(&["A"])],
    );
    for name in ["text", "query", "q", "search", "about"] {
        works(
            json!({ "action": "query_symbols", name: "trust" }),
            &[search("trust", SearchBy::Both, 5)],
        );
    }
    works(
        json!({ "action": "query_symbols", "id": "A", "text": "trust", "limit": 999, "by": "words" }),
        &[get(&["A"]), search("trust", SearchBy::Words, 16)],
    );
    works(
        json!({ "action": "query_symbols", "text": "trust", "mode": "semantic", "k": "3" }),
        &[search("trust", SearchBy::Meaning, 3)],
    );
    fails(json!({ "action": "query_symbols" }), "`text` is missing");
    fails(
        json!({ "action": "query_symbols", "text": " " }),
        "`text` is missing",
    );
    fails(
        json!({ "action": "query_symbols", "text": 3 }),
        "`text` is not a string",
    );
    fails(
        json!({ "action": "query_symbols", "text": "a", "limit": "some" }),
        "`limit` is not a number",
    );
}

#[test]
fn p04_recurse_graph_is_limited_in_depth() {
    let links = |depth, limit| {
        ask(SymbolRequest::Links {
            ids: vec!["A".into()],
            depth,
            limit,
        })
    };
    works(
        json!({ "action": "recurse_graph", "id": "A" }),
        &[links(2, 16)],
    );
    works(
        json!({ "action": "recurse_graph", "start": "A", "depth": 1 }),
        &[links(1, 16)],
    );
    works(
        json!({ "action": "recurse_graph", "from": ["A"], "max_depth": 1_000_000, "limit": 0 }),
        &[links(4, 1)],
    );
    fails(
        json!({ "action": "recurse_graph", "depth": 2 }),
        "`ids` is missing",
    );
}

#[test]
fn p04_feedback_and_tasks_take_words() {
    let feedback = |words: &str| CommandWork::Feedback(words.into());
    for name in ["text", "feedback", "message", "note", "comment"] {
        works(
            json!({ "action": "emit_feedback", name: "good" }),
            &[feedback("good")],
        );
    }
    works(
        json!({ "action": "emit_feedback", "text": "good", "rating": 4 }),
        &[feedback(r#"{"text":"good","rating":4}"#)],
    );
    fails(json!({ "action": "emit_feedback" }), "`text` is missing");
    fails(
        json!({ "action": "emit_feedback", "text": "" }),
        "`text` is missing",
    );
    for name in ["task", "goal", "prompt", "description"] {
        works(
            json!({ "action": "dispatch_task", name: "count them" }),
            &[CommandWork::Task("count them".into())],
        );
    }
    works(
        json!({ "action": "dispatch_task", "task": "count them", "context": "a b c" }),
        &[CommandWork::Task("count them\n\na b c".into())],
    );
    fails(json!({ "action": "dispatch_task" }), "`task` is missing");
}

#[test]
fn p04_an_unknown_action_is_known_as_unknown() {
    let unknown = command(json!({ "action": "launch", "id": "A" }));
    assert_eq!(unknown.work, Err(CommandRejection::UnknownAction));
    assert_eq!(unknown.action, "launch");
    for nameless in [json!({}), json!({ "action": 7 }), json!({ "id": "A" })] {
        let nameless = command(nameless);
        assert!(
            matches!(nameless.work, Err(CommandRejection::Malformed(_))),
            "{nameless:?}"
        );
    }
}

#[test]
fn p04_a_command_in_two_forms_stands_once() {
    let same = [
        stated(json!({ "action": "load_symbol", "id": "A" })),
        stated(json!({ "action": "LOAD-SYMBOL", "ids": ["A"] })),
        stated(json!({ "action": "launch", "a": 1, "b": 2 })),
        stated(json!({ "action": "launch", "b": 2, "a": 1 })),
        stated(json!({ "action": "load_symbol", "id": "B" })),
    ];
    let commands = read(&same);
    let actions: Vec<&str> = commands
        .list
        .iter()
        .map(|one| one.action.as_str())
        .collect();
    assert_eq!(actions, ["load_symbol", "launch", "load_symbol"]);
}

#[test]
fn p04_commands_are_bounded() {
    let many: Vec<CommandText> = (0..1000)
        .map(|n| stated(json!({ "action": "load_symbol", "id": format!("S{n}") })))
        .collect();
    let commands = read(&many);
    assert_eq!(commands.list.len(), COMMANDS_MAX);
    assert_eq!(commands.left_out, 1000 - COMMANDS_MAX);
    let large =
        command(json!({ "action": "emit_feedback", "text": "x".repeat(COMMAND_BYTES_MAX) }));
    assert!(
        matches!(large.work, Err(CommandRejection::TooLarge { .. })),
        "too large"
    );
}

/// What a model is held to can be carried out.
#[test]
fn p04_the_schema_of_each_action_is_what_it_reads() {
    let schema = schema();
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let commands = [
        json!({ "action": "store_symbol", "id": "A", "name": "a", "macro": "m", "linked_patterns": [] }),
        json!({ "action": "update_symbol", "id": "A", "changes": { "macro": "m" } }),
        json!({ "action": "delete_symbol", "id": "A" }),
        json!({ "action": "load_symbol", "ids": ["A"] }),
        json!({ "action": "load_kit", "kit": "K" }),
        json!({ "action": "invoke_agent", "agent": "P" }),
        json!({ "action": "query_symbols", "text": "trust" }),
        json!({ "action": "recurse_graph", "ids": ["A"], "depth": 2 }),
        json!({ "action": "emit_feedback", "text": "good" }),
        json!({ "action": "dispatch_task", "task": "count" }),
    ];
    for (action, text) in ACTIONS.iter().zip(commands) {
        assert!(validator.is_valid(&text), "{text}");
        assert_eq!(text["action"], action.name);
        let command = command(text);
        assert!(command.work.is_ok(), "{command:?}");
    }
    assert!(!validator.is_valid(&json!({ "action": "launch" })));
    assert!(!validator.is_valid(&json!({ "action": "load_kit" })));
}
