//! Constraints on replies: a JSON schema or a regular expression that every token must respect.

use std::sync::OnceLock;

use fathom_core::model::ModelRequest;
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::tool_call;
use llama_cpp_2::sampling::LlamaSampler;
use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use serde_json::{Value, json};

use super::tokenizer::ModelTokenizer;

/// Maximum length of a schema or pattern.
const SOURCE_BYTES_MAX: usize = 256 * 1024;
/// Maximum length of a reported cause; the compiler can be wordy.
const CAUSE_CHARS_MAX: usize = 400;

/// Compiler of constraints. The tables it needs of the vocabulary are created on first use.
#[derive(Default)]
pub(crate) struct ConstraintFactory {
    factory: OnceLock<Result<ParserFactory, NoFactory>>,
}

/// The vocabulary's tables cannot be created.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NoFactory(String);

/// Source of a request's constraint.
#[derive(Clone, Debug)]
pub(crate) enum ConstraintSource {
    Schema(String),
    /// A combined schema of tools, none of which was written for this compiler.
    Calls(String),
    Pattern(String),
}

impl ConstraintSource {
    /// The constraint of `request`. More than one kind is an error.
    pub(crate) fn of(request: &ModelRequest) -> Result<Option<Self>, ModelFailure> {
        let source = match (&request.schema, &request.pattern, request.tools.is_empty()) {
            (None, None, true) => return Ok(None),
            (Some(schema), None, true) => Self::Schema(schema.as_str().to_owned()),
            (None, Some(pattern), true) => Self::Pattern(pattern.as_str().to_owned()),
            (None, None, false) => Self::Calls(tool_call::as_schema(&request.tools).to_string()),
            _ => {
                return Err(rejected(
                    "a reply has a schema, a pattern or tools, and only one of them",
                ));
            }
        };
        let (Self::Schema(text) | Self::Calls(text) | Self::Pattern(text)) = &source;
        if text.len() > SOURCE_BYTES_MAX {
            return Err(rejected(&format!(
                "the schema or pattern has {} bytes, above {SOURCE_BYTES_MAX}",
                text.len()
            )));
        }
        Ok(Some(source))
    }
}

impl ConstraintFactory {
    /// Compiles `source`. Takes a moment, above all the first time.
    pub(crate) fn compile(
        &self,
        vocabulary: &ModelTokenizer,
        source: &ConstraintSource,
    ) -> Result<Matcher, ModelFailure> {
        let factory = self
            .factory
            .get_or_init(|| {
                let env = LlamaSampler::llguidance_tok_env(&vocabulary.model);
                let mut factory = ParserFactory::new_simple(&env)
                    .map_err(|error| NoFactory(error.to_string()))?;
                // Its messages would go to stderr.
                factory.quiet();
                Ok(factory)
            })
            .as_ref()
            .map_err(|cause| rejected(&format!("no reply can be held to a form: {cause}")))?;
        let (grammar, what) = match source {
            ConstraintSource::Schema(schema) => (schema_grammar(schema, false)?, "schema"),
            // The arguments of a call are checked again before it is carried out.
            ConstraintSource::Calls(schema) => (schema_grammar(schema, true)?, "list of tools"),
            ConstraintSource::Pattern(pattern) => {
                (TopLevelGrammar::from_regex(unanchored(pattern)), "pattern")
            }
        };
        let matcher = Matcher::new(factory.create_parser(grammar));
        match matcher.get_error() {
            None => Ok(matcher),
            Some(cause) => Err(rejected(&format!("the {what} cannot be used: {cause}"))),
        }
    }
}

/// A pattern applies to the whole reply in any case.
fn unanchored(pattern: &str) -> &str {
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    match pattern.strip_suffix('$') {
        Some(inner) if !inner.ends_with('\\') => inner,
        _ => pattern,
    }
}

/// A lenient grammar ignores parts of a schema that it cannot enforce.
fn schema_grammar(schema: &str, lenient: bool) -> Result<TopLevelGrammar, ModelFailure> {
    let mut schema: Value = serde_json::from_str(schema)
        .map_err(|error| rejected(&format!("the schema is no JSON: {error}")))?;
    let Some(object) = schema.as_object_mut() else {
        return Err(rejected("the schema is no JSON object"));
    };
    // Small models lose themselves in free white space between the parts.
    object.insert(
        "x-guidance".to_owned(),
        json!({ "whitespace_flexible": false, "lenient": lenient }),
    );
    Ok(TopLevelGrammar::from_json_schema(schema))
}

fn rejected(cause: &str) -> ModelFailure {
    let cause: String = cause.chars().take(CAUSE_CHARS_MAX).collect();
    ModelFailure::unsent(FailureKind::Rejected, cause)
}
