use super::*;

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let found = split(text);
    let texts: Vec<&str> = found.iter().map(|sentence| sentence.text).collect();
    assert_eq!(texts, expected);
    for sentence in found {
        assert_eq!(&text[sentence.range()], sentence.text);
    }
}

#[test]
fn full_stops_questions_and_exclamations_end_a_sentence() {
    check("One. Two? Three! Four", &["One.", "Two?", "Three!", "Four"]);
    check(
        "It costs 1.50 euros. Pay now.",
        &["It costs 1.50 euros.", "Pay now."],
    );
    check("\"Stop.\" He stopped.", &["\"Stop.\"", "He stopped."]);
    check("  \n\n ", &[]);
}

#[test]
fn an_abbreviation_ends_none() {
    check("Ask Dr. Smith. Then go.", &["Ask Dr. Smith.", "Then go."]);
    check(
        "Use a tool, e.g. Rust. Then go.",
        &["Use a tool, e.g. Rust.", "Then go."],
    );
    check(
        "Das gilt z. B. Montags. Sonst nicht.",
        &["Das gilt z. B. Montags.", "Sonst nicht."],
    );
    check(
        "J. R. Smith came. He sat.",
        &["J. R. Smith came.", "He sat."],
    );
    check(
        "See No. 5 there. No. Do it.",
        &["See No. 5 there.", "No.", "Do it."],
    );
    check(
        "Bring (vgl. Abs. 3) alles mit. Danke.",
        &["Bring (vgl. Abs. 3) alles mit.", "Danke."],
    );
}

#[test]
fn an_item_of_a_list_is_a_sentence_with_its_mark() {
    check(
        "Rules:\n- never lie\n- be kind\n* stay\n1. First. Really.\n(b) second",
        &[
            "Rules:",
            "- never lie",
            "- be kind",
            "* stay",
            "1. First.",
            "Really.",
            "(b) second",
        ],
    );
}

#[test]
fn a_heading_stands_alone() {
    check(
        "# About you\nyou are kind\nand patient",
        &["# About you", "you are kind\nand patient"],
    );
    check("Title\nBody starts here.", &["Title", "Body starts here."]);
}

#[test]
fn a_wrapped_line_goes_on_and_an_empty_one_ends() {
    check(
        "The report, which was written in a hurry and never read again,\nLondon received last. Next.",
        &[
            "The report, which was written in a hurry and never read again,\nLondon received last.",
            "Next.",
        ],
    );
    check(
        "one line\r\nstill the same\r\n\r\nanother",
        &["one line\r\nstill the same", "another"],
    );
}

#[test]
fn chinese_and_japanese_full_stops_need_no_space() {
    check(
        "今日は晴れ。明日は雨！本当？",
        &["今日は晴れ。", "明日は雨！", "本当？"],
    );
}

#[test]
fn marks_alone_are_no_sentence_unless_there_is_nothing_else() {
    check("Before.\n---\nAfter.", &["Before.", "After."]);
    check("---\n***", &["---", "***"]);
    check("👍", &["👍"]);
}

#[test]
fn a_sentence_without_end_is_cut_after_a_clause() {
    let clause = "and this goes on and on without an end, ";
    let text = clause.repeat(100);
    let sentences = split(&text);
    assert!(sentences.len() > 3);
    for sentence in &sentences {
        assert!(sentence.text.len() <= SENTENCE_BYTES_MAX);
        assert!(sentence.text.ends_with("an end,"), "{}", sentence.text);
    }
}

#[test]
fn a_sentence_without_clauses_is_cut_between_words_and_a_word_is_not_cut() {
    let words = "word ".repeat(1000);
    assert!(
        split(&words)
            .iter()
            .all(|sentence| sentence.text.ends_with("word"))
    );
    let long = "x".repeat(5000);
    check(&long, &[&long]);
    let between = format!("a {long} b");
    check(&between, &["a", &long, "b"]);
    let accents = "é".repeat(3000);
    check(&accents, &[&accents]);
}

#[test]
fn what_a_sentence_demands_is_seen() {
    for (sentence, expected) in [
        ("You must stop.", SentenceKind::Rule),
        ("NEVER do it", SentenceKind::Rule),
        ("Don't do it 3 times", SentenceKind::Rule),
        ("You don’t", SentenceKind::Rule),
        ("Das darf man.", SentenceKind::Rule),
        ("It took 3 days.", SentenceKind::Figure),
        ("It took ３ days.", SentenceKind::Figure),
        ("1. It took days.", SentenceKind::Plain),
        ("A knotty, mustard coloured notion.", SentenceKind::Plain),
    ] {
        assert_eq!(kind(sentence), expected, "{sentence}");
    }
}

#[test]
fn wording_forgets_case_space_and_marks() {
    assert_eq!(wording("- Be   KIND."), wording("2. be\nkind."));
    assert_ne!(wording("Be kind."), wording("Be kind to 2."));
}
