//! The gateway in front of the platform: its decisions, the people it asks, and its registry of keys.

use std::collections::BTreeMap;

use fathom_core::effect::{
    ApprovalTerms, EffectOutcome, EffectRequest, IdempotencyKey, PolicyDecision,
};
use fathom_core::id::Digest;
use fathom_core::unit::Timestamp;
use fathom_store::journal::seal::address_of;

use super::approvals::{ApprovalTurn, SimApprovals};
use super::bug::PlantedBug;
use super::platform::{BINDING, SimPlatform, SimSender};

/// Fate of an effect, settled before the run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendFate {
    /// The policy allows it.
    Free,
    /// A person says yes, soon enough as far as it is up to them.
    Yes,
    /// A person says no.
    No,
    /// The first time that it is asked for everyone is away.
    Late,
}

/// Last answer of the platform to a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SimDecision {
    Nothing,
    Yes,
    No,
    Unknown,
}

impl SimDecision {
    const fn of(outcome: &EffectOutcome) -> Self {
        match outcome {
            EffectOutcome::Confirmed { .. } => Self::Yes,
            EffectOutcome::Failed { .. } => Self::No,
            EffectOutcome::Unknown { .. } => Self::Unknown,
        }
    }
}

/// A sender that the gateway let pass.
#[derive(Clone, Debug)]
struct PassedPermits {
    key: IdempotencyKey,
    word: SimDecision,
}

/// Keys of the gateway. All of it is durable when it is written, as in the store.
#[derive(Default)]
pub(super) struct KeyRegistry {
    /// Senders that may use a key, the holder last, after those it passed over.
    claims: BTreeMap<IdempotencyKey, Vec<SimSender>>,
    approvals: SimApprovals,
    /// Overrides by people: the sender, and the one it may pass over.
    overrides: BTreeMap<SimSender, Option<SimSender>>,
    passed: BTreeMap<SimSender, PassedPermits>,
    /// True if a key was released and not checked since.
    is_released: bool,
}

impl SimPlatform {
    /// A planted bug: the registry was only in memory.
    pub(super) fn forget_claims(&mut self) {
        self.registry.claims.clear();
    }

    fn holder(&self, key: &IdempotencyKey) -> Option<&SimSender> {
        self.registry.claims.get(key)?.last()
    }

    fn claim(&mut self, sender: &SimSender, key: &IdempotencyKey) {
        let holders = self.registry.claims.entry(key.clone()).or_default();
        if holders.last() != Some(sender) {
            holders.push(sender.clone());
        }
    }

    /// Gives the key of an effect free that certainly did not happen. Whoever was passed over holds it again.
    pub(super) fn release(&mut self, sender: &SimSender, effect: &EffectRequest) {
        let key = effect.key();
        if let Some(holders) = self.registry.claims.get_mut(&key) {
            holders.retain(|holder| holder != sender);
            self.registry.is_released = true;
        }
    }

    /// The gateway's decision. A key that is taken needs a person.
    pub(super) fn decide(
        &mut self,
        sender: &SimSender,
        effect: &EffectRequest,
        at: Timestamp,
    ) -> PolicyDecision {
        let key = effect.key();
        let is_taken = self.holder(&key).is_some_and(|holder| holder != sender);
        let fate = self.manners.fates.get(&key).copied();
        let deny = |rule: &str| PolicyDecision::Deny { rule: rule.into() };
        match fate {
            _ if is_taken && (fate.is_some() || self.rng.chance(500)) => deny("duplicate"),
            None if is_taken => self.ask("duplicate", sender, key, at),
            Some(SendFate::Yes | SendFate::No | SendFate::Late) => {
                if self.bug == Some(PlantedBug::ApprovalUsedTwice)
                    && self.registry.approvals.was_used(&key)
                {
                    return self.allow(sender, &key);
                }
                self.ask("two pairs of eyes", sender, key, at)
            }
            None if self.rng.chance(self.manners.denies_permille) => deny("closed hours"),
            None if self.rng.chance(self.manners.asks_people_permille) => {
                self.ask("two pairs of eyes", sender, key, at)
            }
            Some(SendFate::Free) | None => self.allow(sender, &key),
        }
    }

    /// It may be sent. Its key is claimed when it is: before that a crash may forget who wanted it.
    fn allow(&mut self, sender: &SimSender, key: &IdempotencyKey) -> PolicyDecision {
        if self.bug == Some(PlantedBug::ClaimBeforeIntent) {
            self.claim(sender, key);
        }
        PolicyDecision::Allow {
            rules: vec!["default".into()],
        }
    }

