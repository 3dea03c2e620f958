// Looks back at a run: its tree, a replay without a model, and a check of its hash chain.
#![expect(clippy::print_stdout, reason = "an example prints what came of it")]

use std::error::Error;
use std::path::Path;

use fathom::Fathom;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    println!("{}", replay(folder.path()).await?);
    Ok(())
}

pub(crate) async fn replay(folder: &Path) -> Result<String, Box<dyn Error>> {
    let script = folder.join("model.jsonl");
    std::fs::write(&script, r#"{"reply": "A fathom is six feet."}"#)?;

    let fathom = Fathom::builder()
        .home(folder.join("home"))
        .model(format!("script/{}", script.display()))
        .open()?;
    let run = fathom.ask("How long is a fathom?").start().await?;
    let answer = run.answer().await?;

    let view = fathom.show(answer.run())?;
    let replayed = fathom.replay(answer.run())?;
    let verified = fathom.verify(answer.run())?;
    Ok(format!(
        "{} model call, {} differences in replay, {} model calls in replay, chain {}",
        view.model_calls(),
        replayed.differences.len(),
        replayed.model_calls,
        if verified.is_ok() { "ok" } else { "broken" },
    ))
}
