//! A sandbox, sessions in it, and someone who answers.

use fathom_core::sandbox::{
    CellAnswer, CellCall, CellLimits, CellOutcome, CellQuestion, CellReply, CellResult, ValueFormat,
};
use fathom_core::unit::Millis;
use fathom_sandbox::{
    CellEvent, MaterialContent, Sandbox, SandboxContext, SandboxMaterial, SandboxOptions,
    SandboxSession, SessionCell,
};

/// Limits that end a test soon.
pub(crate) fn limits() -> CellLimits {
    CellLimits {
        time: Millis(5_000),
        memory: 128 << 20,
        ..CellLimits::default()
    }
}

/// A sandbox as it is set up by default.
pub(crate) fn sandbox() -> Sandbox {
    Sandbox::new(SandboxOptions::default())
}

/// A piece of text under a name.
pub(crate) fn text(name: &str, content: &str) -> SandboxMaterial {
    SandboxMaterial {
        name: name.to_owned(),
        form: ValueFormat::Text,
        content: MaterialContent::Bytes(content.as_bytes().to_vec()),
    }
}

pub(crate) async fn load(sandbox: &Sandbox, content: &str) -> SandboxContext {
    sandbox.load(vec![text("context", content)]).await.unwrap()
}

/// A new session on a short text.
pub(crate) async fn session() -> SandboxSession {
    let sandbox = sandbox();
    let context = load(&sandbox, "the context").await;
    sandbox.session(&context, Vec::new())
}

pub(crate) fn cell(code: &str) -> SessionCell {
    SessionCell {
        code: code.into(),
        limits: limits(),
        asked: Vec::new(),
    }
}

/// Says each prompt and goal back.
pub(crate) fn echo(question: &CellQuestion) -> CellReply {
    let said = |words: &str| CellOutcome::Said(format!("<{words}>").into());
    CellReply::Each(match &question.call {
        CellCall::Query { prompts, .. } => prompts.iter().map(|p| said(p.as_str())).collect(),
        CellCall::Recurse { tasks } => tasks.iter().map(|t| said(t.goal.as_str())).collect(),
        CellCall::Budget => Vec::new(),
    })
}

/// Runs a cell, answers all it asks, and gives its end.
pub(crate) async fn run_with(
    session: &mut SandboxSession,
    cell: SessionCell,
    mut answer: impl FnMut(&CellQuestion) -> CellReply,
) -> CellResult {
    session.run(cell).await.unwrap();
    loop {
        match session.next().await {
            CellEvent::Asked(question) => {
                let reply = answer(&question);
                let id = question.id;
                session.answer(CellAnswer { id, reply }).unwrap();
            }
            CellEvent::Ended(end) => return end,
        }
    }
}

/// Runs code whose questions are said back.
pub(crate) async fn run(session: &mut SandboxSession, code: &str) -> CellResult {
    run_with(session, cell(code), echo).await
}

/// What a cell printed, when that is all that came of it.
pub(crate) async fn printed(session: &mut SandboxSession, code: &str) -> String {
    let end = run(session, code).await;
    assert_eq!(end.error, None, "{code}");
    end.output.head.as_str().to_owned()
}
