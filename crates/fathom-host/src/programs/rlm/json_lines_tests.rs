use super::{NESTING_MAX, bad_line};

fn nested(depth: usize) -> String {
    format!("{}1{}", "[".repeat(depth), "]".repeat(depth))
}

#[test]
fn r01_a_line_nests_no_deeper_than_its_readers_follow() {
    let deepest = nested(NESTING_MAX);
    assert!(serde_json::from_str::<serde_json::Value>(&deepest).is_ok());
    assert!(bad_line(&deepest).is_none());
    let too_deep = nested(NESTING_MAX + 1);
    assert!(serde_json::from_str::<serde_json::Value>(&too_deep).is_err());
    for depth in [NESTING_MAX + 1, 100_000] {
        let lines = format!("{{}}\n\n{}\n", nested(depth));
        let said = bad_line(&lines).unwrap().error("a.jsonl").to_string();
        let expected = "a.jsonl: line 3 nests more than 127 arrays and objects";
        assert!(said.ends_with(expected), "{said}");
    }
}

#[test]
fn r01_brackets_that_nest_nothing_are_no_depth() {
    let many = "[{}, ".repeat(100) + "[]" + &"]".repeat(100);
    let wide = format!("[{}{{}}]", "{},[],".repeat(1_000));
    let said = format!(r#"{{"a": "\\", "b": "\"{}"}}"#, "[{".repeat(1_000));
    for line in [many, wide, said] {
        assert!(bad_line(&line).is_none(), "{line}");
    }
}

#[test]
fn r01_what_only_python_takes_for_json_is_none() {
    for line in ["NaN", "[Infinity]", "{\"a\": -Infinity}"] {
        let bad = bad_line(&format!("1\n{line}\n")).unwrap();
        let said = bad.error("a.jsonl").to_string();
        assert!(
            said.contains("a.jsonl: line 2 is no JSON, at column "),
            "{said}"
        );
    }
    assert!(bad_line("1e999\n\"\\ud800\"\n\r\n -0.5 \r\n").is_none());
}
