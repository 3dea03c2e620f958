//! How fast sessions open and ask, and what their memory costs.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark prints, measures time and stops where it fails"
)]

use std::fs;
use std::time::Instant;

use fathom_core::sandbox::{CellAnswer, CellOutcome, CellReply, CellResult, ValueFormat};
use fathom_sandbox::{
    CellEvent, MaterialContent, Sandbox, SandboxContext, SandboxMaterial, SandboxOptions,
    SandboxSession, SessionCell,
};

const SESSIONS: usize = 100;
const QUESTIONS: usize = 2_000;
const CHILDREN: usize = 1_000;
const CONTEXT_BYTES: usize = 100 << 20;

async fn run(session: &mut SandboxSession, code: &str) -> CellResult {
    let cell = SessionCell {
        code: code.into(),
        ..SessionCell::default()
    };
    session.run(cell).await.unwrap();
    loop {
        match session.next().await {
            CellEvent::Asked(question) => {
                let answer = CellAnswer {
                    id: question.id,
                    reply: CellReply::Each(vec![CellOutcome::Said("yes".into())]),
                };
                session.answer(answer).unwrap();
            }
            CellEvent::Ended(end) => {
                assert_eq!(end.error, None);
                return end;
            }
        }
    }
}

fn text(content: Vec<u8>) -> Vec<SandboxMaterial> {
    vec![SandboxMaterial {
        name: "context".to_owned(),
        form: ValueFormat::Text,
        content: MaterialContent::Bytes(content),
    }]
}

/// Proportional memory of every process below this one, in MB.
fn children_mb() -> f64 {
    let mut parents = vec![std::process::id().to_string()];
    let mut kilobytes = 0_u64;
    while let Some(parent) = parents.pop() {
        for task in fs::read_dir(format!("/proc/{parent}/task"))
            .into_iter()
            .flatten()
        {
            let children = task.unwrap().path().join("children");
            for child in fs::read_to_string(children)
                .unwrap_or_default()
                .split_whitespace()
            {
                let rollup = fs::read_to_string(format!("/proc/{child}/smaps_rollup"));
                kilobytes += rollup
                    .unwrap_or_default()
                    .lines()
                    .find_map(|line| line.strip_prefix("Pss:"))
                    .and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok())
                    .unwrap_or(0);
                parents.push(child.to_owned());
            }
        }
    }
    kilobytes as f64 / 1024.0
}

fn line(name: &str, figure: f64, unit: &str) {
    println!("{name:<52} {figure:>9.3} {unit}");
}

async fn open_and_ask(sandbox: &Sandbox, context: &SandboxContext) {
    let mut opened = Vec::new();
    for _ in 0..50 {
        let begun = Instant::now();
        let mut session = sandbox.session(context, Vec::new());
        run(&mut session, "1 + 1").await;
        opened.push(begun.elapsed());
    }
    opened.sort();
    line(
        "warm session and one cell, median",
        opened[25].as_secs_f64() * 1e3,
        "ms",
    );
    line(
        "warm session and one cell, slowest of 50",
        opened[49].as_secs_f64() * 1e3,
        "ms",
    );

    let mut session = sandbox.session(context, Vec::new());
    run(&mut session, "1").await;
    let begun = Instant::now();
    for _ in 0..200 {
        run(&mut session, "1").await;
    }
    line(
        "cell in an open session",
        begun.elapsed().as_secs_f64() * 1e6 / 200.0,
        "µs",
    );
    let begun = Instant::now();
    run(
        &mut session,
        &format!("for i in range({QUESTIONS}): llm_query('x')"),
    )
    .await;
    line(
        "question and answer",
        begun.elapsed().as_secs_f64() * 1e6 / QUESTIONS as f64,
        "µs",
    );
}

async fn large(sandbox: &Sandbox) {
    let sentence = b"The quick brown fox jumps over the lazy dog, once more.\n";
    let haystack: Vec<u8> = sentence
        .iter()
        .copied()
        .cycle()
        .take(CONTEXT_BYTES)
        .collect();
    let before = children_mb();
    line("the base process (PSS)", before, "MB");
    let begun = Instant::now();
    let context = sandbox.load(text(haystack)).await.unwrap();
    line("100 MB of ASCII: load", begun.elapsed().as_secs_f64(), "s");
    line("100 MB of ASCII: all processes (PSS)", children_mb(), "MB");
    let begun = Instant::now();
    let mut session = sandbox.session(&context, Vec::new());
    run(&mut session, "print(context.count('fox'))").await;
    line(
        "100 MB of ASCII: first session and a count",
        begun.elapsed().as_secs_f64(),
        "s",
    );
    let mut sessions = Vec::new();
    let begun = Instant::now();
    for _ in 0..SESSIONS {
        let mut session = sandbox.session(&context, Vec::new());
        run(&mut session, "x = len(context)").await;
        sessions.push(session);
    }
    line(
        "100 MB of ASCII: 100 sessions",
        begun.elapsed().as_secs_f64(),
        "s",
    );
    line("100 MB of ASCII: 100 sessions (PSS)", children_mb(), "MB");
}

/// Sessions that wait for an answer while others need their processes.
async fn crowd(sandbox: &Sandbox, context: &SandboxContext) {
    let begun = Instant::now();
    let mut children = Vec::new();
    for number in 0..CHILDREN {
        let mut session = sandbox.session(context, Vec::new());
        children.push(tokio::spawn(async move {
            run(&mut session, &format!("x = {number}")).await;
            let end = run(&mut session, "SUBMIT(llm_query(str(x)))").await;
            end.submitted.unwrap()
        }));
    }
    for child in children {
        child.await.unwrap();
    }
    line(
        "1,000 sessions of two cells, 64 processes",
        begun.elapsed().as_secs_f64(),
        "s",
    );
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // On the runtime's own threads, as a host would run it.
    let work = runtime.spawn(async {
        let sandbox = Sandbox::new(SandboxOptions {
            processes_max: 2 * SESSIONS,
            ..SandboxOptions::default()
        });
        let begun = Instant::now();
        println!("{:?}", sandbox.isolation().await.unwrap());
        line(
            "base process, cold",
            begun.elapsed().as_secs_f64() * 1e3,
            "ms",
        );
        let context = sandbox.load(text(b"short".to_vec())).await.unwrap();
        open_and_ask(&sandbox, &context).await;
        let few = Sandbox::new(SandboxOptions::default());
        let given = few.load(text(b"short".to_vec())).await.unwrap();
        crowd(&few, &given).await;
        drop((few, given, context));
        large(&sandbox).await;
    });
    runtime.block_on(work).unwrap();
}
