//! How well and how fast personal data and secrets are found, beside Presidio's pattern recognisers.
//!
//! Not a test: it prints what it saw. `make bench` runs it. Without `FATHOM_BENCH_REDACT_PEERS`, which names the Python of
//! `scripts/bench-peers redact`, only our own figures are shown.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark reads clocks and the environment, starts its peer and prints"
)]

#[path = "../tests/it/redact/corpus/mod.rs"]
mod corpus;
#[path = "../tests/it/redact/score.rs"]
mod score;

use std::error::Error;
use std::hint::black_box;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use fathom_output::redact::{RedactRules, SpanKind, TextRedactor};
use serde_json::{Value, json};

use corpus::Sample;
use score::{Predicted, Table};

const ROUNDS: usize = 5;
/// The clock of a core ticks every few milliseconds: what is short is done many times.
const STARTS: u32 = 50;
const LINES: u32 = 50_000;
const MIXED_BYTES: usize = 8 << 20;
const HOSTILE_BYTES: usize = 1_000_000;
/// No rule was made with a look at what these seeds give.
const LABELLED_SEED: u64 = 90_001;
const LOOK_ALIKES_SEED: u64 = 90_002;
/// From this score on Presidio is rather sure.
const SURE: f64 = 0.5;

fn main() -> Result<(), Box<dyn Error>> {
    let redactor = TextRedactor::new(&RedactRules::builtin()?, None)?;
    let ready = fastest(|| {
        for _ in 0..STARTS {
            let rules = RedactRules::builtin();
            drop(black_box(
                rules.map(|rules| TextRedactor::new(&rules, None)),
            ));
        }
    });
    println!(
        "rules {} read and ready after {:.1?}",
        redactor.version(),
        ready / STARTS
    );
    let line = "2026-03-04T12:33:21.145Z INFO fathom::host::driver run=01f3 episode=2 took_ms=48";
    let many = fastest(|| {
        for _ in 0..LINES {
            drop(black_box(redactor.masked(black_box(line))));
        }
    });
    println!("a line of a log: {:.1?}", many / LINES);
    let ours = speed(&redactor);
    for (name, pattern) in [
        ("dots", "."),
        ("digits", "7"),
        ("@", "@"),
        ("a.a.a.", "a.a.a."),
    ] {
        let text = pattern.repeat(HOSTILE_BYTES / pattern.len());
        println!(
            "1 MB of {name:<8} {:>8.1?}",
            fastest(|| drop(black_box(redactor.redact(&text))))
        );
    }
    let mut samples = corpus::labelled(LABELLED_SEED);
    samples.extend(corpus::look_alikes(LOOK_ALIKES_SEED));
    println!("corpus of the seeds {LABELLED_SEED} and {LOOK_ALIKES_SEED}");
    let bytes: usize = samples.iter().map(|sample| sample.text.len()).sum();
    let took = fastest(|| {
        for sample in &samples {
            drop(black_box(redactor.redact(&sample.text)));
        }
    });
    let in_corpus = bytes as f64 / took.as_secs_f64();
    println!(
        "{} texts of the corpus: {:.1} MB/s",
        samples.len(),
        in_corpus / 1e6
    );

    let mut table = Table::default();
    for sample in &samples {
        table.add(sample, &ours_of(&redactor, sample));
    }
    let peer = peer(&samples)?;
    print_table(&table, peer.as_ref());
    if let Some(peer) = peer {
        let theirs = bytes as f64 / peer.seconds;
        println!(
            "Presidio {}: {:.0} KB/s on the corpus; ours is {:.0} times as fast there",
            peer.version,
            theirs / 1e3,
            in_corpus / theirs
        );
        println!("and {:.0} times on mixed text", ours / theirs);
    }
    Ok(())
}

/// The time that a core worked, which is the same however many others want it.
fn fastest(mut run: impl FnMut()) -> Duration {
    (0..ROUNDS)
        .map(|_| {
            let begin = worked();
            run();
            worked().saturating_sub(begin)
        })
        .min()
        .unwrap_or_default()
}

/// How long this thread was on a core.
fn worked() -> Duration {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = times.split(' ').next().unwrap_or_default();
    Duration::from_nanos(first.parse().unwrap_or_default())
}

/// Prose, logs, code and tables, with something to find in every eighth piece.
fn mixed() -> String {
    let mut rng = corpus::Rng::new(1);
    let labelled = corpus::labelled(3);
    let mut text = String::new();
    while text.len() < MIXED_BYTES {
        let plain: &str = rng.pick(&[
            "The committee met on Tuesday and agreed that the plan should be looked at again before the summer. Nobody objected.\n",
            "2026-03-04T12:33:21.145Z INFO fathom::host::driver run=01f3 episode=2 took_ms=48 model=small tokens=812\n",
            "    let total = items.iter().map(|item| item.price * item.count).sum::<u64>();\n",
            "| 2026-03-04 | invoice 10023 | 1,250.00 EUR | open | Köln |\n",
            "{\"id\": 48213, \"state\": \"done\", \"took_ms\": 12.5, \"tags\": [\"a\", \"b\"], \"parent\": null}\n",
            "Die Sitzung beginnt um 10:30 Uhr. Bitte bringen Sie die Unterlagen mit, die wir letzte Woche verschickt haben.\n",
            "- see `crates/fathom-output/src/lib.rs` for what leaves, and why it was done so\n",
        ]);
        text.push_str(plain);
        if rng.chance(12) {
            text.push_str(&labelled[rng.below(labelled.len())].text);
            text.push('\n');
        }
    }
    text
}

