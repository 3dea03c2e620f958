use super::DecodedText;

/// The text of bytes without a flaw.
#[track_caller]
fn text(bytes: Vec<u8>) -> Option<String> {
    let DecodedText { text, flaws } = super::text(bytes)?;
    assert_eq!(flaws, 0, "{text}");
    Some(text)
}

/// Whether bytes are taken as UTF-8, and with how many flaws.
#[track_caller]
fn flawed(bytes: &[u8], said: &str, flaws: u64) {
    let text = said.to_owned();
    assert_eq!(
        super::text(bytes.to_vec()),
        Some(DecodedText { text, flaws })
    );
}

#[test]
fn utf_8_and_utf_16_lose_their_mark() {
    assert_eq!(text("plain é".into()).as_deref(), Some("plain é"));
    assert_eq!(
        text(b"\xef\xbb\xbfmarked".to_vec()).as_deref(),
        Some("marked")
    );
    assert_eq!(text(b"\xff\xfeh\0i\0".to_vec()).as_deref(), Some("hi"));
    assert_eq!(text(b"\xfe\xff\0h\0i".to_vec()).as_deref(), Some("hi"));
}

#[test]
fn older_western_text_is_read() {
    let bytes = b"Die Gr\xf6\xdfe der Datenbank \x96 und ihr Preis in \x80".to_vec();
    assert_eq!(
        text(bytes).as_deref(),
        Some("Die Größe der Datenbank – und ihr Preis in €")
    );
    // One letter at an end may be that of a cut character, too; alone it is none.
    assert_eq!(text(b"un caf\xe9".to_vec()).as_deref(), Some("un café"));
    assert_eq!(text(b"\x80 100".to_vec()).as_deref(), Some("€ 100"));
}

/// One bad byte in a log of three hundred lines must not turn every `ö` of it into two letters.
#[test]
fn r01_utf_8_with_few_flaws_stays_utf_8_and_says_how_many() {
    let lines = "Größe: schön\n".repeat(300);
    let bad = [lines.as_bytes(), b"bad \xff byte\n", lines.as_bytes()].concat();
    flawed(&bad, &format!("{lines}bad \u{fffd} byte\n{lines}"), 1);
    // Nine of ten are enough, eight of nine are not.
    let nine = ["ööööööööö\u{1b}[0m".as_bytes(), b"\xff!"].concat();
    flawed(&nine, "ööööööööö\u{1b}[0m\u{fffd}!", 1);
    let eight = ["öööööööö".as_bytes(), b"\xff", &[b' '; 60]].concat();
    let western = super::text(eight).unwrap();
    assert_eq!(western.flaws, 0);
    assert!(western.text.starts_with("Ã¶"), "{}", western.text);
    // A byte-order mark says the same.
    flawed(b"\xef\xbb\xbfcaf\xe9!", "caf\u{fffd}!", 1);
}

#[test]
fn r01_a_character_that_was_cut_at_an_end_leaves_utf_8() {
    flawed(b"\xa9 \xc3\xa9t\xc3\xa9", "\u{fffd} été", 1);
    flawed(
        b"\x82\xac, \xe2\x82\xac, \xe2\x82",
        "\u{fffd}\u{fffd}, €, \u{fffd}",
        3,
    );
    flawed(b"in all 100 \xe2\x82", "in all 100 \u{fffd}", 1);
    flawed(
        b"\x9f\x98\x80 all is well",
        "\u{fffd}\u{fffd}\u{fffd} all is well",
        3,
    );
}

#[test]
fn what_is_no_text_is_none() {
    assert_eq!(text(b"\x7fELF\x02\x01\x01\0\0\0".to_vec()), None);
    assert_eq!(text(b"text with a \0 in it".to_vec()), None);
    assert_eq!(text(b"\x89PNG\r\n\x1a\n and more".to_vec()), None);
    assert_eq!(text((128..=255).cycle().take(4096).collect()), None);
    let flawed = ["ö".repeat(100).as_bytes(), b"\xff\0"].concat();
    assert_eq!(super::text(flawed), None);
}
