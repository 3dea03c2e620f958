//! A packet as the model sees it.

use super::{HeaderField, KeptEntries, Packet, PacketShare, ShareLayout};
use crate::model::{ChatMessage, ModelRequest, Speaker};
use crate::text::Text;

/// A header field as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderedField {
    /// Its words, with the mark when they are a summary.
    pub text: Text,
    /// Its tokens before it was shortened.
    pub shortened_from: Option<u64>,
}

/// The header of one packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketHeader {
    pub identity: RenderedField,
    /// The manner in which it speaks.
    pub persona: RenderedField,
    pub instruction: RenderedField,
}

impl PacketHeader {
    /// A header field. The prompt is none, and has nothing here.
    pub fn get(&self, field: HeaderField) -> Option<&RenderedField> {
        match field {
            HeaderField::Identity => Some(&self.identity),
            HeaderField::Persona => Some(&self.persona),
            HeaderField::Instruction => Some(&self.instruction),
            HeaderField::Prompt => None,
        }
    }

    /// Puts a shorter text in a field's place.
    pub fn set(&mut self, field: HeaderField, shown: RenderedField) {
        match field {
            HeaderField::Identity => self.identity = shown,
            HeaderField::Persona => self.persona = shown,
            HeaderField::Instruction => self.instruction = shown,
            HeaderField::Prompt => {}
        }
    }
}

/// The messages of a packet: standing parts, turns, prompt. What calls have in common comes first, so that a model
/// that shares prefixes reads it once.
pub fn render(header: &PacketHeader, packet: &Packet, kept: &[KeptEntries]) -> Vec<ChatMessage> {
    let mut standing: Vec<String> = [
        &header.identity.text,
        &header.persona.text,
        &packet.standing,
        &header.instruction.text,
    ]
    .into_iter()
    .filter(|text| !text.is_blank())
    .map(|text| text.as_str().trim_end().to_owned())
    .collect();
    let mut turns = Vec::new();
    for (share, kept) in packet.shares.iter().zip(kept) {
        let entries = stays(share, *kept);
        match &share.form {
            ShareLayout::Turns => turns.extend(entries.iter().cloned()),
            ShareLayout::Section { .. } if entries.is_empty() => {}
            ShareLayout::Section { title } => {
                let mut section = format!("# {title}");
                for entry in entries {
                    section.push('\n');
                    section.push_str(entry.text.as_str().trim_end());
                }
                standing.push(section);
            }
        }
    }
    let mut messages = Vec::with_capacity(1 + turns.len() + packet.prompt.len());
    if let [only] = standing.as_slice() {
        messages.push(ChatMessage::new(Speaker::System, only.as_str()));
    } else if !standing.is_empty() {
        messages.push(ChatMessage::new(Speaker::System, standing.join("\n\n")));
    }
    messages.append(&mut turns);
    messages.extend(packet.prompt.iter().cloned());
    messages
}

/// The entries of a share that stay.
fn stays(share: &PacketShare, kept: KeptEntries) -> &[ChatMessage] {
    share.entries.get(kept.from..kept.to).unwrap_or_default()
}

/// A request as one line for each item: who speaks, how much, and never a word of it.
pub fn outline(request: &ModelRequest) -> Vec<String> {
    let line = |message: &ChatMessage| {
        let text = message.text.as_str();
        let mark = match text.matches(super::SUMMARY_MARK).count() {
            0 => String::new(),
            count => format!(", {count} shortened"),
        };
        format!(
            "{:<9} {} lines, {} characters{mark}",
            message.speaker.to_string(),
            text.lines().count(),
            text.chars().count()
        )
    };
    request.messages.iter().map(line).collect()
}
