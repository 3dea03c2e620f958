//! A base process that ends.

use fathom_core::sandbox::{CellErrorKind, CellLimits, CellResult, ValueFormat};
use rustix::process::{Pid, Signal, kill_process};

use super::*;
use crate::material::MaterialContent;
use crate::session::{CellEvent, SessionCell};

async fn run(session: &mut SandboxSession, code: &str) -> CellResult {
    let cell = SessionCell {
        code: code.into(),
        limits: CellLimits::default(),
        asked: Vec::new(),
    };
    session.run(cell).await.unwrap();
    match session.next().await {
        CellEvent::Ended(end) => end,
        CellEvent::Asked(question) => panic!("it asked {question:?}"),
    }
}

#[tokio::test]
async fn r03_a_machine_that_runs_out_of_memory_loses_workers_first() {
    let sandbox = Sandbox::new(SandboxOptions::default());
    let base = sandbox.0.base().await.unwrap().number().unwrap();
    let score = std::fs::read_to_string(format!("/proc/{base}/oom_score_adj")).unwrap();
    assert_eq!(score, "1000\n");
}

#[tokio::test]
async fn r03_a_base_process_that_died_is_replaced() {
    let sandbox = Sandbox::new(SandboxOptions::default());
    let material = SandboxMaterial {
        name: "x".to_owned(),
        form: ValueFormat::Text,
        content: MaterialContent::Bytes(b"short".to_vec()),
    };
    let context = sandbox.load(vec![material]).await.unwrap();
    let base = sandbox.0.base().await.unwrap().number().unwrap();
    kill_process(Pid::from_raw(base.cast_signed()).unwrap(), Signal::KILL).unwrap();
    let mut session = sandbox.session(&context, Vec::new());
    let end = run(&mut session, "1").await;
    assert_eq!(end.error.unwrap().kind, CellErrorKind::Unavailable);
    // The same session, on material that was loaded before.
    let end = run(&mut session, "print(context)").await;
    assert_eq!((end.error, end.output.head.as_str()), (None, "short\n"));
}
