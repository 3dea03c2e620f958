use super::*;
use crate::view::change_lines::ChangePrinter;
use crate::view::progress::picture;
use crate::view::result_json;
use crate::view::run_tests::{Teller, after, id, result, run_id};
use crate::view::tree::{EPISODES_SHOWN_MAX, TreeTime, TreeView};
use fathom_core::budget::amounts::Dimension;
use fathom_core::contract::stop::StopReason;
use fathom_core::episode::result::{EpisodeResult, EpisodeStatus};
use fathom_core::id::Digest;
use fathom_core::journal::event::{EpisodeOrigin, ProgramSpec};
use fathom_core::model::failure::FailureKind;
use fathom_core::text::VisitTexts as _;
use fathom_core::unit::{Millis, PerMille};
use fathom_programs::council::complexity::{
    ComplexityAssessment, ComplexitySignal, QuestionFeatures,
};
use fathom_programs::council::{
    ChiefsOnlyResult, ReusedAnswer, SampledVotes, SeatFailure, SeatVote, SourceRef, VoteError,
    tally_seats,
};

const QUESTION: &str =
    "Considering cost, latency and the auth migration, should we move the customer database?";

fn milli(percent: u16) -> PerMille {
    PerMille::new(percent * 10).unwrap()
}

fn empty(seat: &str) -> SeatReport {
    SeatReport {
        seat: seat.to_owned(),
        cast: None,
        failure: None,
        agreement: None,
        samples: None,
        reused: None,
        alone: None,
        alone_ms: None,
        episode: Some(id("0.0")),
        tokens: 702,
        calls: 1,
        reused_calls: 0,
        elapsed: Millis(3_812),
        children: vec![],
    }
}

fn cast(vote: Vote, percent: u16, reasoning: &str, source: Option<(&str, u32)>) -> SeatVote {
    SeatVote {
        vote,
        confidence: milli(percent),
        reasoning: reasoning.to_owned(),
        source: source.map(|(source, line)| SourceRef {
            source: source.to_owned(),
            line,
        }),
    }
}

fn voter(seat: &str, cast: SeatVote) -> SeatReport {
    SeatReport {
        cast: Some(cast),
        ..empty(seat)
    }
}

fn failed_seat(seat: &str, failure: SeatFailure) -> SeatReport {
    SeatReport {
        failure: Some(failure),
        ..empty(seat)
    }
}

fn refused_seat(seat: &str) -> SeatReport {
    let message = "no room in the budget: calls".to_owned();
    SeatReport {
        episode: None,
        tokens: 0,
        calls: 0,
        elapsed: Millis(0),
        ..failed_seat(seat, SeatFailure::Refused { message })
    }
}

fn asker(seat: &str, children: Vec<SeatReport>) -> SeatReport {
    let tally = tally_seats(&children);
    let cast = tally.map(|tally| {
        let said = children.iter().filter_map(|child| {
            let cast = child.cast.as_ref().filter(|cast| cast.vote == tally.vote)?;
            Some(format!("{}: {}", child.seat, cast.reasoning))
        });
        let said: Vec<String> = said.collect();
        SeatVote {
            vote: tally.vote,
            confidence: tally.confidence,
            reasoning: said.join("\n"),
            source: None,
        }
    });
    SeatReport {
        failure: cast.is_none().then_some(SeatFailure::NoVotes),
        cast,
        agreement: tally.map(|tally| tally.agreement),
        tokens: children.iter().map(|child| child.tokens).sum(),
        calls: children.len() as u64,
        elapsed: Millis(4_203),
        children,
        ..empty(seat)
    }
}

fn complex() -> ComplexityAssessment {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    ComplexityAssessment {
        score: 2,
        complex: true,
        reasons: vec![
            ComplexitySignal::Domains {
                domains: words(&["security", "data"]),
            },
            ComplexitySignal::Factors {
                factors: words(&["cost", "latency", "auth migration"]),
            },
        ],
        domains: words(&["security", "data"]),
        seats: words(&["IT/security", "IT/infrastructure", "Data/schema"]),
        features: QuestionFeatures::default(),
    }
}

