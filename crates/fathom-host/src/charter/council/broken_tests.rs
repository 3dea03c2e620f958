//! Broken councils, and what is said about each.

use super::super::Finding;
use super::super::broken::{check, manifest};
use super::tests::{CHIEF, ROOM, checked, sub_chief};

/// A chief with a sub-chief that has these keys.
fn below(keys: &str) -> String {
    format!("{CHIEF}[[council.chief.sub_chief]]\n{keys}\n")
}

/// Findings for a council with these keys and `chiefs`, each as `CODE LINE:COLUMN MESSAGE`. Line 1 is `[council]`.
fn said(keys: &str, chiefs: &str) -> Vec<String> {
    let above = format!("{ROOM}\n").lines().count() + 3;
    let text = format!("{ROOM}\n[council]\n{keys}\n{chiefs}");
    let problems = checked(&text).problems;
    let problems = problems.iter().map(|problem| {
        let place = problem.place.as_ref().expect("a place");
        let line = place.line - above;
        format!(
            "{} {line}:{} {}",
            problem.code(),
            place.column,
            problem.flaw
        )
    });
    problems.collect()
}

#[track_caller]
fn keys(keys: &str, expected: &[&str]) {
    assert_eq!(said(keys, CHIEF), expected, "{keys}");
}

#[track_caller]
fn chiefs(chiefs: &str, expected: &[&str]) {
    assert_eq!(said("depth = 1", chiefs), expected, "{chiefs}");
}

#[test]
fn c07_depth_four_is_refused_with_file_line_and_cap() {
    check(
        "charter.toml",
        &manifest(&format!("{ROOM}{CHIEF}[council]\ndepth = 4\n")),
        r"
error[F0629]: the council has 4 levels of sub-chiefs, but the maximum is 3
   --> charter.toml:15:9
   |
15 | depth = 4
   |         ^
hint: set `depth` to at most 3 and nest sub-chiefs at most as deep
",
    );
    keys(
        "[council.local]\ndepth = 4",
        &["F0629 3:9 the council has 4 levels of sub-chiefs, but the maximum is 3"],
    );
    let mut nested = CHIEF.to_owned();
    for level in 1..=4 {
        nested.push_str(&sub_chief(level, "s"));
    }
    chiefs(
        &nested,
        &["F0629 18:1 the council has 4 levels of sub-chiefs, but the maximum is 3"],
    );
}

#[test]
fn c07_a_run_too_small_for_the_council_is_refused() {
    let two = format!("{CHIEF}{}", CHIEF.replace("IT", "Data"));
    let small = ROOM.replace(
        "max_children = 9",
        "max_total_episodes = 2\nmax_children = 1",
    );
    let small = small.replace("calls = 100", "calls = 100\nepisodes = 2");
    check(
        "charter.toml",
        &manifest(&format!("{small}{two}[council]\ndepth = 0\n")),
        r"
error[F0630]: `max_total_episodes` of [recursion] is 2, but the council needs at least 3
  --> charter.toml:9:22
  |
9 | max_total_episodes = 2
  |                      ^
hint: set `max_total_episodes = 3` in [recursion], or use fewer seats
error[F0630]: `max_children` of [recursion] is 1, but the council needs at least 2
   --> charter.toml:10:16
   |
10 | max_children = 1
   |                ^
hint: set `max_children = 2` in [recursion], or use fewer seats
error[F0630]: `episodes` of [budget] is 2, but the council needs at least 3
   --> charter.toml:19:1
   |
19 | [council]
   | ^^^^^^^^^
hint: set `episodes = 3` in [budget], or use fewer seats
",
    );
}

#[test]
fn c07_a_policy_that_allows_no_chief_is_refused() {
    check(
        "charter.toml",
        &manifest(&format!(
            "[recursion]\nmax_depth = 0\nforbidden_child_types = [\"chief\"]\n[council]\ndepth = 0\n{CHIEF}"
        )),
        r#"
error[F0630]: `max_depth` of [recursion] is 0, but the council needs at least 1
  --> charter.toml:5:13
  |
5 | max_depth = 0
  |             ^
hint: set `max_depth = 1` in [recursion], or use fewer seats
error[F0631]: the council needs `chief`, which `forbidden_child_types` of [recursion] forbids
  --> charter.toml:6:25
  |
6 | forbidden_child_types = ["chief"]
  |                         ^^^^^^^^^
hint: remove it from `forbidden_child_types`
error[F0631]: the council needs `chief` in `allowed_child_types` of [recursion]
  --> charter.toml:7:1
  |
7 | [council]
  | ^^^^^^^^^
hint: add "chief" to `allowed_child_types`
error[F0631]: the council needs `work` in `allowed_classes` of [recursion]
  --> charter.toml:7:1
  |
7 | [council]
  | ^^^^^^^^^
hint: add "work" to `allowed_classes`
"#,
    );
}

