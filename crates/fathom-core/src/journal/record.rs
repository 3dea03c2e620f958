//! One line of an episode's chain.

use serde::{Deserialize, Serialize};

use super::event::Event;
use crate::episode::result::EpisodeResult;
use crate::id::{Epoch, Seq};
use crate::journal::command::Command;
use crate::text::{Text, VisitTexts};

/// One line of an episode's chain: an event, and the commands that followed from it.
///
/// The commands are there for the auditor: a replay folds the events again and must arrive at the same ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalRecord {
    /// Its place in the chain.
    pub seq: Seq,
    /// The owner that wrote it.
    pub epoch: Epoch,
    #[serde(flatten)]
    pub event: Event,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Command>,
}

impl JournalRecord {
    /// The result, when this record ends its episode.
    pub fn result(&self) -> Option<&EpisodeResult> {
        self.commands.iter().find_map(|command| match command {
            Command::Finish { result } => Some(&**result),
            _ => None,
        })
    }
}

impl VisitTexts for JournalRecord {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        self.event.kind.each_text(f);
        self.commands.each_text(f);
    }
}
