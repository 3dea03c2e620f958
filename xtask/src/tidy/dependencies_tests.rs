use super::*;
use crate::finding::printed;

const LOCK: &str = "[[package]]\nname = \"a\"\nversion = \"1.2.0\"\n\n[[package]]\nname = \"a\"\nversion = \"2.0.0\"\n\n\
                    [[package]]\nname = \"b\"\nversion = \"1.0.0\"\n";

#[track_caller]
fn check_deny(deny: &str, expected: &[&str]) {
    let tree = Tree::of(&[("Cargo.lock", LOCK), ("deny.toml", deny)]);
    assert_eq!(printed(&check(&tree)), expected, "{deny}");
}

#[test]
fn nothing_is_asked_before_there_is_a_file() {
    assert!(check(&Tree::of(&[("Cargo.lock", LOCK)])).is_empty());
}

#[test]
fn two_versions_need_an_entry_with_a_reason() {
    for entry in [
        "{ crate = \"a@1.2.0\", reason = \"`x` [y] has not moved yet\" }",
        "{ crate = \"a@1\", reason = \"x\" },",
        "{ name = \"a\", version = \"=1.2.0\", reason = \"x\" }",
    ] {
        check_deny(
            &format!(
                "[bans]\nmultiple-versions = \"deny\"\nskip = [\n    # {{ }}\n    {entry}\n]\n"
            ),
            &[],
        );
    }
    check_deny(
        "[bans]\nskip = []\n[sources]\n",
        &[
            "deny.toml:1: `a` is locked in 1.2.0 and 2.0.0: name one under `[bans] skip` with a reason, or do without it",
        ],
    );
    check_deny(
        "[licenses]\nskip = [{ crate = \"a@1.2.0\", reason = \"x\" }]\n",
        &[
            "deny.toml:1: `a` is locked in 1.2.0 and 2.0.0: name one under `[bans] skip` with a reason, or do without it",
        ],
    );
    for entry in ["{ crate = \"a@1.2.0\" }", "\"a@1.2.0\""] {
        check_deny(
            &format!("[bans]\nskip = [\n    {entry},\n]\n"),
            &["deny.toml:3: `a` needs a `reason`"],
        );
    }
}

#[test]
fn an_entry_that_is_no_longer_needed_is_found() {
    check_deny(
        "[bans]\nskip = [\n    { crate = \"a@1.2.0\", reason = \"x\" },\n    { crate = \"b@1.0.0\", reason = \"x\" },\n    { crate = \"a@3.0.0\", reason = \"x\" },\n]\n",
        &[
            "deny.toml:4: `b` is locked in one major version only: remove the entry",
            "deny.toml:5: `a@3.0.0` is not locked: remove the entry, or correct its version",
        ],
    );
}
