use super::*;
use crate::finding::printed;
use crate::sources;
use crate::tree::Tree;

const SLEEP: &str = concat!("sle", "ep");
const IGNORE: &str = concat!("ign", "ore");
const ALLOW: &str = concat!("al", "low");

#[track_caller]
fn found_in(path: &str, text: &str, count: usize) {
    let tree = Tree::of(&[(path, text)]);
    let findings = check_rust(&sources::parse_all(&tree)[0]);
    assert_eq!(findings.len(), count, "{:?} in {text}", printed(&findings));
}

#[test]
fn machine_paths_are_found_wherever_they_start() {
    for folder in ["work", "farm", "root", "home/ada", "Users/ada"] {
        for text in [
            format!("/{folder}/a"),
            format!("see `/{folder}/a`"),
            format!("x = \"/{folder}/\""),
            format!("file:///{folder}/a"),
        ] {
            assert_eq!(check_machine_paths("a.md", &text).len(), 1, "{text}");
        }
    }
    let text = format!("one\ntwo /{}/x", "root");
    let expected = format!("a.md:2: `/{}/…` is a path of one machine", "root");
    assert_eq!(printed(&check_machine_paths("a.md", &text)), [expected]);
}

#[test]
fn paths_that_go_on_from_something_are_no_machine_paths() {
    let folder = "work";
    for text in [
        format!("src/{folder}/a"),
        format!("$HOME/{folder}/a"),
        format!("{{id}}/{folder}/a"),
        format!("**/{folder}/a"),
        format!("https://example.com/{folder}/a"),
        format!("/{folder}shop/a"),
    ] {
        assert!(check_machine_paths("a.md", &text).is_empty(), "{text}");
    }
}

#[test]
fn stubs_are_found_in_code_only() {
    let stub = concat!("to", "do!");
    let other = concat!("unimplem", "ented!");
    found_in("src/a.rs", &format!("fn f() {{ {stub}() }}"), 1);
    found_in("src/a.rs", &format!("fn f() {{ {other}(\"later\") }}"), 1);
    found_in(
        "src/a.rs",
        &format!("// {stub}()\nconst A: &str = \"{stub}()\";"),
        0,
    );
}

#[test]
fn ignored_tests_are_found() {
    found_in("src/a.rs", &format!("#[test]\n#[{IGNORE}]\nfn f() {{}}"), 1);
    found_in(
        "src/a.rs",
        &format!("#[{IGNORE} = \"slow\"]\nfn f() {{}}"),
        1,
    );
    found_in(
        "src/a.rs",
        &format!("#[cfg_attr(miri, {IGNORE})]\nfn f() {{}}"),
        1,
    );
    found_in("src/a.rs", "fn f(ignore: bool) {}", 0);
}

#[test]
fn bare_allows_are_found_and_expects_are_not() {
    found_in("src/a.rs", &format!("#![{ALLOW}(dead_code)]"), 1);
    found_in(
        "src/a.rs",
        &format!("#[{ALLOW}(dead_code, reason = \"x\")]\nfn f() {{}}"),
        1,
    );
    found_in(
        "src/a.rs",
        &format!("#[cfg_attr(test, {ALLOW}(dead_code))]\nfn f() {{}}"),
        1,
    );
    found_in(
        "src/a.rs",
        "#[expect(dead_code, reason = \"x\")]\nfn f() {}",
        0,
    );
    found_in("src/a.rs", "fn f() { policy.allow(x) }", 0);
}

#[test]
fn sleeps_are_found_in_test_files() {
    for path in ["crates/a/tests/it/run.rs", "crates/a/src/run_tests.rs"] {
        found_in(path, &format!("fn f() {{ std::thread::{SLEEP}(d) }}"), 1);
        found_in(path, &format!("use tokio::time::{{Duration, {SLEEP}}};"), 1);
        found_in(
            path,
            &format!("async fn f() {{ tokio::time::{SLEEP}_until(d).await }}"),
            1,
        );
    }
}

#[test]
fn sleeps_are_found_in_inline_tests_and_left_alone_in_code() {
    let path = "crates/a/src/run.rs";
    found_in(
        path,
        &format!("#[cfg(test)]\nmod tests {{ fn f() {{ thread::{SLEEP}(d) }} }}"),
        1,
    );
    found_in(
        path,
        &format!("async fn f() {{ tokio::time::{SLEEP}(d).await }}"),
        0,
    );
}
