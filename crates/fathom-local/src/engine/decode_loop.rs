//! The engine's thread: takes jobs, reads their prompts and writes their replies, several at a time.
//!
//! A step is one batch: a token of every call that is writing, and parts of the prompts that are still to be
//! read. Between steps calls come, go and are cancelled. A call whose prompt starts like one that is being read
//! waits for that beginning instead of reading it too.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use fathom_core::model::FinishReason;
use fathom_core::model::failure::FailureKind;
use llama_cpp_2::DecodeError;
use llama_cpp_2::llama_batch::LlamaBatch;

use super::cache::{SHARED_TOKENS_MIN, SequenceCache, SequenceSlot, common};
use super::jobs::{ActiveJob, EngineCounters, EngineJob};
use super::load_monitor::{LoadMonitor, waited};
use super::tokenizer::ModelTokenizer;
use super::{EnginePlan, cpu, sampling};

/// Time for which an idle engine waits for calls that come together with the first.
const GATHER: Duration = Duration::from_millis(2);
/// Cells kept free for the output of a call. More are found when needed.
const HEADROOM_TOKENS: usize = 256;

/// State that outlives a cache: the queue and the load of the machine.
pub(crate) struct EngineQueue {
    jobs: Receiver<EngineJob>,
    waiting: VecDeque<ActiveJob>,
    counters: Arc<EngineCounters>,
    plan: EnginePlan,
    strain: LoadMonitor,
    /// True if no caller is left.
    closed: bool,
}

impl EngineQueue {
    pub(crate) fn new(
        plan: EnginePlan,
        jobs: Receiver<EngineJob>,
        counters: Arc<EngineCounters>,
    ) -> Self {
        Self {
            jobs,
            waiting: VecDeque::new(),
            counters,
            plan,
            strain: LoadMonitor::new(plan.threads),
            closed: false,
        }
    }

    /// Serves calls with `cache`, and with a new one whenever the number of threads changes, until no caller is
    /// left.
    pub(crate) fn serve<'m>(
        mut self,
        vocabulary: &'m ModelTokenizer,
        mut cache: SequenceCache<'m>,
    ) {
        loop {
            DecodeLoop {
                vocabulary,
                cache,
                batch: LlamaBatch::new(self.plan.batch_tokens as usize, 1),
                active: Vec::new(),
                desk: &mut self,
            }
            .run();
            if self.closed {
                return;
            }
            tracing::debug!(
                threads = self.strain.threads(),
                "the engine changes its threads"
            );
            match SequenceCache::new(&vocabulary.model, &self.plan, self.strain.threads()) {
                Ok(next) => cache = next,
                Err(error) => {
                    for turn in self.waiting.drain(..) {
                        turn.fail(FailureKind::Server, &error.to_string());
                    }
                    return;
                }
            }
        }
    }
}

struct DecodeLoop<'m, 'd> {
    vocabulary: &'m ModelTokenizer,
    cache: SequenceCache<'m>,
    batch: LlamaBatch<'m>,
    desk: &'d mut EngineQueue,
    /// Oldest first.
    active: Vec<ActiveBatch>,
}

struct ActiveBatch {
    turn: ActiveJob,
    seat: SequenceSlot,
    /// Tokens in the current batch.
    batched: usize,
    /// Row of the batch with the logits of the next token.
    row: Option<i32>,
}

impl ActiveBatch {
    fn unread(&self) -> usize {
        self.turn.tokens.len() - self.seat.cells.len()
    }

    /// Cells it will need soon.
    fn wants(&self) -> usize {
        self.unread() + self.turn.left_to_write().min(HEADROOM_TOKENS)
    }
}

enum TokenVerdict {
    Goes,
    Ends(FinishReason),
    Fails(String),
}

impl DecodeLoop<'_, '_> {
    /// Works until no caller is left, or until another number of threads is better.
    fn run(mut self) {
        while self.take_jobs() {
            self.drop_abandoned();
            self.admit();
            self.step();
            if self.desk.strain.step(cpu::now(), waited()) {
                while self.set_back_youngest(0) {}
                return;
            }
        }
    }

    /// Takes new jobs; waits only if there is nothing else to do. Returns false if this worker is to end.
    fn take_jobs(&mut self) -> bool {
        if self.active.is_empty() && self.desk.waiting.is_empty() {
            return self.rest();
        }
        loop {
            match self.desk.jobs.try_recv() {
                Ok(job) => self.desk.waiting.push_back(ActiveJob::new(job)),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return true,
            }
        }
    }

    /// Waits for a call, and for those that come with it.
    fn rest(&mut self) -> bool {
        let Ok(job) = self.desk.jobs.recv() else {
            self.desk.closed = true;
            return false;
        };
        self.desk.waiting.push_back(ActiveJob::new(job));
        while let Ok(job) = self.desk.jobs.recv_timeout(GATHER) {
            self.desk.waiting.push_back(ActiveJob::new(job));
        }
        !self.desk.strain.rest(cpu::now())
    }

