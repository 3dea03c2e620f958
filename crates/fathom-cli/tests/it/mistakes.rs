//! Every mistake that a user can make gets a code, a cause and a hint.

use serde_json::json;

use crate::session::{Done, Session};

fn asking() -> Session {
    Session::scripted(&[json!({"reply": "yes", "times": 9})])
}

#[test]
fn x08_an_unknown_flag_or_command_suggests_the_nearest() {
    let session = Session::new();
    session
        .run(&["ask", "q", "--modle", "x"])
        .fails(2, "F0101")
        .says("hint: did you mean `--model`?");
    session
        .run(&["verfy"])
        .fails(2, "F0102")
        .says("did you mean `verify`?");
    session
        .run(&["aks"])
        .fails(2, "F0102")
        .says("did you mean `ask`?");
    session
        .run(&["show"])
        .fails(2, "F0104")
        .says("missing argument `RUN`");
    session
        .run(&["ask", "q", "--max-depth", "x"])
        .fails(2, "F0103");
}

#[test]
fn the_old_name_of_a_command_answers_with_the_new_one() {
    let session = Session::new();
    for arguments in [&["agents"][..], &["agents", "agent-1"]] {
        session
            .run(arguments)
            .fails(2, "F0102")
            .says("unknown command `agents`")
            .says("hint: the command was renamed: use `fathom personas`");
    }
}

#[test]
fn an_argument_too_many_is_named_with_the_usage() {
    let session = Session::new();
    session
        .run(&["show", "a", "b"])
        .fails(2, "F0104")
        .says("unexpected argument `b`")
        .says("hint: usage: `fathom show ");
    session
        .run(&["ask", "two", "words"])
        .fails(2, "F0104")
        .says("hint: put quotes around text that contains spaces");
}

#[test]
fn a_bad_number_is_explained_in_plain_words() {
    let session = Session::new();
    for (value, why) in [
        ("x", "expected a whole number"),
        (
            "99999999999",
            "expected a whole number from 0 to 4294967295",
        ),
        ("99999999999999999999", "the number is too large"),
    ] {
        session
            .run(&["stats", "--days", value])
            .fails(2, "F0103")
            .says(&format!("invalid value `{value}` for `--days`: {why}"));
    }
}

#[test]
fn x01_help_and_version_are_answers_and_no_command_is_a_mistake() {
    let session = Session::new();
    session
        .run(&["--help"])
        .exits(0)
        .prints("Work:")
        .prints("Decisions by people:")
        .prints("Global flags:")
        .prints("--base-url");
    session.run(&["ask", "--help"]).exits(0).prints("--review");
    session.run(&["--version"]).exits(0).prints("fathom 0.");
    let nothing = session.run(&[]);
    nothing.exits(2).says("Work:").says("Setup:");
    assert_eq!(nothing.stdout, "");
}

#[test]
fn x08_errors_are_one_json_object_too() {
    let session = asking();
    for (arguments, code) in [
        (&["aks", "--json"][..], "F0102"),
        (&["ask", "q", "--json"], "F0528"),
        (&["show", "zzz", "--json"], "F0401"),
        (&["--json", "ask", "q", "--model", "script/gone"], "F0109"),
    ] {
        let done = session.run(arguments);
        let error = &done.json()["error"];
        assert_eq!(error["code"], code);
        for key in ["message", "hint"] {
            assert!(
                error[key].as_str().is_some_and(|text| !text.is_empty()),
                "{key}"
            );
        }
        done.says(&format!("error[{code}]: "));
    }
}

#[test]
fn x08_without_weights_the_hint_says_how_to_fetch_them() {
    Session::new()
        .run(&["ask", "q"])
        .fails(5, "F0528")
        .says("fathom models pull");
}

#[test]
fn x08_models_that_cannot_be() {
    let session = Session::new();
    let ask = |model: &str| session.run(&["ask", "q", "--model", model]);
    ask("local/qwen").fails(2, "F0521").says("did you mean");
    ask("gpt-4o").fails(2, "F0108");
    ask("script/gone.jsonl").fails(2, "F0109").says("  cause: ");
    session.write("broken.jsonl", "{\"reply\": \"ok\"}\nnot json\n");
    ask("script/broken.jsonl")
        .fails(2, "F0304")
        .says("broken.jsonl:2: ");
    session
        .run(&[
            "ask",
            "q",
            "--model",
            "openai/x",
            "--api-key-env",
            "NO_SUCH_KEY",
        ])
        .fails(2, "F0126")
        .says("NO_SUCH_KEY");
    session
        .run(&["ask", "q", "--model", "openai/x"])
        .fails(2, "F0302")
        .says("OPENAI_API_KEY");
    session
        .run(&[
            "ask",
            "q",
            "--model",
            "openai/x",
            "--base-url",
            "localhost:1",
        ])
        .fails(2, "F0103");
}

