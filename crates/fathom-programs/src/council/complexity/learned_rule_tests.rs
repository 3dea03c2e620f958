use proptest::prelude::*;

use super::*;

fn rule(weights: Vec<FeatureWeight>) -> LearnedRule {
    LearnedRule {
        version: LearnedRule::VERSION,
        weights,
        bias_micro: -500_000,
        threshold_micro: 0,
        trained_on: 100,
        changed: 40,
        accuracy: PerMille::ALL,
        baseline: PerMille::default(),
    }
}

fn weight(
    feature: QuestionFeature,
    weight_micro: i64,
    mean_micro: i64,
    scale_micro: i64,
) -> FeatureWeight {
    FeatureWeight {
        feature,
        weight_micro,
        mean_micro,
        scale_micro,
    }
}

#[test]
fn c10_log_odds_are_the_weighted_sum() {
    let learned = rule(vec![
        weight(QuestionFeature::Tokens, 1_500_000, 100_000_000, 50_000_000),
        weight(QuestionFeature::Domains, -250_000, 2_000_000, 500_000),
    ]);
    let features = QuestionFeatures {
        tokens: 150,
        domains: 3,
        ..QuestionFeatures::default()
    };
    // -0.5 + 1.5 · (150 - 100) / 50 - 0.25 · (3 - 2) / 0.5
    assert_eq!(learned.log_odds_micro(&features), 500_000);
    assert!(learned.says_complex(&features));
}

#[test]
fn c10_the_threshold_itself_is_enough() {
    let mut learned = rule(Vec::new());
    for (threshold_micro, complex) in [(-500_001, true), (-500_000, true), (-499_999, false)] {
        learned.threshold_micro = threshold_micro;
        assert_eq!(
            learned.says_complex(&QuestionFeatures::default()),
            complex,
            "{threshold_micro}"
        );
    }
}

#[test]
fn c10_a_feature_that_never_varied_weighs_nothing() {
    let learned = rule(vec![weight(
        QuestionFeature::Seats,
        9_000_000,
        1_000_000,
        0,
    )]);
    let features = QuestionFeatures {
        seats: 7,
        ..QuestionFeatures::default()
    };
    assert_eq!(learned.log_odds_micro(&features), -500_000);
}

#[test]
fn c10_a_rule_survives_the_journal() {
    let learned = rule(vec![weight(QuestionFeature::Score, 1, 2, 3)]);
    let kept = serde_json::to_string(&learned).unwrap();
    assert_eq!(serde_json::from_str::<LearnedRule>(&kept).unwrap(), learned);
}

#[test]
fn every_feature_has_a_name_of_its_own_and_is_read_by_it() {
    for (place, feature) in QuestionFeature::ALL.into_iter().enumerate() {
        let name = format!("\"{}\"", feature.name());
        assert_eq!(serde_json::to_string(&feature).unwrap(), name);
        assert_eq!(
            serde_json::from_str::<QuestionFeature>(&name).unwrap(),
            feature
        );
        let features: QuestionFeatures = serde_json::from_str(&format!("{{{name}: 5}}")).unwrap();
        for (other, feature) in QuestionFeature::ALL.into_iter().enumerate() {
            assert_eq!(features.get(feature), if other == place { 5 } else { 0 });
        }
    }
}

proptest! {
    #[test]
    fn c10_no_numbers_are_too_large(
        numbers: (i64, i64, i64, i64, i64),
        tokens: u32,
        copies in 1_usize..4,
    ) {
        let (bias_micro, threshold_micro, weight_micro, mean_micro, scale_micro) = numbers;
        let one = weight(QuestionFeature::Tokens, weight_micro, mean_micro, scale_micro);
        let learned = LearnedRule {
            bias_micro,
            threshold_micro,
            ..rule(vec![one; copies])
        };
        let features = QuestionFeatures { tokens, ..QuestionFeatures::default() };
        prop_assert_eq!(learned.says_complex(&features), learned.margin_micro(&features) >= 0);
    }
}

#[test]
fn c10_the_largest_numbers_do_not_overflow() {
    for weight_micro in [i64::MIN, i64::MAX] {
        for mean_micro in [i64::MIN, i64::MAX] {
            let extreme = weight(QuestionFeature::Tokens, weight_micro, mean_micro, 1);
            let learned = rule(vec![extreme; 4]);
            let features = QuestionFeatures {
                tokens: u32::MAX,
                ..QuestionFeatures::default()
            };
            let odds = learned.log_odds_micro(&features);
            assert!(odds == i64::MIN || odds == i64::MAX, "{odds}");
        }
    }
}
