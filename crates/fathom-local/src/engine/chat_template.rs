//! The conversation in the model's chat template.
//!
//! A template's markers become control tokens; a speaker's text never does, even if it looks like one. So the
//! template is filled with placeholders first, and the texts replace them after the markers were found.

use fathom_core::model::{ChatMessage, Speaker};
use llama_cpp_2::model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel};

use super::tokenizer::{ModelTokenizer, TextStretch, push_plain};

const CHATML: &str = "chatml";
// Private-use characters, which no template writes.
const OPEN: char = '\u{E0F0}';
const CLOSE: char = '\u{E0F1}';

/// The chat template of a model.
#[derive(Debug)]
pub(crate) struct ChatTemplate {
    own: Option<LlamaChatTemplate>,
    chatml: Option<LlamaChatTemplate>,
}

/// One turn of the conversation: its speaker and the messages in it.
struct TemplateTurn {
    speaker: Speaker,
    parts: Vec<usize>,
}

impl ChatTemplate {
    /// The template in the model's file. If it is missing or not supported, `ChatML` is used.
    pub(crate) fn of(model: &LlamaModel) -> Self {
        Self {
            own: model.chat_template(None).ok(),
            chatml: LlamaChatTemplate::new(CHATML).ok(),
        }
    }

    /// The parts of the prompt, up to where the model's reply starts. `None` only if no template accepts the
    /// conversation.
    pub(crate) fn fill(
        &self,
        vocabulary: &ModelTokenizer,
        messages: &[ChatMessage],
    ) -> Option<Vec<TextStretch>> {
        let as_given: Vec<TemplateTurn> = messages
            .iter()
            .enumerate()
            .map(|(index, message)| TemplateTurn {
                speaker: message.speaker,
                parts: vec![index],
            })
            .collect();
        let without_system = without_system(messages);
        let attempts = [
            (&self.own, &as_given),
            (&self.own, &without_system),
            (&self.chatml, &as_given),
        ];
        attempts.into_iter().find_map(|(template, turns)| {
            let filled = render(&vocabulary.model, template.as_ref()?, turns)?;
            place(vocabulary, &filled, turns, messages)
        })
    }
}

/// The turns for a template without system messages: their text is put before that of the user.
fn without_system(messages: &[ChatMessage]) -> Vec<TemplateTurn> {
    let mut turns: Vec<TemplateTurn> = Vec::new();
    let mut standing = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        match message.speaker {
            Speaker::System => standing.push(index),
            speaker => {
                let mut parts = match speaker {
                    Speaker::User => std::mem::take(&mut standing),
                    Speaker::System | Speaker::Assistant => Vec::new(),
                };
                parts.push(index);
                turns.push(TemplateTurn { speaker, parts });
            }
        }
    }
    if !standing.is_empty() {
        turns.push(TemplateTurn {
            speaker: Speaker::User,
            parts: standing,
        });
    }
    turns
}

fn render(
    model: &LlamaModel,
    template: &LlamaChatTemplate,
    turns: &[TemplateTurn],
) -> Option<String> {
    let chat = turns
        .iter()
        .enumerate()
        .map(|(index, turn)| {
            LlamaChatMessage::new(turn.speaker.to_string(), format!("{OPEN}{index}{CLOSE}")).ok()
        })
        .collect::<Option<Vec<_>>>()?;
    model.apply_chat_template(template, &chat, true).ok()
}

/// Replaces the placeholders by the texts. `None` if a placeholder was lost or is out of order.
fn place(
    vocabulary: &ModelTokenizer,
    filled: &str,
    turns: &[TemplateTurn],
    messages: &[ChatMessage],
) -> Option<Vec<TextStretch>> {
    let mut stretches = Vec::new();
    let mut rest = filled;
    for (index, turn) in turns.iter().enumerate() {
        let holder = format!("{OPEN}{index}{CLOSE}");
        let (before, after) = rest.split_once(&holder)?;
        vocabulary.stretches_of(before, &mut stretches);
        for (nth, &part) in turn.parts.iter().enumerate() {
            if nth > 0 {
                push_plain(&mut stretches, "\n\n");
            }
            push_plain(&mut stretches, messages.get(part)?.text.as_str());
        }
        rest = after;
    }
    if rest.contains(OPEN) {
        return None;
    }
    vocabulary.stretches_of(rest, &mut stretches);
    Some(stretches)
}

#[cfg(test)]
mod tests {
    use fathom_core::model::{ChatMessage, Speaker};

    use super::without_system;

    fn turns(speakers: &[Speaker]) -> Vec<(Speaker, Vec<usize>)> {
        let messages: Vec<ChatMessage> = speakers
            .iter()
            .map(|speaker| ChatMessage::new(*speaker, "words"))
            .collect();
        without_system(&messages)
            .into_iter()
            .map(|turn| (turn.speaker, turn.parts))
            .collect()
    }

    #[test]
    fn a_template_without_a_system_hears_it_from_the_user() {
        use Speaker::{Assistant, System, User};
        assert_eq!(
            turns(&[System, User, Assistant, System, System, User]),
            [
                (User, vec![0, 1]),
                (Assistant, vec![2]),
                (User, vec![3, 4, 5])
            ]
        );
        assert_eq!(turns(&[System]), [(User, vec![0])]);
        assert_eq!(
            turns(&[System, Assistant, User]),
            [(Assistant, vec![1]), (User, vec![0, 2])]
        );
    }
}
