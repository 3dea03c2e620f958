//! A charter whose model calls tools, and a tool that posts on the sandbox platform.

/// `charter.toml` of a charter that lets a model call tools, so many times.
pub(crate) fn charter(name: &str, calls: u32) -> String {
    format!(
        r#"
protocol = "1.0.0"
name = "{name}"
version = "1.0.0"
description = "Does what its user says."

[router]
ask = "tools"

[budget]
tokens = 4_000_000
calls = {calls}
tools = {calls}
"#
    )
}

/// The beginning of a `tools.toml`: a platform that may be reached, and the tool `post`. Its table is still open.
pub(crate) fn posting(url: &str) -> String {
    let host = url.trim_start_matches("http://");
    format!(
        r#"
allow_hosts = ["{host}"]
allow_private = ["{host}"]

[[tool]]
name = "post"
description = "Posts something."
kind = "http"
platform = "board"
account = "desk"
action = "publish"
schema = {{ type = "object", properties = {{ title = {{ type = "string", maxLength = 200 }}, text = {{ type = "string", maxLength = 2000 }} }}, required = ["title", "text"] }}
method = "POST"
url = "{url}/api/posts"
token_env = "FATHOM_PLATFORM_TOKEN"
idempotency_header = "Idempotency-Key"
body = {{ title = "{{title}}", text = "{{text}}" }}
"#
    )
}
