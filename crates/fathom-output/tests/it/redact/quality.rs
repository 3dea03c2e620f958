//! What is found in a labelled corpus, and what is left alone.

use fathom_output::redact::{SpanKind, TextRedactor};

use super::corpus::{self, Sample};
use super::redactor;
use super::score::{Predicted, Table};

/// Entities whose values check themselves.
const CHECKED: [&str; 14] = [
    "br_cpf",
    "card",
    "crypto",
    "de_steuer_id",
    "es_dni",
    "fr_nir",
    "iban",
    "in_aadhaar",
    "it_codice_fiscale",
    "nl_bsn",
    "pl_pesel",
    "uk_nhs",
    "us_ssn",
    "uk_nino",
];

fn found(redactor: &TextRedactor, sample: &Sample) -> Vec<Predicted> {
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

/// The rules were made with a look at what the first one gives; the others came later.
const SEEDS: [u64; 7] = [2_026, 31, 4_711, 65_537, 90_001, 1_234_567, 20_261_116];

fn table(seed: u64) -> Table {
    let redactor = redactor();
    let labelled = corpus::labelled(seed);
    let look_alikes = corpus::look_alikes(seed + 1);
    let labels: usize = labelled.iter().map(|sample| sample.labels.len()).sum();
    assert!(labels >= 2_000 && look_alikes.len() >= 2_000);

    let mut table = Table::default();
    for sample in labelled.iter().chain(&look_alikes) {
        table.add(sample, &found(&redactor, sample));
    }
    table
}

#[test]
fn g10_finds_what_is_there_and_leaves_what_only_looks_so() {
    for seed in SEEDS {
        check(seed, &table(seed));
    }
}

fn check(seed: u64, table: &Table) {
    let misses = format!("of seed {seed}\n{}", table.misses.join("\n"));
    for entity in CHECKED {
        let score = table.entities[entity];
        assert!(
            score.labels >= 100 && score.recall() >= 0.98,
            "{entity} {score:?}\n{misses}"
        );
        assert!(score.precision() >= 0.98, "{entity} {score:?}\n{misses}");
    }
    for row in [
        "email",
        "phone, with country code",
        "secret, key of a service",
        "secret, after a word",
        "password",
        "jwt",
        "private_key",
        "url_credentials",
    ] {
        assert!(
            table.rows[row].recall() >= 0.95,
            "{row} {:?}\n{misses}",
            table.rows[row]
        );
    }
    for (entity, score) in &table.entities {
        assert!(
            score.recall() >= 0.95 && score.precision() >= 0.95,
            "{entity} {score:?}\n{misses}"
        );
    }
}
