use super::*;
use crate::finding::printed;
use crate::sources;
use crate::tree::Tree;

const ROOT: &str = "fathom.toml - a File config";

#[track_caller]
fn check_keys(roots: &str, files: &[(&str, &str)], expected: &[&str]) {
    let tree = Tree::of(files);
    let sources = sources::parse_all(&tree);
    let mut findings = Vec::new();
    let roots = parse_roots(roots).unwrap();
    let keys = keys(&roots, &Types::of(&sources), &mut findings);
    let names: Vec<String> = keys
        .iter()
        .map(|key| format!("{} {}", key.file, key.name))
        .collect();
    assert_eq!(names, expected);
    assert_eq!(printed(&findings), Vec::<String>::new());
}

#[test]
fn keys_are_followed_through_tables() {
    let config = "use serde::Deserialize;\nuse fathom_b::{council::Vote, direct};\nuse toml::Value;\nmod below;\nuse below::Below;\n#[derive(Deserialize, Default)]\n#[serde(default, deny_unknown_fields)]\nstruct File {\n\
                  /// Docs, with: a comma.\n    home: Option<PathBuf>,\n    pub budget: Spanned<BudgetTable>,\n    direct: Option<direct::Params>,\n    below: Below,\n    value: Option<Value>,\n    plain: Option<toml::Value>,\n\
                  #[serde(skip)]\n    gone: u8,\n    #[serde(default, rename = \"kept\")]\n    other: BTreeMap<String, u8>,\n    table: BTreeMap<Spanned<String>, Vec<Seat>>,\n}\n\
                  #[derive(Deserialize)]\nstruct BudgetTable { tokens: u64, time: Option<String> }\n\
                  #[derive(Deserialize)]\nstruct Seat { id: String, below: Vec<Seat> }\n\
                  struct Plain { unread: u8 }\n";
    let direct = "#[derive(serde::Deserialize)]\npub struct Params { pub retries: u8 }";
    let other = "#[derive(serde::Deserialize)]\npub struct Params { pub other: u8 }\n#[derive(serde::Deserialize)]\nstruct Value { no_key: u8 }";
    check_keys(
        ROOT,
        &[
            ("crates/a/src/config.rs", config),
            (
                "crates/a/src/config/below.rs",
                "#[derive(Deserialize)]\npub(super) struct Below { deep: u8 }",
            ),
            ("crates/fathom-b/src/direct.rs", direct),
            ("crates/fathom-b/src/council.rs", other),
        ],
        &[
            "fathom.toml below.deep",
            "fathom.toml budget.time",
            "fathom.toml budget.tokens",
            "fathom.toml direct.retries",
            "fathom.toml home",
            "fathom.toml kept",
            "fathom.toml plain",
            "fathom.toml table.*.below",
            "fathom.toml table.*.id",
            "fathom.toml value",
        ],
    );
}

#[test]
fn a_type_may_be_read_as_another_or_be_flat() {
    let text = "#[derive(Deserialize)]\nstruct File {\n    #[serde(flatten)]\n    common: Common,\n    size: Size,\n}\n\
                #[derive(Deserialize)]\nstruct Common { name: String }\n\
                #[derive(Deserialize)]\n#[serde(try_from = \"Written\")]\nstruct Size { unread: u8 }\n\
                #[derive(Deserialize)]\nstruct Written { bytes: u64 }\n";
    check_keys(
        "a.toml tool a ToolsFile|File config",
        &[("crates/a/src/config.rs", text)],
        &["a.toml tool.name", "a.toml tool.size.bytes"],
    );
}

#[test]
fn a_root_that_is_gone_is_found() {
    let roots = parse_roots(ROOT).unwrap();
    let mut findings = Vec::new();
    keys(&roots, &Types::of(&[]), &mut findings);
    assert_eq!(
        printed(&findings),
        [
            "xtask/config_files.txt:1: no struct `File` that serde reads is in `config` of a: write where it is now"
        ]
    );
    assert!(parse_roots("fathom.toml File").is_err());
}
