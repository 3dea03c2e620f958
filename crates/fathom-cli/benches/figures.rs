//! The figures of the whole, from one run: durable events, overhead per call, parallel calls, start-up, memory, signals.
//!
//! Not a test: it prints what it saw. `make bench` runs it.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark reads clocks, starts processes, prints, and stops at the first surprise"
)]

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use fathom_core::budget::amounts::{Amounts, Budget};
use fathom_core::contract::Contract;
use fathom_core::id::{EpisodeId, RunId, Seq};
use fathom_core::model::{ChatMessage, ModelRequest, ModelSet, ModelSpec, ReplyMode, Speaker};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars, Timestamp};
use fathom_host::{NewRun, RunEnd, Runtime, RuntimeOptions};
use fathom_store::{EntryMark, HomeFolder, Journal, JournalEntry, RecordChain};
use fathom_testkit::drill::{DrillConfig, DrillPrograms};
use fathom_testkit::model_server::{
    LogRetention, ModelServer, ReplyBehaviour, SeenRequest, ServerSetup,
};

const WIDTH: u32 = 128;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    println!(
        "fathom {} on {} cores\n",
        env!("CARGO_PKG_VERSION"),
        thread::available_parallelism().unwrap()
    );
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    bare_fsync(dir.path());
    for producers in [1, 16, 100] {
        durable_events(&dir.path().join(format!("events-{producers}")), producers);
    }
    runtime.block_on(async {
        sequential_calls(&dir.path().join("sequential")).await;
        parallel_calls(&dir.path().join("parallel")).await;
        first_request(&dir.path().join("start")).await;
        cancel_from_outside(&dir.path().join("cancel")).await;
    });
}

fn row(what: &str, seen: &str, wanted: &str) {
    println!("{what:<58} {seen:>24}   {wanted}");
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100]
}

fn bare_fsync(dir: &Path) {
    let mut file = File::create(dir.join("bare")).unwrap();
    let mut times: Vec<Duration> = (0..200)
        .map(|_| {
            let begin = Instant::now();
            file.write_all(&[7; 512]).unwrap();
            file.sync_data().unwrap();
            begin.elapsed()
        })
        .collect();
    row(
        "bare fsync of 512 bytes, median",
        &format!("{:.2?}", median(&mut times)),
        "",
    );
}

fn durable_events(dir: &Path, producers: u8) {
    let home = HomeFolder::open(dir).unwrap();
    let journal: Arc<dyn Journal> = Arc::new(home.open_journal().unwrap());
    let begin = Instant::now();
    let until = begin + Duration::from_secs(3);
    let threads: Vec<_> = (0..producers)
        .map(|producer| {
            let journal = Arc::clone(&journal);
            thread::spawn(move || produce(&*journal, producer, until))
        })
        .collect();
    let mut times: Vec<Duration> = threads
        .into_iter()
        .flat_map(|thread| thread.join().unwrap())
        .collect();
    let rate = times.len() as f64 / begin.elapsed().as_secs_f64();
    let wanted = if producers == 16 { "≥ 10,000/s" } else { "" };
    let seen = format!("{rate:.0}/s, p50 {:.2?}", median(&mut times));
    row(
        &format!("durable events, {producers} producers, each waits for its own"),
        &seen,
        wanted,
    );
}

fn produce(journal: &dyn Journal, producer: u8, until: Instant) -> Vec<Duration> {
    let run = RunId::from_bytes([producer; 16]);
    let epoch = journal
        .create_run(&fathom_store::NewRun {
            run,
            program: "bench".into(),
            model: "none".into(),
            created_at: Timestamp(0),
            started_by: "os:bench".into(),
        })
        .unwrap();
    let log = journal.open_log(run, epoch).unwrap();
    let mut chain = RecordChain::new(run, EpisodeId::root());
    let mut times = Vec::new();
    while Instant::now() < until {
        let begin = Instant::now();
        let bytes = vec![b'x'; 512];
        let hash = chain.extend(&bytes);
        let position = log
            .append(JournalEntry {
                episode: EpisodeId::root(),
                seq: Seq(times.len() as u64),
                epoch,
                at: Timestamp(0),
                bytes,
                hash,
                blobs: Vec::new(),
                mark: EntryMark::Plain,
                model_calls: 0,
                settles: Vec::new(),
            })
            .unwrap();
        log.wait_durable(position).unwrap();
        times.push(begin.elapsed());
    }
    times
}

fn models(server: &ModelServer) -> ModelSet {
    let spec = ModelSpec {
        base_url: Some(server.openai_url()),
        ..ModelSpec::named("openai/bench")
    };
    ModelSet::new(spec.clone(), spec)
}

async fn server(latency: Duration) -> ModelServer {
    let behave = move |_: &SeenRequest| ReplyBehaviour::reply("fine").after(latency);
    let setup = ServerSetup {
        retention: LogRetention::Forget,
        ..ServerSetup::default()
    };
    ModelServer::with(behave, setup).await.unwrap()
}

fn drill_host(home: &Path) -> Runtime {
    let options = RuntimeOptions {
        concurrency: WIDTH,
        programs: Arc::new(DrillPrograms),
        ..RuntimeOptions::new(home.to_owned(), |_| None)
    };
    Runtime::open(options).unwrap()
}

