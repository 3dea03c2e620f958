//! How many sentences are embedded in a second, one by one and in batches.
//!
//! Not a test: it prints what it saw. `FATHOM_TEST_WEIGHTS` names the folder of the weights.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark reads clocks and the environment, prints, and stops at the first surprise"
)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use fathom_local::embedding::SentenceEmbedder;

const ROUNDS: usize = 3;
const BATCH: usize = 64;

fn main() {
    let folder = PathBuf::from(std::env::var_os("FATHOM_TEST_WEIGHTS").unwrap());
    let started = Instant::now();
    let embedder = SentenceEmbedder::load(
        &folder.join("minilm.safetensors"),
        &folder.join("minilm-tokenizer.json"),
    )
    .unwrap();
    println!(
        "{:<52} {:>8.0} ms",
        "load",
        started.elapsed().as_secs_f64() * 1e3
    );

    let texts = sentences();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    row(
        "sentences of 5 to 30 words, in batches of 64",
        &texts,
        &embedder,
        BATCH,
    );
    row("the same, one by one", &texts, &embedder, 1);
    row("the same, all at once", &texts, &embedder, usize::MAX);
}

/// The best of some rounds: on a shared machine the others show the neighbours.
fn row(what: &str, texts: &[&str], embedder: &SentenceEmbedder, batch: usize) {
    let best = (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            for batch in texts.chunks(batch.min(texts.len())) {
                embedder.embed(batch).unwrap();
            }
            started.elapsed()
        })
        .min()
        .unwrap_or(Duration::ZERO);
    let speed = texts.len() as f64 / best.as_secs_f64();
    println!("{what:<52} {speed:>8.0} sentences/s");
}

/// Sentences of everyday words whose lengths go round from 5 to 30 words.
fn sentences() -> Vec<String> {
    let words: Vec<&str> =
        "the model reads a long report about water and energy in small towns and then writes what \
        people there should know before they vote on new rules for shared gardens next spring"
            .split_whitespace()
            .collect();
    (0..512)
        .map(|index| {
            let length = 5 + index * 7 % 26;
            let words: Vec<&str> = (0..length)
                .map(|at| words[(index + at * 3) % words.len()])
                .collect();
            words.join(" ") + "."
        })
        .collect()
}
