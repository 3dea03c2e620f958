//! What every tool is and does.

use std::future::Future;
use std::pin::Pin;

use fathom_core::effect::{
    DryRun, EffectClass, EffectOutcome, EffectRequest, Evidence, Permit, Target,
};
use fathom_core::id::Digest;
use fathom_core::inverse::{Inverse, Undo};
use fathom_core::text::Text;
use fathom_core::tool::ToolSpec;
use fathom_core::unit::Millis;
use serde_json::Value;

use crate::error::ToolsError;

/// What a tool answers with.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What is known of a tool before it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFacts {
    /// What a model is told.
    pub spec: ToolSpec,
    /// What it does to the world.
    pub class: EffectClass,
    /// Whether a second send with the same key does nothing more than the first.
    pub idempotent: bool,
    /// Whether what it did can be undone.
    pub reversible: bool,
    /// What takes back what it did.
    pub inverse: Option<Inverse>,
    /// Where its effects land. The model has no say in this.
    pub target: Target,
    /// SHA-256 over name, description and schema, as they were pinned.
    pub pin: Digest,
}

/// The one argument of a tool that can be a command: its words.
const ARGS: &str = "args";

impl ToolFacts {
    /// Whether a list of words is all that the tool wants, so that it can be a command.
    pub fn takes_words(&self) -> bool {
        let schema: Value = serde_json::from_str(self.spec.schema.as_str()).unwrap_or_default();
        let mut required = schema["required"].as_array().into_iter().flatten();
        schema["properties"][ARGS]["type"] == "array" && required.all(|name| name == ARGS)
    }

    /// Whether what it does can be taken back, as a person is told who decides about it.
    pub fn undo(&self) -> Undo {
        match &self.inverse {
            Some(inverse) => Undo::Tool(inverse.clone()),
            None if self.reversible => Undo::Hand,
            None => Undo::Nobody,
        }
    }
}

/// Whether another try could help, and would be safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// It could not, or nobody knows what the first one did.
    Never,
    /// The platform wants fewer calls. It did nothing.
    RateLimited {
        /// How long it wants to be left alone.
        after: Option<Millis>,
    },
    /// The platform failed. It may have done something.
    ServerFault,
    /// It certainly never left the house.
    NotSent,
}

/// How one try ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// What became of it.
    pub outcome: EffectOutcome,
    /// What was seen on the way.
    pub evidence: Vec<Evidence>,
    /// Whether another try could help.
    pub again: Again,
}

/// Something that an episode can have done.
pub trait Tool: Send + Sync {
    /// What is known of it.
    fn facts(&self) -> &ToolFacts;

    /// Says what it would do, changing nothing. `None` where the tool cannot.
    fn rehearse<'a>(&'a self, effect: &'a EffectRequest) -> Answer<'a, Option<DryRun>>;

    /// Does it.
    fn call<'a>(&'a self, permit: &'a Permit) -> Answer<'a, Tried>;

    /// Looks whether it happened, changing nothing.
    fn check<'a>(&'a self, effect: &'a EffectRequest) -> Answer<'a, Tried>;
}

impl Tried {
    pub(crate) fn confirmed(receipt: impl Into<Text>) -> Self {
        Self::ended(
            EffectOutcome::Confirmed {
                receipt: receipt.into(),
            },
            Again::Never,
        )
    }

    pub(crate) fn failed(detail: impl Into<Text>, again: Again) -> Self {
        Self::ended(
            EffectOutcome::Failed {
                detail: detail.into(),
            },
            again,
        )
    }

    pub(crate) fn unknown(detail: impl Into<Text>, again: Again) -> Self {
        Self::ended(
            EffectOutcome::Unknown {
                detail: detail.into(),
            },
            again,
        )
    }

    /// Nothing was sent, and nothing would be another time.
    pub(crate) fn refused(error: &ToolsError) -> Self {
        let detail = format!("error[{}]: {error}", error.code());
        Self::failed(detail, Again::Never)
    }

    const fn ended(outcome: EffectOutcome, again: Again) -> Self {
        Self {
            outcome,
            evidence: Vec::new(),
            again,
        }
    }
}
