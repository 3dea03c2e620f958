//! Configuration of one seat.

use serde::{Deserialize, Serialize};

use super::program::NAME;
use crate::council::config::{CouncilConfig, CouncilSeat, SUB_CHIEFS_MAX};
use crate::council::seat_panel::touched;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::unit::Millis;

/// Configuration of the `chief` program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::council) struct ChiefBrief {
    pub(in crate::council) seat: CouncilSeat,
    /// Its path, as `IT/security`.
    pub(in crate::council) path: String,
    /// Levels of sub-chiefs it may still ask.
    pub(in crate::council) levels: u8,
    /// Paths of the seats that the question touches.
    pub(in crate::council) touched: Vec<String>,
    /// The rules of the council; its chiefs and its detector are left out.
    pub(in crate::council) rules: CouncilConfig,
}

impl ChiefBrief {
    /// The specification of a seat with this brief.
    pub(in crate::council) fn spec(&self) -> ProgramSpec {
        ProgramSpec::new(NAME, self)
    }

    /// The sub-chiefs that it will ask.
    pub(in crate::council) fn relevant(&self) -> Vec<&CouncilSeat> {
        if self.levels == 0 {
            return Vec::new();
        }
        // A brief is read without the checks of a council's configuration, so the hard cap is applied here.
        let most = self.rules.sub_chiefs_max.min(SUB_CHIEFS_MAX);
        touched(&self.seat, &self.path, &self.touched, most.into())
    }

    /// The brief of a sub-chief.
    fn of(&self, seat: &CouncilSeat) -> Self {
        Self {
            seat: seat.clone(),
            path: format!("{}/{}", self.path, seat.id),
            levels: self.levels.saturating_sub(1),
            touched: self.touched.clone(),
            rules: self.rules.clone(),
        }
    }

    /// Briefs of the sub-chiefs that it will ask.
    pub(in crate::council) fn subs(&self) -> Vec<Self> {
        self.relevant()
            .into_iter()
            .map(|sub| self.of(sub))
            .collect()
    }

    /// Episodes that it takes, its own included.
    pub(in crate::council) fn episodes(&self) -> u64 {
        1 + self.subs().iter().map(Self::episodes).sum::<u64>()
    }

    /// Levels below it that will be asked.
    fn height(&self) -> u64 {
        let below = self.subs();
        below.iter().map(|sub| 1 + sub.height()).max().unwrap_or(0)
    }

    /// The time it may take: its own vote and those below it, with a tenth of what its asker has kept back so that
    /// the asker can still decide.
    pub(in crate::council) fn time_max(&self, left: Millis) -> Millis {
        let own = self.rules.voter_time.0.saturating_mul(1 + self.height());
        Millis(own.min(left.0 - left.0 / 10))
    }
}
