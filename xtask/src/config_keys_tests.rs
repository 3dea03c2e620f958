use super::*;
use crate::finding::printed;

const CONFIG: &str =
    "#[derive(Deserialize)]\nstruct File {\n    home: String,\n    heads: String,\n}";
const JOURNEY: &str =
    "/// Key: fathom.toml heads\n#[test]\nfn x02_heads_lie_elsewhere() { write(\"home = x\") }";

fn tree(table: &str) -> Tree {
    Tree::of(&[
        ("crates/a/src/config.rs", CONFIG),
        ("crates/fathom-cli/tests/it/heads.rs", JOURNEY),
        (ROOTS, "fathom.toml - a File config\n"),
        (TABLE, table),
    ])
}

#[test]
fn a_key_without_a_journey_is_counted_and_the_table_says_where_it_is_written() {
    let stale = tree("");
    let stale_sources = sources::parse_all(&stale);
    let (findings, violations) = check(&stale, &stale_sources).unwrap();
    assert_eq!(
        printed(&findings),
        ["docs/dev/config-keys.md:1: out of date: run `cargo xtask config-keys`"]
    );
    let keys: Vec<String> = violations
        .iter()
        .map(|violation| format!("{} {}", violation.key, violation.finding))
        .collect();
    assert_eq!(
        keys,
        [
            "fathom.toml crates/a/src/config.rs:3: no journey shows what `home` of fathom.toml changes"
        ]
    );

    let found = Found::read(&stale, &stale_sources).unwrap();
    let made = table::render(&found.keys, &found.shown);
    let rows = made.split("\n## ").nth(1).unwrap();
    assert_eq!(
        rows,
        "fathom.toml\n\n| key | shown by | written in |\n|---|---|---|\n\
         | `heads` | [heads.rs](../../crates/fathom-cli/tests/it/heads.rs): `x02_heads_lie_elsewhere` |  |\n\
         | `home` |  | heads.rs |\n"
    );
    let current = tree(&made);
    let sources = sources::parse_all(&current);
    assert!(check(&current, &sources).unwrap().0.is_empty());
}
