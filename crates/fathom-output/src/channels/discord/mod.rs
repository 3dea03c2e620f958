//! Blocks as Discord messages: bodies of requests, and interpretation of the answers.
//!
//! A channel there is reached in two ways: by a webhook (`POST /api/webhooks/{id}/{token}?wait=true`) or by a
//! bot (`POST /api/v10/channels/{id}/messages`). The requests are made by tools behind the gateway, which hold
//! the token.
//!
//! A bot's message carries a nonce that Discord compares with those of the last minutes, so it can be sent
//! again after a lost answer. A webhook's cannot: a person has to find out if it arrived.

mod limits;
mod split;

use fathom_core::channel::marker::{BlockKind, Marker};
use fathom_core::id::Digest;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

pub use limits::{NextAttempt, SendOutcome, WAIT_MAX, WaitScope, read};
pub use split::MESSAGE_UNITS_MAX;

use super::{BlockDelivery, BlockFlaw, DeliveryPart, FilteredText};

/// Maximum number of messages for one block, so that a model that writes endlessly does not fill a channel.
pub const MESSAGES_MAX: usize = 10;
/// Maximum length of a nonce.
const NONCE_CHARS_MAX: usize = 25;
/// No link previews: one would fetch an address chosen by the model.
const SUPPRESS_EMBEDS: u32 = 1 << 2;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscordMessage {
    content: String,
    nonce: String,
}

impl DiscordMessage {
    /// The text.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// Nonce, always the same for the same message of the same block.
    pub fn nonce(&self) -> &str {
        &self.nonce
    }

    /// Request body for a webhook.
    pub fn webhook_body(&self) -> Value {
        json!({
            "content": self.content,
            // No mention in a model's text may alert anybody.
            "allowed_mentions": {"parse": []},
            "flags": SUPPRESS_EMBEDS,
        })
    }

    /// Request body for a bot.
    pub fn bot_body(&self) -> Value {
        let mut body = self.webhook_body();
        body["nonce"] = json!(self.nonce);
        body["enforce_nonce"] = json!(true);
        body
    }
}

/// The messages of a block, in order. `key` identifies the delivery: the same key gives the same nonces. Parts
/// of a stream and blank blocks give no messages.
pub fn messages(delivery: &BlockDelivery, key: &str) -> Vec<DiscordMessage> {
    let (text, note) = match &delivery.part {
        DeliveryPart::Whole(text) | DeliveryPart::Flawed(text, BlockFlaw::Altered) => (text, ""),
        DeliveryPart::Flawed(text, BlockFlaw::TooLong) => {
            (text, "\n*(cut: the block is too long)*")
        }
        DeliveryPart::Flawed(text, BlockFlaw::Stopped) => (text, "\n*(stopped here)*"),
        DeliveryPart::Begin | DeliveryPart::Delta(_) | DeliveryPart::End(_) => return Vec::new(),
    };
    if text.is_blank() {
        return Vec::new();
    }
    let contents = split::split(&shown(delivery.kind, text), MESSAGES_MAX, note);
    let number = |(index, content)| DiscordMessage {
        content,
        nonce: nonce(key, index),
    };
    contents.into_iter().enumerate().map(number).collect()
}

/// An answer is shown as it is; other blocks start with their marker.
fn shown(kind: BlockKind, text: &FilteredText) -> String {
    match kind.goes_as() {
        Marker::Response => text.as_str().to_owned(),
        marker => format!("**{marker}**\n{}", text.as_str()),
    }
}

fn nonce(key: &str, index: usize) -> String {
    // The index first: the digest is cut, but depends on all of the key in any case.
    let digest = Digest(Sha256::digest(format!("{index}/{key}")).into());
    let hex = digest.to_string();
    hex.chars().take(NONCE_CHARS_MAX).collect()
}

#[cfg(test)]
#[path = "discord_tests.rs"]
mod tests;
