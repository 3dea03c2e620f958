//! A charter that goes by what was learned from past councils.

use std::fs;
use std::path::Path;

use fathom_host::charter::{Charter, CharterError, LEARNED_FILE, ModelProfile};
use fathom_host::learning::{TrainingExample, train};
use fathom_programs::council::complexity::{
    ComplexityDetector, ComplexitySignal, QuestionFeatures,
};

const BUILT_IN: &str = include_str!("../../../../charters/council/charter.toml");

/// The built-in council, under a name of its own and with what a test says of `learned`.
fn write(folder: &Path, learned: &str) {
    let text = BUILT_IN.replace("name = \"council\"", "name = \"ours\"");
    let text = text.replace(
        "[council.detector]\n",
        &format!("[council.detector]\n{learned}\n"),
    );
    fs::write(folder.join("charter.toml"), text).expect("a file");
}

fn load(folder: &Path) -> Result<Charter, CharterError> {
    Charter::load(folder, &|_| 0)
}

#[track_caller]
fn codes(folder: &Path) -> Vec<&'static str> {
    match load(folder) {
        Err(CharterError::Broken { problems, .. }) => {
            problems.iter().map(|p| p.flaw.code()).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// Past councils in which sub-chiefs changed the decision on every question about many domains.
fn rule() -> String {
    let example = |number: u32| TrainingExample {
        features: QuestionFeatures {
            domains: number % 6,
            tokens: 20 + number * 37 % 90,
            ..QuestionFeatures::default()
        },
        changed: number % 6 >= 3,
    };
    let examples: Vec<TrainingExample> = (0..120).map(example).collect();
    train(&examples).expect("there is enough").toml()
}

#[test]
fn c10_what_was_learned_decides_only_where_the_charter_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let simple = "Should we buy the red chairs?";
    let broad = "Is the database cluster safe to deploy for the team over the network?";
    let assess = |question: &str| {
        let charter = load(folder.path()).expect("it is whole");
        let params = charter
            .council
            .expect("a council")
            .params(ModelProfile::Remote);
        ComplexityDetector::new(&params.detector, &params.chiefs).assess(question)
    };
    fs::write(folder.path().join(LEARNED_FILE), rule()).expect("a file");
    write(folder.path(), "");
    assert!(!assess(broad).complex, "one signal is not enough");
    write(folder.path(), "learned = true");
    let learned = assess(broad);
    assert!(learned.complex);
    assert!(
        learned
            .reasons
            .iter()
            .any(|reason| matches!(reason, ComplexitySignal::Learned { .. }))
    );
    assert!(!assess(simple).complex);
}

#[test]
fn c10_a_rule_that_is_missing_or_broken_is_a_flaw_of_the_charter() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "learned = true");
    assert_eq!(codes(folder.path()), ["F0604"]);
    fs::write(folder.path().join(LEARNED_FILE), "weights = 7").expect("a file");
    let found = codes(folder.path());
    assert!(found.contains(&"F0644"), "{found:?}");
}
