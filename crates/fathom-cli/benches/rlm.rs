//! `rlm` against a scripted model server, journalled on a real disk, beside `rlms` and `dspy.RLM` on the same server.
//!
//! The server is a process of its own, so that its work is nobody's. Not a test: it prints what it saw. `make bench` runs it, and
//! says with `FATHOM_BENCH_RLM_PEERS` which Python has the peers.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark reads clocks, starts processes, prints, and stops at the first surprise"
)]

mod serving;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use fathom_core::amounts::{Amounts, Budget};
use fathom_core::contract::{Contract, RecursionPolicy};
use fathom_core::model::{ModelSpec, Models};
use fathom_core::outcome::EpisodeResult;
use fathom_core::packet::Frame;
use fathom_core::programs::rlm::Params;
use fathom_core::programs::{direct, rlm};
use fathom_core::recursion::Class;
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars};
use fathom_host::exploring::{Exploration, Plain};
use fathom_host::{NewRun, Options, RunEnd, Runtime};
use fathom_testkit::server::{Behaviour, ModelServer, Retention, Seen, Setup, Tally};

use serving::{SERVE, Server};

/// Begins a line of the question that holds the code of the only turn, with `;;` for line ends.
const CODE: &str = "CODE:";

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|first| first == SERVE).is_some() {
        let latency = arguments.next().unwrap().parse().unwrap();
        runtime.block_on(serve(Duration::from_millis(latency)));
        return;
    }
    let wanted = arguments.filter(|word| !word.starts_with("--")).collect();
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let bench = Bench {
        small: text(dir.path(), "small.txt", 200 << 10),
        large: text(dir.path(), "large.txt", 100_000_000),
        home: dir.path().join("home"),
        at_once: Server::start(0),
        at_50_ms: Server::start(50),
        wanted,
    };
    runtime.block_on(bench.all());
}

/// Serves until it is killed. The first line says where.
async fn serve(latency: Duration) {
    let setup = Setup {
        retention: Retention::Forget,
        ..Setup::default()
    };
    let usage = Tally::Says {
        input: 20,
        output: 10,
    };
    let behave = move |seen: &Seen| {
        // The first one: code for children may hold more of them.
        let Some((_, code)) = seen.prompt.split_once(CODE) else {
            return Behaviour::reply("fine").usage(usage).after(latency);
        };
        let code = code.lines().next().unwrap_or_default().replace(";;", "\n");
        Behaviour::reply(format!("```repl\n{code}\n```")).usage(usage)
    };
    let server = ModelServer::with(behave, setup).await.unwrap();
    println!("{}", server.openai_url());
    server.serve().await;
}

/// A file of ASCII lines.
fn text(folder: &Path, name: &str, bytes: usize) -> PathBuf {
    let path = folder.join(name);
    let line = "a line of plain words that says nothing in particular, 64 bytes\n";
    fs::write(&path, line.repeat(bytes / line.len() + 1)).unwrap();
    path
}

/// What a run may use, where the row is about that.
#[derive(Clone, Copy)]
struct Caps {
    calls: u64,
    tokens: u64,
    money: Nanodollars,
    time: Millis,
    cell_time: Millis,
}

const AMPLE: Caps = Caps {
    calls: 100_000,
    tokens: 1_000_000_000,
    money: Nanodollars(u64::MAX / 4),
    time: Millis(600_000),
    cell_time: Millis(30_000),
};

struct Ran {
    seconds: f64,
    result: EpisodeResult,
}

impl Ran {
    fn answer(&self) -> &str {
        self.result.answer.as_ref().map_or("", Text::as_str)
    }
}

struct Bench {
    small: PathBuf,
    large: PathBuf,
    home: PathBuf,
    at_once: Server,
    at_50_ms: Server,
    /// Parts that are wanted; all where none is named.
    wanted: Vec<String>,
}

impl Bench {
    async fn all(&self) {
        println!("rlm: one root, code in a sandbox, leaf calls and children, journalled\n");
        let host = Runtime::open(Options::new(self.home.clone(), |_| None)).unwrap();
        host.sandbox().warm();
        // First: memory is that of a process that has done nothing else.
        if self.wants("large") {
            self.large(&host).await;
        }
        if self.wants("calls") {
            self.calls(&host).await;
        }
        if self.wants("caps") {
            self.caps(&host).await;
        }
        if self.wants("children") {
            self.children(&host).await;
        }
        if self.wants("peers") {
            self.peers();
        }
    }

