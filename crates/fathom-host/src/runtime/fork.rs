//! Forking: which records a new run takes over from another.

use std::collections::BTreeSet;

use fathom_core::id::EpisodeId;
use fathom_core::journal::event::{EpisodeOrigin, EventKind};

use crate::error::HostError;
use crate::runtime::run_reader::{ReadRecord, RunReader};
use crate::view::run::RecordRef;

/// The records of `reading` that lie before `at`, as a new run begins with them.
///
/// The forked episode keeps its records up to `at`. Its ancestors keep theirs up to where they learnt how the
/// next one down ended. Of the others stay those that had ended, as far as a kept record says so; the rest begin
/// anew.
pub(crate) fn taken_over(reading: RunReader, at: &RecordRef) -> Result<Vec<ReadRecord>, HostError> {
    let head = reading
        .records
        .iter()
        .find(|read| read.episode == at.episode && read.record.seq == at.seq)
        .map(|read| read.head)
        .ok_or_else(|| HostError::NoSuchPlace {
            run: reading.run,
            place: at.clone(),
        })?;
    let run = reading.run;
    let mut reading = reading;
    reading.unseal();
    let mut cut: BTreeSet<EpisodeId> = BTreeSet::new();
    let mut ended: BTreeSet<EpisodeId> = BTreeSet::new();
    let mut kept: Vec<ReadRecord> = Vec::new();
    let mut others: Vec<ReadRecord> = Vec::new();
    for read in reading.records {
        if read.episode == at.episode {
            if read.record.seq <= at.seq {
                note_ended(&read, &mut ended);
                kept.push(read);
            }
        } else if read.episode.covers(&at.episode) {
            let learns_end = matches!(
                &read.record.event.kind,
                EventKind::ChildFinished { child, .. } if child.covers(&at.episode)
            );
            if learns_end || cut.contains(&read.episode) {
                cut.insert(read.episode);
            } else {
                note_ended(&read, &mut ended);
                kept.push(read);
            }
        } else {
            others.push(read);
        }
    }
    // An episode that had ended took its whole tree with it.
    others.retain(|read| ended.iter().any(|episode| episode.covers(&read.episode)));
    kept.extend(others);
    if let Some(first) = kept.iter_mut().find(|read| read.episode.is_root())
        && let EventKind::Started(started) = &mut first.record.event.kind
    {
        started.origin = EpisodeOrigin::Forked {
            run,
            episode: at.episode.clone(),
            seq: at.seq,
            head,
        };
    }
    Ok(kept)
}

fn note_ended(read: &ReadRecord, ended: &mut BTreeSet<EpisodeId>) {
    if let EventKind::ChildFinished { child, .. } = &read.record.event.kind {
        ended.insert(child.clone());
    }
}
