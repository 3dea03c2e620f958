//! The states of an effect and the steps between them.

use serde::{Deserialize, Serialize};

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

/// A transition between the states of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectTransition {
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
pub struct IllegalTransition {
    pub state: EffectState,
    pub step: EffectTransition,
}

impl EffectState {
    /// The state after `step`.
    pub const fn after(self, step: EffectTransition) -> Result<Self, IllegalTransition> {
        use EffectState as S;
        use EffectTransition as T;
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
            (state, step) => return Err(IllegalTransition { state, step }),
        })
    }

    /// True if the effect needs nothing more from the host.
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Confirmed | Self::Failed)
    }
}
