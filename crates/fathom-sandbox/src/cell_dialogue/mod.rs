//! One cell in one worker: what is said until it ends.

use std::collections::BTreeMap;
use std::time::Duration;

use fathom_core::sandbox::{
    CellAnswer, CellCall, CellError, CellErrorKind, CellLimits, CellQuestion, CellResult,
};
use fathom_core::unit::Millis;
use tokio::select;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::Instant;

use crate::active_timer::ActiveTimer;
use crate::cell_progress::CellProgress;
use crate::clock;
use crate::frame_io::{FillState, FrameInbox, FrameOutbox, WireClosed};
use crate::frames::{self, FromWorker, ToWorker};
use crate::interpreter::WorkerHandle;
use crate::pool::{PoolSlot, REST};
use crate::question_log::{self, QuestionLog, RecordedAmount};
use crate::sandbox::SandboxShared;
use crate::session::CellEvent;

mod deadlines;

/// Bytes of open questions and of answers beyond which no further message is read while a question is open.
const OPEN_BYTES_MAX: usize = 12 << 20;

/// Interval of the checks of a cell's computing time. It counts beside an open question too, where its clock stands still.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Most messages of a cell that are no questions, beside those that go with its questions and its time.
const REMARKS_MAX: u64 = 20_000;

/// A worker sends fewer while its cell runs: drafts and what is printed are told now and then.
const REMARK_MILLIS_MIN: u64 = 3;

/// Most threads of a cell. Its interpreter allows fewer, which code may get around: all sessions together have a few thousand.
const THREADS_MAX: u64 = 256;

/// Longest time for a cell that asked what nobody can answer now. One of its threads may have asked more than before, which its
/// end does not wait for.
const STRAYED_MAX: Duration = Duration::from_secs(2);

/// Messages that may go with each question: what is printed and the draft are told again where time has passed.
const REMARKS_EACH: u64 = 2;

/// A worker in its place, with what is on its way.
#[derive(Debug)]
pub(crate) struct LiveWorker {
    pub(crate) worker: WorkerHandle,
    pub(crate) place: PoolSlot,
    pub(crate) inbox: FrameInbox,
    pub(crate) outbox: FrameOutbox,
    /// The limit that it was begun with.
    pub(crate) memory: u64,
}

/// The listener that receives a cell's questions and answers them.
#[derive(Debug)]
pub(crate) struct QuestionChannel {
    pub(crate) heard: mpsc::Sender<CellEvent>,
    pub(crate) answers: mpsc::Receiver<CellAnswer>,
}

/// End of a talk.
#[derive(Debug)]
pub(crate) enum DialogueEnd {
    Ended(Box<CellResult>),
    /// The cell waited for an answer, and its place was wanted by others.
    Evicted {
        /// Set when the answer has come meanwhile.
        answered: bool,
    },
    /// Nobody listens any more.
    Abandoned,
}

enum DialogueEvent {
    Abandoned,
    /// One of its times has come.
    Due,
    Answer(CellAnswer),
    Wanted,
    Sent(Result<(), WireClosed>),
    Frame(Result<FillState, WireClosed>),
}

struct OpenQuestions {
    /// The worker's number of the question.
    worker_id: u32,
    bytes: usize,
}

/// A cell that is run.
pub(crate) struct CellDialogue<'a> {
    shared: &'a SandboxShared,
    live: &'a mut LiveWorker,
    record: &'a mut QuestionLog,
    /// Nobody hears a past cell: all its answers are on record.
    ears: Option<&'a mut QuestionChannel>,
    cell: u32,
    limits: CellLimits,
    /// Longest time that it may work.
    time_max: Duration,
    /// Set when a replayed cell asked a different question.
    has_strayed: bool,
    open: BTreeMap<u32, OpenQuestions>,
    open_bytes: usize,
    asked: u32,
    remarks: u64,
    begun: Instant,
    watch: ActiveTimer,
    was_late: bool,
    /// Computing time of the process at the beginning and at the last look, and the time of the next look.
    computed: Option<Duration>,
    looked: Duration,
    look: Instant,
    /// Number of times it began to wait for answers, now and at the last look.
    pauses: u64,
    pauses_looked: u64,
    /// Since when it stands still because it computed beside its open questions, and there was no turn for that.
    halted: Option<Instant>,
    /// Time at which the place is offered to others.
    offer: Option<Instant>,
    permit: Option<OwnedSemaphorePermit>,
    said: CellProgress,
}

impl<'a> CellDialogue<'a> {
    pub(crate) fn new(
        shared: &'a SandboxShared,
        live: &'a mut LiveWorker,
        record: &'a mut QuestionLog,
        ears: Option<&'a mut QuestionChannel>,
        cell: u32,
        limits: CellLimits,
    ) -> Self {
        let time_max = Duration::from(limits.time);
        Self {
            shared,
            live,
            record,
            ears,
            cell,
            limits,
            time_max,
            has_strayed: false,
            open: BTreeMap::new(),
            open_bytes: 0,
            asked: 0,
            remarks: 0,
            begun: clock::now(),
            watch: ActiveTimer::new(time_max),
            was_late: false,
            computed: None,
            looked: Duration::ZERO,
            pauses: 0,
            pauses_looked: 0,
            halted: None,
            look: clock::now() + LOOK_EVERY,
            offer: None,
            permit: None,
            said: CellProgress::default(),
        }
    }

