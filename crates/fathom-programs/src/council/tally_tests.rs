use proptest::prelude::*;
use proptest::sample::subsequence;

use super::super::report::{SeatFailure, SeatVote};
use super::Vote::{Abstain, Approve, Reject};
use super::*;
use fathom_core::unit::Millis;

fn milli(milli: u16) -> PerMille {
    PerMille::new(milli).expect("at most a thousand")
}

fn weighed((vote, confidence): (Vote, u16)) -> WeightedVote {
    WeightedVote {
        vote,
        confidence: milli(confidence),
    }
}

/// Checks vote, confidence, agreement and whether it is tied.
#[track_caller]
fn check(votes: &[(Vote, u16)], expected: (Vote, u16, u16, bool)) {
    let votes: Vec<WeightedVote> = votes.iter().copied().map(weighed).collect();
    let (vote, confidence, agreement, tied) = expected;
    let expected = VoteTally {
        vote,
        confidence: milli(confidence),
        agreement: milli(agreement),
        tied,
    };
    assert_eq!(tally(&votes), Some(expected), "{votes:?}");
}

#[test]
fn c06_the_heaviest_vote_wins_and_not_the_most_frequent() {
    check(&[(Approve, 850)], (Approve, 850, 1000, false));
    check(
        &[(Approve, 200), (Approve, 300), (Reject, 900)],
        (Reject, 900, 643, false),
    );
    check(
        &[(Approve, 900), (Approve, 700), (Reject, 400)],
        (Approve, 800, 800, false),
    );
    check(
        &[(Abstain, 900), (Approve, 300), (Reject, 300)],
        (Abstain, 900, 600, false),
    );
    check(&[(Reject, 1), (Approve, 0)], (Reject, 1, 1000, false));
}

#[test]
fn c06_no_single_heaviest_vote_abstains() {
    check(&[(Approve, 500), (Reject, 500)], (Abstain, 0, 0, true));
    check(
        &[(Approve, 500), (Reject, 200), (Reject, 300), (Abstain, 250)],
        (Abstain, 250, 200, true),
    );
    check(
        &[(Approve, 300), (Reject, 300), (Abstain, 300)],
        (Abstain, 300, 333, true),
    );
    check(&[(Approve, 0), (Approve, 0)], (Abstain, 0, 0, true));
    check(&[(Abstain, 0)], (Abstain, 0, 0, true));
}

#[test]
fn c06_without_votes_there_is_no_decision() {
    assert_eq!(tally(&[]), None);
    assert_eq!(tally_seats(&[]), None);
    assert_eq!(tally_seats(&[failed(), failed()]), None);
}

fn seat(seat: &str, cast: Option<SeatVote>, failure: Option<SeatFailure>) -> SeatReport {
    SeatReport {
        seat: seat.to_owned(),
        cast,
        failure,
        agreement: None,
        samples: None,
        reused: None,
        alone: None,
        alone_ms: None,
        episode: None,
        tokens: 0,
        calls: 1,
        reused_calls: 0,
        elapsed: Millis(1),
        children: Vec::new(),
    }
}

fn failed() -> SeatReport {
    seat("silent", None, Some(SeatFailure::Late))
}

fn voter(weighed: WeightedVote) -> SeatReport {
    let cast = SeatVote {
        vote: weighed.vote,
        confidence: weighed.confidence,
        reasoning: String::new(),
        source: None,
    };
    seat("voter", Some(cast), None)
}

fn any_vote() -> impl Strategy<Value = Vote> {
    prop::sample::select(Vote::ALL.to_vec())
}

fn votes_up_to(confidence: u16) -> impl Strategy<Value = Vec<WeightedVote>> {
    let vote = (any_vote(), 0..=confidence).prop_map(weighed);
    prop::collection::vec(vote, 1..24)
}

/// A factor, and votes that stay within bounds when they are scaled by it.
fn scalable() -> impl Strategy<Value = (u16, Vec<WeightedVote>)> {
    (1..=50_u16).prop_flat_map(|factor| (Just(factor), votes_up_to(1000 / factor)))
}

