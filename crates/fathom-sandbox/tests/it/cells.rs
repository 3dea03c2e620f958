//! Cells: what they find, print, ask and submit.

use fathom_core::budget::amounts::Amounts;
use fathom_core::sandbox::{
    CellBudget, CellCall, CellErrorKind, CellException, CellExceptionKind, CellOutcome, CellReply,
    ValueFormat,
};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars};

use crate::fixture::{cell, echo, printed, run, run_with, session};

#[tokio::test]
async fn r01_the_material_is_a_variable_and_output_comes_back() {
    let mut session = session().await;
    assert_eq!(
        printed(&mut session, "print(len(context), context)").await,
        "11 the context\n"
    );
    assert_eq!(printed(&mut session, "context[:3]").await, "'the'\n");
    assert_eq!(printed(&mut session, "None").await, "");
    assert_eq!(
        printed(
            &mut session,
            "import sys\nprint('to stderr', file=sys.stderr)"
        )
        .await,
        "to stderr\n"
    );
}

#[tokio::test]
async fn r01_long_output_keeps_its_beginning_its_end_and_its_size() {
    let mut session = session().await;
    let mut long = cell("for i in range(100000): print('line', i)");
    long.limits.output = 100;
    let end = run_with(&mut session, long, echo).await;
    assert_eq!(end.error, None);
    let output = end.output;
    let tail = output.tail.unwrap();
    assert!(output.head.as_str().starts_with("line 0\nline 1\n"));
    assert!(tail.as_str().ends_with("line 99998\nline 99999\n"));
    assert_eq!((output.head.as_str().len(), tail.as_str().len()), (50, 50));
    assert_eq!(output.bytes, 1_088_890);
}

#[tokio::test]
async fn r01_one_huge_print_keeps_both_ends_in_whole_characters() {
    let mut session = session().await;
    let mut huge = cell("print('a' * 3 + 'ä' * 1000000, end='z')");
    huge.limits.output = 100;
    let output = run_with(&mut session, huge, echo).await.output;
    assert_eq!(output.bytes, 2_000_004);
    assert_eq!(output.head.as_str(), format!("aaa{}", "ä".repeat(23)));
    assert_eq!(
        output.tail.unwrap().as_str(),
        format!("{}z", "ä".repeat(24))
    );

    let mut ascii = cell("print('b' * 5000000, end='')");
    ascii.limits.output = 100;
    let output = run_with(&mut session, ascii, echo).await.output;
    assert_eq!(output.bytes, 5_000_000);
    assert_eq!(output.head.as_str(), "b".repeat(50));
    assert_eq!(output.tail.unwrap().as_str(), "b".repeat(50));
}

#[tokio::test]
async fn r02_variables_persist_and_questions_are_answered() {
    let mut session = session().await;
    assert_eq!(printed(&mut session, "x = llm_query('a')").await, "");
    assert_eq!(
        printed(&mut session, "print(x, llm_query_batched(['b', 'c']))").await,
        "<a> ['<b>', '<c>']\n"
    );
    assert_eq!(
        printed(
            &mut session,
            "print(rlm_query('d'), rlm_query_batched(['e'], [[1]]), llm_query_batched([]))"
        )
        .await,
        "<d> ['<e>'] []\n"
    );
    let end = run(&mut session, "SUBMIT(x)\nprint('unseen')").await;
    let submitted = end.submitted.unwrap();
    assert_eq!(submitted.form, ValueFormat::Text);
    assert_eq!(submitted.text.as_str(), "<a>");
    assert_eq!(end.output.bytes, 0);
    assert_eq!(end.error, None);
}

