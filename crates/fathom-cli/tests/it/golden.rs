//! Homes that were written earlier: every run of theirs folds to what it was, and what did not end goes on.
//!
//! `scripts/golden-homes` writes them, and says what they hold. What differs here would keep a user's own runs from going on,
//! so the homes are written anew only when the fold says something else on purpose.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::session::{Done, Session};

/// What is known of each home, beside it.
const EXPECTED: &str = "expected.json";

/// What is compared of a result.
const COMPARED: [&str; 5] = ["run", "program", "status", "stop_reason", "answer"];

/// The folder of homes.
#[expect(
    clippy::disallowed_methods,
    reason = "whoever changes the fold tries homes of their own"
)]
fn homes() -> PathBuf {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format-1");
    std::env::var_os("FATHOM_GOLDEN_HOMES").map_or_else(usual, PathBuf::from)
}

/// Copies a folder so that only its owner can read it: no repository keeps that, and a home insists on it.
fn copy(from: &Path, to: &Path) {
    let only_owner = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is mine");
    };
    fs::create_dir(to).expect("it can be made");
    only_owner(to, 0o700);
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), &place).expect("it can be copied");
            only_owner(&place, 0o600);
        }
    }
}

/// A copy of a home, with all that its unfinished runs need beside it.
struct Golden {
    session: Session,
    folder: PathBuf,
    expected: Value,
}

impl Golden {
    fn of(name: &str) -> Self {
        let session = Session::new();
        let folder = session.path().join(name);
        copy(&homes().join(name), &folder);
        let expected = fs::read(folder.join(EXPECTED)).expect("what is expected");
        Self {
            expected: serde_json::from_slice(&expected).expect("JSON"),
            session,
            folder,
        }
    }

    /// Runs stand where the copy is: they find their scripts and charters through the present folder.
    fn run(&self, arguments: &[&str]) -> Done {
        let mut command = self.session.command(arguments);
        command
            .arg("--json")
            .current_dir(&self.folder)
            .env("FATHOM_HOME", "home")
            .env("FATHOM_MODELS", self.session.path().join("no-weights"))
            .env("FATHOM_INTERPRETER", "monty")
            .env("FATHOM_PLATFORM_TOKEN", "sandbox-token");
        Done::from(command.output().expect("the binary starts"))
    }

    /// Every run of a list folds again without a difference and is what it was; the home verifies.
    fn stands(&self, list: &str) {
        for wanted in self.expected[list].as_array().expect("a list") {
            let run = wanted["run"].as_str().expect("an id");
            let replay = self.run(&["replay", run]).exits(0).json();
            assert_eq!(replay["differences"], 0, "{replay}");
            assert_eq!(replay["model_calls"], 0, "{replay}");
            if wanted["events"].is_u64() {
                assert_eq!(replay["events"], wanted["events"]);
            }
            let shown = self.run(&["show", run]).exits(0).json();
            assert_eq!(shown["status"], wanted["status"], "{shown}");
            assert_eq!(compared(&shown["result"]), wanted["result"]);
        }
        let verified = self.run(&["verify"]).exits(0).json();
        assert_eq!(verified["ok"], true, "{verified}");
    }

    /// Goes on with a run, or gives the word that it waits for.
    fn takes(&self, step: &Value) {
        let word = step["word"].as_str().expect("a word");
        let run = step["run"].as_str().expect("an id");
        let done = if word == "resume" {
            self.run(&[word, run])
        } else {
            let open = self.run(&["approvals"]).json();
            let mut open = open["approvals"].as_array().expect("a list").iter();
            let asked = open.find(|one| one["run"] == run).expect("it asks");
            let id = asked["id"].as_str().expect("an id");
            self.run(&[word, id, "--why", "so it is"])
        };
        assert_eq!(json!(done.exit), step["exit"], "{step}\n{}", done.stderr);
        assert_eq!(compared(&done.json()["results"][0]), step["result"]);
    }
}

fn compared(result: &Value) -> Value {
    if result.is_null() {
        return Value::Null;
    }
    let kept = COMPARED.map(|key| (key.to_owned(), result[key].clone()));
    Value::Object(kept.into_iter().collect())
}

fn holds(name: &str) {
    let golden = Golden::of(name);
    golden.stands("runs");
    for step in golden.expected["steps"].as_array().expect("a list") {
        golden.takes(step);
    }
    golden.stands("after");
}

/// Every home: each has a test of its own, so that they run side by side.
const NAMES: [&str; 13] = [
    "agency", "ask", "commands", "council", "identity", "packets", "phases", "recipes", "rlm",
    "sessions", "think", "tools", "votes",
];

#[test]
fn x02_golden_posts_that_a_person_allowed() {
    holds("agency");
}

#[test]
fn x02_golden_an_answer_and_its_review() {
    holds("ask");
}

#[test]
fn x02_golden_commands_after_a_yes() {
    holds("commands");
}

#[test]
fn x02_golden_chiefs_and_sub_chiefs() {
    holds("council");
}

#[test]
fn x02_golden_an_identity_that_was_signed() {
    holds("identity");
}

#[test]
fn x02_golden_parts_of_packets_that_were_too_long() {
    holds("packets");
}

#[test]
fn x02_golden_phases_and_symbols() {
    holds("phases");
}

#[test]
fn x02_golden_ready_made_cells() {
    holds("recipes");
}

#[test]
fn x02_golden_cells_and_leaf_calls() {
    holds("rlm");
}

#[test]
fn x02_golden_questions_of_a_session() {
    holds("sessions");
}

#[test]
fn x02_golden_stages_and_votes_of_roles() {
    holds("think");
}

#[test]
fn x02_golden_calls_of_tools_and_words_of_people() {
    holds("tools");
}

#[test]
fn x02_golden_votes_that_were_missing_or_drawn() {
    holds("votes");
}

#[test]
fn x02_every_golden_home_is_tried() {
    let there = fs::read_dir(homes()).expect("a folder");
    let there = there.map(|entry| entry.expect("an entry").file_name());
    let there: BTreeSet<String> = there.filter_map(|name| name.into_string().ok()).collect();
    let tried: BTreeSet<String> = NAMES.map(str::to_owned).into_iter().collect();
    assert_eq!(there, tried);
}
