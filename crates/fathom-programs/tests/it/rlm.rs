//! `rlm`: code in turns, questions of cells, and what becomes of limits and failures.

use fathom_core::budget::amounts::{Amounts, Dimension};
use fathom_core::contract::stop::StopReason;
use fathom_core::episode::result::{EpisodeResult, EpisodeStatus};
use fathom_core::id::{AskId, Digest, EpisodeId};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EpisodeSpec, EventKind, ModelCallOutcome, ReleaseReason};
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{ModelReply, ModelRole};
use fathom_core::run::step::HostStep;
use fathom_core::sandbox::{
    CellAnswer, CellCall, CellError, CellErrorKind, CellExceptionKind, CellLimits, CellOutcome,
    CellOutput, CellQuestion, CellReply, CellResult, CellTask, CellValue, ContextSource,
    ValueFormat,
};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars};
use fathom_programs::BuiltInPrograms;
use fathom_programs::rlm::{self, MaterialItem, MaterialSource, RlmConfig, RlmReport};
use fathom_testkit::manual_host::{ManualHost, host, samples};

pub(crate) const RICH: Amounts = Amounts {
    tokens: 100_000_000,
    calls: 100_000,
    tools: 0,
    money: Nanodollars(u64::MAX / 4),
    episodes: 4000,
};

fn given() -> MaterialItem {
    MaterialItem {
        name: "log.txt".into(),
        form: ValueFormat::Text,
        bytes: 50_000_000,
        chars: 50_000_000,
        lines: 700_000,
        preview: "2026-01-01 boot".into(),
        digest: Digest::default(),
        place: MaterialSource::File {
            path: "/data/log.txt".into(),
        },
    }
}

pub(crate) fn params() -> RlmConfig {
    RlmConfig {
        given: vec![given()],
        ..RlmConfig::default()
    }
}

pub(crate) fn started(params: &RlmConfig, amounts: Amounts) -> EpisodeSpec {
    let mut started = samples::root(amounts);
    started.goal = "Which host failed first?".into();
    started.program = params.spec();
    let policy = &mut started.contract.recursion;
    policy.allowed_child_types = vec![rlm::NAME.into()];
    policy.max_children = 2000;
    policy.max_total_episodes = 4000;
    started
}

pub(crate) fn open(params: &RlmConfig) -> ManualHost {
    ManualHost::open(BuiltInPrograms, started(params, RICH))
}

/// The cell that is to be run next.
#[track_caller]
pub(crate) fn cell(desk: &mut ManualHost) -> (EpisodeId, AskId, String, ContextSource) {
    let place = desk.steps.iter().position(|step| {
        matches!(
            step,
            HostStep::Host {
                command: Command::RunCell { .. },
                ..
            }
        )
    });
    match place.map(|place| desk.steps.remove(place)) {
        Some(HostStep::Host {
            episode,
            ask,
            command: Command::RunCell { code, context, .. },
        }) => (episode, ask, code.as_str().to_owned(), context),
        _ => panic!("no cell is run; there is {:?}", desk.steps),
    }
}

/// What the cell was answered next.
#[track_caller]
fn answer(desk: &mut ManualHost) -> CellAnswer {
    let place = desk.steps.iter().position(|step| {
        matches!(
            step,
            HostStep::Host {
                command: Command::AnswerCell { .. },
                ..
            }
        )
    });
    match place.map(|place| desk.steps.remove(place)) {
        Some(HostStep::Host {
            command: Command::AnswerCell { answer, .. },
            ..
        }) => *answer,
        _ => panic!("no answer; there is {:?}", desk.steps),
    }
}

#[track_caller]
pub(crate) fn outcomes(desk: &mut ManualHost) -> Vec<CellOutcome> {
    match answer(desk).reply {
        CellReply::Each(outcomes) => outcomes,
        CellReply::Budget(_) => panic!("that is a budget"),
    }
}

pub(crate) fn said(text: &str) -> CellOutcome {
    CellOutcome::Said(text.into())
}

pub(crate) fn kind(outcome: &CellOutcome) -> Option<CellExceptionKind> {
    match outcome {
        CellOutcome::Said(_) | CellOutcome::Chosen { .. } => None,
        CellOutcome::Fault(fault) => Some(fault.kind),
    }
}