#[test]
fn c02_a_council_has_chiefs() {
    check(
        "charter.toml",
        &manifest("[council]\ndepth = 0\n"),
        r"
error[F0608]: missing key `chief`
  --> charter.toml:4:1
  |
4 | [council]
  | ^^^^^^^^^
hint: add `[[council.chief]]`
",
    );
    check(
        "charter.toml",
        &manifest("[router]\nask = \"council\"\ncouncil = \"direct\"\n"),
        r#"
error[F0608]: missing key `council`
  --> charter.toml:5:7
  |
5 | ask = "council"
  |       ^^^^^^^^^
hint: add `[[council.chief]]`
error[F0617]: unknown name `direct`
  --> charter.toml:6:11
  |
6 | council = "direct"
  |           ^^^^^^^^
hint: use one of council
"#,
    );
    // A council that begins with a chief has no header of its own.
    let checked = checked(CHIEF);
    let places = checked.problems.iter().map(Finding::position);
    assert_eq!(places.collect::<Vec<_>>(), ["charter.toml:4:3"; 2]);
    let nine: String = (0..9)
        .map(|at| CHIEF.replace("IT", &format!("C{at}")))
        .collect();
    chiefs(&nine, &["F0614 27:1 too many chiefs: the maximum is 8"]);
    let many: String = (0..17).map(|at| sub_chief(1, &format!("s{at}"))).collect();
    chiefs(
        &format!("{CHIEF}{many}"),
        &["F0614 70:1 too many sub-chiefs below one seat: the maximum is 16"],
    );
}

#[test]
fn c02_seats_that_cannot_be() {
    chiefs(
        "[[council.chief]]\nlexicn = [\"x\"]\n",
        &[
            "F0608 3:1 missing key `id`",
            "F0608 3:1 missing key `focus`",
            "F0606 4:1 unknown key `lexicn`",
        ],
    );
    chiefs(
        &CHIEF.replace("IT", "I T"),
        &[
            "F0611 4:6 invalid value for `id`: an id starts with a letter, uses only letters, digits, `-` and `_`, and has at most 64 characters",
        ],
    );
    chiefs(
        &format!("{CHIEF}{}", CHIEF.replace("IT", "it")),
        &["F0616 7:6 duplicate id `it`, first used in this charter.toml"],
    );
    chiefs(
        &CHIEF.replace("Systems.", " "),
        &["F0618 5:9 `focus` is empty"],
    );
    chiefs(
        &CHIEF.replace("Systems.", &"x".repeat(401)),
        &["F0611 5:9 invalid value for `focus`: exceeds 400 characters"],
    );
}

#[test]
fn c02_a_sub_chief_has_words_of_its_own() {
    let named = "id = \"net\"\nfocus = \"Net.\"";
    chiefs(&below(named), &["F0608 6:1 missing key `lexicon`"]);
    chiefs(
        &below(&format!("{named}\nlexicon = []")),
        &["F0618 9:11 the lexicon of a sub-chief is empty"],
    );
    chiefs(
        &below(&format!(
            "{named}\nlexicon = [\"api\", \" \", \"--\", \"{}\"]",
            "x".repeat(65)
        )),
        &[
            "F0618 9:19 an entry of `lexicon` is empty",
            "F0611 9:24 invalid value for `lexicon`: a word must contain a letter or a digit",
            "F0611 9:30 invalid value for `lexicon`: a word exceeds 64 characters",
        ],
    );
    chiefs(
        &below(&format!("{named}\nlexicon = \"api\"")),
        &["F0607 9:11 `lexicon` has the wrong type: expected a list, found string \"api\""],
    );
}

#[test]
fn x08_confidence_that_cannot_be() {
    keys("detph = 1", &["F0606 2:1 unknown key `detph`"]);
    keys(
        "depth = -1",
        &[
            "F0607 2:9 `depth` has the wrong type: expected a whole number in range, found integer `-1`",
        ],
    );
    keys(
        "sub_chiefs_max = 5",
        &["F0610 2:18 `sub_chiefs_max` is 5, but the maximum is 4"],
    );
    keys(
        "sub_chiefs_max = 0",
        &["F0611 2:18 invalid value for `sub_chiefs_max`: must be at least 1"],
    );
    keys(
        "confidence = \"measured\"",
        &[
            "F0611 2:14 invalid value for `confidence`: expected \"stated\" or { samples = 5, temperature = 0.8 }",
        ],
    );
    keys(
        "confidence = 5",
        &[
            "F0607 2:14 `confidence` has the wrong type: expected a word or a table, found integer `5`",
        ],
    );
    keys(
        "confidence = { samples = 5 }",
        &["F0608 2:14 missing key `temperature`"],
    );
    keys(
        "confidence = { samples = \"5\", temperature = 1 }",
        &[
            "F0607 2:26 `samples` has the wrong type: expected a whole number in range, found string \"5\"",
        ],
    );
    keys(
        "confidence = { sample = 5, temperature = 1 }",
        &[
            "F0608 2:14 missing key `samples`",
            "F0606 2:16 unknown key `sample`",
        ],
    );
    keys(
        "confidence = { samples = 17, temperature = 0 }",
        &[
            "F0610 2:26 `samples` is 17, but the maximum is 16",
            "F0611 2:44 invalid value for `temperature`: expected a number above 0 and at most 2, with at most three decimals",
        ],
    );
    keys(
        "confidence = { samples = 1, temperature = 2.1 }",
        &[
            "F0611 2:26 invalid value for `samples`: must be at least 2",
            "F0611 2:43 invalid value for `temperature`: expected a number above 0 and at most 2, with at most three decimals",
        ],
    );
}

