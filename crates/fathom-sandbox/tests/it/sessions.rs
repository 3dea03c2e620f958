//! Sessions come back by replay, and many share few processes.

use std::future::Future;
use std::pin::Pin;

use fathom_core::sandbox::{
    CellAnswer, CellCall, CellErrorKind, CellOutcome, CellQuestion, CellReply, CellResult,
};
use fathom_core::unit::Millis;
use fathom_sandbox::{
    CellEvent, PastCell, RecordedQuestion, Sandbox, SandboxContext, SandboxOptions, SandboxSession,
    SessionCell,
};

use crate::fixture::{cell, echo, load, printed, run_with, sandbox};

fn asked(id: u32, prompt: &str, reply: Option<&str>) -> RecordedQuestion {
    RecordedQuestion {
        question: CellQuestion {
            id,
            draft: None,
            call: CellCall::Query {
                prompts: vec![prompt.into()],
                pattern: None,
                tokens_max: None,
            },
        },
        reply: reply.map(|said| CellReply::Each(vec![CellOutcome::Said(said.into())])),
    }
}

async fn begun(history: Vec<PastCell>) -> SandboxSession {
    let sandbox = sandbox();
    let context = load(&sandbox, "c").await;
    sandbox.session(&context, history)
}

#[tokio::test]
async fn r07_a_session_begins_with_its_past_and_asks_nothing_again() {
    let past = PastCell {
        code: "x = llm_query('a') + llm_query('a')".into(),
        took: None,
        asked: vec![asked(1, "a", Some("1")), asked(2, "a", Some("2"))],
    };
    let mut session = begun(vec![past]).await;
    let mut questions = Vec::new();
    let end = run_with(&mut session, cell("print(x, llm_query('b'))"), |question| {
        questions.push(question.id);
        echo(question)
    })
    .await;
    assert_eq!(end.output.head.as_str(), "12 <b>\n");
    assert_eq!(questions, [1]);
}

/// A replay holds up whoever waits for the session, and a turn to compute.
#[tokio::test]
async fn r03_a_replay_takes_not_much_longer_than_its_cells_took() {
    let past = PastCell {
        code: "while llm_query.__globals__['state'].replayed: pass".into(),
        took: Some(Millis(10)),
        asked: Vec::new(),
    };
    let mut session = begun(vec![past]).await;
    let end = run_with(&mut session, cell("print(1)"), echo).await;
    let error = end.error.unwrap();
    assert_eq!(error.kind, CellErrorKind::Lost);
    // Of the four times five seconds that it may take where nothing is known.
    assert!(
        error.message.as_str().contains("more than 2080 ms"),
        "{error:?}"
    );
}

#[tokio::test]
async fn r07_a_cell_that_is_tried_again_goes_on_with_the_answers_it_had() {
    let mut session = begun(Vec::new()).await;
    let again = SessionCell {
        asked: vec![asked(1, "a", Some("had")), asked(2, "b", None)],
        ..cell("print(llm_query('a'), llm_query('b'), llm_query('c'))")
    };
    session.run(again).await.unwrap();
    // The open question is not told again: it is answered under its old number.
    let reply = CellReply::Each(vec![CellOutcome::Said("late".into())]);
    session.answer(CellAnswer { id: 2, reply }).unwrap();
    let CellEvent::Asked(question) = session.next().await else {
        panic!("it ended");
    };
    assert_eq!(question.id, 3);
    let reply = echo(&question);
    session.answer(CellAnswer { id: 3, reply }).unwrap();
    let CellEvent::Ended(end) = session.next().await else {
        panic!("it asked more");
    };
    assert_eq!(end.output.head.as_str(), "had late <c>\n");
}

#[tokio::test]
async fn r07_a_replay_that_goes_another_way_is_said_so_and_begun_anew() {
    let past = PastCell {
        code: "x = llm_query('other')".into(),
        took: None,
        asked: vec![asked(1, "a", Some("1"))],
    };
    let mut session = begun(vec![past]).await;
    let end = run_with(&mut session, cell("x"), echo).await;
    let error = end.error.unwrap();
    assert_eq!(error.kind, CellErrorKind::Lost);
    assert!(
        error
            .message
            .as_str()
            .contains("cell 1 ran again, it asked something else"),
        "{error:?}"
    );
    assert_eq!(
        printed(&mut session, "print('x' in globals())").await,
        "False\n"
    );
}

