//! Future events of the simulated world, in order.

use std::collections::BTreeMap;

use fathom_core::effect::{EffectOutcome, EffectRequest};
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::event::{EventKind, ModelCallOutcome, Signal};
use fathom_core::model::{ModelRequest, ModelRole};

use super::platform::SimSender;
use super::provider::CallId;

/// Something that will happen.
#[derive(Clone, Debug)]
pub(super) enum AgendaItem {
    /// A run is taken up.
    Restart,
    /// A late request reaches the platform.
    Land,
    /// An owner that was thought dead wakes up.
    Wake,
    /// Someone sends the run a signal.
    Post(Signal),
    /// Someone decides about an effect.
    Judge(SimSender),
    /// Someone interrupts the process.
    Interrupt,

    /// The log is synced.
    Commit,
    /// The owner considers letting go, because only a person can move the run.
    LetGo,
    /// Time an episode waited for.
    Tick(EpisodeId),
    /// An answer to a step that only computes.
    Answer {
        episode: EpisodeId,
        ask: AskId,
        kind: Box<EventKind>,
    },
    /// A call leaves the house.
    Send {
        id: CallId,
        model: ModelRole,
        request: ModelRequest,
    },
    /// A call is answered.
    Reply {
        id: CallId,
        outcome: ModelCallOutcome,
    },
    /// An answer arrives that came before, or that was never requested.
    Stray {
        episode: EpisodeId,
        kind: Box<EventKind>,
    },
    /// A model says a few words.
    Delta { id: CallId },
    /// An effect reaches the platform.
    Arrive {
        sender: SimSender,
        effect: EffectRequest,
    },
    /// The platform's word on an effect comes back.
    Settle {
        sender: SimSender,
        effect: EffectRequest,
        outcome: EffectOutcome,
    },
    /// A question to the platform comes back.
    Checked {
        sender: SimSender,
        effect: EffectRequest,
        outcome: EffectOutcome,
    },
}

impl AgendaItem {
    /// True if it dies with the process.
    pub(super) fn is_inside(&self) -> bool {
        match self {
            Self::Restart
            | Self::Land
            | Self::Wake
            | Self::Post(_)
            | Self::Judge(_)
            | Self::Interrupt => false,
            Self::Commit
            | Self::LetGo
            | Self::Tick(_)
            | Self::Answer { .. }
            | Self::Send { .. }
            | Self::Reply { .. }
            | Self::Stray { .. }
            | Self::Delta { .. }
            | Self::Arrive { .. }
            | Self::Settle { .. }
            | Self::Checked { .. } => true,
        }
    }

    /// True if it happens at another party and costs something.
    pub(super) fn is_costly(&self) -> bool {
        self.is_work() && !matches!(self, Self::Commit | Self::Answer { .. })
    }

    /// True if it is work under way, which ends without help.
    pub(super) fn is_work(&self) -> bool {
        self.is_inside()
            && !matches!(
                self,
                Self::Tick(_) | Self::LetGo | Self::Stray { .. } | Self::Delta { .. }
            )
    }
}

/// Time of an event; those planned first come first.
pub(super) type SimMoment = (u64, u64);

/// Everything under way.
#[derive(Default)]
pub(super) struct SimAgenda {
    items: BTreeMap<SimMoment, AgendaItem>,
    planned: u64,
}

impl SimAgenda {
    pub(super) fn plan(&mut self, at: u64, item: AgendaItem) -> SimMoment {
        self.planned += 1;
        let moment = (at, self.planned);
        self.items.insert(moment, item);
        moment
    }

    pub(super) fn next(&mut self) -> Option<(SimMoment, AgendaItem)> {
        self.items.pop_first()
    }

    pub(super) fn put_back(&mut self, moment: SimMoment, item: AgendaItem) {
        self.items.insert(moment, item);
    }

    pub(super) fn cancel(&mut self, moment: SimMoment) -> Option<AgendaItem> {
        self.items.remove(&moment)
    }

    pub(super) fn has(&self, is_wanted: impl Fn(&AgendaItem) -> bool) -> bool {
        self.items.values().any(is_wanted)
    }

    /// Takes out what dies with the process.
    pub(super) fn drain_inside(&mut self) -> Vec<AgendaItem> {
        let items = std::mem::take(&mut self.items);
        let (inside, outside): (Vec<_>, Vec<_>) =
            items.into_iter().partition(|(_, item)| item.is_inside());
        self.items = outside.into_iter().collect();
        inside.into_iter().map(|(_, item)| item).collect()
    }
}
