//! The council on the desk: who is asked, what counts, and what is left when something fails.

use fathom_core::budget::amounts::{Amounts, Dimension};
use fathom_core::contract::spawn::SpawnClass;
use fathom_core::contract::stop::StopReason;
use fathom_core::contract::{Contract, RecursionPolicy, StopConditions};
use fathom_core::episode::program::ProgramFactory;
use fathom_core::episode::result::EpisodeStatus;
use fathom_core::id::{EpisodeId, RunId, Seq};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EpisodeSpec, EventKind, Signal};
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{ModelReply, ReuseSource};
use fathom_core::unit::Millis;
use fathom_programs::BuiltInPrograms;
use fathom_programs::council::complexity::{DetectorConfig, TopicDomain};
use fathom_programs::council::{
    self, CHIEF, ConfidenceSource, CouncilConfig, CouncilReport, CouncilSeat, QuotedPassage,
    ReusePolicy, SUB_CHIEF, SeatFailure, SeatReport, SynthesisMode, Vote, VoteError,
};

use fathom_testkit::manual_host::host::{ManualHost, Sent, at};
use fathom_testkit::manual_host::samples::{self, AMPLE, root};

const COMPLEX: &str = "Should we move the database, considering latency and auth?";
const SIMPLE: &str = "Should we have a party?";

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn seat(id: &str, lexicon: &[&str], sub_chiefs: Vec<CouncilSeat>) -> CouncilSeat {
    CouncilSeat {
        id: id.to_owned(),
        focus: format!("Look at {id}."),
        lexicon: words(lexicon),
        passages: vec![QuotedPassage {
            source: format!("docs/{id}.md"),
            line: 7,
            text: format!("what is known of {id}"),
        }],
        sub_chiefs,
    }
}

fn params() -> CouncilConfig {
    let domain = |name: &str, list: &[&str]| TopicDomain {
        name: name.to_owned(),
        words: words(list),
    };
    CouncilConfig {
        chiefs: vec![
            seat(
                "IT",
                &[],
                vec![
                    seat("security", &["auth"], vec![]),
                    seat("network", &["latency"], vec![]),
                    seat("printing", &["toner"], vec![]),
                ],
            ),
            seat("Data", &[], vec![seat("schema", &["database"], vec![])]),
            seat("Ops", &[], vec![seat("people", &["hiring"], vec![])]),
        ],
        detector: DetectorConfig {
            score_min: 1,
            domains: vec![
                domain("security", &["auth"]),
                domain("data", &["database"]),
                domain("network", &["latency"]),
            ],
            ..DetectorConfig::default()
        },
        reuse: ReusePolicy::Off,
        ..CouncilConfig::default()
    }
}

fn started(question: &str, params: &CouncilConfig, amounts: Amounts) -> EpisodeSpec {
    EpisodeSpec {
        goal: question.into(),
        program: params.spec(),
        contract: Contract {
            recursion: RecursionPolicy {
                max_depth: 4,
                max_total_episodes: 300,
                allowed_child_types: words(&[CHIEF, SUB_CHIEF]),
                allowed_classes: vec![SpawnClass::Work],
                stop_conditions: StopConditions {
                    no_delta_children_max: 32,
                    same_error_max: 32,
                },
                ..RecursionPolicy::default()
            },
            ..Contract::default()
        },
        ..root(amounts)
    }
}

fn open(question: &str, params: &CouncilConfig) -> ManualHost {
    ManualHost::open(BuiltInPrograms, started(question, params, AMPLE))
}

fn vote(vote: Vote, percent: u16) -> String {
    format!(r#"{{"reasoning":"because {vote}","source":1,"vote":"{vote}","confidence":{percent}}}"#)
}

/// The seat that a call is made for.
fn voter(sent: &Sent) -> String {
    let prompt = &sent.request.messages.last().unwrap().text;
    let after = prompt.as_str().split("Your seat: ").nth(1).unwrap_or("");
    after.split('.').next().unwrap_or_default().to_owned()
}

/// Answers every call with what `say` has for its seat, until none is out.
fn answer(desk: &mut ManualHost, mut say: impl FnMut(&str) -> String) -> Vec<String> {
    let mut asked = Vec::new();
    while desk.calls_out() > 0 {
        let sent = desk.sent();
        let path = voter(&sent);
        desk.reply(&sent, &say(&path));
        asked.push(path);
    }
    asked.sort();
    asked
}

#[track_caller]
fn report(desk: &ManualHost) -> CouncilReport {
    let report = desk.result().report.as_ref().unwrap();
    serde_json::from_str(report.as_str()).unwrap()
}

#[track_caller]
fn find<'a>(report: &'a CouncilReport, path: &str) -> &'a SeatReport {
    let mut seats = &report.votes;
    let mut found = None;
    for part in path.split('/') {
        let seat = seats.iter().find(|seat| seat.seat == part).unwrap();
        seats = &seat.children;
        found = Some(seat);
    }
    found.unwrap()
}

