//! Blocks on their way to a Discord channel, against a server that speaks its wire.

use std::sync::Arc;
use std::time::Duration;

use fathom_output::channels::discord::{self, DiscordMessage, NextAttempt, SendOutcome, WaitScope};
use fathom_output::channels::{FilterStream, OutputChannel, TextFilter};
use fathom_output::markers::BlockRouter;
use fathom_output::routes::RouteTable;
use fathom_testkit::fake_discord::{DiscordOptions, FakeDiscord};
use fathom_testkit::fake_platform::FaultRate;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

struct Open;

impl TextFilter for Open {
    fn open(&self, _: OutputChannel) -> Box<dyn FilterStream> {
        Box::new(Self)
    }
}

impl FilterStream for Open {
    fn push(&mut self, text: &str) -> String {
        text.to_owned()
    }

    fn finish(self: Box<Self>) -> String {
        String::new()
    }
}

/// The messages of a model's reply.
fn messages(reply: &str) -> Vec<DiscordMessage> {
    let mut router = BlockRouter::new(Arc::new(RouteTable::default()), Arc::new(Open));
    let mut deliveries = router.push(reply);
    deliveries.extend(router.finish());
    deliveries
        .iter()
        .filter(|delivery| delivery.channel == OutputChannel::Discord)
        .flat_map(|delivery| discord::messages(delivery, &format!("run-1/{}", delivery.block)))
        .collect()
}

/// What to do after one request; nothing where its answer was lost.
async fn post(server: &FakeDiscord, path: &str, body: &Value) -> Option<NextAttempt> {
    let address = server.url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bot bot-token\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let header = |name: &str| {
        let mut fields = head.lines().filter_map(|line| line.split_once(": "));
        fields
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    };
    Some(discord::read(status, header, body))
}

fn reply() -> String {
    let code = "let x = 1;\n".repeat(400);
    format!(
        "RESPONSE: @everyone see <@1>\n```rust\n{code}```\nINTERRUPT: stop\nPLAN: hidden\nVERIFY: {}",
        "🦀 done ".repeat(900)
    )
}

#[tokio::test]
async fn g09_a_bot_keeps_the_limits_and_says_everything_once() {
    let options = DiscordOptions {
        burst: 2,
        lose: FaultRate::Every(3),
        fail: FaultRate::Every(5),
        ..DiscordOptions::default()
    };
    let server = FakeDiscord::start(options).await.unwrap();
    let messages = messages(&reply());
    assert!(messages.len() > 5, "{}", messages.len());
    let mut waited = Duration::ZERO;
    for message in &messages {
        // Under its nonce a bot's message may be sent again when nobody knows what became of it.
        loop {
            let plan = post(&server, &server.messages_path(), &message.bot_body()).await;
            let Some(NextAttempt { fate, wait, .. }) = plan else {
                continue;
            };
            if wait > Duration::ZERO {
                waited += wait;
                server.refill(2);
            }
            match fate {
                SendOutcome::Sent => break,
                SendOutcome::TooEarly | SendOutcome::Unknown => {}
                SendOutcome::Refused => panic!("{message:?}"),
            }
        }
    }
    let posted = server.posted();
    let said: Vec<_> = posted
        .iter()
        .map(|posted| posted.content.as_str())
        .collect();
    let meant: Vec<_> = messages.iter().map(DiscordMessage::content).collect();
    assert_eq!(said, meant, "each once, in order");
    assert!(
        posted
            .iter()
            .all(|posted| !posted.pings && !posted.previews)
    );
    assert!(waited >= Duration::from_millis(1_250), "{waited:?}");
    assert!(!said.concat().contains("hidden"));
}

#[tokio::test]
async fn g09_who_waits_as_told_is_never_refused() {
    let options = DiscordOptions {
        burst: 2,
        ..DiscordOptions::default()
    };
    let server = FakeDiscord::start(options).await.unwrap();
    let path = format!("{}?wait=true", server.webhook_path());
    let messages = messages(&reply());
    for message in &messages {
        let plan = post(&server, &path, &message.webhook_body()).await.unwrap();
        assert_eq!(plan.fate, SendOutcome::Sent);
        if plan.wait > Duration::ZERO {
            assert_eq!(plan.wait, Duration::from_millis(1_250));
            server.refill(2);
        }
    }
    assert_eq!(server.requests(), messages.len() as u64);
    assert_eq!(server.posted().len(), messages.len());
}

#[tokio::test]
async fn g09_who_does_not_wait_is_told_for_how_long() {
    let options = DiscordOptions {
        burst: 1,
        limit_globally: FaultRate::Every(3),
        ..DiscordOptions::default()
    };
    let server = FakeDiscord::start(options).await.unwrap();
    let path = server.messages_path();
    let message = &messages("Hello.")[0];
    let mut plans = Vec::new();
    for _ in 0..3 {
        plans.push(post(&server, &path, &message.bot_body()).await.unwrap());
    }
    assert_eq!(plans[0].fate, SendOutcome::Sent);
    assert_eq!(plans[1].fate, SendOutcome::TooEarly);
    assert_eq!(plans[1].wait, Duration::from_secs(2));
    assert_eq!(plans[0].scope, plans[1].scope);
    assert_eq!(plans[2].fate, SendOutcome::TooEarly);
    assert_eq!(plans[2].scope, WaitScope::Global);
}
