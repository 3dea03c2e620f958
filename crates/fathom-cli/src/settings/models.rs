//! Models of a run, each named `PROVIDER/NAME`.

use std::path::{Path, PathBuf};

use fathom_core::model::{ModelSet, ModelSpec};

use crate::error::CliError;

/// Providers that this build can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProviderArg {
    OpenAi,
    Anthropic,
    Ollama,
    Script,
    Local,
}

impl ProviderArg {
    fn of(model: &str) -> Result<(Self, &str), CliError> {
        let unknown = |why: &str| CliError::UnknownModel {
            model: model.to_owned(),
            why: why.to_owned(),
        };
        let (provider, name) = model
            .split_once('/')
            .ok_or_else(|| unknown("no provider given"))?;
        if name.trim().is_empty() {
            return Err(unknown("no name given after the provider"));
        }
        let provider = match provider {
            "openai" => Self::OpenAi,
            "anthropic" => Self::Anthropic,
            "ollama" => Self::Ollama,
            "script" => Self::Script,
            "local" => Self::Local,
            _ => return Err(unknown("unknown provider")),
        };
        Ok((provider, name))
    }
}

/// The model when none is named: the one that runs in this process.
pub(crate) const DEFAULT: &str = "local/default";

/// A model as it was named, and the folder that its path is relative to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelArg {
    pub(crate) value: String,
    pub(crate) folder: PathBuf,
}

/// All settings of models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ModelArgs {
    pub(crate) main: Option<ModelArg>,
    pub(crate) sub: Option<ModelArg>,
    pub(crate) base_url: Option<String>,
    pub(crate) api_key_env: Option<String>,
    pub(crate) api_key_header: Option<String>,
}

impl ModelArgs {
    /// The models of a run. `key` looks up the variables that hold keys.
    pub(crate) fn models(&self, key: fn(&str) -> Option<String>) -> Result<ModelSet, CliError> {
        let unnamed = ModelArg {
            value: DEFAULT.to_owned(),
            folder: PathBuf::new(),
        };
        let main = self.main.as_ref().unwrap_or(&unnamed);
        let (main_provider, _) = ProviderArg::of(&main.value)?;
        let sub = self.sub.as_ref().unwrap_or(main);
        let (sub_provider, _) = ProviderArg::of(&sub.value)?;
        // Before any model is connected, so that the error names the setting and not a refused request.
        self.check_server(key)?;
        // Server and key belong to one provider: the main model's, or the other's where a script is the main one.
        let served = match main_provider {
            ProviderArg::Script | ProviderArg::Local => sub_provider,
            provider => provider,
        };
        if let (ProviderArg::Local, Some(url)) = (served, &self.base_url) {
            return Err(CliError::BadValue {
                what: "--base-url".to_owned(),
                value: url.clone(),
                why: "the embedded model does not use a server; choose another with `--model`"
                    .to_owned(),
            });
        }
        Ok(ModelSet::new(
            self.spec(main, served)?,
            self.spec(sub, served)?,
        ))
    }

    fn check_server(&self, key: fn(&str) -> Option<String>) -> Result<(), CliError> {
        let wrong = |what: &str, value: &str, why: &str| CliError::BadValue {
            what: what.to_owned(),
            value: value.to_owned(),
            why: why.to_owned(),
        };
        if let Some(url) = &self.base_url {
            let host = url
                .strip_prefix("http://")
                .or_else(|| url.strip_prefix("https://"));
            if host.is_none_or(|host| host.is_empty() || host.starts_with('/')) {
                let why = "expected `http://HOST/…` or `https://HOST/…`";
                return Err(wrong("--base-url", url, why));
            }
        }
        if let Some(header) = &self.api_key_header {
            let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            if header.is_empty() || !header.chars().all(is_token) {
                let why = "not a valid header name";
                return Err(wrong("--api-key-header", header, why));
            }
        }
        match &self.api_key_env {
            Some(variable) if key(variable).is_none() => Err(CliError::KeyNotSet {
                variable: variable.clone(),
            }),
            _ => Ok(()),
        }
    }

    fn spec(&self, said: &ModelArg, served: ProviderArg) -> Result<ModelSpec, CliError> {
        let (provider, name) = ProviderArg::of(&said.value)?;
        if provider == ProviderArg::Script {
            let file = script(&said.folder, name)?;
            return Ok(ModelSpec::named(format!("script/{}", file.display())));
        }
        if provider == ProviderArg::Local {
            let is_file = Path::new(name)
                .extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"));
            // Whether it is there is the engine's to say, with what it needs of it.
            let file = said.folder.join(name);
            // The id is recorded, and a resume may come from another folder.
            let file = std::fs::canonicalize(&file).unwrap_or(file);
            return Ok(if is_file {
                ModelSpec::named(format!("local/{}", file.display()))
            } else {
                ModelSpec::named(said.value.clone())
            });
        }
        let mut spec = ModelSpec::named(said.value.clone());
        // A key goes only to the provider that it was given for.
        if provider == served {
            spec.base_url.clone_from(&self.base_url);
            spec.api_key_env.clone_from(&self.api_key_env);
            spec.api_key_header.clone_from(&self.api_key_header);
        }
        Ok(spec)
    }
}

/// The script's whole path, so that the run can be resumed from another folder.
fn script(folder: &Path, name: &str) -> Result<PathBuf, CliError> {
    let file = folder.join(name);
    let unreadable = |source| CliError::NoScript {
        file: file.clone(),
        source,
    };
    let whole = std::fs::canonicalize(&file).map_err(unreadable)?;
    if whole.is_dir() {
        return Err(unreadable(std::io::ErrorKind::IsADirectory.into()));
    }
    Ok(whole)
}

/// A model's name for people: of a file only its name.
pub(crate) fn shown(id: &str) -> String {
    match id.split_once('/') {
        // Paths of this machine are long and tell more than a view should.
        Some((provider @ ("script" | "local"), path)) => {
            let name = Path::new(path).file_name();
            let name = name.map_or_else(|| path.into(), std::ffi::OsStr::to_string_lossy);
            format!("{provider}/{name}")
        }
        _ => id.to_owned(),
    }
}

#[cfg(test)]
#[path = "models_tests.rs"]
mod tests;
