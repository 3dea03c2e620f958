use fathom_core::effect::EffectClass;
use fathom_core::effect::undo::{InverseTool, Reversibility};

use super::{ToolKind, ToolsFile};

const POST: &str = r#"
[[tool]]
name = "post"
description = "Publishes a text"
kind = "http"
platform = "sandbox"
account = "brand"
action = "publish"
idempotent = true
method = "POST"
url = "https://api.example.com/posts?kind={kind}"
token_env = "PLATFORM_TOKEN"
idempotency_header = "Idempotency-Key"
headers = { accept = "application/json" }
body = { text = "{text}", key = "{key}" }

[tool.schema]
type = "object"
required = ["text"]
properties = { text = { type = "string" }, kind = { type = "string" } }

[tool.dry_run]
url = "https://api.example.com/posts?dry_run=1"

[tool.check]
url = "https://api.example.com/posts?key={key}"
pointer = "/posts"
contains = "{key}"
"#;

fn code(text: &str) -> &'static str {
    match ToolsFile::read(text) {
        Ok(_) => "fine",
        Err(error) => error.code(),
    }
}

#[test]
fn a_whole_declaration_is_read() {
    let all = ToolsFile::read(POST).unwrap();
    let [tool] = all.tools.as_slice() else {
        panic!("{} tools", all.tools.len());
    };
    assert_eq!(tool.facts.class, EffectClass::Effect);
    assert!(tool.facts.idempotent && !tool.facts.reversible);
    assert_eq!(tool.facts.target.action, "publish");
    assert!(
        tool.facts
            .spec
            .schema
            .as_str()
            .contains("\"additionalProperties\":false")
    );
    let ToolKind::Http(http) = &tool.kind else {
        panic!("it is no http tool");
    };
    let dry_run = http.dry_run.as_ref().unwrap();
    assert_eq!(dry_run.method, "POST");
    assert!(dry_run.body.is_some(), "the body is that of the call");
}