#[test]
fn x08_a_charter_that_is_not_there() {
    asking()
        .ask(&["q", "--charter", "atelier"])
        .fails(2, "F0601")
        .says("`atelier`");
}

#[test]
fn e03_x08_past_a_hard_cap_is_an_error_that_names_it() {
    let session = asking();
    session
        .ask(&["q", "--max-depth", "5"])
        .fails(2, "F0106")
        .says("the maximum is 4");
    session
        .ask(&["q", "--max-children", "10001"])
        .fails(2, "F0106")
        .says("10000");
    session
        .ask(&["q", "--concurrency", "5000"])
        .fails(2, "F0106")
        .says("4096");
    session.write("fathom.toml", "# first\n[recursion]\nmax_depth = 5\n");
    session
        .ask(&["q"])
        .fails(2, "F0112")
        .says("fathom.toml:3: `max_depth` is 5, but the maximum is 4");
}

#[test]
fn x08_a_bad_file_is_named_with_line_and_key() {
    let session = asking();
    for (text, place) in [
        ("model = 3\n", "fathom.toml:1: `model`:"),
        ("\n\nmodle = \"x\"\n", "fathom.toml:3: `modle`:"),
        ("[budget]\ntime = \"soon\"\n", "fathom.toml:2: `time`:"),
        ("model = \n", "fathom.toml:1:"),
    ] {
        session.write("fathom.toml", text);
        session.ask(&["q"]).fails(2, "F0111").says(place);
    }
    session
        .ask(&["q", "--config", "gone.toml"])
        .fails(2, "F0110")
        .says("gone.toml");
}

#[test]
fn x08_bad_budgets_and_variables() {
    let session = asking();
    for budget in ["tokens", "tokens=x", "time=5", "cost=free", "speed=1", ""] {
        session
            .ask(&["q", "--budget", budget])
            .fails(2, "F0103")
            .says("tokens=20000");
    }
    let mut command = session.command(&["ask", "q", "--model", "script/answers.jsonl"]);
    let done = Done::from(
        command
            .env("FATHOM_MAX_DEPTH", "deep")
            .output()
            .expect("it starts"),
    );
    done.fails(2, "F0103").says("`FATHOM_MAX_DEPTH`");
    let mut command = session.command(&["runs"]);
    let done = Done::from(
        command
            .env("FATHOM_QUIET", "perhaps")
            .output()
            .expect("it starts"),
    );
    done.fails(2, "F0103");
}

#[test]
fn x08_inputs_that_cannot_be_read() {
    let session = asking();
    session.write("b.bin", "\0");
    session
        .ask(&["q", "--context", "gone"])
        .fails(2, "F0121")
        .says("gone");
    session.ask(&["q", "--context", "b.bin"]).fails(2, "F0122");
    session.ask(&["q", "--review", "@gone"]).fails(2, "F0121");
    session.ask(&["q", "--review", ""]).fails(2, "F0103");
    session.ask(&["  "]).fails(2, "F0105");
    session.ask(&["q", "--quiet", "-v"]).fails(2, "F0104");
}

#[test]
fn x08_a_home_that_cannot_be_used() {
    let session = asking();
    session.write("a-file", "");
    session
        .ask(&["q", "--home", "a-file/below"])
        .fails(5, "F0201")
        .says("  cause: ")
        .says("a-file");
    session
        .run(&[
            "doctor",
            "--home",
            "a-file",
            "--model",
            "script/answers.jsonl",
        ])
        .exits(5)
        .prints("✗ failed  home");
}

#[test]
fn x08_runs_that_are_not_there() {
    let session = asking();
    for arguments in [
        &["show", "zzzz"][..],
        &["replay", "0"],
        &["verify", "%"],
        &["resume", "x"],
        &["cancel", ""],
        &["fork", "9", "--at", "1"],
    ] {
        session.run(arguments).fails(4, "F0401");
    }
    session.ask(&["q"]).exits(0);
    session.ask(&["q"]).exits(0);
    session
        .run(&["show", "0"])
        .fails(4, "F0402")
        .says("run ID `0` is ambiguous: 2 runs match");
    let run = session.newest();
    session.run(&["resume", &run]).fails(4, "F0404");
    session.run(&["cancel", &run]).fails(4, "F0404");
    session.run(&["show", &run, "--at", "99"]).fails(4, "F0405");
    session
        .run(&["fork", &run, "--at", "0.7:1"])
        .fails(4, "F0405");
    session
        .run(&["fork", &run, "--at", "one"])
        .fails(2, "F0103");
    session
        .run(&["shred", &run])
        .fails(2, "F0127")
        .says("--yes");
}
