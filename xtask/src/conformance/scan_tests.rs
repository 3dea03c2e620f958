use super::*;

/// Each test found, as `name: IDs`.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let found: Vec<String> = tests_in("a.rs", &RustSource::parse(text))
        .iter()
        .map(|test| {
            format!(
                "{}: {}",
                test.name,
                Vec::from_iter(test.ids.clone()).join(" ")
            )
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_name_carries_ids_in_front_and_within() {
    check(
        "#[test]\nfn e06_child_gets_half() {}",
        &["e06_child_gets_half: E06"],
    );
    check(
        "#[test]\nfn kill_x04_loses_nothing() {}",
        &["kill_x04_loses_nothing: X04"],
    );
    check(
        "#[test]\nfn e06_e07_near_the_end() {}",
        &["e06_e07_near_the_end: E06 E07"],
    );
}

#[test]
fn a_name_that_only_looks_like_one_carries_none() {
    check("#[test]\nfn the06_child() {}", &[]);
    check("#[test]\nfn e6_child() {}", &[]);
    check("#[test]\nfn e061_child() {}", &[]);
    check("#[test]\nfn child_e06() {}", &[]);
    check("#[test]\nfn z01_child() {}", &[]);
}

#[test]
fn the_first_doc_line_carries_ids() {
    check(
        "/// E06, G01: a child gets half.\n/// E07 is elsewhere.\n#[test]\nfn child_gets_half() {}",
        &["child_gets_half: E06 G01"],
    );
}

#[test]
fn functions_that_are_no_tests_show_nothing() {
    check("fn e06_helper() {}", &[]);
    check("/// E06\nfn helper() {}", &[]);
    check("#[test_case(1)]\nfn e06_helper() {}", &[]);
    check("#[cfg(test)]\nmod tests { fn e06_helper() {} }", &[]);
}

#[test]
fn tests_in_comments_and_strings_show_nothing() {
    check("// #[test]\n// fn e06_child() {}", &[]);
    check("const A: &str = \"#[test]\\nfn e06_child() {}\";", &[]);
    check("// #[test]\nfn e06_child() {}", &[]);
}

#[test]
fn async_tests_count() {
    check(
        "#[tokio::test(flavor = \"multi_thread\", worker_threads = 2)]\nasync fn x04_survives_kill() {}",
        &["x04_survives_kill: X04"],
    );
}

#[test]
fn property_tests_count_when_they_run() {
    let text = "proptest! {\n    #![proptest_config(fast())]\n\n    /// E06\n    #[test]\n    fn never_above(limit in 0..9u64) {}\n\n    fn e07_not_run(limit in 0..9u64) {}\n}";
    check(text, &["never_above: E06"]);
}

#[test]
fn attributes_stand_in_any_order() {
    check(
        "#[test]\n#[expect(clippy::too_many_lines, reason = \"a table\")]\nfn c05_votes() {}\nfn c06_helper() {}",
        &["c05_votes: C05"],
    );
}

#[test]
fn a_journey_lies_where_only_the_outside_is_driven_and_begins_with_its_id() {
    let journeys = |path: &str| {
        let text = "#[test] fn e06_e07_x() {}\n#[test] fn kill_x04_loses() {}\n/// E08\n#[test] fn e09_x() {}";
        let tests = tests_in(path, &RustSource::parse(text));
        let ids: Vec<String> = tests
            .into_iter()
            .flat_map(|test| test.journey_ids)
            .collect();
        ids.join(" ")
    };
    for path in [
        "crates/fathom-cli/tests/it/runs.rs",
        "crates/fathom/tests/journeys/ask.rs",
        "crates/fathom-server/tests/journeys/api/runs.rs",
    ] {
        assert_eq!(journeys(path), "E06 E07 E09", "{path}");
    }
    for path in [
        "crates/fathom-cli/src/runs_tests.rs",
        "crates/fathom-store/tests/it/runs.rs",
        "crates/fathom-store/tests/journeys/runs.rs",
        "xtask/src/tree.rs",
    ] {
        assert_eq!(journeys(path), "", "{path}");
    }
}
