//! A simulated platform for effects, and the gateway in front of it with its registry of keys.

use std::collections::BTreeMap;

use fathom_core::effect::{
    ApprovalTerms, EffectClass, EffectOutcome, EffectRequest, IdempotencyKey, PolicyDecision,
    Target,
};
use fathom_core::id::{AskId, Digest, EpisodeId};
use fathom_core::text::Text;

use super::rng::Rng;

/// Who sends.
pub(super) type Sender = (EpisodeId, AskId);

/// How gateway and platform behave.
#[derive(Clone, Debug)]
pub(super) struct Manners {
    /// Whether the platform can say what happened under a key.
    pub(super) reconciles: bool,
    /// Whether the platform itself does a key only once.
    pub(super) dedupes: bool,
    pub(super) rejects_permille: u64,
    /// Responses lost after the effect happened.
    pub(super) lost_responses_permille: u64,
    /// Requests lost before it did.
    pub(super) lost_requests_permille: u64,
    pub(super) denies_permille: u64,
    pub(super) asks_people_permille: u64,
}

/// What the platform knows of a key.
#[derive(Clone, Debug, Default)]
struct Done {
    times: u64,
    by: Vec<Sender>,
    was_unknown: bool,
}

/// A request that left a process which died before it heard the answer.
#[derive(Clone, Debug)]
struct Flying {
    sender: Sender,
    key: IdempotencyKey,
}

/// What became of an attempt.
pub(super) enum Sent {
    /// The platform answered.
    Answered(EffectOutcome),
    /// The gateway did not let it out.
    Stopped(EffectOutcome),
}

/// Gateway and platform.
pub(super) struct Platform {
    pub(super) manners: Manners,
    done: BTreeMap<IdempotencyKey, Done>,
    /// The registry: who may send under a key. Durable when it is written, as the store's is.
    claims: BTreeMap<IdempotencyKey, Sender>,
    flying: Vec<Flying>,
    /// Requests that reached the platform's door, for the limit on tools.
    pub(super) attempts: u64,
    pub(super) late: u64,
    pub(super) unknown: u64,
    rng: Rng,
}

/// Tools that episodes ask for.
const TOOLS: [&str; 6] = ["post", "mail", "post", "mail", "post", "forbidden"];
/// Where effects land.
pub(super) const PLATFORMS: [&str; 2] = ["square", "letterbox"];

/// What people decide about here.
pub(super) const BINDING: Digest = Digest([7; 32]);

impl Platform {
    pub(super) fn new(manners: Manners, rng: Rng) -> Self {
        Self {
            manners,
            done: BTreeMap::new(),
            claims: BTreeMap::new(),
            flying: Vec::new(),
            attempts: 0,
            late: 0,
            unknown: 0,
            rng,
        }
    }

    /// A planted bug: the registry was only in memory.
    pub(super) fn forget_claims(&mut self) {
        self.claims.clear();
    }

    /// The gateway's decision. An allowed effect has its key; a key that is taken needs a person.
    pub(super) fn decide(&mut self, sender: &Sender, effect: &EffectRequest) -> PolicyDecision {
        let holder = self.claims.get(&effect.key());
        if holder.is_some_and(|holder| holder != sender) {
            return if self.rng.chance(500) {
                PolicyDecision::NeedsApproval {
                    rule: "duplicate".into(),
                    terms: Box::new(ApprovalTerms::open(BINDING)),
                }
            } else {
                PolicyDecision::Deny {
                    rule: "duplicate".into(),
                }
            };
        }
        if self.rng.chance(self.manners.denies_permille) {
            return PolicyDecision::Deny {
                rule: "closed hours".into(),
            };
        }
        if self.rng.chance(self.manners.asks_people_permille) {
            return PolicyDecision::NeedsApproval {
                rule: "two pairs of eyes".into(),
                terms: Box::new(ApprovalTerms::open(BINDING)),
            };
        }
        self.claims.insert(effect.key(), sender.clone());
        PolicyDecision::Allow {
            rules: vec!["default".into()],
        }
    }

    /// Whether a careful person lets `sender` send: not when it happened or may still arrive, as far as the
    /// platform can tell.
    pub(super) fn person_allows(&mut self, sender: &Sender, effect: &EffectRequest) -> bool {
        let key = effect.key();
        let done = self.done.get(&key);
        let happened = done
            .is_some_and(|done| done.times > 0 && (self.manners.reconciles || !done.was_unknown));
        let may_arrive =
            self.manners.reconciles && self.flying.iter().any(|flying| flying.key == key);
        if happened || may_arrive || self.rng.chance(250) {
            return false;
        }
        self.claims.insert(key, sender.clone());
        true
    }

