//! `fathom rlm` and `fathom repl`, as a user runs them.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use fathom_host::{Runtime, RuntimeOptions};
use fathom_testkit::model_server::{ChunkGate, ModelServer, ReplyBehaviour, SeenRequest};
use fathom_testkit::sample_records::answered_prompts;
use serde_json::{Value, json};

use crate::session::{Done, Session, fathom};

fn log() -> String {
    let line = |n: u32| match n {
        7_777 => "web-3 FAILED disk is gone\n".to_owned(),
        n => format!("web-{} ok, {n} requests\n", n % 7),
    };
    (0..9_000).map(line).collect()
}

fn code(code: &str) -> Value {
    json!({"reply": format!("```repl\n{code}\n```")})
}

/// Runs `rlm` on a log, with a model that replies with these lines.
fn rlm(lines: &[Value], more: &[&str]) -> (Session, Done) {
    let session = Session::scripted(lines);
    session.write("hosts.log", &log());
    let usual = [
        "rlm",
        "Which host failed?",
        "--context",
        "hosts.log",
        "--model",
        "script/answers.jsonl",
    ];
    let arguments: Vec<&str> = usual.iter().chain(more).copied().collect();
    let done = session.run(&arguments);
    (session, done)
}

fn repl(session: &Session, cells: &str, more: &[&str]) -> Done {
    let arguments: Vec<&str> = ["repl"].iter().chain(more).copied().collect();
    fed(session, &arguments, cells.as_bytes())
}

/// Runs a command that reads these bytes.
fn fed(session: &Session, arguments: &[&str], bytes: &[u8]) -> Done {
    let mut child = session
        .command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(bytes).expect("it listens");
    drop(stdin);
    Done::from(child.wait_with_output().expect("it ends"))
}

