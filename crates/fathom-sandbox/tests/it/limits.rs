//! Limits hold against any code, and the session goes on after them.

use std::time::Duration;

use fathom_core::sandbox::{CellAnswer, CellErrorKind, CellQuestion};
use fathom_core::unit::Millis;
use fathom_sandbox::{
    CellEvent, Sandbox, SandboxContext, SandboxError, SandboxOptions, SandboxSession,
};

use crate::fixture::{cell, echo, load, printed, run, run_with, sandbox, session};

/// Ends the cell with this kind, and keeps the session as it was before.
async fn broken(session: &mut SandboxSession, code: &str, kind: CellErrorKind) {
    let mut hostile = cell(code);
    let time = if kind == CellErrorKind::TimedOut {
        300
    } else {
        5_000
    };
    hostile.limits.time = Millis(time);
    hostile.limits.memory = 64 << 20;
    hostile.limits.questions = 100;
    let end = run_with(session, hostile, echo).await;
    let error = end.error.unwrap_or_else(|| panic!("{code} ended well"));
    assert_eq!(error.kind, kind, "{code}: {error:?}");
    assert!(end.took.0 < time + 500, "{code}: {:?}", end.took);
}

#[tokio::test]
async fn r03_time_memory_and_questions_are_limited_and_the_session_goes_on() {
    let mut session = session().await;
    assert_eq!(printed(&mut session, "kept = llm_query('a')").await, "");
    for (code, kind) in [
        ("kept = 0\nwhile True: pass", CellErrorKind::TimedOut),
        (
            "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
            CellErrorKind::TimedOut,
        ),
        ("pow(3, 10 ** 9)", CellErrorKind::TimedOut),
        (
            "import re\nre.match(r'(a+)+$', 'a' * 64 + 'b')",
            CellErrorKind::TimedOut,
        ),
        ("import time\ntime.sleep(1000)", CellErrorKind::TimedOut),
        ("x = 'x' * (1 << 30)", CellErrorKind::OutOfMemory),
        (
            "x = []\nwhile True: x.append('y' * 100000)",
            CellErrorKind::OutOfMemory,
        ),
        ("import os\nos._exit(0)", CellErrorKind::Died),
        (
            "import os\nos.close(3)\nllm_query('x')",
            CellErrorKind::Died,
        ),
        (
            "for i in range(101): llm_query(str(i))",
            CellErrorKind::TooManyQuestions,
        ),
        (
            "llm_query_batched(['x'] * 101)",
            CellErrorKind::TooManyQuestions,
        ),
    ] {
        broken(&mut session, code, kind).await;
    }
    assert_eq!(printed(&mut session, "kept").await, "'<a>'\n");
}

#[tokio::test]
async fn r03_what_is_no_message_ends_the_session_with_a_reason() {
    let mut session = session().await;
    let frames = [
        ("b'\\xff\\xff\\xff\\xff'", "too large"),
        ("b'\\0\\0\\0\\2{]'", "no message"),
        ("b'\\0\\0\\0\\0'", "no message"),
        (
            "(lambda j: len(j).to_bytes(4, 'big') + j)(b'{\"open\": {\"cell\": 1}}')",
            "no message",
        ),
        (
            "(lambda j: len(j).to_bytes(4, 'big') + j)(b'{\"ask\": {\"cell\": 99, \"id\": 1, \"call\": \"budget\"}}')",
            "to come",
        ),
        (
            "(lambda j: len(j).to_bytes(4, 'big') + j)(b'{\"ask\": {\"cell\": 1, \"id\": 1, \"call\": {\"query\": {\"prompts\": [{\"sealed\": \"00\"}]}}}}')",
            "no message",
        ),
    ];
    for (frame, reason) in frames {
        let code = format!("import os\nos.write(3, {frame})\nwhile True: pass");
        let end = run(&mut session, &code).await;
        let error = end.error.unwrap();
        assert_eq!(error.kind, CellErrorKind::Died, "{frame}: {error:?}");
        assert!(
            error.message.as_str().contains(reason),
            "{frame}: {error:?}"
        );
    }
    assert_eq!(printed(&mut session, "1").await, "1\n");
}

