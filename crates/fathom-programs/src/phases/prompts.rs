//! Prompts of the loop, and the form that its replies are constrained to.

use serde_json::{Map, Value, json};

use super::commands;
use super::config::{PhaseSpec, PhasesConfig};

/// Notice to the model after a reply without a payload.
pub(super) const UNREADABLE: &str =
    "Your last reply held no JSON object that could be read, so nothing of it was carried out.";

/// Notice to the model after a payload without an end.
pub(super) const CUT: &str =
    "Your last reply ended before its JSON object did, so nothing of it was carried out. Say less.";

/// Most commands that a reply may state where its form is held to.
const EMIT_MAX: usize = 3;

/// One phase of a loop, as the model sees it.
pub(super) struct PhasePrompt<'a> {
    pub(super) params: &'a PhasesConfig,
    pub(super) phase: &'a PhaseSpec,
    /// The phases that it may go on with.
    pub(super) remaining: &'a [&'a str],
    pub(super) question: &'a str,
    /// Fault of the reply before, if any.
    pub(super) nudge: Option<&'a str>,
}

impl PhasePrompt<'_> {
    /// The question.
    pub(super) fn prompt(&self) -> String {
        let id = &self.phase.id;
        let mut prompt = format!(
            "{}\n\nQuestion:\n{}\n\nYou are in phase `{id}`. Reply with one JSON object and nothing else:\n",
            self.phase.template.trim(),
            self.question.trim()
        );
        let next = self.remaining.first();
        let example = json!({
            "phase_id": id,
            "reply": "what this phase comes to, in words",
            "control_signature": { "emit": [] },
            "next_phase": next,
        });
        prompt.push_str(&example.to_string());
        prompt.push_str(match self.phase.commands_min {
            0 => "\n`emit` holds commands, or nothing. ",
            _ => "\n`emit` holds commands, at least one. ",
        });
        if self.remaining.is_empty() {
            prompt.push_str(
                "This is the last phase: `reply` is the answer to the question, and `next_phase` is null.",
            );
        } else {
            let names: Vec<String> = self.remaining.iter().map(|id| format!("`{id}`")).collect();
            prompt.extend([
                "`next_phase` is one of ",
                &names.join(", "),
                ", or null when `reply` is the answer to the question.",
            ]);
        }
        if let Some(nudge) = self.nudge {
            prompt.extend(["\n\n", nudge]);
        }
        prompt
    }

    /// The form of the reply.
    pub(super) fn schema(&self) -> Value {
        let mut next: Vec<Value> = self.remaining.iter().map(|id| json!(id)).collect();
        next.push(Value::Null);
        let emit = json!({
            "type": "array",
            "items": commands::schema(),
            "minItems": usize::from(self.phase.commands_min).min(EMIT_MAX),
            "maxItems": EMIT_MAX,
        });
        let emit = Map::from_iter([("emit".to_owned(), emit)]);
        let chars = self.params.reply_chars_max;
        // A small model thinks while it writes: words come before what follows from them.
        commands::object(&Map::from_iter([
            (
                "phase_id".to_owned(),
                json!({ "type": "string", "enum": [self.phase.id] }),
            ),
            (
                "reply".to_owned(),
                json!({ "type": "string", "minLength": 1, "maxLength": chars }),
            ),
            ("control_signature".to_owned(), commands::object(&emit)),
            (
                "next_phase".to_owned(),
                json!({ "type": ["string", "null"], "enum": next }),
            ),
        ]))
    }
}