pub(crate) fn query(id: u32, prompts: &[&str]) -> CellQuestion {
    CellQuestion {
        id,
        draft: None,
        call: CellCall::Query {
            prompts: prompts.iter().map(|text| Text::from(*text)).collect(),
            pattern: None,
            tokens_max: None,
        },
    }
}

pub(crate) fn ask(
    desk: &mut ManualHost,
    (episode, cell): (&EpisodeId, AskId),
    question: CellQuestion,
) {
    let question = Box::new(question);
    desk.deliver(
        episode,
        EventKind::CellYielded {
            ask: cell,
            question,
        },
    );
}

pub(crate) fn printed(text: &str) -> CellResult {
    CellResult {
        output: CellOutput {
            head: text.into(),
            tail: None,
            bytes: text.len() as u64,
        },
        ..CellResult::default()
    }
}

pub(crate) fn submitted(text: &str) -> CellResult {
    CellResult {
        submitted: Some(CellValue {
            form: ValueFormat::Text,
            text: text.into(),
        }),
        ..CellResult::default()
    }
}

pub(crate) fn end(desk: &mut ManualHost, episode: &EpisodeId, ask: AskId, end: CellResult) {
    let end = Box::new(end);
    desk.deliver(episode, EventKind::CellFinished { ask, end });
}

/// Lets the model write `code`, and gives the cell that runs it.
#[track_caller]
pub(crate) fn write(desk: &mut ManualHost, code: &str) -> (EpisodeId, AskId) {
    desk.reply_next(&format!("Next:\n```repl\n{code}\n```"));
    let (episode, ask, run, _) = cell(desk);
    assert_eq!(run, code);
    (episode, ask)
}

pub(crate) fn report(result: &EpisodeResult) -> RlmReport {
    let text = result.report.as_ref().map_or("", Text::as_str);
    serde_json::from_str(text).expect("the report is JSON")
}

pub(crate) fn text(result: &EpisodeResult) -> &str {
    result.answer.as_ref().map_or("", Text::as_str)
}

#[test]
fn r01_the_model_sees_size_and_preview_writes_code_and_submits() {
    let mut desk = open(&params());
    let sent = desk.sent();
    let system = sent.request.messages[0].text.as_str().to_owned();
    for part in [
        "50000000 characters",
        "700000 lines",
        "2026-01-01 boot",
        "Which host failed first?",
    ] {
        assert!(system.contains(part), "{part} in {system}");
    }
    desk.reply(&sent, "```repl\nprint(len(context))\n```");
    let (root, ask, code, context) = cell(&mut desk);
    assert_eq!(
        (code.as_str(), context),
        ("print(len(context))", ContextSource::Given)
    );
    end(&mut desk, &root, ask, printed("50000000\n"));
    let sent = desk.sent();
    let last = sent.request.messages.last().expect("there is a prompt");
    assert!(last.text.as_str().starts_with("50000000\n["), "{last:?}");
    desk.reply(&sent, "```repl\nSUBMIT('web-3')\n```");
    let (root, ask, ..) = cell(&mut desk);
    end(&mut desk, &root, ask, submitted("web-3"));
    let result = desk.result();
    assert_eq!((result.status, text(result)), (EpisodeStatus::Ok, "web-3"));
    assert_eq!(report(result).iterations, 2);
    assert_eq!(report(result).cells.len(), 2);
}

#[test]
fn r01_output_is_bounded_and_says_how_much_there_was() {
    let mut desk = open(&params());
    let (root, ask) = write(&mut desk, "print(context)");
    let output = CellOutput {
        head: "a".repeat(10).into(),
        tail: Some("z".repeat(10).into()),
        bytes: 5_000,
    };
    end(
        &mut desk,
        &root,
        ask,
        CellResult {
            output,
            ..CellResult::default()
        },
    );
    let sent = desk.sent();
    let last = sent.request.messages.last().expect("there is a prompt");
    assert!(
        last.text.as_str().contains("4980 of 5000 bytes left out"),
        "{last:?}"
    );
}

