//! Effects: what changes the world outside, its states, its idempotency key and the kill switch.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::{AskId, Digest, EpisodeId};
use crate::inverse::Undo;
use crate::text::{Text, Texts};
use crate::unit::Timestamp;

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
pub struct Taint {
    /// The argument, as a JSON pointer.
    pub argument: String,
    /// Untrusted sources that the episode had read by then.
    pub sources: Vec<String>,
}

/// The place where an effect lands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Target {
    /// Whose it is.
    pub tenant: String,
    pub platform: String,
    /// In whose name.
    pub account: String,
    pub action: String,
}

/// An effect that a program wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectRequest {
    /// The tool that would carry it out.
    pub tool: String,
    pub target: Target,
    /// The occasion it answers to, fixed before any model ran: an event id, a plan node.
    pub event: String,
    /// Arguments as canonical JSON.
    pub arguments: Text,
    /// The effect of the tool on the world.
    #[serde(default, skip_serializing_if = "EffectClass::is_effect")]
    pub class: EffectClass,
    /// Arguments that may come from untrusted content. The governor fills it in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taint: Vec<Taint>,
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

/// A transition between the states of an effect.
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
    pub state: EffectState,
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

    /// True if the effect needs nothing more from the host.
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Confirmed | Self::Failed)
    }
}

/// On what terms a person may say yes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalTerms {
    /// Hash of the run, the tool, the canonical arguments and the policies: a yes to this is a yes to nothing else.
    pub binding: Digest,
    /// Roles that may decide; any person if none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// A yes after this moment is none.
    pub expires: Timestamp,
    /// True if it takes someone else than the person whose run it is.
    #[serde(default)]
    pub second_person: bool,
}

impl ApprovalTerms {
    /// Terms that any person meets at any time.
    pub const fn open(binding: Digest) -> Self {
        Self {
            binding,
            roles: Vec::new(),
            expires: Timestamp(u64::MAX),
            second_person: false,
        }
    }
}

/// A tool's forecast of an effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DryRun {
    /// True if it would go through.
    pub ok: bool,
    /// The platform's own words.
    pub report: Text,
}

/// The facts that a decision of the gateway rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grounds {
    /// SHA-256 over policies, schema and entities.
    pub bundle: Digest,
    /// The tool's own rehearsal, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<DryRun>,
    /// Reversibility of the effect, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<Undo>,
}

impl Texts for Grounds {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        if let Some(dry_run) = &mut self.dry_run {
            f(&mut dry_run.report);
        }
    }
}

/// Something that was seen while an effect was carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// At which step.
    pub step: String,
    /// The media type, as `image/png` or `text/html`.
    pub media: String,
    /// SHA-256 of what was seen.
    pub digest: Digest,
    /// The content; base64 if it is not text.
    pub content: Text,
}

impl Texts for Evidence {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.content);
    }
}

/// Leave to carry out one effect, once.
///
/// Only a [`Run`](crate::run::Run) makes one, and only when the record of the decision that allows the effect is durable.
/// It cannot be copied, stored or read from anywhere:
///
/// ```compile_fail
/// # use fathom_core::effect::Permit;
/// fn twice(permit: Permit) -> (Permit, Permit) {
///     (permit.clone(), permit)
/// }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Permit {
    episode: EpisodeId,
    ask: AskId,
    effect: EffectRequest,
}

impl Permit {
    pub(crate) const fn new(episode: EpisodeId, ask: AskId, effect: EffectRequest) -> Self {
        Self {
            episode,
            ask,
            effect,
        }
    }

    /// The episode that asked.
    pub const fn episode(&self) -> &EpisodeId {
        &self.episode
    }

    /// Its ask.
    pub const fn ask(&self) -> AskId {
        self.ask
    }

    /// The effect that is allowed.
    pub const fn effect(&self) -> &EffectRequest {
        &self.effect
    }
}

/// The gateway's decision about a proposed effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PolicyDecision {
    /// It may be sent, once its key is claimed.
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
        /// The people who may decide, until when, and about what.
        terms: Box<ApprovalTerms>,
    },
}

/// Prefix of an effect's detail if it was denied before it went out.
pub const DENIED: &str = "denied: ";

/// Outcome of an attempt or a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EffectOutcome {
    /// It happened; the platform's receipt.
    Confirmed {
        /// The platform's answer.
        receipt: Text,
    },
    /// It did not happen.
    Failed { detail: Text },
    /// Nobody knows.
    Unknown { detail: Text },
}

impl Texts for EffectOutcome {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        match self {
            Self::Confirmed { receipt } => f(receipt),
            Self::Failed { detail } | Self::Unknown { detail } => f(detail),
        }
    }
}

/// The reach of a kill switch.
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
    /// True if an effect on `target` must not happen.
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
