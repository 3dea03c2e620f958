//! The models of a run: how each is reached, and which of them a call goes to.

use serde::{Deserialize, Serialize};

/// A model as the user named it, with what is needed to reach it again after a restart. Holds no secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSpec {
    /// `PROVIDER/NAME`, as in `openai/gpt-4o-mini` or `script/answers.jsonl`.
    pub id: String,
    /// Server address, where the provider has no fixed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Name of the environment variable that holds the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Header that carries the key when it does not go as Bearer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_header: Option<String>,
}

impl ModelSpec {
    /// A model that needs nothing but its name.
    pub fn named(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            base_url: None,
            api_key_env: None,
            api_key_header: None,
        }
    }

    /// The part before the first slash.
    pub fn provider(&self) -> &str {
        self.id.split_once('/').map_or("", |(provider, _)| provider)
    }

    /// The part after the first slash.
    pub fn name(&self) -> &str {
        self.id.split_once('/').map_or(&self.id, |(_, name)| name)
    }
}

/// The models of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSet {
    /// Model of the root episode.
    pub main: ModelSpec,
    /// Model of children and leaf calls.
    pub sub: ModelSpec,
    /// Model in the role Prime, where it is not the root's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prime: Option<ModelSpec>,
    /// Model in the role Lite, where it is not the children's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lite: Option<ModelSpec>,
    /// Model in the role `CodeMind`, where it is not the root's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_mind: Option<ModelSpec>,
}

impl ModelSet {
    /// These two for every role.
    pub const fn new(main: ModelSpec, sub: ModelSpec) -> Self {
        Self {
            main,
            sub,
            prime: None,
            lite: None,
            code_mind: None,
        }
    }

    /// The model in a role.
    pub fn get(&self, role: ModelRole) -> &ModelSpec {
        match role {
            ModelRole::Main => &self.main,
            ModelRole::Sub => &self.sub,
            ModelRole::Prime => self.prime.as_ref().unwrap_or(&self.main),
            ModelRole::Lite => self.lite.as_ref().unwrap_or(&self.sub),
            ModelRole::CodeMind => self.code_mind.as_ref().unwrap_or(&self.main),
        }
    }
}

/// The role, within a run, of the model that a call goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelRole {
    /// The root's model.
    Main,
    /// The model of children and leaf calls.
    Sub,
    /// The one that decides.
    Prime,
    /// The quick one.
    Lite,
    /// The one for code.
    CodeMind,
}

impl ModelRole {
    /// Every role.
    pub const ALL: [Self; 5] = [
        Self::Main,
        Self::Sub,
        Self::Prime,
        Self::Lite,
        Self::CodeMind,
    ];
}