fn decided(votes: Vec<SeatReport>, complexity: ComplexityAssessment) -> CouncilReport {
    let tally = tally_seats(&votes);
    let reasoning = votes.iter().filter_map(|chief| {
        let cast = chief.cast.as_ref()?;
        (Some(cast.vote) == tally.map(|tally| tally.vote))
            .then(|| format!("{}: {}", chief.seat, cast.reasoning))
    });
    let reasoning = reasoning.collect::<Vec<_>>().join("\n");
    CouncilReport {
        vote: tally.map(|tally| tally.vote),
        confidence: tally.map_or(PerMille::default(), |tally| tally.confidence),
        agreement: tally.map_or(PerMille::default(), |tally| tally.agreement),
        tied: tally.is_some_and(|tally| tally.tied),
        partial: false,
        dissent: vec![],
        reasoning,
        complexity,
        depth: u8::from(votes.iter().any(|chief| !chief.children.is_empty())),
        spawns: votes
            .iter()
            .map(|chief| u32::try_from(chief.children.len()).unwrap())
            .sum(),
        reused_calls: 0,
        alone: None,
        elapsed: Millis(4_400),
        votes,
    }
}

/// Sub-chiefs, dissent, a failure, answers that were used again, and a comparison.
fn full() -> CouncilReport {
    let security = voter(
        "security",
        cast(
            Vote::Reject,
            60,
            "The auth migration was not rehearsed, and a failed cut-over would lock every customer out.",
            Some(("docs/auth.md", 41)),
        ),
    );
    let infrastructure = SeatReport {
        reused: Some(ReusedAnswer {
            run: run_id(),
            similarity: milli(94),
        }),
        ..voter(
            "infrastructure",
            cast(
                Vote::Approve,
                80,
                "Capacity is there.",
                Some(("docs/operations/capacity/2026.md", 12)),
            ),
        )
    };
    let network = voter(
        "network",
        cast(
            Vote::Approve,
            75,
            "The latency budget holds: 40 ms of 60 ms.",
            Some(("docs/slo.md", 88)),
        ),
    );
    let it = SeatReport {
        alone: Some(cast(Vote::Reject, 55, "It is risky.", None)),
        alone_ms: Some(Millis(2_100)),
        ..asker("IT", vec![security, infrastructure, network])
    };
    let schema = SeatReport {
        reused: Some(ReusedAnswer {
            run: run_id(),
            similarity: PerMille::ALL,
        }),
        ..voter(
            "schema",
            cast(Vote::Approve, 81, "The migration is additive.", None),
        )
    };
    let late = SeatFailure::Call {
        failure: FailureKind::Timeout,
        message: "no complete reply within 30s".to_owned(),
    };
    let unreadable = SeatFailure::Unreadable(VoteError::NoVote);
    let data = asker("Data", vec![schema, failed_seat("archive", unreadable)]);
    CouncilReport {
        partial: true,
        dissent: vec!["IT/security".to_owned()],
        reused_calls: 2,
        alone: Some(ChiefsOnlyResult {
            vote: Vote::Reject,
            confidence: milli(60),
            agreement: milli(52),
            elapsed: Millis(2_100),
        }),
        ..decided(vec![it, data, failed_seat("Ops", late)], complex())
    }
}

fn simple(votes: Vec<SeatReport>) -> CouncilReport {
    decided(votes, ComplexityAssessment::default())
}

fn direct() -> CouncilReport {
    simple(vec![
        voter(
            "IT",
            cast(
                Vote::Approve,
                90,
                "It is a text change and can be rolled back in a minute.",
                Some(("docs/runbook.md", 3)),
            ),
        ),
        voter(
            "Data",
            cast(Vote::Approve, 100, "No data is touched.", None),
        ),
        voter("Ops", cast(Vote::Abstain, 40, "", None)),
    ])
}

fn tie() -> CouncilReport {
    let votes = vec![
        voter("IT", cast(Vote::Approve, 70, "Fast enough.", None)),
        asker(
            "Data",
            vec![
                voter("schema", cast(Vote::Approve, 50, "Additive.", None)),
                voter("archive", cast(Vote::Reject, 50, "No copy exists.", None)),
            ],
        ),
        voter("Ops", cast(Vote::Reject, 70, "Nobody is on call.", None)),
    ];
    CouncilReport {
        dissent: ["IT", "Data/schema", "Data/archive", "Ops"]
            .map(str::to_owned)
            .to_vec(),
        reasoning: "tied: no vote has more weight than all others".to_owned(),
        ..decided(votes, complex())
    }
}

