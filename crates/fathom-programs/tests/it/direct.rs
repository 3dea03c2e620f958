//! `direct`: one question, one answer, continued where it is cut and judged where a rubric is given.

use fathom_core::budget::amounts::{Amounts, Dimension};
use fathom_core::contract::stop::{ErrorClass, StopReason};
use fathom_core::episode::program::{ProgramError, ProgramFactory as _};
use fathom_core::episode::result::{EpisodeResult, EpisodeStatus, NextAction};
use fathom_core::id::EpisodeId;
use fathom_core::journal::event::{EpisodeSpec, EventKind, Signal};
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{ModelRole, ReplyMode, Speaker};
use fathom_core::packet::HeaderField;
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use fathom_programs::BuiltInPrograms;
use fathom_programs::direct::{CRITIQUE, DirectConfig, NAME, PromptMaterial, ReviewRules};

use fathom_testkit::manual_host::host::{ManualHost, Sent, at};
use fathom_testkit::manual_host::samples::{AMPLE, billed, rate_limited, root};

fn direct(params: &DirectConfig, amounts: Amounts) -> EpisodeSpec {
    let mut started = root(amounts);
    started.goal = "Why is the sky blue?".into();
    started.program = params.spec();
    let policy = &mut started.contract.recursion;
    policy.allowed_child_types = vec![CRITIQUE.into()];
    started
}

fn ask(params: &DirectConfig) -> ManualHost {
    ManualHost::open(BuiltInPrograms, direct(params, AMPLE))
}

fn reviewed(revisions_max: u32) -> DirectConfig {
    DirectConfig {
        review: Some(ReviewRules {
            rubric: "It names the cause.".into(),
            revisions_max,
        }),
        ..DirectConfig::default()
    }
}

fn answer(result: &EpisodeResult) -> &str {
    result.answer.as_ref().map_or("", Text::as_str)
}

fn spoken(sent: &Sent) -> Vec<(Speaker, &str)> {
    sent.request
        .messages
        .iter()
        .map(|message| (message.speaker, message.text.as_str()))
        .collect()
}

const CONTINUE: &str = "Go on from the exact character where you stopped. Repeat nothing.";

