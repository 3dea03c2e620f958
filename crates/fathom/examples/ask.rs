// Asks one question, with a limit of three model calls.
#![expect(clippy::print_stdout, reason = "an example prints what came of it")]

use std::error::Error;
use std::path::Path;

use fathom::Fathom;
use fathom::limits::PartialBudget;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    println!("{}", ask(folder.path()).await?);
    Ok(())
}

pub(crate) async fn ask(folder: &Path) -> Result<String, Box<dyn Error>> {
    // Each line is a reply to a prompt that matches. Instead of the script: `openai/NAME`, `local/default`, …
    let script = folder.join("model.jsonl");
    std::fs::write(
        &script,
        r#"{"match": "capital of France", "reply": "Paris."}"#,
    )?;

    let fathom = Fathom::open(folder.join("home"))?;
    let run = fathom
        .ask("What is the capital of France?")
        .model(format!("script/{}", script.display()))
        .budget(PartialBudget {
            calls: Some(3),
            ..PartialBudget::default()
        })
        .start()
        .await?;
    let answer = run.answer().await?;
    Ok(answer.text().unwrap_or("no answer").to_owned())
}
