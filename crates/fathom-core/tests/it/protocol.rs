//! The council protocol: envelopes, motions and votes, escalation, and who is alive.

use fathom_core::council_bus::{
    CouncilRole, DeferralReason, Envelope, EnvelopeError, EscalationCause, EscalationTracker,
    HeartbeatState, InterruptCounter, MessageDraft, MessageId, MessageRejection, MessageType,
    MotionDecider, MotionOutcome, MotionRuling, MotionVote, RoleAssembly, RoleLiveness,
    SILENCE_MAX,
};
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::packet::PacketRisk;
use fathom_core::unit::{Millis, PerMille, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::Config;

use fathom_testkit::manual_host::host::at;
use fathom_testkit::manual_host::samples::BEGIN;

use CouncilRole::{CodeMind, Lite, Prime};
use MotionVote::{Abstain, No, Yes};

const OPEN_FOR: Millis = Millis(60_000);

fn milli(milli: u16) -> PerMille {
    PerMille::new(milli).unwrap()
}

/// An assembly with a bus: every message gets a number of its own.
struct Floor {
    assembly: RoleAssembly,
    next: AskId,
    now: Timestamp,
}

impl Floor {
    fn of(seats: &[CouncilRole]) -> Self {
        Self {
            assembly: RoleAssembly::new(seats.iter().copied(), OPEN_FOR),
            next: AskId(0),
            now: BEGIN,
        }
    }

    fn stamp(&mut self, draft: MessageDraft) -> Envelope {
        let ask = self.next;
        self.next = ask.next();
        draft.stamp(&EpisodeId::root(), ask, self.now)
    }

    fn say(&mut self, draft: MessageDraft) -> Result<MessageId, MessageRejection> {
        let envelope = self.stamp(draft);
        let taken = self.assembly.take(&envelope, self.now);
        taken.map(|()| envelope.msg_id)
    }

    fn propose(&mut self) -> MessageId {
        self.say(MessageDraft::proposal(Lite, "Move the database."))
            .unwrap()
    }

    fn vote(
        &mut self,
        motion: MessageId,
        role: CouncilRole,
        ballot: MotionVote,
    ) -> Result<MessageId, MessageRejection> {
        self.say(MessageDraft::vote(role, motion, ballot, "I think so."))
    }

    fn pulse(&mut self, role: CouncilRole, pulse: HeartbeatState) {
        self.say(MessageDraft::heartbeat(role, pulse)).unwrap();
    }

    fn close(&mut self, motion: MessageId) -> MotionOutcome {
        self.assembly.close(motion).unwrap().clone()
    }
}

/// What becomes of a motion with these votes when all three roles are active.
fn ruled(votes: &[(CouncilRole, MotionVote)]) -> MotionRuling {
    let mut floor = Floor::of(&CouncilRole::ALL);
    let motion = floor.propose();
    for (role, ballot) in votes {
        floor.vote(motion, *role, *ballot).unwrap();
    }
    floor.close(motion).ruling
}

const fn carried(by: MotionDecider) -> MotionRuling {
    MotionRuling::Carried { by }
}

const fn defeated(by: MotionDecider) -> MotionRuling {
    MotionRuling::Defeated { by }
}

const fn for_person(why: DeferralReason) -> MotionRuling {
    MotionRuling::ForPerson { why }
}

#[test]
fn c11_an_envelope_has_the_nine_fields_of_the_protocol() {
    let motion = MessageId::of(&at(&[1]), AskId(0));
    let envelope = MessageDraft::vote(Lite, motion, Yes, "It pays.\nSoon.")
        .confident(Some(milli(870)))
        .at_risk(PacketRisk::Med)
        .stamp(&at(&[1]), AskId(4), Timestamp(1_752_261_720_000));
    let json = serde_json::to_value(&envelope).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "msg_id": envelope.msg_id.to_string(),
            "parent_id": motion.to_string(),
            "timestamp": 1_752_261_720_000_u64,
            "sender": "0.1",
            "role": "lite",
            "type": "VOTE",
            "confidence": 0.87,
            "risk_level": "med",
            "content": "yes\nIt pays.\nSoon.",
        })
    );
    assert_eq!(envelope.msg_id.to_string().len(), 8);
    assert_eq!(Envelope::read(&json.to_string()), Ok(envelope));
}