    /// Carries an effect out, if the sender still holds its key.
    pub(super) fn attempt(&mut self, sender: &Sender, effect: &EffectRequest) -> Sent {
        let key = effect.key();
        if self.claims.get(&key) != Some(sender) {
            return Sent::Stopped(failed("another ask holds the key"));
        }
        self.attempts += 1;
        if self.rng.chance(self.manners.rejects_permille) {
            return Sent::Answered(failed("the platform said no"));
        }
        if self.rng.chance(self.manners.lost_requests_permille) {
            return Sent::Answered(self.lose(&key));
        }
        self.commit(sender, &key);
        if self.rng.chance(self.manners.lost_responses_permille) {
            return Sent::Answered(self.lose(&key));
        }
        Sent::Answered(EffectOutcome::Confirmed {
            receipt: Text::new(format!("done {}", key.as_str())),
        })
    }

    fn lose(&mut self, key: &IdempotencyKey) -> EffectOutcome {
        self.unknown += 1;
        self.done.entry(key.clone()).or_default().was_unknown = true;
        EffectOutcome::Unknown {
            detail: "the line went dead".into(),
        }
    }

    fn commit(&mut self, sender: &Sender, key: &IdempotencyKey) {
        let done = self.done.entry(key.clone()).or_default();
        if self.manners.dedupes && done.times > 0 {
            return;
        }
        done.times += 1;
        done.by.push(sender.clone());
    }

    /// The sending process died with the request under way: it arrives, now or later, or never.
    /// Says whether it may still arrive.
    pub(super) fn orphan(&mut self, sender: &Sender, effect: &EffectRequest) -> bool {
        let key = effect.key();
        if self.claims.get(&key) != Some(sender) {
            return false;
        }
        self.attempts += 1;
        self.unknown += 1;
        self.done.entry(key.clone()).or_default().was_unknown = true;
        match self.rng.below(3) {
            0 => self.commit(sender, &key),
            1 => self.flying.push(Flying {
                sender: sender.clone(),
                key,
            }),
            _ => {}
        }
        !self.flying.is_empty()
    }

    /// The platform's word reached nobody.
    pub(super) fn unheard(&mut self, effect: &EffectRequest) {
        self.unknown += 1;
        self.done.entry(effect.key()).or_default().was_unknown = true;
    }

    /// Something that was under way for long arrives.
    pub(super) fn land(&mut self) {
        if let Some(flying) = self.flying.pop() {
            self.late += 1;
            self.commit(&flying.sender, &flying.key);
        }
    }

    /// Asks what happened. A platform that can tell also sees to it that a late request finds the door shut.
    pub(super) fn reconcile(&mut self, sender: &Sender, effect: &EffectRequest) -> EffectOutcome {
        let key = effect.key();
        if !self.manners.reconciles {
            self.unknown += 1;
            self.done.entry(key).or_default().was_unknown = true;
            return EffectOutcome::Unknown {
                detail: "the platform cannot say".into(),
            };
        }
        self.flying
            .retain(|flying| flying.key != key || flying.sender != *sender);
        let by = self.done.get(&key).map_or(&[][..], |done| &done.by);
        if by.contains(sender) {
            EffectOutcome::Confirmed {
                receipt: Text::new(format!("found {}", key.as_str())),
            }
        } else {
            failed("the platform knows nothing of it")
        }
    }

    /// The first key under which more happened than may.
    pub(super) fn done_too_often(&self) -> Option<String> {
        self.done.iter().find_map(|(key, done)| {
            let excused = done.was_unknown && !self.manners.reconciles;
            (done.times > 1 && !excused)
                .then(|| format!("{} happened {} times", key.as_str(), done.times))
        })
    }
}

fn failed(detail: &str) -> EffectOutcome {
    EffectOutcome::Failed {
        detail: detail.into(),
    }
}

/// An effect that some episode wants.
pub(super) fn effect(rng: &mut Rng) -> EffectRequest {
    EffectRequest {
        tool: rng.pick(&TOOLS).to_owned(),
        target: Target {
            tenant: "tenant".into(),
            platform: rng.pick(&PLATFORMS).to_owned(),
            account: "account".into(),
            action: rng.pick(&["say", "pay"]).to_owned(),
        },
        // Few events, so that the same effect is wanted again from another place.
        event: format!("event {}", rng.below(2)),
        arguments: Text::new("{}"),
        class: EffectClass::Effect,
        taint: Vec::new(),
    }
}
