use super::*;
use crate::finding::printed;
use crate::sources;

#[track_caller]
fn unreached(files: &[(&str, &str)], expected: &[&str]) {
    let tree = Tree::of(files);
    let findings = check_reached(&sources::parse_all(&tree));
    let expected: Vec<String> = expected
        .iter()
        .map(|path| format!("{path}:1: no `mod` names this file, so it is never compiled"))
        .collect();
    assert_eq!(printed(&findings), expected);
}

#[test]
fn a_sibling_test_file_needs_a_path() {
    let test = ("crates/a/src/ledger_tests.rs", "#[test] fn f() {}");
    let lib = ("crates/a/src/lib.rs", "mod ledger;");
    unreached(
        &[lib, ("crates/a/src/ledger.rs", ""), test],
        &["crates/a/src/ledger_tests.rs"],
    );
    let named = "#[cfg(test)]\n#[path = \"ledger_tests.rs\"]\nmod tests;";
    unreached(&[lib, ("crates/a/src/ledger.rs", named), test], &[]);
}

#[test]
fn a_mod_in_a_comment_names_nothing() {
    unreached(
        &[
            ("crates/a/src/lib.rs", "// mod ledger;"),
            ("crates/a/src/ledger.rs", ""),
        ],
        &["crates/a/src/ledger.rs"],
    );
}

#[test]
fn child_modules_lie_in_their_parents_folder() {
    let files = [
        ("crates/a/src/lib.rs", "pub(crate) mod run;"),
        ("crates/a/src/run.rs", "mod stop;\nmod step_tests;"),
        ("crates/a/src/run/stop.rs", ""),
        ("crates/a/src/run/step_tests.rs", ""),
        ("crates/a/src/stop.rs", ""),
    ];
    unreached(&files, &["crates/a/src/stop.rs"]);
}

#[test]
fn an_integration_module_must_be_named_in_main() {
    let main = ("crates/a/tests/it/main.rs", "mod council;\n");
    let council = ("crates/a/tests/it/council.rs", "");
    let forgotten = ("crates/a/tests/it/budget.rs", "");
    unreached(&[main, council], &[]);
    unreached(
        &[main, council, forgotten],
        &["crates/a/tests/it/budget.rs"],
    );
}

#[test]
fn roots_and_fixtures_need_no_mod() {
    let files = [
        ("crates/a/src/main.rs", ""),
        ("crates/a/src/bin/b.rs", ""),
        ("crates/a/build.rs", ""),
        ("crates/a/benches/fold.rs", ""),
        ("crates/a/tests/fixtures/input.rs", ""),
    ];
    unreached(&files, &[]);
}

#[test]
fn a_crate_has_one_integration_binary() {
    let tree = Tree::of(&[
        ("crates/a/tests/it/main.rs", ""),
        ("crates/a/tests/it/budget.rs", ""),
        ("crates/a/tests/extra.rs", ""),
        ("crates/b/tests/other/main.rs", ""),
        ("crates/fathom/tests/journeys/main.rs", ""),
    ]);
    let message = "a second integration binary: make it a module of tests/it/main.rs";
    assert_eq!(
        printed(&check_one_integration_binary(&tree)),
        [
            format!("crates/a/tests/extra.rs:1: {message}"),
            format!("crates/b/tests/other/main.rs:1: {message}"),
        ]
    );
}

#[test]
fn a_name_says_what_is_inside() {
    for path in [
        "crates/a/src/utils.rs",
        "crates/a/src/helpers/mod.rs",
        "crates/a/tests/it/common.rs",
    ] {
        assert_eq!(check_name(path).len(), 1, "{path}");
    }
    for path in [
        "crates/a/src/ledger.rs",
        "crates/a/src/uncommon.rs",
        "crates/a/src/mod.rs",
    ] {
        assert!(check_name(path).is_empty(), "{path}");
    }
}
