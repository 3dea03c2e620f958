use super::text;

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
}

#[test]
fn what_is_no_text_is_none() {
    assert_eq!(text(b"\x7fELF\x02\x01\x01\0\0\0".to_vec()), None);
    assert_eq!(text(b"text with a \0 in it".to_vec()), None);
    assert_eq!(text(b"\x89PNG\r\n\x1a\n and more".to_vec()), None);
    assert_eq!(text((128..=255).cycle().take(4096).collect()), None);
}
