//! The part of Discord that takes messages, over real HTTP: a webhook, a bot's API, and its limits.
//!
//! A bucket takes a few messages and is then empty; it is full again after a number of refused requests, so that no
//! test waits for a clock. The seconds in its answers have no effect.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::fake_platform::FaultRate;
use crate::fake_platform::fault_rate::FaultTally;
use crate::fake_platform::request::{PlatformAnswer, PlatformRequest, PlatformResponse};
use crate::loopback_server::{LoopbackServer, converse};
use crate::sim::rng::SimRng;

/// Longest message.
const CONTENT_CHARS_MAX: usize = 2_000;
/// Longest nonce.
const NONCE_CHARS_MAX: usize = 25;

/// Behaviour of the server.
#[derive(Clone, Debug)]
pub struct DiscordOptions {
    /// The one channel that there is.
    pub channel: String,
    /// Token that a bot must present.
    pub bot_token: String,
    /// Id and token of the one webhook, which leads to the channel.
    pub webhook: (String, String),
    /// Number of messages that a bucket takes.
    pub burst: u32,
    /// After how many refused requests an empty bucket is full again.
    pub refills_after: u32,
    /// Seconds until a refill, as an empty bucket states them.
    pub reset_after: f64,
    /// Requests that are refused for all that the bot does.
    pub limit_globally: FaultRate,
    /// Requests that are answered with 502, nothing done.
    pub fail: FaultRate,
    /// Messages whose answer is lost with its connection.
    pub lose: FaultRate,
}

impl Default for DiscordOptions {
    fn default() -> Self {
        Self {
            channel: "41771983423143937".to_owned(),
            bot_token: "bot-token".to_owned(),
            webhook: ("223704706495545344".to_owned(), "webhook-token".to_owned()),
            burst: 5,
            refills_after: 1,
            reset_after: 1.25,
            limit_globally: FaultRate::Never,
            fail: FaultRate::Never,
            lose: FaultRate::Never,
        }
    }
}

/// A message that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostedMessage {
    pub id: u64,
    pub content: String,
    /// The nonce it came with.
    pub nonce: Option<String>,
    /// True if the message mentioned somebody.
    pub pings: bool,
    /// True if links in it get a preview.
    pub previews: bool,
}

#[derive(Debug)]
struct DiscordState {
    options: DiscordOptions,
    posted: Vec<PostedMessage>,
    requests: u64,
    left: u32,
    refused: u32,
    rng: SimRng,
    limited: FaultTally,
    failed: FaultTally,
    lost: FaultTally,
}

/// A running server. Messages are kept in memory; it stops, and closes its connections, when dropped.
pub struct FakeDiscord {
    state: Arc<Mutex<DiscordState>>,
    listening: LoopbackServer,
}

impl FakeDiscord {
    /// Starts a server on a free port of the loopback address.
    pub async fn start(options: DiscordOptions) -> io::Result<Self> {
        let state = Arc::new(Mutex::new(DiscordState {
            posted: Vec::new(),
            requests: 0,
            left: options.burst,
            refused: 0,
            rng: SimRng::new(0),
            limited: FaultTally::default(),
            failed: FaultTally::default(),
            lost: FaultTally::default(),
            options,
        }));
        let shared = Arc::clone(&state);
        let serve = move |stream| {
            let state = Arc::clone(&shared);
            let at_once = || (Duration::ZERO, ());
            converse(stream, at_once, move |request| lock(&state).answer(request))
        };
        let listening = LoopbackServer::start(0, serve).await?;
        Ok(Self { state, listening })
    }

    /// Base URL, without a trailing slash.
    pub fn url(&self) -> String {
        self.listening.url()
    }

    /// The path of the webhook.
    pub fn webhook_path(&self) -> String {
        let (id, token) = lock(&self.state).options.webhook.clone();
        format!("/api/webhooks/{id}/{token}")
    }

    /// The path of a bot's messages.
    pub fn messages_path(&self) -> String {
        let channel = &lock(&self.state).options.channel;
        format!("/api/v10/channels/{channel}/messages")
    }

    /// Every message, in order.
    pub fn posted(&self) -> Vec<PostedMessage> {
        lock(&self.state).posted.clone()
    }

    /// The time passes after which an empty bucket takes this many messages again.
    pub fn refill(&self, messages: u32) {
        let mut state = lock(&self.state);
        state.left = messages;
        state.refused = 0;
    }

    /// Number of requests so far, refused ones included.
    pub fn requests(&self) -> u64 {
        lock(&self.state).requests
    }
}

fn lock(state: &Mutex<DiscordState>) -> MutexGuard<'_, DiscordState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sender of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MessageSender {
    Bot,
    Webhook,
}

impl DiscordState {
    fn answer(&mut self, request: &PlatformRequest) -> PlatformAnswer {
        self.requests += 1;
        let sender = match self.sender(request) {
            Ok(sender) => sender,
            Err(refusal) => return PlatformAnswer::Sent(refusal),
        };
        if self.failed.next(self.options.fail, &mut self.rng) {
            return PlatformAnswer::Sent(PlatformResponse::json(
                502,
                &json!({"message": "502: Bad Gateway"}),
            ));
        }
        if let Some(refusal) = self.too_early() {
            return PlatformAnswer::Sent(refusal);
        }
        let body = request.json();
        if let Some((code, message)) = objection(&body) {
            let refusal = error(400, code, message);
            return PlatformAnswer::Sent(self.limits(refusal));
        }
        let posted = self.post(sender, &body);
        if self.lost.next(self.options.lose, &mut self.rng) {
            return PlatformAnswer::Lost;
        }
        let waits = request.query.get("wait").is_some_and(|wait| wait == "true");
        let answer = if sender == MessageSender::Bot || waits {
            PlatformResponse::json(200, &self.message(sender, &posted))
        } else {
            PlatformResponse::json(204, &Value::Null)
        };
        PlatformAnswer::Sent(self.limits(answer))
    }

