use std::cell::Cell;

use proptest::prelude::*;

use super::*;
use crate::embedding::DIMENSIONS;

/// Vectors from the words alone: cheap, the same every time, alike for texts that share words.
struct Words;

impl SentenceVectors for Words {
    fn vectors(&self, sentences: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        let vector = |text: &&str| {
            let mut all = [0.0; DIMENSIONS];
            for word in text.to_lowercase().split_whitespace() {
                let hash = word.bytes().fold(5381_usize, |hash, byte| {
                    hash.wrapping_mul(33) ^ usize::from(byte)
                });
                all[hash % DIMENSIONS] += 1.0;
            }
            Embedding::towards(&all).unwrap()
        };
        Ok(sentences.iter().map(vector).collect())
    }
}

/// No vectors at all.
struct Broken;

impl SentenceVectors for Broken {
    fn vectors(&self, _: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        Err(EmbeddingError::Failed {
            cause: "out of order".to_owned(),
        })
    }
}

fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

/// Four bytes to a token, and two for the whole: a count that is not the sum of its parts' counts.
fn bytes(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4) + 2
}

#[track_caller]
fn shortened(text: &str, tokens_max: u32) -> ExtractiveSummary {
    ExtractiveSummariser::new(Words)
        .shorten(text, tokens_max, &words)
        .unwrap()
}

#[track_caller]
fn too_small(text: &str, tokens_max: u32, expected_least: u64) {
    match ExtractiveSummariser::new(Words).shorten(text, tokens_max, &words) {
        Err(SummaryError::TargetTooSmall {
            least_tokens,
            tokens_max: target,
        }) => {
            assert_eq!((least_tokens, target), (expected_least, tokens_max));
        }
        other => panic!("{other:?}"),
    }
}

const NOTE: &str = "We had a lovely summer by the sea. The house is old and full of charm. You must close the gate at \
    night. Everybody enjoys the view from the terrace. Never feed the dog at the table. The neighbours are friendly \
    people. Breakfast is served at 8.";

#[test]
fn g04_rules_are_kept_before_fluff_and_in_their_order() {
    assert_eq!(
        shortened(NOTE, 16).text,
        "You must close the gate at night. Never feed the dog at the table."
    );
    assert_eq!(
        shortened(NOTE, 20).text,
        "You must close the gate at night. Never feed the dog at the table. Breakfast is served at 8."
    );
}

