//! Reading runs back: every record checked against its chain, its texts opened.

use std::collections::BTreeMap;
use std::sync::Arc;

use fathom_core::budget::ledger::Ledger;
use fathom_core::episode::program::ProgramFactory;
use fathom_core::id::{Digest, EpisodeId, Epoch, RunId};
use fathom_core::journal::event::{EpisodeSpec, EventKind, JournalRecord};
use fathom_core::run::Run;
use fathom_core::run::step::ReplayDifference;
use fathom_core::text::VisitTexts;
use fathom_store::{ChainCheck, HomeFolder, Journal, RecordChain, StoreError};

use crate::error::HostError;
use crate::view::run::RunView;

/// What a replay found.
#[derive(Debug)]
pub struct ReplayReport {
    /// Records that were folded again.
    pub events: u64,
    /// Records whose commands came out differently.
    pub differences: Vec<ReplayDifference>,
    /// Models called meanwhile: a replay calls none.
    pub model_calls: u64,
}

/// A record as it was read, with the chain's head after it.
#[derive(Clone, Debug)]
pub(crate) struct ReadRecord {
    pub(crate) episode: EpisodeId,
    pub(crate) record: JournalRecord,
    pub(crate) head: Digest,
}

/// A run as it was read.
pub(crate) struct RunReader {
    pub(crate) run: RunId,
    pub(crate) records: Vec<ReadRecord>,
    pub(crate) chains: BTreeMap<EpisodeId, RecordChain>,
    /// Whether the texts could be opened.
    pub(crate) is_open: bool,
}

/// What a run's root began with, by its first record; nothing when that cannot be opened any more.
pub(crate) fn started(
    journal: &dyn Journal,
    home: &HomeFolder,
    run: RunId,
) -> Result<Option<EpisodeSpec>, HostError> {
    let Some(sealer) = home.keys().sealer(run)? else {
        return Ok(None);
    };
    let Some(first) = journal.records(run).next() else {
        return Ok(None);
    };
    let first = first?;
    let mut check = ChainCheck::new(run, first.episode.clone());
    let Ok(mut record) = check.step(&first.bytes, &first.hash) else {
        return Ok(None);
    };
    sealer.open(&mut record, |address| journal.blob(run, address))?;
    match record.event.kind {
        EventKind::Started(started) => Ok(Some(*started)),
        _ => Ok(None),
    }
}

impl RunReader {
    /// Reads a run. A record that does not fit its chain ends the reading with an error that names it.
    pub(crate) fn of(
        journal: &dyn Journal,
        home: &HomeFolder,
        run: RunId,
    ) -> Result<Self, HostError> {
        let sealer = home.keys().sealer(run)?;
        let mut checks: BTreeMap<EpisodeId, ChainCheck> = BTreeMap::new();
        let mut records = Vec::new();
        for stored in journal.records(run) {
            let stored = stored?;
            let check = checks
                .entry(stored.episode.clone())
                .or_insert_with(|| ChainCheck::new(run, stored.episode.clone()));
            let mut record =
                check
                    .step(&stored.bytes, &stored.hash)
                    .map_err(|broken| StoreError::Damaged {
                        what: format!("run {run}, episode {}: {broken}", stored.episode),
                    })?;
            if let Some(sealer) = &sealer {
                sealer.open(&mut record, |address| journal.blob(run, address))?;
            }
            records.push(ReadRecord {
                episode: stored.episode,
                record,
                head: stored.hash,
            });
        }
        let chains = checks
            .into_iter()
            .map(|(episode, check)| (episode, check.chain().clone()))
            .collect();
        Ok(Self {
            run,
            records,
            chains,
            is_open: sealer.is_some(),
        })
    }

    /// The run's story.
    pub(crate) fn story(&self) -> RunView {
        let mut story = RunView::default();
        for read in &self.records {
            story.read(&read.episode, &read.record);
        }
        story
    }

    /// Folds the records again.
    pub(crate) fn refold(
        &self,
        epoch: Epoch,
        programs: &Arc<dyn ProgramFactory>,
    ) -> Result<(Run<Ledger>, Vec<ReplayDifference>), HostError> {
        if !self.is_open {
            return Err(HostError::Shredded { run: self.run });
        }
        let mut run = Run::new(epoch, Arc::clone(programs));
        let mut differences = Vec::new();
        for read in &self.records {
            differences.extend(run.refold(&read.episode, &read.record, read.head));
        }
        Ok((run, differences))
    }

    /// Folds the records again and goes no further when anything comes out differently.
    pub(crate) fn refold_exactly(
        &self,
        epoch: Epoch,
        programs: &Arc<dyn ProgramFactory>,
    ) -> Result<Run<Ledger>, HostError> {
        let (run, differences) = self.refold(epoch, programs)?;
        if differences.is_empty() {
            Ok(run)
        } else {
            Err(HostError::Differs {
                run: self.run,
                count: differences.len(),
            })
        }
    }

    /// What the root was started with.
    pub(crate) fn started(&self) -> Option<&fathom_core::journal::event::EpisodeSpec> {
        self.records
            .iter()
            .find_map(|read| match &read.record.event.kind {
                EventKind::Started(started) if read.episode.is_root() => Some(&**started),
                _ => None,
            })
    }

    /// Takes the addresses off all texts, so that another run can seal them with its own key.
    pub(crate) fn unseal(&mut self) {
        for read in &mut self.records {
            read.record.each_text(&mut |text| text.unseal());
        }
    }
}
