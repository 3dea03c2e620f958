//! `fathom redact` as a filter.

use std::io::Write as _;
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