#[test]
fn c11_types_and_roles_have_their_names() {
    let name = |draft: MessageDraft| {
        let envelope = draft.stamp(&EpisodeId::root(), AskId(0), BEGIN);
        let json = serde_json::to_value(&envelope).unwrap();
        assert_eq!(Envelope::read(&json.to_string()), Ok(envelope));
        (json["type"].clone(), json["role"].clone())
    };
    let motion = MessageId::of(&EpisodeId::root(), AskId(0));
    for (draft, kind, role) in [
        (MessageDraft::proposal(Prime, "p"), "PROPOSAL", "prime"),
        (MessageDraft::vote(Lite, motion, No, ""), "VOTE", "lite"),
        (MessageDraft::info(CodeMind, "i"), "INFO", "codemind"),
        (MessageDraft::escalation(Lite, "e"), "ESCALATION", "lite"),
        (
            MessageDraft::heartbeat(Lite, HeartbeatState::Active),
            "HEARTBEAT",
            "lite",
        ),
    ] {
        assert_eq!(name(draft), (kind.into(), role.into()));
    }
}

/// A vote as another process may send it, with one field replaced (or taken away).
fn altered(field: &str, value: Option<serde_json::Value>) -> Result<Envelope, EnvelopeError> {
    let mut json = serde_json::json!({
        "msg_id": "b6a9f42e", "parent_id": "00c0ffee", "timestamp": 5, "sender": "ada", "role": "lite",
        "type": "VOTE", "confidence": 0.5, "risk_level": "low", "content": "no",
    });
    let fields = json.as_object_mut().unwrap();
    match value {
        Some(value) => fields.insert(field.to_owned(), value),
        None => fields.remove(field),
    };
    Envelope::read(&json.to_string())
}

#[test]
fn c11_an_envelope_is_read_strictly() {
    let form = |read: Result<Envelope, EnvelopeError>| match read {
        Err(EnvelopeError::Form { cause }) => cause,
        other => panic!("{other:?}"),
    };
    let same = altered("sender", Some("ada".into())).unwrap();
    assert_eq!(same.kind, MessageType::Vote);
    assert_eq!(same.confidence, Some(milli(500)));
    let unknown = form(altered("colour", Some("red".into())));
    assert!(unknown.contains("unknown field `colour`"), "{unknown}");
    for field in [
        "msg_id",
        "parent_id",
        "timestamp",
        "sender",
        "role",
        "type",
        "confidence",
        "risk_level",
        "content",
    ] {
        let missing = form(altered(field, None));
        assert!(missing.contains(field), "{missing}");
    }
    for (field, value) in [
        ("msg_id", "b6a9f42"),
        ("msg_id", "b6a9f42g"),
        ("msg_id", "+6a9f42e"),
        ("parent_id", ""),
        ("timestamp", "2025-07-11T19:22:00Z"),
        ("role", "observer"),
        ("role", "Prime"),
        ("type", "vote"),
        ("type", "COMMAND"),
        ("confidence", "0.5"),
        ("risk_level", "extreme"),
    ] {
        form(altered(field, Some(value.into())));
    }
    form(Envelope::read("[]"));
    form(Envelope::read(""));
    form(Envelope::read(
        r#"{"msg_id":"b6a9f42e","msg_id":"b6a9f42e"}"#,
    ));
}

#[test]
fn c11_confidence_lies_between_0_and_1() {
    let read = |confidence: f64| altered("confidence", Some(confidence.into()));
    for (said, milli) in [(0.0, 0), (1.0, 1000), (0.87, 870), (0.2999, 300), (-0.0, 0)] {
        let confidence = read(said).unwrap().confidence;
        assert_eq!(confidence.map(PerMille::get), Some(milli), "{said}");
    }
    for said in [-0.001, 1.000_001, 87.0, f64::MAX] {
        let said_so = said.to_string();
        assert_eq!(read(said), Err(EnvelopeError::Confidence { said: said_so }));
    }
    let unstated = altered("confidence", Some(serde_json::Value::Null)).unwrap();
    assert_eq!(unstated.confidence, None);
}

