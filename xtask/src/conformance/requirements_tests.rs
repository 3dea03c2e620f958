use super::*;

#[test]
fn the_list_is_whole() {
    let counts: Vec<(u8, usize)> = all()
        .unwrap()
        .iter()
        .map(|section| {
            let letter = section.requirements[0].id.as_bytes()[0];
            for (index, requirement) in section.requirements.iter().enumerate() {
                let expected = format!("{}{:02}", char::from(letter), index + 1);
                assert_eq!(requirement.id, expected, "in order and without gaps");
                assert!(
                    !requirement.phrase.contains('|'),
                    "a bar would split the row"
                );
            }
            (letter, section.requirements.len())
        })
        .collect();
    assert_eq!(
        counts,
        [
            (b'E', 19),
            (b'C', 11),
            (b'P', 10),
            (b'G', 13),
            (b'R', 7),
            (b'X', 8)
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