#[tokio::test]
async fn r03_a_forged_end_ends_the_cell_and_no_more() {
    let mut session = session().await;
    let code = "import os\nj = b'{\"end\": {\"cell\": 1, \"output\": {\"head\": \"' + b'x' * 100000 + b'\", \"bytes\": 1}}}'\n\
                os.write(3, len(j).to_bytes(4, 'big') + j)\nwhile True: pass";
    let end = run(&mut session, code).await;
    assert_eq!(end.output.head.as_str().len(), 8 << 10);
    // What runs on is stopped with its cell, and does not hear of the next one.
    let mut next = cell("2");
    next.limits.time = Millis(300);
    let end = run_with(&mut session, next, echo).await;
    assert_eq!(end.error.unwrap().kind, CellErrorKind::TimedOut);
}

#[tokio::test]
async fn r03_the_time_of_an_answer_does_not_count() {
    let mut session = session().await;
    let mut slow = cell("llm_query('a')");
    slow.limits.time = Millis(150);
    session.run(slow).await.unwrap();
    let CellEvent::Asked(question) = session.next().await else {
        panic!("it ended");
    };
    // Longer than the cell may work; nothing else can happen in that time.
    let waited = tokio::time::timeout(Duration::from_millis(400), session.next()).await;
    assert!(waited.is_err(), "{waited:?}");
    let reply = echo(&question);
    let id = question.id;
    session.answer(CellAnswer { id, reply }).unwrap();
    let CellEvent::Ended(end) = session.next().await else {
        panic!("it asked more");
    };
    assert_eq!(end.error, None);
    assert!(end.took.0 < 150, "{:?}", end.took);
}

#[tokio::test]
async fn r01_what_a_cell_printed_is_kept_when_it_is_ended() {
    let mut session = session().await;
    let mut endless = cell("print('seen')\nwhile True: pass");
    endless.limits.time = Millis(100);
    let end = run_with(&mut session, endless, echo).await;
    assert_eq!(end.error.unwrap().kind, CellErrorKind::TimedOut);
    assert_eq!(end.output.head.as_str(), "seen");
}

#[tokio::test]
async fn limits_beyond_all_measure_are_none() {
    let mut session = session().await;
    let mut free = cell("print(llm_query('a'))");
    free.limits.time = Millis(u64::MAX);
    free.limits.memory = u64::MAX;
    free.limits.output = u32::MAX;
    free.limits.questions = u32::MAX;
    let end = run_with(&mut session, free, echo).await;
    assert_eq!(end.error, None);
    assert_eq!(end.output.head.as_str(), "<a>\n");
}

#[tokio::test]
async fn r03_work_beside_an_open_question_counts() {
    let mut session = session().await;
    let mut burning = cell(
        "import threading\nthreading.Thread(target=llm_query, args=('a',), daemon=True).start()\nwhile True: pass",
    );
    burning.limits.time = Millis(300);
    session.run(burning).await.unwrap();
    let CellEvent::Asked(_) = session.next().await else {
        panic!("it ended");
    };
    // The question stays open for ever.
    let CellEvent::Ended(end) = session.next().await else {
        panic!("it asked more");
    };
    assert_eq!(end.error.unwrap().kind, CellErrorKind::TimedOut);
}

#[tokio::test]
async fn r03_a_message_that_never_comes_to_its_end_is_not_waited_for() {
    let mut session = session().await;
    let mut half =
        cell("import os, time\nos.write(3, b'\\x00\\x78\\x00\\x00half')\ntime.sleep(1000)");
    half.limits.time = Millis(300);
    let end = run_with(&mut session, half, echo).await;
    assert_eq!(end.error.unwrap().kind, CellErrorKind::TimedOut);
    assert_eq!(printed(&mut session, "1").await, "1\n");
}

#[tokio::test]
async fn r03_a_thread_does_not_outlive_its_cell_by_stealth() {
    let mut session = session().await;
    let code = "import threading\nn = [0]\ndef work():\n  while True: n[0] += 1\nthreading.Thread(target=work, daemon=True).start()";
    assert_eq!(printed(&mut session, code).await, "");
    let before = printed(&mut session, "before = n[0]\nprint(before)").await;
    let waited = tokio::time::timeout(Duration::from_millis(200), session.next()).await;
    assert!(waited.is_err());
    // It counts some hundred thousand in a tenth of a second; between two cells it counts nothing.
    let grown: u64 = printed(&mut session, "print(n[0] - before)")
        .await
        .trim()
        .parse()
        .unwrap();
    assert!(grown < 1_000_000, "{before} {grown}");
}