#[test]
fn r02_a_batch_is_asked_at_once_of_the_sub_model_and_answered_in_order() {
    let mut desk = open(&params());
    let (root, cell) = write(&mut desk, "r = llm_query_batched(ps)");
    ask(
        &mut desk,
        (&root, cell),
        query(0, &["first", "second", "third"]),
    );
    assert_eq!(desk.calls_out(), 3);
    let calls = [desk.sent(), desk.sent(), desk.sent()];
    assert!(calls.iter().all(|call| call.model == ModelRole::Sub));
    for call in calls.iter().rev() {
        let prompt = call.request.messages[0].text.as_str().to_owned();
        desk.reply(call, &format!("{prompt}!"));
    }
    assert_eq!(
        outcomes(&mut desk),
        [said("first!"), said("second!"), said("third!")]
    );
    end(&mut desk, &root, cell, submitted("done"));
    assert_eq!(report(desk.result()).subcalls, 3);
}

#[test]
fn r02_children_get_what_the_cell_hands_over() {
    let mut desk = open(&params());
    let (root, running) = write(&mut desk, "rlm_query('what?', context=part)");
    let tasks = vec![
        CellTask {
            goal: "what?".into(),
            context: Some(CellValue {
                form: ValueFormat::Text,
                text: "a part\nof it".into(),
            }),
        },
        CellTask {
            goal: "who?".into(),
            context: None,
        },
    ];
    let question = CellQuestion {
        id: 7,
        draft: None,
        call: CellCall::Recurse { tasks },
    };
    ask(&mut desk, (&root, running), question);
    let first = desk.sent();
    assert_eq!(first.episode, host::at(&[0]));
    let system = first.request.messages[0].text.as_str().to_owned();
    assert!(system.contains("12 characters, 2 lines"), "{system}");
    desk.reply(&first, "```repl\nSUBMIT(context)\n```");
    let (child, child_cell, _, context) = cell(&mut desk);
    let expected = ContextSource::Passed {
        depth: Some(0),
        cell: running,
        question: 7,
        task: 0,
    };
    assert_eq!(context, expected);
    end(&mut desk, &child, child_cell, submitted("a part"));
    assert!(desk.steps.contains(&HostStep::Over {
        episode: host::at(&[0])
    }));
    let second = desk.reply_next("```repl\nSUBMIT(1)\n```");
    assert_eq!(second.episode, host::at(&[1]));
    let (child, child_cell, _, context) = cell(&mut desk);
    assert_eq!(context, ContextSource::Given);
    end(&mut desk, &child, child_cell, submitted("someone"));
    assert_eq!(outcomes(&mut desk), [said("a part"), said("someone")]);
    end(&mut desk, &root, running, submitted("done"));
    assert_eq!(report(desk.result()).children, 2);
}

/// Journals from before the depth was noted.
#[test]
fn r07_a_part_without_the_depth_of_its_owner_can_be_read() {
    let old = r#"{"kind":"passed","cell":1,"question":7,"task":0}"#;
    let read: ContextSource = serde_json::from_str(old).expect("it is read");
    assert!(matches!(read, ContextSource::Passed { depth: None, .. }));
    assert_eq!(serde_json::to_string(&read).expect("JSON"), old);
    let old = r#"{"time":1,"memory":2,"output":3,"questions":4}"#;
    let read: CellLimits = serde_json::from_str(old).expect("it is read");
    assert_eq!(read.question_bytes, CellLimits::default().question_bytes);
}

/// Parts of one input may have the same answer: that is data, not a lack of progress.
#[test]
fn r02_many_children_with_the_same_answer_do_not_stop_the_run() {
    let mut desk = open(&params());
    let (root, running) = write(&mut desk, "rlm_query_batched(qs)");
    let task = |n: u32| CellTask {
        goal: format!("part {n}").into(),
        context: None,
    };
    let question = CellQuestion {
        id: 0,
        draft: None,
        call: CellCall::Recurse {
            tasks: (0..50).map(task).collect(),
        },
    };
    ask(&mut desk, (&root, running), question);
    for _ in 0..50 {
        desk.reply_next("```repl\nSUBMIT('no')\n```");
        let (child, child_cell, ..) = cell(&mut desk);
        end(&mut desk, &child, child_cell, submitted("no"));
    }
    assert_eq!(outcomes(&mut desk), vec![said("no"); 50]);
}

