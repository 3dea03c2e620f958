use super::*;

fn scores(accuracy: u16, precision: Option<u16>, recall: u16, baseline: u16) -> ScoresJson {
    let milli = |percent: u16| PerMille::new(percent * 10).unwrap();
    ScoresJson {
        accuracy: Some(milli(accuracy)),
        precision: precision.map(milli),
        recall: Some(milli(recall)),
        baseline: Some(milli(baseline)),
    }
}

fn sample(accuracy: u16) -> LearnedJson {
    let fold = |questions, changed, scores| FoldJson {
        questions,
        changed,
        scores,
    };
    let term = |feature: &str, meaning: &str, weight| TermJson {
        feature: feature.into(),
        meaning: meaning.into(),
        weight,
        mean: 3.25,
        scale: 1.5,
    };
    LearnedJson {
        days: 90,
        questions: 84,
        changed: 31,
        folds: vec![
            fold(42, 16, scores(81, Some(75), 69, 62)),
            fold(42, 15, scores(79, None, 0, 64)),
        ],
        mean: scores(accuracy, Some(75), 35, 63),
        weights: vec![
            term("tokens", "estimated tokens of the question", 0.812),
            term("domains", "domains it touches", -0.04),
        ],
        bias: -0.531,
        threshold: 0.0,
        written: None,
    }
}

fn picture(learning: &LearnedJson, width: usize) -> String {
    let lines: Vec<String> = learning
        .lines(width)
        .iter()
        .map(StyledLine::plain)
        .collect();
    lines.join("\n")
}

#[test]
fn c10_what_was_learned_is_read_in_80_columns() {
    insta::assert_snapshot!(picture(&sample(80), 80));
}

#[test]
fn c10_a_detector_that_tells_nothing_is_said_to() {
    let mut learning = sample(63);
    learning.written = Some("charters/mine/learned.toml".into());
    let picture = picture(&learning, 80);
    assert!(picture.contains("no better than always predicting the majority class"));
    assert!(picture.ends_with("wrote charters/mine/learned.toml"));
}

#[test]
fn c10_what_was_learned_as_json_holds_folds_and_weights() {
    let json = serde_json::to_value(sample(80)).unwrap();
    assert_eq!(json["questions"], 84);
    assert_eq!(json["folds"][0]["accuracy"], 0.81);
    assert_eq!(json["folds"][1]["precision"], serde_json::Value::Null);
    assert_eq!(json["mean"]["baseline"], 0.63);
    assert_eq!(json["weights"][0]["feature"], "tokens");
    assert_eq!(json["weights"][0]["weight"], 0.812);
    assert_eq!(json["written"], serde_json::Value::Null);
}
