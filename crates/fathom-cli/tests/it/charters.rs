//! `fathom charter`: check, show and new.

use fathom_host::charter::Charter;
use serde_json::{Value, json};

use crate::session::Session;

const MANIFEST: &str = "protocol = \"1.0.0\"\nname = \"mine\"\nversion = \"0.1.0\"\n";

fn with_charter(manifest: &str) -> Session {
    let session = Session::new();
    session.write("mine/charter.toml", manifest);
    session
}

#[test]
fn x01_a_new_charter_passes_its_check_by_name_and_by_path() {
    let session = Session::new();
    session
        .run(&["charter", "new", "ours"])
        .exits(0)
        .prints("data/fathom/charters/ours with 6 files")
        .prints("fathom charter check ours");
    session
        .run(&["charter", "check", "ours"])
        .exits(0)
        .prints("ok  ours 0.1.0   5 instructions, 1 agent, 1 prompt");
    session
        .run(&["charter", "new", "ours"])
        .fails(2, "F0627")
        .says("already exists");
    let written = session
        .run(&["charter", "new", "theirs", "--dir", "here", "--json"])
        .exits(0)
        .json();
    assert_eq!(written["name"], "theirs");
    assert_eq!(written["files"].as_array().map(Vec::len), Some(6));
    let checked = session.run(&["charter", "check", "here/theirs", "--json"]);
    let checked = checked.exits(0).json();
    assert_eq!(checked["ok"], true);
    assert_eq!(checked["charter"]["name"], "theirs");
    assert_eq!(checked["charter"]["agents"], json!(["reviewer"]));
    assert_eq!(checked["problems"], json!([]));
}

#[test]
fn x08_every_problem_is_printed_with_its_line() {
    let session = with_charter(&format!(
        "{MANIFEST}modle = 1\n[recursion]\nmax_depth = 9\n"
    ));
    session.write("mine/notes.txt", "");
    let done = session.run(&["charter", "check", "mine"]);
    done.exits(2);
    let expected = "\
warning[F0623]: unexpected file; ignored
  --> notes.txt
hint: a charter has charter.toml, identity.toml, persona.toml, instructions.toml, agents/*.md and prompts/*.md; for phases also phases/*.txt, shared/*.txt, symbols.json, kits.json, agents.json and context.json; for effects tools.toml, gateway.toml, entities.json and policies/*.cedar

error[F0606]: unknown key `modle`
  --> charter.toml:4:1
  |
4 | modle = 1
  | ^^^^^
hint: use one of protocol, name, description, version, packet, roles, router, budget, initiative, recursion, direct, council, phases, agency, stages, routes

error[F0610]: `max_depth` is 9, but the maximum is 4
  --> charter.toml:6:13
  |
6 | max_depth = 9
  |             ^
hint: set `max_depth` to at most 4

2 problems in the charter `mine`   1 warning
";
    assert_eq!(done.stdout, expected);
    assert_eq!(done.stderr, "");
    let checked = session.run(&["charter", "check", "./mine", "--json"]);
    let checked = checked.exits(2).json();
    assert_eq!(checked["ok"], false);
    assert_eq!(checked["charter"], Value::Null);
    assert_eq!(
        checked["problems"][1],
        json!({
            "code": "F0610", "message": "`max_depth` is 9, but the maximum is 4",
            "hint": "set `max_depth` to at most 4", "file": "charter.toml", "line": 6, "column": 13,
            "excerpt": "max_depth = 9",
        })
    );
    assert_eq!(checked["warnings"][0]["code"], "F0623");
    session
        .run(&["charter", "show", "mine"])
        .fails(2, "F0603")
        .says("--> charter.toml:4:1")
        .says("error[F0603]: charter `mine` has 2 problems");
}

#[test]
fn x08_a_charter_that_is_nowhere() {
    let session = Session::new();
    let check = |which: &str| session.run(&["charter", "check", which]);
    check("gone").fails(2, "F0601").says("default");
    check("../gone").fails(2, "F0602");
    session.run(&["charter", "new", "../up"]).fails(2, "F0602");
    session
        .run(&["charter", "new", "default"])
        .fails(2, "F0602");
    session.run(&["charter", "new"]).fails(2, "F0104");
}

#[test]
fn g11_show_tells_roles_packet_and_tokens() {
    let session = with_charter(&format!(
        "{MANIFEST}[packet]\nmtu = 4096\n[roles.lite]\nmodel = \"openai/small\"\nbase_url = \"http://127.0.0.1:8000/v1\"\n"
    ));
    session.write("mine/identity.toml", "traits = [\"calm\"]");
    session
        .run(&["charter", "show", "mine"])
        .exits(0)
        .prints("charter       mine 0.1.0   protocol 1.0.0")
        .prints("packet        4096 tokens   agents 20 %, symbols 50 %, history 30 %")
        .prints("├─ prime      the run's model")
        .prints("├─ lite       openai/small   at http://127.0.0.1:8000/v1")
        .prints("└─ codemind   the run's model")
        .prints("identity      3 tokens of 245")
        .prints("persona       0 tokens of 122");
    session
        .run(&["charter", "show"])
        .exits(0)
        .prints("charter       default 1.0.0   protocol 1.0.0   built in")
        .prints("├─ initial_planning");
}

#[test]
fn c02_show_tells_the_seats_of_a_council_as_a_tree() {
    let session = Session::new();
    session
        .run(&["charter", "check", "council"])
        .exits(0)
        .prints("ok  council 1.0.0   0 instructions, 0 agents, 0 prompts, 3 chiefs\n");
    session
        .run(&["charter", "show", "council"])
        .exits(0)
        .prints("├─ remote   depth 1, 4 sub-chiefs, stated confidence, 1200 tokens of passages")
        .prints("└─ local    depth 1, 4 sub-chiefs, 3 votes per seat, 400 tokens of passages")
        .prints("seats\n├─ IT\n│  ├─ security         25 words\n│  ├─ infrastructure   23 words")
        .prints("└─ Ops\n   ├─ cost          24 words")
        .prints("   └─ people        21 words\n");
    let checked = session
        .run(&["charter", "check", "council", "--json"])
        .json();
    assert_eq!(checked["charter"]["chiefs"], json!(["IT", "Data", "Ops"]));
    assert_eq!(checked["warnings"], json!([]));
    session
        .run(&["charter", "new", "council"])
        .fails(2, "F0602");
}

#[test]
fn g12_what_show_prints_as_json_is_the_charter() {
    let session = with_charter(&format!("{MANIFEST}[budget]\ntime = \"30s\"\n"));
    let shown = session.run(&["charter", "show", "mine", "--json"]).json();
    let read: Charter = serde_json::from_value(shown["charter"].clone()).expect("a charter");
    assert_eq!(shown["digest"], read.digest());
    let mut loaded = Charter::load(&session.path().join("mine"), &|_| 0).expect("usable");
    loaded.folder = None;
    assert_eq!(read, loaded);
    assert_eq!(shown["charter"]["protocol"], "1.0.0");
    assert_eq!(shown["charter"]["mtu"], "window");
    let again = session.run(&["charter", "show", "mine", "--json"]).json();
    assert_eq!(again, shown);
}
