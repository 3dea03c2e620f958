//! Asks that are not settled yet.

use std::collections::BTreeMap;

use crate::budget::amounts::Amounts;
use crate::contract::spawn::{SpawnClass, SpawnRequest};
use crate::contract::stop::Refusal;
use crate::effect::{ApprovalTerms, EffectRequest, EffectState};
use crate::episode::program::OnOutage;
use crate::governor::PackingCall;
use crate::id::{AskId, EpisodeId};
use crate::journal::command::Command;
use crate::journal::event::EpisodeSpec;
use crate::model::{ModelRequest, ModelRole, RequestEstimate};
use crate::packet::PacketMeta;
use crate::unit::Timestamp;

/// One try at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// Names the attempt within its call, for good.
    pub(crate) number: u16,
    /// Tries since the call was asked for or the run was resumed.
    pub(crate) tries: u16,
}

impl Attempt {
    pub(crate) const FIRST: Self = Self {
        number: 1,
        tries: 1,
    };

    /// After a failure.
    pub(crate) const fn again(self) -> Self {
        Self {
            number: self.number.saturating_add(1),
            tries: self.tries.saturating_add(1),
        }
    }

    /// After a new owner took over.
    pub(crate) const fn afresh(self) -> Self {
        Self {
            number: self.number.saturating_add(1),
            tries: 1,
        }
    }
}

/// A model call whose request fits.
#[derive(Clone, Debug)]
pub(crate) struct PackedCall {
    pub(crate) model: ModelRole,
    pub(crate) request: ModelRequest,
    pub(crate) output_tokens_min: u32,
    pub(crate) on_outage: OnOutage,
    pub(crate) may_close: bool,
    pub(crate) meta: PacketMeta,
}

/// An ask between being asked and being settled.
#[derive(Clone, Debug)]
pub(crate) enum PendingAsk {
    /// A call whose packet is being packed.
    Packing(Box<PackingCall>),
    /// A measured call that waits for budget.
    HeldCall {
        ask: PackedCall,
        measured: RequestEstimate,
        attempt: Attempt,
        not_before: Option<Timestamp>,
    },
    /// A call that may be on the wire.
    Calling {
        ask: PackedCall,
        measured: RequestEstimate,
        attempt: Attempt,
        reserved: Amounts,
    },
    /// A call that may be on the wire and that nobody wants any more.
    GivenUp {
        measured: RequestEstimate,
        attempt: Attempt,
        reserved: Amounts,
    },
    /// A call whose model cannot be reached; it waits until the run is resumed.
    Stalled {
        ask: PackedCall,
        measured: RequestEstimate,
        attempt: Attempt,
    },
    /// A child that waits for budget, with the number of siblings still waiting, itself included.
    HeldChild {
        request: Box<SpawnRequest>,
        siblings: u64,
    },
    /// A child that runs.
    Child {
        child: EpisodeId,
        class: SpawnClass,
        started: Box<EpisodeSpec>,
    },
    /// An effect, from waiting for budget to its end.
    Effect {
        request: EffectRequest,
        state: EffectState,
        /// The terms of an approval, while one is waited for.
        terms: Option<Box<ApprovalTerms>>,
    },
    /// Something the host does that costs no budget.
    Host(Command),
    /// A refusal on its way into the journal.
    Refusing(Refusal),
}

impl PendingAsk {
    /// True if its end may free budget for asks that wait.
    pub(crate) const fn is_in_flight(&self) -> bool {
        match self {
            Self::Calling { .. } | Self::GivenUp { .. } | Self::Child { .. } => true,
            Self::Effect { state, .. } => !matches!(state, EffectState::Queued),
            Self::Packing(_)
            | Self::HeldCall { .. }
            | Self::Stalled { .. }
            | Self::HeldChild { .. }
            | Self::Host(_)
            | Self::Refusing(_) => false,
        }
    }

    /// True for a call that was sent, whatever came of it.
    pub(crate) const fn was_sent(&self) -> bool {
        match self {
            Self::Calling { .. } | Self::GivenUp { .. } | Self::Stalled { .. } => true,
            // Held again after a failure: the attempt before was on the wire.
            Self::HeldCall { attempt, .. } => attempt.number > 1,
            Self::Packing(_)
            | Self::HeldChild { .. }
            | Self::Child { .. }
            | Self::Effect { .. }
            | Self::Host(_)
            | Self::Refusing(_) => false,
        }
    }

    /// True if it waits for what is in flight to settle, or for an errand that may do so.
    pub(crate) fn is_held(&self) -> bool {
        match self {
            // Other packings wait for the host, which answers by itself.
            Self::Packing(packing) => packing.errand().is_some(),
            Self::HeldCall { .. } | Self::HeldChild { .. } => true,
            Self::Effect { state, .. } => matches!(state, EffectState::Queued),
            Self::Calling { .. }
            | Self::GivenUp { .. }
            | Self::Stalled { .. }
            | Self::Child { .. }
            | Self::Host(_)
            | Self::Refusing(_) => false,
        }
    }

    /// True if only a person can move it on.
    pub(crate) const fn waits_for_person(&self) -> bool {
        matches!(
            self,
            Self::Stalled { .. }
                | Self::Effect {
                    state: EffectState::AwaitingApproval,
                    ..
                }
        )
    }
}

/// The asks that are not settled yet, in their order. It keeps count of those in flight: that is asked for each of many
/// thousands that are refused together.
#[derive(Clone, Debug, Default)]
pub(crate) struct PendingAsks {
    asks: BTreeMap<AskId, PendingAsk>,
    in_flight: usize,
}

impl PendingAsks {
    pub(crate) const fn new() -> Self {
        Self {
            asks: BTreeMap::new(),
            in_flight: 0,
        }
    }

    /// True if the end of any of them may free budget for asks that wait.
    pub(crate) const fn any_in_flight(&self) -> bool {
        self.in_flight > 0
    }

    pub(crate) fn get(&self, id: AskId) -> Option<&PendingAsk> {
        self.asks.get(&id)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = AskId> {
        self.asks.keys().copied()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &PendingAsk> {
        self.asks.values()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&AskId, &PendingAsk)> {
        self.asks.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.asks.is_empty()
    }

    pub(crate) fn insert(&mut self, id: AskId, pending: PendingAsk) {
        self.in_flight += usize::from(pending.is_in_flight());
        let before = self.asks.insert(id, pending);
        self.count_off(before.as_ref());
    }

    pub(crate) fn remove(&mut self, id: AskId) -> Option<PendingAsk> {
        let removed = self.asks.remove(&id);
        self.count_off(removed.as_ref());
        removed
    }

    /// Changes one of them in its place.
    pub(crate) fn change<T>(
        &mut self,
        id: AskId,
        with: impl FnOnce(&mut PendingAsk) -> T,
    ) -> Option<T> {
        let pending = self.asks.get_mut(&id)?;
        let before = pending.is_in_flight();
        let made = with(pending);
        let after = pending.is_in_flight();
        self.in_flight = self.in_flight + usize::from(after) - usize::from(before);
        Some(made)
    }

    pub(crate) fn retain(&mut self, keep: impl FnMut(&AskId, &mut PendingAsk) -> bool) {
        self.asks.retain(keep);
        // Counted anew: `keep` does not tell what it removed.
        self.in_flight = self.asks.values().filter(|p| p.is_in_flight()).count();
    }

    fn count_off(&mut self, gone: Option<&PendingAsk>) {
        self.in_flight -= usize::from(gone.is_some_and(PendingAsk::is_in_flight));
    }
}
