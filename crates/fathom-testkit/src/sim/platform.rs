//! A simulated platform for effects.

use std::collections::{BTreeMap, BTreeSet};

use fathom_core::effect::{
    EffectClass, EffectOutcome, EffectRequest, EffectTarget, IdempotencyKey,
};
use fathom_core::id::{AskId, Digest, EpisodeId};
use fathom_core::text::Text;
use fathom_core::unit::Millis;

use super::bug::PlantedBug;
use super::gateway::{KeyRegistry, SendFate};
use super::rng::SimRng;

/// Sender of an effect.
pub(super) type SimSender = (EpisodeId, AskId);

/// Behaviour of gateway and platform.
#[derive(Clone, Debug)]
pub(super) struct PlatformFaults {
    /// True if the platform can say what happened under a key.
    pub(super) reconciles: bool,
    /// True if the platform itself carries out a key only once.
    pub(super) dedupes: bool,
    pub(super) rejects_permille: u64,
    /// Responses lost after the effect happened.
    pub(super) lost_responses_permille: u64,
    /// Requests lost before it did.
    pub(super) lost_requests_permille: u64,
    pub(super) denies_permille: u64,
    pub(super) asks_people_permille: u64,
    /// Time limit of an approval, if there is one.
    pub(super) approval_within: Option<Millis>,
    /// Effects about which everything is settled; all others are up to chance.
    pub(super) fates: BTreeMap<IdempotencyKey, SendFate>,
}

/// Knowledge of the platform about a key.
#[derive(Clone, Debug, Default)]
pub(super) struct SentOnce {
    pub(super) times: u64,
    by: Vec<SimSender>,
    pub(super) was_unknown: bool,
}

/// A request that left a process which died before it heard the answer.
#[derive(Clone, Debug)]
pub(super) struct InFlightSend {
    sender: SimSender,
    pub(super) key: IdempotencyKey,
}

/// Outcome of an attempt.
pub(super) enum SentEffect {
    /// The platform answered.
    Answered(EffectOutcome),
    /// The gateway did not let it out.
    Stopped(EffectOutcome),
}

/// Gateway and platform.
pub(super) struct SimPlatform {
    pub(super) manners: PlatformFaults,
    pub(super) bug: Option<PlantedBug>,
    pub(super) done: BTreeMap<IdempotencyKey, SentOnce>,
    pub(super) registry: KeyRegistry,
    /// Senders that cannot know whether their effect happened.
    pub(super) uncertain: BTreeSet<SimSender>,
    pub(super) flying: Vec<InFlightSend>,
    /// Requests that reached the platform's door, for the limit on tools.
    pub(super) attempts: u64,
    pub(super) late: u64,
    pub(super) unknown: u64,
    pub(super) rng: SimRng,
}

/// Tools that episodes ask for.
const TOOLS: [&str; 6] = ["post", "mail", "post", "mail", "post", "forbidden"];
/// Platforms of effects.
pub(super) const PLATFORMS: [&str; 2] = ["square", "letterbox"];

/// Digest that decisions of people are bound to.
pub(super) const BINDING: Digest = Digest([7; 32]);

impl SimPlatform {
    pub(super) fn new(manners: PlatformFaults, bug: Option<PlantedBug>, rng: SimRng) -> Self {
        Self {
            manners,
            bug,
            done: BTreeMap::new(),
            registry: KeyRegistry::default(),
            uncertain: BTreeSet::new(),
            flying: Vec::new(),
            attempts: 0,
            late: 0,
            unknown: 0,
            rng,
        }
    }

    /// Carries an effect out, if the gateway lets it pass.
    pub(super) fn attempt(&mut self, sender: &SimSender, effect: &EffectRequest) -> SentEffect {
        let key = effect.key();
        if let Err(why) = self.pass(sender, &key) {
            return SentEffect::Stopped(failed(why));
        }
        self.attempts += 1;
        let mut outcome = self.carry(sender, &key);
        if self.bug == Some(PlantedBug::SentAgainUnasked)
            && matches!(outcome, EffectOutcome::Unknown { .. })
        {
            outcome = self.carry(sender, &key);
        }
        self.say(sender, &outcome);
        SentEffect::Answered(outcome)
    }