#[tokio::test]
async fn only_open_questions_are_answered_and_only_one_cell_runs() {
    let mut session = session().await;
    let reply = fathom_core::sandbox::CellReply::Each(Vec::new());
    let early = session.answer(CellAnswer {
        id: 1,
        reply: reply.clone(),
    });
    assert!(matches!(early, Err(SandboxError::NotOpen { id: 1 })));
    session.run(cell("llm_query('a')")).await.unwrap();
    assert!(matches!(
        session.run(cell("1")).await,
        Err(SandboxError::Busy)
    ));
    let CellEvent::Asked(question) = session.next().await else {
        panic!("it ended");
    };
    let answer = CellAnswer {
        id: question.id,
        reply: echo(&question),
    };
    session.answer(answer.clone()).unwrap();
    assert!(matches!(
        session.answer(answer),
        Err(SandboxError::NotOpen { .. })
    ));
    assert!(matches!(session.next().await, CellEvent::Ended(_)));
}

#[tokio::test]
async fn r03_the_bytes_of_all_questions_are_limited() {
    let mut session = session().await;
    let mut asking = cell("for i in range(6): llm_query(str(i) * 100_000)");
    asking.limits.question_bytes = 1 << 20;
    let end = run_with(&mut session, asking, echo).await;
    assert_eq!(end.error, None);
    let mut asking = cell("for i in range(100): llm_query(str(i) * 100_000)");
    asking.limits.question_bytes = 1 << 20;
    let mut asked = 0;
    let end = run_with(&mut session, asking, |question| {
        asked += 1;
        echo(question)
    })
    .await;
    let error = end.error.unwrap();
    assert_eq!(error.kind, CellErrorKind::TooManyQuestions, "{error:?}");
    // What is beyond is not heard of, so nobody writes it down.
    assert!(asked <= 10, "{asked}");
}

/// Drafts and output that are told while a cell waits go with its questions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r04_a_draft_and_a_print_with_each_question_are_not_too_many() {
    let mut session = session().await;
    let remarks = "import os\n\
        def frame(text):\n    os.write(3, len(text).to_bytes(4, 'big') + text)\n\
        for i in range(10_900):\n    \
            frame(b'{\"draft\": {\"cell\": 1, \"value\": {\"form\": \"text\", \"text\": \"x\"}}}')\n    \
            frame(b'{\"printed\": {\"cell\": 1, \"output\": {\"head\": \"\", \"bytes\": 0}}}')\n";
    let mut asking = cell(&format!("llm_query_batched(['x'] * 1_000)\n{remarks}"));
    asking.limits.time = Millis(30_000);
    let end = run_with(&mut session, asking, echo).await;
    assert_eq!(end.error, None);
    let mut silent = cell(remarks);
    silent.limits.time = Millis(30_000);
    let end = run_with(&mut session, silent, echo).await;
    assert_eq!(end.error.unwrap().kind, CellErrorKind::Died);
}

/// A session that has announced half of what all large messages may have together, and its open question. It began with that,
/// so that the time of its cell stands still.
async fn hoarder(sandbox: &Sandbox, context: &SandboxContext) -> (SandboxSession, CellQuestion) {
    let mut session = sandbox.session(context, Vec::new());
    let code = "import os, threading, time\nthreading.Thread(target=llm_query, args=('a',), daemon=True).start()\n\
                while not llm_query.__globals__['state'].question: pass\n\
                llm_query.__globals__['real_sleep'](0.1)\nos.write(3, b'\\0\\x7c\\0\\0')\ntime.sleep(1000)";
    session.run(cell(code)).await.unwrap();
    let CellEvent::Asked(question) = session.next().await else {
        panic!("it ended");
    };
    let waited = tokio::time::timeout(Duration::from_millis(500), session.next()).await;
    assert!(waited.is_err(), "{waited:?}");
    (session, question)
}

