//! Regular expressions that are constants of this program.

use regex::Regex;

/// Compiles a constant pattern; meant for the initialiser of a `LazyLock`.
#[expect(
    clippy::expect_used,
    reason = "every pattern is written in this crate and compiled by a test of the check that uses it"
)]
pub(crate) fn constant(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern compiles")
}
