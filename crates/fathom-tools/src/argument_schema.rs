//! Arguments of a call, checked against the tool's schema before anything else happens.

use fathom_core::effect::EffectRequest;
use jsonschema::Validator;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::error::ToolsError;
use crate::tool::ToolFacts;

/// Characters of a key's token: half a SHA-256 in hexadecimal, which every platform has room for.
const KEY_TOKEN_CHARS: usize = 32;
/// Maximum number of characters of a reported fault.
const FAULT_CHARS_MAX: usize = 300;

/// The idempotency key as a platform sees it: a hash, which reveals nothing of its origin.
pub fn key_token(effect: &EffectRequest) -> String {
    let hash = Sha256::digest(effect.key().as_str());
    let mut token = fathom_core::id::Digest(hash.into()).to_string();
    token.truncate(KEY_TOKEN_CHARS);
    token
}

/// The compiled schema of a tool.
pub(crate) struct ArgumentSchema(Validator);

impl ArgumentSchema {
    pub(crate) fn new(facts: &ToolFacts) -> Result<Self, ToolsError> {
        let wrong = |cause: String| ToolsError::Schema {
            tool: facts.spec.name.clone(),
            cause,
        };
        let schema: Value = serde_json::from_str(facts.spec.schema.as_str())
            .map_err(|error| wrong(format!("is not valid JSON: {error}")))?;
        let validator = jsonschema::validator_for(&schema)
            .map_err(|error| wrong(format!("is invalid: {error}")))?;
        Ok(Self(validator))
    }

    /// The arguments of an effect, if it belongs to this tool.
    pub(crate) fn read(
        &self,
        facts: &ToolFacts,
        effect: &EffectRequest,
    ) -> Result<Map<String, Value>, ToolsError> {
        // A permit for one target must not serve for another.
        if effect.tool != facts.spec.name || effect.target != facts.target {
            return Err(ToolsError::Elsewhere {
                tool: facts.spec.name.clone(),
            });
        }
        let wrong = |cause: String| ToolsError::Arguments {
            cause: cause.chars().take(FAULT_CHARS_MAX).collect(),
        };
        let value: Value = serde_json::from_str(effect.arguments.as_str())
            .map_err(|error| wrong(error.to_string()))?;
        self.0
            .validate(&value)
            .map_err(|error| wrong(format!("{error} at `{}`", error.instance_path())))?;
        match value {
            Value::Object(arguments) => Ok(arguments),
            _ => Err(wrong("they are no object".into())),
        }
    }
}