    /// Runs the code to its end.
    pub(crate) async fn run(mut self, code: &str) -> DialogueEnd {
        self.record.rewind();
        if !self.compute().await {
            return DialogueEnd::Abandoned;
        }
        self.computed = self.live.worker.process.load().map(|load| load.computed);
        self.look = clock::now() + LOOK_EVERY;
        self.live.worker.process.go_on();
        let frame = frames::encode(&ToWorker::Cell {
            cell: self.cell,
            code,
            output: self.limits.output,
            replayed: self.ears.is_none(),
        });
        self.live.outbox.push(frame);
        loop {
            let talked = match self.event().await {
                DialogueEvent::Abandoned => Some(DialogueEnd::Abandoned),
                DialogueEvent::Due => self.due().await,
                DialogueEvent::Wanted => Some(DialogueEnd::Evicted { answered: false }),
                DialogueEvent::Answer(answer) => self.answer(answer).await,
                DialogueEvent::Sent(Ok(())) => None,
                DialogueEvent::Frame(Ok(filled)) => self.filled(filled).await,
                DialogueEvent::Sent(Err(lost)) | DialogueEvent::Frame(Err(lost)) => {
                    Some(self.died(lost.words()))
                }
            };
            if let Some(talked) = talked {
                return talked;
            }
        }
    }

    async fn event(&mut self) -> DialogueEvent {
        let (paused, room) = (self.paused(), self.room());
        // One timer for all: each costs something at every message.
        let times = [self.deadline(), Some(self.look), self.offer];
        let due = times.into_iter().flatten().min();
        let LiveWorker {
            worker,
            place,
            inbox,
            outbox,
            ..
        } = &mut *self.live;
        let listen = async {
            match &mut self.ears {
                Some(ears) => select! {
                    () = ears.heard.closed() => DialogueEvent::Abandoned,
                    answer = ears.answers.recv() => answer.map_or(DialogueEvent::Abandoned, DialogueEvent::Answer),
                },
                None => std::future::pending().await,
            }
        };
        // In this order: whatever a worker sends, limits and answers come first.
        select! {
            biased;
            () = clock::until(due) => DialogueEvent::Due,
            event = listen => event,
            () = place.wanted(), if paused => DialogueEvent::Wanted,
            sent = outbox.flush(&worker.stream), if !outbox.is_empty() => DialogueEvent::Sent(sent),
            filled = inbox.fill(&worker.stream, room) => DialogueEvent::Frame(filled),
        }
    }

    /// Bytes that the next message may have. Where no question is open nothing would ever make room.
    fn room(&self) -> usize {
        if self.open.is_empty() {
            return usize::MAX;
        }
        OPEN_BYTES_MAX.saturating_sub(self.open_bytes + self.said.bytes())
    }

    /// Tells whether the cell waits for an answer, so that its time stands still.
    fn paused(&self) -> bool {
        !self.open.is_empty()
    }

    /// Waits for a turn to compute, and starts the time. False when nobody listens any more.
    async fn compute(&mut self) -> bool {
        self.wake();
        // It may have one for what it computed while it waited.
        self.permit = self.permit.take().or_else(|| self.shared.turn_now());
        if self.permit.is_none() {
            // None of its threads computes in the turns of others, and nothing that it began is late for that.
            self.live.worker.process.halt();
            self.live.inbox.rest();
            let begun = clock::now();
            let turn = self.shared.turn();
            self.permit = match &mut self.ears {
                Some(ears) => select! {
                    () = ears.heard.closed() => return false,
                    permit = turn => permit,
                },
                None => turn.await,
            };
            self.live.inbox.rested(clock::now() - begun);
            self.live.worker.process.go_on();
        }
        if self.live.inbox.waits() {
            // Those who have the room may need this turn before they can give it up.
            self.permit = None;
        } else {
            self.watch.start();
        }
        true
    }

    async fn answer(&mut self, answer: CellAnswer) -> Option<DialogueEnd> {
        let CellAnswer { id, reply } = answer;
        let open = self.open.remove(&id);
        self.record.answer(id, reply.clone());
        let open = open?;
        self.open_bytes -= open.bytes;
        self.wake();
        if self.open.is_empty() {
            self.offer = None;
            if !self.live.place.keep() {
                return Some(DialogueEnd::Evicted { answered: true });
            }
            if !self.compute().await {
                return Some(DialogueEnd::Abandoned);
            }
        }
        self.live.outbox.push_answer(open.worker_id, reply);
        None
    }

    async fn filled(&mut self, filled: FillState) -> Option<DialogueEnd> {
        match filled {
            FillState::Whole => return self.frame(),
            FillState::Waits => {
                self.watch.stop();
                self.permit = None;
            }
            FillState::Goes if self.paused() || self.compute().await => {}
            FillState::Goes => return Some(DialogueEnd::Abandoned),
        }
        None
    }

