//! Invariants by name.

use std::fmt;

/// A rule that the simulated world checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SimInvariant {
    /// Every record acknowledged as durable is there after every crash.
    AcknowledgedIsKept,
    /// Every chain of the journal verifies from its first record to its last.
    ChainVerifies,
    /// Records are numbered without gaps and repeats.
    Sequence,
    /// Folding the journal again gives the commands that it holds.
    RefoldAgrees,
    /// An effect happens at most once, unless it was unknown and a person let it go again.
    EffectOnce,
    /// Everything that was allowed and wanted until it is there is there in the end, and what was denied is not.
    NothingLost,
    /// An effect in doubt goes through `unknown` and a question to the platform to its end.
    UnknownIsAsked,
    /// A key is free again only when its effect certainly did not happen.
    ClaimStays,
    /// An effect that a person must allow goes out on an approval that was given to it, in time and once.
    ApprovalHolds,
    /// An effect is sent only after its intent is durable.
    IntentFirst,
    /// An effect is sent only after a recorded decision that allows it.
    DecisionFirst,
    /// Effects that the kill switch covers are not sent.
    KillSwitch,
    /// The bill of the provider is within the limit.
    BillWithinLimit,
    /// The bill of the provider is covered by the books at every moment.
    BooksCoverBill,
    /// The books say what the journal says: own use, children's use, reservations and grants.
    BooksAgree,
    /// Past 70 % of a dimension there is one closing call, and neither children nor effects.
    ClosingRule,
    /// A call that was given up is not made again.
    GivenUpStays,
    /// A child gets at most half of what is left.
    HalfRule,
    /// No reservation, grant or owed record is open when an episode finishes.
    NothingOpenAtFinish,
    /// A call goes out only under a lease that is durable.
    LeaseFirst,
    /// Tool calls stay within their limit.
    ToolsWithinLimit,
    /// Episodes stay within their limit.
    EpisodesWithinLimit,
    /// No new work once the time is up.
    DeadlineHolds,
    /// A reply that is durable is never asked for again.
    NeverAskedAgain,
    /// A call's folded answer is that call's answer, once.
    AnswersBelong,
    /// Every refused ask, overrun and forfeit leaves its event.
    NothingUnsaid,
    /// Blocks and results that are shown are durable.
    ShownIsDurable,
    /// The host is asked for one thing once at a time.
    AskedOnce,
    /// Something is always under way until the run is over or waits for a person.
    Progress,
}

/// A rule that was broken, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvariantViolation {
    pub invariant: SimInvariant,
    pub detail: String,
}

impl InvariantViolation {
    pub(super) fn new(invariant: SimInvariant, detail: impl Into<String>) -> Self {
        Self {
            invariant,
            detail: detail.into(),
        }
    }
}

impl fmt::Display for InvariantViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.invariant, self.detail)
    }
}

/// Fails with `invariant` unless `holds`.
pub(super) fn ensure(
    holds: bool,
    invariant: SimInvariant,
    detail: impl FnOnce() -> String,
) -> Result<(), InvariantViolation> {
    if holds {
        Ok(())
    } else {
        Err(InvariantViolation::new(invariant, detail()))
    }
}
