//! Turns model names into callable models.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use fathom_core::model::ModelSpec;
use fathom_core::unit::Millis;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};

use crate::api_key::ApiKey;
use crate::breaker::CircuitBreaker;
use crate::error::ModelsError;
use crate::guarded_model::GuardedModel;
use crate::health_check::{self, HealthReport, HealthState};
use crate::http::client::HttpClients;
use crate::http::endpoint::{EndpointId, KeyHeader, ModelEndpoint};
use crate::http::exchange::HttpModel;
use crate::model::Model;
use crate::prices::{self, ModelFacts, OutputCap, PriceBasis, ServerLocation, TemperatureSupport};
use crate::providers::{
    ANTHROPIC_HEADERS, AnthropicProtocol, ModelScript, OllamaProtocol, OpenAi, ScriptedModel,
    WireProtocol,
};
use crate::tokens::TokenCounter;

static PROCESS: LazyLock<ModelCatalog> = LazyLock::new(ModelCatalog::new);

/// Connects a model of the process's own [`ModelCatalog`]. `keys` looks up a variable, like the environment does.
pub fn connect<S: Into<ApiKey>>(
    spec: &ModelSpec,
    keys: impl Fn(&str) -> Option<S>,
) -> Result<Arc<dyn Model>, ModelsError> {
    PROCESS.connect(spec, keys)
}

/// Checks a model of the process's own [`ModelCatalog`].
pub async fn health<S: Into<ApiKey>>(
    spec: &ModelSpec,
    keys: impl Fn(&str) -> Option<S> + Send,
) -> Result<HealthReport, ModelsError> {
    PROCESS.health(spec, keys).await
}

/// State shared by the models of a process: connections, circuit breakers, and the progress of each script.
#[derive(Debug, Default)]
pub struct ModelCatalog {
    clients: HttpClients,
    breakers: Mutex<BTreeMap<EndpointId, Arc<CircuitBreaker>>>,
    scripts: Mutex<BTreeMap<PathBuf, (String, Arc<ModelScript>)>>,
    tokenizers: BTreeMap<String, PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProviderKind {
    OpenAi,
    Anthropic,
    Ollama,
}

impl ProviderKind {
    const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    const fn public_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Ollama => "http://127.0.0.1:11434",
        }
    }

    const fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("OPENAI_API_KEY"),
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::Ollama => None,
        }
    }

    const fn listing(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Anthropic => "models",
            Self::Ollama => "api/tags",
        }
    }
}

