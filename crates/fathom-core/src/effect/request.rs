//! An effect as a program asks for it, and the key that names its intent.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::{Text, VisitTexts};

/// The effect of a tool on the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectClass {
    /// It only looks: it may be done again, and an episode that may change nothing may do it.
    Read,
    /// It changes something. What nobody knows counts as this.
    #[default]
    Effect,
}

impl EffectClass {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "the signature that serde wants"
    )]
    fn is_effect(&self) -> bool {
        *self == Self::Effect
    }
}

/// An argument that may come from someone who was never asked: a page, a comment, the answer of a tool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaintedArgument {
    /// The argument, as a JSON pointer.
    pub argument: String,
    /// Untrusted sources that the episode had read by then.
    pub sources: Vec<String>,
}

/// The place where an effect lands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EffectTarget {
    /// Whose it is.
    pub tenant: String,
    pub platform: String,
    /// The account in whose name it happens.
    pub account: String,
    pub action: String,
}

/// An effect that a program wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectRequest {
    /// The tool that would carry it out.
    pub tool: String,
    pub target: EffectTarget,
    /// The occasion it answers to, fixed before any model ran: an event id, a plan node.
    pub event: String,
    /// Arguments as canonical JSON.
    pub arguments: Text,
    /// The effect of the tool on the world.
    #[serde(default, skip_serializing_if = "EffectClass::is_effect")]
    pub class: EffectClass,
    /// Arguments that may come from untrusted content. The governor fills it in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taint: Vec<TaintedArgument>,
}

impl EffectRequest {
    /// The key under which at most one send happens. The payload is not part of it: a model that rewords
    /// its message cannot send it again.
    pub fn key(&self) -> IdempotencyKey {
        let EffectTarget {
            tenant,
            platform,
            account,
            action,
        } = &self.target;
        let parts = [tenant, platform, account, action, &self.event];
        // Length-prefixed, so that no two different tuples give the same key.
        let key = parts.map(|part| format!("{}:{part}", part.len())).concat();
        IdempotencyKey(key)
    }
}

impl fmt::Display for EffectRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EffectTarget {
            platform,
            account,
            action,
            ..
        } = &self.target;
        write!(f, "{action} on {platform} as {account} for {}", self.event)
    }
}

impl VisitTexts for EffectRequest {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.arguments);
    }
}

/// Names one intended effect, whatever its payload says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