#[tokio::test]
async fn r07_a_replay_stands_though_threads_ask_more_than_before() {
    let past = PastCell {
        code: "import threading\nthreading.Thread(target=llm_query, args=('more',)).start()\nx = llm_query('a')".into(),
        took: None,
        asked: vec![asked(1, "a", Some("1"))],
    };
    let mut session = begun(vec![past]).await;
    assert_eq!(printed(&mut session, "print(x)").await, "1\n");
}

#[tokio::test]
async fn r07_a_replay_waits_for_threads_as_before() {
    let past = PastCell {
        code: "import threading, time\ngot = []\n\
               threading.Thread(target=lambda: got.append(llm_query('a'))).start()\n\
               for _ in range(50):\n    if got:\n        break\n    time.sleep(0.1)\nx = list(got)"
            .into(),
        asked: vec![asked(1, "a", Some("1"))],
        took: None,
    };
    for _ in 0..5 {
        let mut session = begun(vec![past.clone()]).await;
        assert_eq!(printed(&mut session, "print(x)").await, "['1']\n");
    }
}

#[tokio::test]
async fn r07_a_replay_does_not_sleep_again() {
    let past = PastCell {
        code: "import time\ntime.sleep(1000)\nx = time.time()".into(),
        took: None,
        asked: Vec::new(),
    };
    let awaiting = PastCell {
        code: "import asyncio\nawait asyncio.sleep(1000)".into(),
        took: None,
        asked: Vec::new(),
    };
    let mut session = begun(vec![past, awaiting]).await;
    assert_eq!(printed(&mut session, "print(int(x))").await, "1767226600\n");
}

/// Sessions of a tree: a task of a question is a session of its own, with two cells.
struct Tree {
    sandbox: Sandbox,
    context: SandboxContext,
}

impl Tree {
    fn child<'a>(&'a self, goal: &'a str) -> Pin<Box<dyn Future<Output = String> + Send + 'a>> {
        Box::pin(async move {
            let mut session = self.sandbox.session(&self.context, Vec::new());
            let end = self
                .run(&mut session, &format!("n = int('{goal}') + len(context)"))
                .await;
            assert_eq!(end.error, None);
            let end = self
                .run(&mut session, "n += 1\nSUBMIT(llm_query(str(n)))")
                .await;
            end.submitted
                .unwrap_or_else(|| panic!("{:?}", end.error))
                .text
                .as_str()
                .to_owned()
        })
    }

    async fn run(&self, session: &mut SandboxSession, code: &str) -> CellResult {
        session.run(cell(code)).await.unwrap();
        loop {
            match session.next().await {
                CellEvent::Ended(end) => return end,
                CellEvent::Asked(question) => {
                    let reply = self.reply(&question).await;
                    session
                        .answer(CellAnswer {
                            id: question.id,
                            reply,
                        })
                        .unwrap();
                }
            }
        }
    }

    async fn reply(&self, question: &CellQuestion) -> CellReply {
        let CellCall::Recurse { tasks } = &question.call else {
            tokio::task::yield_now().await;
            return echo(question);
        };
        let mut children = Vec::new();
        for task in tasks {
            children.push(self.child(task.goal.as_str()));
        }
        let mut outcomes = Vec::new();
        for answer in join(children).await {
            outcomes.push(CellOutcome::Said(answer.into()));
        }
        CellReply::Each(outcomes)
    }
}

/// Waits for all of them side by side.
async fn join<'a>(
    mut futures: Vec<Pin<Box<dyn Future<Output = String> + Send + 'a>>>,
) -> Vec<String> {
    let mut done: Vec<Option<String>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, done) in futures.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(answer) = future.as_mut().poll(context)
            {
                *done = Some(answer);
            }
        }
        if done.iter().all(Option::is_some) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    done.into_iter().flatten().collect()
}

#[tokio::test]
async fn r03_two_processes_are_enough_for_a_parent_that_waits_for_fifty_children() {
    let sandbox = Sandbox::new(SandboxOptions {
        processes_max: 2,
        computing_max: 1,
        ..SandboxOptions::default()
    });
    let context = load(&sandbox, "0123456789").await;
    let tree = Tree { sandbox, context };
    let mut parent = tree.sandbox.session(&tree.context, Vec::new());
    tree.run(&mut parent, "kept = llm_query('first')").await;
    let code = "found = rlm_query_batched([str(i) for i in range(50)])\nprint(kept, len(found), found[0], found[49])";
    let end = tree.run(&mut parent, code).await;
    assert_eq!(end.error, None);
    assert_eq!(end.output.head.as_str(), "<first> 50 <11> <60>\n");
}

