use super::*;
use crate::sources;
use crate::tree::Tree;

#[test]
fn types_outside_tests_are_found() {
    let text = "pub struct A;\npub(crate) enum B {}\n    pub(super) trait C {}\nstruct D<'a>(&'a str);\n\
                // struct E;\n#[cfg(test)]\nmod tests { pub struct F; }\n#[derive(Debug)] pub struct G;";
    let tree = Tree::of(&[
        ("crates/a/src/lib.rs", text),
        ("crates/a/src/lib_tests.rs", "pub struct H;"),
        ("xtask/src/main.rs", "pub struct I;"),
    ]);
    let sources = sources::parse_all(&tree);
    let found: Vec<(&str, bool)> = definitions(&sources)
        .iter()
        .map(|definition| (definition.name, definition.is_public))
        .collect();
    assert_eq!(
        found,
        [("A", true), ("B", true), ("C", false), ("D", false)]
    );
}

#[test]
fn a_name_is_shared_when_two_crates_make_it_public() {
    let tree = Tree::of(&[
        (
            "crates/a/src/lib.rs",
            "pub struct Both;\npub struct Inner;\npub struct Own;",
        ),
        ("crates/a/src/own.rs", "pub struct Own;"),
        (
            "crates/b/src/lib.rs",
            "pub(crate) enum Both {}\nstruct Inner;",
        ),
    ]);
    let sources = sources::parse_all(&tree);
    let definitions = definitions(&sources);
    let shared: Vec<&str> = shared_across_crates(&definitions).into_keys().collect();
    assert_eq!(shared, ["Both"]);
}

#[test]
fn a_shared_name_needs_a_reason() {
    let names = parse_shared("# why\n\nError each crate has one\n").unwrap();
    assert_eq!(names["Error"], "each crate has one");
    assert!(parse_shared("Error\n").is_err());
    let lines: Vec<String> = (0..=SHARED_MAX).map(|n| format!("A{n} x")).collect();
    assert!(parse_shared(&lines.join("\n")).is_err());
}
