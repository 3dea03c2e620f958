//! Models by the names that the command line knows.

use std::ffi::OsStr;
use std::path::Path;

use fathom_core::model::ModelSpec;
use fathom_host::config::HostConfig;

use crate::environment;
use crate::error::FathomError;

/// A model, by the same name as on the command line.
///
/// | name | model |
/// |---|---|
/// | `local/default`, `local/FILE.gguf` | weights that run in this process |
/// | `openai/NAME`, `anthropic/NAME`, `ollama/NAME` | a server that speaks the provider's protocol |
/// | `script/FILE` | the lines of a file, for tests |
///
/// A string is a choice without further settings. A server of one's own needs its address:
///
/// ```
/// use fathom::ModelChoice;
///
/// let model = ModelChoice::new("openai/qwen3-8b")
///     .base_url("http://127.0.0.1:8000/v1")
///     .api_key_env("MY_SERVER_KEY");
/// assert_eq!(model.name(), "openai/qwen3-8b");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelChoice {
    name: String,
    base_url: Option<String>,
    api_key_env: Option<String>,
    api_key_header: Option<String>,
}

impl ModelChoice {
    /// Chooses a model by its name, `PROVIDER/NAME`. Starting a run checks the name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            base_url: None,
            api_key_env: None,
            api_key_header: None,
        }
    }

    /// Sets the address of the server, where it is not the provider's own.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Sets the environment variable that holds the key. The key itself never passes through this library's API.
    #[must_use]
    pub fn api_key_env(mut self, variable: impl Into<String>) -> Self {
        self.api_key_env = Some(variable.into());
        self
    }

    /// Sets the header that carries the key, where it is not the provider's usual one.
    #[must_use]
    pub fn api_key_header(mut self, header: impl Into<String>) -> Self {
        self.api_key_header = Some(header.into());
        self
    }

    /// The name, `PROVIDER/NAME`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A model that a home's `fathom.toml` names, with the server and key that it names beside it.
    pub(crate) fn from_config(name: &str, config: &HostConfig) -> Self {
        Self {
            name: name.to_owned(),
            base_url: config.base_url.clone(),
            api_key_env: config.api_key_env.clone(),
            api_key_header: config.api_key_header.clone(),
        }
    }

    /// The model as a run records it. Paths are relative to `folder` and become absolute, so that the run can be resumed
    /// from another folder.
    pub(crate) fn resolve(&self, folder: &Path) -> Result<ModelSpec, FathomError> {
        let unknown = |why| FathomError::UnknownModel {
            model: self.name.clone(),
            why,
        };
        let (provider, name) = self
            .name
            .split_once('/')
            .ok_or_else(|| unknown("no provider given"))?;
        if name.trim().is_empty() {
            return Err(unknown("no name given after the provider"));
        }
        self.check_server()?;
        match provider {
            "script" => {
                let file = folder.join(name);
                let whole = std::fs::canonicalize(&file)
                    .map_err(|source| FathomError::NoScript { file, source })?;
                Ok(ModelSpec::named(format!("script/{}", whole.display())))
            }
            "local" if is_weights_file(name) => {
                let file = folder.join(name);
                // The engine says what is wrong with a file that is not there.
                let file = std::fs::canonicalize(&file).unwrap_or(file);
                Ok(ModelSpec::named(format!("local/{}", file.display())))
            }
            "local" => Ok(ModelSpec::named(self.name.clone())),
            "openai" | "anthropic" | "ollama" => {
                let mut spec = ModelSpec::named(self.name.clone());
                spec.base_url.clone_from(&self.base_url);
                spec.api_key_env.clone_from(&self.api_key_env);
                spec.api_key_header.clone_from(&self.api_key_header);
                Ok(spec)
            }
            _ => Err(unknown("unknown provider")),
        }
    }

    fn check_server(&self) -> Result<(), FathomError> {
        if let Some(url) = &self.base_url {
            let host = url
                .strip_prefix("http://")
                .or_else(|| url.strip_prefix("https://"));
            if host.is_none_or(|host| host.is_empty() || host.starts_with('/')) {
                return Err(FathomError::BadSetting {
                    setting: "base_url",
                    value: url.clone(),
                    why: "expected `http://HOST/…` or `https://HOST/…`",
                });
            }
        }
        match &self.api_key_env {
            Some(variable) if environment::key(variable).is_none() => Err(FathomError::KeyNotSet {
                variable: variable.clone(),
            }),
            _ => Ok(()),
        }
    }
}

fn is_weights_file(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(OsStr::to_str);
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"))
}

impl From<&str> for ModelChoice {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for ModelChoice {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}