#[test]
fn r04_failures_reach_the_cell_as_what_they_are() {
    let mut desk = open(&params());
    desk.window_tokens = Some(4_000);
    let (root, running) = write(&mut desk, "llm_query_batched(ps)");
    let long = "x".repeat(9_000);
    let prompts = ["a", "b", "c", "d", "e", "f", "", long.as_str(), "g"];
    ask(&mut desk, (&root, running), query(0, &prompts));
    assert_eq!(desk.calls_out(), 7);
    let failures = [
        FailureKind::Refused,
        FailureKind::Empty,
        FailureKind::TooLarge,
        FailureKind::Malformed,
        FailureKind::Auth,
    ];
    for kind in failures {
        let call = desk.sent();
        desk.fail(&call, ModelFailure::sent(kind, "as it goes"));
    }
    let cut = desk.sent();
    desk.cut_reply(&cut, "half of");
    desk.reply_next("whole");
    let outcomes = outcomes(&mut desk);
    let kinds: Vec<_> = outcomes.iter().map(kind).collect();
    assert_eq!(
        kinds,
        [
            Some(CellExceptionKind::Refused),
            Some(CellExceptionKind::Empty),
            Some(CellExceptionKind::TooLarge),
            Some(CellExceptionKind::Unavailable),
            Some(CellExceptionKind::Unavailable),
            Some(CellExceptionKind::Truncated),
            Some(CellExceptionKind::Refused),
            Some(CellExceptionKind::TooLarge),
            None,
        ]
    );
    let CellOutcome::Fault(cut) = &outcomes[5] else {
        panic!("that was cut");
    };
    assert_eq!(cut.partial, Some("half of".into()));
    let CellOutcome::Fault(large) = &outcomes[7] else {
        panic!("that is too large");
    };
    let message = large.message.as_str();
    assert!(
        message.contains("9000") && message.contains("3984"),
        "{message}"
    );
    // None of that stops the episode.
    end(&mut desk, &root, running, submitted("done"));
    assert_eq!(desk.result().status, EpisodeStatus::Ok);
}

#[test]
fn r05_code_can_read_what_is_left() {
    let mut desk = open(&params());
    let (root, running) = write(&mut desk, "budget()");
    let (id, call, draft) = (3, CellCall::Budget, None);
    let question = CellQuestion { id, call, draft };
    ask(&mut desk, (&root, running), question);
    let CellAnswer {
        id: 3,
        reply: CellReply::Budget(budget),
    } = answer(&mut desk)
    else {
        panic!("that is no budget");
    };
    assert_eq!(budget.left.calls, RICH.calls - 1);
    assert!(budget.time_left > Millis(0));
}

/// The call cap over a batch of a thousand: nothing over, and what came back is kept.
#[test]
fn r04_a_thousand_calls_stay_within_the_budget() {
    let amounts = Amounts { calls: 300, ..RICH };
    let mut desk = ManualHost::open(BuiltInPrograms, started(&params(), amounts));
    let (root, running) = write(&mut desk, "llm_query_batched(ps)");
    let prompts: Vec<String> = (0..1000).map(|n| format!("part {n}")).collect();
    let prompts: Vec<&str> = prompts.iter().map(String::as_str).collect();
    ask(&mut desk, (&root, running), query(0, &prompts));
    let mut answered = 0;
    while desk.calls_out() > 0 {
        desk.reply_next("found");
        answered += 1;
    }
    let outcomes = outcomes(&mut desk);
    let good = outcomes.iter().filter(|one| **one == said("found")).count();
    assert_eq!(good, answered);
    assert!(
        outcomes
            .iter()
            .all(|one| kind(one).is_none_or(|kind| kind == CellExceptionKind::BudgetExceeded))
    );
    let draft = CellResult {
        draft: Some(CellValue {
            form: ValueFormat::Text,
            text: "what there is".into(),
        }),
        ..printed("the budget ended")
    };
    end(&mut desk, &root, running, draft);
    if desk.calls_out() > 0 {
        desk.reply_next("I am out of budget.");
    }
    let result = desk.result();
    assert!(result.budget.spent.calls <= 300, "{:?}", result.budget);
    assert_eq!(result.status, EpisodeStatus::NeedsReview);
    assert_eq!(text(result), "what there is");
    assert_eq!(report(result).subcalls, answered as u64);
    assert_eq!(
        result.stop_reason,
        StopReason::BudgetExhausted {
            dimension: Dimension::Calls
        }
    );
}