/// Runs a drill to its end and says how long that took.
async fn drill(host: &Runtime, server: &ModelServer, params: &DrillConfig) -> Duration {
    let begin = Instant::now();
    let handle = host
        .start(NewRun {
            goal: Text::from("bench"),
            program: params.spec(),
            contract: Contract::default(),
            budget: Budget {
                amounts: Amounts {
                    tokens: 1 << 40,
                    calls: 1_000_000,
                    tools: 0,
                    money: Nanodollars(0),
                    episodes: 1,
                },
                time: Millis(600_000),
            },
            models: models(server),
            frame: fathom_core::packet::PacketFrame::default(),
        })
        .unwrap();
    match handle.end().await {
        RunEnd::Finished(result) => {
            assert_eq!(
                result.budget.spent.calls,
                u64::from(params.rounds * params.calls)
            );
        }
        other => panic!("the drill came back as {other:?}"),
    }
    begin.elapsed()
}

async fn sequential_calls(home: &Path) {
    let server = server(Duration::ZERO).await;
    let model = fathom_models::connect(&models(&server).main, |_| None::<String>).unwrap();
    let request = ModelRequest {
        messages: vec![ChatMessage::new(Speaker::User, "Say something.")],
        output_tokens_max: 64,
        temperature_milli: None,
        schema: None,
        pattern: None,
        tools: Vec::new(),
        seed: None,
        delivery: ReplyMode::Whole,
        timeout: Millis(60_000),
    };
    let mut bare: Vec<Duration> = Vec::new();
    for _ in 0..1_000 {
        let begin = Instant::now();
        model.call(&request, &mut |_| {}).await.unwrap();
        bare.push(begin.elapsed());
    }
    let host = drill_host(home);
    let warm = DrillConfig {
        rounds: 50,
        ..DrillConfig::default()
    };
    drill(&host, &server, &warm).await;
    let params = DrillConfig {
        rounds: 1_000,
        ..DrillConfig::default()
    };
    let each = drill(&host, &server, &params).await / 1_000;
    let bare = median(&mut bare);
    row(
        "a bare call against a 0 ms server, median",
        &format!("{bare:.2?}"),
        "",
    );
    row(
        "a sequential call, journalled, against the same",
        &format!("{each:.2?}"),
        "",
    );
    row(
        "  overhead per sequential call",
        &format!("{:.2?}", each.saturating_sub(bare)),
        "≤ 0.3 ms",
    );
}

async fn parallel_calls(home: &Path) {
    let server = server(Duration::from_millis(50)).await;
    let host = drill_host(home);
    let params = DrillConfig {
        calls: 1_000,
        ..DrillConfig::default()
    };
    let warm = drill(&host, &server, &params).await;
    let took = drill(&host, &server, &params).await;
    let what = format!("1,000 parallel calls at 50 ms, width {WIDTH}, cold / warm");
    row(&what, &format!("{warm:.2?} / {took:.2?}"), "≤ 0.6 s");
    row("  most in flight", &server.most_in_flight().to_string(), "");
    let resident = resident_kib("self") / 1024;
    row(
        "  resident, host and server in one process",
        &format!("{resident} MiB"),
        "",
    );
}

fn ask(home: &Path, server: &ModelServer) -> Child {
    Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args([
            "ask",
            "Why is the sky blue?",
            "--model",
            "openai/bench",
            "--json",
        ])
        .args(["--base-url", &server.openai_url(), "--home"])
        .arg(home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

async fn first_request(home: &Path) {
    let arrivals = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&arrivals);
    let setup = ServerSetup {
        witness: Some(Box::new(move |_| seen.lock().unwrap().push(Instant::now()))),
        ..ServerSetup::default()
    };
    let server = ModelServer::with(|_: &SeenRequest| ReplyBehaviour::reply("fine"), setup)
        .await
        .unwrap();
    let mut times = Vec::new();
    for _ in 0..20 {
        let begin = Instant::now();
        let mut child = ask(home, &server);
        tokio::task::spawn_blocking(move || child.wait().unwrap())
            .await
            .unwrap();
        let arrival = arrivals.lock().unwrap().pop().unwrap();
        times.push(arrival - begin);
    }
    let seen = format!(
        "p50 {:.1?}, p95 {:.1?}",
        median(&mut times),
        percentile(&mut times, 95)
    );
    row("`fathom ask`: start to first request", &seen, "≤ 50 ms");
}

async fn cancel_from_outside(home: &Path) {
    let server = ModelServer::start(|_: &SeenRequest| ReplyBehaviour::stall())
        .await
        .unwrap();
    let mut times = Vec::new();
    let mut resident = 0;
    for round in 1..=5 {
        let mut asking = ask(home, &server);
        server.until(|log| log.len() >= round).await;
        resident = resident_kib(&asking.id().to_string());
        let host = Runtime::open(RuntimeOptions::new(home.to_owned(), |_| None)).unwrap();
        let run = host.runs(1).unwrap()[0].run;
        let begin = Instant::now();
        assert!(host.cancel(run).unwrap().is_none(), "the run has an owner");
        tokio::task::spawn_blocking(move || asking.wait().unwrap())
            .await
            .unwrap();
        times.push(begin.elapsed());
    }
    row(
        "cancel from another process to the end of the run",
        &format!("{:.1?}", percentile(&mut times, 100)),
        "≤ 200 ms",
    );
    row(
        "`fathom ask` waiting for its reply, resident",
        &format!("{:.1} MiB", resident as f64 / 1024.0),
        "",
    );
}

fn resident_kib(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
