use super::super::{requirements, scan};
use super::*;

#[test]
fn a_table_lists_every_requirement_and_its_tests() {
    let sections =
        requirements::parse("# One\nE01 a thing\nE02 another\n\n# Two\nX01 a third\n").unwrap();
    let mut tests = scan::tests_in(
        "crates/b/src/b_tests.rs",
        "#[test] fn e01_second() {}\n#[test] fn e01_first() {}",
    );
    tests.extend(scan::tests_in(
        "crates/a/tests/it/a.rs",
        "#[test] fn e01_x01_both() {}",
    ));
    let text = render(&sections, &tests);
    let table = text.strip_prefix(INTRODUCTION).unwrap();
    assert_eq!(
        table,
        "
2 of 3 are shown.

## One

| ID | requirement | tests | state |
|---|---|---|---|
| E01 | a thing | [a/tests/it/a.rs](../crates/a/tests/it/a.rs): `e01_x01_both`<br>[b/src/b_tests.rs](../crates/b/src/b_tests.rs): `e01_first`, `e01_second` | shown |
| E02 | another |  | – |

## Two

| ID | requirement | tests | state |
|---|---|---|---|
| X01 | a third | [a/tests/it/a.rs](../crates/a/tests/it/a.rs): `e01_x01_both` | shown |
"
    );
}
