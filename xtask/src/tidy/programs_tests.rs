use super::*;
use crate::sources;

#[track_caller]
fn named(path: &str, text: &str, expected: &[&str]) {
    let tree = Tree::of(&[(path, text)]);
    let sources = sources::parse_all(&tree);
    let found: Vec<String> = check_names(&sources)
        .iter()
        .map(|violation| violation.key.clone())
        .collect();
    assert_eq!(found, expected, "{path}: {text}");
}

#[test]
fn the_engine_and_adapters_name_no_program() {
    for text in [
        "use fathom_programs::council::Vote;",
        "use fathom_core::programs::phases;",
    ] {
        named("crates/fathom-core/src/run/mod.rs", text, &["fathom-core"]);
        named(
            "crates/fathom-store/src/journal.rs",
            text,
            &["fathom-store"],
        );
        named(
            "crates/fathom-host/src/driver/mod.rs",
            text,
            &["fathom-host/driver"],
        );
        named(
            "crates/fathom-host/src/driver.rs",
            text,
            &["fathom-host/driver"],
        );
        named("crates/fathom-host/src/programs/rlm.rs", text, &[]);
        named("crates/fathom-core/tests/it/main.rs", text, &[]);
        named("crates/fathom-store/src/a.rs", &format!("// {text}"), &[]);
    }
    let inside = "use crate::programs::council::Milli;";
    named(
        "crates/fathom-core/src/protocol/outcome.rs",
        inside,
        &["fathom-core"],
    );
    named("crates/fathom-core/src/programs/rlm/mod.rs", inside, &[]);
}

#[test]
fn the_runtime_names_the_registry_only() {
    let path = "crates/fathom-host/src/runtime/start.rs";
    named(path, "use fathom_programs::BuiltInPrograms;", &[]);
    named(path, "use fathom_programs::{BuiltInPrograms};", &[]);
    named(
        path,
        "use fathom_programs::{BuiltInPrograms, council};",
        &["fathom-host/runtime"],
    );
    named(path, "use fathom_programs::rlm;", &["fathom-host/runtime"]);
    named(
        path,
        "use fathom_programs as programs;",
        &["fathom-host/runtime"],
    );
}

#[test]
fn a_program_has_the_files_that_others_have() {
    let tree = Tree::of(&[
        ("crates/fathom-programs/src/rlm/program.rs", ""),
        ("crates/fathom-programs/src/rlm/config.rs", ""),
        ("crates/fathom-programs/src/rlm/prompts.rs", ""),
        ("crates/fathom-programs/src/rlm/report.rs", ""),
        ("crates/fathom-programs/src/council/chief/program.rs", ""),
        ("crates/fathom-programs/src/council/chief/config.rs", ""),
        ("crates/fathom-programs/src/reply/labels.rs", ""),
    ]);
    let found: Vec<String> = check_folders(&tree)
        .into_iter()
        .map(|violation| violation.key)
        .collect();
    assert_eq!(
        found,
        ["council/chief/prompts.rs", "council/chief/report.rs"]
    );
}
