//! Payloads as models write them, with what must be found in them.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{JsonCandidate, LEVELS_MAX, first_object, pieces};

/// What must be found.
enum Want {
    /// This object.
    Object(Value),
    /// Nothing.
    Nothing,
}
use Want::{Nothing, Object};

#[track_caller]
fn check(name: &str, text: &str, want: Want) {
    let found = first_object(text).map(Value::Object);
    match want {
        Object(object) => assert_eq!(found, Some(object), "{name}"),
        Nothing => assert_eq!(found, None, "{name}"),
    }
}

fn next(phase: &str) -> Want {
    Object(json!({ "next_phase": phase }))
}

/// A row: what it is, the reply, what must be found.
type Row = (&'static str, &'static str, Want);

fn where_it_stands() -> Vec<Row> {
    vec![
        ("bare", r#"{"next_phase":"b"}"#, next("b")),
        (
            "blank around",
            "  \n\t{\"next_phase\":\"b\"}\n\n",
            next("b"),
        ),
        ("fenced", "```json\n{\"next_phase\":\"b\"}\n```", next("b")),
        (
            "fenced without a word",
            "```\n{\"next_phase\":\"b\"}\n```",
            next("b"),
        ),
        (
            "fenced with tildes",
            "~~~\n{\"next_phase\":\"b\"}\n~~~",
            next("b"),
        ),
        (
            "fence that never ends",
            "```json\n{\"next_phase\":\"b\"}",
            next("b"),
        ),
        (
            "fences in fences",
            "````md\n```json\n{\"next_phase\":\"b\"}\n```\n````",
            next("b"),
        ),
        (
            "a fence in a string",
            "{\"next_phase\":\"```json\"}",
            next("```json"),
        ),
        (
            "prose before",
            r#"Here it is: {"next_phase":"b"}"#,
            next("b"),
        ),
    ]
}

fn amid_prose() -> Vec<Row> {
    vec![
        ("prose after", r#"{"next_phase":"b"} and so on."#, next("b")),
        (
            "prose on both sides",
            r#"I go on. {"next_phase":"b"} Done."#,
            next("b"),
        ),
        (
            "quoted prose before",
            r#"He said "well": {"next_phase":"b"}"#,
            next("b"),
        ),
        (
            "an apostrophe before",
            r#"It's this: {"next_phase":"b"}"#,
            next("b"),
        ),
        (
            "a mark of byte order",
            "\u{feff}{\"next_phase\":\"b\"}",
            next("b"),
        ),
        (
            "the mark in a fence",
            "```json\n\u{feff}{\"next_phase\":\"b\"}\n```",
            next("b"),
        ),
        (
            "two objects",
            r#"{"next_phase":"b"} {"next_phase":"c"}"#,
            next("b"),
        ),
        (
            "two fenced objects",
            "```\n{\"next_phase\":\"b\"}\n```\n```\n{\"next_phase\":\"c\"}\n```",
            next("b"),
        ),
        (
            "in a list",
            r#"[{"next_phase":"b"},{"next_phase":"c"}]"#,
            next("b"),
        ),
        (
            "in a tag",
            r#"<payload>{"next_phase":"b"}</payload>"#,
            next("b"),
        ),
        (
            "after thoughts",
            r#"<think>{hm}</think>{"next_phase":"b"}"#,
            next("b"),
        ),
    ]
}

fn what_is_in_it() -> Vec<Row> {
    vec![
        ("empty", "{}", Object(json!({}))),
        ("empty with blanks", "{ \n }", Object(json!({}))),
        (
            "braces in a string",
            r#"{"a":"{not} {an} }object{"}"#,
            Object(json!({"a": "{not} {an} }object{"})),
        ),
        (
            "quotes in a string",
            r#"{"a":"say \"}\" now"}"#,
            Object(json!({"a": "say \"}\" now"})),
        ),
        (
            "a backslash at the end of a string",
            r#"{"a":"c:\\"}"#,
            Object(json!({"a": "c:\\"})),
        ),
        (
            "an object as a string",
            r#"{"a":"{\"next_phase\":\"x\"}","next_phase":"b"}"#,
            Object(json!({"a": "{\"next_phase\":\"x\"}", "next_phase": "b"})),
        ),
        (
            "nested",
            r#"{"a":{"b":{"c":[{"d":[]}]}},"next_phase":null}"#,
            Object(json!({"a": {"b": {"c": [{"d": []}]}}, "next_phase": null})),
        ),
        (
            "every kind",
            r#"{"t":true,"f":false,"n":null,"i":-3,"x":1.5e2,"s":"","l":[1,"a"]}"#,
            Object(
                json!({"t": true, "f": false, "n": null, "i": -3, "x": 150.0, "s": "", "l": [1, "a"]}),
            ),
        ),
        (
            "escapes",
            r#"{"a":"\u00e9\n\t\/\ud83d\ude00"}"#,
            Object(json!({"a": "é\n\t/😀"})),
        ),
        (
            "wide names",
            r#"{"⟐CMD":{"action":"x"}}"#,
            Object(json!({"⟐CMD": {"action": "x"}})),
        ),
        (
            "a name twice",
            r#"{"next_phase":"a","next_phase":"b"}"#,
            next("b"),
        ),
        (
            "a comma after the last member",
            r#"{"next_phase":"b",}"#,
            next("b"),
        ),
        (
            "a comma after the last entry",
            r#"{"l":[1,2,],}"#,
            Object(json!({"l": [1, 2]})),
        ),
        (
            "a comma and a line break",
            "{\"l\":[{\"a\":1,\n},\n],\n}",
            Object(json!({"l": [{"a": 1}]})),
        ),
        (
            "a comma before a brace in a string",
            r#"{"a":",}"}"#,
            Object(json!({"a": ",}"})),
        ),
        (
            "a line break in a string",
            "{\"a\":\"one\ntwo\tthree\"}",
            Object(json!({"a": "one\ntwo\tthree"})),
        ),
        (
            "a bell in a string",
            "{\"a\":\"di\u{7}ng\"}",
            Object(json!({"a": "ding"})),
        ),
    ]
}

fn what_is_none() -> Vec<Row> {
    vec![
        ("nothing", "", Nothing),
        ("prose", "I have thought about it and cannot say.", Nothing),
        ("a list", "[1, 2, 3]", Nothing),
        ("a string", r#""{\"a\":1""#, Nothing),
        ("a brace that opens", "{", Nothing),
        ("a brace that closes", "}", Nothing),
        ("braces in prose", "use {name} and {other}", Nothing),
        ("names without quotes", "{next_phase: \"b\"}", Nothing),
        ("single quotes", "{'next_phase': 'b'}", Nothing),
        ("Python's words", "{\"a\": None}", Nothing),
        ("two commas", r#"{"a":1,,"b":2}"#, Nothing),
        ("a comma alone", "{,}", Nothing),
        ("a list of a comma alone", r#"{"a":[,]}"#, Nothing),
        ("no colon", r#"{"next_phase" "b"}"#, Nothing),
        ("no comma", r#"{"a":1 "b":2}"#, Nothing),
        ("no value", r#"{"a":}"#, Nothing),
        ("a remark", "{\"a\":1 // one\n}", Nothing),
        ("a wrong bracket", r#"{"a":[1}"#, Nothing),
        ("a wrong escape", r#"{"a":"\x"}"#, Nothing),
        ("half a pair", r#"{"a":"\ud800"}"#, Nothing),
        ("a number that is none", r#"{"a":1.}"#, Nothing),
        ("a number beyond all bounds", r#"{"a":1e999}"#, Nothing),
        ("cut in a string", r#"{"next_phase":"b"#, Nothing),
        ("cut after a backslash", r#"{"next_phase":"b\"#, Nothing),
        ("cut after a name", r#"{"next_phase""#, Nothing),
        ("cut after a colon", r#"{"next_phase":"#, Nothing),
        ("cut in a word", r#"{"next_phase":nul"#, Nothing),
        ("cut in a number", r#"{"a":12"#, Nothing),
        ("cut after a comma", r#"{"a":1,"#, Nothing),
        (
            "cut behind a whole part",
            r#"{"control_signature":{"emit":[]},"next_ph"#,
            Nothing,
        ),
        (
            "cut in a fence",
            "```json\n{\"a\":{\"next_phase\":\"b\"}",
            Nothing,
        ),
    ]
}

fn what_comes_after() -> Vec<Row> {
    vec![
        (
            "in a line of a list",
            r#"- payload: {"next_phase":"b"}"#,
            next("b"),
        ),
        (
            "Windows line ends",
            "{\r\n\"next_phase\":\r\n\"b\"\r\n}\r\n",
            next("b"),
        ),
        (
            "wide words around",
            "これです {\"next_phase\":\"b\"} 以上",
            next("b"),
        ),
        (
            "after braces in prose",
            r#"{so} {"next_phase":"b"}"#,
            next("b"),
        ),
        ("after many braces", r#"{{{{{{"next_phase":"b"}"#, next("b")),
        (
            "in a template's braces",
            r#"{{"next_phase":"b"}}"#,
            next("b"),
        ),
        (
            "after single quotes",
            r#"{'a':'b'} {"next_phase":"b"}"#,
            next("b"),
        ),
        (
            "after a broken one",
            r#"{"a":1,,} {"next_phase":"b"}"#,
            next("b"),
        ),
        (
            "after a broken one with a part",
            r#"{"a":{"next_phase":"x"} oops} {"next_phase":"b"}"#,
            next("b"),
        ),
        (
            "after a wrong escape",
            r#"{"a":"\q"} {"next_phase":"b"}"#,
            next("b"),
        ),
        (
            "after code",
            "fn f() { return; }\n{\"next_phase\":\"b\"}",
            next("b"),
        ),
        (
            "after a brace at the end of a word",
            r#"x{ "next_phase":"b"}"#,
            next("b"),
        ),
    ]
}

#[test]
fn p03_the_first_object_of_a_reply_is_found_and_nothing_else() {
    let tables = [
        where_it_stands(),
        amid_prose(),
        what_is_in_it(),
        what_is_none(),
        what_comes_after(),
    ];
    let rows: Vec<Row> = tables.into_iter().flatten().collect();
    assert!(rows.len() >= 50, "{} rows", rows.len());
    for (name, text, want) in rows {
        check(name, text, want);
    }
}

/// Each of these would take hours if any part of it were read again and again.
#[test]
fn p03_five_megabytes_are_read_once() {
    const MEGABYTES_5: usize = 5_000_000;
    let fill = |part: &str| part.repeat(MEGABYTES_5 / part.len());
    let large = fill("words and {braces} ");
    let quoted = json!({ "reply": large, "next_phase": "b" });
    check(
        "a large string",
        &quoted.to_string(),
        Object(quoted.clone()),
    );
    let behind = format!("{large}{{\"next_phase\":\"b\"}}");
    check("behind much prose", &behind, next("b"));
    let list = json!({ "l": vec![1; MEGABYTES_5 / 2] });
    check("a long list", &list.to_string(), Object(list.clone()));
    for part in [
        "{",
        "{\"a\":",
        "{\"",
        "[{",
        "{\"a\":[",
        "{\"a\":1,,",
        "{ ",
        "{\"a\":\"\\q\"",
        "{\"a\":-",
    ] {
        check(part, &fill(part), Nothing);
    }
    check(
        "then an object",
        &format!("{}{{\"next_phase\":\"b\"}}", fill("{")),
        next("b"),
    );
    check(
        "commas",
        &format!("{{\"l\":[{}]}}", fill("[1,],")),
        Object(json!({
            "l": vec![json!([1]); MEGABYTES_5 / 5]
        })),
    );
}

#[test]
fn p03_nesting_is_bounded() {
    let nested = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    let most = usize::from(LEVELS_MAX);
    assert!(first_object(&nested(most)).is_some());
    // No inner part is taken for the whole, and nothing behind it either.
    assert_eq!(first_object(&format!("{} {{}}", nested(most + 1))), None);
    assert_eq!(first_object(&nested(1_000_000)), None);
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(any::<String>(), inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Whatever an object holds, it is found again behind words without braces.
    #[test]
    fn p03_an_object_is_found_as_it_was_written(
        members in proptest::collection::btree_map(any::<String>(), any_value(), 0..5),
        before in "[^{]*",
        after in any::<String>(),
    ) {
        let object: Map<String, Value> = members.into_iter().collect();
        let written = Value::Object(object.clone());
        for text in [format!("{before}{written}{after}"), format!("{before}{written:#}{after}")] {
            prop_assert_eq!(first_object(&text), Some(object.clone()));
        }
    }

    /// Places are those of objects, in order, and never inside of one another.
    #[test]
    fn p03_pieces_do_not_overlap(text in r#"[{}\[\]":,a1\\ ⟐]{0,200}"#) {
        let mut done = 0;
        for piece in pieces(&text) {
            let (from, to) = match piece {
                JsonCandidate::Object(object) => (object.from, object.to),
                JsonCandidate::Broken(from) | JsonCandidate::Cut(from) => (from, from + 1),
            };
            prop_assert!(done <= from && from < to && to <= text.len());
            prop_assert_eq!(&text[from..=from], "{");
            done = to;
        }
    }
}
