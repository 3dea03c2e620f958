use super::*;
use crate::rust_source::RustSource;

#[test]
fn tests_are_looked_for_in_sources_tests_and_xtask() {
    for path in [
        "crates/a/src/a.rs",
        "crates/a/tests/it/a.rs",
        "xtask/src/a.rs",
    ] {
        assert!(is_scanned(path), "{path}");
    }
    for path in ["crates/a/benches/a.rs", "console/a.rs", "crates/a/build.rs"] {
        assert!(!is_scanned(path), "{path}");
    }
}

#[test]
fn the_summary_counts_and_names_what_is_no_requirement() {
    let sections = requirements::parse("# One\nE01 a thing\nE02 another\n").unwrap();
    let text = "#[test] fn e01_is_shown() {}\n#[test] fn p50_is_low() {}";
    let tests = scan::tests_in("a.rs", &RustSource::parse(text));
    assert_eq!(
        summary(&sections, &tests),
        "conformance: Of 2 requirements 0 work, 1 are covered and 1 are open.\nnote: `p50_is_low` in a.rs carries P50, which is no requirement"
    );
}

#[test]
fn a_table_can_be_asked_for_in_two_ways_only() {
    assert!(run(&["--chekc".to_owned()]).is_err());
}
