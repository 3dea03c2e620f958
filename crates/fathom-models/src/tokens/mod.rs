//! Token counts of requests, before they are sent.
//!
//! With a model's own vocabulary the count is exact. Without it, the count is an upper bound: a tokenizer that
//! can spell any byte never needs more tokens than there are bytes.

mod bpe;
mod hash_slots;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{CountPrecision, ModelRequest, RequestEstimate};
use fathom_core::text::Text;
use tokenizers::Tokenizer;

use crate::error::ModelsError;
use crate::prices::ModelFacts;

pub(crate) use bpe::BpeVocabulary;

/// Maximum size of a request.
const REQUEST_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Tokens added by a chat template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TemplateOverhead {
    per_message: u64,
    per_request: u64,
}

/// `OpenAI`'s template: three tokens and the role for each message, three to start the reply.
const OPENAI: TemplateOverhead = TemplateOverhead {
    per_message: 4,
    per_request: 3,
};

/// A bound for unknown templates: markers around each message, and a fixed header.
const ANY: TemplateOverhead = TemplateOverhead {
    per_message: 16,
    per_request: 32,
};

/// Tokens that a provider adds to a list of tools.
const TOOLS_TOKENS: u64 = 1024;
/// Tokens that a provider adds to each tool.
const TOOL_TOKENS: u64 = 32;

/// Token counter of one model.
#[derive(Clone)]
pub(crate) enum TokenCounter {
    /// One of `OpenAI`'s vocabularies.
    Known(BpeVocabulary),
    /// A tokenizer given by the user.
    Given(Arc<Tokenizer>),
    Bytes,
}

impl fmt::Debug for TokenCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Known(BpeVocabulary::O200k) => "Known(o200k)",
            Self::Known(BpeVocabulary::Cl100k) => "Known(cl100k)",
            Self::Given(_) => "Given",
            Self::Bytes => "Bytes",
        })
    }
}

impl TokenCounter {
    /// The counter for a model with these facts.
    pub(crate) fn for_facts(facts: &ModelFacts) -> Self {
        match facts.vocabulary {
            Some(vocabulary) => {
                vocabulary.warm_up();
                Self::Known(vocabulary)
            }
            None => Self::Bytes,
        }
    }

    /// The counter of a `tokenizer.json`.
    pub(crate) fn read(path: &Path) -> Result<Self, ModelsError> {
        let unusable = |cause: String| ModelsError::Tokenizer {
            path: path.to_owned(),
            cause,
        };
        let file = std::fs::read(path).map_err(|cause| unusable(cause.to_string()))?;
        let tokenizer = Tokenizer::from_bytes(file).map_err(|cause| unusable(cause.to_string()))?;
        Ok(Self::Given(Arc::new(tokenizer)))
    }

    /// Token count of a text by itself.
    pub(crate) fn count(&self, text: &str) -> (u64, CountPrecision) {
        self.count_to(text, u64::MAX)
    }

    /// The same up to `most`: for a longer text it estimates, so that counting never takes longer than the
    /// result is worth.
    fn count_to(&self, text: &str, most: u64) -> (u64, CountPrecision) {
        let counted = match self {
            Self::Known(vocabulary) => vocabulary
                .count(text, most)
                .or_else(|| vocabulary.about(text, most)),
            Self::Given(tokenizer) => tokenizer
                .encode_fast(text, false)
                .ok()
                .map(|encoding| (encoding.len() as u64, CountPrecision::Exact)),
            Self::Bytes => None,
        };
        counted.unwrap_or((text.len() as u64, CountPrecision::UpperBound))
    }

    /// Measures a request. The encoding of schemas and tools is the provider's secret, so they turn the count
    /// into a bound.
    pub(crate) fn measure(
        &self,
        request: &ModelRequest,
        facts: &ModelFacts,
        schema_tokens: u64,
    ) -> Result<RequestEstimate, ModelFailure> {
        check(request)?;
        let template = match self {
            Self::Known(_) => OPENAI,
            Self::Given(_) | Self::Bytes => ANY,
        };
        let mut exactness = CountPrecision::Exact;
        let mut tokens = template.per_request;
        // A message above the window is refused anyway, so its exact size does not matter.
        let window = facts.window_tokens.unwrap_or(u64::MAX);
        for message in &request.messages {
            let (count, how) = self.count_to(message.text.as_str(), window);
            tokens = tokens.saturating_add(count + template.per_message);
            if how == CountPrecision::UpperBound {
                exactness = how;
            }
        }
        if let Some(schema) = &request.schema {
            tokens = tokens.saturating_add(schema.as_str().len() as u64 + schema_tokens);
            exactness = CountPrecision::UpperBound;
        }
        if !request.tools.is_empty() {
            tokens = tokens.saturating_add(TOOLS_TOKENS);
            exactness = CountPrecision::UpperBound;
        }
        for tool in &request.tools {
            let parts = [
                tool.name.as_str(),
                tool.description.as_str(),
                tool.schema.as_str(),
            ];
            let parts = parts.map(|part| self.count(part).0);
            tokens = tokens.saturating_add(parts.iter().sum::<u64>() + TOOL_TOKENS);
        }
        Ok(RequestEstimate {
            input_tokens: tokens,
            exactness,
            window_tokens: facts.window_tokens,
            price: facts.price,
        })
    }
}

/// Checks if a request can be sent at all.
pub(crate) fn check(request: &ModelRequest) -> Result<(), ModelFailure> {
    let texts = || request.messages.iter().map(|message| &message.text);
    let tools = || {
        let tools = request.tools.iter();
        tools.flat_map(|tool| [&tool.description, &tool.schema])
    };
    if texts()
        .chain(&request.schema)
        .chain(tools())
        .any(Text::is_closed)
    {
        let detail = "a text of the request is sealed and was not opened";
        return Err(ModelFailure::unsent(FailureKind::Rejected, detail));
    }
    if request.schema.is_some() && !request.tools.is_empty() {
        let detail = "a request has a schema or tools, not both";
        return Err(ModelFailure::unsent(FailureKind::Rejected, detail));
    }
    let bytes: usize = texts().chain(tools()).map(|text| text.as_str().len()).sum();
    if bytes > REQUEST_BYTES_MAX {
        let detail = format!("the request is larger than {} MiB", REQUEST_BYTES_MAX >> 20);
        return Err(ModelFailure::unsent(FailureKind::TooLarge, detail));
    }
    Ok(())
}

/// Token count in the vocabulary of GPT-4o, for texts that are measured before their model is known.
pub fn count_o200k(text: &str) -> u64 {
    TokenCounter::Known(BpeVocabulary::O200k).count(text).0
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