#[test]
fn c02_every_chief_answers_a_simple_question_by_itself() {
    let mut desk = open(SIMPLE, &params());
    assert_eq!(desk.calls_out(), 3, "side by side");
    let asked = answer(&mut desk, |_| vote(Vote::Approve, 80));
    assert_eq!(asked, ["Data", "IT", "Ops"]);
    let report = report(&desk);
    assert_eq!((report.depth, report.spawns), (0, 0));
    assert_eq!(report.vote, Some(Vote::Approve));
}

#[test]
fn c02_a_complex_question_is_taken_to_the_sub_chiefs_it_touches() {
    let mut desk = open(COMPLEX, &params());
    let asked = answer(&mut desk, |_| vote(Vote::Approve, 80));
    assert_eq!(asked, ["Data/schema", "IT/network", "IT/security", "Ops"]);
    let report = report(&desk);
    assert_eq!((report.depth, report.spawns), (1, 3));
    assert!(report.complexity.complex);
}

#[test]
fn c02_no_more_than_four_sub_chiefs_are_asked() {
    let mut params = params();
    params.chiefs.truncate(1);
    let many = (0..6).map(|n| seat(&format!("s{n}"), &["auth"], vec![]));
    params.chiefs[0].sub_chiefs = many.collect();
    let mut desk = open(COMPLEX, &params);
    let asked = answer(&mut desk, |_| vote(Vote::Approve, 80));
    assert_eq!(asked, ["IT/s0", "IT/s1", "IT/s2", "IT/s3"]);
}

#[test]
fn c03_a_voter_sees_its_own_passages_with_their_places_and_no_others() {
    let mut desk = open(COMPLEX, &params());
    for _ in 0..desk.calls_out() {
        let sent = desk.sent();
        let path = voter(&sent);
        let own = path.rsplit('/').next().unwrap().to_owned();
        let prompt = sent.request.messages.last().unwrap().text.clone();
        let quoted: Vec<&str> = prompt
            .as_str()
            .lines()
            .filter(|line| line.starts_with("what is known of "))
            .collect();
        assert_eq!(quoted, [format!("what is known of {own}")]);
        assert!(prompt.as_str().contains(&format!("[1] docs/{own}.md:7\n")));
        assert!(
            prompt.as_str().starts_with("Question:\n"),
            "what is common comes first"
        );
    }
}

#[test]
fn c04_every_vote_is_a_fresh_call() {
    let mut desk = open(COMPLEX, &params());
    let mut episodes = Vec::new();
    for _ in 0..desk.calls_out() {
        let sent = desk.sent();
        assert_eq!(
            sent.request.messages.len(),
            2,
            "instructions and a question"
        );
        episodes.push(sent.episode.clone());
        desk.reply(&sent, &vote(Vote::Reject, 55));
    }
    let count = episodes.len();
    episodes.sort();
    episodes.dedup();
    assert_eq!(episodes.len(), count, "each in an episode of its own");
}

