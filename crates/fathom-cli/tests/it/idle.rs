//! Ideas that were kept for later, and idle moments that come back to them.

use fathom_store::HomeFolder;
use fathom_store::channels::{NewSeed, SeedKind};
use serde_json::{Value, json};

use crate::session::{Done, Session};

const SCRIPT: [&str; 2] = ["--model", "script/answers.jsonl"];

/// One pass through the stages, whatever the task is.
fn stages(act: &str, verify: &str) -> Vec<Value> {
    vec![
        json!({ "match": "Plan how to do", "reply": "PLAN:\n- look" }),
        json!({ "match": "Judge the plan", "reply": "PLAN:\n- look\nconfidence=0.9" }),
        json!({ "match": "Look whether the task", "reply": verify }),
        json!({ "match": "You read along", "reply": "OK" }),
        json!({ "match": "Do the task by the plan", "reply": act }),
    ]
}

/// A session that kept two ideas.
fn with_ideas() -> Session {
    let act = "RESPONSE: Done.\nTHOUGHT_SEED: ask Ann about May\nRESPONSE: And so on.\nTHOUGHT_SEED: a cheaper disk";
    let session = Session::scripted(&stages(act, "VERIFY: success"));
    let think = [&["think", "Do it."], &SCRIPT[..]].concat();
    session.run(&think).exits(0);
    session
}

fn idle(session: &Session, more: &[&str]) -> Done {
    session.run(&[&["think", "--idle"], &SCRIPT[..], more].concat())
}

/// What is kept, by text, with its state.
fn ideas(session: &Session) -> Vec<(String, String)> {
    let listed = session.run(&["seeds", "list", "--json"]).exits(0).json();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let seeds = listed["seeds"].as_array().expect("seeds").iter();
    seeds
        .filter(|seed| seed["kind"] == "thought_seed")
        .map(|seed| (word(&seed["text"]), word(&seed["state"])))
        .collect()
}

fn idea(text: &str, state: &str) -> (String, String) {
    (text.to_owned(), state.to_owned())
}

#[test]
fn g13_an_idle_moment_comes_back_to_the_oldest_idea() {
    let session = with_ideas();
    assert_eq!(
        ideas(&session),
        [
            idea("ask Ann about May", "new"),
            idea("a cheaper disk", "new")
        ]
    );
    session.script(
        "answers.jsonl",
        &stages("RESPONSE: Worth it.", "VERIFY: success"),
    );
    let thought = idle(&session, &["--json"]).exits(0).json();
    assert_eq!(thought["waiting"], 1);
    let cycle = &thought["cycles"][0];
    assert_eq!(cycle["seed"]["text"], "ask Ann about May");
    assert_eq!(cycle["seed"]["state"], "reviewed");
    assert_eq!(cycle["result"]["answer"], "Worth it.");
    assert_eq!(
        ideas(&session),
        [
            idea("ask Ann about May", "reviewed"),
            idea("a cheaper disk", "new")
        ]
    );
    // Nobody outside asked: the answer stays in the house.
    let blocks = cycle["result"]["blocks"].as_array().expect("blocks");
    let response = blocks.iter().find(|block| block["marker"] == "RESPONSE");
    assert_eq!(response.expect("an answer")["channels"], json!(["cli"]));
    // The idea is what the run was about, as material and not as an order.
    let shown = session.run(&["show", &session.newest(), "--json"]);
    let goal = shown.exits(0).json().to_string();
    let (order, idea) = goal
        .split_once("Nothing in it is an order")
        .expect("the goal");
    assert!(
        !order.contains("ask Ann") && idea.contains("ask Ann about May"),
        "{goal}"
    );
}

#[test]
fn g13_cycles_end_when_no_idea_is_left() {
    let session = with_ideas();
    let twice = [
        stages("RESPONSE: Worth it.", "VERIFY: success"),
        stages("RESPONSE: Not now.", "VERIFY: success"),
    ];
    session.script("answers.jsonl", &twice.concat());
    let thought = idle(&session, &["--cycles", "5", "--json"]).exits(0).json();
    assert_eq!(thought["cycles"].as_array().map(Vec::len), Some(2));
    assert_eq!(thought["waiting"], 0);
    let runs = session.run(&["runs", "--json"]).json();
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(3));
    idle(&session, &[]).exits(0).says("no open thought seeds");
    let runs = session.run(&["runs", "--json"]).json();
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(3));
}

#[test]
fn g13_an_idea_has_a_small_budget_of_its_own() {
    let session = with_ideas();
    session.script(
        "answers.jsonl",
        &stages("RESPONSE: Worth it.", "VERIFY: success"),
    );
    let thought = idle(
        &session,
        &["--json", "--budget", "tokens=9000000,calls=900"],
    )
    .json();
    let budget = &thought["cycles"][0]["result"]["budget"];
    assert_eq!(budget["tokens"]["limit"], 24_000, "{thought}");
    assert_eq!(budget["calls"]["limit"], 16);
    assert_eq!(budget["tools"]["limit"], 0);
    // What is said for all runs may lower it, and so does the charter.
    session.script(
        "answers.jsonl",
        &stages("RESPONSE: Worth it.", "VERIFY: success"),
    );
    let thought = idle(&session, &["--json", "--budget", "calls=3"]).json();
    let budget = &thought["cycles"][0]["result"]["budget"];
    assert_eq!(budget["calls"]["limit"], 3, "{thought}");
}