#[test]
fn x08_synthesis_and_reuse_that_cannot_be() {
    keys("synthesis = \"modl\"", &["F0617 2:13 unknown name `modl`"]);
    keys(
        "reuse = \"simlar\"",
        &["F0611 2:9 invalid value for `reuse`: expected \"off\", \"same\" or { similar = 0.92 }"],
    );
    keys("reuse = {}", &["F0608 2:9 missing key `similar`"]);
    keys(
        "reuse = { similar = 1.5 }",
        &[
            "F0611 2:21 invalid value for `similar`: expected a number above 0 and at most 1, with at most three decimals",
        ],
    );
}

#[test]
fn x08_ballots_that_cannot_be() {
    keys(
        "passage_tokens = 49",
        &["F0611 2:18 invalid value for `passage_tokens`: must be at least 50"],
    );
    keys(
        "reasoning_chars = 5000",
        &["F0610 2:19 `reasoning_chars` is 5000, but the maximum is 4000"],
    );
    keys(
        "output_tokens = 9000",
        &["F0610 2:17 `output_tokens` is 9000, but the maximum is 8192"],
    );
    keys(
        "structured = \"no\"",
        &["F0607 2:14 `structured` has the wrong type: expected a boolean, found string \"no\""],
    );
    keys(
        "timeout = \"0s\"",
        &["F0611 2:11 invalid value for `timeout`: must be longer than zero"],
    );
    keys(
        "timeout = \"soon\"",
        &[
            "F0611 2:11 invalid value for `timeout`: invalid duration `soon`; expected e.g. `30s`, `5m` or `2h`",
        ],
    );
    keys(
        "timeout = \"10m\"",
        &[
            "F0611 2:11 invalid value for `timeout`: must not be longer than `voter_time`, the time of all attempts",
        ],
    );
    keys(
        "voter_time = \"1s\"",
        &[
            "F0611 2:14 invalid value for `voter_time`: must not be shorter than `timeout`, the time of one attempt",
        ],
    );
    keys(
        &format!("instructions = \"{}\"", "x".repeat(4001)),
        &["F0611 2:16 invalid value for `instructions`: exceeds 4000 characters"],
    );
}

#[test]
fn x08_a_profile_changes_rules_and_nothing_else() {
    keys(
        "[council.local]\nreuse = \"on\"",
        &["F0611 3:9 invalid value for `reuse`: expected \"off\", \"same\" or { similar = 0.92 }"],
    );
    keys(
        "[council.local]\nconfidence = { samples = true, temperature = 1 }",
        &[
            "F0607 3:26 `samples` has the wrong type: expected a whole number in range, found boolean `true`",
        ],
    );
    keys(
        "[council.local.detector]\nscore_min = 1",
        &["F0606 2:1 unknown key `detector`"],
    );
    keys(
        "[[council.local.chief]]\nid = \"X\"",
        &["F0606 2:1 unknown key `chief`"],
    );
    keys(
        "[council.local.local]\ndepth = 1",
        &["F0606 2:1 unknown key `local`"],
    );
}

#[test]
fn c01_detectors_that_cannot_be() {
    keys(
        "[council.detector]\ntokens_over = 0\ndomains_min = 0\nscore_min = 5\nuncertanty = []",
        &[
            "F0611 3:15 invalid value for `tokens_over`: must be at least 1",
            "F0611 4:15 invalid value for `domains_min`: must be at least 1",
            "F0610 5:13 `score_min` is 5, but the maximum is 4",
            "F0606 6:1 unknown key `uncertanty`",
        ],
    );
    keys(
        "[council.detector.domains]\ndata = []\n\"a b\" = [\"x\"]\nnet = [\" \"]\nweb = \"x\"",
        &[
            "F0618 3:1 the domain `data` is empty",
            "F0611 4:1 invalid value for `a b`: a domain name starts with a letter and uses only letters, digits, `-` and `_`",
            "F0618 5:8 an entry of `domains` is empty",
            "F0607 6:7 `web` has the wrong type: expected a list, found string \"x\"",
        ],
    );
    let words: Vec<String> = (0..65).map(|at| format!("\"w{at}\"")).collect();
    keys(
        &format!("[council.detector]\nfactors = [\n{}]", words.join(",\n")),
        &["F0614 68:1 too many factors: the maximum is 64"],
    );
}