#[test]
fn c05_a_failed_or_unreadable_reply_is_never_a_vote() {
    let mut desk = open(COMPLEX, &params());
    let mut dead = None;
    while desk.calls_out() > 0 {
        let sent = desk.sent();
        match voter(&sent).as_str() {
            "IT/security" => {
                dead = Some(sent.episode.clone());
                desk.fail(&sent, ModelFailure::sent(FailureKind::Refused, "no"));
            }
            "IT/network" => desk.reply(&sent, "I would rather not say."),
            "Ops" => desk.reply(&sent, r#"{"vote":"APPROVE","reasoning":"yes"}"#),
            _ => desk.reply(&sent, &vote(Vote::Reject, 70)),
        }
    }
    assert!(dead.is_some());
    let report = report(&desk);
    let failure = |path| find(&report, path).failure.clone();
    assert!(matches!(
        failure("IT/security"),
        Some(SeatFailure::Call {
            failure: FailureKind::Refused,
            ..
        })
    ));
    let unreadable = |why| Some(SeatFailure::Unreadable(why));
    assert_eq!(failure("IT/network"), unreadable(VoteError::NoVote));
    assert_eq!(failure("Ops"), unreadable(VoteError::Confidence));
    assert_eq!(failure("IT"), Some(SeatFailure::NoVotes));
    assert_eq!(report.vote, Some(Vote::Reject), "only Data voted");
    assert_eq!(report.agreement.get(), 1000);
    assert!(report.partial);
    assert_eq!(desk.result().status, EpisodeStatus::Ok);
}

#[test]
fn c05_when_nobody_votes_there_is_no_decision() {
    let mut desk = open(SIMPLE, &params());
    answer(&mut desk, |_| String::from("APPROVE or REJECT, who knows?"));
    let report = report(&desk);
    assert_eq!(report.vote, None);
    assert_eq!(desk.result().status, EpisodeStatus::Failed);
    assert_eq!(desk.result().answer, None);
}

#[test]
fn c05_measured_confidence_is_the_share_of_votes_drawn_at_once() {
    let params = CouncilConfig {
        confidence: ConfidenceSource::Measured {
            samples: 5,
            temperature_milli: 800,
        },
        ..params()
    };
    let mut desk = open(SIMPLE, &params);
    assert_eq!(desk.calls_out(), 15, "all at once");
    let mut drawn = 0;
    let mut seeds = Vec::new();
    while desk.calls_out() > 0 {
        let sent = desk.sent();
        assert_eq!(sent.request.temperature_milli, Some(800));
        if voter(&sent) == "IT" {
            seeds.push(sent.request.seed);
            drawn += 1;
            let say = match drawn {
                1 | 2 | 4 => r#"{"vote":"REJECT","reasoning":"no","source":1}"#,
                3 => r#"{"vote":"APPROVE","reasoning":"yes","source":0}"#,
                _ => "what?",
            };
            desk.reply(&sent, say);
        } else {
            desk.reply(&sent, r#"{"vote":"APPROVE","reasoning":"yes","source":0}"#);
        }
    }
    seeds.dedup();
    assert_eq!(seeds.len(), 5, "each draw has its own beginning");
    let report = report(&desk);
    let seat = find(&report, "IT");
    let cast = seat.cast.as_ref().unwrap();
    assert_eq!((cast.vote, cast.confidence.get()), (Vote::Reject, 750));
    assert_eq!(cast.reasoning, "no");
    let samples = seat.samples.unwrap();
    assert_eq!((samples.approve, samples.reject, samples.failed), (1, 3, 1));
    let cast = find(&report, "Data").cast.as_ref().unwrap();
    assert_eq!(cast.confidence.get(), 1000);
}

#[test]
fn c06_votes_are_weighed_and_every_dissent_is_named() {
    let mut desk = open(COMPLEX, &params());
    answer(&mut desk, |seat| match seat {
        "IT/security" => vote(Vote::Reject, 60),
        "IT/network" => vote(Vote::Approve, 75),
        "Data/schema" => vote(Vote::Approve, 81),
        _ => vote(Vote::Abstain, 20),
    });
    let report = report(&desk);
    assert_eq!(report.vote, Some(Vote::Approve));
    assert_eq!(report.confidence.get(), 780, "mean of 75 and 81");
    assert_eq!(report.agreement.get(), 886, "156 of 176");
    assert_eq!(report.dissent, ["IT/security", "Ops"]);
    let it = find(&report, "IT");
    assert_eq!(it.agreement.unwrap().get(), 556, "75 of 135");
    let source = find(&report, "IT/security")
        .cast
        .as_ref()
        .unwrap()
        .source
        .clone()
        .unwrap();
    assert_eq!(
        (source.source.as_str(), source.line),
        ("docs/security.md", 7)
    );
}

#[test]
fn c06_a_tie_abstains_and_says_so() {
    let mut params = params();
    params.chiefs.truncate(2);
    let mut desk = open(SIMPLE, &params);
    answer(&mut desk, |seat| match seat {
        "IT" => vote(Vote::Approve, 70),
        _ => vote(Vote::Reject, 70),
    });
    let report = report(&desk);
    assert_eq!((report.vote, report.tied), (Some(Vote::Abstain), true));
    assert!(report.reasoning.starts_with("tied"));
    assert_eq!(report.dissent, ["IT", "Data"]);
}

#[test]
fn c06_a_synthesis_changes_words_and_never_the_vote() {
    let params = CouncilConfig {
        synthesis: SynthesisMode::Model,
        ..params()
    };
    let mut desk = open(COMPLEX, &params);
    let mut syntheses = 0;
    while desk.calls_out() > 0 {
        let sent = desk.sent();
        if voter(&sent).is_empty() {
            syntheses += 1;
            desk.reply(&sent, "VOTE: REJECT. The experts agree.");
        } else {
            desk.reply(&sent, &vote(Vote::Approve, 90));
        }
    }
    assert_eq!(
        syntheses, 3,
        "IT, Data and the council; Ops had nobody to sum up"
    );
    let report = report(&desk);
    assert_eq!(report.vote, Some(Vote::Approve));
    assert_eq!(report.reasoning, "VOTE: REJECT. The experts agree.");
}

#[test]
fn c07_at_depth_zero_each_chief_makes_one_call() {
    let params = CouncilConfig {
        depth_max: 0,
        ..params()
    };
    let mut desk = open(COMPLEX, &params);
    let asked = answer(&mut desk, |_| vote(Vote::Approve, 80));
    assert_eq!(asked, ["Data", "IT", "Ops"]);
    assert_eq!(desk.result().budget.spent.calls, 3);
}

#[test]
fn c07_three_levels_are_asked_and_a_fourth_cannot_be() {
    let deep = seat("c", &["auth"], vec![seat("d", &["auth"], vec![])]);
    let chief = seat(
        "IT",
        &[],
        vec![seat("a", &["auth"], vec![seat("b", &["auth"], vec![deep])])],
    );
    let params = CouncilConfig {
        chiefs: vec![chief],
        depth_max: 3,
        ..params()
    };
    let mut desk = open(COMPLEX, &params);
    let asked = answer(&mut desk, |_| vote(Vote::Approve, 80));
    assert_eq!(asked, ["IT/a/b/c"]);
    assert_eq!(report(&desk).depth, 3);
    let deeper = CouncilConfig {
        depth_max: 4,
        ..params
    };
    let error = BuiltInPrograms
        .build(&deeper.spec())
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("above the hard cap of 3"), "{error}");
}

#[test]
fn c10_three_calls_yield_a_partial_decision_and_nothing_over() {
    let amounts = Amounts { calls: 3, ..AMPLE };
    let mut desk = ManualHost::open(BuiltInPrograms, started(COMPLEX, &params(), amounts));
    let asked = answer(&mut desk, |_| vote(Vote::Approve, 80));
    assert!(asked.len() <= 3, "{asked:?}");
    let report = report(&desk);
    assert_eq!(report.vote, Some(Vote::Approve));
    assert!(report.partial);
    let refused = |seat: &&SeatReport| matches!(seat.failure, Some(SeatFailure::Refused { .. }));
    let voted = report.votes.iter().filter(|seat| seat.cast.is_some());
    assert_eq!(voted.count(), 2, "each chief may have half of what is left");
    assert_eq!(report.votes.iter().filter(refused).count(), 1);
    let result = desk.result();
    let dimension = Dimension::Calls;
    assert_eq!(
        result.stop_reason,
        StopReason::BudgetExhausted { dimension }
    );
    assert!(result.budget.spent.calls <= 3);
}

#[test]
fn c08_a_voter_that_stalls_is_left_out_when_its_time_is_over() {
    let params = CouncilConfig {
        voter_time: Millis(5_000),
        ..params()
    };
    let mut desk = open(COMPLEX, &params);
    let mut stalled = None;
    for _ in 0..desk.calls_out() {
        let sent = desk.sent();
        if voter(&sent) == "IT/network" {
            stalled = Some(sent.episode.clone());
        } else {
            desk.reply(&sent, &vote(Vote::Approve, 80));
        }
    }
    assert!(!desk.is_over());
    let stalled = stalled.unwrap();
    let before = desk.now;
    desk.ring(&stalled);
    assert_eq!(desk.now.since(before), Millis(5_000));
    let cancelled = desk.cancelled();
    let [(episode, ask, attempt)] = cancelled.as_slice() else {
        panic!("{cancelled:?}");
    };
    let failure = ModelFailure::unsent(FailureKind::Cancelled, "given up");
    let kind = EventKind::ModelReplied {
        ask: *ask,
        attempt: *attempt,
        outcome: fathom_core::journal::event::ModelCallOutcome::Failed(failure),
        jitter: 0,
    };
    desk.deliver(&episode.clone(), kind);
    let report = report(&desk);
    assert_eq!(find(&report, "IT/network").failure, Some(SeatFailure::Late));
    assert_eq!(report.vote, Some(Vote::Approve));
    assert!(report.partial);
}

#[test]
fn c09_comparison_tells_what_the_chiefs_alone_would_have_decided() {
    let params = CouncilConfig {
        compare: true,
        ..params()
    };
    let mut desk = open(COMPLEX, &params);
    answer(&mut desk, |seat| match seat {
        "IT" | "Data" | "Ops" => vote(Vote::Reject, 90),
        _ => vote(Vote::Approve, 95),
    });
    let report = report(&desk);
    assert_eq!(report.vote, Some(Vote::Approve));
    let alone = report.alone.unwrap();
    assert_eq!((alone.vote, alone.confidence.get()), (Vote::Reject, 900));
}

fn recalled(text: &str) -> ModelReply {
    ModelReply {
        recalled: Some(ReuseSource {
            run: RunId::from_bytes([7; 16]),
            episode: EpisodeId::root(),
            seq: Seq(4),
            similarity_milli: 960,
        }),
        ..samples::reply(0, text)
    }
}

#[test]
fn c10_an_earlier_answer_costs_nothing_and_is_said_to_be_one() {
    let params = CouncilConfig {
        reuse: ReusePolicy::Same,
        ..params()
    };
    let mut desk = ManualHost::new(BuiltInPrograms);
    desk.recalled = Some(recalled(&vote(Vote::Reject, 64)));
    desk.start(started(COMPLEX, &params, AMPLE));
    assert_eq!(desk.calls_out(), 0);
    let report = report(&desk);
    assert_eq!((report.vote, report.reused_calls), (Some(Vote::Reject), 4));
    let reused = find(&report, "IT/security").reused.clone().unwrap();
    assert_eq!(reused.similarity.get(), 960);
    let spent = desk.result().budget.spent;
    assert_eq!((spent.calls, spent.tokens), (0, 0));
    let calls = desk
        .log
        .entries
        .iter()
        .flat_map(|entry| &entry.record.commands);
    assert_eq!(
        calls
            .filter(|c| matches!(c, Command::CallModel { .. }))
            .count(),
        0
    );
}

#[test]
fn c10_an_earlier_answer_that_cannot_be_read_is_asked_for_again() {
    let params = CouncilConfig {
        reuse: ReusePolicy::Same,
        ..params()
    };
    let mut desk = ManualHost::new(BuiltInPrograms);
    desk.recalled = Some(recalled("no idea"));
    desk.start(started(SIMPLE, &params, AMPLE));
    assert_eq!(desk.calls_out(), 3);
    answer(&mut desk, |_| vote(Vote::Approve, 80));
    let report = report(&desk);
    assert_eq!((report.vote, report.reused_calls), (Some(Vote::Approve), 0));
}

#[test]
fn c10_no_earlier_answer_is_used_where_none_was_wanted() {
    let mut desk = ManualHost::new(BuiltInPrograms);
    desk.recalled = Some(recalled(&vote(Vote::Reject, 64)));
    desk.start(started(SIMPLE, &params(), AMPLE));
    assert_eq!(desk.calls_out(), 3);
}

#[test]
fn c07_a_cancelled_council_keeps_the_votes_it_has() {
    let mut desk = open(SIMPLE, &params());
    let sent = desk.sent();
    desk.reply(&sent, &vote(Vote::Reject, 66));
    desk.signal(&Signal::Cancel);
    for (episode, ask, attempt) in desk.cancelled() {
        let failure = ModelFailure::unsent(FailureKind::Cancelled, "given up");
        let outcome = fathom_core::journal::event::ModelCallOutcome::Failed(failure);
        let kind = EventKind::ModelReplied {
            ask,
            attempt,
            outcome,
            jitter: 0,
        };
        desk.deliver(&episode, kind);
    }
    let report = report(&desk);
    assert_eq!((report.vote, report.partial), (Some(Vote::Reject), true));
    assert_eq!(desk.result().stop_reason, StopReason::Cancelled);
}

#[test]
fn x02_a_council_cut_anywhere_goes_on_to_the_same_decision() {
    let say = |seat: &str| match seat {
        "IT/security" => vote(Vote::Reject, 60),
        _ => vote(Vote::Approve, 75),
    };
    let mut whole = open(COMPLEX, &params());
    answer(&mut whole, say);
    let decided = report(&whole).vote;
    for keep in 1..whole.log.entries.len() {
        let mut desk = open(COMPLEX, &params());
        answer(&mut desk, say);
        desk.crash(keep);
        answer(&mut desk, say);
        assert_eq!(report(&desk).vote, decided, "cut after {keep} records");
    }
}

#[test]
fn c02_an_onlooker_can_tell_the_seat_of_an_episode() {
    let desk = open(COMPLEX, &params());
    let seat = |path: &[u32]| council::seat_of(&desk.episode(&at(path)).started().program);
    assert_eq!(seat(&[0]).as_deref(), Some("IT"));
    assert_eq!(seat(&[0, 1]).as_deref(), Some("IT/network"));
    assert_eq!(council::seat_of(&params().spec()), None);
}
