//! What the embedded model makes of material far beyond its window: a needle in logs, and counts by category.
//!
//! Not a test: it prints what it saw. `make bench` runs it; `FATHOM_BENCH_SEEDS` says how many seeds of each (10 unless
//! told), since each takes the model a while.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark reads clocks, starts processes, prints, and stops at the first surprise"
)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Characters of the tickets that a plain call is given: what its window takes with room for the answer.
const HEAD_CHARS: usize = 6_000;

fn main() {
    let seeds = std::env::var("FATHOM_BENCH_SEEDS").ok();
    let seeds = seeds.and_then(|seeds| seeds.parse().ok()).unwrap_or(10);
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    println!("the embedded model on material beyond its window, {seeds} seeds each\n");
    for size in ["1MB", "10MB", "100MB"] {
        let mut tally = Tally::default();
        for seed in 1..=seeds {
            let (file, hidden) = generate(dir.path(), seed, "log", size);
            let question = hidden["question"].as_str().unwrap();
            let answer = hidden["answer"].as_str().unwrap();
            let seen = rlm(dir.path(), question, &file, &[]);
            tally.add(seen.text().contains(answer), &seen);
            std::fs::remove_file(file).unwrap();
        }
        tally.show(&format!("needle in {size}"), "≥ 9 of 10");
    }
    let (mut with, mut without, mut plain) = (Tally::default(), Tally::default(), Tally::default());
    for seed in 1..=seeds {
        let (file, hidden) = generate(dir.path(), seed, "tickets-jsonl", "5000");
        let question = hidden["question"].as_str().unwrap();
        let is_right = |seen: &Seen| counts(seen) == Some(hidden["answer"].clone());
        let seen = rlm(dir.path(), question, &file, &[]);
        with.add(is_right(&seen), &seen);
        let seen = rlm(
            dir.path(),
            question,
            &file,
            &["--recipes", "off", "--turns", "4"],
        );
        without.add(is_right(&seen), &seen);
        let head = dir.path().join("head.jsonl");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&head, &text[..HEAD_CHARS.min(text.len())]).unwrap();
        let seen = run(dir.path(), &["ask", question, "--context"], &head, &[]);
        plain.add(is_right(&seen), &seen);
    }
    with.show("5,000 tickets by category, recipes", "");
    without.show("the same, its own cells, 4 turns", "");
    plain.show("the same, a plain call on what fits", "");
}

/// The counts that an answer gives, if it is an object of them.
fn counts(seen: &Seen) -> Option<Value> {
    let answer = seen.text();
    let (start, end) = (answer.find('{')?, answer.rfind('}')?);
    serde_json::from_str(answer.get(start..=end)?).ok()
}

/// What came of one run.
struct Seen {
    json: Value,
    took: Duration,
}

impl Seen {
    fn text(&self) -> &str {
        self.json["answer"].as_str().unwrap_or_default()
    }

    fn calls(&self) -> u64 {
        self.json["model_calls"].as_u64().unwrap_or_default()
    }
}

#[derive(Default)]
struct Tally {
    right: u32,
    runs: u32,
    calls: u64,
    took: Vec<Duration>,
}

impl Tally {
    fn add(&mut self, is_right: bool, seen: &Seen) {
        self.right += u32::from(is_right);
        self.runs += 1;
        self.calls += seen.calls();
        self.took.push(seen.took);
    }

    fn show(mut self, what: &str, wanted: &str) {
        self.took.sort();
        let median = self.took[self.took.len() / 2].as_secs_f64();
        let calls = f64::from(u32::try_from(self.calls).unwrap()) / f64::from(self.runs);
        println!(
            "{what:<44} right {:>2} of {:<2}   {median:>6.1} s   {calls:>4.1} calls   {wanted}",
            self.right, self.runs
        );
    }
}

/// Made-up data, and what was hidden in it.
fn generate(dir: &Path, seed: u32, kind: &str, size: &str) -> (PathBuf, Value) {
    let path = dir.join(format!("{seed}-{kind}-{size}.txt"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/generate.py");
    let made = Command::new("python3")
        .arg(script)
        .args([&seed.to_string(), kind, size])
        .stdout(File::create(&path).unwrap())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    (path, serde_json::from_slice(&made.stderr).unwrap())
}

fn rlm(dir: &Path, question: &str, file: &Path, flags: &[&str]) -> Seen {
    run(dir, &["rlm", question, "--context"], file, flags)
}

fn run(dir: &Path, arguments: &[&str], file: &Path, flags: &[&str]) -> Seen {
    let begun = Instant::now();
    let ran = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(arguments)
        .arg(file)
        .args(flags)
        .args(["--json", "--quiet", "--home"])
        .arg(dir.join("home"))
        .output()
        .unwrap();
    Seen {
        took: begun.elapsed(),
        json: serde_json::from_slice(&ran.stdout).unwrap_or_default(),
    }
}
