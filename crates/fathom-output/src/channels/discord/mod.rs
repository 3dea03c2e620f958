//! Blocks as Discord messages: the bodies of requests, and what its answers say about the next one.
//!
//! Two ways lead to a channel there: a webhook (`POST /api/webhooks/{id}/{token}?wait=true`) and a bot
//! (`POST /api/v10/channels/{id}/messages`). Requests are tools behind the gateway; the token is theirs to know.
//!
//! A bot's message carries a nonce that Discord looks for among the messages of the last minutes, so it can be sent again
//! after a lost answer. A webhook's cannot: whether it arrived is then a question for a person.

mod limits;
mod split;

use fathom_core::id::Digest;
use fathom_core::marker::{BlockKind, Marker};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

pub use limits::{Fate, Plan, Scope, WAIT_MAX, read};
pub use split::MESSAGE_UNITS_MAX;

use super::{Clean, Delivery, Flaw, Part};

/// Most messages for one block: a model that writes without end fills no channel.
pub const MESSAGES_MAX: usize = 10;
/// Longest nonce that Discord takes.
const NONCE_CHARS_MAX: usize = 25;
/// Links are not looked at: a preview would fetch an address that the model chose.
const SUPPRESS_EMBEDS: u32 = 1 << 2;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    content: String,
    nonce: String,
}

impl Message {
    /// The text.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// The same for the same message of the same block.
    pub fn nonce(&self) -> &str {
        &self.nonce
    }

    /// The body of a request to a webhook.
    pub fn webhook_body(&self) -> Value {
        json!({
            "content": self.content,
            "allowed_mentions": {"parse": []},
            "flags": SUPPRESS_EMBEDS,
        })
    }

    /// The body of a bot's request.
    pub fn bot_body(&self) -> Value {
        let mut body = self.webhook_body();
        body["nonce"] = json!(self.nonce);
        body["enforce_nonce"] = json!(true);
        body
    }
}

/// The messages of a block, in order. `key` names the delivery: the same key makes the same nonces. Parts of a stream make
/// none, and neither does a blank block.
pub fn messages(delivery: &Delivery, key: &str) -> Vec<Message> {
    let (text, note) = match &delivery.part {
        Part::Whole(text) | Part::Flawed(text, Flaw::Altered) => (text, ""),
        Part::Flawed(text, Flaw::TooLong) => (text, "\n*(cut: the block is too long)*"),
        Part::Flawed(text, Flaw::Stopped) => (text, "\n*(stopped here)*"),
        Part::Begin | Part::Delta(_) | Part::End(_) => return Vec::new(),
    };
    if text.is_blank() {
        return Vec::new();
    }
    let contents = split::split(&shown(delivery.kind, text), MESSAGES_MAX, note);
    let number = |(index, content)| Message {
        content,
        nonce: nonce(key, index),
    };
    contents.into_iter().enumerate().map(number).collect()
}

/// An answer is shown as it is; everything else says what it is.
fn shown(kind: BlockKind, text: &Clean) -> String {
    match kind.goes_as() {
        Marker::Response => text.as_str().to_owned(),
        marker => format!("**{marker}**\n{}", text.as_str()),
    }
}

fn nonce(key: &str, index: usize) -> String {
    let digest = Digest(Sha256::digest(format!("{index}/{key}")).into());
    let hex = digest.to_string();
    hex.chars().take(NONCE_CHARS_MAX).collect()
}

#[cfg(test)]
#[path = "discord_tests.rs"]
mod tests;
