//! The interface of all tools.

use std::future::Future;
use std::pin::Pin;

use fathom_core::effect::undo::{InverseTool, Reversibility};
use fathom_core::effect::{
    DryRun, EffectClass, EffectOutcome, EffectPermit, EffectRequest, EffectTarget, Evidence,
};
use fathom_core::id::Digest;
use fathom_core::model::tool_call::ToolSpec;
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use serde_json::Value;

use crate::error::ToolsError;

/// Asynchronous answer of a tool.
pub type ToolFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Static facts of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFacts {
    /// Its description for models.
    pub spec: ToolSpec,
    /// Its effect on the world.
    pub class: EffectClass,
    /// True if sending it again with the same key has no further effect.
    pub idempotent: bool,
    /// True if its effect can be undone.
    pub reversible: bool,
    /// The tool that undoes its effect.
    pub inverse: Option<InverseTool>,
    /// Target of its effects. The model cannot choose it.
    pub target: EffectTarget,
    /// SHA-256 over name, description and schema, as pinned.
    pub pin: Digest,
}

/// The single argument of a tool that can be written as a command: its words.
const ARGS: &str = "args";

impl ToolFacts {
    /// True if the tool needs only a list of words, so that it can be written as a command.
    pub fn takes_words(&self) -> bool {
        let schema: Value = serde_json::from_str(self.spec.schema.as_str()).unwrap_or_default();
        let mut required = schema["required"].as_array().into_iter().flatten();
        schema["properties"][ARGS]["type"] == "array" && required.all(|name| name == ARGS)
    }

    /// Reversibility of its effect, for the person who decides about it.
    pub fn undo(&self) -> Reversibility {
        match &self.inverse {
            Some(inverse) => Reversibility::Tool(inverse.clone()),
            None if self.reversible => Reversibility::Hand,
            None => Reversibility::Nobody,
        }
    }
}

/// Usefulness and safety of a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryHint {
    /// A retry is useless, or the outcome of the first try is unknown.
    Never,
    /// Rate limited by the platform. It did nothing.
    RateLimited {
        /// Delay that the platform asked for.
        after: Option<Millis>,
    },
    /// Fault of the platform. It may have done something.
    ServerFault,
    /// Certainly never sent.
    NotSent,
}

/// Result of one try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutcome {
    pub outcome: EffectOutcome,
    /// Evidence collected on the way.
    pub evidence: Vec<Evidence>,
    pub again: RetryHint,
}

/// An action available to episodes.
pub trait Tool: Send + Sync {
    /// Its static facts.
    fn facts(&self) -> &ToolFacts;

    /// Reports the intended effect without causing it. `None` if the tool cannot.
    fn rehearse<'a>(&'a self, effect: &'a EffectRequest) -> ToolFuture<'a, Option<DryRun>>;

    /// Carries out a permitted effect.
    fn call<'a>(&'a self, permit: &'a EffectPermit) -> ToolFuture<'a, ToolOutcome>;

    /// Checks if an effect happened, without causing one.
    fn check<'a>(&'a self, effect: &'a EffectRequest) -> ToolFuture<'a, ToolOutcome>;
}

impl ToolOutcome {
    pub(crate) fn confirmed(receipt: impl Into<Text>) -> Self {
        Self::ended(
            EffectOutcome::Confirmed {
                receipt: receipt.into(),
            },
            RetryHint::Never,
        )
    }

    pub(crate) fn failed(detail: impl Into<Text>, again: RetryHint) -> Self {
        Self::ended(
            EffectOutcome::Failed {
                detail: detail.into(),
            },
            again,
        )
    }

    pub(crate) fn unknown(detail: impl Into<Text>, again: RetryHint) -> Self {
        Self::ended(
            EffectOutcome::Unknown {
                detail: detail.into(),
            },
            again,
        )
    }

    /// A refusal: nothing was sent, and nothing would be another time.
    pub(crate) fn refused(error: &ToolsError) -> Self {
        let detail = format!("error[{}]: {error}", error.code());
        Self::failed(detail, RetryHint::Never)
    }

    const fn ended(outcome: EffectOutcome, again: RetryHint) -> Self {
        Self {
            outcome,
            evidence: Vec::new(),
            again,
        }
    }
}