    fn carry(&mut self, sender: &SimSender, key: &IdempotencyKey) -> EffectOutcome {
        if self.rng.chance(self.manners.rejects_permille) {
            return failed("the platform said no");
        }
        if self.rng.chance(self.manners.lost_requests_permille) {
            return self.lose(sender, key);
        }
        self.commit(sender, key);
        if self.rng.chance(self.manners.lost_responses_permille) {
            return self.lose(sender, key);
        }
        EffectOutcome::Confirmed {
            receipt: Text::new(format!("done {}", key.as_str())),
        }
    }

    fn lose(&mut self, sender: &SimSender, key: &IdempotencyKey) -> EffectOutcome {
        self.doubt(sender, key);
        EffectOutcome::Unknown {
            detail: "the line went dead".into(),
        }
    }

    /// The sender cannot know whether it happened.
    fn doubt(&mut self, sender: &SimSender, key: &IdempotencyKey) {
        self.unknown += 1;
        self.done.entry(key.clone()).or_default().was_unknown = true;
        self.uncertain.insert(sender.clone());
    }

    fn commit(&mut self, sender: &SimSender, key: &IdempotencyKey) {
        let done = self.done.entry(key.clone()).or_default();
        if self.manners.dedupes && done.times > 0 {
            return;
        }
        done.times += 1;
        done.by.push(sender.clone());
    }

    /// The sending process died with the request under way: it arrives, now or later, or never.
    /// Says whether it may still arrive.
    pub(super) fn orphan(&mut self, sender: &SimSender, effect: &EffectRequest) -> bool {
        let key = effect.key();
        let fate = self.rng.below(4);
        // Some die before the gateway's last look.
        if fate == 3 || self.pass(sender, &key).is_err() {
            return false;
        }
        self.attempts += 1;
        self.doubt(sender, &key);
        match fate {
            0 => self.commit(sender, &key),
            1 => self.flying.push(InFlightSend {
                sender: sender.clone(),
                key,
            }),
            _ => {}
        }
        !self.flying.is_empty()
    }

    /// The platform's answer is lost.
    pub(super) fn unheard(&mut self, sender: &SimSender, effect: &EffectRequest) {
        self.doubt(sender, &effect.key());
    }

    /// Something that was under way for long arrives.
    pub(super) fn land(&mut self) {
        if let Some(flying) = self.flying.pop() {
            self.late += 1;
            self.commit(&flying.sender, &flying.key);
        }
    }

    /// Asks what happened. A platform that can tell also sees to it that a late request finds the door shut.
    pub(super) fn reconcile(
        &mut self,
        sender: &SimSender,
        effect: &EffectRequest,
    ) -> EffectOutcome {
        let outcome = self.look_up(sender, effect);
        self.say(sender, &outcome);
        outcome
    }

    fn look_up(&mut self, sender: &SimSender, effect: &EffectRequest) -> EffectOutcome {
        let key = effect.key();
        if !self.manners.reconciles {
            self.doubt(sender, &key);
            return EffectOutcome::Unknown {
                detail: "the platform cannot say".into(),
            };
        }
        self.flying
            .retain(|flying| flying.key != key || flying.sender != *sender);
        let by = self.done.get(&key).map_or(&[][..], |done| &done.by);
        let is_there = match self.bug {
            Some(PlantedBug::FailedUnseen) => false,
            Some(PlantedBug::ConfirmedUnseen) => true,
            _ => by.contains(sender),
        };
        if is_there {
            EffectOutcome::Confirmed {
                receipt: Text::new(format!("found {}", key.as_str())),
            }
        } else {
            failed("the platform knows nothing of it")
        }
    }

    /// Number of times an effect happened under a key.
    pub(super) fn times(&self, key: &IdempotencyKey) -> u64 {
        self.done.get(key).map_or(0, |done| done.times)
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
pub(super) fn effect(rng: &mut SimRng) -> EffectRequest {
    EffectRequest {
        tool: rng.pick(&TOOLS).to_owned(),
        target: EffectTarget {
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
