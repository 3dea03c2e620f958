//! Journeys through the library: the examples of its front page, each from an empty home.

#[expect(dead_code, reason = "`main` is for `cargo run --example`")]
#[path = "../../examples/approval.rs"]
mod approval;
#[expect(dead_code, reason = "`main` is for `cargo run --example`")]
#[path = "../../examples/ask.rs"]
mod ask;
#[expect(dead_code, reason = "`main` is for `cargo run --example`")]
#[path = "../../examples/council.rs"]
mod council;
#[expect(dead_code, reason = "`main` is for `cargo run --example`")]
#[path = "../../examples/events.rs"]
mod events;
#[expect(dead_code, reason = "`main` is for `cargo run --example`")]
#[path = "../../examples/explore.rs"]
mod explore;
#[expect(dead_code, reason = "`main` is for `cargo run --example`")]
#[path = "../../examples/replay.rs"]
mod replay;

use std::error::Error;

use fathom::records::{EpisodeStatus, RecordRef};
use fathom::{Fathom, FathomError, ModelChoice, RunEventKind, RunOutcome};
use tempfile::TempDir;

type Outcome = Result<(), Box<dyn Error>>;

/// A folder with an open home, and a script of these lines.
fn scripted(lines: &[&str]) -> Result<(TempDir, Fathom), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let script = folder.path().join("model.jsonl");
    std::fs::write(&script, lines.join("\n"))?;
    let fathom = Fathom::builder()
        .home(folder.path().join("home"))
        .model(format!("script/{}", script.display()))
        .open()?;
    Ok((folder, fathom))
}

#[tokio::test]
async fn h03_a_question_is_answered_within_its_budget() -> Outcome {
    let folder = tempfile::tempdir()?;
    assert_eq!(ask::ask(folder.path()).await?, "Paris.");
    let fathom = Fathom::open(folder.path().join("home"))?;
    let [run] = &fathom.runs(10)?[..] else {
        return Err("one run is recorded".into());
    };
    let view = fathom.show(run.run)?;
    let root = view.root().ok_or("it has a root")?;
    assert_eq!(root.budget().amounts.calls, 3);
    Ok(())
}

#[tokio::test]
async fn h03_a_council_decides_over_files_and_names_its_dissent() -> Outcome {
    let folder = tempfile::tempdir()?;
    let said = council::council(folder.path()).await?;
    assert!(said.starts_with("APPROVE, confidence "), "{said}");
    assert!(said.ends_with("dissent: [\"IT/security\"]"), "{said}");
    Ok(())
}

#[tokio::test]
async fn h03_a_log_of_five_megabytes_is_explored_by_code() -> Outcome {
    let folder = tempfile::tempdir()?;
    assert_eq!(explore::explore(folder.path()).await?, "web-3");
    let bytes = std::fs::metadata(folder.path().join("hosts.log"))?.len();
    assert!(bytes > 5_000_000, "{bytes}");
    Ok(())
}

#[tokio::test]
async fn h03_an_effect_is_sent_after_an_approval_in_code() -> Outcome {
    let folder = tempfile::tempdir()?;
    let said = approval::approval(folder.path()).await?;
    assert_eq!(said, "Posted.\n{\"text\":\"Spring is here\"}");
    let fathom = Fathom::open(folder.path().join("home"))?;
    assert!(fathom.approvals()?.is_empty());
    let [decided] = &fathom.all_approvals()?[..] else {
        return Err("one approval is recorded".into());
    };
    assert!(!decided.approval.is_open());
    Ok(())
}

#[tokio::test]
async fn h03_events_are_streamed_until_the_run_ends() -> Outcome {
    let folder = tempfile::tempdir()?;
    assert_eq!(
        events::events(folder.path()).await?,
        "0 started direct\n0 heard: A fathom is six feet.\n0 finished: ok"
    );
    Ok(())
}

#[tokio::test]
async fn h03_a_run_is_replayed_and_verified() -> Outcome {
    let folder = tempfile::tempdir()?;
    assert_eq!(
        replay::replay(folder.path()).await?,
        "1 model call, 0 differences in replay, 0 model calls in replay, chain ok"
    );
    Ok(())
}

