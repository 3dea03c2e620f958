use fathom_programs::council::complexity::QuestionFeature;

use super::*;

/// Draws numbers, the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).unwrap() % bound
    }

    fn features(&mut self) -> QuestionFeatures {
        QuestionFeatures {
            tokens: self.below(900),
            uncertainty: self.below(5),
            domains: self.below(5),
            factors: self.below(8),
            seats: self.below(10),
            chiefs: self.below(4),
            score: self.below(5),
        }
    }
}

/// Runs in which the decision changed when domains and seats are many, with one answer in `noise` turned round.
fn planted(count: usize, noise: u32) -> Vec<TrainingExample> {
    let mut draw = Draw(11);
    (0..count)
        .map(|_| {
            let features = draw.features();
            let rule = 3 * features.domains + features.seats > 12;
            TrainingExample {
                features,
                changed: rule != (draw.below(noise) == 0),
            }
        })
        .collect()
}

fn weight(learned: &LearnedRule, feature: QuestionFeature) -> i64 {
    let found = learned
        .weights
        .iter()
        .find(|weight| weight.feature == feature);
    found.unwrap().weight_micro
}

#[test]
fn c10_a_planted_rule_is_found() {
    let examples = planted(300, 20);
    let trained = train(&examples).unwrap();
    let whole = trained.whole;
    assert_eq!(whole.count(), 300);
    assert!(trained.beats_baseline());
    assert!(whole.accuracy().get() > 880, "{whole:?}");
    assert!(whole.baseline().get() < 700, "{whole:?}");
    assert!(whole.precision().unwrap().get() > 800, "{whole:?}");
    assert!(whole.recall().unwrap().get() > 800, "{whole:?}");
    assert_eq!(trained.learned.accuracy, whole.accuracy());
    for feature in QuestionFeature::ALL {
        let size = weight(&trained.learned, feature);
        match feature {
            QuestionFeature::Domains | QuestionFeature::Seats => {
                assert!(size > 1_000_000, "{feature} {size}");
            }
            _ => assert!(size.abs() < 500_000, "{feature} {size}"),
        }
    }
    let right = |example: &&TrainingExample| {
        trained.learned.says_complex(&example.features) == example.changed
    };
    assert!(examples.iter().filter(right).count() > 265);
}

#[test]
fn c10_chance_is_not_taken_for_a_rule() {
    let mut draw = Draw(3);
    let mut examples = planted(300, 20);
    for example in &mut examples {
        example.changed = draw.below(3) == 0;
    }
    let whole = train(&examples).unwrap().whole;
    assert!(whole.right() <= whole.baseline_right + 15, "{whole:?}");
}

#[test]
fn c10_folds_have_their_share_of_both_kinds_and_every_run_once() {
    let examples = planted(103, 10);
    let changed = examples.iter().filter(|example| example.changed).count();
    let trained = train(&examples).unwrap();
    assert_eq!(trained.folds.len(), FOLDS);
    assert_eq!(trained.whole.count(), 103);
    assert_eq!(
        usize::try_from(trained.whole.hits + trained.whole.misses).unwrap(),
        changed
    );
    for fold in &trained.folds {
        let came = usize::try_from(fold.hits + fold.misses).unwrap();
        assert!(
            came == changed / FOLDS || came == changed / FOLDS + 1,
            "{fold:?}"
        );
    }
}

#[test]
fn c10_too_few_runs_are_refused() {
    let examples = planted(EXAMPLES_MIN, 10);
    assert!(train(&examples).is_ok());
    let error = train(&examples[1..]).unwrap_err();
    assert_eq!(
        error,
        LearnError::TooFew {
            count: EXAMPLES_MIN - 1
        }
    );
    assert_eq!(error.code(), "F0641");
    assert_eq!(train(&[]).unwrap_err(), LearnError::TooFew { count: 0 });
}

#[test]
fn c10_runs_of_one_kind_are_refused() {
    for (kind, other) in [(true, false), (false, true)] {
        let mut examples = planted(100, 10);
        for (place, example) in examples.iter_mut().enumerate() {
            example.changed = if place < EITHER_MIN { kind } else { other };
        }
        assert!(train(&examples).is_ok());
        examples[0].changed = other;
        let error = train(&examples).unwrap_err();
        assert_eq!(error.code(), "F0642", "{error}");
        for example in &mut examples {
            example.changed = kind;
        }
        assert_eq!(train(&examples).unwrap_err().code(), "F0642");
    }
}

#[test]
fn c10_the_same_runs_teach_the_same() {
    let examples = planted(120, 10);
    assert_eq!(train(&examples).unwrap(), train(&examples).unwrap());
}

#[test]
fn c10_a_feature_that_never_varies_weighs_nothing() {
    let mut examples = planted(120, 10);
    for example in &mut examples {
        example.features.tokens = 77;
        example.features.chiefs = 0;
    }
    let trained = train(&examples).unwrap();
    assert_eq!(weight(&trained.learned, QuestionFeature::Tokens), 0);
    assert_eq!(weight(&trained.learned, QuestionFeature::Chiefs), 0);
    assert!(trained.toml().contains("constant in all runs"));
}

