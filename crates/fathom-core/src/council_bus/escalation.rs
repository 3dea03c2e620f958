//! Calls for Prime's attention.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::envelope::MessageId;
use crate::packet::PacketRisk;
use crate::unit::PerMille;

/// Below this, in thousandths, a role is not sure enough.
pub const CONFIDENCE_MIN: u16 = 300;

/// So many interrupts in a row are too many.
pub const INTERRUPTS_MAX: u32 = 3;

/// Reasons to call for Prime's attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EscalationCause {
    /// Much is at stake.
    HighRisk,
    /// A role is hardly sure of what it says.
    LowConfidence,
    /// The observer interrupted again and again.
    Interrupts,
}

impl fmt::Display for EscalationCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HighRisk => f.write_str("the risk is high"),
            Self::LowConfidence => f.write_str("confidence is under 0.3"),
            Self::Interrupts => write!(f, "{INTERRUPTS_MAX} interrupts in a row"),
        }
    }
}

/// Raises every cause once for each matter.
#[derive(Clone, Debug, Default)]
pub struct EscalationTracker {
    raised: BTreeSet<(MessageId, EscalationCause)>,
}

impl EscalationTracker {
    /// The causes that a message about `matter` gives and that were not raised before.
    pub fn look(
        &mut self,
        matter: MessageId,
        risk: PacketRisk,
        confidence: Option<PerMille>,
    ) -> Vec<EscalationCause> {
        let is_unsure = confidence.is_some_and(|confidence| confidence.get() < CONFIDENCE_MIN);
        [
            (risk == PacketRisk::High, EscalationCause::HighRisk),
            (is_unsure, EscalationCause::LowConfidence),
        ]
        .into_iter()
        .filter(|(is_so, cause)| *is_so && self.raise(matter, *cause))
        .map(|(_, cause)| cause)
        .collect()
    }

    /// Raises a cause; false when it was raised before.
    pub fn raise(&mut self, matter: MessageId, cause: EscalationCause) -> bool {
        self.raised.insert((matter, cause))
    }
}

/// Counts interrupts in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterruptCounter(u32);

impl InterruptCounter {
    /// The observer interrupted; says so when the row has just become too long.
    pub const fn interrupted(&mut self) -> Option<EscalationCause> {
        self.0 = self.0.saturating_add(1);
        // Equal, not more: one row is raised once.
        if self.0 == INTERRUPTS_MAX {
            Some(EscalationCause::Interrupts)
        } else {
            None
        }
    }

    /// Something came through without an interrupt: the row begins anew.
    pub const fn passed(&mut self) {
        self.0 = 0;
    }
}
