use super::*;
use crate::sources;
use crate::tree::Tree;

#[test]
fn results_with_strings_as_errors_are_found() {
    let text = "fn a() -> Result<(), String> {}\nfn b() -> Result<String, Error> {}\n\
                fn c() -> Result<\n    Vec<String>,\n    String,\n> {}\n\
                // Result<(), String>\n#[cfg(test)]\nmod tests { fn d() -> Result<(), String> {} }";
    let tree = Tree::of(&[
        ("crates/a/src/lib.rs", text),
        (
            "crates/a/tests/it/main.rs",
            "fn e() -> Result<(), String> {}",
        ),
    ]);
    let sources = sources::parse_all(&tree);
    let found: Vec<String> = check(&sources)
        .iter()
        .map(|violation| violation.finding.to_string())
        .collect();
    assert_eq!(
        found,
        [
            "crates/a/src/lib.rs:1: an error that is a `String`: give it a type",
            "crates/a/src/lib.rs:3: an error that is a `String`: give it a type",
        ]
    );
}
