//! Asks that a program makes in answer to one input.

use super::phases::report::PhaseTrace;
use fathom_core::channel::delivery::TRACE_CHANNEL;
use fathom_core::episode::program::{Ask, ProgramView};
use fathom_core::id::AskId;
use fathom_core::journal::command::OutputBlock;
use fathom_core::text::Text;

/// Asks that are made together, with the numbers they will have.
pub struct AskBatch {
    /// The asks, in the order in which they will be carried out.
    pub list: Vec<Ask>,
    next: AskId,
}

impl AskBatch {
    /// An empty batch for the present input.
    pub const fn new(view: &ProgramView<'_>) -> Self {
        Self {
            list: Vec::new(),
            next: view.next_ask,
        }
    }

    /// The number that the next ask will have.
    pub const fn next(&self) -> AskId {
        self.next
    }

    /// Adds an ask and returns the number it will have.
    pub fn push(&mut self, ask: Ask) -> AskId {
        let id = self.next;
        self.next = id.next();
        self.list.push(ask);
        id
    }

    /// Tells of the loop.
    pub(crate) fn tell(&mut self, trace: &PhaseTrace) {
        // A struct of strings and numbers always has a JSON form.
        let text = Text::new(serde_json::to_string(trace).unwrap_or_default());
        let channel = TRACE_CHANNEL.to_owned();
        self.push(Ask::Emit(OutputBlock { channel, text }));
    }
}