#[test]
fn r02_the_same_prompt_is_asked_once_in_a_run() {
    let mut desk = open(&params());
    let (root, running) = write(&mut desk, "llm_query_batched(['a', 'a', 'b'])");
    ask(&mut desk, (&root, running), query(0, &["a", "a", "b"]));
    assert_eq!(desk.calls_out(), 2);
    desk.reply_next("1");
    desk.reply_next("2");
    assert_eq!(outcomes(&mut desk), [said("1"), said("1"), said("2")]);
    ask(&mut desk, (&root, running), query(1, &["b"]));
    assert_eq!(desk.calls_out(), 0);
    assert_eq!(outcomes(&mut desk), [said("2")]);
    end(&mut desk, &root, running, submitted("done"));
    let report = report(desk.result());
    assert_eq!((report.subcalls, report.memoised), (2, 2));
}

/// How sure the model was reaches the code, also when the answer is one of before.
#[test]
fn r02_a_choice_is_told_with_how_far_it_leads() {
    let mut desk = open(&params());
    let (root, running) = write(&mut desk, "llm_query('a')");
    ask(&mut desk, (&root, running), query(0, &["a"]));
    let sent = desk.sent();
    let reply = ModelReply {
        margin_milli: Some(-250),
        ..samples::reply(sent.input_tokens(), "no")
    };
    desk.answer(&sent, ModelCallOutcome::Replied(reply));
    let chosen = [CellOutcome::Chosen {
        text: "no".into(),
        margin_milli: -250,
    }];
    assert_eq!(outcomes(&mut desk), chosen);
    ask(&mut desk, (&root, running), query(1, &["a"]));
    assert_eq!(outcomes(&mut desk), chosen);
}

/// Two children that each run a cell, and the cell of the root that asked for them.
fn two_children(desk: &mut ManualHost) -> (AskId, [(EpisodeId, AskId); 2]) {
    let (root, running) = write(desk, "rlm_query_batched(qs)");
    let task = |n: u32| CellTask {
        goal: format!("part {n}").into(),
        context: None,
    };
    let question = CellQuestion {
        id: 0,
        draft: None,
        call: CellCall::Recurse {
            tasks: vec![task(0), task(1)],
        },
    };
    ask(desk, (&root, running), question);
    let cells = [write(desk, "llm_query('a')"), write(desk, "llm_query('a')")];
    (running, cells)
}

#[test]
fn r02_children_that_ask_the_same_are_told_what_one_of_them_was() {
    let mut desk = open(&params());
    let (running, [(first, one), (second, two)]) = two_children(&mut desk);
    ask(&mut desk, (&first, one), query(0, &["a", "b"]));
    ask(&mut desk, (&second, two), query(0, &["a"]));
    assert_eq!(desk.calls_out(), 2, "`a` is on its way already");
    desk.reply_next("A");
    assert_eq!(outcomes(&mut desk), [said("A")]);
    end(&mut desk, &second, two, submitted("2"));
    desk.reply_next("B");
    assert_eq!(outcomes(&mut desk), [said("A"), said("B")]);
    end(&mut desk, &first, one, submitted("1"));
    assert_eq!(outcomes(&mut desk), [said("1"), said("2")]);
    // It is known to those who ask later, and to a new owner.
    desk.hand_over(ReleaseReason::Interrupted, Millis(1));
    ask(&mut desk, (&host::at(&[]), running), query(1, &["b", "a"]));
    assert_eq!(outcomes(&mut desk), [said("B"), said("A")]);
    end(&mut desk, &host::at(&[]), running, submitted("done"));
    let report = report(desk.result());
    assert_eq!((report.subcalls, report.memoised), (0, 2));
    // Three turns, and each prompt once.
    assert_eq!(desk.result().budget.spent.calls, 5);
}