#[tokio::test]
async fn h03_every_record_is_streamed_in_order_and_once() -> Outcome {
    let (_folder, fathom) = scripted(&[r#"{"reply": "six feet"}"#])?;
    let run = fathom.ask("How long is a fathom?").start().await?;
    let id = run.id();
    let mut events = run.events();
    let mut seqs = Vec::new();
    let mut last = None;
    while let Some(event) = events.next().await {
        let event = event?;
        seqs.push(event.seq);
        last = Some(event.kind);
    }
    // The last record holds the reply and the end.
    assert_eq!(seqs.len() as u64, fathom.show(id)?.records() + 1);
    seqs.dedup();
    assert_eq!(seqs.len() as u64, fathom.show(id)?.records());
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "{seqs:?}");
    let finished = RunEventKind::Finished {
        status: EpisodeStatus::Ok,
        answer: Some("six feet".to_owned()),
    };
    assert_eq!(last, Some(finished));
    Ok(())
}

#[tokio::test]
async fn h03_a_run_that_was_let_go_is_resumed_and_forked() -> Outcome {
    let slow = r#"{"reply": "six feet", "delay_ms": 600000}"#;
    let (folder, fathom) = scripted(&[slow])?;
    let run = fathom.ask("How long is a fathom?").start().await?;
    let id = run.id();
    run.interrupt();
    let outcome = run.wait().await?;
    assert!(matches!(outcome, RunOutcome::Interrupted { .. }));
    assert_eq!(fathom.unfinished()?, [id]);
    let script = folder.path().join("model.jsonl");
    std::fs::write(&script, r#"{"reply": "two yards", "times": 2}"#)?;
    let answer = fathom.resume(id)?.answer().await?;
    assert_eq!(answer.text(), Some("two yards"));
    let forked = fathom.fork(id, &"0:0".parse::<RecordRef>()?)?;
    assert_ne!(forked.id(), id);
    assert_eq!(forked.answer().await?.text(), Some("two yards"));
    assert!(fathom.verify_all()?.is_ok());
    Ok(())
}

#[tokio::test]
async fn h03_a_run_is_cancelled_and_keeps_its_record() -> Outcome {
    let slow = r#"{"reply": "six feet", "delay_ms": 600000}"#;
    let (_folder, fathom) = scripted(&[slow])?;
    let run = fathom.ask("How long is a fathom?").start().await?;
    let id = run.id();
    assert!(fathom.cancel(id)?.is_none(), "this process owns it");
    let answer = run.wait().await?.into_answer()?;
    assert_eq!(answer.status(), EpisodeStatus::Failed);
    let error = fathom.resume(id).map(|_| ()).unwrap_err();
    assert_eq!(error.code(), "F0404");
    Ok(())
}

#[tokio::test]
async fn h03_mistakes_have_a_code_and_a_hint() -> Outcome {
    let (_folder, fathom) = scripted(&[r#"{"reply": "six feet"}"#])?;
    let mut errors: Vec<FathomError> = Vec::new();
    errors.extend(fathom.ask(" ").start().await.err());
    errors.extend(fathom.ask("Why?").model("gpt").start().await.err());
    errors.extend(fathom.ask("Why?").model("script/none").start().await.err());
    let server = ModelChoice::new("openai/x").base_url("localhost");
    errors.extend(fathom.ask("Why?").model(server).start().await.err());
    errors.extend(fathom.ask("Why?").charter("none").start().await.err());
    errors.extend(
        fathom
            .explore("Why?")
            .context("none.log")
            .start()
            .await
            .err(),
    );
    errors.extend(fathom.resume("0".repeat(32).parse()?).err());
    let codes: Vec<&str> = errors.iter().map(FathomError::code).collect();
    assert_eq!(codes.len(), 7, "{errors:?}");
    assert_eq!(codes[..4], ["F0105", "F0108", "F0109", "F0103"]);
    assert!(errors.iter().all(|error| !error.hint().is_empty()));
    Ok(())
}