/// A parsed model name.
enum ModelName<'a> {
    Http(ProviderKind, &'a str),
    Script(&'a Path),
}

impl<'a> ModelName<'a> {
    fn of(spec: &'a ModelSpec) -> Result<Self, ModelsError> {
        let id = || spec.id.clone();
        let Some((provider, name)) = spec.id.split_once('/') else {
            return Err(ModelsError::NoName { id: id() });
        };
        let named = match provider {
            "openai" => Self::Http(ProviderKind::OpenAi, name),
            "anthropic" => Self::Http(ProviderKind::Anthropic, name),
            "ollama" => Self::Http(ProviderKind::Ollama, name),
            "script" => Self::Script(Path::new(name)),
            "local" => return Err(ModelsError::NotBuiltIn { id: id() }),
            _ => {
                return Err(ModelsError::UnknownProvider {
                    provider: provider.to_owned(),
                    id: id(),
                });
            }
        };
        if name.trim().is_empty() {
            return Err(ModelsError::NoName { id: id() });
        }
        Ok(named)
    }
}

impl ModelCatalog {
    /// A separate catalogue that shares nothing with others.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts tokens of the model `id` with the `tokenizer.json` at `path`.
    #[must_use]
    pub fn with_tokenizer(mut self, id: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        self.tokenizers.insert(id.into(), path.into());
        self
    }

    /// Connects a model. Nothing is sent yet.
    pub fn connect<S: Into<ApiKey>>(
        &self,
        spec: &ModelSpec,
        keys: impl Fn(&str) -> Option<S>,
    ) -> Result<Arc<dyn Model>, ModelsError> {
        let given = match self.tokenizers.get(&spec.id) {
            Some(path) => Some(TokenCounter::read(path)?),
            None => None,
        };
        match ModelName::of(spec)? {
            ModelName::Script(path) => {
                let counter = given.unwrap_or(TokenCounter::Bytes);
                let script = self.script(path)?;
                Ok(Arc::new(ScriptedModel::new(&spec.id, script, counter)))
            }
            ModelName::Http(provider, name) => {
                let endpoint = self.endpoint(provider, spec, keys)?;
                let facts = facts(provider, name, &endpoint)?;
                let model = HttpModel {
                    id: spec.id.clone(),
                    protocol: protocol(provider, name, &facts),
                    counter: given.unwrap_or_else(|| TokenCounter::for_facts(&facts)),
                    facts,
                    endpoint,
                };
                let breaker = self.breaker(&model.endpoint.id);
                Ok(Arc::new(GuardedModel { model, breaker }))
            }
        }
    }

    /// Checks within three seconds if a model's server is up and knows the model.
    pub async fn health<S: Into<ApiKey>>(
        &self,
        spec: &ModelSpec,
        keys: impl Fn(&str) -> Option<S> + Send,
    ) -> Result<HealthReport, ModelsError> {
        match ModelName::of(spec)? {
            ModelName::Script(path) => {
                self.script(path)?;
                Ok(HealthReport {
                    state: HealthState::Up,
                    detail: format!("`{}` can be read", path.display()),
                    latency: Millis(0),
                })
            }
            ModelName::Http(provider, name) => {
                let endpoint = self.endpoint(provider, spec, keys)?;
                Ok(health_check::check(&endpoint, provider.listing(), name).await)
            }
        }
    }

    fn endpoint<S: Into<ApiKey>>(
        &self,
        provider: ProviderKind,
        spec: &ModelSpec,
        keys: impl Fn(&str) -> Option<S>,
    ) -> Result<ModelEndpoint, ModelsError> {
        let base = base_url(provider, spec.base_url.as_deref())?;
        let id = EndpointId::of(&base);
        let key = key(provider, spec, &base, keys)?;
        let key_header = match &key {
            Some(key) => Some(key_header(provider, spec, key)?),
            None => None,
        };
        let client = self
            .clients
            .get(base.scheme())
            .map_err(|cause| ModelsError::Client {
                endpoint: id.to_string(),
                cause: cause.to_string(),
            })?;
        Ok(ModelEndpoint {
            id,
            base,
            client,
            key,
            key_header,
            headers: match provider {
                ProviderKind::Anthropic => ANTHROPIC_HEADERS,
                ProviderKind::OpenAi | ProviderKind::Ollama => &[],
            },
        })
    }

    fn breaker(&self, endpoint: &EndpointId) -> Arc<CircuitBreaker> {
        let mut breakers = self.breakers.lock().unwrap_or_else(PoisonError::into_inner);
        let breaker = breakers
            .entry(endpoint.clone())
            .or_insert_with(|| Arc::new(CircuitBreaker::new(endpoint.clone())));
        Arc::clone(breaker)
    }

    /// The script at `path` with its progress. A script that was rewritten starts over.
    fn script(&self, path: &Path) -> Result<Arc<ModelScript>, ModelsError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| ModelsError::ScriptUnreadable {
                path: path.to_owned(),
                source,
            })?;
        let mut scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, script)) = scripts.get(path)
            && *known == text
        {
            return Ok(Arc::clone(script));
        }
        let script = Arc::new(ModelScript::parse(path, &text)?);
        scripts.insert(path.to_owned(), (text, Arc::clone(&script)));
        Ok(script)
    }
}

