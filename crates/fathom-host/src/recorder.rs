//! Takes a run's records: seals and chains them, hands them to the journal, and tells the story along.

use std::collections::BTreeMap;

use fathom_core::event::Record;
use fathom_core::id::{Digest, EpisodeId, RunId};
use fathom_core::step::{Appended, Log, Position};
use fathom_store::{Chain, Entry, RunLog, Sealed, Sealer, SignalId, StoreError};

use crate::story::Story;

/// A position that no journal ever reaches.
const NEVER: Position = Position(u64::MAX);

pub(crate) struct Recorder {
    run: RunId,
    sealer: Sealer,
    sealed: Sealed,
    log: RunLog,
    chains: BTreeMap<EpisodeId, Chain>,
    pub(crate) story: Story,
    /// Where the newest record stands.
    pub(crate) last: Position,
    /// The first thing that went wrong. From then on nothing is taken.
    pub(crate) failure: Option<StoreError>,
    /// The next record takes these signals in.
    pub(crate) settles: Vec<SignalId>,
}

impl Recorder {
    pub(crate) fn new(run: RunId, sealer: Sealer, log: RunLog) -> Self {
        Self {
            run,
            sealer,
            sealed: Sealed::default(),
            log,
            chains: BTreeMap::new(),
            story: Story::default(),
            last: Position::default(),
            failure: None,
            settles: Vec::new(),
        }
    }

    /// Goes on with chains that were read from the journal.
    pub(crate) fn continuing(mut self, chains: BTreeMap<EpisodeId, Chain>, story: Story) -> Self {
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
        record: &mut Record,
    ) -> Result<(Position, Digest), StoreError> {
        let run = self.run;
        let chain = self
            .chains
            .entry(episode.clone())
            .or_insert_with(|| Chain::new(run, episode.clone()));
        let mut entry = Entry::seal_anew(record, chain, &self.sealer, &mut self.sealed)?;
        entry.settles = std::mem::take(&mut self.settles);
        let hash = entry.hash;
        let position = self.log.append(entry)?;
        Ok((position, hash))
    }
}

impl Log for Recorder {
    fn append(&mut self, episode: &EpisodeId, mut record: Record) -> Appended {
        self.story.read(episode, &record);
        let taken = match &self.failure {
            None => self.take(episode, &mut record),
            Some(failure) => Err(failure.clone()),
        };
        match taken {
            Ok((position, head)) => {
                self.last = position;
                Appended { position, head }
            }
            Err(failure) => {
                self.failure.get_or_insert(failure);
                // What waits for this record waits for ever: the driver sees the failure and stops.
                Appended {
                    position: NEVER,
                    head: Digest::default(),
                }
            }
        }
    }
}