/// Those who have the room for large messages wait for a turn, and who has the only turn waits for room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r03_who_waits_for_room_gives_up_its_turn() {
    let sandbox = Sandbox::new(SandboxOptions {
        computing_max: 1,
        ..SandboxOptions::default()
    });
    let context = load(&sandbox, "c").await;
    let mut hoarders = [
        hoarder(&sandbox, &context).await,
        hoarder(&sandbox, &context).await,
    ];
    let mut honest = sandbox.session(&context, Vec::new());
    let code = "llm_query.__globals__['real_sleep'](1)\nprint(len(llm_query('x' * (3 << 20))))";
    honest.run(cell(code)).await.unwrap();
    let waited = tokio::time::timeout(Duration::from_millis(300), honest.next()).await;
    assert!(waited.is_err(), "{waited:?}");
    for (session, question) in &mut hoarders {
        let (id, reply) = (question.id, echo(question));
        session.answer(CellAnswer { id, reply }).unwrap();
    }
    let asked = tokio::time::timeout(Duration::from_mins(1), honest.next()).await;
    let Ok(CellEvent::Asked(question)) = asked else {
        panic!("{asked:?}");
    };
    let (id, reply) = (question.id, echo(&question));
    honest.answer(CellAnswer { id, reply }).unwrap();
    let CellEvent::Ended(end) = honest.next().await else {
        panic!("it asked more");
    };
    assert_eq!((end.error, end.output.head.as_str()), (None, "3145730\n"));
}

/// Room for large messages is shared by all sessions; who waits for it does not work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r03_who_announces_much_and_sends_little_holds_up_others_and_ends_none() {
    let sandbox = sandbox();
    let context = load(&sandbox, "c").await;
    let mut hoarders = [
        hoarder(&sandbox, &context).await.0,
        hoarder(&sandbox, &context).await.0,
    ];
    let mut honest = sandbox.session(&context, Vec::new());
    let mut asking = cell("print(len(llm_query('x' * (3 << 20))))");
    asking.limits.time = Millis(1_000);
    let end = run_with(&mut honest, asking, echo).await;
    assert_eq!(end.error, None);
    assert_eq!(end.output.head.as_str(), "3145730\n");
    for session in &mut hoarders {
        let CellEvent::Ended(end) = session.next().await else {
            panic!("it asked more");
        };
        let error = end.error.unwrap();
        assert!(
            error.message.as_str().contains("did not end its message"),
            "{error:?}"
        );
    }
}

/// A cell whose turn to compute has not come again does not compute in the turn of another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r03_threads_stand_still_while_their_cell_waits_for_its_turn() {
    let sandbox = Sandbox::new(SandboxOptions {
        computing_max: 1,
        ..SandboxOptions::default()
    });
    let context = load(&sandbox, "c").await;
    let mut counting = sandbox.session(&context, Vec::new());
    let code = "import threading, time\nn = 0\nclock = llm_query.__globals__['real_clock']\n\
                def count():\n  global n\n  while True:\n    n += 1\n    \
                llm_query.__globals__['real_sleep'](0.001)\n\
                threading.Thread(target=count, daemon=True).start()\nthen = clock()\n\
                llm_query('a')\nprint(n < (clock() - then) * 500)";
    counting.run(cell(code)).await.unwrap();
    let CellEvent::Asked(question) = counting.next().await else {
        panic!("it ended");
    };
    let mut sleeping = sandbox.session(&context, Vec::new());
    let code = "llm_query.__globals__['real_sleep'](2)";
    sleeping.run(cell(code)).await.unwrap();
    // It has the only turn before the other one gets its answer.
    let waited = tokio::time::timeout(Duration::from_millis(300), sleeping.next()).await;
    assert!(waited.is_err(), "{waited:?}");
    let (id, reply) = (question.id, echo(&question));
    counting.answer(CellAnswer { id, reply }).unwrap();
    let CellEvent::Ended(end) = counting.next().await else {
        panic!("it asked more");
    };
    assert_eq!(end.error, None);
    assert_eq!(end.output.head.as_str(), "True\n");
}

