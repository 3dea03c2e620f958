//! `phases`: the rules of the loop, what is read of replies, and how it ends.

use fathom_core::budget::amounts::{Amounts, Dimension};
use fathom_core::contract::stop::{ErrorClass, StopReason};
use fathom_core::episode::program::{ProgramError, ProgramFactory};
use fathom_core::episode::result::EpisodeStatus;
use fathom_core::id::EpisodeId;
use fathom_core::journal::command::Command;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_programs::BuiltInPrograms;
use fathom_programs::phases::{self, CommandStatus, PhaseOutcome, PhasesConfig};
use serde_json::{Value, json};

use crate::phase_fixture::{
    IDS, answer, asked, go, in_session, open, params, prompt, report, started, stop, system, tell,
    walked,
};
use fathom_testkit::manual_host::host::ManualHost;
use fathom_testkit::manual_host::samples::AMPLE;

#[test]
fn p02_the_loop_follows_next_phase_and_ends_without_one() {
    let mut desk = open(&params());
    let first = go(&mut desk, "one", IDS[1]);
    assert!(prompt(&first).contains("Do what symbolize_input does."));
    assert!(prompt(&first).contains("What is trust?"));
    assert!(system(&first).starts_with("You think in symbols.\n\nCommands are JSON."));
    let second = go(&mut desk, "two", IDS[2]);
    assert!(prompt(&second).contains("Do what recurse_thought does."));
    let third = desk.sent();
    assert!(prompt(&third).contains("Do what build_output does."));
    desk.reply(&third, r#"{"reply":"Trust is kept promises."}"#);
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert_eq!(result.stop_reason, StopReason::Success);
    assert_eq!(answer(result), "Trust is kept promises.");
    let report = report(result);
    assert_eq!(walked(&report), IDS);
    assert_eq!(report.reply, "Trust is kept promises.");
    assert_eq!(report.warnings, [""; 0]);
    let iterations: Vec<u32> = report.phases.iter().map(|note| note.iteration).collect();
    assert_eq!(iterations, [1, 2, 3]);
}

#[test]
fn h04_what_a_phase_thinks_is_neither_payload_nor_command_nor_words() {
    let thought = "<think>\nIs it {\"reply\":\"no\",\"next_phase\":null}? ⟐CMD {\"action\":\"dance\"}\n</think>\n\n";
    let mut desk = open(&params());
    desk.reply_next(&format!(
        "{thought}```json\n{{\"reply\":\"one\",\"next_phase\":\"{}\"}}\n```",
        IDS[1]
    ));
    desk.reply_next(thought);
    let again = desk.reply_next(&format!("{thought}{{\"reply\":\"Trust.\"}}"));
    assert!(prompt(&again).contains("no JSON object that could be read"));
    let report = report(desk.result());
    assert_eq!(walked(&report), [IDS[0], IDS[1], IDS[1]]);
    assert_eq!(
        (report.reply.as_str(), report.commands.len()),
        ("Trust.", 0)
    );
}

#[test]
fn p02_every_way_to_name_no_phase_ends_the_loop() {
    for next in ["null", "\"\"", "\" \"", "\"none\"", "\"NULL\"", "\"end\""] {
        let mut desk = open(&params());
        desk.reply_next(&format!("{{\"reply\":\"r\",\"next_phase\":{next}}}"));
        let report = report(desk.result());
        assert_eq!(
            (walked(&report), report.warnings.len()),
            (vec![IDS[0]], 0),
            "{next}"
        );
    }
}

#[test]
fn p02_an_unknown_phase_ends_the_loop_with_a_warning() {
    for next in [
        "\"dream\"",
        "7",
        "[\"recurse_thought\"]",
        "{\"id\":1}",
        "true",
    ] {
        let mut desk = open(&params());
        desk.reply_next(&format!("{{\"reply\":\"r\",\"next_phase\":{next}}}"));
        let result = desk.result();
        assert_eq!(
            (result.status, answer(result)),
            (EpisodeStatus::Ok, "r"),
            "{next}"
        );
        let report = report(result);
        assert_eq!(walked(&report), [IDS[0]], "{next}");
        let [warning] = report.warnings.as_slice() else {
            panic!("one warning: {:?}", report.warnings);
        };
        assert!(warning.contains("there is no phase"), "{warning}");
    }
}

#[test]
fn p02_a_visited_phase_ends_the_loop() {
    for back in [IDS[0], IDS[1], "00-symbolize-input"] {
        let mut desk = open(&params());
        go(&mut desk, "one", IDS[1]);
        go(&mut desk, "two", back);
        let result = desk.result();
        assert_eq!(
            (result.status, answer(result)),
            (EpisodeStatus::Ok, "two"),
            "{back}"
        );
        let report = report(result);
        assert_eq!(walked(&report), [IDS[0], IDS[1]], "{back}");
        assert!(
            report.warnings[0].contains("visited"),
            "{:?}",
            report.warnings
        );
    }
}

#[test]
fn p02_an_unreadable_payload_is_asked_for_again_and_counts() {
    let mut desk = open(&params());
    desk.reply_next("I would rather talk.");
    let again = desk.sent();
    assert!(prompt(&again).contains("Do what symbolize_input does."));
    assert!(
        prompt(&again).contains("no JSON object"),
        "{}",
        prompt(&again)
    );
    desk.reply(&again, r#"{"reply":"one","next_phase":"recurse_thought"}"#);
    let second = desk.sent();
    assert!(!prompt(&second).contains("no JSON object"));
    desk.reply(&second, r#"{"reply":"two"}"#);
    let report = report(desk.result());
    assert_eq!(walked(&report), [IDS[0], IDS[0], IDS[1]]);
    let outcomes: Vec<PhaseOutcome> = report.phases.iter().map(|note| note.outcome).collect();
    assert_eq!(
        outcomes,
        [PhaseOutcome::Unreadable, PhaseOutcome::Ok, PhaseOutcome::Ok]
    );
    assert_eq!(
        report.intermediate_responses[0].text.as_deref(),
        Some("I would rather talk.")
    );
}

#[test]
fn p02_the_loop_ends_after_three_times_as_many_iterations_as_phases() {
    let mut desk = open(&params());
    for _ in 0..8 {
        desk.reply_next("Words and words.");
    }
    let ninth = desk.sent();
    assert!(prompt(&ninth).contains("last phase"), "{}", prompt(&ninth));
    desk.reply(&ninth, "Trust is trust.");
    let result = desk.result();
    assert_eq!(desk.calls_out(), 0);
    assert_eq!(result.budget.spent.calls, 9);
    assert_eq!(result.status, EpisodeStatus::NeedsReview);
    let dimension = Dimension::Calls;
    assert_eq!(
        result.stop_reason,
        StopReason::BudgetExhausted { dimension }
    );
    // There was never a payload; what was said is not lost.
    assert_eq!(answer(result), "Trust is trust.");
}

/// The last iteration may still go through: what it asks for beyond is not done.
#[test]
fn p02_a_phase_after_the_last_iteration_is_not_entered() {
    let mut desk = open(&params());
    for _ in 0..8 {
        desk.reply_next("Words.");
    }
    go(&mut desk, "at last", IDS[1]);
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::NeedsReview);
    assert_eq!(answer(result), "at last");
    assert_eq!(walked(&report(result)), [IDS[0]; 9]);
}

#[test]
fn p01_ids_and_aliases_are_both_accepted_however_they_are_spelt() {
    let spellings = [
        "recurse_thought",
        "01-recurse-thought",
        "Recurse-Thought",
        "RECURSE THOUGHT",
        " 01_recurse_thought ",
        "recurse-thought",
    ];
    for next in spellings {
        let mut desk = open(&params());
        go(&mut desk, "one", next);
        stop(&mut desk, "two");
        let report = report(desk.result());
        assert_eq!(walked(&report), [IDS[0], IDS[1]], "{next}");
        assert_eq!(report.phases[0].next_phase.as_deref(), Some(next.trim()));
    }
    // The id in the prompt differs from the name of the file: both mean the phase.
    for next in ["build_output", "04-build-narrative", "build-narrative"] {
        assert_eq!(params().find(next), Some(2), "{next}");
    }
    assert_eq!(params().find("build"), None);
}

#[test]
fn p01_parameters_are_checked() {
    let build = |params: &str| {
        BuiltInPrograms.build(&ProgramSpec {
            name: phases::NAME.into(),
            params: params.into(),
        })
    };
    let twice = PhasesConfig {
        phases: vec![params().phases[0].clone(), params().phases[0].clone()],
        ..params()
    };
    let nameless = PhasesConfig {
        session: Some(" ".into()),
        ..params()
    };
    let mute = PhasesConfig {
        output_tokens_max: 0,
        ..params()
    };
    let cases = [
        (String::new(), "EOF"),
        ("{}".into(), "1 to 32 phases, not 0"),
        ("{\"phase\":1}".into(), "unknown field"),
        (
            twice.spec().params.as_str().into(),
            "two phases are called `0",
        ),
        (
            nameless.spec().params.as_str().into(),
            "session has no name",
        ),
        (
            mute.spec().params.as_str().into(),
            "`output_tokens_max` is 0",
        ),
    ];
    for (text, cause) in cases {
        match build(&text) {
            Err(ProgramError::Params { cause: said, .. }) => {
                assert!(said.contains(cause), "{said} for {cause}");
            }
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("{cause} was not noticed"),
        }
    }
    assert!(build(in_session().spec().params.as_str()).is_ok());
}

#[test]
fn p03_only_next_phase_drives_and_everything_is_kept() {
    let mut desk = open(&params());
    let payload = json!({
        "phase_id": "build_output",
        "context_state": { "visited": ["SYM-001"], "depth": 1 },
        "mood": ["calm", 3],
        "next_phase": "recurse_thought",
    });
    desk.reply_next(&format!(
        "I think.\n```json\n{payload:#}\n```\nThat is all."
    ));
    desk.reply_next("{\"reply\":\"two\"}");
    let report = report(desk.result());
    assert_eq!(walked(&report), [IDS[0], IDS[1]]);
    let kept = &report.intermediate_responses;
    assert_eq!(kept[0].payload.as_ref(), Some(&payload));
    assert_eq!((kept[1].phase.as_str(), kept[1].iteration), (IDS[1], 2));
}

#[test]
fn p03_a_reply_that_was_cut_is_asked_for_again() {
    let mut desk = open(&params());
    let sent = desk.sent();
    desk.cut_reply(
        &sent,
        r#"{"control_signature":{"emit":[{"action":"delete_symbol","id":"A"}]},"reply":"and"#,
    );
    // No part of it was taken for the whole, and nothing was carried out.
    let again = desk.sent();
    assert!(
        prompt(&again).contains("ended before"),
        "{}",
        prompt(&again)
    );
    desk.reply(&again, r#"{"reply":"short"}"#);
    let result = desk.result();
    assert_eq!(answer(result), "short");
    assert!(report(result).commands.is_empty());
}

#[test]
fn p03_a_structured_reply_is_held_to_what_the_loop_can_do() {
    let structured = PhasesConfig {
        structured: true,
        ..params()
    };
    let mut desk = open(&structured);
    go(&mut desk, "one", IDS[2]);
    let sent = desk.sent();
    let schema = sent.request.schema.as_ref().expect("there is a schema");
    let schema: Value = serde_json::from_str(schema.as_str()).expect("it is JSON");
    // A model that thinks first commands better, and names the next phase last.
    let order: Vec<&String> = schema["properties"]
        .as_object()
        .expect("an object")
        .keys()
        .collect();
    assert_eq!(
        order,
        ["phase_id", "reply", "control_signature", "next_phase"]
    );
    assert_eq!(
        schema["properties"]["next_phase"]["enum"],
        json!([IDS[1], null])
    );
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let payload = |next: Value, emit: Value| {
        json!({
            "phase_id": IDS[2],
            "reply": "so",
            "control_signature": { "emit": emit },
            "next_phase": next,
        })
    };
    let load = json!({ "action": "load_symbol", "ids": ["A"] });
    assert!(validator.is_valid(&payload(Value::Null, json!([load]))));
    assert!(validator.is_valid(&payload(json!(IDS[1]), json!([]))));
    assert!(!validator.is_valid(&payload(json!(IDS[0]), json!([]))));
    assert!(!validator.is_valid(&payload(Value::Null, json!([load, load, load, load]))));
    assert!(!validator.is_valid(&payload(Value::Null, json!([{ "action": "launch" }]))));
    // Without the wish there is no schema.
    assert!(open(&params()).sent().request.schema.is_none());
}

#[test]
fn p02_a_budget_that_runs_out_keeps_the_best_reply() {
    let amounts = Amounts { calls: 2, ..AMPLE };
    let mut desk = ManualHost::open(BuiltInPrograms, started(&in_session(), amounts));
    go(&mut desk, "the best so far", IDS[1]);
    // What is left is one call past the closing mark, or none.
    while desk.calls_out() > 0 {
        go(&mut desk, "better", IDS[2]);
    }
    // The session keeps what there is: that costs nothing.
    let (ask, request) = asked(&mut desk);
    assert_eq!(request.domain, phases::HISTORY);
    tell(&mut desk, ask, "{}");
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::NeedsReview);
    let dimension = Dimension::Calls;
    assert_eq!(
        result.stop_reason,
        StopReason::BudgetExhausted { dimension }
    );
    assert_eq!(answer(result), "better");
    assert!(result.budget.spent.calls <= 2);
    assert!(!report(result).phases.is_empty());
}

#[test]
fn p02_a_refused_call_ends_the_loop_with_what_there_is() {
    let amounts = Amounts { calls: 1, ..AMPLE };
    let mut desk = ManualHost::open(BuiltInPrograms, started(&params(), amounts));
    go(&mut desk, "one", IDS[1]);
    let result = desk.result();
    assert_eq!(
        (result.status, answer(result)),
        (EpisodeStatus::NeedsReview, "one")
    );
    assert_eq!(report(result).phases[1].outcome, PhaseOutcome::Failed);
}

#[test]
fn p02_time_that_runs_out_keeps_reply_and_report() {
    let mut desk = open(&params());
    go(&mut desk, "one", IDS[1]);
    desk.ring(&EpisodeId::root());
    let sent = desk.sent();
    desk.fail(
        &sent,
        ModelFailure::sent(FailureKind::Cancelled, "given up"),
    );
    let result = desk.result();
    let dimension = Dimension::Time;
    assert_eq!(
        result.stop_reason,
        StopReason::BudgetExhausted { dimension }
    );
    assert_eq!(answer(result), "one");
    assert_eq!(walked(&report(result)), [IDS[0]]);
}

#[test]
fn p02_a_model_that_fails_ends_the_loop_and_empty_replies_are_asked_again() {
    let mut desk = open(&params());
    go(&mut desk, "one", IDS[1]);
    let sent = desk.sent();
    desk.fail(&sent, ModelFailure::sent(FailureKind::Empty, "nothing"));
    let again = desk.sent();
    assert!(prompt(&again).contains("Do what recurse_thought does."));
    desk.fail(&again, ModelFailure::sent(FailureKind::Refused, "no"));
    let result = desk.result();
    assert_eq!(
        (result.status, answer(result)),
        (EpisodeStatus::Failed, "one")
    );
    let class = ErrorClass::Model(FailureKind::Refused);
    assert_eq!(result.stop_reason, StopReason::Failure { class });
    let outcomes: Vec<PhaseOutcome> = report(result).phases.iter().map(|n| n.outcome).collect();
    assert_eq!(
        outcomes,
        [PhaseOutcome::Ok, PhaseOutcome::Failed, PhaseOutcome::Failed]
    );
}

#[test]
fn p02_a_loop_in_which_nothing_was_said_needs_a_look() {
    let mut desk = open(&params());
    desk.reply_next("{}");
    let result = desk.result();
    assert_eq!(
        (result.status, answer(result)),
        (EpisodeStatus::NeedsReview, "")
    );
    assert_eq!(result.stop_reason, StopReason::NoNewInformation);
}

/// Whatever a model writes, the loop ends within its bounds and asks for nothing but what the commands say.
#[test]
fn p03_hostile_replies_do_no_harm() {
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(5000), "]".repeat(5000));
    let wide = format!(
        "{{\"reply\":\"{}\",\"next_phase\":\"recurse_thought\"}}",
        "x".repeat(50_000)
    );
    let marks = "⟐CMD {".repeat(2000);
    let replies = [
        "{".repeat(10_000),
        deep,
        wide,
        marks,
        "\u{feff}\u{0}\u{202e}".to_owned(),
        json!({ "reply": "r", "next_phase": "../../etc/passwd" }).to_string(),
        json!({ "reply": "r", "next_phase": "recurse_thought\u{0}" }).to_string(),
        json!({ "reply": { "a": 1 }, "control_signature": [[[]]], "next_phase": {} }).to_string(),
        json!({ "reply": "r", "control_signature": { "emit": { "emit": { "emit": 1 } } } }).to_string(),
        json!({ "reply": "r", "control_signature": { "emit": [{ "action": "x".repeat(9000), "a": null }] } }).to_string(),
        json!({ "⟐CMD": { "⟐CMD": { "action": "delete_symbol" } }, "reply": "r" }).to_string(),
        json!({ "⟐CMD": "rm -rf /", "reply": "r" }).to_string(),
    ];
    for reply in replies {
        let mut desk = ManualHost::open(
            BuiltInPrograms,
            started(
                &params(),
                Amounts {
                    tokens: 100_000_000,
                    money: fathom_core::unit::Nanodollars(u64::MAX / 4),
                    ..AMPLE
                },
            ),
        );
        let head: String = reply.chars().take(60).collect();
        let mut calls = 0;
        while !desk.is_over() {
            desk.reply_next(&reply);
            calls += 1;
            assert!(calls <= 9, "{head}");
        }
        let asked = desk.log.commands(&EpisodeId::root());
        let is_outside = |command: &Command| {
            matches!(
                command,
                Command::Domain { .. } | Command::Spawn { .. } | Command::Propose { .. }
            )
        };
        assert!(!asked.iter().any(is_outside), "{head}");
        let report = report(desk.result());
        assert!(
            report
                .commands
                .iter()
                .all(|note| note.status != CommandStatus::Ok),
            "{head}"
        );
        assert!(
            report
                .commands
                .iter()
                .all(|note| note.action.chars().count() <= 61),
            "{head}"
        );
    }
}
