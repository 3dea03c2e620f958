//! Effects: what changes the world outside, its states, its idempotency key and the kill switch.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::{Text, Texts};

/// Where an effect lands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Target {
    /// Whose it is.
    pub tenant: String,
    /// Where it goes.
    pub platform: String,
    /// In whose name.
    pub account: String,
    /// What is done.
    pub action: String,
}

/// An effect that a program wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectRequest {
    /// The tool that would carry it out.
    pub tool: String,
    /// Where it lands.
    pub target: Target,
    /// What it answers to, fixed before any model ran: an event id, a plan node.
    pub event: String,
    /// Arguments as canonical JSON.
    pub arguments: Text,
}

impl EffectRequest {
    /// The key under which at most one send happens. The payload is not part of it: a model that rewords
    /// its message cannot send it again.
    pub fn key(&self) -> IdempotencyKey {
        let Target {
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
        let Target {
            platform,
            account,
            action,
            ..
        } = &self.target;
        write!(f, "{action} on {platform} as {account} for {}", self.event)
    }
}

impl Texts for EffectRequest {
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

/// The states of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectState {
    /// Asked for; waits for budget.
    Queued,
    /// The gateway looks at it.
    Preflight,
    /// A person must decide.
    AwaitingApproval,
    /// Allowed, and nothing sent yet.
    Approved,
    /// The intent is written; it may have been sent.
    Attempted,
    /// It happened.
    Confirmed,
    /// It did not happen.
    Failed,
    /// Nobody knows whether it happened.
    Unknown,
    /// The platform is being asked whether it happened.
    Postcheck,
}

/// What moves an effect from state to state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectStep {
    /// The budget admits it.
    Admit,
    /// The gateway wants a person's word.
    Defer,
    /// Gateway or person allow it.
    Allow,
    /// Gateway, person or kill switch deny it.
    Deny,
    /// The intent is written down, to be sent once durable.
    Attempt,
    /// The platform said yes.
    Confirm,
    /// The platform said no, or it was certainly never sent.
    Fail,
    /// The answer was lost.
    Lose,
    /// The platform is asked.
    Check,
}

/// A step that the state does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an effect that is {state:?} cannot take the step {step:?}")]
pub struct IllegalStep {
    /// The state.
    pub state: EffectState,
    /// The step.
    pub step: EffectStep,
}

impl EffectState {
    /// The state after `step`.
    pub const fn after(self, step: EffectStep) -> Result<Self, IllegalStep> {
        use EffectState as S;
        use EffectStep as T;
        Ok(match (self, step) {
            (S::Queued, T::Admit) => S::Preflight,
            (S::Preflight, T::Defer) => S::AwaitingApproval,
            (S::Preflight | S::AwaitingApproval, T::Allow) => S::Approved,
            (S::Queued | S::Preflight | S::AwaitingApproval | S::Approved, T::Deny)
            | (S::Attempted | S::Postcheck, T::Fail) => S::Failed,
            (S::Approved, T::Attempt) => S::Attempted,
            (S::Attempted | S::Postcheck, T::Confirm) => S::Confirmed,
            (S::Attempted | S::Postcheck, T::Lose) => S::Unknown,
            (S::Unknown, T::Check) => S::Postcheck,
            (state, step) => return Err(IllegalStep { state, step }),
        })
    }

    /// Whether the effect needs nothing more from the host.
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Confirmed | Self::Failed)
    }
}

/// What the gateway decided about a proposed effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PolicyDecision {
    /// It may be sent; its key is claimed.
    Allow {
        /// The rules that said so.
        rules: Vec<String>,
    },
    /// It may not.
    Deny {
        /// The rule that said so.
        rule: String,
    },
    /// A person must say.
    NeedsApproval {
        /// The rule that said so.
        rule: String,
    },
}

/// How an attempt or a check ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EffectOutcome {
    /// It happened; the platform's receipt.
    Confirmed {
        /// What the platform answered.
        receipt: Text,
    },
    /// It did not happen.
    Failed {
        /// Why.
        detail: Text,
    },
    /// Nobody knows.
    Unknown {
        /// What was seen.
        detail: Text,
    },
}

impl Texts for EffectOutcome {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        match self {
            Self::Confirmed { receipt } => f(receipt),
            Self::Failed { detail } | Self::Unknown { detail } => f(detail),
        }
    }
}

/// How far a kill switch reaches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KillScope {
    /// Everything.
    Global,
    /// One tenant.
    Tenant(String),
    /// One platform.
    Platform(String),
    /// One account.
    Account(String),
    /// One action.
    Action(String),
}

impl KillScope {
    /// Whether an effect on `target` must not happen.
    pub fn covers(&self, target: &Target) -> bool {
        match self {
            Self::Global => true,
            Self::Tenant(name) => *name == target.tenant,
            Self::Platform(name) => *name == target.platform,
            Self::Account(name) => *name == target.account,
            Self::Action(name) => *name == target.action,
        }
    }
}

impl fmt::Display for KillScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => f.write_str("global"),
            Self::Tenant(name) => write!(f, "tenant:{name}"),
            Self::Platform(name) => write!(f, "platform:{name}"),
            Self::Account(name) => write!(f, "account:{name}"),
            Self::Action(name) => write!(f, "action:{name}"),
        }
    }
}
