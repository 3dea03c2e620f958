//! A base process that ends.

use fathom_core::cell::{CellEnd, CellErrorKind, CellLimits, Form};
use rustix::process::{Pid, Signal, kill_process};

use super::*;
use crate::material::Content;
use crate::session::{Cell, Heard};

async fn run(session: &mut Session, code: &str) -> CellEnd {
    let cell = Cell {
        code: code.into(),
        limits: CellLimits::default(),
        asked: Vec::new(),
    };
    session.run(cell).await.unwrap();
    match session.next().await {
        Heard::Ended(end) => end,
        Heard::Asked(question) => panic!("it asked {question:?}"),
    }
}

#[tokio::test]
async fn r03_a_base_process_that_died_is_replaced() {
    let sandbox = Sandbox::new(Options::default());
    let material = Material {
        name: "x".to_owned(),
        form: Form::Text,
        content: Content::Bytes(b"short".to_vec()),
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
