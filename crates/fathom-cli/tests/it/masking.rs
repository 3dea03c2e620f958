//! Nothing bypasses the filters: every command, in every form, on a home full of personal data and secrets.
//!
//! The commands come from the binary's own help. A new one fails here until it has a case.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::Stdio;

use fathom_store::HomeFolder;
use fathom_testkit::model_server::{ModelServer, ReplyBehaviour, SeenRequest};
use serde_json::{Value, json};

use crate::board;
use crate::session::{Done, Session};

const EMAIL: &str = "ann.planted@kestrel-post.de";

/// Made up and right in form. The second is a part that must not be seen: half a value is one too many.
const PLANTED: [(&str, &str); 8] = [
    (EMAIL, "ann.planted@"),
    ("card 4539 1488 0343 6467", "4539 1488"),
    ("IBAN DE89 3704 0044 0532 0130 00", "3704 0044"),
    ("SSN 536-90-4399", "536-90"),
    ("ghp_016C7e2fBLAq4XAOVtYvSNlRuCDXWz1ebx9T", "016C7e2fBLA"),
    (
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        "dozjgNryP4J3",
    ),
    ("https://ann:Zq8mV7planted@db.kestrel.de/x", "Zq8mV7"),
    (
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END PRIVATE KEY-----",
        "MIIEvQIBADAN",
    ),
];

/// The forms of a command's output, each with what is logged beside it.
const MODES: [(&[&str], &str); 3] = [(&[], ""), (&["--json"], "trace"), (&["-v"], "")];

fn letter() -> String {
    let values: Vec<&str> = PLANTED.iter().map(|(value, _)| *value).collect();
    format!("Planted: {}\nThat was all.", values.join(", "))
}

/// A command with planted values in what it is given or finds.
struct Case {
    /// As help names it.
    command: &'static str,
    more: Vec<String>,
    stdin: String,
    /// Whether a mask must be there, in every mode.
    shows: bool,
}

fn case(command: &'static str, more: &[&str]) -> Case {
    Case {
        command,
        more: more.iter().map(ToString::to_string).collect(),
        stdin: String::new(),
        shows: true,
    }
}

impl Case {
    /// It says nothing of what was planted.
    fn silent(self) -> Self {
        Self {
            shows: false,
            ..self
        }
    }

    fn reading(self, stdin: &str) -> Self {
        Self {
            stdin: stdin.to_owned(),
            ..self
        }
    }

    fn run(&self, session: &Session, flags: &[&str], logged: &str) -> Done {
        let words = self.command.split(' ');
        let words = words.chain(self.more.iter().map(String::as_str));
        let words: Vec<&str> = words.chain(flags.iter().copied()).collect();
        let mut command = session.command(&words);
        command
            .env("FATHOM_NO_RESUME", "1")
            .env("FATHOM_LOG", logged)
            .env("FATHOM_INTERPRETER", "monty")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        // Who does not read it has ended already.
        let _ = stdin.write_all(self.stdin.as_bytes());
        drop(stdin);
        Done::from(child.wait_with_output().expect("it ends"))
    }
}

/// The commands that have no commands below them, as help lists them.
fn leaves(session: &Session, above: &[&str], found: &mut BTreeSet<String>) {
    let help = session.run(&[above, &["--help"]].concat());
    let listed = help.exits(0).stdout.lines();
    let listed = listed
        .skip_while(|line| !line.starts_with("Usage:"))
        .skip(1);
    let is_name = |name: &&str| name.starts_with(|first: char| first.is_ascii_lowercase());
    let names: Vec<&str> = listed
        // Commands stand in groups, each under a heading of its own; flags come after them.
        .take_while(|line| !matches!(*line, "Options:" | "Global flags:"))
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(is_name)
        .filter(|name| *name != "help")
        .collect();
    if names.is_empty() {
        found.insert(above.join(" "));
    }
    for name in names {
        leaves(session, &[above, &[name]].concat(), found);
    }
}

/// The planted values that can be seen.
fn seen(done: &Done) -> Vec<&'static str> {
    let said = format!("{}{}", done.stdout, done.stderr);
    let seen = PLANTED.iter().filter(|(_, needle)| said.contains(needle));
    seen.map(|(value, _)| *value).collect()
}

#[track_caller]
fn shows_nothing(what: &str, done: &Done) {
    let nothing: [&str; 0] = [];
    assert_eq!(
        seen(done),
        nothing,
        "{what}:\n{}\n{}",
        done.stdout,
        done.stderr
    );
}

/// A home with a run, an open approval, a symbol and a session, and planted values in each of them.
struct World {
    session: Session,
    run: String,
    approval: String,
}

