//! A session: cells that run one after the other and share their variables.

use std::collections::BTreeSet;

use fathom_core::sandbox::{
    CellAnswer, CellError, CellErrorKind, CellLimits, CellQuestion, CellResult,
};
use fathom_core::text::Text;
use tokio::sync::mpsc;

use crate::cell_dialogue::QuestionChannel;
use crate::error::SandboxError;
use crate::question_log::{QuestionLog, RecordedQuestion};
use crate::session_task::{CellJob, FinishedCell, SessionTask};

/// Room for what a cell says; the limit of questions is checked before.
const CHANNEL_MAX: usize = 1 << 20;

/// A cell to run.
#[derive(Clone, Debug, Default)]
pub struct SessionCell {
    pub code: Text,
    pub limits: CellLimits,
    /// Questions that an earlier try of this cell has already asked.
    pub asked: Vec<RecordedQuestion>,
}

/// Messages from a running cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellEvent {
    /// It wants to know something.
    Asked(CellQuestion),
    Ended(CellResult),
}

/// Cells that run one after the other and share their variables. Dropping it ends its process.
#[derive(Debug)]
pub struct SandboxSession {
    /// Until the first cell begins.
    driver: Option<SessionTask>,
    jobs: mpsc::Sender<CellJob>,
    queue: Option<mpsc::Receiver<CellJob>>,
    running: Option<RunningCell>,
}

#[derive(Debug)]
struct RunningCell {
    heard: mpsc::Receiver<CellEvent>,
    answers: mpsc::Sender<CellAnswer>,
    open: BTreeSet<u32>,
}

impl SandboxSession {
    pub(crate) fn new(driver: SessionTask) -> Self {
        let (jobs, queue) = mpsc::channel(1);
        Self {
            driver: Some(driver),
            jobs,
            queue: Some(queue),
            running: None,
        }
    }

    /// Begins a cell. What it asks, and its end, are told by [`Self::next`].
    pub async fn run(&mut self, cell: SessionCell) -> Result<(), SandboxError> {
        if self.running.is_some() {
            return Err(SandboxError::Busy);
        }
        if let Some((driver, queue)) = self.driver.take().zip(self.queue.take()) {
            tokio::spawn(driver.run(queue));
        }
        let room = (cell.limits.questions as usize).min(CHANNEL_MAX) + cell.asked.len() + 2;
        let (tell, heard) = mpsc::channel(room);
        let (answers, answered) = mpsc::channel(room);
        let open = cell.asked.iter();
        let open = open
            .filter(|asked| asked.reply.is_none())
            .map(|asked| asked.question.id)
            .collect();
        let job = CellJob {
            code: cell.code,
            limits: cell.limits,
            record: QuestionLog::new(cell.asked),
            ears: QuestionChannel {
                heard: tell,
                answers: answered,
            },
        };
        self.jobs
            .send(job)
            .await
            .map_err(|_| SandboxError::BaseFailed {
                what: "the session's task ended".to_owned(),
            })?;
        self.running = Some(RunningCell {
            heard,
            answers,
            open,
        });
        Ok(())
    }

    /// The next thing that is heard from the cell; nothing comes while none runs. Giving up the wait loses nothing.
    pub async fn next(&mut self) -> CellEvent {
        let Some(running) = &mut self.running else {
            return std::future::pending().await;
        };
        match running.heard.recv().await {
            Some(CellEvent::Asked(question)) => {
                running.open.insert(question.id);
                CellEvent::Asked(question)
            }
            Some(ended) => {
                self.running = None;
                ended
            }
            None => {
                self.running = None;
                CellEvent::Ended(CellResult {
                    error: Some(CellError {
                        kind: CellErrorKind::Died,
                        message: "the session's task ended".into(),
                    }),
                    ..CellResult::default()
                })
            }
        }
    }

    /// Answers a question of the cell that runs, once.
    pub fn answer(&mut self, answer: CellAnswer) -> Result<(), SandboxError> {
        let id = answer.id;
        let not_open = SandboxError::NotOpen { id };
        let Some(running) = &mut self.running else {
            return Err(not_open);
        };
        if !running.open.remove(&id) {
            return Err(not_open);
        }
        // There is room for each question's answer. A cell that ended meanwhile needs none.
        let _ended = running.answers.try_send(answer);
        Ok(())
    }
}

impl From<crate::question_log::PastCell> for FinishedCell {
    fn from(past: crate::question_log::PastCell) -> Self {
        Self {
            code: past.code,
            record: QuestionLog::new(past.asked),
            took: past.took,
        }
    }
}
