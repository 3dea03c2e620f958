use super::*;

fn asked(more: impl FnOnce(&mut AskArgs)) -> AskArgs {
    let mut asked = AskArgs {
        question: None,
        context: vec![],
        review: None,
        system: None,
        max_output: None,
        no_stream: false,
    };
    more(&mut asked);
    asked
}

type Change = fn(&mut AskArgs);

#[test]
fn x01_what_was_typed_stands_over_what_the_file_says() {
    let file = DirectConfig {
        system: "file".into(),
        review: Some(ReviewRules {
            rubric: "file".into(),
            revisions_max: 5,
        }),
        ..DirectConfig::default()
    };
    let nothing = params(&asked(|_| {}), file.clone()).unwrap();
    assert_eq!(nothing, file);
    let typed = asked(|asked| {
        asked.system = Some("typed".into());
        asked.review = Some("typed".into());
        asked.max_output = Some(8);
        asked.no_stream = true;
    });
    let typed = params(&typed, file).unwrap();
    assert_eq!(typed.system, "typed");
    assert_eq!(typed.output_tokens_max, 8);
    // A reply shorter than the least that is of use would never be asked for.
    assert_eq!(typed.output_tokens_min, 8);
    assert!(!typed.stream);
    let review = typed.review.unwrap();
    assert_eq!((review.rubric.as_str(), review.revisions_max), ("typed", 5));
}

#[test]
fn a_review_may_rewrite_once_by_default() {
    let typed = asked(|asked| asked.review = Some("r".into()));
    let review = params(&typed, DirectConfig::default())
        .unwrap()
        .review
        .unwrap();
    assert_eq!(review.revisions_max, REVISIONS_MAX);
}

#[test]
fn c07_a_council_that_answers_takes_the_question_and_refuses_what_it_cannot_follow() {
    let plain = asked(|asked| {
        asked.question = Some("may we?".into());
        asked.context = vec!["docs".into()];
        asked.no_stream = true;
    });
    let council = as_council(plain).unwrap();
    assert_eq!(council.question.as_deref(), Some("may we?"));
    assert_eq!(council.context, ["docs"].map(std::path::PathBuf::from));
    let cases: [(&str, Change); 3] = [
        ("--review", |asked| asked.review = Some("be kind".into())),
        ("--system", |asked| asked.system = Some("be brief".into())),
        ("--max-output", |asked| asked.max_output = Some(8)),
    ];
    for (option, change) in cases {
        let error = as_council(asked(change)).unwrap_err();
        assert_eq!(error.code(), "F0104");
        assert!(error.to_string().contains(option), "{error}");
    }
}
