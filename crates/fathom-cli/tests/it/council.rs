//! What is seen of a council: its picture at the end, in `show` and after `resume`, and its keys.

use fathom_core::contract::spawn::SpawnClass;
use fathom_core::contract::{Contract, RecursionPolicy};
use fathom_core::model::{ModelSet, ModelSpec};
use fathom_core::packet::PacketFrame;
use fathom_host::config::BUDGET;
use fathom_host::{NewRun, RunEnd, Runtime, RuntimeOptions};
use fathom_programs::council::complexity::{DetectorConfig, TopicDomain};
use fathom_programs::council::{CHIEF, CouncilConfig, CouncilSeat, QuotedPassage, SUB_CHIEF};
use serde_json::{Value, json};

use crate::session::Session;

const QUESTION: &str = "May we change the schema before the auth migration?";

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn seat(id: &str, lexicon: &[&str], sub_chiefs: Vec<CouncilSeat>) -> CouncilSeat {
    CouncilSeat {
        id: id.to_owned(),
        lexicon: words(lexicon),
        sub_chiefs,
        ..CouncilSeat::default()
    }
}

/// IT has two sub-chiefs that the question touches, Data answers by itself.
fn params() -> CouncilConfig {
    let security = CouncilSeat {
        passages: vec![QuotedPassage {
            source: "docs/auth.md".to_owned(),
            line: 41,
            text: "The migration was not rehearsed.".to_owned(),
        }],
        ..seat("security", &["auth"], vec![])
    };
    let network = seat("network", &["schema"], vec![]);
    let domain = |name: &str, word: &str| TopicDomain {
        name: name.to_owned(),
        words: words(&[word]),
    };
    CouncilConfig {
        chiefs: vec![
            seat("IT", &[], vec![security, network]),
            seat("Data", &[], vec![]),
        ],
        detector: DetectorConfig {
            score_min: 1,
            domains: vec![domain("security", "auth"), domain("data", "schema")],
            ..DetectorConfig::default()
        },
        ..CouncilConfig::default()
    }
}

fn says(seat: &str, vote: &str, confidence: u8, reasoning: &str, more: Value) -> Value {
    let reply =
        json!({"reasoning": reasoning, "source": 1, "vote": vote, "confidence": confidence});
    let mut line = json!({"match": format!("Your seat: {seat}\\."), "reply": reply.to_string()});
    if let (Some(line), Value::Object(more)) = (line.as_object_mut(), more) {
        line.extend(more);
    }
    line
}

fn answers(more: &Value) -> Vec<Value> {
    vec![
        says(
            "IT/security",
            "REJECT",
            60,
            "It was not rehearsed.",
            more.clone(),
        ),
        says("IT/network", "APPROVE", 80, "Latency holds.", more.clone()),
        says(
            "Data",
            "APPROVE",
            90,
            "It is \u{1b}[31madditive.",
            more.clone(),
        ),
    ]
}

/// Begins a council in the home of `session` and lets it end, or lets go of it at once.
fn convene(session: &Session, is_let_go: bool) -> (String, RunEnd) {
    let script = session.path().join("answers.jsonl");
    let model = ModelSpec::named(format!("script/{}", script.display()));
    let new = NewRun {
        goal: QUESTION.into(),
        program: params().spec(),
        contract: Contract {
            recursion: RecursionPolicy {
                allowed_child_types: words(&[CHIEF, SUB_CHIEF]),
                allowed_classes: vec![SpawnClass::Work],
                ..RecursionPolicy::default()
            },
            ..Contract::default()
        },
        budget: BUDGET,
        models: ModelSet::new(model.clone(), model),
        frame: PacketFrame::default(),
    };
    let threads = tokio::runtime::Runtime::new().expect("a runtime");
    threads.block_on(async {
        let home = session.path().join("data/fathom");
        let host = Runtime::open(RuntimeOptions::new(home, |_| None)).expect("a home");
        let handle = host.start(new).expect("it starts");
        let run = handle.run().to_string();
        if is_let_go {
            handle.interrupt();
        }
        (run, handle.end().await)
    })
}