#[test]
fn g04_every_target_is_reached_or_refused() {
    let summariser = ExtractiveSummariser::new(Words);
    let mut sizes = Vec::new();
    for tokens_max in 0..60 {
        match summariser.shorten(NOTE, tokens_max, &bytes) {
            Ok(summary) => {
                assert!(summary.tokens <= u64::from(tokens_max));
                assert_eq!(summary.tokens, bytes(&summary.text));
                sizes.push(summary.tokens);
            }
            Err(SummaryError::TargetTooSmall { least_tokens, .. }) => {
                assert!(least_tokens > u64::from(tokens_max));
                assert!(sizes.is_empty(), "a smaller target was reached");
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(sizes.len() > 40);
}

#[test]
fn a_text_that_fits_is_left_as_it_is() {
    let text = "  Twice.\n\nTwice. ";
    let summary = shortened(text, 2);
    assert_eq!((summary.text.as_str(), summary.tokens), (text, 2));
    assert_eq!(summary.kept.len(), 1);
    assert_eq!(&text[summary.kept[0].clone()], text);
}

#[test]
fn a_sentence_is_kept_once() {
    let text = "Be kind to people. Be kind to people. BE kind to people. Cats sleep all day long.";
    assert_eq!(
        shortened(text, 12).text,
        "Be kind to people. Cats sleep all day long."
    );
}

#[test]
fn lines_stay_lines() {
    let text = "Some words that nobody needs to read at all\n- You must stop\n- You must wait\n\nMore idle words here";
    assert_eq!(shortened(text, 9).text, "- You must stop\n- You must wait");
    let adjoining = "必ず、守る。只の飾り。";
    let count = |text: &str| text.chars().count() as u64;
    let summary = ExtractiveSummariser::new(Words)
        .shorten(adjoining, 6, &count)
        .unwrap();
    assert_eq!(summary.text, "必ず、守る。");
}

#[test]
fn what_is_too_long_for_the_target_makes_room_for_what_is_not() {
    let text = "You must, whenever it rains and the wind blows from the west, bring in the chairs. You must lock up. Go.";
    assert_eq!(shortened(text, 5).text, "You must lock up. Go.");
}

#[test]
fn one_long_word_cannot_be_shortened() {
    let word = "x".repeat(40_000);
    match ExtractiveSummariser::new(Words).shorten(&word, 100, &bytes) {
        Err(error @ SummaryError::TargetTooSmall { .. }) => {
            assert_eq!(error.code(), "F0546");
            assert!(error.to_string().contains("has 10002"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_least_that_would_do_is_told() {
    too_small(NOTE, 4, 5);
    assert_eq!(shortened(NOTE, 5).text, "Breakfast is served at 8.");
}

#[test]
fn of_a_blank_text_nothing_is_left() {
    let count = |text: &str| text.len() as u64;
    let summary = ExtractiveSummariser::new(Words)
        .shorten(" \n\t ", 1, &count)
        .unwrap();
    assert_eq!((summary.text.as_str(), summary.kept.len()), ("", 0));
}

#[test]
fn a_failure_of_the_model_is_passed_on_and_not_met_when_nothing_is_to_do() {
    let summariser = ExtractiveSummariser::new(Broken);
    let error = summariser.shorten(NOTE, 10, &words).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().contains("out of order")),
        ("F0545", true)
    );
    assert!(summariser.shorten(NOTE, 1000, &words).is_ok());
}

#[test]
fn a_text_beyond_the_limit_is_refused() {
    let text = "a ".repeat(SOURCE_BYTES_MAX / 2 + 1);
    let error = ExtractiveSummariser::new(Words)
        .shorten(&text, 10, &words)
        .unwrap_err();
    assert_eq!(error.code(), "F0547");
}

#[test]
fn a_long_text_costs_few_counts_of_much_text() {
    use std::fmt::Write as _;

    let mut text = String::new();
    for index in 0..40_000 {
        write!(
            text,
            "Item {index} of the list is about the subject of water. "
        )
        .unwrap();
    }
    let counted = Cell::new(0_u64);
    let count = |text: &str| {
        counted.set(counted.get() + text.len() as u64);
        words(text)
    };
    let summary = ExtractiveSummariser::new(Words)
        .shorten(&text, 2000, &count)
        .unwrap();
    assert!(
        (1900..=2000).contains(&summary.tokens),
        "{}",
        summary.tokens
    );
    let times = counted.get() / text.len() as u64;
    assert!(times <= 3, "the text was counted {times} times over");
}

/// Sentences of any kind, with every kind of space between them.
fn texts() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[a-z]{1,9}",
        1 => prop::sample::select(vec!["must", "never", "42", "e.g.", "Dr.", "naïve", "🙂", "雨。", "No.", "- ", "#"])
            .prop_map(str::to_owned),
    ];
    let sentence = (
        prop::collection::vec(word, 1..14),
        prop::sample::select(vec![".", "!", "?", "", ":", ";"]),
    )
        .prop_map(|(words, end)| words.join(" ") + end);
    let space = prop::sample::select(vec![" ", "\n", "\n\n", "\r\n", "  ", "\n- ", "\n1. ", ""]);
    prop::collection::vec((sentence, space), 1..24).prop_map(|parts| {
        parts
            .into_iter()
            .map(|(sentence, space)| sentence + space)
            .collect()
    })
}

proptest! {
    #[test]
    fn g04_any_text_is_shortened_within_bounds_or_refused(text in texts(), tokens_max in 0_u32..60) {
        let summariser = ExtractiveSummariser::new(Words);
        let count = |text: &str| bytes(text);
        match summariser.shorten(&text, tokens_max, &count) {
            Ok(summary) => {
                prop_assert!(summary.tokens <= u64::from(tokens_max));
                prop_assert_eq!(summary.tokens, bytes(&summary.text));
                prop_assert!(!summary.text.trim().is_empty() || text.trim().is_empty());
                // Nothing but sentences of the source, in its order, with space between them.
                let mut rest = summary.text.as_str();
                let mut last = 0;
                for range in &summary.kept {
                    prop_assert!(range.start >= last);
                    last = range.end;
                    rest = rest.strip_prefix(['\n', ' ']).unwrap_or(rest);
                    rest = rest.strip_prefix(&text[range.clone()]).unwrap();
                }
                prop_assert_eq!(rest, "");
                let again = summariser.shorten(&text, tokens_max, &count).unwrap();
                prop_assert_eq!(again, summary);
            }
            Err(SummaryError::TargetTooSmall { least_tokens, .. }) => {
                prop_assert!(least_tokens > u64::from(tokens_max));
                let least = u32::try_from(least_tokens).unwrap();
                prop_assert!(summariser.shorten(&text, least, &count).is_ok());
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn any_characters_at_all_are_split_without_loss_of_a_letter(text in "\\PC{0,400}|[ -~\\n\\r]{0,400}") {
        let sentences = split(&text);
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        let kept: String = sentences.iter().map(|sentence| letters(sentence.text)).collect();
        prop_assert_eq!(kept, letters(&text));
        for pair in sentences.windows(2) {
            prop_assert!(pair[0].range().end <= pair[1].start);
        }
    }
}
