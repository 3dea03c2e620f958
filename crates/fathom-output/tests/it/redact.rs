//! Filters of what leaves.

mod actions;
mod chunks;
mod corpus;
mod filter;
mod hostile;
mod quality;
mod rules;
mod score;

use fathom_output::redact::{Redactor, Rules};

fn redactor() -> Redactor {
    with_rules("format = 1\nversion = \"test\"\n")
}

#[expect(
    clippy::unwrap_used,
    reason = "rules of a test are right, or the test fails"
)]
fn with_rules(text: &str) -> Redactor {
    Redactor::new(&Rules::parse(text).unwrap(), None).unwrap()
}
