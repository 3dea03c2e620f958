use super::*;
use crate::sources;

/// What is found, as key, place and phrase.
#[track_caller]
fn check_file(path: &str, text: &str, expected: &[&str]) {
    let tree = Tree::of(&[(path, text)]);
    let sources = sources::parse_all(&tree);
    let found: Vec<String> = check(&tree, &sources)
        .iter()
        .map(|violation| {
            let finding = violation.finding.to_string();
            let shown = finding.split("`: ").next().unwrap_or_default();
            format!(
                "{} {}",
                violation.key,
                shown.replacen(&format!("{path}:"), "", 1)
            )
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn strings_are_read() {
    let text = "#[error(\"`{name}` is no model\")]\nfn hint(&self) -> String {\n    \"nobody knows\"\n}\n\
                // nobody\n#[cfg(test)]\nmod tests { fn f() { \"nobody\" } }";
    check_file(
        "crates/a/src/error.rs",
        text,
        &["a 1: `is no model", "a 3: `nobody"],
    );
    check_file("crates/a/src/prompts.rs", text, &[]);
}

#[test]
fn help_texts_are_read() {
    check_file(
        "crates/fathom-cli/src/args/run.rs",
        "/// For ever.\n// for ever\nfn f() { \"all the same\" }",
        &["fathom-cli 3: `all the same", "fathom-cli 1: `For ever"],
    );
    check_file(
        "crates/fathom-cli/src/run.rs",
        "/// For ever.\nfn f() {}",
        &[],
    );
}

#[test]
fn no_longer_and_no_more_are_english() {
    check_file("README.md", "It is no longer there, and are no more.", &[]);
    check_file("README.md", "It is no file.", &["README.md 1: `is no file"]);
}

#[test]
fn documents_are_counted_by_folder() {
    check_file(
        "docs/errors/F0101.md",
        "a\nnobody",
        &["docs/errors 2: `nobody"],
    );
    check_file("docs/decisions/0001.md", "nobody", &[]);
    check_file("docs/conformance.md", "nobody", &[]);
}