    fn wants(&self, part: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|word| word == part)
    }

    async fn calls(&self, host: &Runtime) {
        let (zero, fifty) = (&self.at_once, &self.at_50_ms);
        for _ in 0..3 {
            self.run(host, zero, "SUBMIT(llm_query('a'))", AMPLE).await;
        }
        let mut warm = Vec::new();
        for n in 0..20 {
            let code = format!("SUBMIT(llm_query('a {n}'))");
            warm.push(self.run(host, zero, &code, AMPLE).await.seconds);
        }
        row(
            "warm run with one sub-call",
            &seconds(median(warm)),
            "≤ 0.05 s",
        );
        let each = "SUBMIT([llm_query(f'part {n}') for n in range(1000)][-1])";
        let ran = self.run(host, zero, each, AMPLE).await;
        row(
            "per sub-call at 0 ms, one after the other, n=1000",
            &per_call(&ran),
            "≤ 0.3 ms",
        );
        let ran = self.run(host, zero, &batch(1000), AMPLE).await;
        row(
            "per sub-call at 0 ms, batched, n=1000",
            &per_call(&ran),
            "≤ 0.2 ms",
        );
        let ran = self.run(host, fifty, &batch(100), AMPLE).await;
        row("100 batched at 50 ms", &seconds(ran.seconds), "≤ 0.12 s");
        let ran = self.run(host, fifty, &batch(1000), AMPLE).await;
        row(
            "1000 batched at 50 ms, 128 in flight",
            &seconds(ran.seconds),
            "≤ 0.6 s",
        );
    }

    async fn large(&self, host: &Runtime) {
        let servers = [self.at_once.child.id(), self.at_50_ms.child.id()];
        let begin = Instant::now();
        let (new, context) = self
            .explore(
                host,
                &self.at_once,
                &self.large,
                "SUBMIT(str(len(context)))",
                AMPLE,
            )
            .await;
        let handle = host.start_in(new, context.clone()).unwrap();
        let RunEnd::Finished(result) = handle.end().await else {
            panic!("the run came back without an end");
        };
        assert_eq!(
            result.answer.unwrap().as_str(),
            fs::metadata(&self.large).unwrap().len().to_string()
        );
        row(
            "100 MB run, one cell",
            &seconds(begin.elapsed().as_secs_f64()),
            "≤ 0.5 s",
        );
        row(
            "  PSS of host and workers with the 100 MB",
            &format!("{:.0} MB", pss_mb(servers)),
            "≤ 150 MB",
        );
        let mut sessions = Vec::new();
        for _ in 0..100 {
            let mut session = host.sandbox().session(&context, Vec::new());
            let cell = fathom_sandbox::Cell {
                code: "x = len(context)".into(),
                ..fathom_sandbox::Cell::default()
            };
            session.run(cell).await.unwrap();
            while let fathom_sandbox::Heard::Asked(_) = session.next().await {}
            sessions.push(session);
        }
        row(
            "  the same with 100 sessions on it (64 processes)",
            &format!("{:.0} MB", pss_mb(servers)),
            "≤ 600 MB",
        );
    }

    async fn caps(&self, host: &Runtime) {
        let tokens = Caps {
            tokens: 10_000,
            ..AMPLE
        };
        let ran = self.run(host, &self.at_once, &draft(1000), tokens).await;
        let spent = ran.result.budget.spent;
        row(
            "token cap of 10,000, 1000 batched",
            &format!("{} spent, kept: {}", spent.tokens, !ran.answer().is_empty()),
            "0 over",
        );
        let calls = Caps {
            calls: 100,
            ..AMPLE
        };
        let ran = self.run(host, &self.at_once, &draft(1000), calls).await;
        let spent = ran.result.budget.spent;
        row(
            "call cap of 100, 1000 batched",
            &format!("{} spent, kept: {}", spent.calls, !ran.answer().is_empty()),
            "0 over",
        );
        let time = Caps {
            time: Millis(5_000),
            ..AMPLE
        };
        let ran = self
            .run(host, &self.at_once, "while True: pass", time)
            .await;
        row("time cap of 5 s", &seconds(ran.seconds), "≤ 5.2 s");
        let cell = Caps {
            cell_time: Millis(1_000),
            ..AMPLE
        };
        let ran = self
            .run(
                host,
                &self.at_once,
                "while True: pass",
                Caps {
                    time: Millis(3_600),
                    ..cell
                },
            )
            .await;
        let report: rlm::Report =
            serde_json::from_str(ran.result.report.as_ref().unwrap().as_str()).unwrap();
        let took = report.cells.first().map_or(Millis(0), |cell| cell.took);
        row(
            "`while True: pass`, limit of 1 s a cell",
            &format!("ended after {} ms", took.0),
            "≤ 1.5 s",
        );
    }

    async fn children(&self, host: &Runtime) {
        let code = "r = rlm_query_batched([f'CODE:SUBMIT(str({n}))' for n in range(1000)], contexts=['x'] * 1000);;\
                    SUBMIT(str(sum(x == str(n) for n, x in enumerate(r))))";
        let ran = self.run(host, &self.at_once, code, AMPLE).await;
        row(
            "1000 parallel child RLMs",
            &format!("{} right, {}", ran.answer(), seconds(ran.seconds)),
            "1000, none failed",
        );
    }

    async fn explore(
        &self,
        host: &Runtime,
        server: &Server,
        file: &Path,
        code: &str,
        caps: Caps,
    ) -> (NewRun, fathom_host::exploring::Context) {
        let spec = ModelSpec {
            base_url: Some(server.url.clone()),
            ..ModelSpec::named("openai/bench")
        };
        let models = Models::new(spec.clone(), spec);
        let mut params = Params {
            leaf_tokens_max: 16,
            output_tokens_max: 512,
            turns_max: 3,
            ..Params::default()
        };
        params.limits.time = caps.cell_time;
        let exploration = Exploration {
            paths: vec![file.to_owned()],
            text: None,
            params,
            plain: Plain::Never,
            direct: direct::Params::default(),
        };
        let explored = host
            .explore(exploration, &models, &Frame::default())
            .await
            .unwrap();
        let new = NewRun {
            goal: Text::new(format!("{CODE}{code}")),
            program: explored.program,
            contract: Contract {
                recursion: RecursionPolicy {
                    max_depth: 1,
                    max_children: 2_000,
                    max_total_episodes: 4_000,
                    allowed_child_types: vec![rlm::NAME.to_owned()],
                    allowed_classes: vec![Class::Work],
                    ..RecursionPolicy::default()
                },
                ..Contract::default()
            },
            budget: Budget {
                amounts: Amounts {
                    tokens: caps.tokens,
                    calls: caps.calls,
                    tools: 0,
                    money: caps.money,
                    episodes: 4_000,
                },
                time: caps.time,
            },
            models,
            frame: Frame::default(),
        };
        (new, explored.context.unwrap())
    }

    async fn run(&self, host: &Runtime, server: &Server, code: &str, caps: Caps) -> Ran {
        let begin = Instant::now();
        let (new, context) = self.explore(host, server, &self.small, code, caps).await;
        let handle = host.start_in(new, context).unwrap();
        match handle.end().await {
            RunEnd::Finished(result) => Ran {
                seconds: begin.elapsed().as_secs_f64(),
                result: *result,
            },
            other => panic!("the run came back as {other:?}"),
        }
    }

    /// The same rows of those we are compared with; each says by itself what it cannot do here.
    fn peers(&self) {
        let python = std::env::var_os("FATHOM_BENCH_RLM_PEERS").filter(|python| !python.is_empty());
        let Some(python) = python else {
            println!(
                "\nrlms and dspy.RLM are not installed: FATHOM_BENCH_RLM_PEERS names a Python that has them"
            );
            return;
        };
        for peer in ["rlms", "dspy"] {
            println!();
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers/rlm_peers.py");
            let status = Command::new(&python)
                .args([
                    script,
                    peer,
                    "--zero",
                    &self.at_once.url,
                    "--fifty",
                    &self.at_50_ms.url,
                ])
                .arg("--large")
                .arg(&self.large)
                .status()
                .unwrap();
            if !status.success() {
                println!("{peer} cannot run here: {status}");
            }
        }
    }
}

