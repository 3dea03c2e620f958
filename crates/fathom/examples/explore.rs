// Finds one line in a log of 5 MB. The model only writes code; the code reads the log.
#![expect(clippy::print_stdout, reason = "an example prints what came of it")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use fathom::Fathom;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    println!("{}", explore(folder.path()).await?);
    Ok(())
}

pub(crate) async fn explore(folder: &Path) -> Result<String, Box<dyn Error>> {
    let mut log = String::new();
    for number in 0..150_000 {
        match number {
            77_777 => log.push_str("web-3 FAILED: the disk is gone\n"),
            _ => writeln!(log, "web-{} ok, request {number} took 12 ms", number % 7)?,
        }
    }
    let file = folder.join("hosts.log");
    std::fs::write(&file, log)?;
    // Two turns: look at the lines that say so, then submit the host.
    let script = folder.join("model.jsonl");
    let look = r"hits = [line for line in context.splitlines() if 'FAILED' in line]\nprint(hits)";
    let submit = r"SUBMIT(hits[0].split()[0])";
    let turn = |code: &str| format!(r#"{{"reply": "```repl\n{code}\n```"}}"#);
    std::fs::write(&script, format!("{}\n{}\n", turn(look), turn(submit)))?;

    let fathom = Fathom::open(folder.join("home"))?;
    let run = fathom
        .explore("Which host failed?")
        .context(&file)
        .model(format!("script/{}", script.display()))
        .start()
        .await?;
    let answer = run.answer().await?;
    Ok(answer.text().unwrap_or("no answer").to_owned())
}
