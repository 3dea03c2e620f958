//! The one place of the command line that reads the environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::CliError;

/// Variables that Fathom reads for itself; keys of models are looked up by name when they are needed.
const NAMES: [&str; 23] = [
    "FATHOM_HOME",
    "FATHOM_CHARTER",
    "FATHOM_MODEL",
    "FATHOM_SUB_MODEL",
    "FATHOM_BASE_URL",
    "FATHOM_API_KEY_ENV",
    "FATHOM_API_KEY_HEADER",
    "FATHOM_BUDGET",
    "FATHOM_MAX_DEPTH",
    "FATHOM_MAX_CHILDREN",
    "FATHOM_CONCURRENCY",
    "FATHOM_INTERPRETER",
    "FATHOM_JSON",
    "FATHOM_QUIET",
    "FATHOM_VERBOSE",
    "FATHOM_CONFIG",
    "FATHOM_NO_RESUME",
    "FATHOM_LOG",
    "FATHOM_MODELS",
    "HF_ENDPOINT",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "HOME",
];

/// The variables that are set and not empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct EnvVars {
    values: BTreeMap<&'static str, String>,
}

impl EnvVars {
    /// Reads them with `look_up`.
    pub(crate) fn read(look_up: impl Fn(&str) -> Option<OsString>) -> Result<Self, CliError> {
        let mut values = BTreeMap::new();
        for name in NAMES {
            // Empty counts as unset: scripts clear a variable by assigning nothing.
            let Some(value) = look_up(name).filter(|value| !value.is_empty()) else {
                continue;
            };
            let value = value.into_string().map_err(|value| CliError::BadValue {
                what: name.to_owned(),
                value: value.to_string_lossy().into_owned(),
                why: "not valid UTF-8".to_owned(),
            })?;
            values.insert(name, value);
        }
        Ok(Self { values })
    }

    /// One of them.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }
}

/// The real environment.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line is the edge where the environment is read"
)]
pub(crate) fn look_up(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The folders in which programs are searched for.
pub(crate) fn search_path() -> Vec<PathBuf> {
    let path = look_up("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        // A relative entry depends on the folder and could pick up a program from some checkout.
        .filter(|folder| folder.is_absolute())
        .collect()
}

/// A key of a model, by the name of its variable.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line is the edge where the environment is read"
)]
pub(crate) fn key(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|key| !key.is_empty())
}

/// True if the value means yes.
pub(crate) fn is_on(value: &str) -> bool {
    matches!(value, "1" | "true" | "yes" | "on")
}

/// A variable that is on or off.
pub(crate) fn switch(name: &str, variables: &EnvVars) -> Result<bool, CliError> {
    match variables.get(name) {
        None | Some("0" | "false" | "no" | "off") => Ok(false),
        Some(value) if is_on(value) => Ok(true),
        // A misspelt value is an error: read as no, it would switch off what the user asked for.
        Some(value) => Err(CliError::BadValue {
            what: name.to_owned(),
            value: value.to_owned(),
            why: "expected 1 or 0".to_owned(),
        }),
    }
}
