use super::*;

#[test]
fn a_line_is_cut_across_its_pieces() {
    let line = || {
        StyledLine::from("one ")
            .with(LineStyle::Good, "two ")
            .with(LineStyle::Bad, "three")
    };
    for (max, expected) in [
        (13, "one two three"),
        (12, "one two thr…"),
        (8, "one two…"),
        (5, "one …"),
        (3, "on…"),
        (0, ""),
    ] {
        let cut = line().clipped(max);
        assert_eq!(cut.plain(), expected, "{max}");
        assert!(cut.columns() <= max.max(1));
    }
}

#[test]
fn colour_goes_round_the_words() {
    let line = StyledLine::from("is ").with(LineStyle::Good, "ok");
    assert_eq!(line.styled(), "is \u{1b}[32mok\u{1b}[0m");
    assert_eq!(line.plain(), "is ok");
}
