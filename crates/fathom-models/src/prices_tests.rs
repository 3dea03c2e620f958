use fathom_core::unit::Nanodollars;

use super::*;

fn openai(name: &str) -> ModelFacts {
    facts("openai", name, ServerLocation::Elsewhere).unwrap()
}

#[test]
fn x05_the_list_can_be_read_and_every_line_makes_sense() {
    let list = LIST.as_ref().unwrap();
    for provider in &list.provider {
        assert_eq!(provider.as_of.len(), "2026-01-01".len());
        for line in &provider.model {
            assert!(
                line.input > 0.0 && line.output >= line.input,
                "{}",
                line.name
            );
            assert!(line.window >= 4096, "{}", line.name);
            let twins = provider.model.iter().filter(|twin| twin.name == line.name);
            assert_eq!(twins.count(), 1, "{}", line.name);
        }
    }
    assert_eq!(price_dates().len(), list.provider.len());
}

#[test]
fn x05_prices_are_exact_to_the_nanodollar() {
    let price = openai("gpt-4o-mini").price;
    assert_eq!(price.input_per_million, Nanodollars(150_000_000));
    // 1,000 in at $0.15 and 500 out at $0.60 a million.
    assert_eq!(price.of(1_000, 500), Nanodollars(150_000 + 300_000));
    assert_eq!(price.of(1, 0), Nanodollars(150));
    assert_eq!(openai("gpt-4o").price.of(1_000_000, 0).to_string(), "$2.50");
}

#[test]
fn x05_dated_versions_are_the_model_and_variants_are_not() {
    for name in ["gpt-4o", "gpt-4o-2024-08-06", "gpt-4o-latest", "gpt-4-0613"] {
        assert_eq!(openai(name).basis, PriceBasis::Listed, "{name}");
    }
    for name in [
        "gpt-4o-audio-preview",
        "gpt-4o2",
        "gpt",
        "qwen3-32b",
        "gpt-5.9",
        "gpt-4o-",
    ] {
        assert_eq!(openai(name).basis, PriceBasis::Unknown, "{name}");
    }
    let sonnet = |name| facts("anthropic", name, ServerLocation::Elsewhere).unwrap();
    assert_eq!(
        sonnet("claude-sonnet-4-20250514").schema,
        SchemaSupport::Tool
    );
    assert_eq!(
        sonnet("claude-sonnet-4-5-20250929").schema,
        SchemaSupport::Native
    );
    assert_eq!(sonnet("claude-sonnet-4-9").basis, PriceBasis::Unknown);
}

#[test]
fn x05_an_unknown_price_counts_as_zero_and_says_so() {
    let facts = openai("some-new-model");
    assert_eq!(facts.price, ModelPrice::default());
    assert!(!facts.price_known());
    let here = super::facts("openai", "some-new-model", ServerLocation::Loopback).unwrap();
    assert!(here.price_known());
}

#[test]
fn x05_a_server_on_this_machine_is_known_as_such() {
    let place = |url: &str| ServerLocation::of(&Url::parse(url).unwrap());
    for url in [
        "http://127.0.0.1:8000/v1",
        "http://localhost",
        "http://[::1]:1/",
    ] {
        assert_eq!(place(url), ServerLocation::Loopback, "{url}");
    }
    assert_eq!(
        place("https://localhost.example/v1"),
        ServerLocation::Elsewhere
    );
}
