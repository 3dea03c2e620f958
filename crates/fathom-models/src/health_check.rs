//! Health check of a model's server, for `fathom doctor`.

use std::time::Duration;

use fathom_core::unit::Millis;
use serde_json::Value;

use crate::clock;
use crate::http::classify_failure::{self, DETAIL_CHARS_MAX, clean};
use crate::http::endpoint::ModelEndpoint;

/// Time limit of a check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum size of a list of models.
const LISTING_BYTES_MAX: usize = 4 * 1024 * 1024;

/// State of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthState {
    /// It answers, and knows the model if it lists its models.
    Up,
    /// It answers, but does not list the model.
    UnknownModel,
    /// It answers, but rejects the key.
    KeyRefused,
    /// It does not answer, or answers with server errors.
    Down,
}

/// Result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthReport {
    pub state: HealthState,
    /// Description of the state.
    pub detail: String,
    /// Duration of the check.
    pub latency: Millis,
}

/// Requests the server's models, once.
pub(crate) async fn check(endpoint: &ModelEndpoint, path: &str, model: &str) -> HealthReport {
    let started = clock::now();
    let asked = tokio::time::timeout(CHECK_TIMEOUT, ask(endpoint, path, model)).await;
    let (state, detail) = asked.unwrap_or_else(|_| {
        let detail = format!("{} gave no answer within {CHECK_TIMEOUT:?}", endpoint.id);
        (HealthState::Down, detail)
    });
    HealthReport {
        state,
        detail: clean(&endpoint.redact(&detail), DETAIL_CHARS_MAX),
        latency: classify_failure::millis(clock::now() - started),
    }
}

async fn ask(endpoint: &ModelEndpoint, path: &str, model: &str) -> (HealthState, String) {
    let id = &endpoint.id;
    let mut response = match endpoint.get(path).send().await {
        Ok(response) => response,
        Err(error) => {
            let failure = classify_failure::transport(error, id.as_str());
            return (HealthState::Down, failure.detail.as_str().to_owned());
        }
    };
    let status = response.status().as_u16();
    match status {
        200..=299 => {}
        401 | 403 => {
            return (
                HealthState::KeyRefused,
                format!("{id} does not take the key"),
            );
        }
        500..=599 => {
            return (
                HealthState::Down,
                format!("{id} answers with status {status}"),
            );
        }
        _ => {
            return (
                HealthState::Up,
                format!("{id} answers and does not list its models"),
            );
        }
    }
    let mut body = Vec::new();
    while body.len() < LISTING_BYTES_MAX
        && let Ok(Some(chunk)) = response.chunk().await
    {
        body.extend_from_slice(&chunk);
    }
    match listed(&body) {
        None => (
            HealthState::Up,
            format!("{id} answers and does not list its models"),
        ),
        Some(names) if names.iter().any(|name| same(name, model)) => {
            (HealthState::Up, format!("{id} answers and has `{model}`"))
        }
        Some(names) => {
            let detail = format!(
                "{id} answers; `{model}` is not among its {} models",
                names.len()
            );
            (HealthState::UnknownModel, detail)
        }
    }
}

/// The names in a listing: `OpenAI`'s and Anthropic's `data[].id`, Ollama's `models[].name`.
fn listed(body: &[u8]) -> Option<Vec<String>> {
    let listing: Value = serde_json::from_slice(body).ok()?;
    let (entries, field) = match (listing["data"].as_array(), listing["models"].as_array()) {
        (Some(entries), _) => (entries, "id"),
        (None, Some(entries)) => (entries, "name"),
        (None, None) => return None,
    };
    let names = entries.iter().filter_map(|entry| entry[field].as_str());
    Some(names.map(str::to_owned).collect())
}

/// Ollama lists a name without a tag as `name:latest`.
fn same(listed: &str, model: &str) -> bool {
    listed == model || listed.strip_suffix(":latest") == Some(model)
}
