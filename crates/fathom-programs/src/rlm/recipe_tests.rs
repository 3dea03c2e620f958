use super::{Recipe, python_literal};

/// Reads a literal as Python does, or fails on what would end it early.
#[track_caller]
fn read(literal: &str) -> String {
    let inner = literal
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .expect("it stands between quotes");
    let mut text = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        assert!((' '..='~').contains(&c) && c != '"', "{c:?} in {literal}");
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some(c @ ('"' | '\\')) => text.push(c),
            Some('U') => {
                let digits: String = chars.by_ref().take(8).collect();
                let code = u32::from_str_radix(&digits, 16).expect("eight digits");
                text.push(char::from_u32(code).expect("a character"));
            }
            other => panic!("{other:?} after a backslash in {literal}"),
        }
    }
    text
}

#[test]
fn any_text_is_one_literal() {
    let long = "a\"\\\n\u{0}".repeat(250_000);
    let texts = [
        "",
        "plain",
        "\"); import os; (\"",
        "'''\"\"\"",
        "ends with \\",
        "\\\"",
        "two\nlines\r\n",
        "\u{0}\u{7f}\u{1b}[2J",
        "\\ud800 \\N{BELL} {x} %s",
        "\u{2028}\u{feff}é日本\u{10ffff}",
        &long,
    ];
    for text in texts {
        assert!(read(&python_literal(text)) == text, "{text:.80}");
    }
}

#[test]
fn what_is_filled_in_stays_data() {
    let recipe = Recipe::Find {
        keywords: vec!["\"]); SUBMIT(1) #".to_owned(), "x\ny".to_owned()],
    };
    let code = recipe.code("who\"?\nSUBMIT(2)");
    assert_eq!(
        code,
        "made = recipes.find(\"who\\\"?\\U0000000aSUBMIT(2)\", [\"\\\"]); SUBMIT(1) #\", \"x\\U0000000ay\"])\n\
         if made not in (None, [], {}):\n    SUBMIT(made)\nprint(\"NOT FOUND\")"
    );
}

#[test]
fn a_field_without_a_value_is_counted_for_each() {
    let count = |value: &str| Recipe::CountByField {
        field: "category".to_owned(),
        value: value.to_owned(),
    };
    assert!(count("").code("").contains("(\"category\", None)"));
    assert!(count("a").code("").contains("(\"category\", \"a\")"));
}
