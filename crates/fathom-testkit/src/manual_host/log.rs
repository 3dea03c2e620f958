//! A log in memory that can lose its tail.

use fathom_core::id::{Digest, EpisodeId};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, JournalRecord};
use fathom_core::run::step::{AppendReceipt, LogPosition, RecordLog};

/// A record of one of the run's episodes, with the head of its chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub episode: EpisodeId,
    pub record: JournalRecord,
    pub head: Digest,
}

/// The records of a run, in memory.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    pub entries: Vec<Entry>,
}

impl Journal {
    /// Position after the last record.
    pub fn end(&self) -> LogPosition {
        LogPosition(self.entries.len() as u64)
    }

    /// Forgets all after the first `keep` records.
    pub fn cut(&mut self, keep: usize) {
        self.entries.truncate(keep);
    }

    /// The records of one episode.
    pub fn of(&self, episode: &EpisodeId) -> impl Iterator<Item = &JournalRecord> {
        self.entries
            .iter()
            .filter(move |entry| entry.episode == *episode)
            .map(|entry| &entry.record)
    }

    /// Events of one episode.
    pub fn events(&self, episode: &EpisodeId) -> Vec<EventKind> {
        self.of(episode)
            .map(|record| record.event.kind.clone())
            .collect()
    }

    /// Commands of one episode.
    pub fn commands(&self, episode: &EpisodeId) -> Vec<Command> {
        self.of(episode)
            .flat_map(|record| record.commands.clone())
            .collect()
    }
}

impl RecordLog for Journal {
    fn append(&mut self, episode: &EpisodeId, record: JournalRecord) -> AppendReceipt {
        let head = head(episode, record.seq.0);
        self.entries.push(Entry {
            episode: episode.clone(),
            record,
            head,
        });
        AppendReceipt {
            position: self.end(),
            head,
        }
    }
}

/// A head that only tells records apart; tests forge no chains.
fn head(episode: &EpisodeId, seq: u64) -> Digest {
    let mut digest = Digest::default();
    let name = format!("{episode}@{seq}");
    for (place, byte) in digest.0.iter_mut().zip(name.bytes()) {
        *place = byte;
    }
    digest
}
