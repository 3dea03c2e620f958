use super::*;
use crate::sources;

/// What is found on the page of F0101, as it is printed.
#[track_caller]
fn check_page(page: &str, source: &str, expected: &[&str]) {
    let tree = Tree::of(&[
        ("crates/a/src/error.rs", source),
        ("docs/errors/F0101.md", page),
        ("docs/errors/README.md", "# Errors: nobody reads them"),
    ]);
    let sources = sources::parse_all(&tree);
    let found: Vec<String> = check(&tree, &sources)
        .iter()
        .map(|violation| format!("{} {}", violation.check, violation.finding))
        .collect();
    assert_eq!(found, expected);
}

const SOURCE: &str =
    "#[error(\"run `{run}` not found in \\\n    {}\")]\nconst CODE: &str = \"F0101\";";

#[test]
fn a_title_that_is_a_sentence_is_found() {
    for title in [
        "a run that is gone",
        "an effect without a yes",
        "nobody to ask",
    ] {
        check_page(
            &format!("# F0101: {title}\n"),
            SOURCE,
            &[&format!(
                "error-page-title docs/errors/F0101.md:1: `{title}`: name the thing, in a noun phrase"
            )],
        );
    }
    check_page("# F0101: run not found\n", SOURCE, &[]);
}

#[test]
fn the_message_on_a_page_is_the_sources() {
    check_page(
        "# F0101: run not found\n\n    error[F0101]: run `0199…` not found in `home`\n    hint: x\n",
        SOURCE,
        &[],
    );
    let message = "there is no run `0199…`";
    check_page(
        &format!("# F0101: run not found\n\n    error[F0101]: {message}\n"),
        SOURCE,
        &[&format!(
            "error-page-message docs/errors/F0101.md:3: no source says `{message}`: quote the message as it is now"
        )],
    );
}

#[test]
fn a_template_matches_from_its_start_to_its_end() {
    let template = |text: &str, message: &str| may_read(&pieces(text), message);
    assert!(template("plain", "plain"));
    assert!(!template("plain", "plainer"));
    assert!(template("{a} and {b}", "one and two"));
    assert!(!template("{a} and {b}.", "one and two"));
    assert!(template("{{{a}}}", "{x}"));
}
