//! Reasons why an episode stopped, and reasons why an ask was refused.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::budget::amounts::Dimension;
use crate::contract::spawn::{SpawnClass, SpawnTrigger};
use crate::contract::{AgentRole, ChildType};
use crate::domain::DomainAccess;
use crate::effect::KillScope;
use crate::episode::result::EpisodeStatus;
use crate::id::EpisodeId;
use crate::model::failure::FailureKind;
use crate::packet::HeaderField;

/// A kind of error, for counting repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// A model call failed.
    Model(FailureKind),
    /// A child failed.
    Child,
    /// An effect failed.
    Effect,
    /// Code did not come to its end.
    Cell,
    /// An ask was refused, and so was what the program asked instead.
    Refused,
    /// The program asked for nothing more and did not finish.
    Idle,
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(kind) => write!(f, "model call: {kind}"),
            Self::Child => f.write_str("child episode failed"),
            Self::Effect => f.write_str("effect failed"),
            Self::Cell => f.write_str("code failed"),
            Self::Refused => f.write_str("ask refused"),
            Self::Idle => f.write_str("the program had nothing more to ask"),
        }
    }
}

/// The reason why an episode stopped.
// Its texts stand in recorded commands, and a replay compares those word for word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StopReason {
    /// The objective is met and, where one was asked for, the verifier passed.
    Success,
    /// A dimension of the budget has no room for what is needed.
    BudgetExhausted { dimension: Dimension },
    /// The work needs a deeper tree than the policy allows.
    DepthExceeded,
    /// Children in a row brought nothing new.
    NoNewInformation,
    /// The same error came again and again.
    RepeatedFailure { class: ErrorClass, count: u32 },
    /// A single failure that retrying cannot repair.
    Failure { class: ErrorClass },
    /// A policy said no.
    PolicyDeny { rule: String },
    /// The result did not pass its review.
    ReviewFailed,
    /// A packet cannot be brought under its limit of tokens.
    TokenBudget {
        field: HeaderField,
        /// The part's tokens; for the prompt those of all that may not be cut.
        tokens: u64,
        /// The most it may have.
        limit: u64,
    },
    /// A kill switch is active.
    KillSwitch { scope: KillScope },
    /// A person or the parent cancelled it.
    Cancelled,
    /// A vote came to no decision.
    Undecided,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Success => f.write_str("success"),
            Self::BudgetExhausted { dimension } => write!(f, "budget exhausted: {dimension}"),
            Self::DepthExceeded => f.write_str("depth exceeded"),
            Self::NoNewInformation => f.write_str("no new information"),
            Self::RepeatedFailure { class, count } => write!(f, "{class}, {count} times in a row"),
            Self::Failure { class } => class.fmt(f),
            Self::PolicyDeny { rule } => write!(f, "policy denied: {rule}"),
            Self::ReviewFailed => f.write_str("review failed"),
            Self::TokenBudget {
                field,
                tokens,
                limit,
            } => write_token_budget(f, *field, *tokens, *limit),
            Self::KillSwitch { scope } => write!(f, "kill switch: {scope}"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Undecided => f.write_str("undecided"),
        }
    }
}

fn write_token_budget(
    f: &mut fmt::Formatter<'_>,
    field: HeaderField,
    tokens: u64,
    limit: u64,
) -> fmt::Result {
    write!(
        f,
        "TokenBudgetError: the {field} has {tokens} tokens and may have {limit}"
    )
}

/// The stages that shorten a header field over its limit, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShortenStage {
    /// The host's extractive summariser.
    Local,
    /// The model in the role Lite.
    Lite,
    /// The model in the role Prime.
    Prime,
}

impl fmt::Display for ShortenStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "the summariser",
            Self::Lite => "Lite",
            Self::Prime => "Prime",
        })
    }
}

