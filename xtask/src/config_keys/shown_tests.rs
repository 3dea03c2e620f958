use super::*;
use crate::finding::printed;
use crate::sources;
use crate::tree::Tree;

fn key(name: &str) -> Key<'static> {
    Key {
        file: "fathom.toml",
        name: name.to_owned(),
        path: "crates/a/src/config.rs",
        text: "",
        offset: 0,
    }
}

const JOURNEY: &str = "crates/fathom-cli/tests/it/budgets.rs";

#[test]
fn a_journey_names_its_keys_in_its_docs() {
    let text = "/// Limits end a run.\n/// Key: fathom.toml budget.tokens, budget.calls\n/// Key: charter.toml budget.tokens\n#[test]\nfn e06_a_run_ends() {}";
    let tree = Tree::of(&[(JOURNEY, text)]);
    let sources = sources::parse_all(&tree);
    let shown = Shown::read(&sources);
    assert_eq!(
        shown.journeys(&key("budget.calls")),
        [(JOURNEY, "e06_a_run_ends")]
    );
    assert_eq!(shown.journeys(&key("budget.time")), []);
    assert_eq!(
        printed(&shown.unknown(&[key("budget.calls"), key("budget.tokens")])),
        [format!(
            "{JOURNEY}:1: `charter.toml` has no key `budget.tokens`; write `Key: FILE KEY, KEY`"
        )]
    );
}

#[test]
fn other_tests_show_no_keys() {
    let text = "/// Key: fathom.toml budget.tokens\n#[test]\nfn e06_a_run_ends() {}";
    let tree = Tree::of(&[("crates/fathom-host/tests/it/budgets.rs", text)]);
    let sources = sources::parse_all(&tree);
    assert_eq!(Shown::read(&sources).journeys(&key("budget.tokens")), []);
}

#[test]
fn values_that_a_journey_writes_are_known_by_the_last_part_of_their_key() {
    let text = "const A: &str = \"[budget]\\ntokens = 5\";\nlet b = \"name: x\";\nlet calls = 5;";
    let tree = Tree::of(&[(JOURNEY, text)]);
    let sources = sources::parse_all(&tree);
    let shown = Shown::read(&sources);
    for name in ["budget.tokens", "name.*"] {
        let files: Vec<&str> = shown.written_in(&key(name)).collect();
        assert_eq!(files, [JOURNEY], "{name}");
    }
    assert_eq!(shown.written_in(&key("budget.calls")).count(), 0);
}
