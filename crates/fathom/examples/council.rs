// Puts a decision to a council, whose seats read the notes that matter to them.
#![expect(clippy::print_stdout, reason = "an example prints what came of it")]

use std::error::Error;
use std::path::Path;

use fathom::Fathom;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    println!("{}", council(folder.path()).await?);
    Ok(())
}

pub(crate) async fn council(folder: &Path) -> Result<String, Box<dyn Error>> {
    let notes = folder.join("notes");
    std::fs::create_dir(&notes)?;
    std::fs::write(
        notes.join("auth.md"),
        "Auth is weak: nine teams share one key, a breach of our own security rules.\n",
    )?;
    std::fs::write(
        notes.join("cost.md"),
        "The new cluster costs 40 % less than the old one.\n",
    )?;
    // The seat for security rejects what it reads; all others approve.
    let script = folder.join("model.jsonl");
    let vote = |seat: &str, vote: &str, why: &str| {
        let reply = format!(
            r#"{{\"reasoning\": \"{why}\", \"source\": 1, \"vote\": \"{vote}\", \"confidence\": 80}}"#
        );
        format!(r#"{{"match": "{seat}", "reply": "{reply}", "times": 99}}"#)
    };
    let security = vote("Your seat: IT/security", "REJECT", "one key for nine teams");
    let others = vote("Your seat: ", "APPROVE", "it is cheaper");
    std::fs::write(&script, format!("{security}\n{others}\n"))?;

    let fathom = Fathom::builder()
        .home(folder.join("home"))
        .model(format!("script/{}", script.display()))
        .open()?;
    let question = "Should we move the customer database to the new cluster this quarter, considering cost, latency and \
                    the auth migration?";
    let run = fathom.council(question).context(&notes).start().await?;
    let answer = run.answer().await?;
    // The report has every vote with its reasons and sources.
    let dissent = answer.report().map(|report| report["dissent"].to_string());
    Ok(format!(
        "{}\ndissent: {}",
        answer.text().unwrap_or("no decision"),
        dissent.unwrap_or_default()
    ))
}
