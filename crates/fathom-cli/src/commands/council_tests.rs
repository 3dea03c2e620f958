use super::*;
use crate::exit_code::ExitStatus;
use fathom_programs::council::{CouncilConfig, ReusePolicy};

fn asked(more: impl FnOnce(&mut CouncilArgs)) -> CouncilArgs {
    let mut asked = CouncilArgs {
        question: Some("may we?".to_owned()),
        context: vec![],
        compare: false,
        no_reuse: false,
    };
    more(&mut asked);
    asked
}

#[test]
fn x01_what_was_typed_stands_over_what_the_charter_says() {
    let charter = CouncilConfig {
        compare: true,
        ..CouncilConfig::default()
    };
    let mut params = charter.clone();
    let question = settle("council", &asked(|_| {}), params.depth_max).unwrap();
    options(&asked(|_| {}), None).settle(&mut params);
    assert_eq!(question, "may we?");
    assert_eq!(params, charter);

    let mut params = CouncilConfig::default();
    let typed = asked(|asked| {
        asked.compare = true;
        asked.no_reuse = true;
    });
    settle("council", &typed, params.depth_max).unwrap();
    options(&typed, Some(2)).settle(&mut params);
    assert_eq!(params.depth_max, 2);
    assert!(params.compare);
    assert_eq!(params.reuse, ReusePolicy::Off);
}

#[test]
fn x08_flags_that_contradict_each_other_are_refused() {
    let flat = CouncilConfig {
        depth_max: 0,
        ..CouncilConfig::default()
    };
    let both = |question: Option<&str>| {
        asked(|asked| {
            asked.question = question.map(str::to_owned);
            asked.context = vec!["docs".into(), "-".into()];
        })
    };
    for (typed, params, message) in [
        (
            asked(|asked| asked.compare = true),
            &flat,
            "`--compare` needs a depth of at least 1",
        ),
        (
            both(Some("-")),
            &CouncilConfig::default(),
            "stdin cannot be both the question and the context",
        ),
        (
            both(None),
            &CouncilConfig::default(),
            "stdin cannot be both the question and the context",
        ),
    ] {
        let error = settle("council", &typed, params.depth_max).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(error.exit(), ExitStatus::Usage);
    }
    settle("council", &both(Some("may we?")), flat.depth_max).unwrap();
}

#[test]
fn x08_an_empty_question_is_none() {
    let empty = asked(|asked| asked.question = Some(" \n".to_owned()));
    let error = settle("council", &empty, 1).unwrap_err();
    assert_eq!(error.code(), "F0105");
    assert!(
        error
            .hint()
            .starts_with("pass it as the first argument (`fathom council ")
    );
}
