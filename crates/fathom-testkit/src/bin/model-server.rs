//! The scripted model server as a process of its own, for tests that kill processes and for load.
//!
//! `model-server --port N --latency-ms N --port-file PATH --log-file PATH --script FILE`, every flag optional. The port
//! is written to the port file once the server listens; every request is a JSON line in the log before its reply is
//! sent. A request that the script does not answer gets `ok`, or the least that its schema allows.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fathom_testkit::model_server::{
    LogRetention, ModelServer, RequestWitness, SeenRequest, ServerScript, ServerSetup,
};
use serde_json::json;
use sha2::{Digest, Sha256};

/// Threads that serve. More than the usual two cores only switch.
const THREADS: usize = 2;

#[derive(Default)]
struct ServerFlags {
    port: u16,
    latency_ms: u64,
    port_file: Option<PathBuf>,
    log_file: Option<PathBuf>,
    script: Option<PathBuf>,
}

type ServerFailure = Box<dyn std::error::Error>;

#[expect(
    clippy::disallowed_methods,
    reason = "a program for tests, which says why it ends"
)]
fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Standard error is all that a process without a reader has left.
            let _ = writeln!(std::io::stderr(), "model-server: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), ServerFailure> {
    let flags = parse(std::env::args().skip(1))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()?;
    runtime.block_on(serve(flags))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program for tests, which says where it is"
)]
async fn serve(flags: ServerFlags) -> Result<(), ServerFailure> {
    let latency = Duration::from_millis(flags.latency_ms);
    let script = match &flags.script {
        Some(path) => ServerScript::read(path, latency)?,
        None => ServerScript::empty(latency),
    };
    let setup = ServerSetup {
        port: flags.port,
        retention: LogRetention::Forget,
        witness: flags.log_file.as_deref().map(witness).transpose()?,
    };
    let server = ModelServer::with(script, setup).await?;
    if let Some(path) = &flags.port_file {
        // Renamed into place, so that a reader never sees half a number.
        let draft = path.with_extension("draft");
        fs::write(&draft, server.address().port().to_string())?;
        fs::rename(&draft, path)?;
    }
    // Whoever started it may wait for this line, or for the file.
    writeln!(std::io::stdout(), "listening on {}", server.address())?;
    server.serve().await;
    Ok(())
}

/// Appends a line per request. One write each: what was written outlives the process.
fn witness(path: &Path) -> Result<RequestWitness, ServerFailure> {
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    let file: Mutex<File> = Mutex::new(file);
    Ok(Box::new(move |seen: &SeenRequest| {
        let mut line = json!({
            "number": seen.number,
            "api": seen.api.name(),
            "model": seen.model,
            "streamed": seen.streamed,
            "sha256": hex(&Sha256::digest(seen.prompt.as_bytes())),
            "prompt": seen.prompt,
        })
        .to_string();
        line.push('\n');
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        // A full disk shows as missing lines, which is what the reader of the log looks for.
        let _ = file.write_all(line.as_bytes());
    }))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<ServerFlags, ServerFailure> {
    let mut flags = ServerFlags::default();
    while let Some(flag) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("`{flag}` needs a value"))?;
        match flag.as_str() {
            "--port" => flags.port = value.parse()?,
            "--latency-ms" => flags.latency_ms = value.parse()?,
            "--port-file" => flags.port_file = Some(value.into()),
            "--log-file" => flags.log_file = Some(value.into()),
            "--script" => flags.script = Some(value.into()),
            _ => return Err(format!("unknown flag `{flag}`").into()),
        }
    }
    Ok(flags)
}
