//! The Discord double, by a client that knows nothing of it.

use fathom_testkit::fake_discord::{DiscordOptions, FakeDiscord};
use fathom_testkit::fake_platform::FaultRate;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A status, the head and the body; nothing where the connection was dropped.
async fn send(
    discord: &FakeDiscord,
    path: &str,
    authorization: &str,
    body: &Value,
) -> Option<(u16, String, Value)> {
    let address = discord.url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: {authorization}\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    let status = answer.split(' ').nth(1)?.parse().unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let body = serde_json::from_str(body).unwrap_or_default();
    Some((status, head.to_owned(), body))
}

#[tokio::test]
async fn only_who_is_known_may_speak() {
    let discord = FakeDiscord::start(DiscordOptions::default()).await.unwrap();
    let (bot, hook) = (discord.messages_path(), discord.webhook_path());
    let hello = json!({"content": "hello"});
    for (path, authorization, status, code) in [
        (bot.as_str(), "Bearer bot-token", 401, 0),
        (bot.as_str(), "Bot other", 401, 0),
        ("/api/v10/channels/1/messages", "Bot bot-token", 404, 10_003),
        ("/api/webhooks/1/x", "", 404, 10_015),
        (&format!("{hook}x"), "", 401, 50_027),
        ("/api/v10/other", "Bot bot-token", 404, 0),
    ] {
        let (found, _, answer) = send(&discord, path, authorization, &hello).await.unwrap();
        assert_eq!((found, &answer["code"]), (status, &json!(code)), "{path}");
    }
    assert_eq!(discord.posted(), []);
    let (status, _, answer) = send(&discord, &bot, "Bot bot-token", &hello).await.unwrap();
    assert_eq!((status, &answer["content"]), (200, &json!("hello")));
    let waited = format!("{hook}?wait=true");
    assert_eq!(send(&discord, &waited, "", &hello).await.unwrap().0, 200);
    assert_eq!(send(&discord, &hook, "", &hello).await.unwrap().0, 204);
    assert_eq!(discord.posted().len(), 3);
}

#[tokio::test]
async fn what_cannot_be_a_message_is_refused() {
    let discord = FakeDiscord::start(DiscordOptions::default()).await.unwrap();
    for (body, code) in [
        (json!({"content": " "}), 50_006),
        (json!({}), 50_006),
        (json!({"content": "x".repeat(2_001)}), 50_035),
        (json!({"content": "x", "nonce": "n".repeat(26)}), 50_035),
    ] {
        let path = discord.messages_path();
        let (status, _, answer) = send(&discord, &path, "Bot bot-token", &body).await.unwrap();
        assert_eq!((status, &answer["code"]), (400, &json!(code)), "{body}");
    }
}

#[tokio::test]
async fn a_nonce_is_looked_for_when_asked_and_only_for_bots() {
    let options = DiscordOptions {
        lose: FaultRate::First(1),
        ..DiscordOptions::default()
    };
    let discord = FakeDiscord::start(options).await.unwrap();
    let (bot, hook) = (discord.messages_path(), discord.webhook_path());
    let body = json!({"content": "@here a", "nonce": "n1", "enforce_nonce": true});
    assert!(send(&discord, &bot, "Bot bot-token", &body).await.is_none());
    let again = send(&discord, &bot, "Bot bot-token", &body).await.unwrap();
    assert_eq!((again.0, &again.2["id"]), (200, &json!("1")));
    assert_eq!(discord.posted().len(), 1);
    let posted = &discord.posted()[0];
    assert!(posted.pings && posted.previews);
    send(&discord, &hook, "", &body).await;
    send(&discord, &hook, "", &body).await;
    assert_eq!(discord.posted().len(), 3);
}

#[tokio::test]
async fn an_empty_bucket_is_full_again_after_a_while() {
    let options = DiscordOptions {
        burst: 2,
        refills_after: 2,
        ..DiscordOptions::default()
    };
    let discord = FakeDiscord::start(options).await.unwrap();
    let mut statuses = Vec::new();
    for number in 0..6 {
        let body = json!({"content": number.to_string()});
        let path = discord.messages_path();
        let (status, head, answer) = send(&discord, &path, "Bot bot-token", &body).await.unwrap();
        if status == 429 {
            assert_eq!(answer["retry_after"], json!(1.25));
            assert_eq!(answer["global"], json!(false));
            assert!(head.contains("retry-after: 2\r\n"));
        }
        assert!(head.contains("x-ratelimit-reset-after: 1.25\r\n"));
        statuses.push(status);
    }
    assert_eq!(statuses, [200, 200, 429, 429, 200, 200]);
}
