//! The task behind a session: it runs its cells one after the other, gives its process up when others need it, and brings it
//! back by running the cells again with the answers they got.

use std::error::Error;
use std::sync::Arc;

use fathom_core::sandbox::{CellError, CellErrorKind, CellLimits, CellResult};
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use tokio::select;
use tokio::sync::mpsc;

use crate::cell_dialogue::{CellDialogue, DialogueEnd, LiveWorker, QuestionChannel};
use crate::clock;
use crate::error::SandboxError;
use crate::frame_io::{FrameInbox, FrameOutbox};
use crate::pool::REST;
use crate::question_log::QuestionLog;
use crate::sandbox::{SandboxContext, SandboxShared};
use crate::session::CellEvent;

/// A cell to run.
#[derive(Debug)]
pub(crate) struct CellJob {
    pub(crate) code: Text,
    pub(crate) limits: CellLimits,
    pub(crate) record: QuestionLog,
    pub(crate) ears: QuestionChannel,
}

/// A cell that ended, and whose session lived on.
#[derive(Debug)]
pub(crate) struct FinishedCell {
    pub(crate) code: Text,
    pub(crate) record: QuestionLog,
    /// Time from beginning to end, if known.
    pub(crate) took: Option<Millis>,
}

/// A cell that runs again may take so many times as long as it may, and so many times as long as it took and this: others may
/// compute beside it now. What it did while it waited for answers is done again, too.
const AGAIN_TIMES: u64 = 4;
const AGAIN_TOOK_TIMES: u64 = 8;
const AGAIN_MORE: u64 = 2_000;

impl FinishedCell {
    fn limits(&self, limits: &CellLimits) -> CellLimits {
        let longest = limits.time.0.saturating_mul(AGAIN_TIMES);
        let like_before = |took: Millis| took.0.saturating_mul(AGAIN_TOOK_TIMES) + AGAIN_MORE;
        CellLimits {
            time: Millis(self.took.map_or(longest, like_before).min(longest)),
            ..*limits
        }
    }
}

/// A session's own side.
#[derive(Debug)]
pub(crate) struct SessionTask {
    pub(crate) shared: Arc<SandboxShared>,
    pub(crate) context: SandboxContext,
    pub(crate) history: Vec<FinishedCell>,
    pub(crate) live: Option<LiveWorker>,
}

/// Reasons for having no worker to talk to.
enum WorkerUnavailable {
    Abandoned,
    Ended(Box<CellResult>),
}

impl SessionTask {
    /// Runs jobs until nobody can send one.
    pub(crate) async fn run(mut self, mut jobs: mpsc::Receiver<CellJob>) {
        while let Some(job) = self.next(&mut jobs).await {
            self.cell(job).await;
        }
    }

    /// The next job. The process waits with us, unless its place is wanted.
    async fn next(&mut self, jobs: &mut mpsc::Receiver<CellJob>) -> Option<CellJob> {
        if let Some(live) = &mut self.live {
            select! {
                // A job that is there comes before the offer: a place that is given up costs a replay.
                biased;
                job = jobs.recv() => return job,
                () = clock::until(Some(clock::now() + REST)) => live.place.offer(),
            }
            select! {
                biased;
                job = jobs.recv() => return job,
                () = live.place.wanted() => {}
            }
            self.live = None;
        }
        jobs.recv().await
    }

    async fn cell(&mut self, job: CellJob) {
        let CellJob {
            code,
            limits,
            mut record,
            mut ears,
        } = job;
        let begun = clock::now();
        let end = loop {
            let mut live = match self.open(&limits, &mut ears).await {
                Ok(live) => live,
                Err(WorkerUnavailable::Abandoned) => return,
                Err(WorkerUnavailable::Ended(end)) => break *end,
            };
            let talk = CellDialogue::new(
                &self.shared,
                &mut live,
                &mut record,
                Some(&mut ears),
                number(self.history.len()),
                limits,
            );
            match talk.run(code.as_str()).await {
                DialogueEnd::Abandoned => return,
                DialogueEnd::Ended(end) => {
                    let lives = end.error.as_ref().is_none_or(|e| e.kind.keeps_session());
                    if lives {
                        // A thread that outlived the cell must not compute in the turns of others.
                        live.worker.process.halt();
                        self.live = Some(live);
                        let took = u64::try_from((clock::now() - begun).as_millis());
                        let took = took.ok().map(Millis);
                        self.history.push(FinishedCell { code, record, took });
                    }
                    break *end;
                }
                DialogueEnd::Evicted { answered } => {
                    drop(live);
                    if !answered && !wait_for_answer(&mut ears, &mut record).await {
                        return;
                    }
                }
            }
        };
        // Nobody listens when it fails.
        let _unheard = ears.heard.send(CellEvent::Ended(end)).await;
    }

    /// The worker, with the session's past behind it.
    async fn open(
        &mut self,
        limits: &CellLimits,
        ears: &mut QuestionChannel,
    ) -> Result<LiveWorker, WorkerUnavailable> {
        if let Some(mut live) = self.live.take()
            // A process keeps the limit that it was begun with.
            && live.memory == limits.memory
            && live.place.keep()
        {
            return Ok(live);
        }
        let place = select! {
            () = ears.heard.closed() => return Err(WorkerUnavailable::Abandoned),
            place = self.shared.pool.place() => place,
        };
        let worker = self
            .context
            .template()
            .open(&self.shared, limits.memory)
            .await
            .map_err(|error| WorkerUnavailable::Ended(Box::new(unavailable(&error))))?;
        let mut live = LiveWorker {
            worker,
            place,
            inbox: FrameInbox::default(),
            outbox: FrameOutbox::default(),
            memory: limits.memory,
        };
        for (index, past) in self.history.iter_mut().enumerate() {
            if ears.heard.is_closed() {
                return Err(WorkerUnavailable::Abandoned);
            }
            let limits = past.limits(limits);
            let talk = CellDialogue::new(
                &self.shared,
                &mut live,
                &mut past.record,
                None,
                number(index),
                limits,
            );
            if let DialogueEnd::Ended(end) = talk.run(past.code.as_str()).await
                && let Some(error) = end.error
                && !error.kind.keeps_session()
            {
                let lost = lost(index, &error);
                // They would hardly fare better the next time.
                self.history.clear();
                return Err(WorkerUnavailable::Ended(Box::new(lost)));
            }
        }
        Ok(live)
    }
}

/// Cells count from 1.
fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

/// Waits until the cell can go on. False when nobody listens any more.
async fn wait_for_answer(ears: &mut QuestionChannel, record: &mut QuestionLog) -> bool {
    let answer = select! {
        () = ears.heard.closed() => None,
        answer = ears.answers.recv() => answer,
    };
    let Some(answer) = answer else {
        return false;
    };
    record.answer(answer.id, answer.reply);
    while let Ok(answer) = ears.answers.try_recv() {
        record.answer(answer.id, answer.reply);
    }
    true
}

fn unavailable(error: &SandboxError) -> CellResult {
    let mut words = format!("{error} ({})", error.code());
    if let Some(source) = error.source() {
        words = format!("{words}: {source}");
    }
    broken(CellErrorKind::Unavailable, words)
}

fn lost(index: usize, error: &CellError) -> CellResult {
    let words = format!(
        "the session could not be brought back: when cell {} ran again, {}",
        index + 1,
        error.message.as_str()
    );
    broken(CellErrorKind::Lost, words)
}

fn broken(kind: CellErrorKind, words: String) -> CellResult {
    CellResult {
        error: Some(CellError {
            kind,
            message: words.into(),
        }),
        ..CellResult::default()
    }
}
