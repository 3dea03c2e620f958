//! The budget ledger of one episode: limit, reservations, grants, leases and what was spent.

use std::collections::BTreeMap;

use crate::budget::amounts::{Amounts, Dimension};
use crate::id::{AskId, EpisodeId};

/// Share of a dimension, in percent, past which an episode may only close.
// The rest pays for what is in flight and for the one call that hands off.
pub const CLOSING_PERCENT: u64 = 70;

/// One block of a lease is this fraction of the limit, but never more than [`LEASE_CALLS_MAX`] calls.
const LEASE_FRACTION: u64 = 16;

/// Most calls leased ahead: as many replies may be forgotten in a crash and are then paid for twice.
const LEASE_CALLS_MAX: u64 = 32;

/// The dimensions of which a child gets at most half and of which 70 % is the closing mark.
pub const SHARED: [Dimension; 4] = [
    Dimension::Tokens,
    Dimension::Calls,
    Dimension::Tools,
    Dimension::Money,
];

/// Use beyond a reservation, found when it was settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservationOverrun {
    pub dimension: Dimension,
    pub reserved: u64,
    pub used: u64,
}

/// A call that may be sent: what it draws, and the lease that must be durable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseDraw {
    /// Total drawn over the episode's life, this call included.
    pub drawn: Amounts,
    /// A new lease to write down, when the present one does not reach.
    pub lease: Option<Amounts>,
}

/// The books an episode is governed by. [`Ledger`] is the one that counts; the crash simulator brings others
/// that miscount, to show that it would notice.
pub trait BudgetAccounts: Send + 'static {
    /// Opens the books. The episode itself is the first that is counted.
    fn open(limit: Amounts) -> Self
    where
        Self: Sized;

    /// The budget at the start.
    fn limit(&self) -> Amounts;

    /// Amounts that are gone for good.
    fn spent(&self) -> Amounts;

    /// Amounts that the episode's own calls and effects in flight may use.
    fn reserved(&self) -> Amounts;

    /// Amounts that are neither spent, reserved nor granted.
    fn left(&self) -> Amounts;

    /// Sets aside what a call or effect may use, and says where it does not fit.
    fn reserve(&mut self, ask: AskId, need: Amounts) -> Result<(), Dimension>;

    /// Turns a reservation into what was used; the rest is free again.
    fn settle(&mut self, ask: AskId, used: Amounts) -> Vec<ReservationOverrun>;

    /// Hands a part to a child.
    fn grant(&mut self, child: &EpisodeId, amounts: Amounts) -> Result<(), Dimension>;

    /// Takes back what the child did not use.
    fn close_grant(&mut self, child: &EpisodeId, spent: Amounts);

    /// Counts a call against the lease, extending it when needed.
    fn draw(&mut self, need: Amounts) -> LeaseDraw;

    /// Counts the lease that no call accounts for as spent.
    fn forfeit(&mut self) -> Amounts;
}

/// The books of an episode that is accounted for correctly.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    limit: Amounts,
    spent: Amounts,
    reservations: BTreeMap<AskId, Amounts>,
    reserved: Amounts,
    grants: BTreeMap<EpisodeId, Amounts>,
    granted: Amounts,
    leased: Amounts,
    drawn: Amounts,
}

impl Ledger {
    fn lease_block(&self) -> Amounts {
        let fraction = |amount: u64| amount / LEASE_FRACTION;
        let calls = fraction(self.limit.calls).clamp(1, LEASE_CALLS_MAX);
        // Tokens and money in step with the calls, so that no dimension runs out of lease long before another.
        let in_step = |amount: u64| {
            u64::try_from(
                u128::from(amount) * u128::from(calls) / u128::from(self.limit.calls.max(1)),
            )
            .unwrap_or(u64::MAX)
        };
        Amounts {
            tokens: in_step(self.limit.tokens),
            calls,
            money: crate::unit::Nanodollars(in_step(self.limit.money.0)),
            ..Amounts::ZERO
        }
    }

    fn undrawn(&self) -> Amounts {
        self.leased.minus(self.drawn)
    }
}

impl BudgetAccounts for Ledger {
    fn open(limit: Amounts) -> Self {
        Self {
            limit,
            // A grant passes episodes on, and every episode counts itself.
            spent: Amounts {
                episodes: 1,
                ..Amounts::ZERO
            },
            ..Self::default()
        }
    }

    fn limit(&self) -> Amounts {
        self.limit
    }

    fn spent(&self) -> Amounts {
        self.spent
    }

    fn reserved(&self) -> Amounts {
        self.reserved
    }

    fn left(&self) -> Amounts {
        self.limit
            .minus(self.spent)
            .minus(self.reserved)
            .minus(self.granted)
    }

    fn reserve(&mut self, ask: AskId, need: Amounts) -> Result<(), Dimension> {
        if let Some(dimension) = need.exceeds(&self.left()) {
            return Err(dimension);
        }
        self.reservations.insert(ask, need);
        self.reserved = self.reserved.plus(need);
        Ok(())
    }

