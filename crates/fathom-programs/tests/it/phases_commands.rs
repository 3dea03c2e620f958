//! `phases`: what commands do, and what becomes of those that cannot be done.

use fathom_core::contract::spawn::{SpawnClass, SpawnTrigger};
use fathom_core::contract::stop::Refusal;
use fathom_core::domain::symbols::{SymbolAnswer, SymbolFault, SymbolFaultKind, SymbolRequest};
use fathom_core::episode::result::EpisodeStatus;
use fathom_core::id::EpisodeId;
use fathom_core::journal::event::EventKind;
use fathom_core::model::ModelRole;
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_programs::BuiltInPrograms;
use fathom_programs::phases::{self, CommandStatus};
use serde_json::{Value, json};

use crate::phase_fixture::{
    IDS, asked, emit, emitted, found, give, open, params, prompt, report, started, statuses, stop,
    symbol, system, tell, wanted,
};
use fathom_testkit::manual_host::host::ManualHost;
use fathom_testkit::manual_host::samples::AMPLE;

#[test]
fn p04_the_commands_of_an_unreadable_reply_are_not_carried_out() {
    let mut desk = open(&params());
    desk.reply_next("⟐CMD {\"action\":\"delete_symbol\",\"id\":\"A\"} and no payload");
    stop(&mut desk, "fine");
    let report = report(desk.result());
    assert!(report.commands.is_empty());
    assert!(
        report
            .warnings
            .iter()
            .any(|w| w.contains("not carried out")),
        "{:?}",
        report.warnings
    );
}

/// Every action that the store does, with what it must be asked.
#[test]
fn p04_every_action_asks_the_store() {
    let put = SymbolRequest::Put {
        symbol: Box::new(symbol("A")),
    };
    let changes = json!({ "macro": "new" });
    let cases = [
        (
            json!({ "action": "store_symbol", "symbol": symbol("A") }),
            put,
        ),
        (
            json!({ "action": "update_symbol", "symbol_id": "A", "updates": changes }),
            SymbolRequest::Update {
                id: "A".into(),
                changes: changes.as_object().cloned().unwrap_or_default(),
            },
        ),
        (
            json!({ "action": "delete_symbol", "id": "A" }),
            SymbolRequest::Delete { id: "A".into() },
        ),
        (
            json!({ "action": "load_symbol", "id": "A" }),
            SymbolRequest::Get {
                ids: vec!["A".into()],
            },
        ),
        (
            json!({ "action": "load_kit", "kit": "K" }),
            SymbolRequest::Kit { id: "K".into() },
        ),
        (
            json!({ "action": "invoke_agent", "agent": "P" }),
            SymbolRequest::Persona { id: "P".into() },
        ),
        (
            json!({ "action": "query_symbols", "query": "trust" }),
            serde_json::from_value(json!({ "op": "search", "text": "trust", "limit": 5 }))
                .expect("it is a request"),
        ),
        (
            json!({ "action": "recurse_graph", "id": "A", "depth": 9 }),
            SymbolRequest::Links {
                ids: vec!["A".into()],
                depth: 4,
                limit: 16,
            },
        ),
    ];
    for (command, request) in cases {
        let mut desk = open(&params());
        emit(&mut desk, &json!([command]));
        // The next phase waits for what comes of it.
        assert_eq!(desk.calls_out(), 0);
        assert_eq!(give(&mut desk, &found(&["A"])), request);
        stop(&mut desk, "done");
        let report = report(desk.result());
        let action = command["action"].as_str().expect("it has an action");
        assert_eq!(
            statuses(&report),
            [(action, CommandStatus::Ok)],
            "{:?}",
            report.commands
        );
        assert_eq!(report.commands[0].phase, IDS[0]);
        assert_eq!(report.symbols, ["A"]);
    }
}

#[test]
fn p04_all_three_forms_are_carried_out_in_order_and_once() {
    let mut desk = open(&params());
    desk.reply_next(
        r#"I look. ⟐CMD {"action":"load_symbol","id":"A"}
        {"⟐CMD": {"action":"load_symbol","symbol_id":"B"}}
        {"reply":"so","control_signature":{"emit":[
            {"action":"load_symbol","ids":["A"]},
            {"action":"load_symbol","ids":["C"]}
        ]},"next_phase":"recurse_thought"}"#,
    );
    for id in ["A", "B", "C"] {
        let request = give(&mut desk, &found(&[id]));
        assert_eq!(
            request,
            SymbolRequest::Get {
                ids: vec![id.into()]
            }
        );
    }
    stop(&mut desk, "done");
    let report = report(desk.result());
    assert_eq!(report.commands.len(), 3);
    assert_eq!(report.symbols, ["A", "B", "C"]);
}

