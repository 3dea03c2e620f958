//! A call that shortens a field for another call.

use crate::episode::program::{ModelAsk, OnOutage};
use crate::model::{ChatMessage, ModelRole, ReplyMode, Speaker};
use crate::packet::{Packet, SUMMARY_MARK};
use crate::text::Text;
use crate::unit::Millis;

/// Tokens that [`SUMMARY_MARK`] and the space after it take at most: no token is shorter than a byte.
pub(super) const MARK_TOKENS: u64 = SUMMARY_MARK.len() as u64 + 1;
/// Longest time a model may take to shorten a field.
const SHORTEN_TIMEOUT: Millis = Millis(60_000);

/// The call that has a model shorten a field. It is small, plain, and never shortened itself.
pub(super) fn shortening(model: ModelRole, text: &Text, limit: u64) -> ModelAsk {
    let target = limit.saturating_sub(MARK_TOKENS).max(1);
    let prompt = format!(
        "Shorten the text between the lines to at most {target} tokens. Keep every rule, number and name. Plain \
         sentences, no formatting, no remark of your own.\n---\n{}\n---",
        text.as_str()
    );
    ModelAsk {
        output_tokens_max: u32::try_from(target).unwrap_or(u32::MAX),
        output_tokens_min: 1,
        // The least of chance: the short form is kept for the rest of the episode.
        temperature_milli: Some(0),
        delivery: ReplyMode::Whole,
        timeout: SHORTEN_TIMEOUT,
        on_outage: OnOutage::Fail,
        ..ModelAsk::new(
            model,
            Packet::plain(vec![ChatMessage::new(Speaker::User, prompt)]),
        )
    }
}
