//! One cell in one worker: what is said until it ends.

use std::collections::BTreeMap;
use std::time::Duration;

use fathom_core::cell::{
    CellAnswer, CellCall, CellEnd, CellError, CellErrorKind, CellLimits, CellQuestion, Output,
    Value,
};
use fathom_core::unit::Millis;
use tokio::select;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::Instant;

use crate::clock;
use crate::engine::Worker;
use crate::frames::{self, FromWorker, ToWorker};
use crate::pool::{Place, REST};
use crate::record::{self, Record};
use crate::sandbox::Shared;
use crate::session::Heard;
use crate::wire::{Inbox, Lost, Outbox};

/// Bytes of open questions from which on no further one is read.
const OPEN_BYTES_MAX: usize = 32 << 20;

/// How often a cell's computing time is looked at. It counts beside an open question too, where its clock stands still.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Most messages of a cell that are no questions, beside those that go with its questions.
const REMARKS_MAX: u32 = 20_000;

/// Messages that may go with each question: what is printed and the draft are told again where time has passed.
const REMARKS_EACH: u32 = 2;

/// A worker in its place, with what is on its way.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) worker: Worker,
    pub(crate) place: Place,
    pub(crate) inbox: Inbox,
    pub(crate) outbox: Outbox,
    /// The limit that it was begun with.
    pub(crate) memory: u64,
}

/// Who hears of a cell's questions and answers them.
#[derive(Debug)]
pub(crate) struct Ears {
    pub(crate) heard: mpsc::Sender<Heard>,
    pub(crate) answers: mpsc::Receiver<CellAnswer>,
}

/// How a talk ended.
#[derive(Debug)]
pub(crate) enum Talked {
    /// The cell ended.
    Ended(Box<CellEnd>),
    /// The cell waited for an answer, and its place was wanted by others.
    Evicted {
        /// Whether the answer has come meanwhile.
        answered: bool,
    },
    /// Nobody listens any more.
    Abandoned,
}

enum Event {
    Abandoned,
    /// One of its times has come.
    Due,
    Answer(CellAnswer),
    Wanted,
    Sent(Result<(), Lost>),
    Frame(Result<(), Lost>),
}

struct Open {
    /// The worker's number of the question.
    worker_id: u32,
    bytes: usize,
}

/// A cell that is run.
pub(crate) struct Talk<'a> {
    shared: &'a Shared,
    live: &'a mut Live,
    record: &'a mut Record,
    /// Nobody hears a past cell: all its answers are on record.
    ears: Option<&'a mut Ears>,
    cell: u32,
    limits: CellLimits,
    open: BTreeMap<u32, Open>,
    open_bytes: usize,
    asked: u32,
    asked_bytes: u64,
    remarks: u32,
    watch: Watch,
    /// What the process had computed before, and when to look again.
    computed: Option<Duration>,
    look: Instant,
    /// When the place is offered to others.
    offer: Option<Instant>,
    permit: Option<OwnedSemaphorePermit>,
    submitted: Option<Value>,
    draft: Option<Value>,
    printed: Output,
}

impl<'a> Talk<'a> {
    pub(crate) fn new(
        shared: &'a Shared,
        live: &'a mut Live,
        record: &'a mut Record,
        ears: Option<&'a mut Ears>,
        cell: u32,
        limits: CellLimits,
    ) -> Self {
        Self {
            shared,
            live,
            record,
            ears,
            cell,
            limits,
            open: BTreeMap::new(),
            open_bytes: 0,
            asked: 0,
            asked_bytes: 0,
            remarks: 0,
            watch: Watch::new(limits.time.into()),
            computed: None,
            look: clock::now() + LOOK_EVERY,
            offer: None,
            permit: None,
            submitted: None,
            draft: None,
            printed: Output::default(),
        }
    }

