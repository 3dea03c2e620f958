//! Requests, and a model to send them to.

use std::sync::Arc;

use fathom_core::model::failure::ModelFailure;
use fathom_core::model::{ChatMessage, ModelReply, ModelRequest, ModelSpec, ReplyMode, Speaker};
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use fathom_models::{ApiKey, Model, ModelCatalog};
use fathom_testkit::model_server::ModelServer;

/// The providers that speak over HTTP, each with a model of a known kind.
pub(crate) const PROVIDERS: [&str; 4] = [
    "openai/gpt-4o-mini",
    "anthropic/claude-sonnet-5-5",
    "anthropic/claude-3-haiku-20240307",
    "ollama/llama3",
];

/// A schema whose order of members matters to a model.
pub(crate) const SCHEMA: &str = r#"{"type":"object","properties":{"reasoning":{"type":"string"},"vote":{"type":"string"}},"required":["reasoning","vote"],"additionalProperties":false}"#;

pub(crate) fn no_keys(_: &str) -> Option<ApiKey> {
    None
}

pub(crate) fn request(delivery: ReplyMode) -> ModelRequest {
    ModelRequest {
        messages: vec![
            ChatMessage::new(Speaker::System, "Be brief."),
            ChatMessage::new(Speaker::User, "hello"),
        ],
        output_tokens_max: 64,
        temperature_milli: Some(700),
        schema: None,
        pattern: None,
        tools: Vec::new(),
        seed: None,
        delivery,
        timeout: Millis(60_000),
    }
}

pub(crate) fn with_schema(delivery: ReplyMode) -> ModelRequest {
    ModelRequest {
        schema: Some(Text::from(SCHEMA)),
        ..request(delivery)
    }
}

/// `id` on `server`, as a user would name it.
pub(crate) fn spec(id: &str, server: &ModelServer) -> ModelSpec {
    let mut spec = ModelSpec::named(id);
    spec.base_url = Some(match spec.provider() {
        "openai" => server.openai_url(),
        _ => server.root_url(),
    });
    spec
}

/// `id` on `server`, sharing nothing with any other.
pub(crate) fn model(id: &str, server: &ModelServer) -> Arc<dyn Model> {
    ModelCatalog::new()
        .connect(&spec(id, server), no_keys)
        .unwrap()
}

/// What a call gave, and what was heard on the way.
pub(crate) struct Heard {
    pub(crate) result: Result<ModelReply, ModelFailure>,
    pub(crate) deltas: Vec<String>,
}

impl Heard {
    pub(crate) fn reply(self) -> ModelReply {
        self.result.unwrap()
    }

    pub(crate) fn failure(self) -> ModelFailure {
        self.result.unwrap_err()
    }
}

pub(crate) async fn ask(model: &dyn Model, request: &ModelRequest) -> Heard {
    let mut deltas = Vec::new();
    let mut hear = |words: &str| deltas.push(words.to_owned());
    let result = model.call(request, &mut hear).await;
    Heard { result, deltas }
}
