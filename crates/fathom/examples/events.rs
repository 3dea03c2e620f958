// Follows a run while it works: the words of its model, and how it finished.
#![expect(clippy::print_stdout, reason = "an example prints what came of it")]

use std::error::Error;
use std::path::Path;

use fathom::{Fathom, RunEventKind};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    println!("{}", events(folder.path()).await?);
    Ok(())
}

pub(crate) async fn events(folder: &Path) -> Result<String, Box<dyn Error>> {
    let script = folder.join("model.jsonl");
    std::fs::write(&script, r#"{"reply": "A fathom is six feet."}"#)?;

    let fathom = Fathom::builder()
        .home(folder.join("home"))
        .model(format!("script/{}", script.display()))
        .open()?;
    let run = fathom.ask("How long is a fathom?").start().await?;
    let mut events = run.events();
    let mut lines = Vec::new();
    // An event arrives once its record is durable; the stream ends with the run.
    while let Some(event) = events.next().await {
        let event = event?;
        lines.push(match event.kind {
            RunEventKind::Started { program, .. } => format!("{} started {program}", event.episode),
            RunEventKind::Replied { text } => format!("{} heard: {text}", event.episode),
            RunEventKind::Finished { status, .. } => {
                format!("{} finished: {status}", event.episode)
            }
            _ => continue,
        });
    }
    Ok(lines.join("\n"))
}
