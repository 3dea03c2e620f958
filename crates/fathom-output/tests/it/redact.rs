//! Filters of what leaves.

mod actions;
mod chunks;
mod corpus;
mod filter;
mod hostile;
mod quality;
mod rules;
mod score;

use fathom_output::redact::{RedactRules, TextRedactor};

fn redactor() -> TextRedactor {
    with_rules("format = 1\nversion = \"test\"\n")
}

#[expect(
    clippy::unwrap_used,
    reason = "rules of a test are right, or the test fails"
)]
fn with_rules(text: &str) -> TextRedactor {
    TextRedactor::new(&RedactRules::parse(text).unwrap(), None).unwrap()
}
