//! What is found in a labelled corpus, and what is left alone.

use fathom_output::redact::{Kind, Redactor};

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

fn found(redactor: &Redactor, sample: &Sample) -> Vec<Predicted> {
    let spans = redactor.redact(&sample.text).spans.into_iter();
    spans
        .filter(|span| matches!(span.kind, Kind::Entity(_)))
        .map(|span| Predicted {
            start: span.start,
            end: span.end,
            entity: span.kind.name().to_owned(),
        })
        .collect()
}

fn table() -> Table {
    let redactor = redactor();
    let mut table = Table::default();
    for sample in corpus::labelled(2_026)
        .iter()
        .chain(&corpus::look_alikes(7))
    {
        table.add(sample, &found(&redactor, sample));
    }
    table
}

#[test]
fn g10_finds_what_is_there_and_leaves_what_only_looks_so() {
    let labels: usize = corpus::labelled(2_026)
        .iter()
        .map(|sample| sample.labels.len())
        .sum();
    assert!(labels >= 2_000 && corpus::look_alikes(7).len() >= 2_000);

    let table = table();
    let misses = table.misses.join("\n");
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
