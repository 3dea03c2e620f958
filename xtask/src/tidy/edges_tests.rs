use serde_json::json;

use super::*;
use crate::finding::printed;

/// Checks one crate's dependencies, written as (name, kind), in a workspace of all crates.
fn checked(owner: &str, dependencies: &[(&str, &str)]) -> Checked {
    let all = [
        "fathom",
        "fathom-core",
        "fathom-programs",
        "fathom-store",
        "fathom-models",
        "fathom-local",
        "fathom-sandbox",
        "fathom-gateway",
        "fathom-output",
        "fathom-host",
        "fathom-server",
        "fathom-cli",
        "fathom-testkit",
    ];
    let package = |name: &str, dependencies: &[(&str, &str)]| {
        let dependencies: Vec<Value> = dependencies
            .iter()
            .map(|(name, kind)| {
                let kind = Some(*kind).filter(|kind| *kind != "normal");
                json!({"name": name, "kind": kind})
            })
            .collect();
        json!({
            "name": name,
            "manifest_path": format!("/top/crates/{name}/Cargo.toml"),
            "dependencies": dependencies,
        })
    };
    let packages: Vec<Value> = all
        .iter()
        .map(|name| package(name, if *name == owner { dependencies } else { &[] }))
        .collect();
    let metadata = json!({"workspace_root": "/top", "packages": packages}).to_string();
    check(&metadata, &Tree::of(&[])).unwrap()
}

fn findings(owner: &str, dependencies: &[(&str, &str)]) -> Vec<String> {
    printed(&checked(owner, dependencies).findings)
}

#[track_caller]
fn refused(owner: &str, target: &str, kind: &str) {
    let found = findings(owner, &[(target, kind)]);
    assert_eq!(found.len(), 1, "{owner} → {target} ({kind}): {found:?}");
}

#[track_caller]
fn allowed(owner: &str, target: &str, kind: &str) {
    let found = findings(owner, &[(target, kind)]);
    assert!(found.is_empty(), "{owner} → {target} ({kind}): {found:?}");
}

#[test]
fn edges_point_towards_the_core() {
    allowed("fathom-store", "fathom-core", "normal");
    allowed("fathom-host", "fathom-store", "normal");
    allowed("fathom-host", "fathom-core", "normal");
    allowed("fathom-server", "fathom-host", "normal");
    allowed("fathom-cli", "fathom-host", "normal");
    allowed("fathom-cli", "fathom-server", "normal");
}

#[test]
fn programs_stand_between_the_core_and_the_host() {
    allowed("fathom-programs", "fathom-core", "normal");
    allowed("fathom-host", "fathom-programs", "normal");
    refused("fathom-core", "fathom-programs", "normal");
    refused("fathom-core", "fathom-programs", "dev");
    refused("fathom-store", "fathom-programs", "normal");
    refused("fathom-programs", "fathom-store", "normal");
    refused("fathom-programs", "fathom-host", "normal");
}

#[test]
fn the_facade_stands_above_the_host_and_below_server_and_cli() {
    allowed("fathom", "fathom-host", "normal");
    allowed("fathom", "fathom-programs", "normal");
    allowed("fathom-server", "fathom", "normal");
    allowed("fathom-cli", "fathom", "normal");
    refused("fathom-host", "fathom", "normal");
    refused("fathom", "fathom-cli", "normal");
    refused("fathom", "fathom-server", "dev");
}

#[test]
fn what_the_cli_takes_past_the_facade_is_counted() {
    let dependencies = [
        ("fathom-host", "normal"),
        ("fathom-server", "normal"),
        ("fathom-store", "dev"),
        ("fathom", "normal"),
        ("serde", "normal"),
    ];
    let keys: Vec<String> = checked("fathom-cli", &dependencies)
        .violations
        .into_iter()
        .map(|violation| violation.key)
        .collect();
    assert_eq!(keys, ["fathom-cli/fathom-host"]);
    assert!(
        checked("fathom-host", &[("fathom-store", "normal")])
            .violations
            .is_empty()
    );
}

#[test]
fn edges_never_turn_round() {
    refused("fathom-core", "fathom-store", "normal");
    refused("fathom-core", "fathom-store", "dev");
    refused("fathom-store", "fathom-host", "normal");
    refused("fathom-store", "fathom-host", "build");
    refused("fathom-host", "fathom-server", "normal");
    refused("fathom-host", "fathom-cli", "dev");
    refused("fathom-server", "fathom-cli", "normal");
}

#[test]
fn adapters_do_not_know_each_other() {
    assert_eq!(
        findings(
            "fathom-gateway",
            &[("fathom-core", "normal"), ("fathom-store", "normal")]
        ),
        [
            "crates/fathom-gateway/Cargo.toml:1: `fathom-gateway` uses `fathom-store`: adapters meet in the host only"
        ]
    );
    refused("fathom-models", "fathom-output", "dev");
}

#[test]
fn testkit_is_for_tests() {
    allowed("fathom-store", "fathom-testkit", "dev");
    allowed("fathom-cli", "fathom-testkit", "dev");
    refused("fathom-cli", "fathom-testkit", "normal");
    refused("fathom-host", "fathom-testkit", "build");
    for target in TESTKIT_USES {
        allowed("fathom-testkit", target, "normal");
    }
    refused("fathom-testkit", "fathom-cli", "normal");
    refused("fathom-testkit", "fathom-gateway", "normal");
}

#[test]
fn the_core_stays_pure() {
    for target in IMPURE {
        refused("fathom-core", target, "normal");
        refused("fathom-programs", target, "normal");
        allowed("fathom-core", target, "dev");
        allowed("fathom-host", target, "normal");
    }
    allowed("fathom-core", "serde", "normal");
}

#[test]
fn a_crate_outside_the_layers_is_found() {
    let metadata = json!({"workspace_root": "/top", "packages": [
        {"name": "fathom-new", "manifest_path": "/top/crates/new/Cargo.toml", "dependencies": []},
    ]});
    assert_eq!(
        printed(
            &check(&metadata.to_string(), &Tree::of(&[]))
                .unwrap()
                .findings
        ),
        [
            "crates/new/Cargo.toml:1: `fathom-new` has no place in the layers: give it one in xtask's edges.rs",
            "crates/new/Cargo.toml:1: the folder of `fathom-new` has another name",
        ]
    );
}

#[test]
fn a_finding_points_at_the_dependencys_line() {
    let manifest = "[package]\nname = \"a\"\n\n[dependencies]\nserde = \"1\"\nfathom-store = { workspace = true }\n\n[dev-dependencies]\nfathom-models.workspace = true\n";
    let line = |target, kind| {
        let edge = Edge {
            owner: "a",
            target,
            kind,
        };
        line_of_dependency(Some(manifest), &edge)
    };
    assert_eq!(line("fathom-store", Kind::Shipped), 6);
    assert_eq!(line("fathom-models", Kind::Dev), 9);
    assert_eq!(line("fathom-models", Kind::Shipped), 1);
}

#[test]
fn metadata_of_another_shape_is_an_error() {
    assert!(check("{}", &Tree::of(&[])).is_err());
    assert!(check("no json", &Tree::of(&[])).is_err());
}
