//! What the program asks for with one answer.

use super::report::PhaseTrace;
use crate::command::OutputBlock;
use crate::delivery::TRACE_CHANNEL;
use crate::id::AskId;
use crate::program::{Ask, ProgramView};
use crate::text::Text;

/// Asks that are made together, with the numbers they will have.
pub(super) struct AskBatch {
    pub(super) list: Vec<Ask>,
    next: AskId,
}

impl AskBatch {
    pub(super) const fn new(view: &ProgramView<'_>) -> Self {
        Self {
            list: Vec::new(),
            next: view.next_ask,
        }
    }

    /// Adds an ask and gives its number.
    pub(super) fn push(&mut self, ask: Ask) -> AskId {
        let id = self.next;
        self.next = id.next();
        self.list.push(ask);
        id
    }

    /// Tells of the loop.
    pub(super) fn tell(&mut self, trace: &PhaseTrace) {
        // A struct of strings and numbers always has a JSON form.
        let text = Text::new(serde_json::to_string(trace).unwrap_or_default());
        let channel = TRACE_CHANNEL.to_owned();
        self.push(Ask::Emit(OutputBlock { channel, text }));
    }
}
