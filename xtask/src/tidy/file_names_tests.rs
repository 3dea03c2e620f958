use super::*;

#[track_caller]
fn check_paths(paths: &[&str], expected: &[&str]) {
    let files: Vec<(&str, &str)> = paths.iter().map(|path| (*path, "")).collect();
    let found: Vec<String> = check(&Tree::of(&files))
        .iter()
        .map(|violation| {
            format!(
                "{} {} {}",
                violation.check, violation.key, violation.finding
            )
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_name_that_says_nothing_is_found() {
    let message = "a file called `words` does not say what is inside";
    check_paths(
        &[
            "crates/a/src/lists/words.rs",
            "crates/a/src/words/mod.rs",
            "crates/a/src/words/list.rs",
            "crates/a/src/words_tests.rs",
            "crates/a/tests/it/words.rs",
        ],
        &[
            &format!("vague-file-name a crates/a/src/lists/words.rs:1: {message}"),
            &format!("vague-file-name a crates/a/src/words/mod.rs:1: {message}"),
        ],
    );
}

#[test]
fn a_name_stands_once_in_a_crate() {
    let message = "2 files of a are called `list`: crates/a/src/list.rs, crates/a/src/x/list.rs";
    check_paths(
        &[
            "crates/a/src/list.rs",
            "crates/a/src/x/list.rs",
            "crates/b/src/list.rs",
            "crates/a/src/bin/list.rs",
        ],
        &[
            &format!("repeated-file-name a/list crates/a/src/list.rs:1: {message}"),
            &format!("repeated-file-name a/list crates/a/src/x/list.rs:1: {message}"),
        ],
    );
}

#[test]
fn names_that_a_folder_explains_may_repeat() {
    check_paths(
        &[
            "crates/a/src/error.rs",
            "crates/a/src/x/error.rs",
            "crates/a/src/x/mod.rs",
            "crates/a/src/y/mod.rs",
        ],
        &[],
    );
}