#[test]
fn r02_whoever_waits_for_a_call_that_brings_nothing_asks() {
    for way in ["it fails", "it is cut", "nobody wants it any more"] {
        let mut desk = open(&params());
        let (_, [(first, one), (second, two)]) = two_children(&mut desk);
        ask(&mut desk, (&first, one), query(0, &["a"]));
        ask(&mut desk, (&second, two), query(0, &["a"]));
        let call = desk.sent();
        assert_eq!((&call.episode, desk.calls_out()), (&first, 0));
        match way {
            "it fails" => desk.fail(&call, ModelFailure::sent(FailureKind::Empty, "nothing")),
            "it is cut" => desk.cut_reply(&call, "A"),
            _ => {
                end(&mut desk, &first, one, submitted("1"));
                desk.fail(
                    &call,
                    ModelFailure::sent(FailureKind::Cancelled, "given up"),
                );
            }
        }
        desk.steps
            .retain(|step| !matches!(step, HostStep::Host { .. }));
        let call = desk.reply_next("A");
        assert_eq!(call.episode, second, "{way}");
        assert_eq!(outcomes(&mut desk), [said("A")], "{way}");
    }
}

#[test]
fn r02_a_prompt_with_another_pattern_or_cap_is_another_one() {
    let mut desk = open(&params());
    let (root, running) = write(&mut desk, "llm_query('a', pattern='b')");
    let asked = [(None, None), (Some("b"), None), (None, Some(5))];
    for (id, (pattern, tokens_max)) in (0..).zip(asked) {
        let call = CellCall::Query {
            prompts: vec!["a".into()],
            pattern: pattern.map(Text::from),
            tokens_max,
        };
        ask(
            &mut desk,
            (&root, running),
            CellQuestion {
                id,
                call,
                draft: None,
            },
        );
    }
    assert_eq!(desk.calls_out(), 3);
}

pub(crate) fn children(id: u32, count: usize) -> CellQuestion {
    let task = CellTask {
        goal: "a part".into(),
        context: None,
    };
    CellQuestion {
        id,
        draft: None,
        call: CellCall::Recurse {
            tasks: vec![task; count],
        },
    }
}

/// Every cell counts its questions from one, so a number alone does not say whose it is.
#[test]
fn r04_a_late_reply_answers_no_question_of_a_later_cell() {
    let mut desk = open(&params());
    let (root, first) = write(&mut desk, "thread(llm_query, 'a')");
    ask(&mut desk, (&root, first), query(1, &["a"]));
    let late = desk.sent();
    end(&mut desk, &root, first, printed("on"));
    assert_eq!(desk.cancelled(), [(root.clone(), late.ask, late.attempt)]);
    let (_, second) = write(&mut desk, "llm_query('b')");
    ask(&mut desk, (&root, second), query(1, &["b"]));
    let call = desk.sent();
    desk.reply(&late, "A");
    desk.reply(&call, "B");
    assert_eq!(outcomes(&mut desk), [said("B")]);
    // It was said all the same, and paid for.
    ask(&mut desk, (&root, second), query(2, &["a"]));
    assert_eq!(
        (desk.calls_out(), outcomes(&mut desk)),
        (0, vec![said("A")])
    );
}

#[test]
fn r04_children_of_a_cell_that_ended_are_given_up_and_the_run_goes_on() {
    let mut started = started(&params(), RICH);
    // One child has room; the other waits for it to end, and would be refused then.
    started.contract.recursion.max_total_episodes = 2;
    let mut desk = ManualHost::open(BuiltInPrograms, started);
    let (root, first) = write(&mut desk, "thread(rlm_query_batched, qs)");
    ask(&mut desk, (&root, first), children(1, 2));
    let call = desk.sent();
    assert_eq!(call.episode, host::at(&[0]));
    end(&mut desk, &root, first, printed("on"));
    let turn = desk.sent();
    assert_eq!(turn.episode, root);
    assert_eq!(
        desk.cancelled(),
        [(call.episode.clone(), call.ask, call.attempt)]
    );
    desk.reply(&call, "too late");
    assert!(desk.steps.contains(&HostStep::Over {
        episode: host::at(&[0])
    }));
    desk.reply(&turn, "```repl\nSUBMIT('web-3')\n```");
    let (root, second, ..) = cell(&mut desk);
    end(&mut desk, &root, second, submitted("web-3"));
    let result = desk.result();
    assert_eq!((result.status, text(result)), (EpisodeStatus::Ok, "web-3"));
}