/// An open question is no leave to compute in the turns of others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r03_work_beside_an_open_question_takes_turns() {
    let sandbox = Sandbox::new(SandboxOptions {
        computing_max: 1,
        ..SandboxOptions::default()
    });
    let context = load(&sandbox, "c").await;
    let mut burning = sandbox.session(&context, Vec::new());
    let code = "import threading\nused = 0\nlabour = llm_query.__globals__['real_labour']\n\
                def burn():\n  global used\n  while True: used = labour()\n\
                threading.Thread(target=burn, daemon=True).start()\n\
                llm_query('a')\nprint(used < 1.5)";
    burning.run(cell(code)).await.unwrap();
    let CellEvent::Asked(question) = burning.next().await else {
        panic!("it ended");
    };
    let mut sleeping = sandbox.session(&context, Vec::new());
    let code = "llm_query.__globals__['real_sleep'](4)";
    sleeping.run(cell(code)).await.unwrap();
    let CellEvent::Ended(end) = sleeping.next().await else {
        panic!("it asked");
    };
    assert_eq!(end.error, None);
    let (id, reply) = (question.id, echo(&question));
    burning.answer(CellAnswer { id, reply }).unwrap();
    let CellEvent::Ended(end) = burning.next().await else {
        panic!("it asked more");
    };
    assert_eq!((end.error, end.output.head.as_str()), (None, "True\n"));
}

/// A host that was held up does not take what was done in time for too late.
#[tokio::test]
async fn r03_a_cell_that_ended_in_time_is_heard_later() {
    let mut session = session().await;
    assert_eq!(printed(&mut session, "1").await, "1\n");
    let code = "llm_query.__globals__['real_sleep'](0.2)\nprint('done')\nSUBMIT(7)";
    let mut quick = cell(code);
    quick.limits.time = Millis(600);
    session.run(quick).await.unwrap();
    let begun = tokio::time::timeout(Duration::from_millis(50), session.next()).await;
    assert!(begun.is_err(), "{begun:?}");
    // Nothing of the host runs on its only thread.
    let (held, wait) = std::sync::mpsc::sync_channel::<()>(1);
    let _nobody = wait.recv_timeout(Duration::from_secs(1));
    drop(held);
    let CellEvent::Ended(end) = session.next().await else {
        panic!("it asked");
    };
    assert_eq!(end.error, None);
    assert_eq!(end.output.head.as_str(), "done\n");
    assert_eq!(end.submitted.unwrap().text.as_str(), "7");
}

#[tokio::test]
async fn r03_what_a_cell_hands_over_is_limited_by_the_host_too() {
    let mut session = session().await;
    for kind in ["submit", "draft"] {
        let code = format!(
            "import os\nframe = b'{{\"{kind}\": {{\"cell\": 1, \"value\": {{\"form\": \"text\", \"text\": \"' + b'x' * (5 << 20) + b'\"}}}}}}'\n\
             view = memoryview(len(frame).to_bytes(4, 'big') + frame)\nwhile view: view = view[os.write(3, view):]\nwhile True: pass"
        );
        let end = run(&mut session, &code).await;
        let error = end.error.unwrap();
        assert_eq!(error.kind, CellErrorKind::Died, "{error:?}");
        assert!(end.submitted.is_none() && end.draft.is_none());
    }
    let end = run(&mut session, "SUBMIT('é' * (3 << 20))").await;
    let error = end.error.unwrap();
    assert_eq!(error.kind, CellErrorKind::Raised);
    assert!(
        error.message.as_str().contains("6291456 bytes"),
        "{error:?}"
    );
    let end = run(&mut session, "SUBMIT('é' * (2 << 20))").await;
    assert_eq!(end.submitted.unwrap().text.as_str().len(), 4 << 20);
    // Few characters that take many bytes on their way.
    let code =
        "kept = 1\ntry:\n    SUBMIT('\\0' * 2_000_000)\nexcept ValueError:\n    SUBMIT('short')";
    let end = run(&mut session, code).await;
    assert_eq!(end.submitted.unwrap().text.as_str(), "short");
    let end = run(&mut session, "answer['content'] = '\\0' * 2_000_000").await;
    assert_eq!(end.error.unwrap().kind, CellErrorKind::Raised);
    let end = run(&mut session, "print(kept)").await;
    assert_eq!(end.output.head.as_str(), "1\n");
}