#[tokio::test]
async fn r02_questions_carry_what_code_gave_them() {
    let mut session = session().await;
    let mut calls = Vec::new();
    let code = cell(
        "llm_query('p', pattern=r'\\d+', max_tokens=7)\nrlm_query('t', context={'k': [1, None, float('nan')]})",
    );
    let end = run_with(&mut session, code, |question| {
        calls.push((question.id, question.call.clone()));
        echo(question)
    })
    .await;
    assert_eq!(end.error, None);
    let (
        first,
        CellCall::Query {
            prompts,
            pattern,
            tokens_max,
        },
    ) = calls[0].clone()
    else {
        panic!("{calls:?}");
    };
    assert_eq!((first, prompts[0].as_str()), (1, "p"));
    assert_eq!(pattern.unwrap().as_str(), "\\d+");
    assert_eq!(tokens_max, Some(7));
    let (second, CellCall::Recurse { tasks }) = calls[1].clone() else {
        panic!("{calls:?}");
    };
    let context = tasks[0].context.clone().unwrap();
    assert_eq!((second, context.form), (2, ValueFormat::Json));
    assert_eq!(context.text.as_str(), r#"{"k": [1, null, null]}"#);
}

#[tokio::test]
async fn r02_every_way_to_submit_is_taken() {
    let ways = [
        (
            "x = 9\nv = {'k': 'x'}\nFINAL_VAR(v['k'])",
            ValueFormat::Text,
            "x",
        ),
        ("x = 9\nFINAL_VAR(name='x')", ValueFormat::Json, "9"),
        ("FINAL = 'x'\nFINAL_VAR(FINAL)", ValueFormat::Text, "x"),
        ("SUBMIT('x')", ValueFormat::Text, "x"),
        ("FINAL('x')", ValueFormat::Text, "x"),
        ("v = 'x'\nFINAL_VAR('v')", ValueFormat::Text, "x"),
        ("v = 'x'\nFINAL_VAR(v)", ValueFormat::Text, "x"),
        (
            "v = {'a': (1, 2)}\nFINAL_VAR('v')",
            ValueFormat::Json,
            r#"{"a": [1, 2]}"#,
        ),
        ("SUBMIT(answer='x')", ValueFormat::Text, "x"),
        ("SUBMIT(3)", ValueFormat::Json, "3"),
        (
            "answer['content'] = 'x'\nanswer['ready'] = True",
            ValueFormat::Text,
            "x",
        ),
        (
            "answer = {'content': 'x', 'ready': True}",
            ValueFormat::Text,
            "x",
        ),
        (
            "try:\n  SUBMIT('x')\nexcept Exception:\n  SUBMIT('y')",
            ValueFormat::Text,
            "x",
        ),
        (
            "try:\n  SUBMIT('x')\nexcept BaseException:\n  pass\nSUBMIT('y')",
            ValueFormat::Text,
            "x",
        ),
        (
            "try:\n  SUBMIT('x')\nfinally:\n  1 / 0",
            ValueFormat::Text,
            "x",
        ),
    ];
    let mut session = session().await;
    for (code, form, text) in ways {
        let end = run(&mut session, code).await;
        let submitted = end
            .submitted
            .unwrap_or_else(|| panic!("{code}: {:?}", end.error));
        assert_eq!(
            (submitted.form, submitted.text.as_str()),
            (form, text),
            "{code}"
        );
        assert_eq!(end.draft, None, "{code}");
        run(&mut session, "answer = {}").await;
    }
}

#[tokio::test]
async fn r04_what_was_submitted_outlives_the_end_of_its_cell() {
    let mut session = session().await;
    let mut code = cell("try:\n  SUBMIT('kept')\nexcept BaseException:\n  while True: pass");
    code.limits.time = Millis(100);
    let end = run_with(&mut session, code, echo).await;
    assert_eq!(end.submitted.unwrap().text.as_str(), "kept");
    assert_eq!(end.error.unwrap().kind, CellErrorKind::TimedOut);

    let mut code = cell("answer['content'] = 'so far'\nwhile True: pass");
    code.limits.time = Millis(100);
    let end = run_with(&mut session, code, echo).await;
    assert_eq!(end.submitted, None);
    assert_eq!(end.draft.unwrap().text.as_str(), "so far");
}

/// What it has by then goes with a question, however it got there. Looking at it changes nothing.
#[tokio::test]
async fn r04_the_answer_so_far_goes_with_each_question() {
    let cases = [
        ("answer['content'] = 'a'\nllm_query('x')", vec![Some("a")]),
        (
            "answer['content'] = 'b'\nllm_query('x')\nllm_query('x')",
            vec![Some("b"), None],
        ),
        (
            "answer.update(content='c')\nllm_query('x')",
            vec![Some("c")],
        ),
        ("answer = {'content': 'd'}\nllm_query('x')", vec![Some("d")]),
        (
            "found = []\nanswer['content'] = found\nfor n in range(3):\n    found.append(n)\n    llm_query('x')",
            vec![Some("[0]"), Some("[0, 1]"), Some("[0, 1, 2]")],
        ),
        (
            "try:\n    SUBMIT('e')\nexcept BaseException:\n    pass\nanswer['content'] = 'f'\nllm_query('x')\nllm_query('x')",
            vec![Some("e"), None],
        ),
        (
            "answer['content'] = 'g' * 70_000\nllm_query('x')",
            vec![None],
        ),
        (
            "answer['content'] = QueryError()\nllm_query('x')",
            vec![None],
        ),
    ];
    for (code, wanted) in cases {
        let mut session = session().await;
        let mut drafts = Vec::new();
        run_with(&mut session, cell(code), |question| {
            drafts.push(question.draft.as_ref().map(|draft| draft.text.clone()));
            echo(question)
        })
        .await;
        let drafts = drafts.iter().map(|draft| draft.as_ref().map(Text::as_str));
        assert_eq!(drafts.collect::<Vec<_>>(), wanted, "{code}");
    }
}

/// It is told whenever time has passed: nothing in a cell may depend on that.
#[tokio::test]
async fn r06_a_cell_cannot_tell_when_its_draft_is_told() {
    let waits = "llm_query.__globals__['real_sleep'](0.02)\n";
    let cases = [
        (
            "answer['content'] = (str(n) for n in range(2))",
            "answer['ready'] = True",
            Some("[\"0\", \"1\"]"),
        ),
        (
            "answer['content'] = {'rows': map(str, range(2))}",
            "SUBMIT(answer['content'])",
            Some("{\"rows\": [\"0\", \"1\"]}"),
        ),
        (
            "answer['content'] = [QueryError()]",
            "SUBMIT('went on')",
            Some("went on"),
        ),
        (
            "class Odd:\n    seen = 0\n    def __str__(self): Odd.seen += 1; return 'x'\nanswer['content'] = Odd()",
            "SUBMIT(str(Odd.seen))",
            Some("0"),
        ),
        (
            "class Odd:\n    seen = 0\n    def __str__(self): Odd.seen += 1; return 'x'\nanswer['content'] = {Odd(): 1}",
            "SUBMIT(str(Odd.seen))",
            Some("0"),
        ),
    ];
    for (sets, then, wanted) in cases {
        let mut session = session().await;
        let code = format!("{waits}{sets}\nllm_query('x')\n{waits}{then}");
        let end = run(&mut session, &code).await;
        let submitted = end.submitted.as_ref().map(|value| value.text.as_str());
        assert_eq!(submitted, wanted, "{code}: {:?}", end.error);
    }
}

#[tokio::test]
async fn r02_a_name_that_is_no_variable_is_not_taken_for_an_answer() {
    let mut session = session().await;
    let end = run(&mut session, "FINAL_VAR('result')").await;
    assert_eq!(end.submitted, None);
    let error = end.error.unwrap();
    assert!(
        error.message.as_str().contains("no variable 'result'"),
        "{error:?}"
    );
}

fn fault(kind: CellExceptionKind) -> CellOutcome {
    CellOutcome::Fault(CellException {
        kind,
        message: "why".into(),
        partial: Some("half".into()),
    })
}

#[tokio::test]
async fn r04_each_fault_is_an_exception_of_its_name() {
    let mut session = session().await;
    for kind in [
        CellExceptionKind::RateLimited,
        CellExceptionKind::BudgetExceeded,
        CellExceptionKind::TooLarge,
        CellExceptionKind::Refused,
        CellExceptionKind::Empty,
        CellExceptionKind::Truncated,
        CellExceptionKind::TimedOut,
        CellExceptionKind::Unavailable,
    ] {
        let code = format!(
            "try:\n  llm_query('x')\nexcept {kind} as e:\n  print(isinstance(e, QueryError), e, e.partial)"
        );
        let end = run_with(&mut session, cell(&code), |_| {
            CellReply::Each(vec![fault(kind)])
        })
        .await;
        assert_eq!(
            end.output.head.as_str(),
            "True why half\n",
            "{kind}: {:?}",
            end.error
        );
    }
}

#[tokio::test]
async fn r04_a_failed_item_of_a_batch_is_an_exception_object_and_all_failed_raise() {
    let mut session = session().await;
    let code = "r = llm_query_batched(['a', 'b'])\nprint(r[0], type(r[1]).__name__, isinstance(r[1], str))";
    let end = run_with(&mut session, cell(code), |_| {
        CellReply::Each(vec![
            CellOutcome::Said("ok".into()),
            fault(CellExceptionKind::Empty),
        ])
    })
    .await;
    assert_eq!(end.output.head.as_str(), "ok Empty False\n");

    let end = run_with(&mut session, cell("llm_query_batched(['a', 'b'])"), |_| {
        CellReply::Each(vec![
            fault(CellExceptionKind::Refused),
            fault(CellExceptionKind::Empty),
        ])
    })
    .await;
    let error = end.error.unwrap();
    assert_eq!(error.kind, CellErrorKind::Raised);
    assert!(
        error.message.as_str().ends_with("Refused: why"),
        "{error:?}"
    );
}

#[tokio::test]
async fn r02_a_prompt_that_is_no_string_is_refused_at_once() {
    let mut session = session().await;
    for code in [
        "llm_query(None)",
        "llm_query(b'x')",
        "llm_query_batched(['a', 3])",
        "llm_query_batched('abc')",
        "rlm_query(1)",
    ] {
        let mut questions = 0;
        let end = run_with(&mut session, cell(code), |question| {
            questions += 1;
            echo(question)
        })
        .await;
        let error = end.error.unwrap();
        assert!(
            error.message.as_str().contains("TypeError"),
            "{code}: {error:?}"
        );
        assert_eq!(questions, 0, "{code}");
    }
}

#[tokio::test]
async fn r05_code_reads_what_is_left_of_the_budget() {
    let mut session = session().await;
    let code = cell(
        "b = budget()\nprint(b['calls'], b['tokens'], b['cost_usd'], b['seconds'], b['episodes'])",
    );
    let end = run_with(&mut session, code, |question| {
        assert_eq!(question.call, CellCall::Budget);
        CellReply::Budget(CellBudget {
            left: Amounts {
                calls: 5,
                money: Nanodollars(1_500_000_000),
                ..Amounts::MAX
            },
            time_left: Millis(2_500),
        })
    })
    .await;
    assert_eq!(
        end.output.head.as_str(),
        "5 None 1.5 2.5 None\n",
        "{:?}",
        end.error
    );
}

#[tokio::test]
async fn r05_a_question_that_is_too_large_to_ask_says_so() {
    let mut session = session().await;
    let code = "try:\n  llm_query('x' * (9 << 20))\nexcept TooLarge as e:\n  print(e)";
    let said = printed(&mut session, code).await;
    assert!(said.contains("94372") && said.contains("8388608"), "{said}");
    assert_eq!(
        printed(&mut session, "llm_query('after')").await,
        "'<after>'\n"
    );
}

#[tokio::test]
async fn r02_an_error_shows_the_lines_of_its_cell_and_nothing_else() {
    let mut session = session().await;
    run(&mut session, "def f(x):\n    return 1 / x").await;
    let end = run(&mut session, "print('before')\nf(0)").await;
    let error = end.error.unwrap();
    assert_eq!(error.kind, CellErrorKind::Raised);
    assert_eq!(end.output.head.as_str(), "before\n");
    let told = error.message.as_str();
    assert!(
        told.contains("<cell 2>\", line 2, in <module>\n    f(0)"),
        "{told}"
    );
    assert!(
        told.contains("<cell 1>\", line 2, in f\n    return 1 / x"),
        "{told}"
    );
    assert!(
        told.ends_with("ZeroDivisionError: division by zero"),
        "{told}"
    );
    assert!(!told.contains("fathom"), "{told}");

    let end = run(&mut session, "def g(:\n  pass").await;
    let error = end.error.unwrap();
    assert_eq!(error.kind, CellErrorKind::Syntax);
    assert!(error.message.as_str().contains("<cell 3>"), "{error:?}");
    // An error of its own leaves the session as it is.
    assert_eq!(printed(&mut session, "f(1)").await, "1.0\n");
}

#[tokio::test]
async fn r02_threads_of_a_cell_ask_at_once() {
    let mut session = session().await;
    let code = "from concurrent.futures import ThreadPoolExecutor\n\
                with ThreadPoolExecutor(8) as pool:\n\
                \x20   print(list(pool.map(llm_query, ['a', 'b', 'c', 'd'])))";
    session.run(cell(code)).await.unwrap();
    let mut open = Vec::new();
    while open.len() < 4 {
        let fathom_sandbox::CellEvent::Asked(question) = session.next().await else {
            panic!("it ended");
        };
        open.push(question);
    }
    // The last asked is answered first.
    for question in open.iter().rev() {
        let reply = echo(question);
        let id = question.id;
        session
            .answer(fathom_core::sandbox::CellAnswer { id, reply })
            .unwrap();
    }
    let fathom_sandbox::CellEvent::Ended(end) = session.next().await else {
        panic!("it asked more");
    };
    assert_eq!(end.output.head.as_str(), "['<a>', '<b>', '<c>', '<d>']\n");
}

/// A thread that still waits when its cell ends gets no answer, and takes none from the next cell.
#[tokio::test]
async fn r04_a_thread_that_outlives_its_cell_is_told_and_takes_no_answer_of_the_next() {
    let mut session = session().await;
    let code = "import threading\n\
                asks = threading.Event()\n\
                def ask():\n\
                \x20   global got\n\
                \x20   asks.set()\n\
                \x20   try:\n\
                \x20       got = llm_query('old')\n\
                \x20   except QueryError as e:\n\
                \x20       got = str(e)\n\
                thread = threading.Thread(target=ask)\n\
                thread.start()\n\
                asks.wait()\n\
                llm_query('held')";
    session.run(cell(code)).await.unwrap();
    let mut open = Vec::new();
    while open.len() < 2 {
        let fathom_sandbox::CellEvent::Asked(question) = session.next().await else {
            panic!("it ended");
        };
        open.push(question);
    }
    // Only the cell itself gets its answer.
    let reply = CellReply::Each(vec![CellOutcome::Said("<held>".into())]);
    let held = open.iter().find(|question| echo(question) == reply);
    let id = held.unwrap().id;
    session
        .answer(fathom_core::sandbox::CellAnswer { id, reply })
        .unwrap();
    let fathom_sandbox::CellEvent::Ended(end) = session.next().await else {
        panic!("it asked more");
    };
    assert_eq!(end.error, None);
    let code = "print(llm_query('new'))\nthread.join()\nprint(got)";
    assert_eq!(printed(&mut session, code).await, "<new>\nthe cell ended\n");
}

#[tokio::test]
async fn r02_time_and_chance_are_the_same_in_every_session() {
    let code = "import random, time, uuid, os, timeit\nfrom datetime import datetime, date\n\
                print(random.random(), random.Random().random(), uuid.uuid4(), os.urandom(4).hex(), time.time(), datetime.now(), date.today(), hash('x'), list({'a', 'b', 'c'}))\n\
                print(uuid.uuid1(), timeit.default_timer(), time.clock_gettime(0), time.clock_gettime_ns(1), os.times())\n\
                print(repr(datetime(2024, 1, 2)), isinstance(datetime.now(), datetime), datetime.strptime('2024-05-06', '%Y-%m-%d').date())";
    let first = printed(&mut session().await, code).await;
    let second = printed(&mut session().await, code).await;
    assert_eq!(first, second);
    assert!(first.contains("2026-01-01"), "{first}");
    assert!(
        first.ends_with("datetime.datetime(2024, 1, 2, 0, 0) True 2024-05-06\n"),
        "{first}"
    );
}
