//! Histories of sandbox sessions, read back from records: the cells that ran, their answers, and material on its way to
//! children.

use std::collections::BTreeMap;

use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, JournalRecord};
use fathom_core::sandbox::{CellCall, CellErrorKind, CellQuestion};
use fathom_core::unit::Timestamp;
use fathom_sandbox::{PastCell, RecordedQuestion};

/// Cells that an episode's session had behind it when its owner went away.
#[derive(Default)]
pub(super) struct SessionHistory {
    pub(super) past: Vec<PastCell>,
    pub(super) current: Option<(AskId, Timestamp, PastCell)>,
}

/// A part of a context that a cell handed to a child: the parent, its cell and the question.
pub(super) type HandedMaterial = BTreeMap<(EpisodeId, AskId, u32), Box<CellQuestion>>;

/// The cells of a run, as its records tell them.
#[derive(Default)]
pub(crate) struct SessionHistories {
    pub(super) of: BTreeMap<EpisodeId, SessionHistory>,
    pub(super) handed: HandedMaterial,
}

impl SessionHistories {
    /// Reads the records in their order.
    pub(crate) fn read<'a>(
        records: impl IntoIterator<Item = (&'a EpisodeId, &'a JournalRecord)>,
    ) -> Self {
        let mut notebooks = Self::default();
        for (episode, record) in records {
            notebooks.take_in(episode, record);
        }
        notebooks
    }

    fn take_in(&mut self, episode: &EpisodeId, record: &JournalRecord) {
        match &record.event.kind {
            EventKind::CellYielded { ask, question } => {
                self.hand(episode, *ask, question);
                if let Some(cell) = self.current(episode, *ask) {
                    cell.asked.push(RecordedQuestion {
                        question: (**question).clone(),
                        reply: None,
                    });
                }
            }
            EventKind::CellFinished { ask, end } => {
                self.handed
                    .retain(|(of, cell, _), _| of != episode || cell != ask);
                let notebook = self.of.entry(episode.clone()).or_default();
                let ended = notebook.current.take_if(|(current, ..)| current == ask);
                let error = end.error.as_ref().map(|error| error.kind);
                // Lost for the program means lost: a restart must not bring the old variables back.
                if error == Some(CellErrorKind::Lost) {
                    notebook.past.clear();
                }
                let keeps = error.is_none_or(CellErrorKind::keeps_session);
                if let Some((_, began, cell)) = ended.filter(|_| keeps) {
                    let took = Some(record.event.at.since(began));
                    notebook.past.push(PastCell { took, ..cell });
                }
            }
            _ => {}
        }
        for command in &record.commands {
            match command {
                Command::RunCell { ask, code, .. } => {
                    let notebook = self.of.entry(episode.clone()).or_default();
                    // A new owner sends the same cell again. What it asked before stays, to be answered from the
                    // record.
                    if notebook
                        .current
                        .as_ref()
                        .is_none_or(|(current, ..)| current != ask)
                    {
                        let cell = PastCell {
                            code: code.clone(),
                            asked: Vec::new(),
                            took: None,
                        };
                        notebook.current = Some((*ask, record.event.at, cell));
                    }
                }
                Command::AnswerCell { ask, answer } => {
                    self.answered(episode, *ask, answer.id);
                    let cell = self.current(episode, *ask);
                    let asked = cell.into_iter().flat_map(|cell| &mut cell.asked);
                    for asked in asked.filter(|asked| asked.question.id == answer.id) {
                        asked.reply = Some(answer.reply.clone());
                    }
                }
                Command::Finish { .. } => self.forget(episode),
                _ => {}
            }
        }
    }

    fn current(&mut self, episode: &EpisodeId, ask: AskId) -> Option<&mut PastCell> {
        let current = self.of.get_mut(episode)?.current.as_mut();
        let current = current.filter(|(current, ..)| *current == ask);
        current.map(|(.., cell)| cell)
    }

    pub(super) fn forget(&mut self, episode: &EpisodeId) {
        self.of.remove(episode);
        self.handed.retain(|(of, ..), _| of != episode);
    }

    /// Forgets the material of a question that is answered: its children are done with it.
    pub(super) fn answered(&mut self, episode: &EpisodeId, ask: AskId, id: u32) {
        self.handed.remove(&(episode.clone(), ask, id));
    }

    pub(super) fn hand(&mut self, episode: &EpisodeId, ask: AskId, question: &CellQuestion) {
        if let CellCall::Recurse { .. } = question.call {
            let key = (episode.clone(), ask, question.id);
            self.handed.insert(key, Box::new(question.clone()));
        }
    }
}
