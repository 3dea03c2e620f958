//! Checking an answer against a JSON schema.

use fathom_core::episode::program::ProgramError;
use fathom_core::episode::result::clip;
use fathom_core::journal::event::ProgramSpec;

/// The schema of an answer, if it has one.
#[derive(Debug)]
pub(crate) struct AnswerSchema(Option<jsonschema::Validator>);

impl AnswerSchema {
    /// Reads a schema, which may be none.
    pub(crate) fn new(
        schema: Option<&serde_json::Value>,
        spec: &ProgramSpec,
    ) -> Result<Self, ProgramError> {
        let validator = schema.map(jsonschema::validator_for).transpose();
        let validator =
            validator.map_err(|error| ProgramError::params(&spec.name, error.to_string()))?;
        Ok(Self(validator))
    }

    /// True if the schema accepts the parsed JSON of a text rather than the text as a string.
    pub(crate) fn wants_more_than(&self, text: &str) -> bool {
        let said = serde_json::Value::String(text.to_owned());
        self.0
            .as_ref()
            .is_some_and(|schema| !schema.is_valid(&said))
    }

    /// The reason that a text is not an answer. The parsed JSON is checked; if that is a string, perhaps the string itself.
    pub(crate) fn mismatch(&self, text: &str, may_be_string: bool) -> Option<String> {
        let schema = self.0.as_ref()?;
        let said = serde_json::Value::String(text.to_owned());
        if may_be_string && schema.is_valid(&said) {
            return None;
        }
        let json = serde_json::from_str(text).unwrap_or(said);
        let problems: Vec<String> = schema
            .iter_errors(&json)
            .take(3)
            .map(|error| {
                let place = error.instance_path().to_string();
                let place = if place.is_empty() {
                    place
                } else {
                    format!(" (at `{place}`)")
                };
                clip(&format!("{error}{place}"), 200)
            })
            .collect();
        (!problems.is_empty()).then(|| problems.join("; "))
    }
}
