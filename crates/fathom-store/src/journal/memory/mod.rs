//! A journal in memory: for tests, and for runs that need not be kept.

mod claims;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fathom_core::effect::IdempotencyKey;
use fathom_core::id::{Digest, EpisodeId, Epoch, RunId, Seq};
use fathom_core::journal::event::Signal;
use fathom_core::run::step::LogPosition;
use fathom_core::unit::Timestamp;

use crate::approvals::{
    ApprovalFilter, ApprovalId, ApprovalRecord, ApprovalState, ApprovalWord, DecideOutcome,
    UseOutcome,
};
use crate::error::StoreError;
use crate::journal::entry::JournalEntry;
use crate::journal::idempotency::{
    ClaimOutcome, ClaimOwner, KeyClaim, KeyOverride, OverrideOutcome,
};
use crate::journal::run_list::{
    NewRun, RunDelta, RunFilter, RunInfo, RunQuery, RunState, id_digits,
};
use crate::journal::run_log::{CommitTicket, LogSink, LogState, RunLog};
use crate::journal::signals::{KillOrder, KillRecord, LiftOutcome, PostedSignal, SignalId};
use crate::journal::{Journal, JournalCursor, StoredRecord};
use crate::pins::{AcceptOutcome, PinOutcome, PinStanding, ToolPin, ToolSighting};

/// Maximum number of waiting entries while the journal is held.
const HELD_ENTRIES_MAX: usize = 65_536;

/// A journal in memory. Clones share it, as processes share a home.
#[derive(Clone, Default)]
pub struct MemoryJournal {
    shared: Arc<MemoryShared>,
}

#[derive(Default)]
struct MemoryShared(Mutex<MemoryState>);

#[derive(Default)]
struct MemoryState {
    runs: BTreeMap<RunId, RunInfo>,
    records: HashMap<RunId, Vec<StoredRecord>>,
    taken: HashSet<(RunId, EpisodeId, Seq)>,
    last_cursor: JournalCursor,
    blobs: HashMap<(RunId, Digest), Vec<u8>>,
    signals: BTreeMap<SignalId, (RunId, Signal)>,
    last_signal: SignalId,
    kills: Vec<KillRecord>,
    /// Every claim of a key, oldest first, and whether it was released.
    claims: HashMap<IdempotencyKey, Vec<(KeyClaim, bool)>>,
    /// Number of claims that a key may have because of an override.
    allowed: HashMap<IdempotencyKey, usize>,
    overrides: Vec<KeyOverride>,
    /// The oldest first.
    approvals: Vec<ApprovalRecord>,
    pins: Vec<ToolPin>,
    /// Accepted digest by charter and tool.
    let_in: HashMap<(String, String), Digest>,
    last_position: LogPosition,
    disk: FlushMode,
}

/// Simulated disk: prompt, or held back.
#[derive(Default)]
enum FlushMode {
    #[default]
    Prompt,
    Held(VecDeque<(CommitTicket, JournalEntry)>),
}

impl MemoryJournal {
    /// An empty journal, durable at once.
    pub fn new() -> Self {
        Self::default()
    }

    /// Holds entries back from here on: they are neither durable nor readable, as if the disk were slow.
    pub fn hold(&self) {
        let mut state = self.shared.lock();
        if let FlushMode::Prompt = state.disk {
            state.disk = FlushMode::Held(VecDeque::new());
        }
    }

    /// Drops the waiting entries, as a crash does, and keeps holding.
    pub fn forget(&self) {
        let mut state = self.shared.lock();
        if let FlushMode::Held(waiting) = &mut state.disk {
            waiting.clear();
        }
    }

    /// Stores the waiting entries in order and stops holding.
    pub fn release(&self) {
        let mut state = self.shared.lock();
        if let FlushMode::Held(waiting) = std::mem::take(&mut state.disk) {
            for (ticket, entry) in waiting {
                state.settle(ticket, entry);
            }
        }
    }
}

impl MemoryShared {
    fn lock(&self) -> MutexGuard<'_, MemoryState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogSink for MemoryShared {
    fn enqueue(&self, log: &Arc<LogState>, entry: JournalEntry) -> Result<LogPosition, StoreError> {
        let mut state = self.lock();
        if let FlushMode::Held(waiting) = &state.disk
            && waiting.len() >= HELD_ENTRIES_MAX
        // A caller that fills the memory is told so; there is no writer thread here that would make room.
        {
            return Err(StoreError::Busy);
        }
        let position = LogPosition(state.last_position.0 + 1);
        state.last_position = position;
        let ticket = CommitTicket::new(log.clone(), position);
        match &mut state.disk {
            FlushMode::Held(waiting) => waiting.push_back((ticket, entry)),
            FlushMode::Prompt => state.settle(ticket, entry),
        }
        Ok(position)
    }
}

