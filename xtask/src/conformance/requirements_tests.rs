use super::*;

#[test]
fn the_list_is_whole() {
    let mut counts: Vec<(char, usize)> = LETTERS.iter().map(|&letter| (letter.into(), 0)).collect();
    for requirement in all()
        .unwrap()
        .iter()
        .flat_map(|section| &section.requirements)
    {
        let letter = requirement.id.chars().next();
        let (letter, count) = counts
            .iter_mut()
            .find(|(known, _)| Some(*known) == letter)
            .unwrap();
        *count += 1;
        let expected = format!("{letter}{count:02}");
        assert_eq!(requirement.id, expected, "in order and without gaps");
        assert!(
            !requirement.phrase.contains('|'),
            "a bar would split the row"
        );
    }
    assert_eq!(
        counts,
        [
            ('E', 19),
            ('C', 20),
            ('P', 15),
            ('G', 19),
            ('R', 15),
            ('X', 8),
            ('H', 9),
            ('Q', 14),
            ('T', 12),
            ('U', 23),
            ('V', 7),
            ('D', 6),
            ('S', 12),
            ('W', 6),
            ('N', 10),
        ]
    );
}

#[track_caller]
fn refused(text: &str, message: &str) {
    assert_eq!(parse(text).unwrap_err().to_string(), message);
}

#[test]
fn a_bad_line_is_named() {
    refused(
        "# One\nE1 x\n",
        "line 2 of the requirements is no `E01 phrase`: `E1 x`",
    );
    refused(
        "# One\nE01\n",
        "line 2 of the requirements is no `E01 phrase`: `E01`",
    );
    refused(
        "# One\nE01 x\n\nE01 y\n",
        "line 4 of the requirements repeats `E01`",
    );
    refused(
        "E01 x\n",
        "line 1 of the requirements stands before any heading",
    );
}