#[test]
fn c11_every_confidence_reads_as_it_is_written() {
    for thousandths in 0..=1000 {
        let envelope = MessageDraft::info(Lite, "")
            .confident(Some(milli(thousandths)))
            .stamp(&EpisodeId::root(), AskId(0), BEGIN);
        let json = serde_json::to_string(&envelope).unwrap();
        assert_eq!(Envelope::read(&json), Ok(envelope), "{json}");
    }
}

#[test]
fn c11_a_vote_names_its_motion_and_says_yes_no_or_abstain() {
    assert_eq!(
        altered("parent_id", Some(serde_json::Value::Null)),
        Err(EnvelopeError::NoMotion)
    );
    for content in [
        "", "YES", "Yes", "yes.", "yes, but", "no yes", "maybe", "\nyes", "approve", "not no",
    ] {
        assert_eq!(
            altered("content", Some(content.into())),
            Err(EnvelopeError::NoBallot),
            "{content}"
        );
    }
    for (content, ballot) in [
        ("yes", Yes),
        (" no ", No),
        ("abstain\nyes yes yes", Abstain),
        ("no\r\nbecause", No),
    ] {
        assert!(altered("content", Some(content.into())).is_ok());
        assert_eq!(MotionVote::read(content), Some(ballot), "{content}");
    }
}

#[test]
fn c11_senders_and_heartbeats_are_checked_too() {
    for sender in ["", "a\nb", "\u{7}", &"x".repeat(65)] {
        assert_eq!(
            altered("sender", Some(sender.into())),
            Err(EnvelopeError::Sender)
        );
    }
    assert!(altered("sender", Some("x".repeat(64).into())).is_ok());
    let heartbeat = |content: &str| {
        let json = serde_json::json!({
            "msg_id": "b6a9f42e", "parent_id": null, "timestamp": 5, "sender": "ada", "role": "lite",
            "type": "HEARTBEAT", "confidence": null, "risk_level": "low", "content": content,
        });
        Envelope::read(&json.to_string()).map(|envelope| envelope.kind)
    };
    assert_eq!(heartbeat("active"), Ok(MessageType::Heartbeat));
    assert_eq!(heartbeat("inactive"), Ok(MessageType::Heartbeat));
    assert_eq!(heartbeat("dead"), Err(EnvelopeError::NoPulse));
}

#[test]
fn c11_no_two_messages_of_an_episode_share_an_id() {
    let mut ids: Vec<MessageId> = (0..50_000)
        .map(|ask| MessageId::of(&EpisodeId::root(), AskId(ask)))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 50_000);
    assert_ne!(
        MessageId::of(&EpisodeId::root(), AskId(0)),
        MessageId::of(&at(&[0]), AskId(0))
    );
}

#[test]
fn c11_the_majority_wins() {
    let majority = MotionDecider::Majority;
    assert_eq!(ruled(&[(Lite, Yes), (CodeMind, Yes)]), carried(majority));
    assert_eq!(ruled(&[(Lite, No), (CodeMind, No)]), defeated(majority));
    // Prime has one vote as everybody has.
    let outvoted = [(Prime, Yes), (Lite, No), (CodeMind, No)];
    assert_eq!(ruled(&outvoted), defeated(majority));
    let outvoted = [(Prime, No), (Lite, Yes), (CodeMind, Yes)];
    assert_eq!(ruled(&outvoted), carried(majority));
    // Who abstains is there and on no side.
    assert_eq!(
        ruled(&[(Lite, Yes), (CodeMind, Abstain)]),
        carried(majority)
    );
    assert_eq!(ruled(&[(Lite, No), (Prime, Abstain)]), defeated(majority));
}

#[test]
fn c11_a_tie_goes_to_prime() {
    assert_eq!(
        ruled(&[(Prime, Yes), (Lite, No)]),
        carried(MotionDecider::Prime)
    );
    assert_eq!(
        ruled(&[(Prime, No), (Lite, Yes), (CodeMind, Abstain)]),
        defeated(MotionDecider::Prime)
    );
}

