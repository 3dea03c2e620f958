use super::*;

#[track_caller]
fn check_snapshot(snapshot: &str, count: usize) {
    let tree = Tree::of(&[
        ("crates/a/src/main.rs", ""),
        ("crates/a/src/tree.rs", ""),
        ("crates/a/src/view/mod.rs", ""),
        ("crates/a/src/view/table.rs", ""),
        ("crates/a/tests/it/runs.rs", ""),
        (snapshot, "---"),
    ]);
    assert_eq!(check(&tree).len(), count, "{snapshot}");
}

#[test]
fn a_snapshot_lies_beside_its_module() {
    check_snapshot("crates/a/src/snapshots/a__tree__tests__of_a_run.snap", 0);
    check_snapshot("crates/a/src/view/snapshots/a__view__tests__wide.snap", 0);
    check_snapshot(
        "crates/a/src/view/snapshots/a__view__table__tests__wide.snap",
        0,
    );
    check_snapshot("crates/a/tests/it/snapshots/it__runs__of_a_run.snap", 0);
}

#[test]
fn a_snapshot_without_its_module_is_found() {
    check_snapshot("crates/a/src/snapshots/a__gone__tests__of_a_run.snap", 1);
    check_snapshot("crates/a/src/snapshots/a__view__table__tests__wide.snap", 1);
    check_snapshot("crates/a/src/view/snapshots/a__table__tests__wide.snap", 1);
    check_snapshot("crates/a/tests/it/snapshots/it__gone__of_a_run.snap", 1);
    check_snapshot("crates/a/snapshots/a__tree__tests__of_a_run.snap", 1);
}
