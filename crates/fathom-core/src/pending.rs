//! Asks that are not settled yet.

use crate::amounts::Amounts;
use crate::command::Command;
use crate::effect::{ApprovalTerms, EffectRequest, EffectState};
use crate::event::Started;
use crate::governor::Packing;
use crate::id::EpisodeId;
use crate::model::{Measured, ModelRole, Request};
use crate::packet::Meta;
use crate::program::OnOutage;
use crate::recursion::{Class, SpawnRequest};
use crate::stop::Refusal;
use crate::unit::Timestamp;

/// One try at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Try {
    /// Names the attempt within its call, for good.
    pub(crate) number: u16,
    /// Tries since the call was asked for or the run was resumed.
    pub(crate) tries: u16,
}

impl Try {
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
    pub(crate) request: Request,
    pub(crate) output_tokens_min: u32,
    pub(crate) on_outage: OnOutage,
    pub(crate) may_close: bool,
    pub(crate) meta: Meta,
}

/// An ask between being asked and being settled.
#[derive(Clone, Debug)]
pub(crate) enum Pending {
    /// A call whose packet is being packed.
    Packing(Box<Packing>),
    /// A measured call that waits for budget.
    HeldCall {
        ask: PackedCall,
        measured: Measured,
        attempt: Try,
        not_before: Option<Timestamp>,
    },
    /// A call that may be on the wire.
    Calling {
        ask: PackedCall,
        measured: Measured,
        attempt: Try,
        reserved: Amounts,
    },
    /// A call that may be on the wire and that nobody wants any more.
    GivenUp {
        measured: Measured,
        attempt: Try,
        reserved: Amounts,
    },
    /// A call that nobody could answer; it waits until the run is resumed.
    Stalled {
        ask: PackedCall,
        measured: Measured,
        attempt: Try,
    },
    /// A child that waits for budget, with the number of siblings still waiting, itself included.
    HeldChild {
        request: Box<SpawnRequest>,
        siblings: u64,
    },
    /// A child that runs.
    Child {
        child: EpisodeId,
        class: Class,
        started: Box<Started>,
    },
    /// An effect, from waiting for budget to its end.
    Effect {
        request: EffectRequest,
        state: EffectState,
        /// On what terms a person may say yes, while one is waited for.
        terms: Option<Box<ApprovalTerms>>,
    },
    /// Something the host does that costs no budget.
    Host(Command),
    /// A refusal on its way into the journal.
    Refusing(Refusal),
}

impl Pending {
    /// Whether its end may free budget for asks that wait.
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

    /// Whether it waits for what is in flight to settle, or for an errand that may do so.
    pub(crate) fn is_held(&self) -> bool {
        match self {
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

    /// Whether only a person can move it on.
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