fn nobody() -> CouncilReport {
    let connection = SeatFailure::Call {
        failure: FailureKind::Connection,
        message: String::new(),
    };
    let stopped = SeatFailure::Stopped {
        message: "cancelled".to_owned(),
    };
    let votes = vec![
        failed_seat("IT", connection.clone()),
        asker("Data", vec![failed_seat("schema", connection)]),
        failed_seat("Ops", stopped),
    ];
    CouncilReport {
        partial: true,
        ..decided(votes, complex())
    }
}

/// Three calls for five voters.
fn short_of_budget() -> CouncilReport {
    let security = cast(Vote::Reject, 80, "Keys are shared.", None);
    let schema = cast(Vote::Reject, 70, "Columns would be dropped.", None);
    let it = asker(
        "IT",
        vec![voter("security", security), refused_seat("network")],
    );
    let votes = vec![it, voter("Data", schema), refused_seat("Ops")];
    CouncilReport {
        partial: true,
        ..decided(votes, complex())
    }
}

fn measured() -> CouncilReport {
    let drawn = |approve, reject, abstain, failed| {
        Some(SampledVotes {
            approve,
            reject,
            abstain,
            failed,
        })
    };
    simple(vec![
        SeatReport {
            samples: drawn(4, 1, 0, 0),
            ..voter("IT", cast(Vote::Approve, 80, "Capacity is there.", None))
        },
        SeatReport {
            samples: drawn(1, 3, 0, 1),
            ..voter("Data", cast(Vote::Reject, 75, "The copy is old.", None))
        },
        SeatReport {
            samples: drawn(2, 2, 1, 0),
            ..voter("Ops", cast(Vote::Abstain, 20, "Both ways.", None))
        },
    ])
}

