//! The index of earlier answers, and what it must never do.

use fathom_core::id::{AskId, EpisodeId};
use fathom_core::model::ModelRequest;
use fathom_core::model::tool_call::ToolSpec;
use fathom_core::unit::{Millis, Timestamp};
use fathom_store::{ANSWER_AGE_MAX, AnswerIndex, AnswerPlace, HomeFolder, IndexedAnswer};

use crate::sample::{request, run};

const NOW: Timestamp = Timestamp(5_000_000_000);

fn place(number: u8) -> AnswerPlace {
    AnswerPlace {
        run: run(number),
        episode: EpisodeId::root().child(2),
        ask: AskId(7),
    }
}

fn answer(answers: &AnswerIndex, words: &str, number: u8) -> IndexedAnswer {
    IndexedAnswer {
        key: answers.key("model", &request(words)),
        scope: answers.scope("model", "IT/security"),
        place: place(number),
        at: NOW,
        question: Some(vec![f32::from(number), 0.5]),
    }
}

fn home() -> (tempfile::TempDir, HomeFolder) {
    let folder = tempfile::tempdir().unwrap();
    let home = HomeFolder::open(folder.path()).unwrap();
    (folder, home)
}

#[test]
fn c10_an_answer_is_found_by_the_very_request_and_by_nothing_else() {
    let (_folder, home) = home();
    let answers = home.open_answers().unwrap();
    answers.keep(&answer(&answers, "question", 1)).unwrap();
    let find = |model: &str, request: &ModelRequest| {
        let key = answers.key(model, request);
        answers.find(&key, NOW).unwrap()
    };
    let asked = request("question");
    assert_eq!(find("model", &asked), Some(place(1)));
    assert_eq!(find("another model", &asked), None);
    assert_eq!(find("model", &request("question?")), None);
    let others = [
        ModelRequest {
            seed: Some(1),
            ..asked.clone()
        },
        ModelRequest {
            temperature_milli: Some(1),
            ..asked.clone()
        },
        ModelRequest {
            schema: Some("{}".into()),
            ..asked.clone()
        },
        ModelRequest {
            pattern: Some("a+".into()),
            ..asked.clone()
        },
        ModelRequest {
            tools: vec![ToolSpec {
                name: "look".into(),
                description: "Looks.".into(),
                schema: "{}".into(),
            }],
            ..asked.clone()
        },
        ModelRequest {
            output_tokens_max: 99,
            ..asked.clone()
        },
        ModelRequest {
            messages: asked.messages[1..].to_vec(),
            ..asked.clone()
        },
    ];
    for other in others {
        assert_eq!(find("model", &other), None, "{other:?}");
    }
}

#[test]
fn c10_another_process_finds_it_too_and_another_home_cannot_make_its_key() {
    let (_folder, home) = home();
    let answers = home.open_answers().unwrap();
    answers.keep(&answer(&answers, "question", 1)).unwrap();
    let again = home.open_answers().unwrap();
    let key = again.key("model", &request("question"));
    assert_eq!(again.find(&key, NOW).unwrap(), Some(place(1)));
    let (_elsewhere, other) = self::home();
    let other = other.open_answers().unwrap();
    assert_ne!(other.key("model", &request("question")), key, "it is keyed");
}

#[test]
fn c10_a_newer_answer_takes_the_place_of_an_older_one() {
    let (_folder, home) = home();
    let answers = home.open_answers().unwrap();
    for number in [1, 2] {
        answers.keep(&answer(&answers, "question", number)).unwrap();
    }
    let key = answers.key("model", &request("question"));
    assert_eq!(answers.find(&key, NOW).unwrap(), Some(place(2)));
}

#[test]
fn c10_an_old_answer_is_not_used_again() {
    let (_folder, home) = home();
    let answers = home.open_answers().unwrap();
    answers.keep(&answer(&answers, "question", 1)).unwrap();
    let key = answers.key("model", &request("question"));
    let last = NOW.plus(ANSWER_AGE_MAX);
    assert_eq!(answers.find(&key, last).unwrap(), Some(place(1)));
    assert_eq!(answers.find(&key, last.plus(Millis(1))).unwrap(), None);
}

#[test]
fn c10_questions_are_compared_within_their_scope_alone() {
    let (_folder, home) = home();
    let answers = home.open_answers().unwrap();
    for number in [1, 2] {
        let words = format!("question {number}");
        answers.keep(&answer(&answers, &words, number)).unwrap();
    }
    let questions = |model: &str, scope: &str| {
        let scope = answers.scope(model, scope);
        answers.questions(&scope, NOW).unwrap()
    };
    let mut found = questions("model", "IT/security");
    found.sort_by(|(a, _), (b, _)| a[0].total_cmp(&b[0]));
    assert_eq!(
        found,
        [(vec![1.0, 0.5], place(1)), (vec![2.0, 0.5], place(2))]
    );
    assert_eq!(questions("model", "IT/network"), []);
    assert_eq!(questions("another model", "IT/security"), []);
}

#[test]
fn c10_an_answer_that_is_gone_is_forgotten() {
    let (_folder, home) = home();
    let answers = home.open_answers().unwrap();
    answers.keep(&answer(&answers, "question", 1)).unwrap();
    answers.forget(&place(1)).unwrap();
    let key = answers.key("model", &request("question"));
    assert_eq!(answers.find(&key, NOW).unwrap(), None);
}

#[test]
fn x08_a_damaged_index_is_set_aside_and_begun_anew() {
    let (folder, home) = home();
    let file = folder.path().join("answers.db");
    std::fs::write(
        &file,
        b"this is no database, and never was one; it is far too long for that",
    )
    .unwrap();
    let answers = home.open_answers().unwrap();
    answers.keep(&answer(&answers, "question", 1)).unwrap();
    let key = answers.key("model", &request("question"));
    assert_eq!(answers.find(&key, NOW).unwrap(), Some(place(1)));
    assert!(folder.path().join("answers.damaged").exists());
}
