use super::*;

fn refusal(answer: &str) -> WireError {
    read(false, answer.as_bytes()).unwrap_err()
}

#[test]
fn an_answer_is_the_value_in_it() {
    assert_eq!(read(true, br#"{"value": null}"#).unwrap(), Value::Null);
    assert_eq!(
        read(true, br#"{"value": [1, "two"]}"#).unwrap(),
        json!([1, "two"])
    );
}

#[test]
fn an_error_is_known_by_its_name_and_told_by_its_message() {
    let error = refusal(
        r##"{"value": {"error": "stale element reference", "message": "gone\n  (Session info: …)", "stacktrace": "#0"}}"##,
    );
    assert_eq!(
        error.to_string().lines().next(),
        Some("webdriver returned error: gone")
    );
    let WireError::Refused { error, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(error, "stale element reference");
}

#[test]
fn what_is_no_answer_of_a_driver_is_told_in_part() {
    let page = format!("<html>{}", "x".repeat(1000));
    for (is_success, answer) in [
        (true, &*page),
        (true, "{}"),
        (false, r#"{"value": {"error": 1}}"#),
        (false, "\u{fffd}"),
    ] {
        let error = read(is_success, answer.as_bytes()).unwrap_err();
        assert!(matches!(error, WireError::Odd { .. }), "{error}");
        assert!(error.to_string().chars().count() < SHOWN_CHARS_MAX + 100);
    }
}

#[test]
fn an_element_goes_back_as_it_came() {
    let given = json!({"element-6066-11e4-a52e-4f735466cecf": "f.1"});
    let element: Element = typed(&given).unwrap();
    assert_eq!(serde_json::to_value(&element).unwrap(), given);
    assert_eq!(at(&element, "/click"), "/element/f.1/click");
}