fn hostile() -> CouncilReport {
    let escapes = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}[31mred\u{1b}[0m\r\noverwritten\u{8}\u{9b}1A\n\n\n\nfourth\tline";
    let turned = "\u{202e}txt.exe\u{202c} \u{200f}שלום עולם مرحبا \u{2066}x\u{2069}";
    let wide = "日本語の理由はとても長いので一行には収まりません。👩‍👩‍👧 e\u{301}\u{301}\u{301} ❤️❤️❤️";
    let long = "verylongword".repeat(20) + &" and so on".repeat(476);
    assert!(long.chars().count() >= 5_000);
    simple(vec![
        voter(
            "I\u{1b}[31mT",
            cast(
                Vote::Approve,
                70,
                escapes,
                Some(("docs/\u{1b}[31mevil\nname.md", 1)),
            ),
        ),
        voter("Data", cast(Vote::Approve, 70, turned, None)),
        voter("Ops", cast(Vote::Approve, 70, wide, None)),
        failed_seat(
            "a seat whose name is much longer than there is room for it",
            SeatFailure::Stopped {
                message: format!("\u{1b}[5m{escapes} {turned}"),
            },
        ),
        voter("long", cast(Vote::Approve, 70, &long, None)),
    ])
}

fn root_spec() -> ProgramSpec {
    ProgramSpec {
        name: council::NAME.to_owned(),
        params: "{}".into(),
    }
}

fn seat_spec(path: &str) -> ProgramSpec {
    let params = serde_json::json!({"seat": {"id": "x"}, "path": path});
    ProgramSpec {
        name: "chief".to_owned(),
        params: Text::new(params.to_string()),
    }
}

fn with_report(
    report: &impl serde::Serialize,
    status: EpisodeStatus,
    stop: StopReason,
) -> EpisodeResult {
    EpisodeResult {
        report: Some(Text::new(serde_json::to_string(report).unwrap())),
        ..result(status, stop, Some("as the report says"), 3_040)
    }
}

fn begun() -> Teller {
    let mut teller = Teller::default();
    teller.start_program("0", QUESTION, EpisodeOrigin::Asked, root_spec());
    teller
}

fn ended(report: &CouncilReport, status: EpisodeStatus, stop: StopReason) -> Teller {
    let mut teller = begun();
    teller.end(4_400, with_report(report, status, stop));
    teller
}

fn ok(report: &CouncilReport) -> Teller {
    ended(report, EpisodeStatus::Ok, StopReason::Success)
}

fn drawn(teller: &Teller, width: usize, detail: SeatDetail) -> String {
    let lines = picture(&teller.story, width, EPISODES_SHOWN_MAX, detail);
    for line in &lines {
        let (taken, line) = (line.columns(), line.plain());
        assert!(taken <= width, "{taken} columns: {line}");
        let is_safe = |c: char| !c.is_control() && !('\u{2028}'..='\u{202e}').contains(&c);
        assert!(line.chars().all(is_safe), "{line:?}");
    }
    let lines: Vec<String> = lines.iter().map(StyledLine::plain).collect();
    lines.join("\n")
}

fn at_all_widths(teller: &Teller) -> String {
    let pictures = [40, 80, 120].map(|width| {
        let drawn = drawn(teller, width, SeatDetail::Short);
        format!("-- {width} columns\n{drawn}")
    });
    pictures.join("\n\n")
}

#[test]
fn c06_x01_a_council_with_sub_chiefs_dissent_failure_and_reuse() {
    insta::assert_snapshot!(at_all_widths(&ok(&full())));
}

#[test]
fn c06_x01_every_reason_in_full() {
    let teller = ok(&full());
    let pictures = [40, 80].map(|width| drawn(&teller, width, SeatDetail::Full));
    insta::assert_snapshot!(pictures.join("\n\n"));
}

#[test]
fn c06_x01_chiefs_that_answer_directly() {
    insta::assert_snapshot!(at_all_widths(&ok(&direct())));
}

#[test]
fn c06_a_tie_is_said() {
    insta::assert_snapshot!(at_all_widths(&ok(&tie())));
}

#[test]
fn c05_nobody_voted() {
    let class = fathom_core::contract::stop::ErrorClass::Child;
    let stop = StopReason::Failure { class };
    let teller = ended(&nobody(), EpisodeStatus::Failed, stop);
    insta::assert_snapshot!(at_all_widths(&teller));
}

#[test]
fn c10_a_decision_short_of_budget_is_partial() {
    let dimension = Dimension::Calls;
    let stop = StopReason::BudgetExhausted { dimension };
    let teller = ended(&short_of_budget(), EpisodeStatus::NeedsReview, stop);
    insta::assert_snapshot!(at_all_widths(&teller));
}

#[test]
fn c05_measured_confidence_shows_its_draws() {
    insta::assert_snapshot!(at_all_widths(&ok(&measured())));
}

#[test]
fn x08_hostile_words_stay_words() {
    let teller = ok(&hostile());
    let whole = drawn(&teller, 80, SeatDetail::Short);
    let head: Vec<&str> = whole.lines().take(20).collect();
    insta::assert_snapshot!(head.join("\n"));
    assert_eq!(whole.matches("and so on").count(), 476, "all of it");
    // What holds for every line is asserted where it is drawn.
    for width in [40, 59, 60, 79, 120, 200] {
        for detail in [SeatDetail::Short, SeatDetail::Full] {
            let drawn = drawn(&teller, width, detail);
            assert!(drawn.contains("decision  APPROVE"), "{drawn}");
        }
    }
}

#[test]
fn c06_the_meaning_holds_without_colour() {
    let words = |lines: Vec<StyledLine>| {
        lines
            .iter()
            .map(StyledLine::plain)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let plain = words(lines(&ok(&full()).story, 80, SeatDetail::Short).unwrap());
    for word in ["APPROVE", "REJECT", "failed", "dissent", "partial"] {
        assert!(plain.contains(word), "{word}: {plain}");
    }
}

#[test]
fn c06_x01_the_result_as_json() {
    let json = result_json::of(run_id(), &ok(&full()).story, vec![]).unwrap();
    insta::assert_json_snapshot!(json);
}

fn keys(json: &serde_json::Value) -> Vec<String> {
    json.as_object().unwrap().keys().cloned().collect()
}

fn json(teller: &Teller) -> serde_json::Value {
    serde_json::to_value(result_json::of(run_id(), &teller.story, vec![]).unwrap()).unwrap()
}

#[test]
fn x01_a_council_has_its_keys_whatever_came_of_it_and_no_other_program_has() {
    let whole = json(&ok(&full()));
    let seat = keys(&whole["votes"][0]);
    for teller in [ok(&nobody()), ok(&measured()), begun()] {
        let json = json(&teller);
        assert_eq!(keys(&json), keys(&whole));
        for vote in json["votes"].as_array().unwrap() {
            assert_eq!(keys(vote), seat);
        }
    }
    let other = json(&crate::view::run_tests::finished());
    for key in ["vote", "votes", "confidence", "complexity"] {
        assert!(whole.get(key).is_some(), "{key}");
        assert!(other.get(key).is_none(), "{key}");
    }
}

#[test]
fn c05_a_vote_that_there_is_none_of_is_null() {
    let json = json(&ok(&nobody()));
    for key in ["vote", "confidence", "agreement", "reasoning"] {
        assert_eq!(json[key], serde_json::Value::Null, "{key}");
        assert_eq!(json["votes"][0][key], serde_json::Value::Null, "{key}");
    }
    assert_eq!(json["votes"][0]["failure"]["kind"], "call");
    assert_eq!(json["votes"][0]["failure"]["detail"], "connection");
}

/// Chiefs and sub-chiefs on their way.
fn at_work() -> Teller {
    let mut teller = begun();
    let full = full();
    for (child, path) in [("0.0", "IT"), ("0.1", "Data"), ("0.2", "Ops")] {
        teller.spawn_program(child, council::CHIEF, seat_spec(path));
    }
    for (child, path) in [("0.0.0", "IT/security"), ("0.0.1", "IT/network")] {
        teller.spawn_program(child, council::SUB_CHIEF, seat_spec(path));
        teller.call(child, 1, 400);
    }
    let done = |report: &SeatReport| with_report(report, EpisodeStatus::Ok, StopReason::Success);
    teller.end_child("0.0.0", 900, done(&full.votes[0].children[0]));
    teller.end_child("0.1", 1_200, done(&full.votes[1]));
    let class = fathom_core::contract::stop::ErrorClass::Model(FailureKind::Timeout);
    let stop = StopReason::Failure { class };
    teller.end_child(
        "0.2",
        1_300,
        with_report(&full.votes[2], EpisodeStatus::Failed, stop),
    );
    teller
}

#[test]
fn x01_seats_at_work_have_their_names_and_then_their_votes() {
    let teller = at_work();
    let pictures = [40, 80, 120].map(|columns| {
        let view = TreeView {
            columns,
            episodes_max: EPISODES_SHOWN_MAX,
            moment: TreeTime::Live {
                now: after(2_000),
                frame: 2,
            },
        };
        let lines = crate::view::tree::lines(&teller.story, &view);
        assert!(lines.iter().all(|line| line.columns() <= columns));
        let lines: Vec<String> = lines.iter().map(StyledLine::plain).collect();
        format!("-- {columns} columns\n{}", lines.join("\n"))
    });
    insta::assert_snapshot!(pictures.join("\n\n"));
}

#[test]
fn x01_in_a_pipe_seats_are_told_by_their_paths() {
    let told = ChangePrinter::default().since_last("0199c2f4", &at_work().story, after(2_000));
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn x01_a_council_that_has_not_ended_is_shown_as_its_episodes() {
    let drawn = drawn(&at_work(), 80, SeatDetail::Short);
    assert!(drawn.contains("council  "), "{drawn}");
    assert!(!drawn.contains("decision"), "{drawn}");
}

#[test]
fn x01_a_council_whose_content_is_gone_is_shown_as_its_episodes() {
    let mut gone = with_report(&full(), EpisodeStatus::Ok, StopReason::Success);
    gone.each_text(&mut |text| {
        text.seal(Digest([7; 32]));
        *text = serde_json::from_value(serde_json::to_value(&*text).unwrap()).unwrap();
    });
    let mut teller = begun();
    teller.end(4_400, gone);
    assert!(report(&teller.story).is_none());
    assert!(drawn(&teller, 80, SeatDetail::Short).contains("council  ok"));
}
