//! Bugs to plant, to show that the simulator would find them. None of them lives outside this crate.

use fathom_core::amounts::{Amounts, Dimension};
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::ledger::{Accounts, Draw, Ledger, Overrun};

/// A mistake that someone could make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bug {
    /// The disk says that it synced, and did not.
    SkippedFsync,
    /// A new owner trusts what it reads and does not sync it before it acts on it.
    UnsyncedTakeOver,
    /// A new owner counts one record too few and writes its number again.
    SequenceReused,
    /// Recovery decodes frames and does not look at the chain.
    ChainUnchecked,
    /// An owner that was thought dead goes on writing.
    OwnerNotFenced,
    /// The host reports an intent as durable when it is only appended.
    EffectBeforeIntent,
    /// The host shows the result as soon as it is known.
    AnswerBeforeDurable,
    /// The host sometimes forgets to say that the log is durable.
    WakeUpLost,
    /// An earlier attempt's answer is taken for the present one's.
    AttemptMixedUp,
    /// The registry of idempotency keys is only in memory.
    ClaimForgotten,
    /// A settled call counts twice.
    SettleTwice,
    /// What a child did not use is not given back.
    GrantKept,
    /// A child gets two thirds of what is left.
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
pub(super) struct Miscounting<const FAULT: u8>(Ledger);

impl<const FAULT: u8> Accounts for Miscounting<FAULT> {
    fn open(limit: Amounts) -> Self {
        Self(Ledger::open(limit))
    }

    fn limit(&self) -> Amounts {
        self.0.limit()
    }

    fn spent(&self) -> Amounts {
        self.0.spent()
    }

    fn reserved(&self) -> Amounts {
        self.0.reserved()
    }

    fn left(&self) -> Amounts {
        let left = self.0.left();
        if FAULT == CHILD_TOO_RICH {
            left.zip(left, |left, _| left.saturating_add(left / 3))
        } else {
            left
        }
    }

    fn reserve(&mut self, ask: AskId, need: Amounts) -> Result<(), Dimension> {
        self.0.reserve(ask, need)
    }

    fn settle(&mut self, ask: AskId, used: Amounts) -> Vec<Overrun> {
        let overruns = self.0.settle(ask, used);
        if FAULT == SETTLE_TWICE && self.0.reserve(ask, used).is_ok() {
            self.0.settle(ask, used);
        }
        overruns
    }

    fn grant(&mut self, child: &EpisodeId, amounts: Amounts) -> Result<(), Dimension> {
        self.0.grant(child, amounts)
    }

    fn close_grant(&mut self, child: &EpisodeId, spent: Amounts) {
        if FAULT != GRANT_KEPT {
            self.0.close_grant(child, spent);
        }
    }

    fn draw(&mut self, need: Amounts) -> Draw {
        self.0.draw(need)
    }

    fn forfeit(&mut self) -> Amounts {
        if FAULT == FORFEIT_SKIPPED {
            Amounts::ZERO
        } else {
            self.0.forfeit()
        }
    }
}