#[test]
fn g13_an_idea_that_was_not_thought_through_is_put_off() {
    let session = with_ideas();
    session.script(
        "answers.jsonl",
        &stages("RESPONSE: Worth it.", "VERIFY: fail, no reason"),
    );
    idle(&session, &[]).says("idea marked deferred");
    assert_eq!(
        ideas(&session),
        [
            idea("ask Ann about May", "deferred"),
            idea("a cheaper disk", "new")
        ]
    );
    let listed = session
        .run(&["seeds", "list", "--state", "deferred", "--json"])
        .json();
    let id = listed["seeds"][0]["id"].as_str().expect("an id").to_owned();
    session
        .run(&["seeds", "mark", &id, "new"])
        .exits(0)
        .prints("ask Ann about May");
    assert_eq!(ideas(&session)[0].1, "new");
    session
        .run(&["seeds", "mark", "nothing", "new"])
        .fails(2, "F1090");
    session.run(&["seeds", "mark", "", "new"]).fails(2, "F1090");
    session
        .run(&["seeds", "mark", &id, "done"])
        .fails(2, "F0103");
}

#[test]
fn g13_nothing_is_idle_while_a_run_is_worked_on() {
    let session = with_ideas();
    let nobody = [
        "--model",
        "openai/any",
        "--base-url",
        "http://127.0.0.1:9/v1",
    ];
    let asked = [&["ask", "Who?"], &nobody[..]].concat();
    let mut command = session.command(&asked);
    command.env("OPENAI_API_KEY", "sk-not-a-key");
    Done::from(command.output().expect("the binary starts")).exits(5);
    let run = session.newest().parse().expect("an id");
    let home = HomeFolder::open(session.path().join("data/fathom")).expect("a home");
    let lock = home.lock_run(run).expect("a lock").expect("nobody has it");
    idle(&session, &[]).exits(0).says("not idle: run");
    assert_eq!(ideas(&session)[0].1, "new");
    drop(lock);
}

/// Whoever comes back to ideas keeps the record of how stable the stack is.
#[test]
fn g06_g13_idle_moments_are_what_stability_is_made_of() {
    let session = with_ideas();
    let score = || {
        let shown = session.run(&["identity", "show", "gaia", "--json"]);
        shown.exits(0).json()["stability"]["score_milli"].clone()
    };
    assert_eq!(score(), Value::Null);
    session.script(
        "answers.jsonl",
        &stages("RESPONSE: Worth it.", "VERIFY: success"),
    );
    idle(&session, &[]).exits(0);
    assert_eq!(score(), 100);
    session.script(
        "answers.jsonl",
        &stages("RESPONSE: Worth it.", "VERIFY: fail, no reason"),
    );
    idle(&session, &[]).exits(3);
    assert_eq!(score(), 90);
}

/// What fails is told and noted, and looked at again after the pause.
#[test]
fn g13_an_outage_does_not_end_what_looks_again_and_again() {
    let session = with_ideas();
    let idle = |more: &[&str]| {
        let nobody = [
            "think",
            "--idle",
            "--model",
            "openai/any",
            "--base-url",
            "http://127.0.0.1:9/v1",
        ];
        let mut command = session.command(&[&nobody[..], more].concat());
        command.env("OPENAI_API_KEY", "sk-not-a-key");
        Done::from(command.output().expect("the binary starts"))
    };
    let told = idle(&["--every", "1s", "--cycles", "2"]);
    told.exits(5);
    assert_eq!(
        ideas(&session),
        [
            idea("ask Ann about May", "deferred"),
            idea("a cheaper disk", "deferred")
        ]
    );
    let noted = session.run(&["identity", "show", "gaia", "--json"]);
    assert_eq!(noted.exits(0).json()["stability"]["score_milli"], 0);
}

#[test]
fn g13_a_seed_is_named_by_its_whole_id_though_another_begins_with_it() {
    let session = with_ideas();
    let home = HomeFolder::open(session.path().join("data/fathom")).expect("a home");
    let seeds = home.open_channels().expect("channels").seeds();
    let first = seeds.list(None).expect("seeds").remove(0);
    let longer = format!("{}0", first.id);
    let seed = NewSeed {
        id: &longer,
        run: first.run,
        kind: SeedKind::ThoughtSeed,
        text: "another",
        created: first.created,
    };
    seeds.add(&seed).expect("it is kept");
    session
        .run(&["seeds", "mark", &first.id, "deferred"])
        .exits(0);
    let cut = &first.id[..first.id.len() - 1];
    session
        .run(&["seeds", "mark", cut, "new"])
        .fails(2, "F1090");
}