/// Leaf calls stop at the closing mark; what is left is the model's, to say what it found.
#[test]
fn r04_past_the_closing_mark_the_model_has_its_last_turn() {
    let amounts = Amounts { calls: 10, ..RICH };
    let mut desk = ManualHost::open(BuiltInPrograms, started(&params(), amounts));
    let (root, running) = write(&mut desk, "llm_query_batched(ps)");
    let prompts: Vec<String> = (0..20).map(|n| format!("part {n}")).collect();
    let prompts: Vec<&str> = prompts.iter().map(String::as_str).collect();
    ask(&mut desk, (&root, running), query(0, &prompts));
    while desk.calls_out() > 0 {
        desk.reply_next("found");
    }
    let outcomes = outcomes(&mut desk);
    let refused = Some(CellExceptionKind::BudgetExceeded);
    assert!(outcomes[..6].iter().all(|one| *one == said("found")));
    assert!(outcomes[6..].iter().all(|one| kind(one) == refused));
    end(&mut desk, &root, running, printed("6 of 20"));
    let sent = desk.sent();
    let last = sent.request.messages.last().expect("there is a prompt");
    assert!(last.text.as_str().contains("last turn"), "{last:?}");
    desk.reply(&sent, "It was web-3.");
    let result = desk.result();
    assert_eq!(text(result), "It was web-3.");
    assert_eq!(result.budget.spent.calls, 8);
}

/// What failed is no answer to remember.
#[test]
fn r04_a_failed_prompt_can_be_asked_again() {
    let mut desk = open(&params());
    let (root, running) = write(&mut desk, "llm_query('a')");
    ask(&mut desk, (&root, running), query(0, &["a"]));
    let call = desk.sent();
    desk.fail(&call, ModelFailure::sent(FailureKind::Empty, "nothing"));
    assert_eq!(
        kind(&outcomes(&mut desk)[0]),
        Some(CellExceptionKind::Empty)
    );
    ask(&mut desk, (&root, running), query(1, &["a"]));
    desk.reply_next("now");
    assert_eq!(outcomes(&mut desk), [said("now")]);
}

#[test]
fn r01_prose_is_nudged_and_ends_in_the_end() {
    let mut desk = open(&params());
    desk.reply_next("I think I should look at it.");
    let sent = desk.sent();
    let last = sent.request.messages.last().expect("there is a prompt");
    assert!(last.text.as_str().contains("no code"), "{last:?}");
    desk.reply(&sent, "Yes.");
    desk.reply_next("Indeed.");
    desk.reply_next("It was probably web-3.");
    let result = desk.result();
    assert_eq!(result.stop_reason, StopReason::NoNewInformation);
    assert_eq!(result.status, EpisodeStatus::NeedsReview);
    assert_eq!(text(result), "It was probably web-3.");
}

#[test]
fn r01_a_run_that_goes_in_circles_ends() {
    let mut desk = open(&params());
    for _ in 0..3 {
        let (root, ask) = write(&mut desk, "print(1)");
        end(&mut desk, &root, ask, printed("1"));
    }
    assert_eq!(desk.result().stop_reason, StopReason::NoNewInformation);
}

#[test]
fn r03_a_cell_that_was_ended_is_told_and_the_run_goes_on() {
    let mut desk = open(&params());
    let (root, ask) = write(&mut desk, "while True: pass");
    let ended = CellResult {
        error: Some(CellError {
            kind: CellErrorKind::TimedOut,
            message: "the cell worked for more than 30 s".into(),
        }),
        ..CellResult::default()
    };
    end(&mut desk, &root, ask, ended);
    let sent = desk.sent();
    let last = sent.request.messages.last().expect("there is a prompt");
    for part in ["more than 30 s", "before this cell"] {
        assert!(last.text.as_str().contains(part), "{last:?}");
    }
    desk.reply(&sent, "```repl\nSUBMIT(1)\n```");
    let (root, ask, ..) = cell(&mut desk);
    end(&mut desk, &root, ask, submitted("1"));
    assert_eq!(desk.result().status, EpisodeStatus::Ok);
}