#[test]
fn direct_asks_once_and_answers() {
    let params = DirectConfig {
        system: "Be brief.".into(),
        material: vec![PromptMaterial {
            source: "notes.txt".into(),
            text: "Light scatters.\n\n".into(),
        }],
        temperature_milli: Some(200),
        stream: false,
        schema: Some(serde_json::json!({"type": "string"})),
        ..DirectConfig::default()
    };
    let mut desk = ask(&params);
    let sent = desk.reply_next("Because it scatters.");
    assert_eq!(
        spoken(&sent),
        [
            (Speaker::System, "Be brief."),
            (
                Speaker::User,
                "--- notes.txt\nLight scatters.\n---\nWhy is the sky blue?"
            ),
        ]
    );
    assert_eq!(sent.request.delivery, ReplyMode::Whole);
    assert_eq!(sent.request.temperature_milli, Some(200));
    let schema = sent.request.schema.as_ref().map(Text::as_str);
    assert_eq!(schema, Some(r#"{"type":"string"}"#));
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert_eq!(answer(result), "Because it scatters.");
    assert!(result.next_actions.is_empty());
}

#[test]
fn r06_an_answer_that_does_not_meet_its_schema_is_sent_back() {
    let params = DirectConfig {
        schema: Some(serde_json::json!({"type": "object", "required": ["cause"]})),
        ..DirectConfig::default()
    };
    let mut desk = ask(&params);
    desk.reply_next("It scatters.");
    let again = desk.sent();
    let [.., (who, said), (_, why)] = spoken(&again)[..] else {
        panic!("it is not sent back");
    };
    assert_eq!((who, said), (Speaker::Assistant, "It scatters."));
    assert!(why.contains("not of type \"object\""), "{why}");
    desk.reply(&again, "{\"cause\": \"scattering\"}\n");
    assert_eq!(desk.result().status, EpisodeStatus::Ok);
    assert_eq!(answer(desk.result()), "{\"cause\": \"scattering\"}\n");
    // For a while: what it said last is there for a person to see.
    let mut desk = ask(&params);
    for reply in ["It scatters.", "[]", "{}"] {
        desk.reply_next(reply);
    }
    let result = desk.result();
    let expected = (EpisodeStatus::NeedsReview, &StopReason::ReviewFailed, "{}");
    assert_eq!(
        (result.status, &result.stop_reason, answer(result)),
        expected
    );
    assert!(
        format!("{:?}", result.summary).contains("cause"),
        "{result:?}"
    );
}

#[test]
fn h04_a_fence_or_thoughts_around_the_json_are_no_part_of_it() {
    let params = DirectConfig {
        schema: Some(serde_json::json!({"type": "object", "required": ["cause"]})),
        ..DirectConfig::default()
    };
    let json = "{\"cause\": \"scattering\"}";
    for reply in [
        format!("```json\n{json}\n```"),
        format!("<think>{{\"cause\":1}}</think>\n{json}"),
        format!("<think>Hm.</think>\n```\n{json}\n```\n"),
    ] {
        let mut desk = ask(&params);
        desk.reply_next(&reply);
        assert_eq!(desk.result().status, EpisodeStatus::Ok, "{reply}");
        assert_eq!(answer(desk.result()), json, "{reply}");
    }
}

#[test]
fn h04_a_reply_of_thoughts_alone_is_asked_for_again_and_is_no_answer() {
    let mut desk = ask(&DirectConfig::default());
    let first = desk.reply_next("<think>Light scatters.");
    let again = desk.sent();
    assert_eq!(spoken(&again), spoken(&first));
    desk.reply(&again, "<think>Light scatters.</think>\n\nIt scatters.");
    assert_eq!(desk.result().status, EpisodeStatus::Ok);
    assert_eq!(answer(desk.result()), "It scatters.");

    let mut desk = ask(&DirectConfig::default());
    for _ in 0..3 {
        desk.reply_next("<think>Light scatters.</think>");
    }
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::NeedsReview);
    assert_eq!(result.stop_reason, StopReason::NoNewInformation);
    assert_eq!(result.answer, None);

    // Thoughts that were cut are gone on with, and the question is asked anew when nothing came of it.
    let mut desk = ask(&DirectConfig::default());
    let sent = desk.sent();
    desk.cut_reply(&sent, "<think>Light ");
    let sent = desk.reply_next("scatters.</think>");
    assert_eq!(spoken(&sent)[2], (Speaker::User, CONTINUE));
    assert_eq!(spoken(&desk.sent()), spoken(&first));
}

#[test]
fn r06_a_schema_that_is_none_is_refused_with_its_program() {
    let spec = DirectConfig {
        schema: Some(serde_json::json!({"type": 7})),
        ..DirectConfig::default()
    }
    .spec();
    assert!(matches!(
        BuiltInPrograms.build(&spec),
        Err(ProgramError::Params { name, .. }) if name == NAME
    ));
}

#[test]
fn direct_continues_a_cut_reply_where_it_stopped() {
    let mut desk = ask(&DirectConfig::default());
    let first = desk.sent();
    desk.cut_reply(&first, "Because light ");
    let second = desk.sent();
    assert_eq!(
        spoken(&second),
        [
            (Speaker::User, "Why is the sky blue?"),
            (Speaker::Assistant, "Because light "),
            (Speaker::User, CONTINUE),
        ]
    );
    desk.cut_reply(&second, "scatters ");
    let third = desk.sent();
    assert_eq!(
        spoken(&third)[1],
        (Speaker::Assistant, "Because light scatters ")
    );
    desk.reply(&third, "in air.");
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert_eq!(answer(result), "Because light scatters in air.");
    assert_eq!(result.budget.spent.calls, 3);
}

#[test]
fn direct_gives_up_after_as_many_continuations_as_it_may() {
    let params = DirectConfig {
        continuations_max: 2,
        ..DirectConfig::default()
    };
    let mut desk = ask(&params);
    for words in ["a", "b", "c"] {
        let sent = desk.sent();
        desk.cut_reply(&sent, words);
    }
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::NeedsReview);
    let dimension = Dimension::Tokens;
    assert_eq!(
        result.stop_reason,
        StopReason::BudgetExhausted { dimension }
    );
    assert_eq!(answer(result), "abc");
    assert!(matches!(
        result.next_actions.as_slice(),
        [NextAction::Handoff(_)]
    ));
}

#[test]
fn direct_passes_its_review() {
    let mut desk = ask(&reviewed(1));
    desk.reply_next("It scatters.");
    let judge = desk.sent();
    assert_eq!(judge.episode, at(&[0]));
    let [(Speaker::System, instruction), (Speaker::User, question)] = spoken(&judge)[..] else {
        panic!("{:?}", spoken(&judge));
    };
    assert!(instruction.contains("PASS or FAIL"));
    assert_eq!(
        question,
        "Rubric:\nIt names the cause.\n\nQuestion:\nWhy is the sky blue?\n\nAnswer:\nIt scatters."
    );
    assert_eq!(judge.request.temperature_milli, Some(0));
    desk.reply(&judge, "PASS. It does.");
    let result = desk.result();
    assert_eq!(
        (result.status, &result.stop_reason),
        (EpisodeStatus::Ok, &StopReason::Success)
    );
    let decided: Vec<(&str, &str)> = result
        .decisions
        .iter()
        .map(|decision| (decision.what.as_str(), decision.rationale.as_str()))
        .collect();
    assert_eq!(decided, [("review passed", "PASS. It does.")]);
    assert_eq!(result.depth_reached, 1);
}

