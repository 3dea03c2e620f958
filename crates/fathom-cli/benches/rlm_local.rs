//! What the embedded model makes of material far beyond its window: a needle in logs, and counts by category.
//!
//! Not a test: it prints what it saw, run by run. `make bench` runs it; `FATHOM_BENCH_SEEDS` says how many seeds (10 unless
//! told), or which (`4-10` goes on after the third), since each takes the model a while. Arguments name the parts that are
//! wanted.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark reads clocks, starts processes, prints, and stops at the first surprise"
)]

use std::fs::File;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Characters of the tickets that a plain call is given: what its window takes with room for the answer.
const HEAD_CHARS: usize = 6_000;

/// What is asked: how it is called here, what its row says, and what must be right.
const PARTS: [(&str, &str, &str); 6] = [
    ("1MB", "needle in 1 MB", "≥ 9 of 10"),
    ("10MB", "needle in 10 MB", "≥ 9 of 10"),
    ("100MB", "needle in 100 MB", "≥ 9 of 10"),
    ("recipes", "5,000 tickets by category, recipes", ""),
    ("cells", "the same, its own cells, 4 turns", ""),
    ("plain", "the same, a plain call on what fits", ""),
];

fn main() {
    let seeds = seeds();
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    println!("the embedded model on material beyond its window, seeds {seeds:?}\n");
    let is_wanted = |part: &str| wanted.is_empty() || wanted.iter().any(|word| word == part);
    let mut rows: Vec<_> = PARTS
        .iter()
        .filter(|(part, ..)| is_wanted(part))
        .map(|(part, what, must)| (*part, Tally::new(what, must)))
        .collect();
    // Seed by seed, so that all rows are equally far when it is ended early.
    for seed in seeds {
        for (part, tally) in &mut rows {
            if part.ends_with("MB") {
                needle(dir.path(), seed, part, tally);
            } else {
                count(dir.path(), seed, part, tally);
            }
        }
    }
    println!();
    for (_, tally) in rows {
        tally.show();
    }
}

/// `FATHOM_BENCH_SEEDS`: how many, or the first and the last of them as in `4-10`.
fn seeds() -> RangeInclusive<u32> {
    let said = std::env::var("FATHOM_BENCH_SEEDS").unwrap_or_else(|_| "10".to_owned());
    let (first, last) = said.split_once('-').unwrap_or(("1", &said));
    first.parse().unwrap()..=last.parse().unwrap()
}

/// One line that is nowhere else, in a log.
fn needle(dir: &Path, seed: u32, size: &str, tally: &mut Tally) {
    let (file, hidden) = generate(dir, seed, "log", size);
    let question = hidden["question"].as_str().unwrap();
    let answer = hidden["answer"].as_str().unwrap();
    let ran = run(dir, &["rlm", question, "--context"], &file, &[]);
    tally.add(seed, ran.text().contains(answer), &ran);
    std::fs::remove_file(file).unwrap();
}

/// How many tickets there are of each category.
fn count(dir: &Path, seed: u32, part: &str, tally: &mut Tally) {
    let (file, hidden) = generate(dir, seed, "tickets-jsonl", "5000");
    let question = hidden["question"].as_str().unwrap();
    let ask = |command: &str, flags: &[&str]| {
        let arguments = [command, question, "--context"];
        run(dir, &arguments, &file, flags)
    };
    let ran = match part {
        "recipes" => ask("rlm", &[]),
        "cells" => ask("rlm", &["--recipes", "off", "--turns", "4"]),
        _ => {
            let text = std::fs::read_to_string(&file).unwrap();
            std::fs::write(&file, &text[..HEAD_CHARS.min(text.len())]).unwrap();
            ask("ask", &[])
        }
    };
    tally.add(seed, counts(&ran) == Some(hidden["answer"].clone()), &ran);
    std::fs::remove_file(file).unwrap();
}

/// The counts that an answer gives, if it is an object of them.
fn counts(ran: &Ran) -> Option<Value> {
    let answer = ran.text();
    let (start, end) = (answer.find('{')?, answer.rfind('}')?);
    serde_json::from_str(answer.get(start..=end)?).ok()
}

/// What came of one run.
struct Ran {
    json: Value,
    took: Duration,
}

impl Ran {
    fn text(&self) -> &str {
        self.json["answer"].as_str().unwrap_or_default()
    }

    fn calls(&self) -> u64 {
        self.json["model_calls"].as_u64().unwrap_or_default()
    }
}

struct Tally {
    what: String,
    wanted: &'static str,
    right: u32,
    calls: u64,
    took: Vec<Duration>,
}

impl Tally {
    fn new(what: &str, wanted: &'static str) -> Self {
        Self {
            what: what.to_owned(),
            wanted,
            right: 0,
            calls: 0,
            took: Vec::new(),
        }
    }

    fn add(&mut self, seed: u32, is_right: bool, ran: &Ran) {
        println!(
            "{:<44} seed {seed:>2} {}   {:>6.1} s   {:>4} calls   {:.60?}",
            self.what,
            if is_right { "right" } else { "WRONG" },
            ran.took.as_secs_f64(),
            ran.calls(),
            ran.text()
        );
        self.right += u32::from(is_right);
        self.calls += ran.calls();
        self.took.push(ran.took);
    }

    fn show(mut self) {
        self.took.sort();
        let runs = self.took.len();
        let median = self.took[runs / 2].as_secs_f64();
        let calls = self.calls as f64 / runs as f64;
        println!(
            "{:<44} right {:>2} of {runs:<2}   {median:>6.1} s   {calls:>4.1} calls   {}",
            self.what, self.right, self.wanted
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

fn run(dir: &Path, arguments: &[&str], file: &Path, flags: &[&str]) -> Ran {
    let begun = Instant::now();
    let ran = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(arguments)
        .arg(file)
        .args(flags)
        .args(["--json", "--quiet", "--home"])
        .arg(dir.join("home"))
        .output()
        .unwrap();
    Ran {
        took: begun.elapsed(),
        json: serde_json::from_slice(&ran.stdout).unwrap_or_default(),
    }
}