const POLICY: &str = r#"
@id("post-with-approval")
@approval("operator")
permit (principal, action == Action::"publish", resource);
"#;

fn world() -> World {
    let letter = letter();
    let vote = json!({"reasoning": letter, "source": 1, "vote": "APPROVE", "confidence": 80});
    let session = Session::scripted(&[
        json!({"match": "Your seat: ", "reply": vote.to_string(), "times": 99}),
        json!({"match": "Planted", "reply": letter, "times": 99}),
    ]);
    session.script(
        "refusing.jsonl",
        &[json!({"error": {"status": 401, "message": letter}})],
    );
    let phase = |next: Option<&str>| {
        let emit = json!({ "emit": [] });
        let said = json!({ "reply": letter, "control_signature": emit, "next_phase": next });
        json!({ "reply": said.to_string() })
    };
    let phases = [
        "recurse_thought",
        "synthesize_symbols",
        "validate_symbols",
        "build_output",
    ];
    let phases = phases.into_iter().map(Some).chain([None]).map(phase);
    session.script("phases.jsonl", &phases.collect::<Vec<_>>());
    session.write(&format!("letters/{EMAIL}.txt"), &letter);
    let symbol = json!({"id": "SYM-900", "name": EMAIL, "macro": letter, "linked_patterns": []});
    session.write("symbol.json", &symbol.to_string());
    session.write("catalogue.json", &json!([symbol]).to_string());
    session.run(&["symbols", "put", "symbol.json"]).exits(0);

    // What a tool is given waits for a person.
    session.write("press/charter.toml", &board::charter("press", 20));
    session.write("press/gateway.toml", "actions = [\"publish\"]\n");
    session.write("press/policies/all.cedar", POLICY);
    session.write("press/tools.toml", &board::posting("http://127.0.0.1:9"));
    let arguments = json!({ "title": EMAIL, "text": letter });
    let call: Value = json!({ "tool_calls": [{ "name": "post", "arguments": arguments }] });
    session.script("acting.jsonl", &[call, json!({"reply": letter})]);
    let task = format!("Post this as `{EMAIL}`: {letter}");
    let acting = ["--charter", "press", "--model", "script/acting.jsonl"];
    let done = session.run(&[&["ask", &task], &acting[..]].concat());
    shows_nothing("ask with tools", done.exits(3));
    done.says("`fathom approvals --original`");
    let asked = session.run(&["approvals", "--json"]).json();
    let approval = asked["approvals"][0]["id"].as_str().expect("an id");

    let done = session.ask(&[&letter, "--context", "letters"]);
    shows_nothing("ask", done.exits(0));
    World {
        run: session.newest(),
        approval: approval.to_owned(),
        session,
    }
}