#[tokio::test]
async fn r03_more_sessions_than_processes_can_wait_at_once() {
    let sandbox = Sandbox::new(SandboxOptions {
        processes_max: 2,
        ..SandboxOptions::default()
    });
    let context = load(&sandbox, "c").await;
    let mut waiting = Vec::new();
    for number in 0..6 {
        let mut session = sandbox.session(&context, Vec::new());
        run_with(&mut session, cell(&format!("n = {number}")), echo).await;
        session.run(cell("n = llm_query(str(n))")).await.unwrap();
        let CellEvent::Asked(question) = session.next().await else {
            panic!("it ended");
        };
        waiting.push((session, question));
    }
    // All of them wait by now, and only two of them can have a process.
    for (number, (mut session, question)) in waiting.into_iter().enumerate() {
        let reply = echo(&question);
        let id = question.id;
        session.answer(CellAnswer { id, reply }).unwrap();
        let CellEvent::Ended(end) = session.next().await else {
            panic!("it asked again");
        };
        assert_eq!(end.error, None);
        assert_eq!(
            printed(&mut session, "print(n)").await,
            format!("<{number}>\n")
        );
    }
}

#[tokio::test]
async fn r02_a_session_that_gave_up_its_process_comes_back_as_it_was() {
    let sandbox = Sandbox::new(SandboxOptions {
        processes_max: 1,
        ..SandboxOptions::default()
    });
    let context = load(&sandbox, "c").await;
    let mut first = sandbox.session(&context, Vec::new());
    let mut second = sandbox.session(&context, Vec::new());
    let mut questions = 0;
    let mut count = |question: &CellQuestion| {
        questions += 1;
        echo(question)
    };
    run_with(
        &mut first,
        cell("import random\nx = [llm_query('a'), random.random()]"),
        &mut count,
    )
    .await;
    run_with(&mut second, cell("x = 2"), &mut count).await;
    let end = run_with(
        &mut first,
        cell("print(x[0], x[1] == 0.8444218515250481)"),
        &mut count,
    )
    .await;
    assert_eq!(end.output.head.as_str(), "<a> True\n", "{:?}", end.error);
    assert_eq!(questions, 1);
}

#[tokio::test]
async fn a_session_that_is_dropped_frees_its_place() {
    let sandbox = Sandbox::new(SandboxOptions {
        processes_max: 1,
        computing_max: 1,
        ..SandboxOptions::default()
    });
    let context = load(&sandbox, "c").await;
    let mut endless = sandbox.session(&context, Vec::new());
    endless.run(cell("while True: pass")).await.unwrap();
    drop(endless);
    let mut next = sandbox.session(&context, Vec::new());
    assert_eq!(printed(&mut next, "context").await, "'c'\n");
}

/// A cell that gives its process up and comes back may not ask anew what it was allowed once.
#[tokio::test]
async fn r03_what_a_cell_may_ask_counts_over_all_its_tries() {
    let sandbox = Sandbox::new(SandboxOptions {
        processes_max: 1,
        ..SandboxOptions::default()
    });
    let context = load(&sandbox, "c").await;
    let mut unsteady = sandbox.session(&context, Vec::new());
    let mut other = sandbox.session(&context, Vec::new());
    // The true clock, so that each try asks something else.
    let mut asking = cell("llm_query(str(llm_query.__globals__['real_clock']()))");
    asking.limits.questions = 3;
    unsteady.run(asking).await.unwrap();
    let mut asked = 0;
    let error = loop {
        match unsteady.next().await {
            CellEvent::Asked(question) => {
                asked += 1;
                assert!(asked <= 3, "it asks for ever");
                // The only process goes to the other one, and this one begins again.
                run_with(&mut other, cell("1"), echo).await;
                let (id, reply) = (question.id, echo(&question));
                unsteady.answer(CellAnswer { id, reply }).unwrap();
            }
            CellEvent::Ended(end) => break end.error.unwrap(),
        }
    };
    assert_eq!(error.kind, CellErrorKind::TooManyQuestions, "{error:?}");
    assert_eq!(asked, 3);
}

#[tokio::test]
async fn r03_what_a_cell_may_ask_counts_over_a_restart_of_its_host() {
    let mut session = begun(Vec::new()).await;
    let mut again = SessionCell {
        asked: vec![asked(1, "a", Some("1")), asked(2, "b", Some("2"))],
        ..cell("for name in 'abcde':\n    llm_query(name)")
    };
    again.limits.questions = 3;
    let mut told = 0;
    let end = run_with(&mut session, again, |question| {
        told += 1;
        echo(question)
    })
    .await;
    let error = end.error.unwrap();
    assert_eq!(error.kind, CellErrorKind::TooManyQuestions, "{error:?}");
    assert_eq!(told, 1);
}