    /// The sender of a request, or the reason to refuse it.
    fn sender(&self, request: &PlatformRequest) -> Result<MessageSender, PlatformResponse> {
        let (id, token) = &self.options.webhook;
        match (request.method.as_str(), request.parts().as_slice()) {
            (
                "POST",
                ["api", "webhooks", given_id, given_token]
                | ["api", "v10", "webhooks", given_id, given_token],
            ) => {
                if given_id != id {
                    Err(error(404, 10_015, "Unknown Webhook"))
                } else if given_token != token {
                    Err(error(401, 50_027, "Invalid Webhook Token"))
                } else {
                    Ok(MessageSender::Webhook)
                }
            }
            ("POST", ["api", "v10", "channels", channel, "messages"]) => {
                let known = format!("Bot {}", self.options.bot_token);
                if request.header("authorization") != Some(known.as_str()) {
                    Err(error(401, 0, "401: Unauthorized"))
                } else if *channel != self.options.channel {
                    Err(error(404, 10_003, "Unknown Channel"))
                } else {
                    Ok(MessageSender::Bot)
                }
            }
            _ => Err(error(404, 0, "404: Not Found")),
        }
    }

    fn too_early(&mut self) -> Option<PlatformResponse> {
        let wait = self.options.reset_after;
        let told = |is_global: bool| json!({"message": "You are being rate limited.", "retry_after": wait, "global": is_global});
        let seconds = format!("{}", wait.ceil());
        if self
            .limited
            .next(self.options.limit_globally, &mut self.rng)
        {
            let refusal = PlatformResponse::json(429, &told(true))
                .with_header("retry-after", &seconds)
                .with_header("x-ratelimit-global", "true")
                .with_header("x-ratelimit-scope", "global");
            return Some(refusal);
        }
        if self.left > 0 {
            self.left -= 1;
            return None;
        }
        let refusal = PlatformResponse::json(429, &told(false))
            .with_header("retry-after", &seconds)
            .with_header("x-ratelimit-scope", "user");
        let refusal = self.limits(refusal);
        self.refused += 1;
        if self.refused >= self.options.refills_after {
            self.refused = 0;
            self.left = self.options.burst;
        }
        Some(refusal)
    }

    /// Adds the headers of the rate limit to a response.
    fn limits(&self, response: PlatformResponse) -> PlatformResponse {
        response
            .with_header("x-ratelimit-limit", &self.options.burst.to_string())
            .with_header("x-ratelimit-remaining", &self.left.to_string())
            .with_header(
                "x-ratelimit-reset-after",
                &self.options.reset_after.to_string(),
            )
            .with_header("x-ratelimit-bucket", "80c17d2f203122d936070c88c8d10f33")
    }

    fn post(&mut self, sender: MessageSender, body: &Value) -> PostedMessage {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        // A webhook knows no nonce.
        let nonce = text(&body["nonce"]).filter(|_| sender == MessageSender::Bot);
        let looks = nonce.is_some() && body["enforce_nonce"] == json!(true);
        let earlier = self
            .posted
            .iter()
            .find(|known| looks && known.nonce == nonce);
        if let Some(earlier) = earlier {
            return earlier.clone();
        }
        let content = text(&body["content"]).unwrap_or_default();
        let is_held = body["allowed_mentions"]["parse"] == json!([]);
        let posted = PostedMessage {
            id: self.posted.len() as u64 + 1,
            pings: !is_held
                && ["@everyone", "@here", "<@"]
                    .iter()
                    .any(|call| content.contains(call)),
            previews: body["flags"].as_u64().unwrap_or_default() & 4 == 0,
            content,
            nonce,
        };
        self.posted.push(posted.clone());
        posted
    }

    fn message(&self, sender: MessageSender, posted: &PostedMessage) -> Value {
        json!({
            "id": posted.id.to_string(),
            "type": 0,
            "channel_id": self.options.channel,
            "content": posted.content,
            "nonce": posted.nonce,
            "author": {"id": self.options.webhook.0, "username": "fathom", "bot": true},
            "webhook_id": (sender == MessageSender::Webhook).then_some(&self.options.webhook.0),
            "timestamp": "2026-01-01T00:00:00+00:00",
            "mentions": [],
            "embeds": [],
        })
    }
}

/// First problem with a message.
fn objection(body: &Value) -> Option<(u32, &'static str)> {
    let content = body["content"].as_str().unwrap_or_default();
    let nonce = body["nonce"].as_str().unwrap_or_default();
    if content.trim().is_empty() {
        return Some((50_006, "Cannot send an empty message"));
    }
    let is_too_long =
        content.chars().count() > CONTENT_CHARS_MAX || nonce.chars().count() > NONCE_CHARS_MAX;
    is_too_long.then_some((50_035, "Invalid Form Body"))
}

fn error(status: u16, code: u32, message: &str) -> PlatformResponse {
    PlatformResponse::json(status, &json!({"message": message, "code": code}))
}
