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

mod caps;
mod held;
mod peers;
#[path = "../serving/mod.rs"]
mod serving;
mod speed;
mod table;

use std::cell::RefCell;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fathom_core::budget::amounts::{Amounts, Budget};
use fathom_core::contract::spawn::SpawnClass;
use fathom_core::contract::{Contract, RecursionPolicy};
use fathom_core::episode::result::EpisodeResult;
use fathom_core::model::{ModelSet, ModelSpec};
use fathom_core::packet::PacketFrame;
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars};
use fathom_host::programs::rlm::{PlainCallRule, RlmRequest};
use fathom_host::{NewRun, RunEnd, Runtime, RuntimeOptions};
use fathom_programs::rlm::{RecipeMode, RlmConfig};
use fathom_programs::{direct, rlm};
use fathom_testkit::model_server::{
    LogRetention, ModelServer, ReplyBehaviour, ReportedUsage, SeenRequest, ServerSetup,
};

use serving::{SERVE, Server};
use table::Table;

/// Begins a line of the question that holds the code of the only turn, with `;;` for line ends.
const CODE: &str = "CODE:";

fn main() {
    // As many threads as the command line drives runs with.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
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
        table: RefCell::default(),
        wanted,
    };
    runtime.block_on(bench.all());
}

/// Serves until it is killed. The first line says where.
async fn serve(latency: Duration) {
    let setup = ServerSetup {
        retention: LogRetention::Forget,
        ..ServerSetup::default()
    };
    let usage = ReportedUsage::Says {
        input: 20,
        output: 10,
    };
    let behave = move |seen: &SeenRequest| {
        // The first one: code for children may hold more of them.
        let Some((_, code)) = seen.prompt.split_once(CODE) else {
            return ReplyBehaviour::reply("fine").usage(usage).after(latency);
        };
        let code = code.lines().next().unwrap_or_default().replace(";;", "\n");
        ReplyBehaviour::reply(format!("```repl\n{code}\n```")).usage(usage)
    };
    let server = ModelServer::with(behave, setup).await.unwrap();
    println!("{}", server.openai_url());
    server.serve().await;
}

/// A file of ASCII lines.
fn text(folder: &Path, name: &str, bytes: usize) -> PathBuf {
    let path = folder.join(name);
    let line = "a line of plain words that says nothing in particular, 64 bytes\n";
    let mut file = fs::File::create(&path).unwrap();
    file.write_all(line.repeat(bytes / line.len() + 1).as_bytes())
        .unwrap();
    // Or the disk is still busy with it when the first run is timed.
    file.sync_all().unwrap();
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

/// A name that nobody knows, and so without a price.
const UNPRICED: &str = "openai/bench";

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
    table: RefCell<Table>,
    /// Parts that are wanted; all where none is named.
    wanted: Vec<String>,
}

impl Bench {
    async fn all(&self) {
        println!("rlm: one root, code in a sandbox, leaf calls and children, journalled\n");
        let host = Runtime::open(RuntimeOptions::new(self.home.clone(), |_| None)).unwrap();
        host.sandbox().warm();
        // First: memory is that of a process that has done nothing else.
        if self.wants("large") {
            self.large(&host).await;
        }
        if self.wants("calls") {
            self.calls(&host).await;
        }
        if self.wants("children") {
            self.children(&host).await;
        }
        if self.wants("caps") {
            self.caps(&host).await;
        }
        if self.wants("reach") {
            self.reach().await;
        }
        if self.wants("failures") {
            self.failures(&host).await;
        }
        if self.wants("crash") {
            self.crash().await;
        }
        if self.wants("peers") {
            self.peers();
        }
        self.table.borrow().print();
    }

    fn wants(&self, part: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|word| word == part)
    }

    fn row(&self, what: &str, seen: &str, must: &'static str, is_met: bool) {
        self.table.borrow_mut().ours(what, seen, must, is_met);
    }

    async fn run(&self, host: &Runtime, server: &Server, code: &str, caps: Caps) -> Ran {
        self.run_on(host, &server.url, UNPRICED, code, caps).await
    }

    async fn run_on(&self, host: &Runtime, url: &str, model: &str, code: &str, caps: Caps) -> Ran {
        let asked = Asked {
            url,
            model,
            file: &self.small,
            code,
            caps,
        };
        let begin = Instant::now();
        let (new, context) = explore(host, asked).await;
        let handle = host.start_in(new, context).unwrap();
        match handle.end().await {
            RunEnd::Finished(result) => Ran {
                seconds: begin.elapsed().as_secs_f64(),
                result: *result,
            },
            other => panic!("the run came back as {other:?}"),
        }
    }
}

/// What is asked of whom.
#[derive(Clone, Copy)]
struct Asked<'a> {
    url: &'a str,
    model: &'a str,
    file: &'a Path,
    code: &'a str,
    caps: Caps,
}

async fn explore(host: &Runtime, asked: Asked<'_>) -> (NewRun, fathom_sandbox::SandboxContext) {
    let caps = asked.caps;
    let spec = ModelSpec {
        base_url: Some(asked.url.to_owned()),
        ..ModelSpec::named(asked.model)
    };
    let models = ModelSet::new(spec.clone(), spec);
    let mut params = RlmConfig {
        leaf_tokens_max: 16,
        output_tokens_max: 128,
        turns_max: 3,
        // The scripted model reads nothing, and a small cap has no room for more.
        recipes: RecipeMode::Off,
        ..RlmConfig::default()
    };
    params.limits.time = caps.cell_time;
    let exploration = RlmRequest {
        goal: Text::default(),
        paths: vec![asked.file.to_owned()],
        text: None,
        params,
        plain: PlainCallRule::Never,
        direct: direct::DirectConfig::default(),
    };
    let explored = host
        .explore(exploration, &models, &PacketFrame::default())
        .await
        .unwrap();
    let new = NewRun {
        goal: Text::new(format!("{CODE}{}", asked.code)),
        program: explored.program,
        contract: Contract {
            recursion: RecursionPolicy {
                max_depth: 1,
                max_children: 2_000,
                max_total_episodes: 4_000,
                allowed_child_types: vec![rlm::NAME.to_owned()],
                allowed_classes: vec![SpawnClass::Work],
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
        frame: PacketFrame::default(),
    };
    (new, explored.context.unwrap())
}

fn batch(count: u32) -> String {
    format!("SUBMIT(llm_query_batched([f'part {{n}}' for n in range({count})])[-1])")
}

fn seconds(span: f64) -> String {
    format!("{span:.3} s")
}