    fn drop_abandoned(&mut self) {
        self.desk.waiting.retain(|turn| !turn.is_abandoned());
        // From the end, so that a removal does not move what is still to be visited.
        for index in (0..self.active.len()).rev() {
            if self.active[index].turn.is_abandoned() {
                let gone = self.active.remove(index);
                self.cache.keep(gone.seat, gone.turn.tokens);
            }
        }
    }

    /// Lets waiting calls start, in order, as long as there is room.
    fn admit(&mut self) {
        let mut index = 0;
        while index < self.desk.waiting.len()
            && self.active.len() < self.desk.plan.sequences as usize
        {
            if self.should_wait_for_a_beginning(index) {
                index += 1;
                continue;
            }
            let Some(turn) = self.desk.waiting.remove(index) else {
                return;
            };
            // None overtakes it: a stream of small calls could keep a large one waiting for ever.
            if let Err(turn) = self.begin(turn) {
                self.desk.waiting.insert(index, turn);
                return;
            }
        }
    }

    /// True if another call is about to read the beginning of this one.
    fn should_wait_for_a_beginning(&self, index: usize) -> bool {
        if !self.cache.shares() {
            return false;
        }
        let tokens = &self.desk.waiting[index].tokens;
        let mut at_hand = self.cache.kept_in_common(tokens);
        let mut promised = 0;
        for other in &self.active {
            let in_common = common(&other.turn.tokens, tokens);
            let read = other.seat.cells.len();
            at_hand = at_hand.max(in_common.min(read));
            // A call that writes reads its own tokens one by one; only readers bring a beginning.
            if other.unread() > 1 {
                promised = promised.max(in_common);
            }
        }
        promised >= at_hand + SHARED_TOKENS_MIN
    }

    /// Gives `turn` a sequence that starts with as much as others have read of it.
    fn begin(&mut self, mut turn: ActiveJob) -> Result<(), ActiveJob> {
        let Some(mut seat) = self.cache.seat() else {
            return Err(turn);
        };
        if self.cache.shares() {
            self.share(&mut seat, &turn);
        }
        let wanted: usize = self.active.iter().map(ActiveBatch::wants).sum();
        let needed =
            turn.tokens.len() - seat.cells.len() + turn.left_to_write().min(HEADROOM_TOKENS);
        // Alone it may start anyway: room is made for it step by step.
        if !self.cache.make_room(wanted + needed) && !self.active.is_empty() {
            self.cache.leave(seat);
            return Err(turn);
        }
        EngineCounters::add(&self.desk.counters.tokens_shared, seat.cells.len());
        turn.begin(cpu::now(), seat.cells.len());
        self.active.push(ActiveBatch {
            turn,
            seat,
            batched: 0,
            row: None,
        });
        Ok(())
    }

    fn share(&mut self, seat: &mut SequenceSlot, turn: &ActiveJob) {
        // The last token is always read again: its logits are what is needed.
        let tokens = &turn.tokens[..turn.tokens.len().saturating_sub(1)];
        let best = self
            .active
            .iter()
            .map(|other| common(&other.turn.tokens[..other.seat.cells.len()], tokens))
            .enumerate()
            .max_by_key(|(_, count)| *count);
        match best {
            Some((donor, count))
                if count >= SHARED_TOKENS_MIN && count >= self.cache.kept_in_common(tokens) =>
            {
                self.cache.share(&self.active[donor].seat, seat, count);
            }
            _ => self.cache.share_kept(seat, tokens),
        }
    }

    /// Computes one batch and lets the calls in it write.
    fn step(&mut self) {
        let planned = loop {
            let planned = self.plan_batch();
            if self.cache.make_room(planned) || !self.set_back_youngest(1) {
                break planned;
            }
        };
        if planned == 0 {
            return self.fail_stuck();
        }
        if !self.fill_batch() {
            return;
        }
        let begin = cpu::now();
        let computed = self.cache.compute(&mut self.batch);
        let end = cpu::now();
        self.desk.counters.computed(end - begin);
        match computed {
            Ok(()) => self.hear(end, end - begin),
            Err(DecodeError::NoKvCacheSlot) => {
                if !self.cache.forget_oldest() && !self.set_back_youngest(1) {
                    self.fail_batched(FailureKind::TooLarge, "the cache is full");
                }
            }
            Err(error) => self.fail_batched(FailureKind::Server, &error.to_string()),
        }
    }

    /// Divides the next batch among the calls: writers first, then readers by age.
    fn plan_batch(&mut self) -> usize {
        let mut room = self.desk.plan.batch_tokens as usize;
        for writes in [true, false] {
            for active in &mut self.active {
                if (active.unread() == 1) == writes {
                    active.batched = active.unread().min(room);
                    room -= active.batched;
                }
            }
        }
        self.desk.plan.batch_tokens as usize - room
    }