/// A council that was let go of while its voters were speaking, and whose voters now answer at once.
fn let_go() -> (Session, String) {
    let session = Session::scripted(&answers(&json!({"delay_ms": 600_000})));
    let (run, end) = convene(&session, true);
    assert!(matches!(end, RunEnd::Interrupted), "{end:?}");
    session.script("answers.jsonl", &answers(&json!({})));
    (session, run)
}

#[test]
fn c06_x01_show_draws_who_voted_what_and_why() {
    let session = Session::scripted(&answers(&json!({})));
    let (run, end) = convene(&session, false);
    assert!(matches!(end, RunEnd::Finished(_)), "{end:?}");
    let done = session.run(&["show", &run]);
    done.exits(0)
        .prints("├─ IT    APPROVE   80 %  2 sub-chiefs, 57 % agree ")
        .prints("│  ├─ security  REJECT    60 %  It was not rehearsed. ")
        .prints(" docs/auth.md:41 ")
        .prints("└─ Data  APPROVE   90 %  It is [31madditive. ")
        .prints("decision  APPROVE   confidence 85 %   agreement 100 %   dissent: IT/security\n")
        .prints("\nbudget  tokens");
    assert_eq!(done.stdout.matches("dissent").count(), 1, "{}", done.stdout);
    assert!(!done.stdout.contains('\u{1b}'), "{}", done.stdout);
    let full = session.run(&["show", &run, "-v"]);
    full.exits(0).prints("source: docs/auth.md:41\n");

    let json = session.run(&["show", &run, "--json"]).exits(0).json();
    let result = &json["result"];
    assert_eq!(result["vote"], "APPROVE");
    assert_eq!(result["confidence"], 0.85);
    assert_eq!(result["agreement"], 1.0);
    let security = &result["votes"][0]["children"][0];
    assert_eq!(security["chief"], "security");
    assert_eq!(security["source"], "docs/auth.md:41");
    assert_eq!(security["episode"], "0.0.0");
    assert_eq!(result["complexity"]["domains"], json!(["security", "data"]));
}

#[test]
fn x01_a_council_that_goes_on_ends_with_its_picture() {
    let (session, run) = let_go();
    let before = session.run(&["show", &run]);
    before.exits(0).prints("│  ├─ security  ");
    assert!(!before.stdout.contains("decision"), "{}", before.stdout);
    let done = session.run(&["resume", &run]);
    done.exits(0)
        .says("IT/security REJECT 60 %")
        .says("decision  APPROVE   confidence 85 %")
        .prints("APPROVE, confidence 85 %, agreement 100 %\n");
    assert!(!done.stderr.contains('\u{1b}'), "{}", done.stderr);
}

#[test]
fn x01_a_council_that_goes_on_ends_with_its_keys() {
    let (session, run) = let_go();
    let json = session.run(&["resume", &run, "--json"]).exits(0).json();
    assert_eq!(json["results"][0]["vote"], "APPROVE");
    assert_eq!(json["results"][0]["votes"][1]["chief"], "Data");
}

/// A script for the built-in council: security votes by what it was given to read, everybody else approves.
fn opinions() -> Vec<Value> {
    let vote = |vote: &str, why: &str| {
        json!({"reasoning": why, "source": 1, "vote": vote, "confidence": 80}).to_string()
    };
    vec![
        json!({"match": "(?s)Your seat: IT/security.*nine teams share one key", "reply": vote("REJECT", "one key"), "times": 9}),
        json!({"match": "Your seat: ", "reply": vote("APPROVE", "it holds"), "times": 99}),
    ]
}

const ASKED: &str = "Should we move the customer database to the new cluster this quarter, considering cost, latency and \
                     the auth migration?";

fn with_notes() -> Session {
    let session = Session::scripted(&opinions());
    let folder = session.path().join("notes");
    std::fs::create_dir(&folder).expect("a folder");
    for number in 0..12 {
        let garden = format!("Row {number} of the garden was covered with straw.\n\n").repeat(9);
        let text = match number {
            7 => format!(
                "{garden}Auth is weak: nine teams share one key, a breach of our own security rules.\n"
            ),
            _ => garden,
        };
        std::fs::write(folder.join(format!("{number}.md")), text).expect("a note");
    }
    session
}