#[test]
fn direct_judges_speak_through_the_sub_model_and_may_not_recurse() {
    let mut desk = ask(&reviewed(0));
    desk.reply_next("It scatters.");
    let events = desk.log.events(&at(&[0]));
    let Some(EventKind::Started(judge)) = events.first() else {
        panic!("{events:?}");
    };
    assert_eq!(judge.model, ModelRole::Sub);
    assert_eq!(judge.contract.recursion.max_depth, 1);
    assert!(judge.contract.allowed_tools.is_empty());
    assert!(judge.budget.amounts.calls <= 2);
    assert_eq!(judge.budget.amounts.episodes, 1);
}

#[test]
fn direct_rewrites_an_answer_that_failed_its_review() {
    let mut desk = ask(&reviewed(1));
    desk.reply_next("It is blue.");
    desk.reply_next("FAIL: no cause.");
    let revision = desk.sent();
    assert_eq!(
        spoken(&revision),
        [
            (Speaker::User, "Why is the sky blue?"),
            (Speaker::Assistant, "It is blue."),
            (
                Speaker::User,
                "A reviewer found: FAIL: no cause.\nWrite the whole answer anew and mend that."
            ),
        ]
    );
    desk.reply(&revision, "It scatters.");
    desk.reply_next("PASS");
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert_eq!(answer(result), "It scatters.");
    assert_eq!(result.decisions.len(), 2);
}

#[test]
fn direct_needs_a_person_when_the_review_fails_for_good() {
    let mut desk = ask(&reviewed(1));
    desk.reply_next("It is blue.");
    desk.reply_next("FAIL: no cause.");
    desk.reply_next("It is very blue.");
    desk.reply_next("**Fail** still none.");
    let result = desk.result();
    assert_eq!(
        (result.status, &result.stop_reason),
        (EpisodeStatus::NeedsReview, &StopReason::ReviewFailed)
    );
    assert_eq!(answer(result), "It is very blue.");
    assert!(result.verification_needed);
    assert!(matches!(
        result.next_actions.as_slice(),
        [NextAction::Handoff(_)]
    ));
}

#[test]
fn direct_takes_only_a_clear_first_word_for_a_verdict() {
    let table = [
        ("PASS", EpisodeStatus::Ok),
        ("**PASS** it does", EpisodeStatus::Ok),
        ("pass, with praise", EpisodeStatus::Ok),
        ("I cannot PASS this", EpisodeStatus::NeedsReview),
        ("PASSABLE", EpisodeStatus::NeedsReview),
        ("FAIL", EpisodeStatus::NeedsReview),
        ("Perhaps.", EpisodeStatus::NeedsReview),
    ];
    for (words, status) in table {
        let mut desk = ask(&reviewed(0));
        desk.reply_next("It scatters.");
        desk.reply_next(words);
        assert_eq!(desk.result().status, status, "{words}");
        assert_eq!(answer(desk.result()), "It scatters.");
    }
}

#[test]
fn direct_does_not_trust_the_pass_of_a_judge_that_was_cut_off() {
    let mut desk = ask(&reviewed(0));
    desk.reply_next("It scatters.");
    let judge = desk.sent();
    desk.cut_reply(&judge, "PASS would be wrong, for");
    let result = desk.result();
    assert_eq!(result.stop_reason, StopReason::ReviewFailed);
    assert_eq!(result.decisions[0].what.as_str(), "review gave no verdict");
}

#[test]
fn direct_keeps_its_answer_when_the_review_is_refused() {
    let mut started = direct(&reviewed(1), AMPLE);
    started.contract.recursion.max_depth = 0;
    let mut desk = ManualHost::open(BuiltInPrograms, started);
    desk.reply_next("It scatters.");
    let result = desk.result();
    assert_eq!(
        (result.status, &result.stop_reason),
        (EpisodeStatus::NeedsReview, &StopReason::DepthExceeded)
    );
    assert_eq!(answer(result), "It scatters.");
    assert!(result.verification_needed);
}

#[test]
fn direct_asks_again_after_an_empty_reply_and_stops_at_the_third() {
    let mut desk = ask(&DirectConfig::default());
    for _ in 0..3 {
        let sent = desk.sent();
        desk.fail(&sent, billed(FailureKind::Empty, 20, 0));
    }
    let class = ErrorClass::Model(FailureKind::Empty);
    assert_eq!(
        desk.result().stop_reason,
        StopReason::RepeatedFailure { class, count: 3 }
    );

    let mut desk = ask(&DirectConfig::default());
    for _ in 0..2 {
        let sent = desk.sent();
        desk.fail(&sent, billed(FailureKind::Empty, 20, 0));
    }
    desk.reply_next("It scatters.");
    assert_eq!(answer(desk.result()), "It scatters.");
}