    fn ask(
        &mut self,
        rule: &str,
        sender: &SimSender,
        key: IdempotencyKey,
        at: Timestamp,
    ) -> PolicyDecision {
        let binding = if self.manners.fates.is_empty() {
            BINDING
        } else {
            address_of(key.as_str().as_bytes())
        };
        let mut terms = ApprovalTerms::open(binding);
        if let Some(within) = self.manners.approval_within {
            terms.expires = at.plus(within);
        }
        self.registry.approvals.open(sender, key, &terms);
        PolicyDecision::NeedsApproval {
            rule: rule.into(),
            terms: Box::new(terms),
        }
    }

    /// Time at which a person decides: within `within`, or after it is too late.
    pub(super) fn thinks_for(&mut self, sender: &SimSender, within: u64, at: Timestamp) -> u64 {
        let soon = self.rng.between(1, within);
        let key = self.registry.approvals.key(sender);
        let fate = key.and_then(|key| self.manners.fates.get(key));
        match self.registry.approvals.asked(sender) {
            Some((terms, ApprovalTurn::First)) if fate == Some(&SendFate::Late) => {
                terms.expires.since(at).0.saturating_add(soon)
            }
            _ => soon,
        }
    }

    /// Decision of a person about `sender`, and its subject; none when it was made before.
    pub(super) fn person_says(
        &mut self,
        sender: &SimSender,
        effect: &EffectRequest,
        at: Timestamp,
    ) -> Option<(bool, Digest)> {
        let (terms, _) = self.registry.approvals.asked(sender)?;
        let binding = terms.binding;
        let allow = match self.manners.fates.get(&effect.key()) {
            Some(fate) => *fate != SendFate::No,
            None => self.person_allows(sender, effect),
        };
        self.registry.approvals.decide(sender, allow, at);
        Some((allow, binding))
    }

    /// True if a careful person lets `sender` send: not when the effect happened or may still arrive, as far as the
    /// platform can tell.
    fn person_allows(&mut self, sender: &SimSender, effect: &EffectRequest) -> bool {
        let key = effect.key();
        let done = self.done.get(&key);
        let happened = done
            .is_some_and(|done| done.times > 0 && (self.manners.reconciles || !done.was_unknown));
        let may_arrive =
            self.manners.reconciles && self.flying.iter().any(|flying| flying.key == key);
        if happened || may_arrive || self.rng.chance(250) {
            return false;
        }
        let holder = self.holder(&key).cloned();
        self.registry.overrides.insert(sender.clone(), holder);
        true
    }

    /// The gateway's last look: the key must be free, the sender's, or one that a person let it have, and where a
    /// person was asked their yes is used up. Whoever passes holds the key.
    pub(super) fn pass(
        &mut self,
        sender: &SimSender,
        key: &IdempotencyKey,
    ) -> Result<(), &'static str> {
        let holder = self.holder(key);
        let is_mine = holder.is_none_or(|holder| holder == sender);
        let is_given = self
            .registry
            .overrides
            .get(sender)
            .is_some_and(|o| o.as_ref() == holder);
        if !is_mine && !is_given {
            return Err("another ask holds the key");
        }
        if let Some(why) = self.registry.approvals.obstacle(sender) {
            return Err(why);
        }
        self.claim(sender, key);
        let passed = PassedPermits {
            key: key.clone(),
            word: SimDecision::Nothing,
        };
        self.registry.passed.insert(sender.clone(), passed);
        Ok(())
    }

    /// Keeps a sender's key while it asks for the outcome of an effect. A key that was released before a crash lost the
    /// answer may be another's by now: then nothing was sent under it.
    pub(super) fn hold(&mut self, sender: &SimSender, effect: &EffectRequest) {
        let key = effect.key();
        if self.holder(&key).is_none() {
            self.claim(sender, &key);
        } else if !self.keeps_key(sender) {
            self.registry.passed.remove(sender);
        }
    }

    /// A sender that was let pass, was not told that its effect failed, and does not hold its key.
    pub(super) fn unclaimed(&mut self) -> Option<String> {
        if !std::mem::take(&mut self.registry.is_released) {
            return None;
        }
        let mut open = self
            .registry
            .passed
            .iter()
            .filter(|(_, p)| p.word != SimDecision::No);
        open.find(|(sender, _)| !self.keeps_key(sender))
            .map(|((episode, ask), passed)| {
                let (key, word) = (passed.key.as_str(), passed.word);
                format!("{key} is free, and {episode} {ask} was told {word:?}")
            })
    }

    /// True if a sender that was let pass still holds its key, or a person let someone else have it.
    pub(super) fn keeps_key(&self, sender: &SimSender) -> bool {
        self.registry.passed.get(sender).is_none_or(|passed| {
            let holders = self.registry.claims.get(&passed.key);
            holders.is_some_and(|holders| holders.contains(sender))
        })
    }

    /// The platform's last word to a sender.
    pub(super) fn say(&mut self, sender: &SimSender, outcome: &EffectOutcome) {
        if let Some(passed) = self.registry.passed.get_mut(sender) {
            passed.word = SimDecision::of(outcome);
        }
    }
}
