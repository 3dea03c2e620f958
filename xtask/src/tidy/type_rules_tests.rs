use super::*;
use crate::sources;
use crate::tree::Tree;

/// What is found, as `check key` with the place, and then what is wrong at once.
#[track_caller]
fn check_files(files: &[(&str, &str)], shared: &str, expected: &[&str]) {
    let tree = Tree::of(files);
    let sources = sources::parse_all(&tree);
    let shared = type_names::parse_shared(shared).unwrap();
    let Checked {
        findings,
        violations,
    } = check(&sources, &shared);
    let mut found: Vec<String> = violations
        .iter()
        .map(|violation| {
            let place = violation.finding.to_string();
            let place = place.split(": ").next().unwrap_or_default().to_owned();
            format!("{} {} {place}", violation.check, violation.key)
        })
        .collect();
    found.extend(findings.iter().map(ToString::to_string));
    assert_eq!(found, expected);
}

#[test]
fn a_shared_name_is_found_at_each_place_unless_it_is_listed() {
    let files = [
        ("crates/a/src/lib.rs", "\npub struct Both;"),
        ("crates/b/src/lib.rs", "pub(crate) struct Both;"),
    ];
    check_files(
        &files,
        "",
        &[
            "shared-type-name Both crates/a/src/lib.rs:2",
            "shared-type-name Both crates/b/src/lib.rs:1",
        ],
    );
    check_files(&files, "Both one of each\n", &[]);
}

#[test]
fn a_listed_name_that_is_not_shared_is_found() {
    check_files(
        &[("crates/a/src/lib.rs", "pub struct Both;")],
        "Both one of each\n",
        &["xtask/shared_types.txt:1: no two crates share `Both`: remove the line"],
    );
}

#[test]
fn names_that_say_nothing_are_found_by_crate() {
    let text = "struct Said;\nstruct SaidNothing;\n#[cfg(test)]\nmod tests { struct Told; }";
    check_files(
        &[("crates/a/src/lib.rs", text)],
        "",
        &["vague-type-name a crates/a/src/lib.rs:1"],
    );
}

#[test]
fn names_that_do_not_say_whose_are_found_when_they_are_public() {
    let text = "pub struct Params;\npub enum Cause {}\npub enum EscalationCause {}\nstruct Report;\npub struct RlmReport;";
    check_files(
        &[("crates/a/src/lib.rs", text)],
        "",
        &[
            "bare-type-name a crates/a/src/lib.rs:1",
            "bare-type-name a crates/a/src/lib.rs:2",
        ],
    );
}
