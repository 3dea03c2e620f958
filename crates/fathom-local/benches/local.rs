//! The figures of the embedded model, from one run: loading, speed, memory, shared prompts, forms, busy cores.
//!
//! Not a test: it prints what it saw. `cargo bench -p fathom-local --bench local -- [PART…]` runs it, with the weights in
//! `FATHOM_TEST_WEIGHTS` or the user's cache; the parts are `speed`, `sharing`, `votes` and `busy`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark reads clocks and the environment, prints, and stops at the first surprise"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fathom_core::model::{ChatMessage, FinishReason, ModelReply, ModelRequest, ReplyMode, Speaker};
use fathom_core::unit::Millis;
use fathom_local::engine::{EngineOptions, LocalEngine};

const MODELS: [&str; 3] = [
    "smollm2-135m-instruct-q4_1.gguf",
    "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
];
const CALLS: usize = 9;
const VOTES: usize = 50;

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let wants = |part: &str| wanted.is_empty() || wanted.iter().any(|word| word == part);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    println!(
        "fathom-local {} on {} cores\n",
        env!("CARGO_PKG_VERSION"),
        thread::available_parallelism().unwrap()
    );
    let folder = folder();
    for name in MODELS {
        let path = folder.join(name);
        if !path.is_file() {
            println!("{name}: not there\n");
            continue;
        }
        println!("{name}");
        let is_default = name == MODELS[2];
        runtime.block_on(async {
            let engine = load(&path);
            if wants("speed") {
                speed(&engine).await;
            }
            if wants("sharing") {
                sharing(&engine, &path).await;
            }
            if wants("votes") && is_default {
                votes(&engine).await;
            }
            if wants("busy") {
                busy(&engine).await;
            }
        });
        println!();
    }
}

fn folder() -> PathBuf {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    variable("FATHOM_TEST_WEIGHTS")
        .or_else(|| variable("XDG_CACHE_HOME").map(|cache| cache.join("fathom/models")))
        .or_else(|| variable("HOME").map(|home| home.join(".cache/fathom/models")))
        .unwrap()
}

fn row(what: &str, seen: &str, wanted: &str) {
    println!("  {what:<56} {seen:>24}   {wanted}");
}

fn resident() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let kib = |name: &str| -> f64 {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    format!("{:.2} GiB", kib("VmRSS:") / 1024.0 / 1024.0)
}

/// Processor time of this process, which other programs on the machine hardly change.
fn processor_seconds() -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .collect();
    let ticks: f64 = fields[11..=12]
        .iter()
        .map(|field| field.parse::<f64>().unwrap())
        .sum();
    ticks / TICKS_PER_SECOND
}

fn load(path: &Path) -> LocalEngine {
    let begin = Instant::now();
    let engine = LocalEngine::load(path, EngineOptions::default()).unwrap();
    row(
        "load",
        &format!("{:.2} s", begin.elapsed().as_secs_f64()),
        "",
    );
    let facts = engine.facts();
    let cache = format!(
        "{} tokens, {} MiB",
        facts.cache_tokens,
        facts.cache_bytes >> 20
    );
    row("cache", &cache, "");
    engine
}

fn request(system: &str, text: &str, output_tokens_max: u32) -> ModelRequest {
    ModelRequest {
        messages: vec![
            ChatMessage::new(Speaker::System, system),
            ChatMessage::new(Speaker::User, text),
        ],
        output_tokens_max,
        temperature_milli: Some(0),
        schema: None,
        pattern: None,
        tools: Vec::new(),
        seed: None,
        delivery: ReplyMode::Whole,
        timeout: Millis(600_000),
    }
}

/// Lower-case words for exactly as long as the cap allows: a reply of a known length.
fn unending(request: ModelRequest) -> ModelRequest {
    ModelRequest {
        pattern: Some("[a-z ]{9000}".into()),
        ..request
    }
}