#[test]
fn e18_a_get_is_an_effect_unless_it_is_declared_a_look_at_a_listed_host() {
    let get = |class: &str, listed: &str| {
        let text = format!(
            r#"
            [[tool]]
            name = "look"
            description = "Looks"
            kind = "http"
            platform = "web"
            {class}
            url = "https://api.example.com/x"
            {listed}
            "#
        );
        ToolsFile::read(&text).unwrap().tools[0].facts.class
    };
    let listed = r#"allow_hosts = ["api.example.com"]"#;
    assert_eq!(get(r#"class = "read""#, listed), EffectClass::Read);
    assert_eq!(get(r#"class = "read""#, ""), EffectClass::Effect);
    assert_eq!(get("", listed), EffectClass::Effect);
    let other = r#"allow_hosts = ["example.com"]"#;
    assert_eq!(get(r#"class = "read""#, other), EffectClass::Effect);
}

#[test]
fn each_mistake_has_its_code() {
    let with = |from: &str, to: &str| {
        assert!(POST.contains(from), "`{from}` is not there");
        code(&POST.replace(from, to))
    };
    assert_eq!(code(POST), "fine");
    assert_eq!(code("[[tool]"), "F0960");
    assert_eq!(code("surprise = 1"), "F0960");
    assert_eq!(code(&format!("{POST}{POST}")), "F0961");
    assert_eq!(with("name = \"post\"", "name = \"po st\""), "F0961");
    assert_eq!(with("type = \"object\"", "type = \"array\""), "F0962");
    assert_eq!(
        with("kind = { type = \"string\" }", "kind = { type = 7 }"),
        "F0962"
    );
    assert_eq!(with("kind = { type", "key = {}, kind = { type"), "F0962");
    assert_eq!(
        with(
            "https://api.example.com/posts?kind",
            "https://{text}/posts?kind"
        ),
        "F0963"
    );
    assert_eq!(with("\"{text}\"", "\"{txt}\""), "F0964");
    assert_eq!(with("method = \"POST\"", "metod = \"POST\""), "F0965");
    assert_eq!(with("method = \"POST\"", "method = \"BREW\""), "F0965");
    assert_eq!(with("method = \"POST\"", "method = \"GET\""), "F0965");
    assert_eq!(with("accept = ", "authorization = "), "F0965");
    assert_eq!(
        with(
            "https://api.example.com/posts?kind",
            "http://api.example.com/posts?kind"
        ),
        "F0965"
    );
    assert_eq!(with("pointer = \"/posts\"", ""), "F0965");
    assert_eq!(
        with("api.example.com/posts?dry", "127.0.0.1/posts?dry"),
        "F0966"
    );
    assert_eq!(
        with("api.example.com/posts?dry", "api.example.com:99/posts?dry"),
        "F0966"
    );
    assert_eq!(with("platform = \"sandbox\"\n", ""), "F0965");
}

#[test]
fn g07_what_takes_a_tool_back_is_declared_and_checked() {
    let two = |inverse: &str, class: &str| {
        let tool = |name: &str, more: &str| {
            format!(
                "[[tool]]\nname = \"{name}\"\ndescription = \"Does.\"\nkind = \"shell\"\nplatform = \"house\"\nprogram = \"/bin/true\"\n{more}\n"
            )
        };
        let keep = tool("keep", &format!("{inverse}\n{class}"));
        ToolsFile::read(&format!("{keep}{}", tool("drop", "reversible = true")))
    };
    let undo = |inverse: &str| {
        let tools = two(inverse, "").unwrap().tools;
        tools
            .into_iter()
            .map(|tool| tool.facts.undo())
            .collect::<Vec<_>>()
    };
    let same = InverseTool::by("drop");
    assert_eq!(
        undo("inverse = \"drop\""),
        [Reversibility::Tool(same), Reversibility::Hand]
    );
    assert_eq!(undo(""), [Reversibility::Nobody, Reversibility::Hand]);
    let words = "inverse = { tool = \"drop\", args = [\"--\", \"{1}\"] }";
    let Reversibility::Tool(inverse) = undo(words).remove(0) else {
        panic!("nothing takes it back");
    };
    assert_eq!(inverse.args, ["--", "{1}"]);
    for (inverse, class) in [
        ("inverse = \"lost\"", ""),
        ("inverse = { tool = \"drop\", args = [\"{what}\"] }", ""),
        ("inverse = { tool = \"drop\", more = 1 }", ""),
        ("inverse = \"drop\"", "class = \"read\""),
    ] {
        let error = two(inverse, class).unwrap_err();
        assert_eq!(error.code(), "F0965", "{inverse}");
    }
}

#[test]
fn g07_a_command_is_taken_back_by_a_command() {
    let args = "args = [\"{args}\"]\n[tool.schema]\ntype = \"object\"\nproperties = { args = { type = \"array\", items = { type = \"string\" } } }\n";
    let tool = |name: &str, more: &str| {
        format!(
            "[[tool]]\nname = \"{name}\"\ndescription = \"Does.\"\nkind = \"shell\"\nplatform = \"house\"\nprogram = \"/bin/true\"\n{more}\n"
        )
    };
    let keep = tool("keep", &format!("inverse = \"drop\"\n{args}"));
    ToolsFile::read(&format!("{keep}{}", tool("drop", args))).unwrap();
    let post = POST.replace("\"post\"", "\"drop\"");
    for other in [tool("drop", ""), post] {
        let error = ToolsFile::read(&format!("{keep}{other}")).unwrap_err();
        assert_eq!(error.code(), "F0965", "{error}");
        assert!(error.to_string().contains("its inverse `drop`"), "{error}");
    }
}

#[test]
fn servers_need_one_wire_and_a_list_of_tools() {
    let server = |rest: &str| code(&format!("[[mcp]]\nname = \"files\"\n{rest}"));
    assert_eq!(
        server("command = [\"node\"]\ntools = [\"read\"]\nenv = [\"PATH\"]"),
        "fine"
    );
    assert_eq!(
        server("url = \"https://mcp.example.com/\"\ntools = [\"read\"]"),
        "fine"
    );
    assert_eq!(server("command = [\"node\"]\ntools = []"), "F0965");
    assert_eq!(server("tools = [\"read\"]"), "F0965");
    assert_eq!(
        server("command = [\"node\"]\nurl = \"https://x.example/\"\ntools = [\"read\"]"),
        "F0965"
    );
    assert_eq!(
        server("url = \"http://127.0.0.1:3001/mcp\"\ntools = [\"read\"]"),
        "F0966"
    );
    let named = "url = \"http://127.0.0.1:3001/mcp\"\ntools = [\"read\"]\nallow_private = [\"127.0.0.1:3001\"]";
    assert_eq!(server(named), "fine");
    let token = "url = \"http://x.example/mcp\"\ntools = [\"read\"]\ntoken_env = \"T\"";
    assert_eq!(server(token), "F0965");
}