#[test]
fn p04_query_symbols_asks_by_ids_and_by_text() {
    let mut desk = open(&params());
    emit(
        &mut desk,
        &json!([{ "action": "query_symbols", "ids": ["A"], "text": "trust" }]),
    );
    assert!(matches!(
        give(&mut desk, &found(&["A"])),
        SymbolRequest::Get { .. }
    ));
    let answer = SymbolAnswer {
        note: Some("by words alone".into()),
        ..found(&["B"])
    };
    assert!(matches!(
        give(&mut desk, &answer),
        SymbolRequest::Search { .. }
    ));
    stop(&mut desk, "done");
    let report = report(desk.result());
    let [note] = report.commands.as_slice() else {
        panic!("it is one command: {:?}", report.commands);
    };
    assert_eq!(note.result, "found A; found B; by words alone");
    assert_eq!(report.symbols, ["A", "B"]);
}

#[test]
fn p04_what_cannot_be_done_is_a_result_and_the_loop_goes_on() {
    let mut desk = open(&params());
    emit(
        &mut desk,
        &json!([
            { "action": "launch", "id": "A" },
            "load_symbol",
            { "action": "load_symbol" },
            { "action": "emit_feedback", "text": "x".repeat(70_000) },
            { "action": "load_symbol", "ids": ["A"] },
        ]),
    );
    give(&mut desk, &found(&["A"]));
    let sent = stop(&mut desk, "done");
    for words in [
        "launch (unknown_action)",
        "malformed",
        "`ids` is missing",
        "too_large",
    ] {
        assert!(
            system(&sent).contains(words),
            "{words} in {}",
            system(&sent)
        );
    }
    let report = report(desk.result());
    assert_eq!(
        statuses(&report),
        [
            ("launch", CommandStatus::UnknownAction),
            ("", CommandStatus::Malformed),
            ("load_symbol", CommandStatus::Invalid),
            ("emit_feedback", CommandStatus::TooLarge),
            ("load_symbol", CommandStatus::Ok),
        ]
    );
    // What is too long to be told again is not.
    let arguments = &report.commands[3].arguments;
    assert!(arguments.contains_key("omitted_bytes"), "{arguments:?}");
    assert!(emitted(&desk, phases::FEEDBACK).is_empty());
}

#[test]
fn p04_faults_of_the_store_are_results() {
    let fault = |kind| SymbolAnswer {
        fault: Some(SymbolFault {
            kind,
            message: "it says why".into(),
        }),
        ..SymbolAnswer::default()
    };
    let cases = [
        (fault(SymbolFaultKind::NotFound), CommandStatus::NotFound),
        (fault(SymbolFaultKind::Invalid), CommandStatus::Invalid),
        (
            fault(SymbolFaultKind::NoEmbeddings),
            CommandStatus::NoEmbeddings,
        ),
        (
            fault(SymbolFaultKind::Unavailable),
            CommandStatus::Unavailable,
        ),
        (
            SymbolAnswer {
                missing: vec!["A".into()],
                ..SymbolAnswer::default()
            },
            CommandStatus::NotFound,
        ),
        (
            SymbolAnswer {
                missing: vec!["B".into()],
                ..found(&["A"])
            },
            CommandStatus::Ok,
        ),
        (SymbolAnswer::default(), CommandStatus::Ok),
    ];
    for (answer, status) in cases {
        let mut desk = open(&params());
        emit(
            &mut desk,
            &json!([{ "action": "load_symbol", "ids": ["A", "B"] }]),
        );
        give(&mut desk, &answer);
        stop(&mut desk, "done");
        assert_eq!(
            statuses(&report(desk.result())),
            [("load_symbol", status)],
            "{answer:?}"
        );
    }
    // An answer that cannot be read is none.
    let mut desk = open(&params());
    emit(&mut desk, &json!([{ "action": "load_symbol", "id": "A" }]));
    let (ask, _) = wanted(&mut desk);
    tell(&mut desk, ask, "[not an answer");
    stop(&mut desk, "done");
    let expected = [("load_symbol", CommandStatus::Unavailable)];
    assert_eq!(statuses(&report(desk.result())), expected);
}

#[test]
fn p04_a_write_outside_of_the_contract_is_refused_and_the_rule_is_named() {
    let mut started = started(&params(), AMPLE);
    started.contract.write_scopes.clear();
    let mut desk = ManualHost::open(BuiltInPrograms, started);
    emit(
        &mut desk,
        &json!([
            { "action": "store_symbol", "symbol": { "id": "A" } },
            { "action": "load_symbol", "id": "A" },
        ]),
    );
    // Reading is still allowed.
    assert!(matches!(
        give(&mut desk, &found(&["A"])),
        SymbolRequest::Get { .. }
    ));
    let sent = stop(&mut desk, "done");
    assert!(
        system(&sent).contains("`write_scopes`"),
        "{}",
        system(&sent)
    );
    let report = report(desk.result());
    assert_eq!(
        statuses(&report),
        [
            ("store_symbol", CommandStatus::Refused),
            ("load_symbol", CommandStatus::Ok),
        ]
    );
    assert_eq!(
        report.commands[0].result,
        "domain `symbols` not in `write_scopes`"
    );
    assert_eq!(desk.result().status, EpisodeStatus::Ok);
}

