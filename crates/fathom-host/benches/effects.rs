//! What an effect costs beyond the platform's own time, and how soon the kill switch reaches everyone.
//!
//! Not a test: it prints what it saw. `make bench` runs it.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark reads clocks and prints, and has nobody to tell what it could not set up"
)]
#![expect(dead_code, reason = "tests use more of what they share with this")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fathom_core::effect::{EffectState, KillScope};
use fathom_host::governance::people::OsUser;
use fathom_testkit::drill;
use fathom_testkit::fake_platform::{FakePlatform, PlatformOptions};
use fathom_testkit::model_server::{ModelServer, ReplyBehaviour, SeenRequest};

#[path = "../tests/it/crowd.rs"]
mod crowd;
#[path = "../tests/it/fixture.rs"]
mod fixture;

/// Posts of one run, one after the other.
const POSTS: u32 = 300;
/// Times that the kill switch is thrown.
const KILLS: usize = 5;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        overhead().await;
        for _ in 0..KILLS {
            kill().await;
        }
    });
}

async fn overhead() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::replying("unused").await.expect("a port");
    let platform = FakePlatform::start(PlatformOptions::default()).await;
    let platform = platform.expect("a platform");
    let charter = crowd::charter(&dir.path().join("charter"), &platform);
    let host = crowd::host(&dir.path().join("home"));
    let params = drill::DrillConfig {
        calls: 0,
        rounds: POSTS,
        effects: crowd::posts(0, POSTS),
        ..drill::DrillConfig::default()
    };
    let began = Instant::now();
    let handle = host.start(crowd::acting(&charter, &server, &params));
    let handle = handle.expect("it starts");
    let run = handle.run();
    fixture::finished(handle).await;
    let governed = began.elapsed() / POSTS;
    let story = host.story(run).expect("a story");
    let deeds = story.root().expect("a root").deeds.iter();
    let failed: Vec<_> = deeds
        .filter(|(_, deed)| deed.state != EffectState::Confirmed)
        .map(|(ask, deed)| (ask, &deed.path, &deed.said, &deed.decision))
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
    let address = platform.url().trim_start_matches("http://").to_owned();
    let bare = tokio::task::spawn_blocking(move || bare(&address));
    let bare = bare.await.expect("no panic");
    let synced = syncs(dir.path());
    println!(
        "effect: {governed:.2?} each with decision, intent and outcome durable; the request alone {bare:.2?}; \
         overhead {:.2?} (bar: under 5 ms); one write with fsync here {synced:.2?}",
        governed.saturating_sub(bare)
    );
}

/// The same requests, one after the other on one connection, and nothing else.
fn bare(address: &str) -> Duration {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let body = r#"{"title":"news","text":"the same"}"#;
    let request = format!(
        "POST /api/posts HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer sandbox-token\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut answer = [0; 4096];
    let began = Instant::now();
    for _ in 0..POSTS {
        stream.write_all(request.as_bytes()).expect("it takes it");
        let read = stream.read(&mut answer).expect("it answers");
        assert!(read > 0, "it answers");
    }
    began.elapsed() / POSTS
}

fn syncs(folder: &Path) -> Duration {
    let mut file = std::fs::File::create(folder.join("sync")).expect("a file");
    let began = Instant::now();
    for _ in 0..50 {
        file.write_all(&[7; 512]).expect("it takes it");
        file.sync_data().expect("it syncs");
    }
    began.elapsed() / 50
}

async fn kill() {
    let dir = tempfile::tempdir().expect("a folder");
    // When the last call began.
    let last = Arc::new(Mutex::new(Instant::now()));
    let seen = Arc::clone(&last);
    let server = ModelServer::start(move |_: &SeenRequest| {
        *seen.lock().expect("no panic") = Instant::now();
        // Short, so that calls end and begin all the time.
        ReplyBehaviour::reply("well").after(Duration::from_millis(250))
    });
    let server = server.await.expect("a port");
    let platform = FakePlatform::start(PlatformOptions {
        latency: Duration::from_millis(250),
        ..PlatformOptions::default()
    });
    let platform = platform.await.expect("a platform");
    let charter = crowd::charter(&dir.path().join("charter"), &platform);
    let host = crowd::host(&dir.path().join("home"));
    let handle = host.start(crowd::crowd(&charter, &server, 50));
    let handle = handle.expect("it starts");
    server.until(|log| log.len() >= 2 * crowd::CHILDREN).await;
    let thrown = Instant::now();
    host.kill(KillScope::Global, &OsUser::current(), "a benchmark")
        .expect("anyone may");
    fixture::finished(handle).await;
    let ended = thrown.elapsed();
    platform.until_in_flight(0).await;
    let last = last
        .lock()
        .expect("no panic")
        .saturating_duration_since(thrown);
    println!(
        "kill switch with {} children: the last call began {last:.0?} after it (bar: 0.2 s); the run was over after {ended:.0?}",
        crowd::CHILDREN
    );
}