#[test]
fn c11_a_tie_that_prime_does_not_break_goes_to_a_person() {
    let tie = for_person(DeferralReason::Tie);
    assert_eq!(ruled(&[(Lite, Yes), (CodeMind, No)]), tie);
    assert_eq!(ruled(&[(Prime, Abstain), (Lite, Yes), (CodeMind, No)]), tie);
    assert_eq!(ruled(&[(Prime, Abstain), (Lite, Abstain)]), tie);
    let nobody = [(Prime, Abstain), (Lite, Abstain), (CodeMind, Abstain)];
    assert_eq!(ruled(&nobody), tie);
}

#[test]
fn c11_quorum_is_two_distinct_roles() {
    let missing = |voted| for_person(DeferralReason::NoQuorum { voted, quorum: 2 });
    assert_eq!(ruled(&[]), missing(0));
    assert_eq!(ruled(&[(Prime, Yes)]), missing(1));
    let mut floor = Floor::of(&CouncilRole::ALL);
    let motion = floor.propose();
    floor.vote(motion, Prime, Yes).unwrap();
    let again = floor.vote(motion, Prime, Yes);
    assert_eq!(again, Err(MessageRejection::SecondVote(Prime)));
    assert_eq!(floor.close(motion).ruling, missing(1));
}

#[test]
fn c11_a_second_vote_is_refused_and_the_first_stands() {
    let mut floor = Floor::of(&CouncilRole::ALL);
    let motion = floor.propose();
    let first = floor.vote(motion, Lite, Yes).unwrap();
    floor.vote(motion, CodeMind, Yes).unwrap();
    let changed = floor.vote(motion, Lite, No);
    assert_eq!(changed, Err(MessageRejection::SecondVote(Lite)));
    let outcome = floor.close(motion);
    assert_eq!(outcome.ruling, carried(MotionDecider::Majority));
    assert_eq!(outcome.votes[&Lite].message, first);
    assert_eq!((outcome.count.yes, outcome.count.no), (2, 0));
}

#[test]
fn c11_a_message_that_comes_twice_counts_once() {
    let mut floor = Floor::of(&CouncilRole::ALL);
    let motion = floor.propose();
    let vote = floor.stamp(MessageDraft::vote(Lite, motion, No, ""));
    assert_eq!(floor.assembly.take(&vote, floor.now), Ok(()));
    let again = floor.assembly.take(&vote, floor.now);
    assert_eq!(again, Err(MessageRejection::Repeated(vote.msg_id)));
    assert_eq!(floor.close(motion).count.cast(), 1);
}

#[test]
fn c11_quorum_shrinks_to_those_who_are_active() {
    let mut floor = Floor::of(&CouncilRole::ALL);
    let motion = floor.propose();
    assert_eq!(floor.assembly.quorum(), 2);
    floor.vote(motion, Lite, Yes).unwrap();
    floor.pulse(Prime, HeartbeatState::Inactive);
    assert_eq!(floor.assembly.quorum(), 2);
    floor.pulse(CodeMind, HeartbeatState::Inactive);
    assert_eq!(floor.assembly.quorum(), 1);
    assert_eq!(floor.assembly.active().collect::<Vec<_>>(), [Lite]);
    floor.pulse(Lite, HeartbeatState::Inactive);
    assert_eq!(floor.assembly.quorum(), 0);
    let outcome = floor.close(motion);
    let nobody = for_person(DeferralReason::TooFewActive { active: 0 });
    assert_eq!((outcome.ruling, outcome.quorum), (nobody, 0));
}

