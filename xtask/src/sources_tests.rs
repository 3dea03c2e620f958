use super::*;

#[test]
fn files_keep_their_order_and_know_their_crate() {
    let tree = Tree::of(&[
        ("crates/a/src/lib.rs", "fn a() {}"),
        ("crates/a/src/lib_tests.rs", "fn b() {}"),
        ("crates/a/tests/it/main.rs", "fn c() {}"),
        ("crates/fathom-testkit/src/lib.rs", "fn d() {}"),
        ("xtask/src/main.rs", "fn e() {}"),
    ]);
    let sources = parse_all(&tree);
    let kinds: Vec<(&str, bool, bool)> = sources
        .iter()
        .map(|source| (source.owner, source.is_crate_source(), source.is_product()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("a", true, true),
            ("a", false, false),
            ("a", false, false),
            ("fathom-testkit", true, false),
            ("xtask", false, false),
        ]
    );
}

#[test]
fn tests_are_no_shipped_code() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\nfn c() {}";
    let tree = Tree::of(&[
        ("crates/a/src/lib.rs", text),
        ("crates/a/src/lib_tests.rs", "fn d() {}"),
    ]);
    let sources = parse_all(&tree);
    assert!(sources[0].shipped.contains("fn a") && sources[0].shipped.contains("fn c"));
    assert!(!sources[0].shipped.contains("fn b"));
    assert!(sources[0].is_shipped_at(text.find("fn c").unwrap()));
    assert!(!sources[0].is_shipped_at(text.find("fn b").unwrap()));
    assert_eq!(sources[1].shipped.trim(), "");
}
