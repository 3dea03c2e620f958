//! From a name to a model, or to an error that helps.

use std::net::TcpListener;

use fathom_core::model::{CountPrecision, ModelSpec, ReplyMode};
use fathom_models::{HealthState, ModelCatalog, PriceBasis, connect};
use fathom_testkit::model_server::{ModelServer, ReplyBehaviour};

use crate::asking::{model, no_keys, request, spec};

#[test]
fn x08_names_that_mean_nothing_are_explained() {
    let cases = [
        ("gpt-4o", "F0306"),
        ("openai/", "F0306"),
        ("", "F0306"),
        ("google/gemini", "F0301"),
        ("local/qwen", "F0307"),
        ("script/absent.jsonl", "F0303"),
    ];
    for (id, code) in cases {
        let error = connect(&ModelSpec::named(id), no_keys).unwrap_err();
        assert_eq!(error.code(), code, "{id}: {error}");
        assert!(!error.hint().is_empty());
    }
    let unknown = connect(&ModelSpec::named("google/gemini"), no_keys).unwrap_err();
    for known in ["openai", "anthropic", "ollama", "script"] {
        assert!(unknown.hint().contains(known), "{}", unknown.hint());
    }
}

#[test]
fn x08_an_address_that_is_none_is_explained_without_its_password() {
    for url in [
        "127.0.0.1:8000",
        "ftp://host/v1",
        "not a url",
        "file://me:pw@host/x",
    ] {
        let spec = ModelSpec {
            base_url: Some(url.to_owned()),
            ..ModelSpec::named("openai/x")
        };
        let error = ModelCatalog::new().connect(&spec, no_keys).unwrap_err();
        assert_eq!(error.code(), "F0305", "{url}");
        assert!(!error.to_string().contains("pw"), "{error}");
    }
}

#[tokio::test]
async fn g03_a_model_is_measured_by_its_own_vocabulary_and_price() {
    let server = ModelServer::replying("ok").await.unwrap();
    let request = request(ReplyMode::Whole);
    let known = model("openai/gpt-4o-mini", &server);
    let measured = known.measure(&request).unwrap();
    // "Be brief." is three tokens, "hello" one.
    assert_eq!(measured.input_tokens, 3 + (4 + 3) + (4 + 1));
    assert_eq!(measured.exactness, CountPrecision::Exact);
    assert_eq!(measured.window_tokens, Some(128_000));
    assert_eq!(measured.worst_case(64).money.0, (15 * 150) + (64 * 600));
    assert_eq!(known.facts().basis, PriceBasis::Listed);

    let unknown = model("openai/qwen3-32b", &server);
    let measured = unknown.measure(&request).unwrap();
    assert_eq!(measured.exactness, CountPrecision::UpperBound);
    assert_eq!(measured.input_tokens, 32 + (16 + 9) + (16 + 5));
    assert_eq!(unknown.facts().basis, PriceBasis::Free);
    assert_eq!(unknown.endpoint().as_str(), server.root_url());
}

#[tokio::test]
async fn x05_the_health_of_a_server_is_seen() {
    let catalog = ModelCatalog::new();
    let check = async |id: &str, behaviour: ReplyBehaviour| {
        let server = ModelServer::queued([behaviour]).await.unwrap();
        let health = catalog.health(&spec(id, &server), no_keys).await.unwrap();
        (health.state, health.detail)
    };
    for id in ["openai/scripted", "anthropic/scripted", "ollama/scripted"] {
        let (state, detail) = check(id, ReplyBehaviour::reply("")).await;
        assert_eq!(state, HealthState::Up, "{detail}");
    }
    let cases = [
        (ReplyBehaviour::reply(""), HealthState::UnknownModel),
        (ReplyBehaviour::status(404), HealthState::Up),
        (ReplyBehaviour::status(401), HealthState::KeyRefused),
        (ReplyBehaviour::status(500), HealthState::Down),
        (ReplyBehaviour::reset(), HealthState::Down),
    ];
    for (behaviour, wanted) in cases {
        let (state, detail) = check("openai/other", behaviour).await;
        assert_eq!(state, wanted, "{detail}");
    }
    let nobody = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let spec = ModelSpec {
        base_url: Some(format!("http://{nobody}/v1")),
        ..ModelSpec::named("openai/x")
    };
    let health = catalog.health(&spec, no_keys).await.unwrap();
    assert_eq!(health.state, HealthState::Down);
    assert!(
        health.detail.contains("cannot connect"),
        "{}",
        health.detail
    );
}