fn facts(
    provider: ProviderKind,
    name: &str,
    endpoint: &ModelEndpoint,
) -> Result<ModelFacts, ModelsError> {
    let place = ServerLocation::of(&endpoint.base);
    let mut facts = match provider {
        ProviderKind::Ollama => ModelFacts::unlisted(PriceBasis::Free),
        ProviderKind::OpenAi | ProviderKind::Anthropic => {
            prices::facts(provider.name(), name, place)?
        }
    };
    if facts.basis != PriceBasis::Listed {
        match provider {
            // OpenAI itself has dropped the old field, which compatible servers still expect.
            ProviderKind::OpenAi if is_public(provider, &endpoint.base) => {
                facts.cap = OutputCap::MaxCompletionTokens;
            }
            // A model newer than the list rejects a temperature.
            ProviderKind::Anthropic => facts.sampling = TemperatureSupport::TurnedAway,
            ProviderKind::OpenAi | ProviderKind::Ollama => {}
        }
    }
    Ok(facts)
}

fn protocol(provider: ProviderKind, name: &str, facts: &ModelFacts) -> Box<dyn WireProtocol> {
    let model = name.to_owned();
    match provider {
        ProviderKind::OpenAi => Box::new(OpenAi {
            model,
            cap: facts.cap,
            sampling: facts.sampling,
        }),
        ProviderKind::Anthropic => Box::new(AnthropicProtocol {
            model,
            sampling: facts.sampling,
            schema: facts.schema,
        }),
        ProviderKind::Ollama => Box::new(OllamaProtocol { model }),
    }
}

fn base_url(provider: ProviderKind, given: Option<&str>) -> Result<Url, ModelsError> {
    let text = given.unwrap_or(provider.public_url()).trim();
    let wrong = |cause: String| ModelsError::BaseUrl {
        url: without_user(text),
        cause,
    };
    let mut url = Url::parse(text).map_err(|cause| wrong(cause.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("expected http:// or https://".to_owned()));
    }
    if provider == ProviderKind::Anthropic && !url.path().trim_end_matches('/').ends_with("/v1") {
        // Both forms are in use: with the version and without.
        let versioned = format!("{}/v1", url.path().trim_end_matches('/'));
        url.set_path(&versioned);
    }
    Ok(url)
}

/// An address without its user and password.
fn without_user(url: &str) -> String {
    match (url.find("//"), url.rfind('@')) {
        (Some(start), Some(end)) if start < end => {
            format!("{}{}", &url[..start + 2], &url[end + 1..])
        }
        _ => url.to_owned(),
    }
}

fn is_public(provider: ProviderKind, base: &Url) -> bool {
    Url::parse(provider.public_url()).is_ok_and(|public| public.host_str() == base.host_str())
}

/// The key, if there is one. It may be missing unless the server is public or the user named the variable.
fn key<S: Into<ApiKey>>(
    provider: ProviderKind,
    spec: &ModelSpec,
    base: &Url,
    keys: impl Fn(&str) -> Option<S>,
) -> Result<Option<ApiKey>, ModelsError> {
    let named = spec.api_key_env.as_deref();
    let Some(variable) = named.or(provider.key_variable()) else {
        return Ok(None);
    };
    let found: Option<ApiKey> = keys(variable).map(Into::into);
    match found.filter(|key| !key.is_empty()) {
        Some(key) => Ok(Some(key)),
        None if named.is_some() || is_public(provider, base) => Err(ModelsError::MissingKey {
            id: spec.id.clone(),
            variable: variable.to_owned(),
        }),
        None => Ok(None),
    }
}

fn key_header(
    provider: ProviderKind,
    spec: &ModelSpec,
    key: &ApiKey,
) -> Result<KeyHeader, ModelsError> {
    let usual = match provider {
        ProviderKind::Anthropic => "x-api-key",
        ProviderKind::OpenAi | ProviderKind::Ollama => AUTHORIZATION.as_str(),
    };
    let name = spec.api_key_header.as_deref().unwrap_or(usual);
    let unusable = || ModelsError::UnusableKey {
        id: spec.id.clone(),
        header: name.to_owned(),
    };
    let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unusable())?;
    let mut value = if header == AUTHORIZATION {
        HeaderValue::from_str(&format!("Bearer {}", key.reveal()))
    } else {
        HeaderValue::from_str(key.reveal())
    }
    .map_err(|_| unusable())?;
    // Keeps it out of the client's own logs.
    value.set_sensitive(true);
    Ok(KeyHeader {
        name: header,
        value,
    })
}