    fn frame(&mut self) -> Option<DialogueEnd> {
        let frame = self.live.inbox.take();
        let Ok(message) = FromWorker::parse(frame.json()) else {
            return Some(self.died("it sent something that is no message"));
        };
        if message.cell() < self.cell {
            // A thread that outlived its cell.
            return self.remark();
        }
        if message.cell() > self.cell {
            return Some(self.died("it sent a message of a cell to come"));
        }
        match message {
            FromWorker::Ask { id, call, .. } => {
                let amount = RecordedAmount {
                    count: u32::try_from(call.count()).unwrap_or(u32::MAX),
                    bytes: frame.json().len() as u64,
                };
                self.question(id, call.into(), amount)
            }
            FromWorker::Submit { value, .. } => {
                self.said.submit(value.into());
                self.remark()
            }
            FromWorker::Draft { value, .. } => {
                self.said.draft(value.into());
                self.remark()
            }
            FromWorker::Printed { output, .. } => {
                self.said.print(output.kept(self.limits.output));
                self.remark()
            }
            FromWorker::End {
                output,
                draft,
                error,
                ..
            } => {
                self.said.print(output.kept(self.limits.output));
                if let Some(draft) = draft {
                    self.said.draft(draft.into());
                }
                // It may have begun them since the last look, and they would outlive it.
                let load = self.live.worker.process.load();
                if load.is_some_and(|load| load.threads > THREADS_MAX) {
                    return Some(self.crowded());
                }
                let end = self.end(error.map(CellError::from));
                Some(DialogueEnd::Ended(Box::new(end)))
            }
        }
    }

    fn remark(&mut self) -> Option<DialogueEnd> {
        self.remarks += 1;
        let passed = (clock::now() - self.begun).as_millis() / u128::from(REMARK_MILLIS_MIN);
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        let most = REMARKS_MAX + u64::from(self.asked) * REMARKS_EACH;
        (self.remarks > most.saturating_add(passed)).then(|| self.died("it sent too many messages"))
    }

    fn question(
        &mut self,
        worker_id: u32,
        call: CellCall,
        amount: RecordedAmount,
    ) -> Option<DialogueEnd> {
        self.asked = self.asked.saturating_add(amount.count);
        let hash = question_log::hash(&call);
        let id = match self.record.find(hash) {
            Some((_, Some(reply))) => {
                self.live.outbox.push_answer(worker_id, reply.clone());
                return None;
            }
            Some((id, None)) => id,
            None => {
                let too_much = self.asks_too_much(amount);
                let Some(ears) = &mut self.ears else {
                    if !std::mem::replace(&mut self.has_strayed, true) {
                        self.watch.leave(STRAYED_MAX);
                    }
                    return None;
                };
                if let Some(words) = too_much {
                    return Some(self.broke(CellErrorKind::TooManyQuestions, &words));
                }
                let id = self.record.add(hash, amount);
                let draft = self.said.news(self.record.drafts_left());
                self.record.drafted(draft.as_ref());
                let question = CellQuestion { id, call, draft };
                if ears.heard.try_send(CellEvent::Asked(question)).is_err() {
                    return Some(DialogueEnd::Abandoned);
                }
                id
            }
        };
        if self.ears.is_some() {
            if self.open.is_empty() {
                self.pauses += 1;
                self.watch.stop();
                self.permit = None;
                self.offer = Some(clock::now() + REST);
            }
            let bytes = usize::try_from(amount.bytes).unwrap_or(usize::MAX);
            self.open.insert(id, OpenQuestions { worker_id, bytes });
            self.open_bytes += bytes;
        }
        None
    }

    /// The reason for refusing so many more questions, if any. It counts over all tries of a cell: earlier questions are not
    /// asked again.
    fn asks_too_much(&self, more: RecordedAmount) -> Option<String> {
        let CellLimits {
            questions,
            question_bytes,
            ..
        } = self.limits;
        let asked = self.record.with(more);
        if asked.count > questions {
            return Some(format!("it asked more than {questions} questions"));
        }
        (asked.bytes > question_bytes)
            .then(|| format!("its questions have more than {question_bytes} bytes together"))
    }

    fn crowded(&mut self) -> DialogueEnd {
        self.died(&format!("it has more than {THREADS_MAX} threads"))
    }

    fn died(&mut self, words: &str) -> DialogueEnd {
        self.broke(CellErrorKind::Died, words)
    }

    fn broke(&mut self, kind: CellErrorKind, words: &str) -> DialogueEnd {
        let error = CellError {
            kind,
            message: words.into(),
        };
        DialogueEnd::Ended(Box::new(self.end(Some(error))))
    }

    fn end(&mut self, error: Option<CellError>) -> CellResult {
        self.watch.stop();
        let took = u64::try_from(self.watch.used().as_millis()).unwrap_or(u64::MAX);
        self.said.end(error, Millis(took))
    }
}
