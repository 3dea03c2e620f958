use super::*;

fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut buffer = String::new();
    each(text, |word| {
        assert_eq!(&text[word.start..word.end()], word.text);
        found.push(lower(&word, &mut buffer).to_owned());
    });
    found
}

#[test]
fn words_are_those_of_unicode_in_lower_case() {
    let table: [(&str, &[&str]); 12] = [
        ("", &[]),
        (" .-– ", &[]),
        ("One two", &["one", "two"]),
        ("one-two_three/four", &["one", "two", "three", "four"]),
        ("don't don’t", &["don", "t", "don", "t"]),
        ("’a’ ’", &["a"]),
        ("ÉTÉ Straße", &["été", "straße"]),
        ("a\u{a0}b…c", &["a", "b", "c"]),
        ("x\u{301}y z", &["x\u{301}y", "z"]),
        ("v2 3.5", &["v2", "3", "5"]),
        ("データ移行", &["データ", "移", "行"]),
        ("🤷‍♀️ ok 🇩🇪", &["ok"]),
    ];
    for (text, wanted) in table {
        assert_eq!(words(text), wanted, "{text}");
    }
}

#[test]
fn gaps_tell_what_belongs_together() {
    let table = [
        (" ", WordGap::Near),
        ("-", WordGap::Near),
        ("\n", WordGap::Near),
        (".", WordGap::Near),
        (":", WordGap::Near),
        ("/", WordGap::Near),
        (" - ", WordGap::Near),
        ("\" (", WordGap::Near),
        ("  \n  ", WordGap::Near),
        (",", WordGap::Comma),
        (", ", WordGap::Comma),
        (" & ", WordGap::Comma),
        ("、", WordGap::Comma),
        ("\n- ", WordGap::Comma),
        ("\n\n* ", WordGap::Comma),
        (": ", WordGap::Colon),
        (":\n- ", WordGap::Colon),
        (",\": ", WordGap::Colon),
        (". ", WordGap::End),
        (", …", WordGap::End),
        ("?\" ", WordGap::End),
        (" — ", WordGap::End),
        ("。", WordGap::End),
        ("\n\n", WordGap::End),
        (",\n\n", WordGap::End),
    ];
    for (gap, wanted) in table {
        let text = format!("a{gap}b");
        assert_eq!(WordGap::between(&text, 1, 1 + gap.len()), wanted, "{gap:?}");
    }
    assert_eq!(WordGap::between("1,000", 1, 2), WordGap::Near);
    assert_eq!(WordGap::between("1,b", 1, 2), WordGap::Comma);
}
