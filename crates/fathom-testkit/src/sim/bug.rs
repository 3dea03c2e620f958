//! Bugs to plant, to show that the simulator would find them. None of them lives outside this crate.

use std::cell::Cell;

use fathom_core::budget::amounts::{Amounts, Dimension};
use fathom_core::budget::ledger::{BudgetAccounts, LeaseDraw, Ledger, ReservationOverrun};
use fathom_core::episode::program::{Program, ProgramError, ProgramFactory};
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::event::ProgramSpec;

use crate::drill::{self, DrillPrograms};

/// A mistake that someone could make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlantedBug {
    /// The disk says that it synced, and did not.
    SkippedFsync,
    /// A new owner trusts what it reads and does not sync it before it acts on it.
    UnsyncedTakeOver,
    /// A new owner counts one record too few and writes its number again.
    SequenceReused,
    /// Recovery decodes frames and does not look at the chain.
    ChainUnchecked,
    /// An owner that was considered dead continues to write.
    OwnerNotFenced,
    /// The host reports an intent as durable when it is only appended.
    EffectBeforeIntent,
    /// The host reports a lease as durable when it is only appended.
    CallBeforeLease,
    /// The host sometimes carries out a step twice.
    StepTwice,
    /// A program does something else after an update, in the middle of a run.
    ProgramChanged,
    /// The host shows the result as soon as it is known.
    AnswerBeforeDurable,
    /// The host sometimes forgets to say that the log is durable.
    WakeUpLost,
    /// An earlier attempt's answer is taken for the present one's.
    AttemptMixedUp,
    /// The registry of idempotency keys is only in memory.
    ClaimForgotten,
    /// A key is claimed when its effect is allowed, though a crash may take the record of who wanted it.
    ClaimBeforeIntent,
    /// The key of an effect is released while its outcome is unknown.
    ClaimFreedOnUnknown,
    /// The key of an effect that certainly failed is never given free.
    ClaimKept,
    /// Asked what happened, the platform says without looking that nothing did.
    FailedUnseen,
    /// Asked what happened, the platform says without looking that all did.
    ConfirmedUnseen,
    /// The gateway tries again when the answer is lost.
    SentAgainUnasked,
    /// The gateway takes a lost answer for a no.
    TimeoutTakenForFailure,
    /// The gateway takes a lost answer for a success.
    TimeoutTakenForSuccess,
    /// The gateway keeps an approval that was used up, and lets the same effect pass on it once more.
    ApprovalUsedTwice,
    /// A settled call counts twice.
    SettleTwice,
    /// The unused part of a child's grant is not returned.
    GrantKept,
    /// A child gets a part of more than there is.
    ChildTooRich,
    /// After a crash the lease counts for nothing.
    ForfeitSkipped,
}

/// A settled call counts twice.
pub(super) const SETTLE_TWICE: u8 = 0;
/// A grant is never closed.
pub(super) const GRANT_KEPT: u8 = 1;
/// More is left than there is, when a child is to get its share.
pub(super) const CHILD_TOO_RICH: u8 = 2;
/// A lost lease is not counted.
pub(super) const FORFEIT_SKIPPED: u8 = 3;

/// A ledger that miscounts.
pub(super) struct MiscountingBug<const FAULT: u8> {
    ledger: Ledger,
    /// True if the governor last asked for the limit. It asks before it shares, and only then does the planted bug
    /// report more than is left; an auditor who looks at everything sees nothing wrong.
    is_sharing: Cell<bool>,
}

impl<const FAULT: u8> BudgetAccounts for MiscountingBug<FAULT> {
    fn open(limit: Amounts) -> Self {
        Self {
            ledger: Ledger::open(limit),
            is_sharing: Cell::new(false),
        }
    }

    fn limit(&self) -> Amounts {
        self.is_sharing.set(true);
        self.ledger.limit()
    }

    fn spent(&self) -> Amounts {
        self.is_sharing.set(false);
        self.ledger.spent()
    }

    fn reserved(&self) -> Amounts {
        self.is_sharing.set(false);
        self.ledger.reserved()
    }

    fn left(&self) -> Amounts {
        let left = self.ledger.left();
        if FAULT == CHILD_TOO_RICH && self.is_sharing.get() {
            left.zip(left, |left, _| left.saturating_add(left / 3))
        } else {
            left
        }
    }

    fn reserve(&mut self, ask: AskId, need: Amounts) -> Result<(), Dimension> {
        self.ledger.reserve(ask, need)
    }

    fn settle(&mut self, ask: AskId, used: Amounts) -> Vec<ReservationOverrun> {
        let overruns = self.ledger.settle(ask, used);
        if FAULT == SETTLE_TWICE && self.ledger.reserve(ask, used).is_ok() {
            self.ledger.settle(ask, used);
        }
        overruns
    }

    fn grant(&mut self, child: &EpisodeId, amounts: Amounts) -> Result<(), Dimension> {
        self.ledger.grant(child, amounts)
    }

    fn close_grant(&mut self, child: &EpisodeId, spent: Amounts) {
        if FAULT != GRANT_KEPT {
            self.ledger.close_grant(child, spent);
        }
    }

    fn draw(&mut self, need: Amounts) -> LeaseDraw {
        self.ledger.draw(need)
    }

    fn forfeit(&mut self) -> Amounts {
        if FAULT == FORFEIT_SKIPPED {
            Amounts::ZERO
        } else {
            self.ledger.forfeit()
        }
    }
}

/// Programs after an update: drills ask for one token more.
pub(super) struct ChangedPrograms;

impl ProgramFactory for ChangedPrograms {
    fn build(&self, spec: &ProgramSpec) -> Result<Box<dyn Program>, ProgramError> {
        match serde_json::from_str::<drill::DrillConfig>(spec.params.as_str()) {
            Ok(params) if spec.name == drill::NAME => {
                let output_tokens_max = params.output_tokens_max + 1;
                let changed = drill::DrillConfig {
                    output_tokens_max,
                    ..params
                };
                DrillPrograms.build(&changed.spec())
            }
            _ => DrillPrograms.build(spec),
        }
    }
}