    fn settle(&mut self, ask: AskId, used: Amounts) -> Vec<ReservationOverrun> {
        let Some(reserved) = self.reservations.remove(&ask) else {
            // Settled before or never reserved: nothing is paid twice.
            return Vec::new();
        };
        self.reserved = self.reserved.minus(reserved);
        self.spent = self.spent.plus(used);
        Amounts::DIMENSIONS
            .into_iter()
            .filter(|&dimension| used.get(dimension) > reserved.get(dimension))
            .map(|dimension| ReservationOverrun {
                dimension,
                reserved: reserved.get(dimension),
                used: used.get(dimension),
            })
            .collect()
    }

    fn grant(&mut self, child: &EpisodeId, amounts: Amounts) -> Result<(), Dimension> {
        if let Some(dimension) = amounts.exceeds(&self.left()) {
            return Err(dimension);
        }
        self.grants.insert(child.clone(), amounts);
        self.granted = self.granted.plus(amounts);
        // What the lease held ready beyond what is left now lies with the child. Were the lease kept whole, a
        // call could go out on what the child gives back, and after a crash the child would spend it again.
        let with_child = self.undrawn().minus(self.left());
        self.drawn = self.drawn.plus(with_child);
        Ok(())
    }

    fn close_grant(&mut self, child: &EpisodeId, spent: Amounts) {
        if let Some(granted) = self.grants.remove(child) {
            self.granted = self.granted.minus(granted);
            self.spent = self.spent.plus(spent);
        }
    }

    fn draw(&mut self, need: Amounts) -> LeaseDraw {
        // Attempts and children wait for their own records, so no crash can forget them.
        let need = Amounts {
            tools: 0,
            episodes: 0,
            ..need
        };
        self.drawn = self.drawn.plus(need);
        // Renewed long before it is used up: a commit takes as long as many calls to a fast model.
        let low = self.undrawn().zip(self.lease_block(), |undrawn, block| {
            u64::from(undrawn < block - block.div_ceil(8))
        });
        let short = self.drawn.exceeds(&self.leased).is_some();
        let lease = (short || low != Amounts::ZERO).then(|| {
            // Never more than what could still be spent: a lost lease must fit the limit. A lease that was
            // written down stands, so it only ever grows.
            let ahead = self.lease_block().min(self.left());
            self.drawn.plus(ahead).max(self.leased)
        });
        match lease {
            Some(upto) if upto != self.leased => {
                self.leased = upto;
                LeaseDraw {
                    drawn: self.drawn,
                    lease: Some(upto),
                }
            }
            _ => LeaseDraw {
                drawn: self.drawn,
                lease: None,
            },
        }
    }

    fn forfeit(&mut self) -> Amounts {
        // Forgotten calls were admitted against what was left, so no more than that can be gone.
        let lost = self.undrawn().min(self.left());
        self.spent = self.spent.plus(lost);
        // Nothing of it is left to draw on, so the next call takes a new lease.
        self.drawn = self.leased;
        lost
    }
}

/// The dimension, if any, in which spent and own in-flight amounts have crossed the closing mark.
pub fn closing(accounts: &impl BudgetAccounts) -> Option<Dimension> {
    // Without grants: what a child was given may yet come back.
    let used = accounts.spent().plus(accounts.reserved());
    crossed(used, accounts.limit())
}

/// The dimension, if any, in which `used` is at or past 70 % of `limit`.
pub fn crossed(used: Amounts, limit: Amounts) -> Option<Dimension> {
    SHARED.into_iter().find(|&dimension| {
        let (used, limit) = (used.get(dimension), limit.get(dimension));
        // A dimension without a budget would count as used up from the start.
        limit > 0 && u128::from(used) * 100 >= u128::from(limit) * u128::from(CLOSING_PERCENT)
    })
}

/// The grant of one of `siblings` children, the first of those still waiting: an equal share of what is left with one
/// share kept back, raised to `at_least` and to one call while that is no more than half, cut to `at_most`.
pub fn share(
    left: Amounts,
    siblings: u64,
    at_least: Amounts,
    at_most: Amounts,
    may_recurse: bool,
) -> Result<Amounts, Dimension> {
    let siblings = siblings.max(1);
    let itself = Amounts {
        episodes: 1,
        ..Amounts::ZERO
    };
    let one_call = Amounts {
        calls: 1,
        ..Amounts::ZERO
    };
    let one = |left: u64, least: u64| (left / (siblings + 1)).max(least.min(left / 2));
    let fair = if may_recurse {
        1 + left.episodes.saturating_sub(siblings) / (siblings + 1)
    } else {
        1
    };
    let grant = Amounts {
        episodes: fair.max(at_least.episodes.min(left.episodes)),
        ..left.zip(at_least.max(one_call), one)
    }
    .min(at_most.max(itself));
    let floor = at_least.max(itself);
    match floor.exceeds(&grant).or_else(|| grant.exceeds(&left)) {
        Some(dimension) => Err(dimension),
        None => Ok(grant),
    }
}