#[test]
fn c10_runs_that_look_all_alike_teach_the_commoner_answer() {
    let mut examples = planted(120, 10);
    for (place, example) in examples.iter_mut().enumerate() {
        example.features = QuestionFeatures::default();
        example.changed = place < 30;
    }
    let trained = train(&examples).unwrap();
    assert_eq!(trained.learned.accuracy, trained.learned.baseline);
    assert!(!trained.beats_baseline());
    assert!(!trained.learned.says_complex(&QuestionFeatures::default()));
    assert!(trained.toml().contains("no better than the baseline"));
}

#[test]
fn c10_a_rule_without_exceptions_keeps_finite_weights() {
    let trained = train(&planted(200, u32::MAX)).unwrap();
    assert!(trained.whole.accuracy().get() > 930, "{:?}", trained.whole);
    for weight in &trained.learned.weights {
        assert!(weight.weight_micro.abs() < 20_000_000, "{weight:?}");
    }
}

#[test]
fn c10_numbers_beyond_all_measure_are_learned_or_refused() {
    let mut examples = planted(200, 10);
    examples[0].features.tokens = u32::MAX;
    examples[1].features.seats = u32::MAX;
    let trained = train(&examples).unwrap();
    assert_eq!(read(&trained.toml()).unwrap(), trained.learned);
    for example in &mut examples[..100] {
        example.features.tokens = u32::MAX;
    }
    let error = train(&examples).unwrap_err();
    assert_eq!(error.code(), "F0643", "{error}");
}

#[test]
fn c10_what_is_written_is_read_again() {
    let trained = train(&planted(150, 10)).unwrap();
    let text = trained.toml();
    assert_eq!(read(&text).unwrap(), trained.learned);
    for feature in QuestionFeature::ALL {
        let lines = text
            .lines()
            .filter(|line| line.starts_with(&format!("{feature} = {{")));
        assert_eq!(lines.count(), 1, "{text}");
    }
    assert!(text.contains("multiply the odds by"), "{text}");
}

#[test]
fn c10_a_file_that_cannot_be_meant_is_refused() {
    let text = train(&planted(150, 10)).unwrap().toml();
    let changed = |from: &str, to: &str| {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        read(&changed).unwrap_err()
    };
    let table = [
        (
            "version = 1",
            "version = 2",
            "F0645",
            "`version` is 2, but this build reads 1",
        ),
        (
            "version = 1",
            "version = 1\nmagic = 3",
            "F0644",
            "line 6: unknown field `magic`",
        ),
        (
            "tokens = {",
            "weather = {",
            "F0644",
            "unknown variant `weather`",
        ),
        (
            "tokens = { weight",
            "tokens = { wait",
            "F0644",
            "unknown field `wait`",
        ),
        (
            "threshold = 0.000000",
            "threshold = nan",
            "F0645",
            "`threshold` is NaN",
        ),
        (
            "threshold = 0.000000",
            "threshold = inf",
            "F0645",
            "`threshold` is inf",
        ),
        (
            "threshold = 0.000000",
            "threshold = 1e12",
            "F0645",
            "`threshold` is 1000000000000",
        ),
        (
            "threshold = 0.000000",
            "",
            "F0644",
            "missing field `threshold`",
        ),
        (
            "accuracy = 0.",
            "accuracy = 7.",
            "F0645",
            "`accuracy` is not a number from 0 to 1",
        ),
        (
            "accuracy = 0.",
            "accuracy = -0.",
            "F0645",
            "`accuracy` is not a number from 0 to 1",
        ),
        (
            "runs = 150",
            "runs = 1",
            "F0645",
            "`changed` exceeds `runs`",
        ),
        (
            "[features]",
            "[features]\nscore = { weight = 1, mean = 0, scale = 1 }",
            "F0644",
            "duplicate key",
        ),
        (
            "[features]\n",
            "[features]\nscore = { weight = 1.0, mean = 0.0, scale = -1.0 }\n#",
            "F0644",
            "duplicate key",
        ),
    ];
    for (from, to, code, message) in table {
        let error = changed(from, to);
        assert_eq!(error.code(), code, "{to}: {error}");
        assert!(error.to_string().contains(message), "{to}: {error}");
        assert!(!error.hint().is_empty());
    }
    let negative = "version = 1\nthreshold = 0\nbias = 0\ntrained = { runs = 1, changed = 1, accuracy = 1, baseline = 0 }\n\
                    features = { seats = { weight = 1, mean = 0, scale = -1 } }";
    assert_eq!(
        read(negative).unwrap_err().to_string(),
        "`seats.scale` is negative"
    );
    let positive = negative.replace("-1", "1");
    assert_eq!(read(&positive).unwrap().accuracy, PerMille::ALL);
}

#[test]
fn a_search_that_panics_is_an_error_of_the_runs() {
    let error =
        logistic_regression::guarded::<()>(|| panic!("Linesearch failed to converge")).unwrap_err();
    assert_eq!(error.code(), "F0643");
    assert_eq!(
        error.to_string(),
        "cannot learn from the runs: the search for weights does not converge"
    );
    assert_eq!(logistic_regression::guarded(|| Ok(3)), Ok(3));
}
