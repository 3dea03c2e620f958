//! A council of three chiefs with three sub-chiefs each, journalled, beside the same shape on `LangGraph`.
//!
//! The model server is a process of its own, so that its work is nobody's. Not a test: it prints what it saw. `make
//! bench` runs it, and says with `FATHOM_BENCH_PEERS` which Python has `LangGraph`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark reads clocks, starts processes, prints, and stops at the first surprise"
)]

mod serving;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fathom_core::budget::amounts::{Amounts, Budget};
use fathom_core::model::{ChatMessage, ModelRequest, ModelSet, ModelSpec, ReplyMode, Speaker};
use fathom_core::packet::PacketFrame;
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars};
use fathom_host::{NewRun, RunEnd, Runtime, RuntimeOptions};
use fathom_programs::council::{CouncilConfig, SynthesisMode};
use fathom_testkit::sample_council::{COMPLEX, contract, seat};

use fathom_testkit::model_server::{
    LogRetention, ModelServer, ReplyBehaviour, SeenRequest, ServerSetup,
};
use serde::Deserialize;
use serving::{SERVE, Server};

const VOTE: &str =
    r#"{"reasoning": "It can be undone.", "source": 0, "vote": "APPROVE", "confidence": 80}"#;

const WARM: usize = 5;

/// What was seen of several rounds.
#[derive(Deserialize)]
struct Figures {
    wall_ms: Vec<f64>,
    /// Processor time of a round.
    cpu_ms: f64,
    resident_kib: u64,
}

impl Figures {
    fn median(&self) -> f64 {
        median(self.wall_ms.clone())
    }