    /// Runs the code to its end.
    pub(crate) async fn run(mut self, code: &str) -> Talked {
        self.record.rewind();
        if !self.compute().await {
            return Talked::Abandoned;
        }
        self.computed = self.live.worker.process.computed();
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
                Event::Abandoned => Some(Talked::Abandoned),
                Event::Due => self.due(),
                Event::Wanted => Some(Talked::Evicted { answered: false }),
                Event::Answer(answer) => self.answer(answer).await,
                Event::Sent(Ok(())) => None,
                Event::Frame(Ok(())) => self.frame(),
                Event::Sent(Err(lost)) | Event::Frame(Err(lost)) => Some(self.died(lost.words())),
            };
            if let Some(talked) = talked {
                return talked;
            }
        }
    }

    async fn event(&mut self) -> Event {
        let paused = self.paused();
        // One timer for all: each costs something at every message.
        let times = [self.deadline(), Some(self.look), self.offer];
        let due = times.into_iter().flatten().min();
        let Live {
            worker,
            place,
            inbox,
            outbox,
            ..
        } = &mut *self.live;
        let listen = async {
            match &mut self.ears {
                Some(ears) => select! {
                    () = ears.heard.closed() => Event::Abandoned,
                    answer = ears.answers.recv() => answer.map_or(Event::Abandoned, Event::Answer),
                },
                None => std::future::pending().await,
            }
        };
        // In this order: whatever a worker sends, limits and answers come first.
        select! {
            biased;
            () = clock::until(due) => Event::Due,
            event = listen => event,
            () = place.wanted(), if paused => Event::Wanted,
            sent = outbox.flush(&worker.stream), if !outbox.is_empty() => Event::Sent(sent),
            filled = inbox.fill(&worker.stream), if self.open_bytes < OPEN_BYTES_MAX => Event::Frame(filled),
        }
    }

    /// Whether the cell waits for an answer, so that its time stands still.
    fn paused(&self) -> bool {
        !self.open.is_empty()
    }

    /// When the worker must have done what it is about.
    fn deadline(&self) -> Option<Instant> {
        let reads = self.live.outbox.deadline().filter(|_| self.paused());
        let works = self.watch.deadline();
        [reads, works, self.live.inbox.deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Waits for a turn to compute, and starts the time. False when nobody listens any more.
    async fn compute(&mut self) -> bool {
        let turn = self.shared.turn();
        let permit = match &mut self.ears {
            Some(ears) => select! {
                () = ears.heard.closed() => return false,
                permit = turn => permit,
            },
            None => turn.await,
        };
        self.permit = permit;
        self.watch.start();
        true
    }

    async fn answer(&mut self, answer: CellAnswer) -> Option<Talked> {
        let CellAnswer { id, reply } = answer;
        let open = self.open.remove(&id);
        self.record.answer(id, reply.clone());
        let open = open?;
        self.open_bytes -= open.bytes;
        if self.open.is_empty() {
            self.offer = None;
            if !self.live.place.keep() {
                return Some(Talked::Evicted { answered: true });
            }
            if !self.compute().await {
                return Some(Talked::Abandoned);
            }
        }
        self.live.outbox.push_answer(open.worker_id, reply);
        None
    }

    fn frame(&mut self) -> Option<Talked> {
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
                let count = u32::try_from(call.count()).unwrap_or(u32::MAX);
                self.asked = self.asked.saturating_add(count);
                if self.asked > self.limits.questions {
                    let words = format!("it asked more than {} questions", self.limits.questions);
                    return Some(self.broke(CellErrorKind::TooManyQuestions, &words));
                }
                self.asked_bytes = self.asked_bytes.saturating_add(frame.json().len() as u64);
                if self.asked_bytes > self.limits.question_bytes {
                    let most = self.limits.question_bytes;
                    let words = format!("its questions have more than {most} bytes together");
                    return Some(self.broke(CellErrorKind::TooManyQuestions, &words));
                }
                self.question(id, call.into(), frame.json().len())
            }
            FromWorker::Submit { value, .. } => {
                self.submitted.get_or_insert_with(|| value.into());
                self.remark()
            }
            FromWorker::Draft { value, .. } => {
                self.draft = Some(value.into());
                self.remark()
            }
            FromWorker::Printed { output, .. } => {
                self.printed = output.kept(self.limits.output);
                self.remark()
            }
            FromWorker::End {
                output,
                draft,
                error,
                ..
            } => {
                self.printed = output.kept(self.limits.output);
                if let Some(draft) = draft {
                    self.draft = Some(draft.into());
                }
                let end = self.end(error.map(CellError::from));
                Some(Talked::Ended(Box::new(end)))
            }
        }
    }

    fn remark(&mut self) -> Option<Talked> {
        self.remarks = self.remarks.saturating_add(1);
        let most = REMARKS_MAX.saturating_add(self.asked.saturating_mul(REMARKS_EACH));
        (self.remarks > most).then(|| self.died("it sent too many messages"))
    }

    fn question(&mut self, worker_id: u32, call: CellCall, bytes: usize) -> Option<Talked> {
        let hash = record::hash(&call);
        let id = match self.record.find(hash) {
            Some((_, Some(reply))) => {
                self.live.outbox.push_answer(worker_id, reply.clone());
                return None;
            }
            Some((id, None)) => id,
            None => {
                let Some(ears) = &mut self.ears else {
                    return Some(self.died("it asked something else than before"));
                };
                let id = self.record.add(hash);
                let question = CellQuestion { id, call };
                if ears.heard.try_send(Heard::Asked(question)).is_err() {
                    return Some(Talked::Abandoned);
                }
                id
            }
        };
        if self.ears.is_some() {
            if self.open.is_empty() {
                self.watch.stop();
                self.permit = None;
                self.offer = Some(clock::now() + REST);
            }
            self.open.insert(id, Open { worker_id, bytes });
            self.open_bytes += bytes;
        }
        None
    }

    fn due(&mut self) -> Option<Talked> {
        let now = clock::now();
        if self.deadline().is_some_and(|then| then <= now) {
            return Some(self.late(now));
        }
        if self.look <= now {
            return self.look();
        }
        if self.offer.take_if(|then| *then <= now).is_some() {
            self.live.place.offer();
        }
        None
    }

    fn look(&mut self) -> Option<Talked> {
        self.look = clock::now() + LOOK_EVERY;
        let before = self.computed?;
        let computed = self.live.worker.process.computed()?.saturating_sub(before);
        (computed > self.limits.time.into()).then(|| self.timed_out())
    }

    fn late(&mut self, now: Instant) -> Talked {
        if self.watch.deadline().is_some_and(|then| then <= now) {
            return self.timed_out();
        }
        if self.live.inbox.deadline().is_some_and(|then| then <= now) {
            return self.died("it did not end its message");
        }
        self.died("it does not read its answers")
    }

    fn timed_out(&mut self) -> Talked {
        let words = format!("it worked for more than {} ms", self.limits.time.0);
        self.broke(CellErrorKind::TimedOut, &words)
    }

    fn died(&mut self, words: &str) -> Talked {
        self.broke(CellErrorKind::Died, words)
    }

    fn broke(&mut self, kind: CellErrorKind, words: &str) -> Talked {
        let error = CellError {
            kind,
            message: words.into(),
        };
        Talked::Ended(Box::new(self.end(Some(error))))
    }

    fn end(&mut self, error: Option<CellError>) -> CellEnd {
        self.watch.stop();
        let submitted = self.submitted.take();
        CellEnd {
            draft: self.draft.take().filter(|_| submitted.is_none()),
            submitted,
            error,
            took: Millis(u64::try_from(self.watch.used.as_millis()).unwrap_or(u64::MAX)),
            output: std::mem::take(&mut self.printed),
        }
    }
}

/// Counts the time in which a cell works by itself.
struct Watch {
    limit: Duration,
    used: Duration,
    since: Option<Instant>,
}

impl Watch {
    fn new(limit: Duration) -> Self {
        Self {
            limit,
            used: Duration::ZERO,
            since: None,
        }
    }

    fn start(&mut self) {
        self.since.get_or_insert_with(clock::now);
    }

    fn stop(&mut self) {
        if let Some(since) = self.since.take() {
            self.used += clock::now() - since;
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let left = self.limit.saturating_sub(self.used);
        // A limit beyond all time is none.
        self.since.and_then(|since| since.checked_add(left))
    }
}