#[test]
fn c11_with_one_role_active_a_person_decides() {
    let mut floor = Floor::of(&CouncilRole::ALL);
    let motion = floor.propose();
    for role in CouncilRole::ALL {
        floor.vote(motion, role, Yes).unwrap();
    }
    floor.pulse(Prime, HeartbeatState::Inactive);
    floor.pulse(CodeMind, HeartbeatState::Inactive);
    let outcome = floor.close(motion);
    let alone = for_person(DeferralReason::TooFewActive { active: 1 });
    assert_eq!(outcome.ruling, alone);
    assert_eq!(outcome.count.yes, 3, "the votes are still told");
    assert_eq!(outcome.active, [Lite]);
    // So it is in an assembly that never had more.
    let mut floor = Floor::of(&[Prime]);
    let motion = floor.propose();
    floor.vote(motion, Prime, Yes).unwrap();
    assert_eq!(floor.close(motion).ruling, alone);
}

#[test]
fn c11_a_vote_that_was_cast_while_active_stays() {
    let mut floor = Floor::of(&CouncilRole::ALL);
    let motion = floor.propose();
    floor.vote(motion, Prime, Yes).unwrap();
    floor.pulse(Prime, HeartbeatState::Inactive);
    floor.vote(motion, Lite, No).unwrap();
    let outcome = floor.close(motion);
    assert_eq!(outcome.ruling, carried(MotionDecider::Prime));
    assert_eq!(outcome.active, [Lite, CodeMind]);
}

#[test]
fn c11_a_role_that_is_heard_is_active_again() {
    let mut floor = Floor::of(&CouncilRole::ALL);
    let motion = floor.propose();
    for role in CouncilRole::ALL {
        floor.pulse(role, HeartbeatState::Inactive);
    }
    floor.pulse(Prime, HeartbeatState::Active);
    assert_eq!(floor.assembly.active().collect::<Vec<_>>(), [Prime]);
    // A vote is a sign of life; what is reported in a role's name is not.
    floor.say(MessageDraft::info(CodeMind, "no reply")).unwrap();
    floor
        .say(MessageDraft::escalation(CodeMind, "risky"))
        .unwrap();
    floor.vote(motion, Lite, No).unwrap();
    assert_eq!(floor.assembly.active().collect::<Vec<_>>(), [Prime, Lite]);
    assert!(floor.assembly.is_active(Lite) && !floor.assembly.is_active(CodeMind));
}

#[test]
fn c11_two_motions_do_not_mix() {
    let mut floor = Floor::of(&CouncilRole::ALL);
    let first = floor.propose();
    floor.now = floor.now.plus(Millis(1_000));
    let second = floor.propose();
    assert_ne!(first, second);
    for (role, ballot) in [(Lite, Yes), (CodeMind, Yes)] {
        floor.vote(first, role, ballot).unwrap();
    }
    for (role, ballot) in [(Lite, No), (Prime, No), (CodeMind, Yes)] {
        floor.vote(second, role, ballot).unwrap();
    }
    assert_eq!(floor.close(first).ruling, carried(MotionDecider::Majority));
    // The first is closed, the second is not.
    assert_eq!(floor.vote(first, Prime, No), Err(MessageRejection::Closed));
    let second = floor.close(second);
    assert_eq!(second.ruling, defeated(MotionDecider::Majority));
    assert_eq!(
        floor.close(first).count.cast(),
        2,
        "it stays as it was ruled"
    );
    assert_eq!(second.count.cast(), 3);
}

#[test]
fn c11_a_vote_comes_in_time_or_not_at_all() {
    let mut floor = Floor::of(&CouncilRole::ALL);
    let motion = floor.propose();
    assert_eq!(floor.assembly.deadline(motion), Some(BEGIN.plus(OPEN_FOR)));
    floor.now = BEGIN.plus(OPEN_FOR);
    floor.vote(motion, Lite, Yes).unwrap();
    floor.now = floor.now.plus(Millis(1));
    assert_eq!(floor.vote(motion, Prime, Yes), Err(MessageRejection::Late));
    assert_eq!(floor.close(motion).count.cast(), 1);
}

#[test]
fn c11_a_vote_on_nothing_or_from_nobody_is_refused() {
    let mut floor = Floor::of(&[Prime, Lite]);
    let motion = floor.propose();
    let info = floor.say(MessageDraft::info(Lite, "by the way")).unwrap();
    assert_eq!(floor.vote(info, Lite, Yes), Err(MessageRejection::NoMotion));
    let stranger = floor.vote(motion, CodeMind, Yes);
    assert_eq!(stranger, Err(MessageRejection::NoSeat(CodeMind)));
    assert!(floor.assembly.close(info).is_none());
    assert_eq!(floor.close(motion).count.cast(), 0);
}