impl MemoryState {
    fn settle(&mut self, ticket: CommitTicket, entry: JournalEntry) {
        match self.store(ticket.log(), entry) {
            Ok(()) => ticket.acknowledge(),
            Err(reason) => ticket.fail(&reason),
        }
    }

    fn store(&mut self, log: &LogState, entry: JournalEntry) -> Result<(), StoreError> {
        if let Some(reason) = log.failure() {
            return Err(reason);
        }
        let run = log.run();
        let place = (run, entry.episode.clone(), entry.seq);
        let is_taken = self.taken.contains(&place);
        let info = self.info(run)?;
        if info.epoch != log.epoch() {
            return Err(StoreError::Fenced {
                run,
                held: log.epoch(),
                current: info.epoch,
            });
        }
        if is_taken {
            return Err(StoreError::OutOfOrder {
                run,
                episode: entry.episode,
                seq: entry.seq,
            });
        }
        let mut delta = RunDelta::default();
        delta.add(&entry);
        delta.apply(info);
        self.taken.insert(place);
        for blob in entry.blobs {
            self.blobs.entry((run, blob.address)).or_insert(blob.bytes);
        }
        self.signals
            .retain(|id, (of, _)| *of != run || !entry.settles.contains(id));
        self.last_cursor.0 += 1;
        self.records.entry(run).or_default().push(StoredRecord {
            cursor: self.last_cursor,
            episode: entry.episode,
            seq: entry.seq,
            bytes: entry.bytes,
            hash: entry.hash,
        });
        Ok(())
    }

    fn approval(&mut self, id: &ApprovalId) -> Option<&mut ApprovalRecord> {
        self.approvals.iter_mut().find(|one| one.id == *id)
    }

    fn info(&mut self, run: RunId) -> Result<&mut RunInfo, StoreError> {
        let unknown = StoreError::UnknownRun { run };
        self.runs.get_mut(&run).ok_or(unknown)
    }
}

impl Journal for MemoryJournal {
    fn create_run(&self, new: &NewRun) -> Result<Epoch, StoreError> {
        let mut state = self.shared.lock();
        if state.runs.contains_key(&new.run) {
            return Err(StoreError::RunExists { run: new.run });
        }
        let info = RunInfo {
            run: new.run,
            epoch: Epoch(1),
            state: RunState::Running,
            program: new.program.clone(),
            model: new.model.clone(),
            created_at: new.created_at,
            updated_at: new.created_at,
            events: 0,
            episodes: 0,
            model_calls: 0,
            started_by: Some(new.started_by.clone()),
        };
        state.runs.insert(new.run, info);
        Ok(Epoch(1))
    }

    fn acquire(&self, run: RunId) -> Result<Epoch, StoreError> {
        let mut state = self.shared.lock();
        let info = state.info(run)?;
        info.epoch.0 += 1;
        Ok(info.epoch)
    }

    fn open_log(&self, run: RunId, epoch: Epoch) -> Result<RunLog, StoreError> {
        let current = self.shared.lock().info(run)?.epoch;
        if current != epoch {
            return Err(StoreError::Fenced {
                run,
                held: epoch,
                current,
            });
        }
        Ok(RunLog::new(run, epoch, self.shared.clone()))
    }

    fn page(
        &self,
        run: RunId,
        after: JournalCursor,
        limit: usize,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        let state = self.shared.lock();
        let records = state.records.get(&run).map_or(&[][..], Vec::as_slice);
        let start = records.partition_point(|stored| stored.cursor <= after);
        Ok(records[start..].iter().take(limit).cloned().collect())
    }

    fn run_info(&self, run: RunId) -> Result<Option<RunInfo>, StoreError> {
        Ok(self.shared.lock().runs.get(&run).cloned())
    }

