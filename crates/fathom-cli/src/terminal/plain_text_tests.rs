use super::*;

#[test]
fn x08_model_text_cannot_steer_the_terminal() {
    for (given, expected) in [
        ("plain", "plain"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\u{1b}[31mred\u{1b}[0m", "red"),
        ("\u{1b}]0;title\u{7}after", "after"),
        ("a\rb\u{8}c\u{7f}", "abc"),
        ("\u{9b}31mC1", "31mC1"),
        ("evil\u{202e}txt.exe", "eviltxt.exe"),
        ("zero\u{200b}width", "zerowidth"),
        ("عربي क्षि 👩‍👩‍👧", "عربي क्षि 👩‍👩‍👧"),
    ] {
        assert_eq!(safe(given), expected, "{given:?}");
    }
}

#[test]
fn one_line_joins_all_white_space() {
    assert_eq!(one_line("  a\n\n b\t\u{a0}c \r\n"), "a b c");
}

#[test]
fn clipping_counts_columns_and_not_characters() {
    for (text, max, expected) in [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("two words", 5, "two…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("x", 0, ""),
        ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
    ] {
        let clipped = clip(text, max);
        assert_eq!(clipped, expected, "{text} in {max}");
        assert!(columns(&clipped) <= max);
    }
}

#[test]
fn clipping_in_front_keeps_the_end() {
    for (text, max, expected) in [
        ("short", 5, "short"),
        ("the last words", 8, "…t words"),
        ("the last words", 7, "…words"),
        ("日本語", 4, "…語"),
        ("x y", 1, "…"),
        ("xy", 0, ""),
    ] {
        let clipped = clip_front(text, max);
        assert_eq!(clipped, expected, "{text} in {max}");
        assert!(columns(&clipped) <= max);
    }
}

#[test]
fn padding_counts_columns() {
    assert_eq!(pad("日本", 6), "日本  ");
    assert_eq!(pad_front("日本", 6), "  日本");
    assert_eq!(pad("long", 2), "long");
}

#[test]
fn wrapping_breaks_between_words_and_counts_columns() {
    for (text, max, expected) in [
        ("", 5, vec![]),
        (" \n ", 5, vec![]),
        ("one two\tthree", 7, vec!["one two", "three"]),
        ("a abcdefgh b", 3, vec!["a", "abc", "def", "gh", "b"]),
        ("日本語日本", 5, vec!["日本", "語日", "本"]),
        ("x 日本", 4, vec!["x", "日本"]),
        // What is wider than all there is cannot be shown.
        ("日", 1, vec![]),
        (
            "e\u{301}e\u{301}e\u{301}",
            2,
            vec!["e\u{301}e\u{301}", "e\u{301}"],
        ),
    ] {
        assert_eq!(wrap(text, max), expected, "{text:?} in {max}");
    }
}

#[test]
fn e17_nothing_is_hidden_in_what_is_shown_literally() {
    let hidden = "a\u{202e}b\u{1b}[31mc\u{200b}d\ne\tf g";
    let shown = visible(hidden);
    assert_eq!(shown, r"a\u{202e}b\u{1b}[31mc\u{200b}d\u{a}e\u{9}f g");
}

#[test]
fn e17_folded_lines_hold_every_character() {
    let text = "one  two three-and-a-half   x";
    for max in 1..40 {
        let lines = fold(text, max);
        assert_eq!(lines.concat(), text, "at {max}");
        assert!(lines.iter().all(|line| columns(line) <= max), "at {max}");
    }
    assert_eq!(fold("one two", 5), ["one ", "two"]);
    assert_eq!(fold("", 5), [""]);
}
