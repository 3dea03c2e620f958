//! `fathom redact` as a filter.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use crate::session::{Done, Session};

const TEXT: &str = "Write to ann@example.org, card 4111 1111 1111 1111.\n";
const MASKED: &str = "Write to [email], card [card].\n";

fn piped(session: &Session, arguments: &[&str], text: &str) -> Done {
    let mut command = session.command(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let text = text.to_owned();
    // Both pipes are short: what goes in must not wait for what comes out.
    let writing = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writing.join().expect("no panic").expect("it reads");
    Done::from(output)
}

#[test]
fn g10_a_text_passes_the_filters_from_stdin_and_from_a_file() {
    let session = Session::new();
    let done = piped(&session, &["redact"], TEXT);
    assert_eq!(done.exits(0).stdout, MASKED);
    session.write("letter.txt", TEXT);
    let done = session.run(&["redact", "letter.txt"]);
    assert_eq!(done.exits(0).stdout, MASKED);
    // Longer than what is read at a time.
    let long = TEXT.repeat(4_000);
    let done = piped(&session, &["redact", "-"], &long);
    assert_eq!(done.exits(0).stdout, MASKED.repeat(4_000));
}

#[test]
fn g10_spans_tell_where_and_never_what() {
    let session = Session::new();
    let done = piped(&session, &["redact", "--spans"], TEXT);
    done.exits(0).prints("email").prints("card").prints("mask");
    assert!(!done.stdout.contains("ann"), "{}", done.stdout);
    let json = piped(&session, &["redact", "--json"], TEXT).json();
    assert_eq!(json["text"], MASKED);
    assert_eq!(json["needs_review"], false);
    let spans = json["spans"].as_array().expect("spans");
    assert_eq!(spans.len(), 2, "{json:#}");
    assert_eq!(spans[0]["start"], 9);
    assert_eq!(spans[0]["end"], 24);
}

#[test]
fn g10_rules_that_cannot_be_used_are_told() {
    let session = Session::new();
    session.write("rules.toml", "format = 1\nwhat = 2\n");
    let done = piped(&session, &["redact", "--rules", "rules.toml"], TEXT);
    assert_eq!(done.exit, Some(2), "{}", done.stderr);
    assert!(done.stderr.contains("error[F10"), "{}", done.stderr);
    assert_eq!(done.stdout, "", "nothing leaves without rules");
    session.run(&["redact", "nowhere.txt"]).fails(2, "F0121");
}

fn only_mine(file: &Path, mode: u32) {
    let mode = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(file, mode).expect("it is mine");
}

#[test]
fn g10_tokens_open_again_with_the_key_file_and_no_other() {
    let session = Session::new();
    session.write(
        "rules.toml",
        "format = 1\nversion = \"1\"\n[entities.email]\naction = \"tokenise\"\n[entities.card]\naction = \"hash\"\n",
    );
    let key = session.write("mine.key", &"k".repeat(32));
    let other = session.write("other.key", &"o".repeat(32));
    only_mine(&other, 0o600);
    let sealing = ["redact", "--rules", "rules.toml", "--key-file", "mine.key"];

    only_mine(&key, 0o644);
    session.run(&sealing).fails(5, "F0219");
    only_mine(&key, 0o600);
    let sealed = piped(&session, &sealing, TEXT);
    sealed.exits(0).prints("[email~").prints("[card#");
    assert!(!sealed.stdout.contains("ann"), "{}", sealed.stdout);

    let opening = ["redact", "--open", "--key-file", "mine.key"];
    let opened = piped(&session, &opening, &sealed.stdout);
    opened
        .exits(0)
        .prints("Write to ann@example.org, card [card#");
    let foreign = piped(
        &session,
        &["redact", "--open", "--key-file", "other.key"],
        &sealed.stdout,
    );
    foreign.exits(0).says("1 token left unchanged");
    assert_eq!(foreign.stdout, sealed.stdout);
    let json = piped(
        &session,
        &["redact", "--open", "--key-file", "mine.key", "--json"],
        &sealed.stdout,
    )
    .json();
    assert_eq!((&json["opened"], &json["refused"]), (&1.into(), &0.into()));
}

#[test]
fn hashes_and_tokens_need_a_key_that_is_one() {
    let session = Session::new();
    session.write(
        "rules.toml",
        "format = 1\nversion = \"1\"\n[entities.email]\naction = \"tokenise\"\n",
    );
    session
        .run(&["redact", "--rules", "rules.toml"])
        .fails(2, "F1007");
    session.run(&["redact", "--open"]).fails(2, "F0104");
    let short = session.write("short.key", "short");
    only_mine(&short, 0o600);
    session
        .run(&["redact", "--key-file", "short.key"])
        .fails(5, "F0220");
    session
        .run(&["redact", "--key-file", "nowhere.key"])
        .fails(5, "F0201");
}
