//! An assembly of roles: a fold over messages that knows who is active and what becomes of motions.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::envelope::{Envelope, HeartbeatState, MessageId, MessageType, MotionVote};
use super::motion::{
    DeferralReason, MotionDecider, MotionOutcome, MotionRuling, QUORUM, RoleVote, VoteCount,
};
use super::role::CouncilRole;
use crate::unit::{Millis, Timestamp};

/// Reasons why a message changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageRejection {
    /// It was taken before.
    #[error("message {0} came before")]
    Repeated(MessageId),
    /// It votes on something that is not a motion here.
    #[error("there is no such motion")]
    NoMotion,
    /// The motion is closed.
    #[error("the motion is closed")]
    Closed,
    /// The motion's time is up.
    #[error("the motion's time is up")]
    Late,
    /// The role has no vote here.
    #[error("{0} has no seat")]
    NoSeat(CouncilRole),
    /// The role voted before, and its first vote stands.
    #[error("{0} voted before, and that vote stands")]
    SecondVote(CouncilRole),
    /// Its content says nothing that its type allows, or cannot be read.
    #[error("the message cannot be read")]
    Unreadable,
}

#[derive(Clone, Debug)]
struct OpenMotion {
    deadline: Timestamp,
    votes: BTreeMap<CouncilRole, RoleVote>,
    outcome: Option<MotionOutcome>,
}

/// Roles that vote on motions.
#[derive(Clone, Debug)]
pub struct RoleAssembly {
    seats: BTreeSet<CouncilRole>,
    inactive: BTreeSet<CouncilRole>,
    open_for: Millis,
    motions: BTreeMap<MessageId, OpenMotion>,
    taken: BTreeSet<MessageId>,
}

impl RoleAssembly {
    /// An assembly of these roles, all of them active, where a motion is open for so long at most.
    pub fn new(seats: impl IntoIterator<Item = CouncilRole>, open_for: Millis) -> Self {
        Self {
            seats: seats.into_iter().collect(),
            inactive: BTreeSet::new(),
            open_for,
            motions: BTreeMap::new(),
            taken: BTreeSet::new(),
        }
    }

    /// Takes in a message that came at this moment.
    ///
    /// A vote and a heartbeat are signs of life of their role; what an episode reports in a role's name is not.
    pub fn take(&mut self, envelope: &Envelope, at: Timestamp) -> Result<(), MessageRejection> {
        if !self.taken.insert(envelope.msg_id) {
            return Err(MessageRejection::Repeated(envelope.msg_id));
        }
        match envelope.kind {
            MessageType::Proposal => {
                let motion = OpenMotion {
                    deadline: at.plus(self.open_for),
                    votes: BTreeMap::new(),
                    outcome: None,
                };
                self.motions.insert(envelope.msg_id, motion);
                Ok(())
            }
            MessageType::Vote => self.vote(envelope, at),
            MessageType::Heartbeat => match HeartbeatState::read(envelope.content.as_str()) {
                Some(HeartbeatState::Active) => {
                    self.inactive.remove(&envelope.role);
                    Ok(())
                }
                Some(HeartbeatState::Inactive) => {
                    self.inactive.insert(envelope.role);
                    Ok(())
                }
                None => Err(MessageRejection::Unreadable),
            },
            MessageType::Info | MessageType::Escalation => Ok(()),
        }
    }

    fn vote(&mut self, envelope: &Envelope, at: Timestamp) -> Result<(), MessageRejection> {
        let role = envelope.role;
        // Even a vote that does not count shows that its role is alive.
        self.inactive.remove(&role);
        let motion = envelope
            .parent_id
            .and_then(|motion| self.motions.get_mut(&motion))
            .ok_or(MessageRejection::NoMotion)?;
        if motion.outcome.is_some() {
            return Err(MessageRejection::Closed);
        }
        // By the clock of who takes it in. The time in the envelope is the sender's word.
        if at > motion.deadline {
            return Err(MessageRejection::Late);
        }
        if !self.seats.contains(&role) {
            return Err(MessageRejection::NoSeat(role));
        }
        if motion.votes.contains_key(&role) {
            return Err(MessageRejection::SecondVote(role));
        }
        let ballot =
            MotionVote::read(envelope.content.as_str()).ok_or(MessageRejection::Unreadable)?;
        motion.votes.insert(
            role,
            RoleVote {
                message: envelope.msg_id,
                ballot,
                confidence: envelope.confidence,
            },
        );
        Ok(())
    }

    /// The roles that are active.
    pub fn active(&self) -> impl Iterator<Item = CouncilRole> {
        self.seats.difference(&self.inactive).copied()
    }

    /// True while this role is active.
    pub fn is_active(&self, role: CouncilRole) -> bool {
        self.seats.contains(&role) && !self.inactive.contains(&role)
    }

    /// Number of distinct roles that must vote: two, or as many as are active.
    pub fn quorum(&self) -> usize {
        QUORUM.min(self.active().count())
    }

    /// The latest moment at which this motion closes.
    pub fn deadline(&self, motion: MessageId) -> Option<Timestamp> {
        self.motions.get(&motion).map(|motion| motion.deadline)
    }

    /// The votes on this motion so far.
    pub fn votes(&self, motion: MessageId) -> Option<&BTreeMap<CouncilRole, RoleVote>> {
        self.motions.get(&motion).map(|motion| &motion.votes)
    }

    /// Closes a motion and says what becomes of it. A motion that is closed stays as it was ruled.
    pub fn close(&mut self, motion: MessageId) -> Option<&MotionOutcome> {
        let active: Vec<CouncilRole> = self.active().collect();
        let quorum = self.quorum();
        let found = self.motions.get_mut(&motion)?;
        let votes = &found.votes;
        // Ruled once: roles that fall silent or come back later must not change what was decided.
        Some(found.outcome.get_or_insert_with(|| MotionOutcome {
            motion,
            ruling: rule(votes, active.len(), quorum),
            count: VoteCount::of(votes),
            votes: votes.clone(),
            active,
            quorum,
        }))
    }
}

/// Rules on a motion by the votes cast.
fn rule(votes: &BTreeMap<CouncilRole, RoleVote>, active: usize, quorum: usize) -> MotionRuling {
    // Before the count: one role alone must not decide, not even unanimously.
    if active < QUORUM {
        let why = DeferralReason::TooFewActive { active };
        return MotionRuling::ForPerson { why };
    }
    let count = VoteCount::of(votes);
    if count.cast() < quorum {
        let why = DeferralReason::NoQuorum {
            voted: count.cast(),
            quorum,
        };
        return MotionRuling::ForPerson { why };
    }
    let prime = votes.get(&CouncilRole::Prime).map(|cast| cast.ballot);
    match (count.yes.cmp(&count.no), prime) {
        (Ordering::Greater, _) => MotionRuling::Carried {
            by: MotionDecider::Majority,
        },
        (Ordering::Less, _) => MotionRuling::Defeated {
            by: MotionDecider::Majority,
        },
        (Ordering::Equal, Some(MotionVote::Yes)) => MotionRuling::Carried {
            by: MotionDecider::Prime,
        },
        (Ordering::Equal, Some(MotionVote::No)) => MotionRuling::Defeated {
            by: MotionDecider::Prime,
        },
        (Ordering::Equal, Some(MotionVote::Abstain) | None) => MotionRuling::ForPerson {
            why: DeferralReason::Tie,
        },
    }
}