#[test]
fn direct_repeats_the_same_request_after_an_empty_reply() {
    let mut desk = ask(&DirectConfig::default());
    let first = desk.sent();
    desk.cut_reply(&first, "Because light ");
    let second = desk.sent();
    desk.fail(&second, billed(FailureKind::Empty, 20, 0));
    let third = desk.sent();
    assert_eq!(third.request, second.request, "still a continuation");
    desk.reply(&third, "scatters.");
    assert_eq!(answer(desk.result()), "Because light scatters.");
}

#[test]
fn direct_fails_with_the_failure_of_its_call() {
    let mut desk = ask(&DirectConfig::default());
    let sent = desk.sent();
    desk.delta(&sent, "I will not");
    desk.fail(&sent, billed(FailureKind::Refused, 20, 3));
    let class = ErrorClass::Model(FailureKind::Refused);
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::Failed);
    assert_eq!(result.stop_reason, StopReason::Failure { class });
    assert_eq!(answer(result), "I will not");
}

#[test]
fn direct_takes_the_partial_text_of_a_failure_over_what_it_heard() {
    let mut desk = ask(&DirectConfig::default());
    let sent = desk.sent();
    desk.delta(&sent, "I will");
    let failure = ModelFailure {
        partial: "I will not say".into(),
        ..billed(FailureKind::Refused, 20, 3)
    };
    desk.fail(&sent, failure);
    assert_eq!(answer(desk.result()), "I will not say");
}

#[test]
fn direct_refuses_a_window_too_small_for_the_question() {
    let mut desk = ManualHost::new(BuiltInPrograms);
    desk.window_tokens = Some(30);
    desk.start(direct(&DirectConfig::default(), AMPLE));
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::Failed);
    assert_eq!(
        result.stop_reason,
        StopReason::TokenBudget {
            field: HeaderField::Prompt,
            tokens: 20,
            limit: 0,
        }
    );
}

#[test]
fn direct_keeps_what_was_said_when_it_is_stopped() {
    for stop in [
        StopReason::Cancelled,
        StopReason::BudgetExhausted {
            dimension: Dimension::Time,
        },
    ] {
        let mut desk = ask(&DirectConfig::default());
        let first = desk.sent();
        desk.cut_reply(&first, "Because ");
        let second = desk.sent();
        desk.delta(&second, "light ");
        desk.delta(&second, "sca");
        if stop == StopReason::Cancelled {
            desk.signal(&Signal::Cancel);
        } else {
            desk.ring(&EpisodeId::root());
        }
        desk.fail(&second, ModelFailure::sent(FailureKind::Cancelled, ""));
        assert_eq!(desk.result().stop_reason, stop);
        assert_eq!(answer(desk.result()), "Because light sca");
    }
}

#[test]
fn direct_drops_what_a_former_attempt_said() {
    let mut desk = ask(&DirectConfig::default());
    let first = desk.sent();
    desk.delta(&first, "Wrong ");
    desk.fail(&first, rate_limited(Millis(1)));
    let second = desk.sent();
    desk.delta(&first, "beginning ");
    desk.delta(&second, "Right");
    desk.signal(&Signal::Cancel);
    desk.fail(&second, ModelFailure::sent(FailureKind::Cancelled, ""));
    assert_eq!(answer(desk.result()), "Right");
}

#[test]
fn direct_keeps_the_former_answer_until_the_new_one_is_whole() {
    let mut desk = ask(&reviewed(1));
    desk.reply_next("It is blue.");
    desk.reply_next("FAIL: no cause.");
    let revision = desk.sent();
    desk.delta(&revision, "It sc");
    desk.signal(&Signal::Cancel);
    desk.fail(&revision, ModelFailure::sent(FailureKind::Cancelled, ""));
    assert_eq!(answer(desk.result()), "It is blue.");
}

#[test]
fn direct_a_happy_run_record_by_record() {
    let params = DirectConfig {
        output_tokens_max: 64,
        ..reviewed(0)
    };
    let mut desk = ask(&params);
    let sent = desk.sent();
    desk.wait(Millis(20));
    desk.delta(&sent, "It scat");
    desk.wait(Millis(30));
    desk.reply(&sent, "It scatters.");
    desk.reply_next("PASS, it names the cause.");
    assert_eq!(desk.result().status, EpisodeStatus::Ok);
    let lines: Vec<String> = desk
        .log
        .entries
        .iter()
        .map(|entry| {
            let record = serde_json::to_string(&entry.record).unwrap();
            format!("{} {record}", entry.episode)
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}
