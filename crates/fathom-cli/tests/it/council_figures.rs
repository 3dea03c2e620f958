//! Figures and charts of councils that really ran.

use fathom_core::budget::amounts::{Amounts, Budget};
use fathom_core::contract::spawn::SpawnClass;
use fathom_core::contract::{Contract, RecursionPolicy};
use fathom_core::model::{ModelSet, ModelSpec};
use fathom_core::packet::PacketFrame;
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars};
use fathom_host::{NewRun, RunEnd, Runtime, RuntimeOptions};
use fathom_programs::council::complexity::{DetectorConfig, TopicDomain};
use fathom_programs::council::{CHIEF, CouncilConfig, CouncilSeat, ReusePolicy, SUB_CHIEF};
use fathom_testkit::model_server::{ModelServer, ReplyBehaviour, SeenRequest};
use serde_json::{Value, json};

use crate::session::Session;

/// A chief with one sub-chief, whose name is no name for a file that others read.
fn council(depth_max: u8) -> CouncilConfig {
    let domain = |word: &str| TopicDomain {
        name: word.to_owned(),
        words: vec![word.to_owned()],
    };
    let seat = |id: &str, word: &str| CouncilSeat {
        id: id.to_owned(),
        focus: format!("You look at {word}."),
        lexicon: vec![word.to_owned()],
        ..CouncilSeat::default()
    };
    CouncilConfig {
        chiefs: vec![CouncilSeat {
            sub_chiefs: vec![seat("a<b>&", "auth")],
            ..seat("IT", "machines")
        }],
        detector: DetectorConfig {
            domains: vec![domain("auth"), domain("database")],
            score_min: 1,
            ..DetectorConfig::default()
        },
        depth_max,
        reuse: ReusePolicy::Off,
        compare: true,
        ..CouncilConfig::default()
    }
}

/// The sub-chief is against it, its chief is for it.
fn opinion(seen: &SeenRequest) -> ReplyBehaviour {
    let vote = if seen.prompt.contains("Your seat: IT/") {
        "REJECT"
    } else {
        "APPROVE"
    };
    let said = json!({"reasoning": "so", "source": 0, "vote": vote, "confidence": 80});
    ReplyBehaviour::reply(said.to_string())
}

/// Asks a council once at each depth.
async fn ask(session: &Session, depths: &[u8]) {
    let server = ModelServer::start(opinion).await.expect("a port");
    let spec = ModelSpec {
        base_url: Some(server.openai_url()),
        ..ModelSpec::named("openai/test")
    };
    let home = session.path().join("data/fathom");
    let host = Runtime::open(RuntimeOptions::new(home, |_| None)).expect("the home opens");
    for depth in depths {
        let run = NewRun {
            goal: Text::from("Should auth move to the new database?"),
            program: council(*depth).spec(),
            contract: Contract {
                recursion: RecursionPolicy {
                    max_depth: 4,
                    allowed_child_types: vec![CHIEF.to_owned(), SUB_CHIEF.to_owned()],
                    allowed_classes: vec![SpawnClass::Work],
                    ..RecursionPolicy::default()
                },
                ..Contract::default()
            },
            budget: Budget {
                amounts: Amounts {
                    tokens: 100_000,
                    calls: 100,
                    tools: 1,
                    money: Nanodollars(1_000_000_000),
                    episodes: 20,
                },
                time: Millis(60_000),
            },
            models: ModelSet::new(spec.clone(), spec.clone()),
            frame: PacketFrame::default(),
        };
        let end = host.start(run).expect("it starts").end().await;
        assert!(matches!(end, RunEnd::Finished(_)), "{end:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c07_c09_stats_show_councils_by_depth_and_what_recursion_changed() {
    let session = Session::new();
    ask(&session, &[0, 1, 1]).await;
    let json = session.run(&["stats", "--json"]).exits(0).json();
    let councils = &json["councils"];
    assert_eq!(councils["runs"], 3);
    assert_eq!(councils["by_depth"][0]["depth"], 0);
    assert_eq!(councils["by_depth"][1]["decisions"]["reject"], 2);
    assert_eq!(councils["by_depth"][1]["spawns_mean"], 1.0);
    let compared = &councils["compared"];
    assert_eq!(compared["same_run"]["changed"], 2);
    assert_eq!(compared["same_run"]["without"]["used"]["calls"], 2);
    assert_eq!(compared["same_question"]["changed"], 1);
    assert_eq!(councils["chiefs"][1]["seat"], "IT/a<b>&");
    assert_eq!(councils["chiefs"][1]["votes"]["reject"], 2);
    session
        .run(&["stats"])
        .exits(0)
        .prints("depth 1")
        .prints("same run: recursion changed 2 of 2 decisions (100 %)")
        .prints("a<b>&");
}

#[test]
fn c09_without_councils_nothing_is_said_of_them() {
    let session = Session::scripted(&[json!({"reply": "yes"})]);
    session.ask(&["q"]).exits(0);
    let json = session.run(&["stats", "--json"]).exits(0).json();
    assert_eq!(json.get("councils"), None::<&Value>);
    let human = session.run(&["stats"]);
    assert!(!human.exits(0).stdout.contains("council"));
}
