//! `tools.toml`, `gateway.toml`, `entities.json` and `policies/*.cedar`: what can be done outside, and who may.

use std::collections::BTreeMap;

use fathom_gateway::{CheckedPolicies, GatewayError, GatewaySettings};
use fathom_tools::ToolsFile;
use serde::{Deserialize, Serialize};

use super::findings::FindingList;
use super::problem::CharterProblem;

/// File that declares the tools.
pub(super) const TOOLS_FILE: &str = "tools.toml";
/// File with the settings of people beside the policies.
pub(super) const SETTINGS_FILE: &str = "gateway.toml";
/// File with the accounts that the policies refer to.
pub(super) const ENTITIES_FILE: &str = "entities.json";
/// The folder of policies.
pub(super) const POLICIES: &str = "policies";

/// Sample brand values for checking a charter.
const SAMPLE: [(&str, &str); 4] = [
    ("url", "https://platform.invalid"),
    ("host", "platform.invalid"),
    ("private", "none"),
    ("account", "sample"),
];

/// Tools and policies, as they are written. They are read again where they are used, with the values of a brand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolPolicies {
    /// The text of `tools.toml`, with places as `${url}`.
    pub tools: String,
    /// The text of `gateway.toml`.
    pub settings: String,
    /// The text of `entities.json`.
    pub entities: String,
    /// The texts of `policies/*.cedar` by their names.
    pub policies: BTreeMap<String, String>,
}

impl ToolPolicies {
    /// The policies, checked.
    pub fn bundle(&self, settings: &GatewaySettings) -> Result<CheckedPolicies, GatewayError> {
        let files: Vec<(&str, &str)> = self
            .policies
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        CheckedPolicies::new(&files, &settings.schema()?, &self.entities)
    }

    /// The text of `tools.toml` with values in its places. A value that could be anything but a value is refused.
    pub fn tools_with<'a>(
        &self,
        values: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<String, PlaceholderError> {
        let mut text = self.tools.clone();
        for (name, value) in values {
            let is_plain =
                // The value is put into TOML text as it is, so a quote or a brace could end its string and add keys.
                |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '{' | '}' | '$');
            if value.is_empty() || !value.chars().all(is_plain) {
                return Err(PlaceholderError::InvalidValue {
                    name: name.to_owned(),
                    value: value.to_owned(),
                });
            }
            text = text.replace(&format!("${{{name}}}"), value);
        }
        match text.split_once("${") {
            None => Ok(text),
            Some((_, rest)) => {
                let name = rest.split_once('}').map_or(rest, |(name, _)| name);
                let name: String = name.chars().take(40).collect();
                Err(PlaceholderError::MissingValue { name })
            }
        }
    }
}

/// A `tools.toml` whose placeholders cannot be filled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceholderError {
    /// The value could change more of the file than its placeholder.
    #[error("invalid value `{value}` for `{name}`")]
    InvalidValue { name: String, value: String },
    /// The file has a placeholder that no value belongs to.
    #[error("no value given for `${{{name}}}`")]
    MissingValue { name: String },
}

impl From<PlaceholderError> for String {
    fn from(error: PlaceholderError) -> Self {
        error.to_string()
    }
}

impl ToolPolicies {
    /// The names of the tools that are declared one by one.
    pub(super) fn names(&self) -> Vec<String> {
        let text = self.tools_with(SAMPLE).unwrap_or_default();
        // Problems of the file are reported by `read`; here they only mean that no tool is known.
        let declared = ToolsFile::read(&text).unwrap_or_default();
        let tools = declared.tools.into_iter();
        tools.map(|tool| tool.facts.spec.name).collect()
    }
}

/// The files as they are met.
#[derive(Default)]
pub(super) struct GateFiles {
    gate: ToolPolicies,
    is_there: bool,
}

impl GateFiles {
    /// Takes one of them; whether it is one.
    pub(super) fn take(&mut self, file: &str, text: &str) -> bool {
        let place = match (file, file.split_once('/')) {
            (TOOLS_FILE, _) => &mut self.gate.tools,
            (SETTINGS_FILE, _) => &mut self.gate.settings,
            (ENTITIES_FILE, _) => &mut self.gate.entities,
            (_, Some((POLICIES, name))) => self.gate.policies.entry(name.to_owned()).or_default(),
            _ => return false,
        };
        text.clone_into(place);
        self.is_there = true;
        true
    }

    /// Looks whether all of it can be used.
    pub(super) fn read(self, findings: &mut FindingList) -> Option<ToolPolicies> {
        if !self.is_there {
            return None;
        }
        let mut gate = self.gate;
        if gate.entities.is_empty() {
            // Cedar wants a JSON array even without entities.
            "[]".clone_into(&mut gate.entities);
        }
        let mut wrong = |file: &str, cause: String| {
            findings.problem(file, None, CharterProblem::Gate { cause });
        };
        match GatewaySettings::parse(&gate.settings) {
            Ok(settings) => {
                if let Err(error) = gate.bundle(&settings) {
                    wrong(POLICIES, error.to_string());
                }
            }
            Err(error) => wrong(SETTINGS_FILE, error.to_string()),
        }
        let declared = gate
            .tools_with(SAMPLE)
            .map_err(|error| error.to_string())
            .and_then(|text| ToolsFile::read(&text).map_err(|error| error.to_string()));
        if let Err(cause) = declared {
            wrong(TOOLS_FILE, cause);
        }
        Some(gate)
    }
}