    fn list_runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        let state = self.shared.lock();
        let wanted = |info: &&RunInfo| match &query.filter {
            RunFilter::All => true,
            RunFilter::Unfinished => !info.state.is_finished(),
            RunFilter::Finished => info.state.is_finished(),
            RunFilter::IdStartsWith(start) => {
                id_digits(&info.run.to_string()).starts_with(&id_digits(start))
            }
        };
        let mut runs: Vec<RunInfo> = state.runs.values().filter(wanted).cloned().collect();
        runs.sort_by_key(|info| std::cmp::Reverse((info.created_at, info.run)));
        runs.truncate(query.limit());
        Ok(runs)
    }

    fn run_ids(&self) -> Result<Vec<RunId>, StoreError> {
        Ok(self.shared.lock().runs.keys().copied().collect())
    }

    fn blob(&self, run: RunId, address: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.shared.lock().blobs.get(&(run, *address)).cloned())
    }

    fn blob_count(&self) -> Result<u64, StoreError> {
        Ok(self.shared.lock().blobs.len() as u64)
    }

    fn post_signal(&self, run: RunId, signal: &Signal) -> Result<SignalId, StoreError> {
        let mut state = self.shared.lock();
        state.info(run)?;
        state.last_signal.0 += 1;
        let id = state.last_signal;
        state.signals.insert(id, (run, signal.clone()));
        Ok(id)
    }

    fn signals(&self, run: RunId, after: SignalId) -> Result<Vec<PostedSignal>, StoreError> {
        let state = self.shared.lock();
        let later = state.signals.range(SignalId(after.0 + 1)..);
        let own = later.filter(|(_, (of, _))| *of == run);
        let posted = own.map(|(id, (_, signal))| PostedSignal {
            id: *id,
            signal: signal.clone(),
        });
        Ok(posted.collect())
    }

    fn drop_signals(&self, run: RunId, upto: SignalId) -> Result<(), StoreError> {
        let mut state = self.shared.lock();
        state.signals.retain(|id, (of, _)| *of != run || *id > upto);
        Ok(())
    }

    fn set_kill(&self, order: &KillOrder) -> Result<(), StoreError> {
        let mut state = self.shared.lock();
        if !state.kills.iter().any(|kill| kill.holds(order)) {
            state.kills.push(KillRecord {
                thrown: order.clone(),
                lifted: None,
            });
        }
        Ok(())
    }

    fn lift_kill(&self, order: &KillOrder) -> Result<LiftOutcome, StoreError> {
        let mut state = self.shared.lock();
        Ok(
            match state.kills.iter_mut().find(|kill| kill.holds(order)) {
                None => LiftOutcome::WasNotThrown,
                Some(kill) => {
                    kill.lifted = Some(order.clone());
                    LiftOutcome::Now
                }
            },
        )
    }

    fn kills(&self) -> Result<Vec<KillOrder>, StoreError> {
        let state = self.shared.lock();
        let held = state.kills.iter().filter(|kill| kill.lifted.is_none());
        Ok(held.map(|kill| kill.thrown.clone()).collect())
    }

    fn kill_record(&self) -> Result<Vec<KillRecord>, StoreError> {
        Ok(self.shared.lock().kills.clone())
    }

    fn claim(&self, claim: &KeyClaim) -> Result<ClaimOutcome, StoreError> {
        let mut state = self.shared.lock();
        let outcome = state.would_claim(claim);
        let is_held = state
            .holder(&claim.key)
            .is_some_and(|held| held.is_by(claim));
        if outcome == ClaimOutcome::Claimed && !is_held {
            let claims = state.claims.entry(claim.key.clone()).or_default();
            claims.push((claim.clone(), false));
        }
        Ok(outcome)
    }

    fn would_claim(&self, claim: &KeyClaim) -> Result<ClaimOutcome, StoreError> {
        Ok(self.shared.lock().would_claim(claim))
    }

    fn release(&self, key: &IdempotencyKey, owner: &ClaimOwner) -> Result<(), StoreError> {
        let mut state = self.shared.lock();
        let claims = state.claims.entry(key.clone()).or_default();
        let holder = claims.iter_mut().rev().find(|(_, released)| !released);
        if let Some((_, released)) = holder.filter(|(claim, _)| claim.owner == *owner) {
            *released = true;
        }
        Ok(())
    }

    fn override_claim(&self, order: &KeyOverride) -> Result<OverrideOutcome, StoreError> {
        let mut state = self.shared.lock();
        if state.holder(&order.key).is_none() {
            return Ok(OverrideOutcome::NothingHeld);
        }
        let held = state.claims.get(&order.key).map_or(0, Vec::len);
        // Said twice before it is used, it is still one.
        if state.allowed.insert(order.key.clone(), held + 1) != Some(held + 1) {
            state.overrides.push(order.clone());
        }
        Ok(OverrideOutcome::Recorded)
    }

    fn claim_of(&self, key: &IdempotencyKey) -> Result<Option<KeyClaim>, StoreError> {
        Ok(self.shared.lock().holder(key).cloned())
    }

    fn overrides_of(&self, key: &IdempotencyKey) -> Result<Vec<KeyOverride>, StoreError> {
        let state = self.shared.lock();
        let of_key = state.overrides.iter().filter(|order| order.key == *key);
        Ok(of_key.cloned().collect())
    }

    fn open_approval(&self, new: &ApprovalRecord) -> Result<(), StoreError> {
        let mut state = self.shared.lock();
        let same_ask = |other: &&mut ApprovalRecord| other.owner == new.owner && other.id != new.id;
        for other in state.approvals.iter_mut().filter(same_ask) {
            other.withdraw(new.opened_at);
        }
        match state.approval(&new.id) {
            None => state.approvals.push(new.clone()),
            Some(found) => match found.state {
                ApprovalState::Open | ApprovalState::Withdrawn { .. } => *found = new.clone(),
                ApprovalState::Granted { .. }
                | ApprovalState::Denied { .. }
                | ApprovalState::Used { .. }
                | ApprovalState::Expired => {}
            },
        }
        Ok(())
    }

    fn decide_approval(
        &self,
        id: &ApprovalId,
        word: &ApprovalWord,
    ) -> Result<DecideOutcome, StoreError> {
        let decided = match self.shared.lock().approval(id) {
            None => return Ok(DecideOutcome::Unknown),
            Some(approval) => approval
                .decide(word)
                .map(|()| approval.clone())
                .map_err(|why| DecideOutcome::Refused(approval.clone(), why)),
        };
        match decided {
            Ok(approval) => {
                self.post_signal(approval.owner.run, &approval.signal(word))?;
                Ok(DecideOutcome::Decided(approval))
            }
            Err(refused) => Ok(refused),
        }
    }

    fn approval_of(&self, owner: &ClaimOwner) -> Result<Option<ApprovalRecord>, StoreError> {
        let state = self.shared.lock();
        let newest = state.approvals.iter().rev();
        Ok(newest.into_iter().find(|one| one.owner == *owner).cloned())
    }

    fn use_approval(&self, owner: &ClaimOwner, at: Timestamp) -> Result<UseOutcome, StoreError> {
        let mut state = self.shared.lock();
        let newest = state.approvals.iter_mut().rev();
        let newest = newest.into_iter().find(|approval| approval.owner == *owner);
        Ok(newest.map_or(UseOutcome::NotAsked, |approval| approval.consume(at)))
    }

    fn withdraw_approvals(&self, run: RunId, at: Timestamp) -> Result<(), StoreError> {
        let mut state = self.shared.lock();
        for approval in state.approvals.iter_mut().filter(|one| one.is_of(run)) {
            approval.withdraw(at);
        }
        Ok(())
    }

    fn approvals(&self, filter: ApprovalFilter) -> Result<Vec<ApprovalRecord>, StoreError> {
        let state = self.shared.lock();
        let wanted = |one: &&ApprovalRecord| filter == ApprovalFilter::All || one.is_open();
        Ok(state.approvals.iter().filter(wanted).cloned().collect())
    }

    fn pin(&self, seen: &ToolSighting) -> Result<PinOutcome, StoreError> {
        let mut state = self.shared.lock();
        let name = (seen.charter.clone(), seen.tool.clone());
        let pinned = *state.let_in.entry(name).or_insert(seen.digest);
        let is_known = state.pins.iter().any(|pin| pin.is_of(seen));
        if !is_known {
            state.pins.push(ToolPin {
                seen: seen.clone(),
                standing: if pinned == seen.digest {
                    PinStanding::First
                } else {
                    PinStanding::Quarantined
                },
            });
        }
        Ok(if pinned == seen.digest {
            PinOutcome::Pinned
        } else {
            PinOutcome::Quarantined { pinned }
        })
    }

    fn accept_pin(&self, seen: &ToolSighting, by: &str) -> Result<AcceptOutcome, StoreError> {
        let mut state = self.shared.lock();
        let Some(pin) = state.pins.iter_mut().find(|pin| pin.is_of(seen)) else {
            return Ok(AcceptOutcome::NeverMet);
        };
        pin.standing = PinStanding::Accepted {
            by: by.to_owned(),
            at: seen.at,
        };
        let name = (seen.charter.clone(), seen.tool.clone());
        state.let_in.insert(name, seen.digest);
        Ok(AcceptOutcome::Now)
    }

    fn pins(&self, charter: &str) -> Result<Vec<ToolPin>, StoreError> {
        let state = self.shared.lock();
        let own = state.pins.iter().filter(|pin| pin.seen.charter == charter);
        Ok(own.cloned().collect())
    }
}