    /// Returns false if the batch could not be filled, which ends the calls in it.
    fn fill_batch(&mut self) -> bool {
        self.batch.clear();
        let mut whole = true;
        for active in &mut self.active {
            let begin = active.seat.cells.len();
            let end = begin + active.batched;
            active.row = None;
            for position in begin..end {
                let is_last = position + 1 == active.turn.tokens.len();
                if is_last {
                    active.row = Some(self.batch.n_tokens());
                }
                let Ok(pos) = i32::try_from(position) else {
                    whole = false;
                    continue;
                };
                let sequence = [active.seat.sequence];
                let token = active.turn.tokens[position];
                whole &= self.batch.add(token, pos, &sequence, is_last).is_ok();
            }
        }
        if !whole {
            self.fail_batched(FailureKind::Server, "the batch is too small");
        }
        whole
    }

    /// Takes the youngest call out of the cache if there are more than `spared`; it is read again later.
    fn set_back_youngest(&mut self, spared: usize) -> bool {
        if self.active.len() <= spared {
            return false;
        }
        if let Some(youngest) = self.active.pop() {
            self.cache.leave(youngest.seat);
            // At the front: it is older than everything that waits.
            self.desk.waiting.push_front(youngest.turn);
            EngineCounters::add(&self.desk.counters.calls_set_back, 1);
        }
        true
    }

    /// With nothing to compute there is nothing to wait for: what waits now would wait for ever.
    fn fail_stuck(&mut self) {
        if self.active.is_empty()
            && let Some(turn) = self.desk.waiting.pop_front()
        {
            turn.fail(
                FailureKind::Server,
                "the call found no room in an empty cache",
            );
        }
    }

    fn fail_batched(&mut self, kind: FailureKind, detail: &str) {
        for index in (0..self.active.len()).rev() {
            if self.active[index].batched > 0 {
                let active = self.active.remove(index);
                self.cache.leave(active.seat);
                active.turn.fail(kind, detail);
            }
        }
    }

    /// After a batch: every call whose last token was in it writes its next.
    fn hear(&mut self, now: Instant, step: Duration) {
        for index in (0..self.active.len()).rev() {
            let active = &mut self.active[index];
            self.cache.extend(&mut active.seat, active.batched);
            if active.batched > 0 && step > active.turn.timeout() {
                let late = self.active.remove(index);
                self.cache.leave(late.seat);
                late.turn
                    .fail(FailureKind::Timeout, "no token came within the call's time");
                continue;
            }
            let written = usize::from(active.row.is_some());
            EngineCounters::add(&self.desk.counters.tokens_written, written);
            EngineCounters::add(&self.desk.counters.tokens_read, active.batched - written);
            let Some(row) = active.row.take() else {
                continue;
            };
            match self.write(index, row, now) {
                TokenVerdict::Goes => {}
                TokenVerdict::Ends(ending) => {
                    let done = self.active.remove(index);
                    self.cache.keep(done.seat, done.turn.tokens.clone());
                    done.turn.finish(now, ending);
                }
                TokenVerdict::Fails(detail) => {
                    let failed = self.active.remove(index);
                    self.cache.leave(failed.seat);
                    failed.turn.fail(FailureKind::Server, &detail);
                }
            }
        }
    }

    fn write(&mut self, index: usize, row: i32, now: Instant) -> TokenVerdict {
        let active = &mut self.active[index];
        let logits = self.cache.logits(row);
        let is_first = !active.turn.has_begun_to_write();
        let (sampler, mut matcher) = active.turn.parts();
        let mut constraining = Duration::ZERO;
        let allowed = match matcher.as_mut().map(|matcher| {
            let begin = cpu::now();
            let allowed = matcher.compute_mask_or_eos();
            constraining += cpu::now() - begin;
            allowed
        }) {
            None => None,
            Some(Ok(allowed)) => Some(allowed),
            Some(Err(error)) => {
                return TokenVerdict::Fails(format!("the form cannot be kept: {error}"));
            }
        };
        let Some(token) = sampler.choose(logits, allowed.as_ref()) else {
            return TokenVerdict::Fails("the model has no next token".to_owned());
        };
        if self.vocabulary.ends(token) {
            return TokenVerdict::Ends(FinishReason::Complete);
        }
        let margin_milli = match &allowed {
            Some(allowed) if is_first => sampling::margin_milli(logits, allowed, token, |token| {
                let mut bytes = Vec::new();
                self.vocabulary.piece(token, &mut bytes);
                bytes
            }),
            _ => None,
        };
        let mut formed = false;
        if let Some(matcher) = matcher {
            let begin = cpu::now();
            let consumed = matcher.consume_token(token.0.cast_unsigned());
            constraining += cpu::now() - begin;
            if let Err(error) = consumed {
                return TokenVerdict::Fails(format!("the form cannot be kept: {error}"));
            }
            formed = matcher.is_stopped();
        }
        self.desk.counters.constrained(constraining);
        let mut bytes = Vec::new();
        self.vocabulary.piece(token, &mut bytes);
        active.turn.write(now, token, &bytes);
        if is_first {
            active.turn.weigh(margin_milli);
        }
        if formed {
            TokenVerdict::Ends(FinishReason::Complete)
        } else if active.turn.left_to_write() == 0 {
            TokenVerdict::Ends(FinishReason::Truncated)
        } else {
            TokenVerdict::Goes
        }
    }
}
