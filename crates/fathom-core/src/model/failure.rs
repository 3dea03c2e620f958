//! Ways a model call can fail, each with what a caller may conclude from it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::contract::stop::{ErrorClass, StopReason};
use crate::model::TokenUsage;
use crate::text::{Text, VisitTexts};
use crate::unit::Millis;

/// The kind of a failed model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No complete reply within the call's time.
    Timeout,
    /// The provider asked for fewer requests (429).
    RateLimited,
    /// The connection could not be made or was lost.
    Connection,
    /// The provider failed (408, 409, 5xx).
    Server,
    /// The circuit breaker is open after repeated failures; nothing was sent.
    CircuitOpen,
    /// The key is missing or was not accepted (401, 403).
    Auth,
    /// The provider does not know the request or the model (other 4xx).
    Rejected,
    /// The model or its provider declined to answer.
    Refused,
    /// The reply had no text.
    Empty,
    /// The reply was cut off where a whole one was needed.
    Truncated,
    /// The reply was not what the wire format says.
    Malformed,
    /// Request or reply is larger than the model or a limit of ours allows.
    TooLarge,
    /// This side gave up the call.
    Cancelled,
}

impl FailureKind {
    /// True if the same request may succeed a little later.
    pub const fn is_retryable(self) -> bool {
        match self {
            Self::Timeout | Self::RateLimited | Self::Connection | Self::Server => true,
            // Another try would end the same: the breaker stays open, or the request itself is at fault.
            Self::CircuitOpen
            | Self::Auth
            | Self::Rejected
            | Self::Refused
            | Self::Empty
            | Self::Truncated
            | Self::Malformed
            | Self::TooLarge
            | Self::Cancelled => false,
        }
    }

    /// True if the fault lies between us and the model, so that a person can repair it and continue.
    pub const fn is_outage(self) -> bool {
        match self {
            Self::Timeout
            | Self::RateLimited
            | Self::Connection
            | Self::Server
            | Self::CircuitOpen
            | Self::Auth
            | Self::Rejected
            | Self::Malformed => true,
            // The way to the model is not at fault here, so there is nothing to repair.
            Self::Refused | Self::Empty | Self::Truncated | Self::TooLarge | Self::Cancelled => {
                false
            }
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => "timeout",
            Self::RateLimited => "rate limited",
            Self::Connection => "connection lost",
            Self::Server => "server error",
            Self::CircuitOpen => "circuit open",
            Self::Auth => "not authorised",
            Self::Rejected => "request rejected",
            Self::Refused => "refused",
            Self::Empty => "empty reply",
            Self::Truncated => "truncated reply",
            Self::Malformed => "malformed reply",
            Self::TooLarge => "too large",
            Self::Cancelled => "cancelled",
        })
    }
}

/// Cost of a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallBilling {
    /// Certainly nothing: it was not sent, or was turned away at the door.
    Nothing,
    /// Perhaps all of it: counted at its full reservation.
    Perhaps,
    /// The provider reported this much.
    Reported(TokenUsage),
}

/// A model call that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFailure {
    pub kind: FailureKind,
    /// The cause in words, bounded.
    pub detail: Text,
    pub billing: CallBilling,
    /// The pause that the provider asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Millis>,
    /// The text received before the failure; empty if none.
    pub partial: Text,
}

impl ModelFailure {
    /// A failure that cost nothing and left nothing.
    pub fn unsent(kind: FailureKind, detail: impl Into<Text>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            billing: CallBilling::Nothing,
            retry_after: None,
            partial: Text::default(),
        }
    }

    /// The stop reason of an episode that cannot continue without the reply.
    pub const fn as_stop(&self) -> StopReason {
        StopReason::Failure {
            class: ErrorClass::Model(self.kind),
        }
    }

    /// A failure after the request went out: it may have been billed in full.
    pub fn sent(kind: FailureKind, detail: impl Into<Text>) -> Self {
        Self {
            billing: CallBilling::Perhaps,
            ..Self::unsent(kind, detail)
        }
    }
}

impl fmt::Display for ModelFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.detail.is_blank() {
            self.kind.fmt(f)
        } else {
            write!(f, "{}: {}", self.kind, self.detail.as_str())
        }
    }
}

impl VisitTexts for ModelFailure {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.detail);
        f(&mut self.partial);
    }
}
