//! Takes a run's records: seals and chains them, hands them to the journal, and tells the story along.

use std::collections::BTreeMap;

use fathom_core::id::{Digest, EpisodeId, RunId};
use fathom_core::journal::event::JournalRecord;
use fathom_core::run::step::{AppendReceipt, LogPosition, RecordLog};
use fathom_store::{
    JournalEntry, RecordChain, RunLog, SealCache, SignalId, StoreError, TextSealer,
};

use crate::view::run::RunView;

/// Position that no journal ever reaches.
const NEVER: LogPosition = LogPosition(u64::MAX);

pub(crate) struct RecordWriter {
    run: RunId,
    sealer: TextSealer,
    sealed: SealCache,
    log: RunLog,
    chains: BTreeMap<EpisodeId, RecordChain>,
    pub(crate) story: RunView,
    /// Position of the newest record.
    pub(crate) last: LogPosition,
    /// The first thing that went wrong. From then on nothing is taken.
    pub(crate) failure: Option<StoreError>,
    /// The next record takes these signals in.
    pub(crate) settles: Vec<SignalId>,
}

impl RecordWriter {
    pub(crate) fn new(run: RunId, sealer: TextSealer, log: RunLog) -> Self {
        Self {
            run,
            sealer,
            sealed: SealCache::default(),
            log,
            chains: BTreeMap::new(),
            story: RunView::default(),
            last: LogPosition::default(),
            failure: None,
            settles: Vec::new(),
        }
    }

    /// Continues chains that were read from the journal.
    pub(crate) fn continuing(
        mut self,
        chains: BTreeMap<EpisodeId, RecordChain>,
        story: RunView,
    ) -> Self {
        self.chains = chains;
        self.story = story;
        self
    }

    pub(crate) fn log(&self) -> &RunLog {
        &self.log
    }

    fn take(
        &mut self,
        episode: &EpisodeId,
        record: &mut JournalRecord,
    ) -> Result<(LogPosition, Digest), StoreError> {
        let run = self.run;
        let chain = self
            .chains
            .entry(episode.clone())
            .or_insert_with(|| RecordChain::new(run, episode.clone()));
        let mut entry = JournalEntry::seal_anew(record, chain, &self.sealer, &mut self.sealed)?;
        entry.settles = std::mem::take(&mut self.settles);
        let hash = entry.hash;
        let position = self.log.append(entry)?;
        Ok((position, hash))
    }
}

impl RecordLog for RecordWriter {
    fn append(&mut self, episode: &EpisodeId, mut record: JournalRecord) -> AppendReceipt {
        self.story.read(episode, &record);
        let taken = match &self.failure {
            None => self.take(episode, &mut record),
            Some(failure) => Err(failure.clone()),
        };
        match taken {
            Ok((position, head)) => {
                self.last = position;
                AppendReceipt { position, head }
            }
            Err(failure) => {
                self.failure.get_or_insert(failure);
                // What waits for this record waits for ever: the driver sees the failure and stops.
                AppendReceipt {
                    position: NEVER,
                    head: Digest::default(),
                }
            }
        }
    }
}
