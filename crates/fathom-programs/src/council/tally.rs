//! From many votes to one: weighed by confidence, the heaviest wins, a tie abstains.

use serde::{Deserialize, Serialize};

use super::report::SeatReport;
use super::vote::Vote;
use fathom_core::unit::PerMille;

/// A vote as it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeightedVote {
    pub vote: Vote,
    pub confidence: PerMille,
}

/// Result of weighing votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteTally {
    /// The heaviest vote; to abstain when there is none.
    pub vote: Vote,
    /// Mean confidence of those who agree; nothing when nobody does.
    pub confidence: PerMille,
    /// Their share of the weight.
    pub agreement: PerMille,
    /// True for an abstention because no vote outweighs all others.
    pub tied: bool,
}

/// Weighs votes; nothing when there are none. All is done in integers, so no order of votes gives another result.
pub fn tally(votes: &[WeightedVote]) -> Option<VoteTally> {
    if votes.is_empty() {
        return None;
    }
    let vote = heaviest(votes);
    let decided = vote.unwrap_or(Vote::Abstain);
    let agreeing = votes.iter().filter(|cast| cast.vote == decided).count();
    let most = u64::try_from(agreeing).unwrap_or(u64::MAX) * u64::from(PerMille::ALL.get());
    let weight = weight_of(votes, decided);
    let whole = Vote::ALL.map(|vote| weight_of(votes, vote)).iter().sum();
    Some(VoteTally {
        vote: decided,
        confidence: PerMille::share(weight, most),
        agreement: PerMille::share(weight, whole),
        tied: vote.is_none(),
    })
}

/// Weighs the votes of those seats that have one. Who failed does not count, neither for nor against.
pub fn tally_seats(seats: &[SeatReport]) -> Option<VoteTally> {
    let casts = seats.iter().filter_map(|seat| seat.cast.as_ref());
    let votes: Vec<WeightedVote> = casts
        .map(|cast| WeightedVote {
            vote: cast.vote,
            confidence: cast.confidence,
        })
        .collect();
    tally(&votes)
}

fn weight_of(votes: &[WeightedVote], vote: Vote) -> u64 {
    let same = votes.iter().filter(|cast| cast.vote == vote);
    same.map(|cast| u64::from(cast.confidence.get())).sum()
}

/// The vote that is heavier than each other one.
fn heaviest(votes: &[WeightedVote]) -> Option<Vote> {
    Vote::ALL.into_iter().find(|vote| {
        let weight = weight_of(votes, *vote);
        let mut others = Vote::ALL.into_iter().filter(|other| other != vote);
        others.all(|other| weight > weight_of(votes, other))
    })
}

#[cfg(test)]
#[path = "tally_tests.rs"]
mod tests;
