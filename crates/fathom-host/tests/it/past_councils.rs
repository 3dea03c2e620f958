//! Councils that have ended, read back from the journal.

use fathom_core::contract::spawn::SpawnClass;
use fathom_core::contract::{Contract, RecursionPolicy};
use fathom_core::text::Text;
use fathom_core::unit::Timestamp;
use fathom_host::view::council_stats::{CouncilStats, PastCouncil};
use fathom_host::{NewRun, Runtime};
use fathom_programs::council::complexity::{DetectorConfig, TopicDomain};
use fathom_programs::council::{CHIEF, CouncilConfig, CouncilSeat, ReusePolicy, SUB_CHIEF, Vote};
use fathom_testkit::model_server::{ModelServer, ReplyBehaviour, SeenRequest};
use serde_json::json;

use crate::fixture::{finished, host, models, new_run};

const QUESTION: &str = "Should the auth service move to the new database?";

fn seat(id: &str, word: &str, sub_chiefs: Vec<CouncilSeat>) -> CouncilSeat {
    CouncilSeat {
        id: id.to_owned(),
        focus: format!("You look at {word}."),
        lexicon: vec![word.to_owned()],
        sub_chiefs,
        ..CouncilSeat::default()
    }
}

/// Two chiefs; the question concerns a sub-chief of the first, and none of the second.
fn council(depth_max: u8) -> CouncilConfig {
    let domain = |word: &str| TopicDomain {
        name: word.to_owned(),
        words: vec![word.to_owned()],
    };
    let security = seat("security", "auth", vec![]);
    let schema = seat("schema", "tables", vec![]);
    CouncilConfig {
        chiefs: vec![
            seat("IT", "machines", vec![security]),
            seat("Data", "data", vec![schema]),
        ],
        detector: DetectorConfig {
            domains: vec![domain("auth"), domain("database")],
            score_min: 1,
            ..DetectorConfig::default()
        },
        depth_max,
        reuse: ReusePolicy::Off,
        compare: true,
        material: "material".to_owned(),
        ..CouncilConfig::default()
    }
}

/// Sub-chiefs are against it, chiefs are for it.
fn opinion(seen: &SeenRequest) -> ReplyBehaviour {
    let vote = if seen.prompt.contains("Your seat: IT/") {
        json!({"reasoning": "risky", "source": 0, "vote": "REJECT", "confidence": 90})
    } else {
        json!({"reasoning": "fine", "source": 0, "vote": "APPROVE", "confidence": 60})
    };
    ReplyBehaviour::reply(vote.to_string())
}

async fn ask(host: &Runtime, server: &ModelServer, question: &str, depth_max: u8) {
    let contract = Contract {
        recursion: RecursionPolicy {
            max_depth: 4,
            max_total_episodes: 40,
            allowed_child_types: vec![CHIEF.to_owned(), SUB_CHIEF.to_owned()],
            allowed_classes: vec![SpawnClass::Work],
            ..RecursionPolicy::default()
        },
        ..Contract::default()
    };
    let run = NewRun {
        goal: Text::from(question),
        contract,
        ..new_run(council(depth_max).spec(), models(server))
    };
    finished(host.start(run).expect("it starts")).await;
}

fn past(host: &Runtime) -> Vec<PastCouncil> {
    host.past_councils(Timestamp(0)).expect("they are listed")
}

#[tokio::test]
async fn c09_a_council_is_read_back_with_both_ways_to_its_decision() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(opinion).await.expect("a port");
    let host = host(dir.path());
    ask(&host, &server, QUESTION, 1).await;
    let councils = past(&host);
    let [council] = &councils[..] else {
        panic!("one council, not {}", councils.len());
    };
    assert_eq!(council.matter.question, QUESTION);
    assert_eq!(council.matter.material, "material");
    assert_eq!(council.matter.models, ["openai/test", "openai/test"]);
    assert_eq!(council.report.vote, Some(Vote::Reject));
    assert_eq!(
        council.report.alone.map(|alone| alone.vote),
        Some(Vote::Approve)
    );
    // IT by itself, IT/security and Data; the vote of Data counts on both sides.
    assert_eq!(council.spent.calls, 3);
    let sides = council.sides.expect("both ways were gone");
    assert_eq!((sides.without.calls, sides.with.calls), (2, 2));
    assert!(sides.with.tokens < council.spent.tokens);
}

#[tokio::test]
async fn c07_the_same_question_at_two_depths_is_compared() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(opinion).await.expect("a port");
    let host = host(dir.path());
    ask(&host, &server, QUESTION, 0).await;
    ask(&host, &server, QUESTION, 1).await;
    ask(&host, &server, "Should the door be green?", 1).await;
    let councils = CouncilStats::of(&past(&host)).expect("there are some");
    let depths: Vec<(u8, u64)> = councils
        .by_depth
        .iter()
        .map(|row| (row.depth, row.decided.runs))
        .collect();
    assert_eq!(depths, [(0, 2), (1, 1)]);
    let pairs = &councils.compared.same_question;
    assert_eq!((pairs.compared, pairs.changed), (1, 1));
    assert_eq!(councils.compared.same_run.changed, 1);
}

#[tokio::test]
async fn c09_only_councils_that_ended_since_and_can_be_read_are_past() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(opinion).await.expect("a port");
    let host = host(dir.path());
    let other = fathom_programs::direct::DirectConfig::default().spec();
    finished(
        host.start(new_run(other, models(&server)))
            .expect("it starts"),
    )
    .await;
    ask(&host, &server, QUESTION, 1).await;
    let runs = host.runs(10).expect("they are listed");
    assert_eq!((runs.len(), past(&host).len()), (2, 1));
    let newest = &runs[0];
    let later = Timestamp(newest.created_at.0 + 1);
    assert_eq!(host.past_councils(later).expect("they are listed"), []);
    host.shred(newest.run).expect("its key goes");
    assert_eq!(past(&host), []);
}