fn speed(redactor: &TextRedactor) -> f64 {
    let text = mixed();
    let rate = |took: Duration| text.len() as f64 / took.as_secs_f64();
    let whole = rate(fastest(|| drop(black_box(redactor.redact(&text)))));
    let streamed = rate(fastest(|| {
        let mut stream = redactor.stream();
        for piece in text.as_bytes().chunks(24) {
            drop(black_box(stream.push_bytes(piece)));
        }
        drop(black_box(stream.finish()));
    }));
    println!(
        "mixed text: {:.1} MB/s a core, {:.1} MB/s in pieces of 24 bytes",
        whole / 1e6,
        streamed / 1e6
    );
    whole
}

fn ours_of(redactor: &TextRedactor, sample: &Sample) -> Vec<Predicted> {
    let spans = redactor.redact(&sample.text).spans.into_iter();
    spans
        .filter(|span| matches!(span.kind, SpanKind::Entity(_)))
        .map(|span| Predicted {
            start: span.start,
            end: span.end,
            entity: span.kind.name().to_owned(),
        })
        .collect()
}

struct Peer {
    version: String,
    seconds: f64,
    /// All that it says, as its engine gives it by default.
    all: Table,
    /// What it is rather sure of.
    sure: Table,
}

/// Asks the peer about the same texts. Its places count characters.
fn peer(samples: &[Sample]) -> Result<Option<Peer>, Box<dyn Error>> {
    let Some(python) = std::env::var_os("FATHOM_BENCH_REDACT_PEERS") else {
        println!("FATHOM_BENCH_REDACT_PEERS is not set: no peer beside ours");
        return Ok(None);
    };
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/benches/peers/peer_presidio.py"
    );
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let texts: Vec<&str> = samples.iter().map(|sample| sample.text.as_str()).collect();
    let mut input = child.stdin.take().ok_or("the peer takes no input")?;
    let written = json!(texts).to_string();
    let writer = std::thread::spawn(move || input.write_all(written.as_bytes()));
    let output = child.wait_with_output()?;
    writer.join().map_err(|_| "the peer's input broke")??;
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    let (mut all, mut sure) = (Table::default(), Table::default());
    for (sample, found) in samples
        .iter()
        .zip(answer["found"].as_array().ok_or("no findings")?)
    {
        let places: Vec<usize> = sample
            .text
            .char_indices()
            .map(|(place, _)| place)
            .chain([sample.text.len()])
            .collect();
        let predicted = |score_min: f64| -> Vec<Predicted> {
            let found = found.as_array().into_iter().flatten();
            found
                .filter(|one| one[3].as_f64().unwrap_or_default() >= score_min)
                .map(|one| Predicted {
                    entity: one[0].as_str().unwrap_or_default().to_owned(),
                    start: place(&places, &one[1]),
                    end: place(&places, &one[2]),
                })
                .collect()
        };
        all.add(sample, &predicted(0.0));
        sure.add(sample, &predicted(SURE));
    }
    Ok(Some(Peer {
        version: answer["version"].as_str().unwrap_or_default().to_owned(),
        seconds: answer["seconds"].as_f64().unwrap_or(f64::INFINITY),
        all,
        sure,
    }))
}

fn place(places: &[usize], at: &Value) -> usize {
    let at = at.as_u64().and_then(|at| usize::try_from(at).ok());
    at.and_then(|at| places.get(at))
        .copied()
        .unwrap_or_default()
}

/// As docs/redaction.md shows it: precision and recall of ours, of all that Presidio says, and of what it is sure of.
fn print_table(ours: &Table, peer: Option<&Peer>) {
    println!(
        "| | values | ours: precision | recall | Presidio: precision | recall | sure: precision | recall |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (entity, score) in &ours.entities {
        let beside = |table: Option<&Table>| {
            table
                .and_then(|table| table.entities.get(entity))
                .filter(|score| score.right + score.wrong > 0)
                .map_or_else(
                    || "– | –".to_owned(),
                    |score| format!("{:.3} | {:.3}", score.precision(), score.recall()),
                )
        };
        println!(
            "| `{entity}` | {} | {:.3} | {:.3} | {} | {} |",
            score.labels,
            score.precision(),
            score.recall(),
            beside(peer.map(|peer| &peer.all)),
            beside(peer.map(|peer| &peer.sure))
        );
    }
    for (row, score) in ours.rows.iter().filter(|(row, _)| row.contains(',')) {
        let beside = |table: Option<&Table>| {
            table
                .and_then(|table| table.rows.get(row))
                .filter(|score| score.covered > 0)
                .map_or_else(
                    || "– | –".to_owned(),
                    |score| format!("| {:.3}", score.recall()),
                )
        };
        println!(
            "| {row} | {} | | {:.3} | {} | {} |",
            score.labels,
            score.recall(),
            beside(peer.map(|peer| &peer.all)),
            beside(peer.map(|peer| &peer.sure))
        );
    }
}