async fn ask(engine: &LocalEngine, request: &ModelRequest) -> ModelReply {
    engine
        .call(request, &mut |_| {})
        .await
        .unwrap_or_else(|failure| panic!("{failure}"))
}

async fn ask_all(engine: &LocalEngine, requests: Vec<ModelRequest>) -> Vec<ModelReply> {
    let calls: Vec<_> = requests
        .into_iter()
        .map(|request| {
            let engine = engine.clone();
            tokio::spawn(async move { ask(&engine, &request).await })
        })
        .collect();
    let mut replies = Vec::new();
    for call in calls {
        replies.push(call.await.unwrap());
    }
    replies
}

/// Words that differ from one `seed` to the next, and are about `tokens` tokens.
fn words(engine: &LocalEngine, seed: usize, tokens: u64) -> String {
    const STEMS: [&str; 8] = [
        "harbour", "council", "bridge", "winter", "signal", "ledger", "garden", "engine",
    ];
    let mut text = String::new();
    let mut index = seed;
    while engine.count(&text) < tokens {
        index = index.wrapping_mul(31).wrapping_add(17 + seed);
        text.push_str(STEMS[index % STEMS.len()]);
        text.push(if index.is_multiple_of(11) { '.' } else { ' ' });
    }
    text
}

async fn speed(engine: &LocalEngine) {
    // The first call pays for what is made lazily.
    ask(engine, &unending(request("warm", "up", 4))).await;
    let (mut prompt, mut generation) = (Vec::new(), Vec::new());
    let (mut prompt_cpu, mut generation_cpu) = (Vec::new(), Vec::new());
    for seed in 1..=3 {
        let text = words(engine, seed, 512);
        let long = unending(request(&format!("{seed}"), &text, 64));
        let begin = processor_seconds();
        ask(
            engine,
            &ModelRequest {
                output_tokens_max: 1,
                ..long.clone()
            },
        )
        .await;
        let read_at = processor_seconds();
        // The prompt is kept by now, so this is generation but for one token.
        ask(engine, &long).await;
        prompt_cpu.push((read_at - begin) * 1000.0 / 512.0);
        generation_cpu.push((processor_seconds() - read_at) * 1000.0 / 64.0);
        let text = words(engine, 10 + seed, 512);
        let reply = ask(
            engine,
            &unending(request(&format!("{seed} again"), &text, 64)),
        )
        .await;
        let timing = reply.timing.unwrap();
        let read = reply.usage.input_tokens - timing.shared_tokens;
        prompt.push(read as f64 * 1000.0 / timing.reading.0 as f64);
        generation.push(63_000.0 / timing.writing.0 as f64);
    }
    let best = |speeds: &[f64]| speeds.iter().copied().fold(0.0, f64::max);
    row(
        "prompt, best of 3 with 512 tokens",
        &format!("{:.0} tokens/s", best(&prompt)),
        "",
    );
    row(
        "generation, best of 3 with 64 tokens",
        &format!("{:.1} tokens/s", best(&generation)),
        "",
    );
    let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    let spent = format!(
        "{:.1} / {:.1} ms",
        least(&prompt_cpu),
        least(&generation_cpu)
    );
    row("processor time a token, prompt / generation", &spent, "");
    row("resident", &resident(), "");
}

