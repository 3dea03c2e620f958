// Lets a model post something, after a decision in code about the literal post.
#![expect(clippy::print_stdout, reason = "an example prints what came of it")]

use std::error::Error;
use std::path::Path;

use fathom::{Fathom, RunOutcome};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    println!("{}", approval(folder.path()).await?);
    Ok(())
}

pub(crate) async fn approval(folder: &Path) -> Result<String, Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let charter = write_charter(folder, &listener.local_addr()?.to_string())?;
    let platform = tokio::spawn(take_one_post(listener));
    let script = folder.join("model.jsonl");
    let call = r#"{"tool_calls": [{"name": "post", "arguments": {"text": "Spring is here"}}]}"#;
    std::fs::write(&script, format!("{call}\n{{\"reply\": \"Posted.\"}}\n"))?;

    let fathom = Fathom::open(folder.join("home"))?;
    let run = fathom
        .ask("Post `Spring is here` on the board.")
        .charter(charter)
        .model(format!("script/{}", script.display()))
        .start()
        .await?;
    let RunOutcome::NeedsApproval { run, asked } = run.wait().await? else {
        return Err("nothing was asked".into());
    };
    for view in asked {
        let Some(asked) = &view.asked else { continue };
        // The arguments are those that will be sent: an approval of these is an approval of no others.
        let arguments = asked.request.arguments.as_str();
        let id = view.approval.id.as_str();
        if asked.request.tool == "post" && arguments.contains("Spring") {
            fathom.approve(id, "it is about the season")?;
        } else {
            fathom.deny(id, "off topic")?;
        }
    }
    let answer = fathom.resume(run)?.answer().await?;
    let sent = platform.await??;
    Ok(format!("{}\n{sent}", answer.text().unwrap_or("no answer")))
}

/// Writes a charter with one tool and a policy that requires an approval for it.
fn write_charter(folder: &Path, address: &str) -> std::io::Result<String> {
    let charter = folder.join("press");
    std::fs::create_dir_all(charter.join("policies"))?;
    std::fs::write(
        charter.join("charter.toml"),
        r#"protocol = "1.0.0"
name = "press"
version = "1.0.0"
description = "Posts on the board."

[router]
ask = "tools"
"#,
    )?;
    std::fs::write(charter.join("gateway.toml"), "actions = [\"publish\"]\n")?;
    std::fs::write(
        charter.join("policies/post.cedar"),
        r#"@id("post")
@approval("editor")
permit (principal, action == Action::"publish", resource);
"#,
    )?;
    let tools = format!(
        r#"allow_hosts = ["{address}"]
allow_private = ["{address}"]

[[tool]]
name = "post"
description = "Posts a text on the board."
kind = "http"
platform = "board"
account = "desk"
action = "publish"
schema = {{ type = "object", properties = {{ text = {{ type = "string", maxLength = 200 }} }}, required = ["text"] }}
method = "POST"
url = "http://{address}/posts"
idempotency_header = "Idempotency-Key"
body = {{ text = "{{text}}" }}
"#
    );
    std::fs::write(charter.join("tools.toml"), tools)?;
    Ok(charter.display().to_string())
}

/// Stands for the platform: takes one request, and gives its body.
async fn take_one_post(listener: TcpListener) -> std::io::Result<String> {
    let (mut stream, _) = listener.accept().await?;
    let mut request = String::new();
    while !request.ends_with('}') {
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).await?;
        if count == 0 {
            break;
        }
        request.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    let reply = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    stream.write_all(reply.as_bytes()).await?;
    let (_, body) = request.split_once("\r\n\r\n").unwrap_or_default();
    Ok(body.to_owned())
}