/// The reason why the governor did not admit an ask.
// Its texts stand in recorded commands, and a replay compares those word for word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Refusal {
    /// No room in a dimension, and nothing in flight that could free some.
    Budget {
        dimension: Dimension,
    },
    /// The episode crossed 70 % of a dimension: it may only finish or hand off.
    Closing {
        dimension: Dimension,
    },
    /// The child would be deeper than the policy allows.
    Depth {
        max_depth: u8,
    },
    /// The episode has had all the children it may have.
    Children {
        max_children: u32,
    },
    /// The child's type is not on the list, or is forbidden.
    ChildType {
        child_type: ChildType,
    },
    /// The class is not on the list.
    ClassNotAllowed {
        class: SpawnClass,
    },
    /// The trigger belongs to another class.
    TriggerMismatch {
        trigger: SpawnTrigger,
        /// The class that was named.
        class: SpawnClass,
    },
    /// An effect was attempted and not yet verified: repair must wait.
    VerifyFirst,
    /// The child's contract goes beyond its parent's.
    WiderContract {
        /// The part that is wider.
        what: String,
    },
    /// The episode is read-only; the effect was noted for its parent.
    ReadOnly,
    /// The tool is not on the contract's list.
    ToolNotAllowed {
        tool: String,
    },
    /// The contract does not name the domain for this.
    OutOfScope {
        domain: String,
        access: DomainAccess,
    },
    /// The domain belongs to other roles.
    NotOwner {
        domain: String,
        access: DomainAccess,
        role: AgentRole,
    },
    /// Another episode of the run has the domain to write.
    Lent {
        domain: String,
        /// The episode that has it.
        to: EpisodeId,
    },
    /// The kill switch covers it.
    Killed {
        scope: KillScope,
    },
    /// A part of the packet is over its limit of tokens, and nothing brought it under.
    TokenBudget {
        field: HeaderField,
        /// Its tokens; for the prompt those of all that may not be cut.
        tokens: u64,
        /// The most it may have.
        limit: u64,
    },
    /// A text could not be shortened.
    Incompressible {
        why: String,
    },
    /// This host has nothing that could carry it out.
    Unavailable {
        what: String,
    },
    Stopping,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget { dimension } => write!(f, "no {dimension} left"),
            Self::Closing { dimension } => {
                write!(f, "past 70 % of {dimension}: only closing is left")
            }
            Self::Depth { max_depth } => write!(f, "deeper than {max_depth}"),
            Self::Children { max_children } => write!(f, "more than {max_children} children"),
            Self::ChildType { child_type } => write!(f, "child type `{child_type}` not allowed"),
            Self::ClassNotAllowed { class } => write!(f, "class {class} not allowed"),
            Self::TriggerMismatch { trigger, class } => {
                write!(f, "trigger {trigger:?} does not belong to class {class}")
            }
            Self::VerifyFirst => f.write_str("an effect must be verified before repair"),
            Self::WiderContract { what } => write!(f, "{what} wider than the parent's"),
            Self::ReadOnly => f.write_str("read-only: the effect goes to the parent"),
            Self::ToolNotAllowed { tool } => write!(f, "tool `{tool}` not allowed"),
            Self::OutOfScope { domain, access } => match access {
                DomainAccess::Read => write!(f, "domain `{domain}` not in `read_scopes`"),
                DomainAccess::Write => write!(f, "domain `{domain}` not in `write_scopes`"),
            },
            Self::NotOwner {
                domain,
                access,
                role,
            } => match access {
                DomainAccess::Read => write!(f, "role {role} is no reader of domain `{domain}`"),
                DomainAccess::Write => write!(f, "role {role} is no writer of domain `{domain}`"),
            },
            Self::Lent { domain, to } => {
                write!(f, "domain `{domain}` has one writer at a time, now {to}")
            }
            Self::Killed { scope } => write!(f, "kill switch: {scope}"),
            Self::TokenBudget {
                field,
                tokens,
                limit,
            } => write_token_budget(f, *field, *tokens, *limit),
            Self::Incompressible { why } => write!(f, "it cannot be shortened: {why}"),
            Self::Unavailable { what } => write!(f, "no {what} on this host"),
            Self::Stopping => f.write_str("the episode is stopping"),
        }
    }
}

impl Refusal {
    /// The status of an episode that cannot continue without what was refused: it failed if nobody can help.
    pub const fn as_status(&self) -> EpisodeStatus {
        match self {
            // No person can make a packet smaller than its prompt or bring back what is not there.
            Self::TokenBudget { .. } | Self::Unavailable { .. } => EpisodeStatus::Failed,
            _ => EpisodeStatus::NeedsReview,
        }
    }

    /// The stop reason of an episode that cannot continue without what was refused.
    pub fn as_stop(&self) -> StopReason {
        match self {
            Self::Budget { dimension } | Self::Closing { dimension } => {
                StopReason::BudgetExhausted {
                    dimension: *dimension,
                }
            }
            Self::TokenBudget {
                field,
                tokens,
                limit,
            } => StopReason::TokenBudget {
                field: *field,
                tokens: *tokens,
                limit: *limit,
            },
            Self::Depth { .. } => StopReason::DepthExceeded,
            Self::Killed { scope } => StopReason::KillSwitch {
                scope: scope.clone(),
            },
            Self::Stopping => StopReason::Cancelled,
            Self::Children { .. }
            | Self::ChildType { .. }
            | Self::ClassNotAllowed { .. }
            | Self::TriggerMismatch { .. }
            | Self::VerifyFirst
            | Self::WiderContract { .. }
            | Self::ReadOnly
            | Self::ToolNotAllowed { .. }
            | Self::OutOfScope { .. }
            | Self::NotOwner { .. }
            | Self::Lent { .. }
            | Self::Incompressible { .. }
            | Self::Unavailable { .. } => StopReason::PolicyDeny {
                rule: self.to_string(),
            },
        }
    }
}
