use serde_json::{Map, Value, json};

use super::{BodyTemplate, TemplateValues, TextTemplate, UrlTemplate};

fn arguments(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn url(template: &str, values: Value) -> Result<String, String> {
    let arguments = arguments(values);
    let filling = TemplateValues {
        arguments: &arguments,
        key: "k1",
    };
    let template = UrlTemplate::parse(template).map_err(|error| error.to_string())?;
    let url = template.fill(filling).map_err(|error| error.to_string())?;
    Ok(url.to_string())
}

#[test]
fn arguments_stay_within_their_place_in_an_address() {
    let filled = |value: &str| {
        url(
            "https://h.example/a/{x}/b?q={x}&k={key}",
            json!({"x": value}),
        )
    };
    assert_eq!(
        filled("plain").unwrap(),
        "https://h.example/a/plain/b?q=plain&k=k1"
    );
    assert_eq!(
        filled("a/b?c#d&e=f").unwrap(),
        "https://h.example/a/a%2Fb%3Fc%23d%26e%3Df/b?q=a%2Fb%3Fc%23d%26e%3Df&k=k1"
    );
    assert_eq!(
        filled("{key} é\r\n").unwrap(),
        "https://h.example/a/%7Bkey%7D%20%C3%A9%0D%0A/b?q=%7Bkey%7D%20%C3%A9%0D%0A&k=k1"
    );
    assert_eq!(
        filled("%2e%2e").unwrap(),
        "https://h.example/a/%252e%252e/b?q=%252e%252e&k=k1"
    );
    for escape in ["..", ".", ""] {
        assert!(filled(escape).is_err(), "`{escape}` changes the path");
    }
}

#[test]
fn what_a_model_leaves_out_is_left_out_of_a_query_and_missed_in_a_path() {
    let optional = "https://h.example/a?q={x}&fixed=1";
    assert_eq!(
        url(optional, json!({})).unwrap(),
        "https://h.example/a?fixed=1"
    );
    assert_eq!(
        url(optional, json!({"x": 3})).unwrap(),
        "https://h.example/a?q=3&fixed=1"
    );
    assert!(url("https://h.example/{x}", json!({})).is_err());
    assert!(url("https://h.example/{x}", json!({"x": ["a"]})).is_err());
}

#[test]
fn a_host_is_never_an_argument() {
    for template in [
        "https://{x}/",
        "https://{x}.example.com/",
        "https://h.example:{x}/",
        "{x}://h.example/",
        "https://{x}@h.example/",
        "https://h.example/a#{x}",
        "https://h.example/a b",
        "https://h.example/a/../b",
        "https://h.example/?{x}=1",
        "h.example/a",
    ] {
        assert!(UrlTemplate::parse(template).is_err(), "{template} is taken");
    }
}

#[test]
fn a_body_keeps_types_and_reads_no_argument_twice() {
    let body = BodyTemplate::parse(&json!({
        "text": "{text}", "note": "by {who}: {key}", "tags": ["{tag}", "fixed"], "gone": "{gone}", "n": 1
    }));
    let arguments = arguments(json!({"text": {"a": [1]}, "who": "{key}\"", "tag": "t"}));
    let filling = TemplateValues {
        arguments: &arguments,
        key: "k1",
    };
    assert_eq!(
        body.fill(filling).unwrap().unwrap(),
        json!({"text": {"a": [1]}, "note": "by {key}\": k1", "tags": ["t", "fixed"], "n": 1})
    );
}

#[test]
fn braces_that_hold_no_name_are_plain_text() {
    let template = TextTemplate::parse("{} {1} { a } {a} {{b}}");
    assert_eq!(template.places().collect::<Vec<_>>(), ["a", "b"]);
    let arguments = arguments(json!({"a": "x", "b": "y"}));
    let filling = TemplateValues {
        arguments: &arguments,
        key: "",
    };
    let filled = template.fill(filling, str::to_owned).unwrap();
    assert_eq!(filled.as_deref(), Some("{} {1} { a } x {y}"));
}