#[test]
fn p04_a_read_outside_of_the_contract_or_a_host_without_a_store_is_refused() {
    let mut started = started(&params(), AMPLE);
    started.contract.read_scopes.clear();
    let mut desk = ManualHost::open(BuiltInPrograms, started);
    emit(
        &mut desk,
        &json!([{ "action": "query_symbols", "text": "trust" }]),
    );
    stop(&mut desk, "done");
    let expected = [("query_symbols", CommandStatus::Refused)];
    assert_eq!(statuses(&report(desk.result())), expected);

    let mut desk = open(&params());
    emit(
        &mut desk,
        &json!([{ "action": "query_symbols", "text": "trust" }]),
    );
    let (ask, _) = asked(&mut desk);
    let reason = Refusal::Unavailable {
        what: "symbol store".into(),
    };
    desk.deliver(&EpisodeId::root(), EventKind::Refused { ask, reason });
    stop(&mut desk, "done");
    let report = report(desk.result());
    assert_eq!(report.commands[0].result, "no symbol store on this host");
}

#[test]
fn p04_feedback_is_recorded_against_the_run() {
    let mut desk = open(&params());
    emit(
        &mut desk,
        &json!([
            { "action": "emit_feedback", "text": "the question is vague" },
            { "action": "emit_feedback", "feedback": "good", "rating": 4 },
        ]),
    );
    stop(&mut desk, "done");
    assert_eq!(
        emitted(&desk, phases::FEEDBACK),
        ["the question is vague", r#"{"feedback":"good","rating":4}"#]
    );
    let expected = [("emit_feedback", CommandStatus::Ok); 2];
    assert_eq!(statuses(&report(desk.result())), expected);
}

#[test]
fn p04_a_dispatched_task_is_a_child_whose_answer_is_seen() {
    let mut desk = open(&params());
    emit(
        &mut desk,
        &json!([{ "action": "dispatch_task", "task": "Count to three." }]),
    );
    let child = desk.sent();
    assert_eq!(child.episode, EpisodeId::root().child(0));
    assert_eq!(child.model, ModelRole::Sub);
    assert_eq!(prompt(&child), "Count to three.");
    let origin = desk.episode(&child.episode).started().clone();
    assert_eq!(origin.contract.write_scopes, [""; 0]);
    let spawned = format!("{:?}", origin.origin);
    for part in [
        phases::TASK,
        &format!("{:?}", SpawnClass::Work),
        &format!("{:?}", SpawnTrigger::DispatchedTask),
    ] {
        assert!(spawned.contains(part), "{spawned}");
    }
    desk.reply(&child, "one two three");
    let sent = stop(&mut desk, "done");
    assert!(
        system(&sent).contains("task: one two three"),
        "{}",
        system(&sent)
    );
    let report = report(desk.result());
    assert_eq!(statuses(&report), [("dispatch_task", CommandStatus::Ok)]);
    assert_eq!(report.commands[0].result, "one two three");
}

#[test]
fn p04_a_task_that_fails_or_is_not_allowed_is_a_result() {
    let mut desk = open(&params());
    emit(
        &mut desk,
        &json!([{ "action": "dispatch_task", "task": "Count." }]),
    );
    let child = desk.sent();
    desk.fail(&child, ModelFailure::sent(FailureKind::Refused, "no"));
    stop(&mut desk, "done");
    let expected = [("dispatch_task", CommandStatus::Failed)];
    assert_eq!(statuses(&report(desk.result())), expected);

    let mut started = started(&params(), AMPLE);
    started.contract.recursion.allowed_child_types.clear();
    let mut desk = ManualHost::open(BuiltInPrograms, started);
    emit(
        &mut desk,
        &json!([{ "action": "dispatch_task", "task": "Count." }]),
    );
    stop(&mut desk, "done");
    let report = report(desk.result());
    assert_eq!(
        statuses(&report),
        [("dispatch_task", CommandStatus::Refused)]
    );
    assert_eq!(report.commands[0].result, "child type `task` not allowed");
}

#[test]
fn p04_no_more_commands_of_a_reply_are_carried_out_than_there_may_be() {
    let mut desk = open(&params());
    let many: Vec<Value> = (0..40)
        .map(|n| json!({ "action": "emit_feedback", "text": format!("note {n}") }))
        .collect();
    emit(&mut desk, &json!(many));
    stop(&mut desk, "done");
    assert_eq!(emitted(&desk, phases::FEEDBACK).len(), phases::COMMANDS_MAX);
    let report = report(desk.result());
    assert!(
        report.warnings[0].starts_with("24 commands were left out"),
        "{:?}",
        report.warnings
    );
}