#[test]
fn c11_a_sealed_vote_is_no_vote() {
    let mut floor = Floor::of(&CouncilRole::ALL);
    let motion = floor.propose();
    let mut vote = floor.stamp(MessageDraft::vote(Lite, motion, Yes, ""));
    vote.content.seal(fathom_core::id::Digest([1; 32]));
    let json = serde_json::to_string(&vote).unwrap();
    let sealed = Envelope::read(&json).unwrap();
    assert!(sealed.content.is_closed());
    let taken = floor.assembly.take(&sealed, floor.now);
    assert_eq!(taken, Err(MessageRejection::Unreadable));
}

#[test]
fn c11_high_risk_and_low_confidence_are_escalated_once_each() {
    let mut escalations = EscalationTracker::default();
    let (one, other) = (
        MessageId::of(&EpisodeId::root(), AskId(1)),
        MessageId::of(&EpisodeId::root(), AskId(2)),
    );
    assert_eq!(escalations.look(one, PacketRisk::Med, Some(milli(300))), []);
    assert_eq!(escalations.look(one, PacketRisk::Low, None), []);
    assert_eq!(
        escalations.look(one, PacketRisk::Low, Some(milli(299))),
        [EscalationCause::LowConfidence]
    );
    assert_eq!(
        escalations.look(one, PacketRisk::High, Some(milli(0))),
        [EscalationCause::HighRisk],
        "the other cause was raised before"
    );
    assert_eq!(escalations.look(one, PacketRisk::High, Some(milli(0))), []);
    assert_eq!(
        escalations.look(other, PacketRisk::High, Some(milli(0))),
        [EscalationCause::HighRisk, EscalationCause::LowConfidence]
    );
}

#[test]
fn c11_three_interrupts_in_a_row_are_escalated_once() {
    let mut interrupts = InterruptCounter::default();
    assert_eq!(interrupts.interrupted(), None);
    assert_eq!(interrupts.interrupted(), None);
    interrupts.passed();
    assert_eq!(interrupts.interrupted(), None);
    assert_eq!(interrupts.interrupted(), None);
    assert_eq!(interrupts.interrupted(), Some(EscalationCause::Interrupts));
    assert_eq!(interrupts.interrupted(), None, "the row was reported");
    interrupts.passed();
    let row = [(); 3].map(|()| interrupts.interrupted());
    assert_eq!(row, [None, None, Some(EscalationCause::Interrupts)]);
}

#[test]
fn c11_a_role_is_inactive_after_more_than_90_s_of_silence() {
    let mut liveness = RoleLiveness::default();
    assert_eq!(SILENCE_MAX, Millis(90_000));
    assert_eq!(liveness.next_look(), None, "nobody was asked anything");
    liveness.asked(Lite, BEGIN);
    let edge = BEGIN.plus(Millis(90_000));
    assert_eq!(liveness.next_look(), Some(edge.plus(Millis(1))));
    assert_eq!(liveness.look(edge), []);
    assert_eq!(liveness.look(edge.plus(Millis(1))), [Lite]);
    assert_eq!(liveness.look(edge.plus(Millis(2))), [], "it is said once");
    assert_eq!(liveness.next_look(), None);
    let back = edge.plus(Millis(5));
    assert_eq!(liveness.heard(Lite, back), Some(HeartbeatState::Active));
    assert_eq!(liveness.heard(Lite, back), None, "it is said once");
    assert_eq!(liveness.look(back.plus(SILENCE_MAX)), []);
    assert_eq!(liveness.look(back.plus(Millis(90_001))), [Lite]);
}

