//! What becomes of what was found.

use fathom_output::redact::{
    EntityKind, RedactAction, RedactError, RedactKey, RedactRules, SpanKind, TextRedactor,
};

use super::{redactor, with_rules};

const HEAD: &str = "format = 1\nversion = \"1\"\n";

fn keyed(rules: &str, key: u8) -> Result<TextRedactor, RedactError> {
    let rules = RedactRules::parse(&format!("{HEAD}{rules}"))?;
    TextRedactor::new(&rules, Some(RedactKey::from_bytes([key; 32])))
}

#[test]
fn g10_each_kind_is_masked_by_its_name() {
    let redactor = redactor();
    for (text, shown) in [
        ("mail ann@example.org.", "mail [email]."),
        ("call +44 20 7946 0958 now", "call [phone] now"),
        (
            "card 4111 1111 1111 1111, exp 12/27",
            "card [card], exp 12/27",
        ),
        ("IBAN DE89 3704 0044 0532 0130 00.", "IBAN [iban]."),
        ("SSN 536-22-1234", "SSN [us_ssn]"),
        ("from 192.168.17.4:8080", "from [ip]:8080"),
        ("at 00:1a:2b:3c:4d:5e up", "at [mac] up"),
        (
            "postgres://app:s3cr3t@db/main",
            "postgres://[url_credentials]@db/main",
        ),
        ("password: hunter22!", "password: [password]"),
        ("born on 12 March 1985", "born on [birth_date]"),
        ("on 12 March 1985 we met", "on 12 March 1985 we met"),
        ("pay 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "pay [crypto]"),
        ("What a load of bullsh1t!", "What a load of [profanity]!"),
        ("Go kill yourself", "[self-harm]"),
        (
            "nothing at all: 12:30, v1.2.3, a@b",
            "nothing at all: 12:30, v1.2.3, a@b",
        ),
    ] {
        assert_eq!(redactor.redact(text).text, shown);
    }
}

#[test]
fn spans_tell_where_something_was_and_what_became_of_it() {
    let redacted = redactor().redact("Grüße,\nann@example.org\n");
    let [span] = &redacted.spans[..] else {
        panic!("one span, not {:?}", redacted.spans);
    };
    assert_eq!(
        &"Grüße,\nann@example.org\n"[span.start..span.end],
        "ann@example.org"
    );
    assert_eq!(span.kind, SpanKind::Entity(EntityKind::Email));
    assert_eq!(span.action, RedactAction::Mask);
    assert!(!redacted.needs_review());
}

#[test]
fn g10_tokens_open_with_their_key_and_no_other() -> Result<(), RedactError> {
    let rules = "[entities.email]\naction = \"tokenise\"\n";
    let redactor = keyed(rules, 1)?;
    let text = "ann@example.org, bob@example.org, ann@example.org [x~y] [email~AAAA]";
    let redacted = redactor.redact(text);
    let tokens: Vec<&str> = redacted.text.split(", ").collect();
    assert!(tokens[0].starts_with("[email~") && tokens[2].starts_with(tokens[0]));
    assert_ne!(tokens[0], tokens[1]);
    assert!(!redacted.text.contains("example.org"));

    let opened = redactor.detokenise(&redacted.text)?;
    assert_eq!(
        (opened.text.as_str(), opened.opened, opened.refused),
        (text, 3, 1)
    );
    let foreign = keyed(rules, 2)?.detokenise(&redacted.text)?;
    assert_eq!(
        (foreign.text.as_str(), foreign.opened, foreign.refused),
        (redacted.text.as_str(), 0, 4)
    );
    let moved = redacted.text.replace("[email~", "[phone~");
    assert_eq!(redactor.detokenise(&moved)?.opened, 0);
    assert_eq!(
        super::redactor()
            .detokenise("x")
            .map_err(|error| error.code()),
        Err("F1008")
    );
    Ok(())
}

#[test]
fn hashes_are_the_same_for_the_same_value_and_key() -> Result<(), RedactError> {
    let rules = "[entities.email]\naction = \"hash\"\n";
    let text = "ann@example.org bob@example.org";
    let (one, again, other) = (
        keyed(rules, 1)?.redact(text),
        keyed(rules, 1)?.redact(text),
        keyed(rules, 2)?.redact(text),
    );
    assert_eq!(one, again);
    assert_ne!(one.text, other.text);
    let words: Vec<&str> = one.text.split(' ').collect();
    assert_ne!(words[0], words[1]);
    assert_eq!((&words[0][..7], words[0].len()), ("[email#", 24));
    Ok(())
}

#[test]
fn dropped_kept_and_for_a_person() {
    let redactor = with_rules(
        "format = 1\nversion = \"2\"\n[entities.email]\naction = \"drop\"\n[entities.ip]\naction = \"keep\"\n[entities.us_ssn]\naction = \"review\"\n",
    );
    let redacted = redactor.redact("a ann@example.org b 10.1.2.3 c 536-22-1234");
    assert_eq!(redacted.text, "a  b 10.1.2.3 c [us_ssn]");
    assert!(redacted.needs_review());
    assert_eq!(redactor.version(), "2");
}

/// Later filters read what earlier ones wrote, and take over what they cover.
#[test]
fn g10_filters_follow_each_other() {
    let redactor = with_rules(
        "format = 1\nversion = \"1\"\n[[policy]]\nid = \"order\"\nreason = \"r\"\naction = \"mask\"\npatterns = ['send \\[email\\] now', 'ann@example']\n",
    );
    let redacted = redactor.redact("x send ann@example.org now, damn fuck y");
    assert_eq!(redacted.text, "x [order], damn [profanity] y");
    let names: Vec<(&str, usize, usize)> = redacted
        .spans
        .iter()
        .map(|span| (span.kind.name(), span.start, span.end))
        .collect();
    assert_eq!(
        names,
        [("order", 2, 26), ("email", 7, 22), ("profanity", 33, 37)]
    );
}

/// What names no host in particular stays: messages of programs can be read.
#[test]
fn addresses_of_this_host_and_masks_stay() {
    let redactor = redactor();
    for text in [
        "cannot reach http://127.0.0.1:8080",
        "bound to 0.0.0.0:80 and [::1]:80",
        "127.8.9.1, ::ffff:127.0.0.1, 255.255.255.0",
    ] {
        assert_eq!(redactor.redact(text).text, text);
    }
    // Names for examples stand for real ones, and are treated as such.
    assert_eq!(
        redactor
            .redact("192.0.2.7 10.0.0.1 2001:db8::7 ::2 ann@example.org")
            .text,
        "[ip] [ip] [ip] [ip] [email]"
    );
}

/// Zeros at the end of a time are no way to dial abroad.
#[test]
fn times_beside_dates_are_no_telephone_numbers() {
    let redactor = redactor();
    for text in [
        "2024-05-01 10:00:00 2024-05-02 10:00:00",
        "08:00 2024-01-02 12:00",
        "from 10:00:00+02:00 2024-05-02 10:00:00+02:00",
        "00:30:00+00:00 1711845000.0",
        "took 3.00 2024-05-02",
    ] {
        assert_eq!(redactor.redact(text).text, text);
    }
    for text in ["Tel.:0049 30 1234567", "at 10:00 call 0049 30 1234567"] {
        assert!(redactor.redact(text).text.ends_with("[phone]"), "{text}");
    }
}

#[test]
fn words_without_spaces_between_them_are_words() {
    let redactor = redactor();
    for (text, shown) in [
        ("请联系ann@example.org谢谢", "请联系[email]谢谢"),
        ("電話は+81 90 1234 5678です", "電話は[phone]です"),
        ("电话13812345678。", "电话[phone]。"),
        ("密码：hunter22!", "密码：[password]"),
        ("서버는 10.1.2.3입니다", "서버는 [ip]입니다"),
    ] {
        assert_eq!(redactor.redact(text).text, shown);
    }
}

#[test]
fn secrets_are_found_as_programs_write_them() {
    let redactor = redactor();
    for (text, shown) in [
        (
            "<password>Tr0ubfayp#</password>",
            "<password>[password]</password>",
        ),
        ("PGPASSWORD=Tr0ubfayp psql", "PGPASSWORD=[password] psql"),
        (
            "<add key=\"ApiKey\" value=\"6732249a976230a446a967bcf9fb5ec1\"/>",
            "<add key=\"ApiKey\" value=\"[secret]\"/>",
        ),
        ("token: TWNUREJPZUpXUlJWbXlMcVpXNldzMVRp", "token: [secret]"),
        (
            "token: MyVeryLongNameOfAThing",
            "token: MyVeryLongNameOfAThing",
        ),
        (
            "https://discord.com/api/webhooks/123456789012345678/aZ09_-aZ09_-aZ09_-aZ09_-aZ09_-aZ09_-aZ09_-aZ09_-aZ09_-aZ09_-aZ09_-ab",
            "https://[secret]",
        ),
    ] {
        assert_eq!(redactor.redact(text).text, shown);
    }
}

#[test]
fn regions_let_numbers_stand_alone() {
    let text = "030 1234567 and 111222333 here";
    assert_eq!(redactor().redact(text).text, text);
    let there = with_rules("format = 1\nversion = \"1\"\nregions = [\"DE\", \"NL\"]\n");
    assert_eq!(there.redact(text).text, "[phone] and [nl_bsn] here");
}
