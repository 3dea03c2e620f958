//! Keys reach the provider and nobody else.

use fathom_core::model::{ModelSpec, ReplyMode};
use fathom_models::{ApiKey, ModelCatalog, ModelsError};
use fathom_testkit::model_server::{ModelServer, ReplyBehaviour};

use crate::asking::{ask, no_keys, request, spec};

const KEY: &str = "sk-not-for-anyone";

fn keys(variable: &str) -> Option<String> {
    ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MY_KEY"]
        .contains(&variable)
        .then(|| format!(" {KEY}\n"))
}

#[tokio::test]
async fn x05_the_key_goes_into_the_header_of_choice() {
    let server = ModelServer::replying("ok").await.unwrap();
    let catalog = ModelCatalog::new();
    let send = async |spec: ModelSpec| {
        let model = catalog.connect(&spec, keys).unwrap();
        ask(&*model, &request(ReplyMode::Whole)).await.reply();
        server.log().pop().unwrap().seen
    };
    let bearer = format!("Bearer {KEY}");
    let seen = send(spec("openai/x", &server)).await;
    assert_eq!(seen.header("authorization"), Some(&*bearer));
    let seen = send(spec("anthropic/x", &server)).await;
    assert_eq!(seen.header("x-api-key"), Some(KEY));
    let seen = send(spec("ollama/x", &server)).await;
    assert_eq!(seen.header("authorization"), None);
    let own = |id: &str| ModelSpec {
        api_key_env: Some("MY_KEY".to_owned()),
        api_key_header: Some("X-API-Key".to_owned()),
        ..spec(id, &server)
    };
    let seen = send(own("openai/x")).await;
    assert_eq!(
        (seen.header("x-api-key"), seen.header("authorization")),
        (Some(KEY), None)
    );
    let seen = send(ModelSpec {
        api_key_header: None,
        ..own("ollama/x")
    })
    .await;
    assert_eq!(seen.header("authorization"), Some(&*bearer));
}

#[tokio::test]
async fn x08_the_key_is_in_no_text_that_anyone_sees() {
    let echoes = [
        ReplyBehaviour::status(401)
            .body(&format!(r#"{{"error":{{"message":"wrong key {KEY}"}}}}"#)),
        ReplyBehaviour::status(400).body(&format!("{}{KEY}", "x".repeat(290))),
        ReplyBehaviour::page("text/html", &format!("{}{KEY}", "x".repeat(70))),
        ReplyBehaviour::page("application/json", &format!("[\"{KEY}\"]")),
        ReplyBehaviour::status(302).header("location", &format!("http://x.example/?key={KEY}")),
    ];
    let count = echoes.len();
    let server = ModelServer::queued(echoes).await.unwrap();
    let model = ModelCatalog::new()
        .connect(&spec("openai/x", &server), keys)
        .unwrap();
    assert!(!format!("{model:?}").contains(KEY));
    for _ in 0..count {
        let failure = ask(&*model, &request(ReplyMode::Whole)).await.failure();
        let told = format!("{failure} {failure:?}");
        // No part of it either, as a cut might leave.
        assert!(!told.contains("sk-not"), "{told}");
    }
}

#[test]
fn x08_a_secret_shows_as_hidden_everywhere() {
    let secret = ApiKey::new(KEY);
    let shown = format!("{secret} {secret:?} {:?}", Some(secret.clone()));
    assert_eq!(shown, "[hidden] [hidden] Some([hidden])");
    assert_eq!(serde_json::to_string(&secret).unwrap(), r#""[hidden]""#);
}

#[test]
fn x08_a_missing_key_is_an_error_where_one_is_needed() {
    let catalog = ModelCatalog::new();
    for (id, variable) in [
        ("openai/gpt-4o", "OPENAI_API_KEY"),
        ("anthropic/claude-opus-5-5", "ANTHROPIC_API_KEY"),
    ] {
        let error = catalog.connect(&ModelSpec::named(id), no_keys).unwrap_err();
        assert_eq!(error.code(), "F0302");
        assert!(error.to_string().contains(variable) && error.hint().contains(variable));
    }
    let blank = |_: &str| Some("  ".to_owned());
    let error = catalog
        .connect(&ModelSpec::named("openai/x"), blank)
        .unwrap_err();
    assert!(matches!(error, ModelsError::MissingKey { .. }));
    let here = ModelSpec {
        base_url: Some("http://127.0.0.1:1/v1".to_owned()),
        ..ModelSpec::named("openai/x")
    };
    assert!(catalog.connect(&here, no_keys).is_ok());
    let named = ModelSpec {
        api_key_env: Some("MINE".to_owned()),
        ..here
    };
    assert_eq!(
        catalog.connect(&named, no_keys).unwrap_err().code(),
        "F0302"
    );
}

#[test]
fn x08_a_key_that_fits_no_header_is_refused_without_being_shown() {
    let spec = ModelSpec::named("openai/x");
    let broken = |_: &str| Some(format!("{KEY}\nsecond line"));
    let error = ModelCatalog::new().connect(&spec, broken).unwrap_err();
    assert_eq!(error.code(), "F0309");
    assert!(!format!("{error} {error:?} {}", error.hint()).contains("sk-not"));
    let odd = ModelSpec {
        api_key_header: Some("X Key".to_owned()),
        ..spec
    };
    assert_eq!(
        ModelCatalog::new().connect(&odd, keys).unwrap_err().code(),
        "F0309"
    );
}
