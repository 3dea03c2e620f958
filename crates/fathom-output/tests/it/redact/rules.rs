//! Files of rules that cannot be used, and why.

use fathom_output::redact::{RedactRules, TextRedactor};

/// The code that a file is refused with, and the message.
fn refusal(body: &str) -> Option<(&'static str, String)> {
    let rules = RedactRules::parse(body).and_then(|rules| TextRedactor::new(&rules, None));
    rules.err().map(|error| {
        assert!(!error.hint().is_empty());
        (error.code(), error.to_string())
    })
}

#[test]
fn what_cannot_be_meant_is_refused_by_name() {
    let head = "format = 1\nversion = \"1\"\n";
    let policy = "[[policy]]\nid = \"p\"\nreason = \"r\"\naction = \"mask\"\n";
    for (body, code, told) in [
        ("version = \"1\"\n".to_owned(), "F1000", "format"),
        (format!("{head}colour = 1\n"), "F1000", "colour"),
        (
            format!("{head}[entities.name]\naction = \"mask\"\n"),
            "F1000",
            "name",
        ),
        (
            format!("{head}[entities.email]\naction = \"burn\"\n"),
            "F1000",
            "burn",
        ),
        (
            "format = 2\nversion = \"1\"\nnew = 1\n".to_owned(),
            "F1001",
            "format 2",
        ),
        (
            format!("{head}{}", "# filler\n".repeat(40_000)),
            "F1002",
            "bytes",
        ),
        (
            format!("{head}[entities.phone]\ncontext = [\"x\"]\n"),
            "F1003",
            "`x`",
        ),
        (format!("{head}{policy}patterns = ['(']\n"), "F1004", "`(`"),
        (
            format!("{head}{policy}patterns = ['a*']\n"),
            "F1004",
            "the empty text",
        ),
        (
            format!(
                "{head}[[services]]\nservice = \"s\"\nprefix = \"k\"\nalphabet = \"hex\"\nlength = [1, 2]\n"
            ),
            "F1005",
            "`s`",
        ),
        (format!("{head}{policy}{policy}"), "F1006", "`p`"),
        (
            format!("{head}[entities.card]\naction = \"tokenise\"\n"),
            "F1007",
            "`card`",
        ),
        (
            format!("{head}[profanity]\naction = \"hash\"\n"),
            "F1009",
            "hash",
        ),
    ] {
        let (found, message) = refusal(&body).unwrap_or_default();
        assert_eq!(found, code, "{body:.80}: {message}");
        assert!(message.contains(told), "{message}");
    }
}

#[test]
fn a_file_says_only_what_is_different() {
    assert_eq!(refusal("format = 1\nversion = \"mine\"\n"), None);
    let rules =
        RedactRules::parse("format = 1\nversion = \"mine\"\n[profanity]\nenabled = false\n");
    let redactor = rules.and_then(|rules| TextRedactor::new(&rules, None));
    let shown = redactor.map(|redactor| redactor.redact("shit, ann@example.org").text);
    assert_eq!(shown, Ok("shit, [email]".to_owned()));
}
