use super::*;
use crate::sources;
use crate::tree::Tree;

#[test]
fn blanks_comments_testkit_and_tests_are_no_code() {
    let text = "//! Docs.\n\n/// More.\nfn a() {\n    // Because.\n    b(); // aside\n}\n/* block */\n\
                #[cfg(test)]\nmod tests {\n    // why\n    fn c() {}\n}\n";
    let tree = Tree::of(&[
        ("crates/a/src/lib.rs", text),
        ("crates/a/src/lib_tests.rs", "fn d() {}"),
        ("crates/a/benches/a.rs", "fn e() {}"),
        ("crates/fathom-testkit/src/lib.rs", "fn f() {}"),
    ]);
    let figures: Vec<String> = figures(&sources::parse_all(&tree))
        .iter()
        .map(|figure| format!("{} {}", figure.name, figure.value))
        .collect();
    assert_eq!(
        figures,
        ["code-lines 3", "why-comments 333.3", "why-comments/a 333.3"]
    );
}

#[test]
fn a_literal_is_code() {
    let tree = Tree::of(&[("crates/a/src/lib.rs", "f(\n    \"text\",\n    'c'\n)")]);
    let sources = sources::parse_all(&tree);
    assert_eq!(lines(&sources[0]), Lines { code: 4, why: 0 });
}
