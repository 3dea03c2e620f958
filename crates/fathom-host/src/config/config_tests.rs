use std::path::Path;

use fathom_core::unit::{Millis, Nanodollars};

use super::{BUDGET, HostConfig, parse_cost, parse_time};
use crate::error::HostError;

fn parse(text: &str) -> Result<HostConfig, HostError> {
    HostConfig::parse(Path::new("fathom.toml"), text)
}

fn complaint(text: &str) -> String {
    parse(text).expect_err("must be refused").to_string()
}

#[test]
fn a_whole_file_is_read() {
    let config = parse(
        r#"
        model = "openai/gpt-4o-mini"
        concurrency = 16
        charter = "default"
        json = true
        no_resume = true
        [budget]
        tokens = 1_000
        time = "30s"
        cost = 0.25
        [recursion]
        max_depth = 4
        allowed_child_types = ["critique", "verify"]
        [recursion.stop_conditions]
        same_error_max = 5
        [direct]
        output_tokens_max = 99
        "#,
    )
    .expect("valid");
    assert_eq!(config.model.as_deref(), Some("openai/gpt-4o-mini"));
    assert_eq!(config.concurrency, Some(16));
    assert_eq!(config.charter.as_deref(), Some("default"));
    assert!(config.json && config.no_resume && !config.quiet);
    let budget = config.budget.over(BUDGET);
    assert_eq!(budget.amounts.tokens, 1_000);
    assert_eq!(budget.amounts.money, Nanodollars(250_000_000));
    assert_eq!(budget.time, Millis(30_000));
    assert_eq!(budget.amounts.calls, BUDGET.amounts.calls);
    let policy = config.recursion.expect("given");
    assert_eq!(policy.max_depth, 4);
    assert_eq!(policy.stop_conditions.same_error_max, 5);
    assert_eq!(policy.allowed_child_types, ["critique", "verify"]);
    assert_eq!(config.direct.expect("given").output_tokens_max, 99);
}

#[test]
fn x08_broken_toml_names_file_line_and_key() {
    let cases = [
        ("model = 3", "fathom.toml:1: `model`:"),
        ("\n\nmodle = \"x\"", "fathom.toml:3: `modle`: unknown field"),
        ("[budget]\ntokens = \"many\"", "fathom.toml:2: `tokens`:"),
        (
            "[budget]\ntime = \"soon\"",
            "fathom.toml:2: `time`: invalid duration `soon`",
        ),
        ("[recursion]\nmax_depth = -1", "fathom.toml:2: `max_depth`:"),
        ("[direct\nx = 1", "fathom.toml:1:"),
    ];
    for (text, expected) in cases {
        let said = complaint(text);
        assert!(said.starts_with(expected), "{text:?} gave {said:?}");
    }
}

#[test]
fn e03_a_value_over_its_hard_cap_names_file_line_and_cap() {
    let cases = [
        (
            "[recursion]\nmax_depth = 5",
            "fathom.toml:2: `max_depth` is 5, but the maximum is 4",
        ),
        (
            "[recursion]\n\nmax_depth = 300",
            "fathom.toml:3: `max_depth` is 300, but the maximum is 4",
        ),
        (
            "[recursion]\nmax_children = 10001",
            "fathom.toml:2: `max_children` is 10001, but the maximum is 10000",
        ),
        (
            "[recursion]\nmax_total_episodes = 99999999999",
            "fathom.toml:2: `max_total_episodes` is 99999999999, but the maximum is 10000",
        ),
        (
            "concurrency = 5000",
            "fathom.toml:1: `concurrency` is 5000, but the maximum is 4096",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(complaint(text), expected);
    }
}

#[test]
fn times_and_costs() {
    let times = [
        ("250ms", 250),
        ("30s", 30_000),
        ("5m", 300_000),
        ("2h", 7_200_000),
    ];
    for (text, millis) in times {
        assert_eq!(parse_time(text), Ok(Millis(millis)));
    }
    for text in ["", "s", "5", "5 m", "-5s", "99999999999999999999h", "1.5s"] {
        assert!(parse_time(text).is_err(), "{text:?}");
    }
    let costs = [
        ("0.25", 250_000_000),
        ("$1", 1_000_000_000),
        ("0.000000001", 1),
    ];
    for (text, nanos) in costs {
        assert_eq!(parse_cost(text), Ok(Nanodollars(nanos)));
    }
    for text in [
        "",
        ".",
        "-1",
        "1e3",
        "0.0000000001",
        "inf",
        "99999999999999999",
    ] {
        assert!(parse_cost(text).is_err(), "{text:?}");
    }
}
