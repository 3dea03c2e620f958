use super::*;

/// Passages on many things, and behind them these.
fn passages(last: &[[f32; 4]]) -> UnitVectors {
    let mut directions = UnitVectors::default();
    for at in 0..20_u8 {
        let sign = if at % 2 == 0 { 1.0 } else { -1.0 };
        directions.push(&[0.0, 0.0, sign, 1.0]).unwrap();
    }
    for passage in last {
        directions.push(&unit(passage.to_vec()).unwrap()).unwrap();
    }
    directions
}

const QUESTION: [f32; 4] = [1.0, 0.0, 0.0, 0.0];
const EXAMPLE: [f32; 4] = [1.0, 1.5, 0.0, 0.0];
/// Has nothing of the question, and much of what its examples have.
const IN_OTHER_WORDS: [f32; 4] = [0.0, 1.0, 0.3, 0.0];

#[test]
fn c03_what_is_like_the_examples_is_about_the_subject() {
    let directions = passages(&[IN_OTHER_WORDS, EXAMPLE, EXAMPLE]);
    let subject = CentredVectors::new(&directions).subject(&QUESTION);
    assert!(subject.has_examples);
    assert!(subject.cosines[20] > 0.5, "{:?}", subject.cosines);
    assert!(subject.cosines[..20].iter().all(|cosine| *cosine < 0.2));
    assert!((subject.shares[21] / subject.shares[20]) > 1.0);
}

#[test]
fn c03_one_example_does_not_tell_a_subject() {
    let directions = passages(&[IN_OTHER_WORDS, EXAMPLE]);
    let subject = CentredVectors::new(&directions).subject(&QUESTION);
    assert!(!subject.has_examples);
    assert!(subject.cosines[20] < 0.2, "{:?}", subject.cosines);
    assert!(subject.cosines[21] > 0.5, "{:?}", subject.cosines);
}

#[test]
fn a_single_passage_has_a_direction_too() {
    let mut directions = UnitVectors::default();
    directions.push(&EXAMPLE).unwrap();
    let subject = CentredVectors::new(&directions).subject(&EXAMPLE);
    assert!(subject.cosines[0] > 0.9, "{:?}", subject.cosines);
}
