//! The writer thread: commits all queued items together and answers them afterwards.

use std::collections::HashMap;
use std::sync::Arc;

use fathom_core::id::{EpisodeId, Epoch, RunId};
use rusqlite::Connection;

use super::queue::{WriterQueue, WriterWork};
use super::tables::{self, InsertOutcome};
use crate::error::StoreError;
use crate::journal::entry::JournalEntry;
use crate::journal::heads::{ChainHead, HeadFlush, HeadsWriter};
use crate::journal::run_list::RunDelta;
use crate::journal::run_log::LogState;

// Records after the last head could be cut off unseen; a signature for each would show nothing that the chain
// does not.
/// Records of an episode after which its head is signed, whatever they say.
const RECORDS_PER_HEAD: u32 = 64;
/// Episodes whose unsigned records are counted. Beyond this the count starts again, and heads come later.
const COUNTED_EPISODES_MAX: usize = 65_536;

pub(super) struct JournalWriter {
    connection: Connection,
    queue: Arc<WriterQueue>,
    heads: Option<HeadsWriter>,
    /// Records since the last signed head.
    unsigned: HashMap<(RunId, EpisodeId), u32>,
    /// The error after which no entry is stored any more.
    broken: Option<StoreError>,
}

/// Work of one commit besides storing records.
#[derive(Default)]
struct WriteRound {
    /// Current owners, as far as they were looked up.
    epochs: HashMap<RunId, Epoch>,
    /// Logs with a refused entry; nothing after it may be stored.
    // By address: the batch holds every log until the round is over.
    refused: HashMap<*const LogState, StoreError>,
    deltas: HashMap<RunId, RunDelta>,
    heads: Vec<ChainHead>,
    /// Logs whose owners must not hear of their records before the heads are written.
    signing: Vec<Arc<LogState>>,
    flush: Option<HeadFlush>,
}

impl JournalWriter {
    pub(super) fn new(
        connection: Connection,
        queue: Arc<WriterQueue>,
        heads: Option<HeadsWriter>,
    ) -> Self {
        Self {
            connection,
            queue,
            heads,
            unsigned: HashMap::new(),
            broken: None,
        }
    }

    /// Works until the queue is closed and empty.
    pub(super) fn run(mut self) {
        // Also when this thread panics: nobody may wait for a writer that is gone.
        let _abandon = AbandonOnExit(self.queue.clone());
        while let Some(mut batch) = self.queue.take_batch() {
            let committed = self.commit(&mut batch);
            if let Err(error) = &committed {
                tracing::error!(code = error.code(), %error, "a commit of the journal failed");
            }
            for work in batch {
                answer(work, committed.clone());
            }
        }
    }

    fn commit(&mut self, batch: &mut [WriterWork]) -> Result<(), StoreError> {
        let mut round = WriteRound::default();
        if let Err(error) = self.write(batch, &mut round) {
            if !self.connection.is_autocommit() {
                // If even this fails, the connection is unusable, and the next `BEGIN` reports it.
                self.connection.execute_batch("ROLLBACK").ok();
            }
            // Only the next process can tell what is on disk after a failed commit.
            if batch
                .iter()
                .any(|work| matches!(work, WriterWork::Append { .. }))
            {
                self.broken.get_or_insert_with(|| error.clone());
            }
            return Err(error);
        }
        // After COMMIT, never before: a signed head ahead of the disk would make an honest crash look like a
        // cut-off tail.
        self.sign(round);
        Ok(())
    }

    fn write(
        &mut self,
        batch: &mut [WriterWork],
        round: &mut WriteRound,
    ) -> Result<(), StoreError> {
        // Immediate: a transaction that starts by reading can fail to become the writer halfway.
        tables::execute(&self.connection, "BEGIN IMMEDIATE")?;
        for work in batch {
            match work {
                WriterWork::Append {
                    ticket,
                    entry,
                    refused,
                } => *refused = self.stage(ticket.log(), entry, round)?,
                WriterWork::Call(call) => {
                    // The call may be the one that changes an owner.
                    round.epochs.clear();
                    // A failed call undoes its own changes and none of the records around it.
                    tables::execute(&self.connection, "SAVEPOINT call")?;
                    if let Err(error) = call.run(&self.connection) {
                        // Some errors, such as a full disk, roll back the whole transaction.
                        if self.connection.is_autocommit() {
                            return Err(error);
                        }
                        tables::execute(&self.connection, "ROLLBACK TO call")?;
                    }
                    tables::execute(&self.connection, "RELEASE call")?;
                }
            }
        }
        // One update per run and commit instead of one per record.
        for (run, delta) in &round.deltas {
            tables::update_run(&self.connection, *run, delta)?;
        }
        tables::execute(&self.connection, "COMMIT")
    }