#[test]
fn r01_rlm_answers_and_its_json_has_the_keys_of_the_contract() {
    let (session, done) = rlm(
        &[
            code("hits = [l for l in context.splitlines() if 'FAILED' in l]\nprint(hits)"),
            code("SUBMIT(hits[0].split()[0])"),
        ],
        &["--json"],
    );
    assert_eq!(done.exit, Some(0), "{}", done.stderr);
    let result = done.json();
    assert_eq!(result["answer"], "web-3");
    assert_eq!(result["program"], "rlm");
    assert_eq!(result["iterations"], 2);
    assert_eq!(
        (&result["subcalls"], &result["children"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(result["cells"].as_array().map(Vec::len), Some(2));
    let shown = session.run(&["show", &session.newest(), "-v"]);
    assert!(shown.stdout.contains("cell_finished"), "{}", shown.stdout);
    assert!(session.run(&["verify"]).exit == Some(0));
}

#[test]
fn r06_a_plain_call_has_the_same_keys() {
    let session = Session::scripted(&[json!({"reply": "web-3"})]);
    session.write("note.txt", "web-3 failed");
    let arguments = [
        "rlm",
        "Which?",
        "--context",
        "note.txt",
        "--model",
        "script/answers.jsonl",
        "--json",
    ];
    let result = session.run(&arguments).json();
    assert_eq!(
        (&result["answer"], &result["program"]),
        (&json!("web-3"), &json!("direct"))
    );
    assert_eq!(
        (&result["iterations"], &result["subcalls"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(result["is_json"], false);
}

#[test]
fn r06_a_plain_call_is_held_to_the_schema() {
    let session = Session::scripted(&[
        json!({"reply": "It is web-3."}),
        json!({"reply": r#"{"host": "web-3"}"#}),
    ]);
    session.write("note.txt", "web-3 failed");
    session.write("schema.json", r#"{"type": "object", "required": ["host"]}"#);
    let result = session.run(&[
        "rlm",
        "Which?",
        "--context",
        "note.txt",
        "--schema",
        "schema.json",
        "--model",
        "script/answers.jsonl",
        "--json",
    ]);
    let result = result.json();
    assert_eq!(
        (&result["answer"], &result["program"]),
        (&json!(r#"{"host": "web-3"}"#), &json!("direct"))
    );
    assert_eq!(
        (&result["is_json"], &result["model_calls"]),
        (&json!(true), &json!(2))
    );
}

#[test]
fn r01_a_schema_is_met_or_said_not_to_be() {
    let schema =
        r#"{"type": "object", "properties": {"host": {"type": "string"}}, "required": ["host"]}"#;
    let session = Session::scripted(&[code("SUBMIT('web-3')"), code("SUBMIT({'host': 'web-3'})")]);
    session.write("hosts.log", &log());
    session.write("schema.json", schema);
    session.write("broken.json", "{");
    let usual = [
        "rlm",
        "Which?",
        "--context",
        "hosts.log",
        "--model",
        "script/answers.jsonl",
        "--json",
    ];
    let run = |schema: &str| {
        let arguments: Vec<&str> = usual.iter().chain(&["--schema", schema]).copied().collect();
        session.run(&arguments)
    };
    let result = run("schema.json").json();
    assert_eq!(result["status"], "ok");
    assert_eq!(result["answer"], r#"{"host": "web-3"}"#);
    assert_eq!(result["is_json"], true);
    let done = run("broken.json");
    assert_eq!(done.exit, Some(2), "{}", done.stderr);
    assert!(done.stderr.contains("invalid JSON"), "{}", done.stderr);
}

#[test]
fn r04_the_answer_so_far_is_kept_when_calls_run_out() {
    let (_, done) = rlm(
        &[
            code("answer['content'] = 'perhaps web-3'"),
            code("print(1)"),
            json!({"reply": "I would look further."}),
        ],
        &["--json", "--turns", "3"],
    );
    assert_eq!(done.exit, Some(3), "{}", done.stderr);
    let result = done.json();
    assert_eq!(result["status"], "needs_review");
    assert_eq!(result["answer"], "perhaps web-3");
}

/// `web-3 FAILED` and `web-4 ok` in two lines.
const GZIPPED: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03+OM\xd25Vps\xf4\xf4qu\xe1*\x07rL\x14\xf2\xb3\xb9\x00=\xf8+\
                         \xee\x16\x00\x00\x00";

/// Runs `rlm` on these contexts and this stdin, with a model that writes one cell.
fn on(contexts: &[&str], stdin: &[u8], cell: &str) -> Done {
    let session = Session::scripted(&[code(cell)]);
    session.write("stdin", "a file");
    session.write("tickets.jsonl", "{\"n\": 1}\n\n{\"n\": 2}\n");
    session.write("bad.jsonl", "{\"n\": 1}\nno JSON\n");
    session.write("logs/a.txt", "web-3 FAILED");
    session.write("logs/b.jsonl", "[1]\n[2]\n");
    session.write("logs/c.jsonl", "[1]\nno JSON\n");
    std::fs::write(session.path().join("hosts.log.gz"), GZIPPED).expect("a file");
    let usual = [
        "rlm",
        "Which?",
        "--repl",
        "--json",
        "--model",
        "script/answers.jsonl",
    ];
    let contexts = contexts.iter().flat_map(|path| ["--context", path]);
    let arguments: Vec<&str> = usual.into_iter().chain(contexts).collect();
    fed(&session, &arguments, stdin)
}

#[test]
fn r01_stdin_folders_compressed_files_and_json_lines_are_read() {
    let first = "SUBMIT(context.split()[0])";
    let kinds = "SUBMIT({name: type(part).__name__ for name, part in context.items()})";
    let cases: [(&[&str], &[u8], &str, &str); 6] = [
        (&["-"], b"web-3 FAILED\n", first, "web-3"),
        (&["-"], GZIPPED, first, "web-3"),
        (&["hosts.log.gz"], b"", first, "web-3"),
        (
            &["tickets.jsonl"],
            b"",
            "SUBMIT(str(sum(each['n'] for each in context)))",
            "3",
        ),
        (
            &["logs"],
            b"",
            kinds,
            r#"{"logs/a.txt": "str", "logs/b.jsonl": "list", "logs/c.jsonl": "str"}"#,
        ),
        (
            &["stdin", "-"],
            b"not the file",
            "SUBMIT(context)",
            r#"{"stdin": "a file", "stdin (2)": "not the file"}"#,
        ),
    ];
    for (contexts, stdin, cell, answer) in cases {
        let done = on(contexts, stdin, cell);
        assert_eq!(done.exit, Some(0), "{contexts:?}: {}", done.stderr);
        assert_eq!(done.json()["answer"], answer, "{contexts:?}");
    }
}

#[test]
fn x08_material_that_cannot_be_taken_is_told() {
    let done = on(&["bad.jsonl"], b"", "SUBMIT(1)");
    done.exits(2);
    assert!(done.stdout.contains("F0804") || done.stderr.contains("F0804"));
    let said = format!("{}{}", done.stdout, done.stderr);
    assert!(said.contains("line 2") && said.contains(".txt"), "{said}");
    // Each end of a line takes two bytes where it is kept.
    let done = on(&["-"], &vec![b'\n'; 25 << 20], "SUBMIT(1)");
    done.exits(2);
    let said = format!("{}{}", done.stdout, done.stderr);
    assert!(said.contains("F0416"), "{said}");
}

#[test]
fn x08_bad_input_is_told_with_code_and_hint() {
    let session = Session::scripted(&[]);
    let model = ["--model", "script/answers.jsonl"];
    let cases: [(&[&str], i32, &str); 5] = [
        (&["rlm", "Which?"], 2, "--context"),
        (&["rlm", "Which?", "--context", "nowhere.txt"], 2, "F0701"),
        (&["rlm", "-", "--context", "-"], 2, "stdin"),
        (
            &["rlm", "Which?", "--context", ".", "--cell-time", "0"],
            2,
            "0.1",
        ),
        (
            &["rlm", "Which?", "--context", ".", "--recipes", "none"],
            2,
            "recipes",
        ),
    ];
    for (arguments, exit, said) in cases {
        let arguments: Vec<&str> = arguments.iter().chain(&model).copied().collect();
        let done = session.run(&arguments);
        assert_eq!(done.exit, Some(exit), "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.contains(said), "{arguments:?}: {}", done.stderr);
    }
}

#[test]
fn r03_repl_runs_cells_by_hand_and_holds_them() {
    let session = Session::new();
    session.write("hosts.log", &log());
    let cells = "n = len(context)\nprint(n)\n---\nn\n---\nopen('/etc/passwd')\n---\nllm_query('hi')\n---\n\
                 while True: pass\n---\nprint('still', n, budget()['calls'])\n";
    let done = repl(
        &session,
        cells,
        &["--context", "hosts.log", "--cell-time", "0.5", "--json"],
    );
    let cells: Vec<Value> = done
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let bytes = log().len();
    assert_eq!(cells.len(), 6, "{}", done.stderr);
    assert_eq!(cells[0]["stdout"], format!("{bytes}\n"));
    assert_eq!(cells[1]["stdout"], format!("{bytes}\n"));
    let kinds: Vec<_> = cells
        .iter()
        .map(|cell| cell["error"]["kind"].clone())
        .collect();
    assert_eq!(
        kinds,
        [
            json!(null),
            json!(null),
            json!("raised"),
            json!("raised"),
            json!("timed_out"),
            json!(null)
        ]
    );
    assert!(
        cells[3]["error"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("Refused"))
    );
    assert_eq!(cells[5]["stdout"], format!("still {bytes} None\n"));
    assert_eq!(done.exit, Some(4));
}

/// A script must hear of a cell that failed, wherever it stands.
#[test]
fn r03_repl_fails_where_a_cell_did() {
    let session = Session::new();
    let cases = [
        ("print(1)\n---\nprint(2)\n", 0),
        ("1 / 0\n---\nprint(2)\n", 4),
        ("print(1)\n---\n1 / 0\n---\n\n---\n", 4),
        ("", 0),
    ];
    for (cells, exit) in cases {
        let done = repl(&session, cells, &["--interpreter", "monty"]);
        assert_eq!(done.exit, Some(exit), "{cells}: {}", done.stderr);
    }
}

#[test]
fn x08_repl_does_not_take_its_cells_for_the_context() {
    let session = Session::new();
    for stdin in ["-", "/dev/stdin"] {
        let done = repl(&session, "", &["--context", stdin]);
        done.fails(2, "F0104")
            .says("both the cells and the context");
    }
}

/// Whoever never ends a line is not listened to until memory runs out.
#[tokio::test]
async fn x08_repl_ends_a_cell_that_has_no_end() {
    let session = Session::new();
    let mut host = session
        .command(&["repl", "--interpreter", "monty"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = host.stdin.take().expect("a pipe");
    let line = "#".repeat((1 << 20) + 1);
    stdin.write_all(line.as_bytes()).expect("it listens");
    // It is still open: more could come.
    let status = until(|| host.try_wait().expect("it is a child")).await;
    assert_eq!(status.code(), Some(2));
    drop(stdin);
    let done = Done::from(host.wait_with_output().expect("it has ended"));
    done.says("error[F0124]");
}

#[test]
fn x08_what_was_left_out_is_told_where_nothing_is_left() {
    let session = Session::scripted(&[]);
    session.write("exports/june.zip", "PK\u{3}\u{4}\0");
    let context = ["--context", "exports"];
    let rlm = ["rlm", "Which?", "--model", "script/answers.jsonl"];
    let rlm: Vec<&str> = rlm.iter().chain(&context).copied().collect();
    for done in [session.run(&rlm), repl(&session, "", &context)] {
        done.fails(2, "F0409");
        done.says("  cause: `exports/june.zip` was left out: it is not text");
    }
}

#[test]
fn r03_repl_tells_programs_of_flaws_in_the_material() {
    let session = Session::new();
    let flawed = ["ö".repeat(50).as_bytes(), b"\xff!"].concat();
    std::fs::write(session.path().join("hosts.log"), flawed).expect("a file");
    let arguments = ["--context", "hosts.log", "--interpreter", "monty", "--json"];
    let done = repl(&session, "print(context[50:])\n", &arguments);
    assert_eq!(done.json()["stdout"], "\u{fffd}!\n", "{}", done.stderr);
    done.says("warning: `hosts.log` was taken as UTF-8");
}

/// The interpreter that needs no Python is the program itself.
#[test]
fn r03_monty_runs_cells_and_reads_no_file() {
    let session = Session::new();
    session.write("hosts.log", &log());
    let cells = "hits = [l for l in context.split('\\n') if 'FAILED' in l]\nprint(hits[0])\n---\nopen('/etc/passwd')\n";
    let arguments = ["--context", "hosts.log", "--interpreter", "monty", "--json"];
    let done = repl(&session, cells, &arguments);
    let cells: Vec<Value> = done
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(cells.len(), 2, "{}", done.stderr);
    assert_eq!(cells[0]["stdout"], "web-3 FAILED disk is gone\n");
    assert_eq!(cells[1]["ok"], false);
    let wrong = session.run(&["doctor", "--interpreter", "perl"]);
    assert_eq!(wrong.exit, Some(2), "{}", wrong.stderr);
}

/// State, parent and computing time of each process, as the kernel tells.
fn processes() -> Vec<(u32, char, u32, u64)> {
    let read = |entry: std::fs::DirEntry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = fields[11].parse::<u64>().ok()? + fields[12].parse::<u64>().ok()?;
        Some((
            number,
            fields[0].chars().next()?,
            fields[1].parse().ok()?,
            ticks,
        ))
    };
    let entries = std::fs::read_dir("/proc").expect("a kernel that tells");
    entries.flatten().filter_map(read).collect()
}

/// Looks again and again; a test that waits for what never comes fails.
async fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            tokio::task::yield_now().await;
        }
    };
    let found = tokio::time::timeout(Duration::from_mins(1), looking).await;
    found.expect("it comes")
}

/// Killed while a cell runs without end: nobody is left to end its worker, so it ends by itself.
#[tokio::test]
async fn r03_a_worker_of_monty_does_not_outlive_its_host() {
    let session = Session::new();
    let mut host = session
        .command(&["repl", "--interpreter", "monty", "--cell-time", "600"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let mut stdin = host.stdin.take().expect("a pipe");
    stdin
        .write_all(b"while True: pass\n---\n")
        .expect("it listens");
    let worker = until(|| {
        let found = processes().into_iter();
        found
            .filter(|(.., parent, ticks)| *parent == host.id() && *ticks > 20)
            .map(|(number, ..)| number)
            .next()
    })
    .await;
    host.kill().expect("it can be killed");
    host.wait().expect("it ends");
    until(|| {
        let lives =
            |(number, state, ..): &(u32, char, u32, u64)| *number == worker && *state != 'Z';
        (!processes().iter().any(lives)).then_some(())
    })
    .await;
}

/// The model is told of ready-made cells only where they are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r03_recipes_are_promised_only_where_they_are() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("hosts.log");
    std::fs::write(&file, log()).expect("a file");
    let context = file.to_str().expect("a path");
    for (interpreter, promised) in [("cpython", true), ("monty", false)] {
        let server = ModelServer::replying("```repl\nSUBMIT('web-3')\n```").await;
        let server = server.expect("a free port");
        let arguments = [
            "rlm",
            "Which host?",
            "--context",
            context,
            "--repl",
            "--recipes",
            "offered",
            "--interpreter",
            interpreter,
        ];
        let child = fathom(&dir.path().join("home"), &server, &arguments);
        let output = child.wait_with_output().await.expect("it ends");
        let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(result["answer"], "web-3", "{interpreter}: {result:#}");
        let prompt = server.log()[0].seen.prompt.clone();
        assert_eq!(
            prompt.contains("recipes."),
            promised,
            "{interpreter}: {prompt}"
        );
    }
}

/// Killed in the middle of two hundred leaf calls: none whose reply was durable is asked for again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r07_kill_nine_in_a_batch_repeats_no_durable_reply() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("hosts.log"), log()).expect("a file");
    // The second half is held back. Its calls need leases that are written after the replies to the first.
    let gate = ChunkGate::new();
    let held = gate.clone();
    let server = ModelServer::start(move |seen: &SeenRequest| {
        if seen.prompt.contains("\nThe question:\n") {
            let code = "kept = 'kept'\n\
                        r = llm_query_batched([f'first {n}' for n in range(100)])\n\
                        r += llm_query_batched([f'second {n}' for n in range(100)])\n\
                        SUBMIT(f'{kept}, {len(set(r))}')";
            return ReplyBehaviour::reply(format!("```repl\n{code}\n```"));
        }
        let reply = ReplyBehaviour::reply(seen.prompt.trim());
        if seen.prompt.contains("second") {
            reply.gated(&held)
        } else {
            reply
        }
    })
    .await
    .expect("a free port");
    let home = dir.path().join("home");
    let file = dir.path().join("hosts.log");
    let context = file.to_str().expect("a path");
    let arguments = [
        "rlm",
        "Which host?",
        "--context",
        context,
        "--repl",
        "--no-resume",
    ];
    let mut child = fathom(&home, &server, &arguments);
    server.until(|log| log.len() == 201).await;
    child.kill().await.expect("it can be killed");
    let host = Runtime::open(RuntimeOptions::new(home.clone(), |_| None)).expect("the home opens");
    let run = *host.unfinished().expect("a list").first().expect("a run");
    let records = host.records(run).expect("it can be read");
    let durable = answered_prompts(records.into_iter().map(|(_, record)| record));
    assert_eq!(durable.len(), 100);
    drop(host);
    gate.open();
    let child = fathom(&home, &server, &["resume", &run.to_string()]);
    let output = child.wait_with_output().await.expect("it ends");
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let result = result.get("results").map_or(&result, |results| &results[0]);
    assert_eq!(result["answer"], "kept, 200", "{result:#}");
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for entry in server.log() {
        *seen.entry(entry.seen.prompt.trim().to_owned()).or_default() += 1;
    }
    for prompt in durable {
        assert_eq!(seen.get(&format!("user: {prompt}")), Some(&1), "{prompt}");
    }
}