/// Each command at least once. Those that end something come last.
#[expect(
    clippy::too_many_lines,
    reason = "it is a table: a row or two for each command"
)]
fn cases(world: &World) -> Vec<Case> {
    let letter = letter();
    let letter = letter.as_str();
    let run = world.run.as_str();
    let scripted = ["--model", "script/answers.jsonl"];
    let with = |first: &[&'static str], more: &[&str]| -> Vec<String> {
        let words = first.iter().chain(more).chain(&scripted);
        words.map(ToString::to_string).collect()
    };
    let asking = |command, more: &[&str]| Case {
        more: with(&[], &[&[letter], more].concat()),
        ..case(command, &[])
    };
    let sealed = format!("{EMAIL}.age");
    let age = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
    vec![
        asking("ask", &["--context", "letters"]),
        case("ask", &[letter, "--model", "script/refusing.jsonl"]),
        case("ask", &["q", "--model", EMAIL]),
        asking("council", &["--context", "letters"]),
        asking("rlm", &["--context", "letters"]),
        case("repl", &["--context", "letters"]).reading("print(context)"),
        case("repl", &["--context", "letters"]).reading("raise ValueError(context)"),
        asking("think", &[]),
        case("seeds list", &[]).silent(),
        case("seeds mark", &[EMAIL, "new"]),
        case(
            "phases",
            &[
                letter,
                "--session",
                "planted",
                "--model",
                "script/phases.jsonl",
            ],
        ),
        case("agency", &[letter, "--brand", EMAIL]),
        case("symbols put", &["symbol.json"]),
        case("symbols get", &["SYM-900"]),
        case("symbols search", &[EMAIL, "--by", "words"]),
        case("symbols links", &["SYM-900"]).silent(),
        case("symbols versions", &["SYM-900"]),
        case("symbols import", &["catalogue.json"]).silent(),
        case("symbols import", &[EMAIL]),
        case("symbols export", &["out.json"]).silent(),
        case("symbols delete", &[EMAIL]),
        case("kits", &[EMAIL]),
        case("personas", &[EMAIL]),
        case("session show", &["planted"]),
        case("session rotate", &["planted"]).silent(),
        case(
            "session export",
            &["planted", "--to", age, "--out", &sealed],
        ),
        case("runs", &[]),
        case("show", &[run]),
        case("show", &[EMAIL]),
        case("show", &["--domain", EMAIL]),
        case("replay", &[run]).silent(),
        case("replay", &[EMAIL]),
        case(
            "fork",
            &[run, "--at", "1", "--model", "script/answers.jsonl"],
        ),
        case("resume", &[EMAIL]),
        case("cancel", &[EMAIL]),
        case("approvals", &["--all"]),
        case("approve", &[EMAIL]),
        case("deny", &[EMAIL, "--why", letter]),
        case("deny", &[&world.approval, "--why", letter]).silent(),
        case("tickets", &[]).silent(),
        case("kill", &["--why", letter]),
        case("kill", &["--lift", "--why", letter]).silent(),
        case("override", &[EMAIL, "--why", letter]),
        case("verify", &[EMAIL]),
        case("stats", &[]).silent(),
        case(
            "models list",
            &["--base-url", "https://ann:Zq8mV7planted@db.kestrel.de/x"],
        )
        .silent(),
        case("models pull", &[EMAIL]),
        case("charter check", &[EMAIL]),
        case("charter show", &[EMAIL]),
        case("charter learn", &[EMAIL]),
        case("charter tools", &[EMAIL]).silent(),
        case("charter accept", &[EMAIL, EMAIL, EMAIL]),
        case("charter new", &[EMAIL]),
        case("charter diff", &[EMAIL, "default"]),
        case("identity show", &[EMAIL]),
        case("identity sign", &[EMAIL, "--key", EMAIL]),
        case(
            "identity propose",
            &[EMAIL, "--key", EMAIL, "--why", letter],
        ),
        case("identity keygen", &["nowhere/key"]).silent(),
        case("rfc propose", &[EMAIL, "--why", letter]),
        case("rfc review", &[EMAIL, "--key", EMAIL, "--text", letter]),
        case("rfc vote", &[EMAIL, "yes", "--key", EMAIL]),
        case("rfc merge", &[EMAIL]),
        case("rfc list", &[]).silent(),
        case("rfc show", &[EMAIL]),
        case("redact", &[]).reading(letter),
        case("redact", &[&sealed, "--rules", EMAIL]),
        case("doctor", &[]).silent(),
        case("shred", &[run]).silent(),
        case("shred", &[EMAIL]),
    ]
}

