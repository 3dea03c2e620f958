//! Names of runs and episodes, digests and units: what they read as, and what is no name.

use fathom_core::id::{AskId, Digest, EpisodeId, RunId, Seq};
use fathom_core::model::{ModelPrice, ModelSpec};
use fathom_core::unit::{Millis, Nanodollars, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::Config;

use fathom_testkit::manual_host::host::at;

fn config() -> Config {
    Config {
        failure_persistence: None,
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn x08_an_episode_id_reads_as_it_is_written(path in prop::collection::vec(any::<u32>(), 0..6)) {
        let id = at(&path);
        prop_assert_eq!(id.to_string().parse::<EpisodeId>(), Ok(id.clone()));
        let json = serde_json::to_string(&id).unwrap();
        prop_assert_eq!(serde_json::from_str::<EpisodeId>(&json).unwrap(), id.clone());
        prop_assert_eq!(id.depth(), path.len());
        prop_assert_eq!(id.is_root(), path.is_empty());
        let child = id.child(7);
        prop_assert_eq!(child.parent(), Some(id.clone()));
        prop_assert!(id.covers(&child) && id.covers(&id) && !child.covers(&id));
    }

    #[test]
    fn x08_what_reads_as_an_episode_id_is_written_the_same(text in "[0-9.+ -]{0,12}") {
        if let Ok(id) = text.parse::<EpisodeId>() {
            prop_assert_eq!(id.to_string(), text);
        }
    }

    #[test]
    fn x08_a_digest_reads_as_it_is_written(bytes in any::<[u8; 32]>()) {
        let digest = Digest(bytes);
        let text = digest.to_string();
        prop_assert_eq!(text.len(), 64);
        prop_assert_eq!(text.parse::<Digest>(), Ok(digest));
        prop_assert_eq!(text.to_uppercase().parse::<Digest>(), Ok(digest));
        prop_assert_eq!(format!("{digest:?}"), text);
        let json = serde_json::to_string(&digest).unwrap();
        prop_assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
    }

    #[test]
    fn x08_no_text_makes_an_id_panic(text in any::<String>()) {
        let _ = text.parse::<EpisodeId>();
        let _ = text.parse::<RunId>();
        prop_assert_eq!(
            text.parse::<Digest>().is_ok(),
            text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        );
    }

    #[test]
    fn x08_a_run_id_reads_as_it_is_written(bytes in any::<[u8; 16]>()) {
        let id = RunId::from_bytes(bytes);
        prop_assert_eq!(id.to_string().parse::<RunId>(), Ok(id));
        prop_assert_eq!(id.as_bytes(), &bytes);
    }

    #[test]
    fn e06_a_price_is_rounded_up_and_never_overflows(
        input_price in any::<u64>(),
        output_price in any::<u64>(),
        input in any::<u64>(),
        output in any::<u64>(),
    ) {
        let price = ModelPrice {
            input_per_million: Nanodollars(input_price),
            output_per_million: Nanodollars(output_price),
        };
        let whole = price.of(input, output).0;
        let parts = price.of(input, 0).0.saturating_add(price.of(0, output).0);
        prop_assert!(whole <= parts && parts - whole <= 1 || whole == u64::MAX);
        prop_assert!(price.of(input, output) >= price.of(input / 2, output));
    }
}

#[test]
fn x08_garbage_is_no_episode_id() {
    for garbage in [
        "",
        "1",
        "0.",
        ".0",
        "0..1",
        "0.x",
        "0.-1",
        "0.+1",
        "0.01",
        "00",
        "0 ",
        " 0",
        "0.4294967296",
        "0,1",
        "０",
    ] {
        let error = garbage.parse::<EpisodeId>().unwrap_err();
        assert_eq!(error.to_string(), format!("`{garbage}` is not an id"));
        let json = serde_json::to_string(garbage).unwrap();
        assert!(serde_json::from_str::<EpisodeId>(&json).is_err());
    }
}

#[test]
fn x08_garbage_is_no_digest() {
    let good = "ab".repeat(32);
    assert!(good.parse::<Digest>().is_ok());
    let signed = format!("+a{}", &good[2..]);
    let spaced = format!(" {}", &good[1..]);
    let wide = "ä".repeat(32);
    for garbage in ["", "ab", &good[1..], &signed, &spaced, &wide] {
        assert!(garbage.parse::<Digest>().is_err(), "{garbage}");
    }
}

#[test]
fn x08_an_error_does_not_repeat_a_long_text_whole() {
    let garbage = "x".repeat(10_000);
    let error = garbage.parse::<EpisodeId>().unwrap_err();
    assert!(error.to_string().len() < 100);
    assert!(garbage.parse::<RunId>().is_err());
}

#[test]
fn an_episode_covers_itself_and_what_lies_below() {
    assert_eq!(EpisodeId::root().to_string(), "0");
    assert_eq!(at(&[1, 2]).to_string(), "0.1.2");
    assert_eq!(EpisodeId::root().parent(), None);
    assert!(at(&[1]).covers(&at(&[1, 2])));
    assert!(!at(&[1]).covers(&at(&[10])));
    assert!(at(&[1]) < at(&[1, 0]) && at(&[1, 9]) < at(&[2]));
}

#[test]
fn numbers_know_their_place() {
    assert_eq!(AskId(4).next(), AskId(5));
    assert_eq!(AskId(u32::MAX).next(), AskId(u32::MAX));
    assert_eq!(AskId(4).to_string(), "#4");
    assert_eq!(Seq(4).next(), Seq(5));
}

#[test]
fn money_reads_as_dollars_and_is_never_shown_too_small() {
    for (nanos, shown) in [
        (0, "$0.00"),
        (1, "$0.000001"),
        (1_000, "$0.000001"),
        (10_000_000, "$0.01"),
        (1_500_000_000, "$1.50"),
        (1_234_567_000, "$1.234567"),
        (12_000_000_000, "$12.00"),
    ] {
        assert_eq!(Nanodollars(nanos).to_string(), shown);
    }
}

#[test]
fn a_clock_that_went_back_took_no_time() {
    assert_eq!(Timestamp(5).since(Timestamp(9)), Millis(0));
    assert_eq!(Timestamp(9).since(Timestamp(5)), Millis(4));
    assert_eq!(Timestamp(u64::MAX).plus(Millis(1)), Timestamp(u64::MAX));
}

#[test]
fn a_model_has_a_provider_and_a_name() {
    let spec = ModelSpec::named("openai/org/model");
    assert_eq!((spec.provider(), spec.name()), ("openai", "org/model"));
    let bare = ModelSpec::named("model");
    assert_eq!((bare.provider(), bare.name()), ("", "model"));
}
