//! The sandbox platform by hand: `cargo run -p fathom-testkit --example platform -- --port 8099`.
//!
//! Prints where it is and what it wants as a token, and keeps what is posted until it is stopped. `--lose-every N` loses
//! the answer to every n-th commit, `--drift yes` moves what is on the pages, `--visitor TEXT` has someone say this under every post.

use std::error::Error;
use std::io::Write as _;

use fathom_testkit::fake_platform::{FakePlatform, FaultRate, PlatformOptions};

#[tokio::main]
#[expect(
    clippy::disallowed_methods,
    reason = "a program for tests, which says where it is"
)]
async fn main() -> Result<(), Box<dyn Error>> {
    let options = parse(std::env::args().skip(1))?;
    let platform = FakePlatform::start(options).await?;
    let mut out = std::io::stdout();
    writeln!(out, "platform  {}", platform.url())?;
    writeln!(out, "token     {}", platform.token())?;
    out.flush()?;
    platform.serve().await;
    Ok(())
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<PlatformOptions, Box<dyn Error>> {
    let mut options = PlatformOptions::default();
    while let Some(flag) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("`{flag}` needs a value"))?;
        match flag.as_str() {
            "--port" => options.port = value.parse()?,
            "--token" => options.token = value,
            "--visible-after" => options.visible_after = value.parse()?,
            "--lose-every" => options.lose = FaultRate::Every(value.parse()?),
            "--limit-every" => options.limit = FaultRate::Every(value.parse()?),
            "--visitor" => options.visitor = Some(value),
            "--drift" => options.drift = value == "yes",
            _ => return Err(format!("unknown flag `{flag}`").into()),
        }
    }
    Ok(options)
}
