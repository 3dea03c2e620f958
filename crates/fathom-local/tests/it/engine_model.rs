//! The small model of the tests, and requests to it.

use std::path::PathBuf;

use fathom_core::model::failure::ModelFailure;
use fathom_core::model::{ChatMessage, ModelReply, ModelRequest, ReplyMode, Speaker};
use fathom_core::unit::Millis;
use fathom_local::engine::{EngineOptions, LocalEngine};

pub(crate) const SMALLEST: &str = "smollm2-135m-instruct-q4_1.gguf";
pub(crate) const QWEN: [&str; 2] = [
    "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
];

#[expect(
    clippy::disallowed_methods,
    reason = "where the weights of the tests lie is said by the environment"
)]
fn folder() -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    variable("FATHOM_TEST_WEIGHTS")
        .map(PathBuf::from)
        .or_else(|| {
            variable("XDG_CACHE_HOME").map(|cache| PathBuf::from(cache).join("fathom/models"))
        })
        .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".cache/fathom/models")))
        .expect("neither FATHOM_TEST_WEIGHTS nor XDG_CACHE_HOME nor HOME is set")
}

/// The first of `names` that is there.
pub(crate) fn weights(names: &[&str]) -> PathBuf {
    let folder = folder();
    names
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.is_file())
        .unwrap_or_else(|| {
            panic!(
                "none of {names:?} is in {}: `make test` pulls the weights that tests need",
                folder.display()
            )
        })
}

/// With one thread, because tests run beside each other: then nothing changes with what else the machine does.
pub(crate) fn smallest() -> LocalEngine {
    with(EngineOptions {
        threads: Some(1),
        ..EngineOptions::default()
    })
}

pub(crate) fn with(options: EngineOptions) -> LocalEngine {
    LocalEngine::load(&weights(&[SMALLEST]), options).expect("the smallest model loads")
}

/// A greedy request of one user.
pub(crate) fn says(text: &str, output_tokens_max: u32) -> ModelRequest {
    ModelRequest {
        messages: vec![ChatMessage::new(Speaker::User, text)],
        output_tokens_max,
        temperature_milli: Some(0),
        schema: None,
        pattern: None,
        tools: Vec::new(),
        seed: None,
        delivery: ReplyMode::Whole,
        timeout: Millis(60_000),
    }
}

pub(crate) async fn ask(
    engine: &LocalEngine,
    request: &ModelRequest,
) -> Result<ModelReply, ModelFailure> {
    engine.call(request, &mut |_| {}).await
}

/// Asks all of `requests` at once.
pub(crate) async fn ask_all(
    engine: &LocalEngine,
    requests: Vec<ModelRequest>,
) -> Vec<Result<ModelReply, ModelFailure>> {
    let calls: Vec<_> = requests
        .into_iter()
        .map(|request| {
            let engine = engine.clone();
            tokio::spawn(async move { ask(&engine, &request).await })
        })
        .collect();
    let mut replies = Vec::new();
    for call in calls {
        replies.push(call.await.expect("a call does not panic"));
    }
    replies
}
