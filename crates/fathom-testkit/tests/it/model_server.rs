//! The model server, in the test's process and in its own.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use fathom_testkit::model_server::{ChunkGate, ModelServer, ReplyBehaviour, RequestOutcome};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn http(path: &str, body: &Value) -> String {
    let body = body.to_string();
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// What a server answers to one request, by a client that knows nothing of it.
async fn post(server: &ModelServer, path: &str, body: Value) -> String {
    let mut stream = tokio::net::TcpStream::connect(server.address())
        .await
        .unwrap();
    stream
        .write_all(http(path, &body).as_bytes())
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

fn chat(prompt: &str) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": prompt}]})
}

#[tokio::test]
async fn each_wire_format_is_answered_in_its_own_words() {
    let server = ModelServer::replying("hello there").await.unwrap();
    let openai = post(&server, "/v1/chat/completions", chat("hi")).await;
    assert!(
        openai.contains(r#""finish_reason":"stop""#) && openai.contains("hello there"),
        "{openai}"
    );
    let anthropic = post(&server, "/v1/messages", chat("hi")).await;
    assert!(
        anthropic.contains(r#""stop_reason":"end_turn""#),
        "{anthropic}"
    );
    let mut body = chat("hi");
    body["stream"] = json!(true);
    let stream = post(&server, "/v1/chat/completions", body).await;
    assert!(
        stream.contains(r#"{"content":"hello "}"#) && stream.contains("data: [DONE]"),
        "{stream}"
    );
    let ollama = post(&server, "/api/chat", chat("hi")).await;
    assert!(ollama.contains(r#""done":true"#), "{ollama}");
    let unknown = post(&server, "/v1/embeddings", chat("hi")).await;
    assert!(unknown.starts_with("HTTP/1.1 404"), "{unknown}");
    let log = server.log();
    assert_eq!(log.len(), 4);
    assert!(
        log.iter()
            .all(|entry| entry.outcome == RequestOutcome::Written)
    );
    assert_eq!(log[0].seen.prompt, "user: hi\n");
}

#[tokio::test]
async fn a_gate_holds_each_chunk_and_a_client_that_goes_is_noticed() {
    let gate = ChunkGate::new();
    let behaviour = ReplyBehaviour::chunks(["a", "b"]).gated(&gate);
    let server = ModelServer::queued([behaviour]).await.unwrap();
    let mut stream = tokio::net::TcpStream::connect(server.address())
        .await
        .unwrap();
    let mut body = chat("hi");
    body["stream"] = json!(true);
    let request = http("/v1/chat/completions", &body);
    stream.write_all(request.as_bytes()).await.unwrap();
    server.until(|log| log.len() == 1).await;
    gate.release(1);
    let mut heard = String::new();
    while !heard.contains(r#"{"content":"a"}"#) {
        let mut piece = [0; 512];
        let bytes = stream.read(&mut piece).await.unwrap();
        heard += &String::from_utf8_lossy(&piece[..bytes]);
    }
    assert!(!heard.contains(r#"{"content":"b"}"#));
    drop(stream);
    server
        .until(|log| log[0].outcome == RequestOutcome::ClientGone)
        .await;
    assert_eq!(server.most_in_flight(), 1);
}

struct Process {
    child: Child,
    address: SocketAddr,
}

impl Process {
    #[expect(
        clippy::disallowed_methods,
        reason = "the process is what is tested, and it ends with the test"
    )]
    fn start(arguments: &[&Path]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_model-server"))
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap();
        Self {
            address: address.parse().unwrap(),
            child,
        }
    }

    fn post(&self, body: &Value) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let request = http("/v1/chat/completions", body);
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_process_tells_its_port_follows_its_script_and_logs_before_it_answers() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let script = r#"{"match": "vote", "reply": "APPROVE", "times": 2}
{"match": "busy", "error": {"status": 429, "retry_after_s": 1}}
"#;
    fs::write(path("script"), script).unwrap();
    let server = Process::start(&[
        Path::new("--port-file"),
        &path("port"),
        Path::new("--log-file"),
        &path("log"),
        Path::new("--script"),
        &path("script"),
    ]);
    let port = fs::read_to_string(path("port")).unwrap();
    assert_eq!(port, server.address.port().to_string());
    assert!(server.post(&chat("your vote")).contains("APPROVE"));
    let busy = server.post(&chat("busy"));
    assert!(
        busy.starts_with("HTTP/1.1 429") && busy.contains("retry-after: 1\r\n"),
        "{busy}"
    );
    let mut held = chat("something else");
    held["response_format"] = json!({"type": "json_schema", "json_schema": {"schema": {
        "type": "object",
        "properties": {"vote": {"enum": ["NO", "YES"]}, "confidence": {"type": "integer", "minimum": 5}},
        "required": ["vote", "confidence"],
    }}});
    let least = server.post(&held);
    assert!(
        least.contains(r#"{\"vote\":\"NO\",\"confidence\":5}"#),
        "{least}"
    );
    let log = fs::read_to_string(path("log")).unwrap();
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let prompts: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["prompt"].as_str())
        .collect();
    assert_eq!(
        prompts,
        [
            "user: your vote\n",
            "user: busy\n",
            "user: something else\n"
        ]
    );
    assert_eq!(lines[0]["sha256"].as_str().map(str::len), Some(64));
}