#[test]
fn g10_no_command_shows_a_planted_value() {
    let world = world();
    let cases = cases(&world);
    let mut known = BTreeSet::new();
    leaves(&world.session, &[], &mut known);
    let covered: BTreeSet<String> = cases.iter().map(|case| case.command.to_owned()).collect();
    assert_eq!(known, covered, "a command without a case");
    let mut wrong = Vec::new();
    for case in &cases {
        for (flags, logged) in MODES {
            let done = case.run(&world.session, flags, logged);
            let said = format!("{}{}", done.stdout, done.stderr);
            let is_masked = said.contains("[email]");
            let is_json = serde_json::from_str::<Value>(&done.stdout).is_ok();
            let has_form = flags != ["--json"] || done.stdout.is_empty() || is_json;
            let seen = seen(&done);
            if !seen.is_empty() || (case.shows && !is_masked) || !has_form {
                let Case { command, more, .. } = case;
                wrong.push(format!(
                    "{command} {more:?} {flags:?} shows {seen:?}:\n{said}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    // A file that is meant as it is.
    let export = std::fs::read_to_string(world.session.path().join("out.json"));
    assert!(export.expect("an export").contains(EMAIL));
}

#[test]
fn g10_what_is_ours_is_not_taken_for_data() {
    let session = Session::scripted(&[json!({"reply": "Four.", "times": 9})]);
    session.ask(&["What is 2+2?"]).exits(0);
    let run = session.newest();
    for more in [&["--json"][..], &["-v"], &[]] {
        let shown = session.run(&[&["show", &run], more].concat());
        shown.exits(0).prints(&run).prints("Four.");
        for command in [
            &["runs"][..],
            &["verify"],
            &["stats"],
            &["models", "list"],
            &["doctor"],
        ] {
            let done = session.run(&[command, more].concat());
            let said = format!("{}{}", done.stdout, done.stderr);
            for mark in [
                "[ip]",
                "[secret]",
                "[phone]",
                "[card]",
                "[password]",
                "[email]",
                "[mac]",
            ] {
                assert!(!said.contains(mark), "{command:?} {more:?}:\n{said}");
            }
        }
    }
    // A refusal names the address that nobody listens at.
    let nobody = [
        "--model",
        "openai/any",
        "--base-url",
        "http://127.0.0.1:9/v1",
    ];
    let done = session.run(&[&["ask", "q"], &nobody[..]].concat());
    done.exits(5).says("127.0.0.1");
}

#[test]
fn g10_logs_of_a_run_are_masked() {
    let session = Session::new();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let answer = letter();
    let failing = answer.clone();
    let server = runtime
        .block_on(ModelServer::start(move |seen: &SeenRequest| {
            match seen.number {
                0 => ReplyBehaviour::status(500).body(&failing),
                _ => ReplyBehaviour::chunks(answer.split_inclusive(['.', '4', 'n'])),
            }
        }))
        .expect("a free port");
    let url = server.openai_url();
    let words = [
        "ask",
        &letter(),
        "--model",
        "openai/any",
        "--base-url",
        &url,
        "-v",
    ];
    let mut command = session.command(&words);
    command
        .env("FATHOM_LOG", "trace")
        .env("OPENAI_API_KEY", PLANTED[4].0);
    let done = Done::from(command.output().expect("the binary starts"));
    shows_nothing("a run", done.exits(0));
    done.says("DEBUG")
        .says("call failed")
        .says("[email]")
        .prints("[private_key]");

    let mut command = session.command(&["runs"]);
    command.env("FATHOM_LOG", "what=ever=this");
    let done = Done::from(command.output().expect("the binary starts"));
    done.fails(2, "F0103").says("FATHOM_LOG");
}

#[test]
fn g10_rules_of_ones_own_count_everywhere() {
    let session = Session::scripted(&[
        json!({"reply": "Project Bluebird, ann@kestrel-post.de.", "times": 9}),
    ]);
    session.write("fathom.toml", "[redaction]\nrules = \"strict.toml\"\n");
    session.run(&["runs"]).fails(2, "F0121");
    session.write(
        "strict.toml",
        "format = 1\nversion = \"1\"\n[[policy]]\nid = \"launch\"\nreason = \"not yet\"\naction = \"mask\"\nphrases = [\"project bluebird\"]\n",
    );
    let done = session.ask(&["What is it?"]);
    assert_eq!(done.exits(0).stdout, "[launch], [email].\n");
    // What goes to channels, too.
    session.script(
        "stages.jsonl",
        &[
            json!({"match": "Plan how to do", "reply": "PLAN:\n- look"}),
            json!({"match": "Judge the plan", "reply": "PLAN:\n- look\nconfidence=0.9"}),
            json!({"match": "You read along", "reply": "OK"}),
            json!({"match": "Look whether the task", "reply": "VERIFY: success"}),
            json!({"match": "Do the task by", "reply": "RESPONSE: Project Bluebird."}),
        ],
    );
    let think = ["think", "What is it?", "--model", "script/stages.jsonl"];
    session.run(&think).exits(0);
    let home = HomeFolder::open(session.path().join("data/fathom")).expect("a home");
    let feed = home.open_channels().expect("channels").feed("web", 0, 9);
    let said = format!("{:?}", feed.expect("a feed"));
    assert!(
        said.contains("[launch]") && !said.contains("Bluebird"),
        "{said}"
    );
    session.write("strict.toml", "format = 1\nwhat = 2\n");
    session.run(&["runs"]).fails(2, "F1000");
}

#[test]
fn g10_the_original_is_shown_to_those_who_may_decide() {
    let session = Session::scripted(&[json!({"reply": EMAIL, "times": 9})]);
    session.ask(&["Whom?"]).exits(0);
    let run = session.newest();
    session.run(&["show", &run]).exits(0).prints("[email]");
    let shown = session.run(&["show", &run, "--original"]);
    shown.exits(0).prints(EMAIL).says("are shown unmasked");
    // Logs are read by others.
    let mut command = session.command(&["show", &run, "--original", "--quiet"]);
    command.env("FATHOM_LOG", "trace");
    let done = Done::from(command.output().expect("the binary starts"));
    assert!(!done.stderr.contains(EMAIL), "{}", done.stderr);
    session.write("fathom.toml", "[people]\noperator = [\"os:nobody-here\"]\n");
    let refused = session.run(&["show", &run, "--original"]);
    refused.fails(4, "F0995");
}