#[test]
fn c02_c03_the_built_in_council_decides_on_what_its_files_say() {
    let session = with_notes();
    let model = "script/answers.jsonl";
    let done = session.run(&[
        "council",
        ASKED,
        "--context",
        "notes",
        "--model",
        model,
        "--json",
    ]);
    done.exits(0);
    let result = done.json();
    assert_eq!(result["program"], "council");
    assert_eq!(result["vote"], "APPROVE");
    assert_eq!(result["dissent"], json!(["IT/security"]));
    assert_eq!(result["complexity"]["score"], 2);
    let it = &result["votes"][0];
    assert_eq!(
        (&it["chief"], &it["agreement"]),
        (&json!("IT"), &json!(0.667))
    );
    let security = &it["children"][0];
    assert_eq!(security["vote"], "REJECT");
    assert_eq!(security["source"], "notes/7.md:19");
    assert_eq!(result["model_calls"], 6, "{result}");
    // Asked again it costs nothing; asked anew it does.
    let again = session.run(&[
        "council",
        ASKED,
        "--context",
        "notes",
        "--model",
        model,
        "--json",
    ]);
    let again = again.json();
    assert_eq!(
        (&again["model_calls"], &again["reused_calls"]),
        (&json!(0), &json!(6))
    );
    let anew = session.run(&[
        "council",
        ASKED,
        "--context",
        "notes",
        "--model",
        model,
        "--json",
        "--no-reuse",
    ]);
    let anew = anew.json();
    assert_eq!(anew["model_calls"], 6);
}

#[test]
fn c07_depth_is_the_councils_own_and_capped() {
    let session = with_notes();
    let model = ["--model", "script/answers.jsonl", "--json"];
    let ask = |more: &[&str]| session.run(&[&["council", ASKED], more, &model].concat());
    let direct = ask(&["--max-depth", "0"]);
    let direct = direct.exits(0).json();
    assert_eq!(
        (&direct["model_calls"], &direct["spawns"]),
        (&json!(3), &json!(0))
    );
    ask(&["--max-depth", "4"]).exits(2).says("the maximum is 3");
    ask(&["--budget", "calls=3", "--no-reuse"]).exits(3);
    ask(&["--context", "nowhere"]).exits(2).says("F0701");
    ask(&["--charter", "default"]).exits(2).says("`[council]`");
    ask(&["--compare", "--max-depth", "0"])
        .exits(2)
        .says("`--compare`");
}

#[test]
fn c10_learning_needs_data_and_says_how_to_get_it() {
    let session = Session::new();
    let learn = |more: &[&str]| session.run(&[&["charter", "learn"], more].concat());
    learn(&["council", "--dry-run"]).exits(2).says("F0641");
    learn(&["council"]).exits(2).says("--out FILE");
}

/// A charter whose `ask` goes to its council.
fn with_router() -> Session {
    let session = with_notes();
    let built_in = include_str!("../../../../charters/council/charter.toml");
    let (before, after) = built_in.split_once("[router]\n").expect("a router");
    let text = format!("{before}[router]\nask = \"council\"\n{after}");
    std::fs::create_dir(session.path().join("deciding")).expect("a folder");
    session.write("deciding/charter.toml", &text);
    session
}

#[test]
fn c02_ask_goes_to_the_council_where_the_router_says_so() {
    let session = with_router();
    let charter = ["--charter", "./deciding", "--model", "script/answers.jsonl"];
    let ask = |more: &[&str]| session.run(&[&["ask"], more, &charter].concat());
    let done = ask(&[ASKED, "--json", "--context", "notes"]);
    let result = done.exits(0).json();
    assert_eq!(result["program"], "council");
    assert_eq!(result["vote"], "APPROVE");
    assert_eq!(result["dissent"], json!(["IT/security"]));
    ask(&[ASKED, "--system", "Be brief."])
        .exits(2)
        .says("`--system`");
    ask(&["  "])
        .fails(2, "F0105")
        .says("pass it as the first argument (`fathom ask ");
}
