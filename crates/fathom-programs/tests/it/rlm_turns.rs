//! `rlm` where a turn brings no answer of itself: words, empty replies, the last call, and calls that many wait for.

use fathom_core::budget::amounts::{Amounts, Dimension};
use fathom_core::contract::stop::StopReason;
use fathom_core::episode::result::EpisodeStatus;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::Command;
use fathom_core::model::ModelRequest;
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::run::step::HostStep;
use fathom_core::sandbox::{
    CellError, CellErrorKind, CellExceptionKind, CellQuestion, CellResult, CellValue, ValueFormat,
};
use fathom_programs::BuiltInPrograms;
use fathom_programs::rlm::RlmConfig;

use crate::rlm::{
    RICH, ask, cell, children, end, kind, open, outcomes, params, printed, query, report, said,
    started, submitted, text, write,
};
use fathom_testkit::manual_host::host::ManualHost;

/// Many templates refuse what is not said in turns.
#[track_caller]
fn assert_turns(request: &ModelRequest) {
    let mut pairs = request.messages.windows(2);
    assert!(
        pairs.all(|pair| pair[0].speaker != pair[1].speaker),
        "{:?}",
        request.messages
    );
}

fn last_words(request: &ModelRequest) -> &str {
    let last = request.messages.last();
    last.map_or("", |message| message.text.as_str())
}

#[test]
fn r01_after_an_empty_reply_the_turns_still_take_turns() {
    let mut desk = open(&params());
    let (root, ask) = write(&mut desk, "print(1)");
    end(&mut desk, &root, ask, printed("what it printed"));
    for _ in 0..2 {
        let sent = desk.sent();
        assert_turns(&sent.request);
        desk.fail(&sent, ModelFailure::sent(FailureKind::Empty, "nothing"));
    }
    let sent = desk.sent();
    assert_turns(&sent.request);
    let said = last_words(&sent.request);
    assert!(
        said.starts_with("what it printed\nThat was no code"),
        "{said}"
    );
    assert_eq!(said.matches("That was no code").count(), 1, "{said}");
    desk.reply(&sent, "```repl\nprint(2)\n```");
    let (root, ask, ..) = cell(&mut desk);
    end(&mut desk, &root, ask, printed("2"));
    assert_turns(&desk.sent().request);
}

/// The same error is the same, whatever the number of its cell.
#[test]
fn r01_the_same_error_again_and_again_ends_the_run() {
    let mut desk = open(&params());
    for number in 1..=3 {
        let (root, ask) = write(&mut desk, "print(missing)");
        let message = format!(
            "Traceback (most recent call last):\n  File \"<cell {number}>\", line 1, in <module>\nNameError: missing"
        );
        let raised = CellResult {
            error: Some(CellError {
                kind: CellErrorKind::Raised,
                message: message.into(),
            }),
            ..CellResult::default()
        };
        end(&mut desk, &root, ask, raised);
    }
    assert_eq!(desk.result().stop_reason, StopReason::NoNewInformation);
}

