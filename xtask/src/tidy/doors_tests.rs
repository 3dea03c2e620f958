use super::*;
use crate::finding::printed;
use crate::sources;
use crate::tree::Tree;

fn found(path: &str, text: &str) -> Vec<String> {
    let tree = Tree::of(&[(path, text)]);
    printed(&check(&sources::parse_all(&tree)))
}

#[test]
fn g10_a_new_way_to_the_terminal_is_found() {
    for line in [
        "let out = std::io::stdout();",
        "let out = io::stderr().lock();",
        "let out = anstream::stdout();",
        "use std::io::{Write, stdout};",
        "command.stderr(Stdio::inherit());",
        "println!(\"{secret}\");",
    ] {
        let text = format!("fn f() {{\n    {line}\n}}\n");
        let found = found("crates/fathom-host/src/driver.rs", &text);
        assert_eq!(found.len(), 1, "{line}");
        assert!(
            found[0].starts_with("crates/fathom-host/src/driver.rs:2: opens"),
            "{found:?}"
        );
    }
}

#[test]
fn g10_a_place_that_may_write_has_no_more_doors_than_are_listed() {
    let path = "crates/fathom-cli/src/output.rs";
    let two = "fn out() { io::stdout() }\nfn err() { io::stderr() }\n";
    assert_eq!(found(path, two), Vec::<String>::new());
    assert_eq!(found(path, &two.repeat(2)).len(), 1);
    assert_eq!(found(path, "").len(), 1, "the list is kept short");
}

#[test]
fn tests_comments_and_words_that_look_alike_are_left_alone() {
    let text = "// io::stdout()\nfn f() { let words = \"io::stdout()\"; output::stdout_columns(); }\n\
                #[cfg(test)]\nmod tests { fn g() { println!(); } }\n";
    assert_eq!(
        found("crates/fathom-host/src/driver.rs", text),
        Vec::<String>::new()
    );
    let loud = "fn f() { println!(); }";
    assert_eq!(
        found("crates/fathom-host/tests/it/main.rs", loud),
        Vec::<String>::new()
    );
    assert_eq!(
        found("crates/fathom-host/benches/all.rs", loud),
        Vec::<String>::new()
    );
}