fn batch(count: u32) -> String {
    format!("SUBMIT(llm_query_batched([f'part {{n}}' for n in range({count})])[-1])")
}

/// A batch whose outcome is kept as the answer so far, whatever comes next.
fn draft(count: u32) -> String {
    format!(
        "r = llm_query_batched([f'part {{n}}' for n in range({count})]);;\
         answer['content'] = str(sum(isinstance(x, str) for x in r))"
    )
}

fn per_call(ran: &Ran) -> String {
    format!("{:.3} ms", ran.seconds)
}

fn seconds(span: f64) -> String {
    format!("{span:.3} s")
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn row(what: &str, seen: &str, wanted: &str) {
    println!("{what:<52} {seen:>26}   {wanted}");
}

/// Proportional memory of this process and all below it, without the model servers.
fn pss_mb(without: [u32; 2]) -> f64 {
    let mut processes = vec![std::process::id().to_string()];
    let mut kilobytes = 0_u64;
    while let Some(process) = processes.pop() {
        if without.iter().any(|other| process == other.to_string()) {
            continue;
        }
        let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup"));
        let pss = rollup.unwrap_or_default();
        let pss = pss.lines().find_map(|line| line.strip_prefix("Pss:"));
        kilobytes += pss
            .and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok())
            .unwrap_or(0);
        for task in fs::read_dir(format!("/proc/{process}/task"))
            .into_iter()
            .flatten()
        {
            let children = fs::read_to_string(task.unwrap().path().join("children"));
            processes.extend(
                children
                    .unwrap_or_default()
                    .split_whitespace()
                    .map(str::to_owned),
            );
        }
    }
    kilobytes as f64 / 1000.0 * 1.024
}