#[test]
fn c11_a_sign_of_life_starts_the_silence_anew() {
    let mut liveness = RoleLiveness::default();
    liveness.asked(Lite, BEGIN);
    liveness.asked(Prime, BEGIN);
    let heard = BEGIN.plus(Millis(60_000));
    assert_eq!(liveness.heard(Lite, heard), None);
    assert_eq!(liveness.look(BEGIN.plus(Millis(90_001))), [Prime]);
    assert_eq!(liveness.look(heard.plus(Millis(90_001))), [Lite]);
}

#[test]
fn c11_a_role_with_no_call_out_is_not_silent() {
    let mut liveness = RoleLiveness::default();
    liveness.asked(Lite, BEGIN);
    liveness.asked(Lite, BEGIN.plus(Millis(1_000)));
    liveness.ended(Lite);
    assert_eq!(liveness.look(BEGIN.plus(Millis(90_001))), [Lite]);
    liveness.heard(Lite, BEGIN.plus(Millis(90_002)));
    liveness.ended(Lite);
    let later = BEGIN.plus(Millis(1_000_000));
    assert_eq!(liveness.look(later), []);
    // A role that fell silent stays inactive until it is heard, whatever became of its call.
    liveness.asked(Prime, later);
    let silent = later.plus(Millis(90_001));
    assert_eq!(liveness.look(silent), [Prime]);
    liveness.ended(Prime);
    liveness.asked(Prime, silent);
    assert_eq!(liveness.look(silent.plus(Millis(90_001))), []);
    assert_eq!(liveness.heard(Prime, silent), Some(HeartbeatState::Active));
}

fn ballots() -> impl Strategy<Value = Option<MotionVote>> {
    prop_oneof![
        Just(None),
        Just(Some(Yes)),
        Just(Some(No)),
        Just(Some(Abstain))
    ]
}

fn order() -> impl Strategy<Value = Vec<usize>> {
    Just((0..6).collect::<Vec<usize>>()).prop_shuffle()
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    /// Votes on two motions that come in the same moment may come in any order.
    #[test]
    fn c11_an_outcome_does_not_depend_on_the_order_of_votes_within_a_moment(
        said in prop::collection::vec(ballots(), 6),
        silent in prop::option::of(0..3_usize),
        order in order(),
    ) {
        let outcomes = |order: &[usize]| {
            let mut floor = Floor::of(&CouncilRole::ALL);
            let motions = [floor.propose(), floor.propose()];
            let envelopes: Vec<Option<Envelope>> = said.iter().enumerate().map(|(place, ballot)| {
                let role = CouncilRole::ALL[place % 3];
                ballot.map(|ballot| floor.stamp(MessageDraft::vote(role, motions[place / 3], ballot, "")))
            }).collect();
            for place in order {
                if let Some(envelope) = &envelopes[*place] {
                    floor.assembly.take(envelope, floor.now).unwrap();
                }
            }
            if let Some(silent) = silent {
                floor.pulse(CouncilRole::ALL[silent], HeartbeatState::Inactive);
            }
            motions.map(|motion| floor.close(motion))
        };
        prop_assert_eq!(outcomes(&order), outcomes(&[0, 1, 2, 3, 4, 5]));
    }

    /// Whatever is ruled, the side that wins is not the smaller one, and no ruling comes without a quorum.
    #[test]
    fn c11_no_ruling_goes_against_the_majority(said in prop::collection::vec(ballots(), 3)) {
        let mut floor = Floor::of(&CouncilRole::ALL);
        let motion = floor.propose();
        for (role, ballot) in CouncilRole::ALL.into_iter().zip(&said) {
            if let Some(ballot) = ballot {
                floor.vote(motion, role, *ballot).unwrap();
            }
        }
        let outcome = floor.close(motion);
        let count = outcome.count;
        let decided = match outcome.ruling {
            MotionRuling::Carried { .. } => count.yes >= count.no,
            MotionRuling::Defeated { .. } => count.no >= count.yes,
            MotionRuling::ForPerson { .. } => count.cast() < 2 || count.yes == count.no,
        };
        prop_assert!(decided, "{}", outcome);
        prop_assert_eq!(count.cast() < 2, matches!(outcome.ruling, MotionRuling::ForPerson { why: DeferralReason::NoQuorum { .. } }));
    }
}