#[test]
fn r01_json_that_a_schema_wants_is_json_though_it_was_submitted_as_text() {
    let schema = serde_json::json!({"type": "object", "required": ["host"]});
    for (schema, is_json) in [
        (schema, true),
        (serde_json::json!({"type": "string"}), false),
    ] {
        let params = RlmConfig {
            schema: Some(schema),
            ..params()
        };
        let mut desk = open(&params);
        let (root, ask) = write(&mut desk, "SUBMIT(json.dumps(found))");
        end(&mut desk, &root, ask, submitted(r#"{"host": "web-3"}"#));
        assert_eq!(desk.result().status, EpisodeStatus::Ok);
        assert_eq!(report(desk.result()).is_json, is_json);
    }
}

/// A draft is told at the end of every cell, changed or not.
#[test]
fn r04_a_draft_of_before_replaces_no_later_submission() {
    let params = RlmConfig {
        schema: Some(serde_json::json!({"type": "integer"})),
        turns_max: 4,
        ..params()
    };
    let mut desk = open(&params);
    let draft = |text: &str| {
        Some(CellValue {
            form: ValueFormat::Text,
            text: text.into(),
        })
    };
    let cells = [
        ("answer['content'] = 'old'", None),
        ("SUBMIT('newer')", Some("newer")),
        ("print(1)", None),
    ];
    for (code, submission) in cells {
        let (root, ask) = write(&mut desk, code);
        let ended = CellResult {
            draft: draft("old"),
            submitted: submission.and_then(draft),
            ..printed("1")
        };
        end(&mut desk, &root, ask, ended);
    }
    desk.reply_next("I do not know.");
    assert_eq!(text(desk.result()), "newer");
}

#[test]
fn r02_none_is_no_answer_unless_the_schema_says_so() {
    let none = || CellResult {
        submitted: Some(CellValue {
            form: ValueFormat::Json,
            text: "null".into(),
        }),
        ..CellResult::default()
    };
    let mut desk = open(&params());
    let (root, ask) = write(&mut desk, "SUBMIT(None)");
    end(&mut desk, &root, ask, none());
    let sent = desk.sent();
    let said = last_words(&sent.request);
    assert!(said.contains("it is empty"), "{said}");
    desk.reply(&sent, "I do not know.");
    for _ in 0..3 {
        desk.reply_next("I do not know.");
    }
    assert_eq!(text(desk.result()), "I do not know.");
    let params = RlmConfig {
        schema: Some(serde_json::json!({"type": ["string", "null"]})),
        ..params()
    };
    let mut desk = open(&params);
    let (root, ask) = write(&mut desk, "SUBMIT(None)");
    end(&mut desk, &root, ask, none());
    assert_eq!(
        (desk.result().status, text(desk.result())),
        (EpisodeStatus::Ok, "null")
    );
}

#[test]
fn r04_words_of_the_last_turn_outlive_what_was_no_code() {
    let syntax = || CellResult {
        error: Some(CellError {
            kind: CellErrorKind::Syntax,
            message: "SyntaxError: invalid syntax".into(),
        }),
        ..CellResult::default()
    };
    let one = RlmConfig {
        turns_max: 1,
        ..params()
    };
    let said = "It was web-3:\n```\n12:01 web-3 is down\n```";
    for (reply, kept) in [
        (said.to_owned(), said),
        (format!("<think>So.</think>{said}"), said),
        // It was said before the output was seen.
        ("Let me look:\n```repl\nprint(x\n```".to_owned(), ""),
    ] {
        let mut desk = open(&one);
        desk.reply_next(&reply);
        let (root, ask, ..) = cell(&mut desk);
        end(&mut desk, &root, ask, syntax());
        let result = desk.result();
        assert_eq!(
            (result.status, text(result)),
            (EpisodeStatus::NeedsReview, kept)
        );
    }
    let mut desk = open(&one);
    desk.reply_next("<think>Could it be web-1?</think>\nIt was web-3.");
    assert_eq!(text(desk.result()), "It was web-3.");
}

#[test]
fn r04_the_last_turn_is_said_to_be_the_last() {
    let params = RlmConfig {
        turns_max: 2,
        ..params()
    };
    let mut desk = open(&params);
    let (root, ask) = write(&mut desk, "print(1)");
    end(&mut desk, &root, ask, printed("1"));
    let sent = desk.reply_next("It was web-3.");
    assert!(last_words(&sent.request).contains("last turn"));
    assert_eq!(text(desk.result()), "It was web-3.");
    assert_eq!(desk.result().status, EpisodeStatus::NeedsReview);
}

/// Whatever ends the run, and whoever waited for what then.
#[test]
fn r04_what_was_said_last_is_the_answer_where_there_is_no_better() {
    let mut desk = open(&params());
    desk.reply_next("It was web-3.");
    let turn = desk.sent();
    let failure = ModelFailure::sent(FailureKind::TooLarge, "too long");
    desk.fail(&turn, failure);
    let result = desk.result();
    assert_eq!(
        (result.status, text(result)),
        (EpisodeStatus::Failed, "It was web-3.")
    );

    let mut desk = open(&params());
    desk.reply_next("It was web-3.");
    let turn = desk.sent();
    desk.ring(&EpisodeId::root());
    desk.fail(&turn, ModelFailure::sent(FailureKind::Cancelled, ""));
    let dimension = Dimension::Time;
    let stop = StopReason::BudgetExhausted { dimension };
    let result = desk.result();
    assert_eq!(
        (&result.stop_reason, text(result)),
        (&stop, "It was web-3.")
    );
}

/// A cell that no longer comes to its end has told its draft with its questions; of several, the last one counts.
#[test]
fn r04_the_draft_of_a_cell_that_runs_is_the_answer_when_time_is_up() {
    let mut desk = open(&params());
    desk.reply_next("Let me look.");
    let (root, running) = write(
        &mut desk,
        "for part in parts: answer['content'] = llm_query(part)",
    );
    for (id, draft) in [
        (0, None),
        (1, Some("web-1")),
        (2, None),
        (3, Some("web-1, web-3")),
    ] {
        let draft = draft.map(|draft| CellValue {
            form: ValueFormat::Text,
            text: draft.into(),
        });
        let question = CellQuestion {
            draft,
            ..query(id, &["a part"])
        };
        ask(&mut desk, (&root, running), question);
    }
    desk.reply_next("found");
    desk.take_over();
    desk.ring(&EpisodeId::root());
    while desk.calls_out() > 0 {
        let call = desk.sent();
        desk.fail(&call, ModelFailure::sent(FailureKind::Cancelled, ""));
    }
    let result = desk.result();
    assert_eq!(
        (result.status, text(result)),
        (EpisodeStatus::NeedsReview, "web-1, web-3")
    );
}

#[test]
fn e07_the_only_call_that_is_left_is_the_last_turn() {
    let amounts = Amounts { calls: 1, ..RICH };
    let mut desk = ManualHost::open(BuiltInPrograms, started(&params(), amounts));
    let sent = desk.sent();
    let said = last_words(&sent.request);
    assert!(said.contains("last turn"), "{said}");
    desk.reply(&sent, "It was web-3.");
    let result = desk.result();
    assert_eq!(text(result), "It was web-3.");
    let dimension = Dimension::Calls;
    assert_eq!(
        result.stop_reason,
        StopReason::BudgetExhausted { dimension }
    );
}

/// Whatever the tokens suffice for: the model is told of its last turn where that can be known, and its words are kept.
#[test]
fn r04_words_are_kept_when_no_other_turn_is_affordable() {
    let reads = open(&params()).sent().input_tokens();
    // In tenths of what a turn costs to read, which is not known before the first.
    for (tenths, is_told) in [
        (15, false),
        (22, true),
        (29, true),
        (33, false),
        (47, false),
    ] {
        let amounts = Amounts {
            tokens: reads * tenths / 10,
            ..RICH
        };
        let mut desk = ManualHost::open(BuiltInPrograms, started(&params(), amounts));
        let mut turns = 0;
        let mut was_told = false;
        while !desk.is_over() {
            turns += 1;
            let sent = desk.reply_next(&format!("It was web-{turns}."));
            was_told = last_words(&sent.request).contains("last turn");
        }
        let result = desk.result();
        assert_eq!(text(result), format!("It was web-{turns}."), "{tenths}");
        assert_eq!(result.status, EpisodeStatus::NeedsReview);
        assert!(was_told || !is_told, "{tenths}: {turns}");
    }
}

/// Children that each run a cell which asks the same.
fn that_all_ask(desk: &mut ManualHost, count: usize) -> (AskId, Vec<(EpisodeId, AskId)>) {
    let (root, running) = write(desk, "rlm_query_batched(qs)");
    ask(desk, (&root, running), children(0, count));
    let cells: Vec<_> = (0..count).map(|_| write(desk, "llm_query('a')")).collect();
    (running, cells)
}

#[test]
fn r02_after_a_failed_call_one_of_those_who_waited_asks() {
    let mut desk = open(&params());
    let (_, cells) = that_all_ask(&mut desk, 20);
    for (child, cell) in &cells {
        ask(&mut desk, (child, *cell), query(0, &["a"]));
    }
    let rate_limited = || ModelFailure::unsent(FailureKind::RateLimited, "429");
    let mut callers = Vec::new();
    while callers.len() < 3 {
        assert_eq!(desk.calls_out(), 1, "after {callers:?}");
        let call = desk.sent();
        desk.fail(&call, rate_limited());
        if callers.last() != Some(&call.episode) {
            callers.push(call.episode);
        }
    }
    let expected: Vec<_> = cells[..3].iter().map(|(child, _)| child.clone()).collect();
    assert_eq!(callers, expected, "each when the one before gave up");
    // A new owner knows of the one that is out, and of nobody else.
    desk.take_over();
    assert_eq!(desk.calls_out(), 1);
    let call = desk.sent();
    desk.fail(&call, ModelFailure::sent(FailureKind::Empty, "nothing"));
    assert_eq!(desk.calls_out(), 1);
    // Nor is anything lost when those who wait leave.
    let next = desk.sent();
    let after = cells.iter().position(|(child, _)| *child == next.episode);
    let (gone, gone_cell) = &cells[after.expect("it is one of them") + 1];
    end(&mut desk, gone, *gone_cell, submitted("1"));
    desk.fail(&next, ModelFailure::sent(FailureKind::Empty, "nothing"));
    desk.reply_next("A");
    assert_eq!(desk.calls_out(), 0);
    let mut told = 0;
    while desk.steps.iter().any(|step| {
        matches!(
            step,
            HostStep::Host {
                command: Command::AnswerCell { .. },
                ..
            }
        )
    }) {
        told += usize::from(outcomes(&mut desk) == [said("A")]);
    }
    assert_eq!(told, 20 - 2 - 1 - 1 - 1, "all that are left");
}

/// Whoever waits for its budget may wait for the one that would wait for it.
#[test]
fn r02_nobody_waits_for_a_call_that_waits_for_its_budget() {
    let params = RlmConfig {
        leaf_tokens_max: 10_000_000,
        ..params()
    };
    let mut desk = open(&params);
    let (_, cells) = that_all_ask(&mut desk, 3);
    let (child, first) = &cells[0];
    ask(&mut desk, (child, *first), query(0, &["a"]));
    let call = desk.sent();
    let (child, second) = &cells[1];
    ask(&mut desk, (child, *second), query(0, &["x", "a"]));
    let x = desk.sent();
    let (child, third) = &cells[2];
    ask(&mut desk, (child, *third), query(0, &["a"]));
    assert_eq!(desk.calls_out(), 0);
    desk.fail(&call, ModelFailure::sent(FailureKind::Empty, "nothing"));
    // The second has no room for it as long as `x` is out.
    assert_eq!(desk.calls_out(), 1);
    let call = desk.sent();
    assert_eq!(call.episode, *child);
    desk.reply(&x, "X");
    let late = desk.sent();
    assert_eq!(late.episode, cells[1].0);
    desk.reply(&call, "A");
    desk.reply(&late, "A");
    assert_eq!(
        kind(&outcomes(&mut desk)[0]),
        Some(CellExceptionKind::Empty)
    );
    assert_eq!(outcomes(&mut desk), [said("A")]);
    assert_eq!(outcomes(&mut desk), [said("X"), said("A")]);
}

#[test]
fn r04_calls_that_never_went_out_are_not_counted() {
    let params = RlmConfig {
        leaf_tokens_max: 30_000_000,
        ..params()
    };
    let mut desk = open(&params);
    let (root, running) = write(&mut desk, "thread(llm_query_batched, ps)");
    ask(&mut desk, (&root, running), query(0, &["a", "b", "c", "d"]));
    assert_eq!(desk.calls_out(), 2, "there is no room for more at once");
    end(&mut desk, &root, running, submitted("done"));
    for _ in 0..2 {
        let call = desk.sent();
        let given_up = ModelFailure::sent(FailureKind::Cancelled, "given up");
        desk.fail(&call, given_up);
    }
    assert_eq!(report(desk.result()).subcalls, 2);
}

/// A batch of which nothing fits is refused as a whole, however large it is.
#[test]
fn r04_a_large_batch_past_the_closing_mark_is_refused() {
    let amounts = Amounts { calls: 3, ..RICH };
    let mut desk = ManualHost::open(BuiltInPrograms, started(&params(), amounts));
    let (root, running) = write(&mut desk, "llm_query_batched(ps)");
    let prompts: Vec<String> = (0..2_000).map(|n| format!("part {n}")).collect();
    let prompts: Vec<&str> = prompts.iter().map(String::as_str).collect();
    ask(&mut desk, (&root, running), query(0, &prompts));
    let mut answered = 0;
    while desk.calls_out() > 0 {
        desk.reply_next("found");
        answered += 1;
    }
    let outcomes = outcomes(&mut desk);
    let refused = Some(CellExceptionKind::BudgetExceeded);
    let count = outcomes.iter().filter(|one| kind(one) == refused).count();
    assert_eq!((answered, count), (2, 1_998));
}

/// A parent may have a thousand children, and holds their answers until the last is there.
#[test]
fn r04_children_answer_within_bounds() {
    let mut desk = open(&params());
    let (root, running) = write(&mut desk, "rlm_query('x')");
    ask(&mut desk, (&root, running), children(0, 1));
    let most = 256 << 10;
    desk.reply_next("```repl\nSUBMIT(context)\n```");
    let (child, large, ..) = cell(&mut desk);
    end(&mut desk, &child, large, submitted(&"x".repeat(most + 1)));
    let sent = desk.sent();
    let told = sent.request.messages.last().expect("there is a prompt");
    assert!(told.text.as_str().contains("262145 bytes"), "{told:?}");
    desk.reply(&sent, "```repl\nSUBMIT(context[1:])\n```");
    let (child, small, ..) = cell(&mut desk);
    end(&mut desk, &child, small, submitted(&"x".repeat(most)));
    assert_eq!(outcomes(&mut desk), [said(&"x".repeat(most))]);
}

#[test]
fn r04_answers_to_one_question_are_bounded_together() {
    let mut desk = open(&params());
    let (root, running) = write(&mut desk, "llm_query_batched(prompts)");
    ask(&mut desk, (&root, running), query(0, &["a", "b", "c"]));
    for _ in 0..3 {
        desk.reply_next(&"x".repeat(7 << 20));
    }
    let kinds: Vec<_> = outcomes(&mut desk).iter().map(kind).collect();
    assert_eq!(kinds, [None, None, Some(CellExceptionKind::TooLarge)]);
}

#[test]
fn h04_a_leaf_says_what_comes_after_its_thoughts() {
    let mut desk = open(&params());
    let (root, cell) = write(&mut desk, "r = llm_query_batched(ps)");
    let question = query(0, &["first", "second", "third"]);
    ask(&mut desk, (&root, cell), question);
    desk.reply_next("<think>web-9?</think>\n\nweb-3");
    desk.reply_next("<think>web-9?</think>");
    let cut = desk.sent();
    desk.cut_reply(&cut, "<think>web-9");
    let outcomes = outcomes(&mut desk);
    assert_eq!(outcomes[0], said("web-3"));
    assert_eq!(kind(&outcomes[1]), Some(CellExceptionKind::Empty));
    assert_eq!(kind(&outcomes[2]), Some(CellExceptionKind::Truncated));
    assert!(!format!("{:?}", &outcomes[1..]).contains("web-9"));
}

#[test]
fn r02_depth_is_refused_as_an_exception() {
    let mut started = started(&params(), RICH);
    started.contract.recursion.max_depth = 0;
    let mut desk = ManualHost::open(BuiltInPrograms, started);
    let (root, running) = write(&mut desk, "rlm_query('x')");
    ask(&mut desk, (&root, running), children(0, 1));
    assert_eq!(
        kind(&outcomes(&mut desk)[0]),
        Some(CellExceptionKind::Refused)
    );
    end(&mut desk, &root, running, submitted("done"));
    assert_eq!(report(desk.result()).children, 0);
}