    /// Writes an entry into the open transaction, or returns the reason for refusing it. An error ends the
    /// whole transaction.
    fn stage(
        &mut self,
        log: &Arc<LogState>,
        entry: &JournalEntry,
        round: &mut WriteRound,
    ) -> Result<Option<StoreError>, StoreError> {
        let refusal = self.refusal(log, round)?;
        let refusal = match refusal {
            Some(reason) => Some(reason),
            None => match tables::insert_entry(&self.connection, log.run(), entry)? {
                InsertOutcome::Now => None,
                InsertOutcome::PlaceTaken => Some(StoreError::OutOfOrder {
                    run: log.run(),
                    episode: entry.episode.clone(),
                    seq: entry.seq,
                }),
            },
        };
        if let Some(reason) = &refusal {
            round.refused.insert(Arc::as_ptr(log), reason.clone());
        } else {
            round.deltas.entry(log.run()).or_default().add(entry);
            self.note_head(log, entry, round);
        }
        Ok(refusal)
    }

    fn refusal(
        &self,
        log: &Arc<LogState>,
        round: &mut WriteRound,
    ) -> Result<Option<StoreError>, StoreError> {
        let earlier = self.broken.as_ref();
        let earlier = earlier.or_else(|| round.refused.get(&Arc::as_ptr(log)));
        if let Some(reason) = earlier.cloned().or_else(|| log.failure()) {
            return Ok(Some(reason));
        }
        let run = log.run();
        let current = match round.epochs.get(&run) {
            Some(current) => *current,
            None => match tables::epoch(&self.connection, run)? {
                Some(current) => *round.epochs.entry(run).or_insert(current),
                None => return Ok(Some(StoreError::UnknownRun { run })),
            },
        };
        Ok((current != log.epoch()).then(|| StoreError::Fenced {
            run,
            held: log.epoch(),
            current,
        }))
    }

    fn note_head(&mut self, log: &Arc<LogState>, entry: &JournalEntry, round: &mut WriteRound) {
        if self.heads.is_none() {
            return;
        }
        if self.unsigned.len() >= COUNTED_EPISODES_MAX {
            self.unsigned.clear();
        }
        let place = (log.run(), entry.episode.clone());
        let count = self.unsigned.entry(place).or_default();
        *count += 1;
        let flush = match entry.mark.wants_signed_head() {
            true => HeadFlush::Now,
            false if *count >= RECORDS_PER_HEAD => HeadFlush::Lazily,
            false => return,
        };
        round.flush = round.flush.max(Some(flush));
        round.signing.push(log.clone());
        round.heads.push(ChainHead {
            run: log.run(),
            episode: entry.episode.clone(),
            seq: entry.seq,
            hash: entry.hash,
            at: entry.at,
        });
        self.unsigned.remove(&(log.run(), entry.episode.clone()));
    }

    /// Writes the heads of the stored records to the second place. If that fails, the runs concerned are told
    /// nothing more: they were promised both.
    fn sign(&self, round: WriteRound) {
        let (Some(heads), Some(flush)) = (&self.heads, round.flush) else {
            return;
        };
        if let Err(error) = heads.append(round.heads, flush) {
            tracing::error!(code = error.code(), %error, "signed heads cannot be written");
            for log in round.signing {
                log.fail(&error);
            }
        }
    }
}

fn answer(work: WriterWork, committed: Result<(), StoreError>) {
    match work {
        WriterWork::Call(call) => call.answer(committed),
        WriterWork::Append {
            ticket, refused, ..
        } => match committed.err().or(refused) {
            Some(reason) => ticket.fail(&reason),
            None => ticket.acknowledge(),
        },
    }
}

struct AbandonOnExit(Arc<WriterQueue>);

impl Drop for AbandonOnExit {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