proptest! {
    #[test]
    fn c06_the_order_of_votes_does_not_matter(
        (votes, shuffled) in votes_up_to(1000)
            .prop_flat_map(|votes| (Just(votes.clone()), Just(votes).prop_shuffle())),
    ) {
        prop_assert_eq!(tally(&votes), tally(&shuffled));
    }

    #[test]
    fn c06_scaling_all_confidences_changes_neither_vote_nor_agreement((factor, votes) in scalable()) {
        let scale = |cast: &WeightedVote| weighed((cast.vote, cast.confidence.get() * factor));
        let scaled: Vec<WeightedVote> = votes.iter().map(scale).collect();
        let outcome = |votes: &[WeightedVote]| {
            tally(votes).map(|tally| (tally.vote, tally.agreement, tally.tied))
        };
        prop_assert_eq!(outcome(&votes), outcome(&scaled));
    }

    #[test]
    fn c06_an_agreeing_vote_never_lowers_agreement(votes in votes_up_to(1000), confidence in 0..=1000_u16) {
        let before = tally(&votes).expect("there are votes");
        let agreeing = weighed((before.vote, confidence));
        let after = tally(&[votes, vec![agreeing]].concat()).expect("there are votes");
        prop_assert_eq!(before.vote, after.vote);
        prop_assert!(after.agreement >= before.agreement, "{:?} {:?}", before, after);
    }

    #[test]
    fn c06_votes_that_are_mirrored_abstain(votes in votes_up_to(1000)) {
        let mirrored = votes.iter().map(|cast| WeightedVote {
            vote: match cast.vote {
                Approve => Reject,
                Reject => Approve,
                Abstain => Abstain,
            },
            ..*cast
        });
        let both: Vec<WeightedVote> = votes.iter().copied().chain(mirrored).collect();
        let tally = tally(&both).expect("there are votes");
        let abstained = both.iter().filter(|cast| cast.vote == Abstain);
        let abstained: u32 = abstained.map(|cast| u32::from(cast.confidence.get())).sum();
        let approved = both.iter().filter(|cast| cast.vote == Approve);
        let approved: u32 = approved.map(|cast| u32::from(cast.confidence.get())).sum();
        prop_assert_eq!(tally.vote, Abstain);
        prop_assert_eq!(tally.tied, abstained <= approved);
    }

    #[test]
    fn c06_failures_never_change_a_vote(
        (seats, kept) in votes_up_to(1000).prop_flat_map(|votes| {
            let seats: Vec<SeatReport> = votes
                .into_iter()
                .flat_map(|weighed| [voter(weighed), failed()])
                .collect();
            let count = seats.len();
            (Just(seats.clone()), subsequence(seats, 0..=count))
        }),
    ) {
        for seats in [seats, kept] {
            let voters: Vec<SeatReport> =
                seats.iter().filter(|seat| seat.failure.is_none()).cloned().collect();
            let votes: Vec<WeightedVote> = voters
                .iter()
                .filter_map(|seat| seat.cast.as_ref())
                .map(|cast| WeightedVote { vote: cast.vote, confidence: cast.confidence })
                .collect();
            prop_assert_eq!(tally_seats(&seats), tally_seats(&voters));
            prop_assert_eq!(tally_seats(&seats), tally(&votes));
        }
    }

    #[test]
    fn c06_confidence_is_the_mean_of_those_who_agree(votes in votes_up_to(1000)) {
        let found = tally(&votes).expect("there are votes");
        let agreeing: Vec<u32> = votes
            .iter()
            .filter(|cast| cast.vote == found.vote)
            .map(|cast| u32::from(cast.confidence.get()))
            .collect();
        let sum: u32 = agreeing.iter().sum();
        let count = u32::try_from(agreeing.len()).expect("few votes");
        let confidence = u32::from(found.confidence.get());
        // Rounded to the nearest: at most half a thousandth off.
        prop_assert!((confidence * count).abs_diff(sum) * 2 <= count);
    }
}
