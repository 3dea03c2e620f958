use serde_json::json;

use super::*;

const GOOD: &str = r##"
start = "https://social.example/compose"
sandbox_start = "http://127.0.0.1:8099/compose"
hosts = ["CDN.example:443"]
steps = [
    { fill = { selector = "#title", value = "{title}" } },
    { click = "#publish", effect = true },
    { expect = { selector = "article", text = "{title}" } },
]
[check]
steps = [{ open = "/posts?key={key}" }, { expect = { selector = "[data-key='{key}']" } }]
"##;

fn plan(text: &str) -> Result<BrowserPlan, String> {
    let declaration: BrowserDeclaration =
        toml::from_str(text).map_err(|error| error.to_string())?;
    let schema = json!({"properties": {"title": {"type": "string"}}});
    BrowserPlan::new(declaration, &schema).map_err(|error| {
        assert_eq!(error.code(), "F0980");
        error.to_string()
    })
}

#[test]
fn a_declaration_names_its_hosts_and_splits_at_the_effect() {
    let plan = plan(GOOD).unwrap();
    let hosts = ["cdn.example:443", "social.example:443", "127.0.0.1:8099"];
    assert_eq!(plan.hosts, hosts);
    assert_eq!(plan.before.len(), 1);
    assert_eq!(plan.effect.act, BrowserAction::Click("#publish".into()));
    assert_eq!(plan.after.len(), 1);
}

#[test]
fn a_declaration_that_cannot_be_followed_is_refused() {
    for (from, to, cause) in [
        ("effect = true", "effect = false", "exactly one step"),
        (
            r##"{ fill = { selector = "#title", value = "{title}" } }"##,
            r##"{ click = "#other", effect = true }"##,
            "exactly one step",
        ),
        (
            r##"{ click = "#publish", effect = true }"##,
            r##"{ expect = { selector = "#x" }, effect = true }"##,
            "must be a click",
        ),
        (
            r#"{ expect = { selector = "article", text = "{title}" } }"#,
            r##"{ click = "#more" }"##,
            "must expect its result",
        ),
        ("'{key}'", "'x'", "`{key}`"),
        (
            "value = \"{title}\"",
            "value = \"{other}\"",
            "`{other}` is not an argument",
        ),
        (
            "value = \"{title}\"",
            "secret = \"A\", value = \"b\"",
            "either a value or a secret",
        ),
        (
            "\"/posts?key={key}\"",
            "\"//elsewhere.example/\"",
            "starts with a single `/`",
        ),
        (
            "\"/posts?key={key}\"",
            "\"https://elsewhere.example/\"",
            "starts with a single `/`",
        ),
        (
            "https://social",
            "javascript:social",
            "is not a web address",
        ),
        (
            "https://social",
            "https://me:word@social",
            "a user name or a password",
        ),
        ("hosts =", "host =", "unknown field"),
        (
            "{ click = \"#publish\",",
            "{ click = \"#publish\", open = \"/\",",
            "one of `open`",
        ),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let refusal = plan(&GOOD.replacen(from, to, 1)).unwrap_err();
        assert!(refusal.contains(cause), "{to}: {refusal}");
    }
}

#[test]
fn an_argument_is_never_read_for_placeholders() {
    let arguments = json!({"title": "{key} and {title}", "count": 3, "none": null});
    let filling = FieldFilling {
        arguments: arguments.as_object().unwrap().clone(),
        key: "c0ffee".into(),
    };
    for (value, text) in [
        ("{title}", "{key} and {title}"),
        ("{key}", "c0ffee"),
        ("{count}", "3"),
        ("{none}", ""),
        ("{absent}", ""),
        ("as it is", "as it is"),
    ] {
        assert_eq!(filling.text(value), text);
    }
    assert_eq!(
        filling.keyed("[data-key='{key}'] {title}"),
        "[data-key='c0ffee'] {title}"
    );
}

#[test]
fn a_path_stays_on_its_host() {
    let place = BrowserSite::new("http://127.0.0.1:8099/compose").unwrap();
    assert_eq!(
        place.page("/posts").unwrap().as_str(),
        "http://127.0.0.1:8099/posts"
    );
    for path in [
        "//elsewhere.example/",
        "/\\elsewhere.example/",
        "http://elsewhere.example/",
    ] {
        assert_eq!(place.page(path), None, "{path}");
    }
}