#[test]
fn r01_an_answer_that_does_not_meet_the_schema_is_asked_for_again() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"host": {"type": "string"}},
        "required": ["host"],
    });
    let params = RlmConfig {
        schema: Some(schema),
        ..params()
    };
    let mut desk = open(&params);
    let (root, ask) = write(&mut desk, "SUBMIT('web-3')");
    end(&mut desk, &root, ask, submitted("web-3"));
    let sent = desk.sent();
    let last = sent.request.messages.last().expect("there is a prompt");
    assert!(last.text.as_str().contains("schema"), "{last:?}");
    desk.reply(&sent, "```repl\nSUBMIT({'host': 'web-3'})\n```");
    let (root, ask, ..) = cell(&mut desk);
    let json = CellResult {
        submitted: Some(CellValue {
            form: ValueFormat::Json,
            text: r#"{"host": "web-3"}"#.into(),
        }),
        ..CellResult::default()
    };
    end(&mut desk, &root, ask, json);
    assert_eq!(desk.result().status, EpisodeStatus::Ok);
    assert!(report(desk.result()).is_json);
}

/// Who submits what is not taken sees what the cell printed, and does not submit it for ever.
#[test]
fn r01_a_submission_that_is_not_taken_is_a_turn_like_any_other() {
    let params = RlmConfig {
        schema: Some(serde_json::json!({"type": "integer"})),
        ..params()
    };
    let mut desk = open(&params);
    for turn in 0..3 {
        let sent = desk.reply_next("```repl\nprint(found)\nSUBMIT(found)\n```");
        let last = sent.request.messages.last().expect("there is a prompt");
        let said = last.text.as_str();
        let is_told = said.contains("many of them") && said.contains("schema");
        assert_eq!(is_told, turn > 0, "{last:?}");
        let (root, ask, ..) = cell(&mut desk);
        let ended = CellResult {
            submitted: submitted("many").submitted,
            ..printed("many of them")
        };
        end(&mut desk, &root, ask, ended);
    }
    let result = desk.result();
    assert_eq!(result.stop_reason, StopReason::NoNewInformation);
    assert_eq!(text(result), "many");
}

#[test]
fn r04_half_an_answer_is_not_taken_for_one() {
    let mut desk = open(&params());
    let sent = desk.sent();
    desk.cut_reply(&sent, "FINAL(The causes are: 1) disk, 2)");
    let sent = desk.sent();
    let last = sent.request.messages.last().expect("there is a prompt");
    assert!(last.text.as_str().contains("cut off"), "{last:?}");
    desk.reply(&sent, "FINAL(disk and fan)");
    let result = desk.result();
    assert_eq!(
        (result.status, text(result)),
        (EpisodeStatus::Ok, "disk and fan")
    );
}

#[test]
fn r01_a_string_that_looks_like_json_is_still_a_string() {
    for (kind, answer) in [
        ("string", "12345"),
        ("number", "12345"),
        ("string", "web-3"),
    ] {
        let params = RlmConfig {
            schema: Some(serde_json::json!({"type": kind})),
            ..params()
        };
        let mut desk = open(&params);
        let (root, ask) = write(&mut desk, "SUBMIT(found)");
        end(&mut desk, &root, ask, submitted(answer));
        let result = desk.result();
        assert_eq!((result.status, text(result)), (EpisodeStatus::Ok, answer));
    }
}

/// A dead owner's cell is run again; its calls that were answered stay answered.
#[test]
fn r07_a_restart_says_the_cell_and_the_open_calls_again() {
    let mut desk = open(&params());
    let (root, running) = write(&mut desk, "llm_query_batched(ps)");
    ask(&mut desk, (&root, running), query(0, &["a", "b"]));
    desk.reply_next("A");
    desk.take_over();
    let (_, again, code, _) = cell(&mut desk);
    assert_eq!((again, code.as_str()), (running, "llm_query_batched(ps)"));
    // The answer to `a` is in the journal; `b` goes out again.
    assert_eq!(desk.calls_out(), 1);
    let call = desk.sent();
    assert_eq!(call.request.messages[0].text.as_str(), "b");
    desk.reply(&call, "B");
    assert_eq!(outcomes(&mut desk), [said("A"), said("B")]);
}
