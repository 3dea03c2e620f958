//! Contents of records.

use std::collections::BTreeMap;

use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, JournalRecord, ModelCallOutcome};

/// Prompts of calls with a single message whose replies are among the records of an episode, in the order of the replies.
pub fn answered_prompts(records: impl IntoIterator<Item = JournalRecord>) -> Vec<String> {
    let mut prompts = BTreeMap::new();
    let mut answered = Vec::new();
    for record in records {
        if let EventKind::ModelReplied {
            ask,
            outcome: ModelCallOutcome::Replied(_),
            ..
        } = &record.event.kind
        {
            answered.extend(prompts.get(ask).cloned());
        }
        for command in &record.commands {
            if let Command::CallModel { ask, request, .. } = command
                && let [message] = request.messages.as_slice()
            {
                prompts.insert(*ask, message.text.as_str().to_owned());
            }
        }
    }
    answered
}
