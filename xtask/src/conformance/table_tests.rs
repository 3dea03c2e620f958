use super::super::{requirements, scan};
use super::*;
use crate::rust_source::RustSource;

#[test]
fn a_table_lists_every_requirement_with_its_journeys_and_other_tests() {
    let sections =
        requirements::parse("# One\nE01 a thing\nE02 another\n\n# Two\nX01 a third\n").unwrap();
    let tests = |path, text| scan::tests_in(path, &RustSource::parse(text));
    let mut tests_found = tests(
        "crates/b/src/b_tests.rs",
        "#[test] fn e01_second() {}\n#[test] fn e01_first() {}",
    );
    tests_found.extend(tests(
        "crates/fathom-cli/tests/it/a.rs",
        "#[test] fn e01_journey() {}",
    ));
    tests_found.extend(tests(
        "crates/a/tests/it/a.rs",
        "#[test] fn e01_x01_both() {}",
    ));
    let text = render(&sections, &tests_found);
    let table = text.strip_prefix(INTRODUCTION).unwrap();
    assert_eq!(
        table,
        "
Of 3 requirements 1 work, 1 are covered and 1 are open.

## One

| ID | requirement | journeys | other tests | state |
|---|---|---|---|---|
| E01 | a thing | [fathom-cli/tests/it/a.rs](../crates/fathom-cli/tests/it/a.rs): `e01_journey` | [a/tests/it/a.rs](../crates/a/tests/it/a.rs): `e01_x01_both`<br>[b/src/b_tests.rs](../crates/b/src/b_tests.rs): `e01_first`, `e01_second` | works |
| E02 | another |  |  | open |

## Two

| ID | requirement | journeys | other tests | state |
|---|---|---|---|---|
| X01 | a third |  | [a/tests/it/a.rs](../crates/a/tests/it/a.rs): `e01_x01_both` | covered |
"
    );
}