async fn sharing(engine: &LocalEngine, path: &Path) {
    let header = words(engine, 5, 400);
    let requests: Vec<ModelRequest> = (0..CALLS)
        .map(|index| unending(request(&header, &words(engine, 100 + index, 60), 60)))
        .collect();
    let begin = Instant::now();
    let replies = ask_all(engine, requests.clone()).await;
    let together = begin.elapsed();
    let shared = replies
        .iter()
        .filter(|reply| reply.timing.unwrap().shared_tokens >= 400)
        .count();
    // One at a time in an engine that has no room to keep what another call has read.
    let alone = LocalEngine::load(path, EngineOptions::default()).unwrap();
    ask(&alone, &unending(request("warm", "up", 4))).await;
    let mut apart = Duration::ZERO;
    for (index, request) in requests.into_iter().enumerate() {
        let mut request = request;
        // A word of its own at the very beginning, so that nothing is shared.
        let unshared = format!("{index} {}", request.messages[0].text.as_str());
        request.messages[0] = ChatMessage::new(Speaker::System, unshared);
        let begin = Instant::now();
        let reply = ask(&alone, &request).await;
        apart += begin.elapsed();
        assert!(reply.timing.unwrap().shared_tokens < 50);
    }
    row(
        &format!("{CALLS} calls together, {shared} of them shared the header"),
        &format!("{:.2} s", together.as_secs_f64()),
        "",
    );
    row(
        "the same one after another, nothing shared",
        &format!("{:.2} s", apart.as_secs_f64()),
        "",
    );
    let ratio = together.as_secs_f64() / apart.as_secs_f64();
    row("ratio", &format!("{ratio:.2}"), "≤ 0.50");
}

async fn votes(engine: &LocalEngine) {
    let schema = r#"{"type":"object","properties":{
        "reasoning":{"type":"string","maxLength":120},
        "vote":{"type":"string","enum":["APPROVE","REJECT","ABSTAIN"]},
        "confidence":{"type":"integer","minimum":0,"maximum":100}},
        "required":["reasoning","vote","confidence"],"additionalProperties":false}"#;
    let requests = (0..VOTES)
        .map(|index| {
            let mut request = request(
                "You are a member of the town council. Vote on the proposal and say why in one sentence.",
                &format!("Proposal {index}: spend {} dollars on a new bridge.", index * 1000),
                200,
            );
            request.schema = Some(schema.into());
            request
        })
        .collect();
    let before = engine.stats();
    let begin = Instant::now();
    let replies = ask_all(engine, requests).await;
    let took = begin.elapsed();
    let valid = replies
        .iter()
        .filter(|reply| reply.ending == FinishReason::Complete && is_vote(reply.text.as_str()))
        .count();
    let stats = engine.stats();
    let constraining = stats
        .constraining
        .saturating_sub(before.constraining)
        .as_secs_f64();
    let computing = stats
        .computing
        .saturating_sub(before.computing)
        .as_secs_f64();
    row(
        &format!("{VOTES} votes in {:.1} s", took.as_secs_f64()),
        &format!("{valid} valid"),
        &format!("all {VOTES}"),
    );
    row(
        "masks, share of the time",
        &format!("{:.2} %", constraining * 100.0 / computing),
        "< 2 %",
    );
}

fn is_vote(text: &str) -> bool {
    let Ok(vote) = serde_json::from_str::<serde_json::Value>(text) else {
        return false;
    };
    vote["reasoning"].is_string()
        && ["APPROVE", "REJECT", "ABSTAIN"]
            .iter()
            .any(|choice| vote["vote"] == *choice)
        && vote["confidence"]
            .as_u64()
            .is_some_and(|confidence| confidence <= 100)
}

async fn busy(engine: &LocalEngine) {
    let measure = async |seed: usize| {
        let text = words(engine, seed, 40);
        let reply = ask(engine, &unending(request(&format!("{seed}"), &text, 128))).await;
        127_000.0 / reply.timing.unwrap().writing.0 as f64
    };
    measure(200).await;
    let idle = measure(201).await;
    let stop = Arc::new(AtomicBool::new(false));
    let loops: Vec<_> = (0..thread::available_parallelism().unwrap().get())
        .map(|_| {
            let stop = Arc::clone(&stop);
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        })
        .collect();
    let beside = measure(202).await;
    stop.store(true, Ordering::Relaxed);
    for busy in loops {
        busy.join().unwrap();
    }
    row(
        "generation on idle cores",
        &format!("{idle:.1} tokens/s"),
        "",
    );
    row(
        "generation with a busy loop on every core",
        &format!("{beside:.1} tokens/s"),
        "",
    );
    row("ratio", &format!("{:.2}", beside / idle), "≥ 0.33");
}
