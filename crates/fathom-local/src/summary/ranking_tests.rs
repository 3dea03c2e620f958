use std::fmt::Write as _;

use super::*;
use crate::embedding::DIMENSIONS;
use crate::summary::sentences::split;

/// A vector with these first components.
fn vector(components: &[f32]) -> Embedding {
    let mut all = [0.0; DIMENSIONS];
    all[..components.len()].copy_from_slice(components);
    Embedding::towards(&all).unwrap()
}

#[track_caller]
fn ranked(text: &str, vectors: &[&[f32]], expected: &[&str]) {
    let sentences = split(text);
    let vectors: Vec<Embedding> = vectors
        .iter()
        .map(|components| vector(components))
        .collect();
    let found: Vec<&str> = rank(&sentences, &vectors)
        .iter()
        .map(|sentence| sentence.text)
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn rules_come_before_figures_and_figures_before_the_rest() {
    ranked(
        "Plain. It has 3. It must.",
        &[&[1.0], &[0.0, 1.0], &[0.0, 0.0, 1.0]],
        &["It must.", "It has 3.", "Plain."],
    );
}

#[test]
fn what_is_central_comes_before_what_is_off_the_point() {
    ranked(
        "Off. Near. Centre. Other.",
        &[&[-1.0, 0.2], &[1.0, 0.9], &[1.0, 0.0], &[1.0, -0.9]],
        &["Centre.", "Near.", "Other.", "Off."],
    );
}

#[test]
fn a_plain_sentence_that_repeats_is_dropped_and_a_rule_is_not() {
    ranked("Same. Like it.", &[&[1.0], &[1.0, 0.1]], &["Same."]);
    ranked(
        "You must go. You must never go.",
        &[&[1.0], &[1.0, 0.1]],
        &["You must go.", "You must never go."],
    );
}

#[test]
fn of_equals_the_earlier_comes_first() {
    ranked(
        "First. Second.",
        &[&[1.0], &[0.0, 1.0]],
        &["First.", "Second."],
    );
}

#[test]
fn a_sentence_is_a_candidate_once() {
    let sentences = split("Be kind.\n- x\n- Be kind.\nBE  KIND. Go.");
    let texts: Vec<&str> = candidates(&sentences)
        .iter()
        .map(|sentence| sentence.text)
        .collect();
    assert_eq!(texts, ["Be kind.", "- x", "Go."]);
}

#[test]
fn of_very_many_sentences_all_rules_and_some_of_every_stretch_are_candidates() {
    let filler = |index: usize| format!("Filler {} about water. ", letters(index));
    let mut text: String = (0..3000).map(filler).collect();
    text.push_str("The last thing is that you must stop. ");
    text.extend((3000..6000).map(filler));
    let sentences = split(&text);
    assert_eq!(sentences.len(), 6001);
    let chosen = candidates(&sentences);
    assert_eq!(chosen.len(), CANDIDATES_MAX);
    assert_eq!(
        chosen
            .iter()
            .filter(|sentence| sentence.kind == SentenceKind::Rule)
            .count(),
        1
    );
    assert!(chosen.is_sorted_by_key(|sentence| sentence.start));
    let gaps = chosen.windows(2).map(|pair| pair[1].start - pair[0].start);
    assert!(gaps.max().unwrap() < text.len() / 100);
}

#[test]
fn of_a_stretch_the_most_typical_sentence_is_taken() {
    let mut text = String::new();
    for index in 0..CANDIDATES_MAX {
        let name = letters(index);
        write!(
            text,
            "Odd{name} thing{name} here{name}. Water flows under bridge {name}. "
        )
        .unwrap();
    }
    let chosen = candidates(&split(&text))
        .iter()
        .filter(|sentence| sentence.text.starts_with("Water"))
        .count();
    assert_eq!(chosen, CANDIDATES_MAX);
}

/// A number without digits, which would make the sentence a figure, and that is no word, which might make it a rule.
fn letters(mut number: usize) -> String {
    let mut name = String::from("zq");
    for _ in 0..3 {
        name.extend(char::from_digit(
            u32::try_from(number % 26).unwrap() + 10,
            36,
        ));
        number /= 26;
    }
    name
}