    /// What is left when nothing else on the machine gets in the way.
    fn least(&self) -> f64 {
        self.wall_ms.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(SERVE) {
        let latency = arguments.next().unwrap().parse().unwrap();
        runtime.block_on(serve(Duration::from_millis(latency)));
        return;
    }
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    println!("council of 3 chiefs with 3 sub-chiefs each, journalled\n");
    for (latency_ms, rounds) in [(50, 40), (0, 200)] {
        let server = Server::start(latency_ms);
        let call = runtime.block_on(bare_call(&server.url));
        row(
            &format!("one bare call, server at {latency_ms} ms"),
            &format!("{call:.2} ms"),
            "",
        );
        for synthesis in [SynthesisMode::Arithmetic, SynthesisMode::Model] {
            let home = dir.path().join(format!("{latency_ms}-{synthesis:?}"));
            let ours = runtime.block_on(fathom(&home, &server.url, synthesis, rounds));
            show("fathom", &ours, latency_ms, synthesis, call);
            if let Some(theirs) = langgraph(&home, &server.url, synthesis, rounds) {
                show("LangGraph", &theirs, latency_ms, synthesis, call);
            }
        }
    }
}

fn row(what: &str, seen: &str, wanted: &str) {
    println!("{what:<58} {seen:>24}   {wanted}");
}

fn show(who: &str, seen: &Figures, latency_ms: u64, synthesis: SynthesisMode, call: f64) {
    let (calls, times, most) = match synthesis {
        SynthesisMode::Arithmetic => (9.0, 1.0, "≤ 2.2 ×"),
        SynthesisMode::Model => (13.0, 3.0, "≤ 3.3 ×, ≤ 165 ms"),
    };
    let ours = |wanted: &'static str| if who == "fathom" { wanted } else { "" };
    let wall = seen.median();
    let what = format!("{who}, {calls} calls, {synthesis:?}, at {latency_ms} ms");
    let (seen_wall, wanted) = if latency_ms == 0 {
        (format!("{wall:.2} ms"), ours("≤ 8 ms"))
    } else {
        (format!("{wall:.1} ms, {:.2} ×", wall / call), ours(most))
    };
    row(&what, &seen_wall, wanted);
    row("  at best", &format!("{:.2} ms", seen.least()), "");
    let over = (wall - times * call) / calls;
    row("  overhead per call", &format!("{over:.2} ms"), "");
    row(
        "  processor time of a decision",
        &format!("{:.2} ms", seen.cpu_ms),
        ours("≤ 8 ms"),
    );
    let resident = seen.resident_kib as f64 / 1024.0;
    row(
        "  resident at most",
        &format!("{resident:.1} MiB"),
        ours("≤ 40 MB"),
    );
}

/// Serves until it is killed. The first line says where.
async fn serve(latency: Duration) {
    let setup = ServerSetup {
        retention: LogRetention::Forget,
        ..ServerSetup::default()
    };
    let behave = move |_: &SeenRequest| ReplyBehaviour::reply(VOTE).after(latency);
    let server = ModelServer::with(behave, setup).await.unwrap();
    println!("{}", server.openai_url());
    server.serve().await;
}

fn models(url: &str) -> ModelSet {
    let spec = ModelSpec {
        base_url: Some(url.to_owned()),
        ..ModelSpec::named("openai/bench")
    };
    ModelSet::new(spec.clone(), spec)
}

/// The median time of a call without anything around it, in milliseconds.
async fn bare_call(url: &str) -> f64 {
    let model = fathom_models::connect(&models(url).main, |_| None::<String>).unwrap();
    let request = ModelRequest {
        messages: vec![ChatMessage::new(Speaker::User, COMPLEX)],
        output_tokens_max: 300,
        temperature_milli: None,
        schema: None,
        pattern: None,
        tools: Vec::new(),
        seed: None,
        delivery: ReplyMode::Whole,
        timeout: Millis(60_000),
    };
    let mut times = Vec::new();
    for _ in 0..50 {
        let begin = Instant::now();
        model.call(&request, &mut |_| {}).await.unwrap();
        times.push(begin.elapsed().as_secs_f64() * 1000.0);
    }
    median(times)
}

fn council(synthesis: SynthesisMode) -> CouncilConfig {
    CouncilConfig {
        synthesis,
        ..fathom_testkit::sample_council::council(seat)
    }
}

fn decision(url: &str, synthesis: SynthesisMode) -> NewRun {
    NewRun {
        goal: Text::from(COMPLEX),
        program: council(synthesis).spec(),
        contract: contract(),
        budget: Budget {
            amounts: Amounts {
                tokens: 1_000_000,
                calls: 1_000,
                tools: 0,
                money: Nanodollars(0),
                episodes: 16,
            },
            time: Millis(60_000),
        },
        models: models(url),
        frame: PacketFrame::default(),
    }
}

async fn fathom(home: &Path, url: &str, synthesis: SynthesisMode, rounds: usize) -> Figures {
    let host = Runtime::open(RuntimeOptions::new(home.to_owned(), |_| None)).unwrap();
    let calls = match synthesis {
        SynthesisMode::Arithmetic => 9,
        SynthesisMode::Model => 13,
    };
    let mut wall_ms = Vec::new();
    let mut before = 0.0;
    for round in 0..WARM + rounds {
        if round == WARM {
            before = cpu_ms();
        }
        let begin = Instant::now();
        let handle = host.start(decision(url, synthesis)).unwrap();
        match handle.end().await {
            RunEnd::Finished(result) => assert_eq!(result.budget.spent.calls, calls),
            other => panic!("the council came back as {other:?}"),
        }
        if round >= WARM {
            wall_ms.push(begin.elapsed().as_secs_f64() * 1000.0);
        }
    }
    Figures {
        cpu_ms: (cpu_ms() - before) / rounds as f64,
        wall_ms,
        resident_kib: resident_kib_max(),
    }
}

/// The same shape on `LangGraph`; none where it is not installed.
fn langgraph(home: &Path, url: &str, synthesis: SynthesisMode, rounds: usize) -> Option<Figures> {
    let Some(python) = std::env::var_os("FATHOM_BENCH_PEERS").filter(|python| !python.is_empty())
    else {
        row("LangGraph", "not installed", "");
        return None;
    };
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/benches/peers/langgraph_council.py"
    );
    let mut command = Command::new(python);
    command
        .args([script, "--url", url, "--question", COMPLEX])
        .args(["--warm", &WARM.to_string(), "--rounds", &rounds.to_string()])
        .arg("--database")
        .arg(home.with_extension("sqlite"));
    if synthesis == SynthesisMode::Model {
        command.arg("--synthesis");
    }
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "LangGraph: {}", output.status);
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// Processor time of this process so far, in milliseconds.
fn cpu_ms() -> f64 {
    /// Milliseconds of one tick, which is a hundredth of a second on every Linux.
    const TICK_MS: f64 = 10.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name of the process may hold anything, but it ends with the last bracket.
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) * TICK_MS
}

fn resident_kib_max() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mut lines = status.lines();
    let line = lines.find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
