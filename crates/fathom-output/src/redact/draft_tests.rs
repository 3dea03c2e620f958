use super::*;

fn edit(start: usize, end: usize, text: &str) -> Replacement {
    Replacement {
        start,
        end,
        text: text.to_owned(),
        kind: SpanKind::Profanity,
        action: RedactAction::Mask,
    }
}

/// The text after edits of two filters: places of the second are in what the first wrote.
fn twice(
    original: &str,
    first: Vec<Replacement>,
    second: Vec<Replacement>,
) -> (String, Vec<(usize, usize)>) {
    let mut draft = RedactionDraft::new(original, first);
    draft.apply(second);
    let places = draft.edits().iter().map(|edit| (edit.start, edit.end));
    (draft.text().into_owned(), places.collect())
}

#[test]
fn a_later_edit_keeps_its_place_in_the_original() {
    let first = vec![edit(0, 2, "[long]"), edit(6, 8, "")];
    // After the first filter: `[long]cdefij`.
    let second = vec![edit(7, 8, "D"), edit(10, 11, "I")];
    assert_eq!(
        twice("abcdefghij", first, second),
        (
            "[long]cDefIj".to_owned(),
            vec![(0, 2), (3, 4), (6, 8), (8, 9)]
        )
    );
}

#[test]
fn a_later_edit_takes_over_what_it_touches() {
    let first = vec![edit(2, 4, "XXXX"), edit(6, 7, "Y")];
    // After the first filter: `abXXXXefYhij`.
    let second = vec![edit(1, 3, "-"), edit(7, 10, "+")];
    assert_eq!(
        twice("abcdefghij", first, second),
        ("a-e+ij".to_owned(), vec![(1, 4), (5, 8)])
    );
}

#[test]
fn overlapping_edits_become_one() {
    let resolved = resolve(vec![edit(4, 6, "b"), edit(1, 5, "a"), edit(8, 9, "c")]);
    let places: Vec<(usize, usize)> = resolved.iter().map(|edit| (edit.start, edit.end)).collect();
    assert_eq!(places, [(1, 6), (8, 9)]);
}
