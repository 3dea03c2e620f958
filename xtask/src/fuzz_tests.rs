use super::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn parsed(line: &str) -> Result<Plan, String> {
    parse(&words(line)).map_err(|error| error.to_string())
}

#[test]
fn seconds_and_names_may_come_in_any_order() {
    let plan = |seconds, names| {
        Ok(Plan {
            seconds,
            names: words(names),
        })
    };
    assert_eq!(parsed(""), plan(15, ""));
    assert_eq!(parsed("--seconds 60"), plan(60, ""));
    assert_eq!(parsed("vote --seconds 0 charter"), plan(0, "vote charter"));
}

#[test]
fn what_cannot_be_meant_is_said() {
    assert_eq!(
        parsed("--seconds"),
        Err("`--seconds` needs a number".to_owned())
    );
    assert_eq!(
        parsed("--seconds soon"),
        Err("`soon` is no number of seconds".to_owned())
    );
    assert_eq!(
        parsed("--fast"),
        Err("`fuzz` takes `--seconds N` and names of targets, not `--fast`".to_owned())
    );
}

#[test]
fn a_target_is_a_file_in_its_folder() {
    let tree = Tree::of(&[
        ("fuzz/src/bin/vote.rs", ""),
        ("fuzz/src/bin/charter.rs", ""),
        ("fuzz/corpus/vote/label", ""),
        ("crates/a/src/bin/b.rs", ""),
    ]);
    assert_eq!(targets(&tree), ["vote", "charter"]);
}

#[test]
fn only_targets_that_exist_are_run() {
    let targets = words("charter vote");
    let chosen = |names: &str| {
        let plan = Plan {
            seconds: 1,
            names: words(names),
        };
        chosen(&plan, &targets).map_err(|error| error.to_string())
    };
    assert_eq!(chosen(""), Ok(words("charter vote")));
    assert_eq!(chosen("vote"), Ok(words("vote")));
    assert_eq!(
        chosen("vote votes"),
        Err("no fuzz target is called `votes`; there are: charter, vote".to_owned())
    );
}

#[test]
fn a_run_that_ends_well_closes_with_figures() {
    let report = "INFO: Seed: 1\n#2\tINITED cov: 7\n#99\tDONE   cov: 8 ft: 9 corp: 2/5b\nDone 99 runs in 1 second(s)\n";
    assert_eq!(
        figures(report).as_deref(),
        Some("#99 DONE cov: 8 ft: 9 corp: 2/5b")
    );
    assert_eq!(figures("#2\tINITED cov: 7\npanicked at vote.rs\n"), None);
}

#[test]
fn a_crash_is_shown_without_the_progress_before_it() {
    let report = "#2\tINITED cov: 7\n#3\tNEW    cov: 8\npanicked at vote.rs\n";
    assert_eq!(tail(report), "panicked at vote.rs");
}
