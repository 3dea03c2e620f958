//! Verification: is the journal what was written, all of it, and nothing else?

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::path::Path;

use ed25519_dalek::VerifyingKey;
use fathom_core::id::{Digest, EpisodeId, RunId, Seq};
use fathom_core::journal::event::{EventKind, JournalRecord};
use fathom_core::text::VisitTexts;
use serde::{Serialize, Serializer};

use crate::error::StoreError;
use crate::journal::chain::{ChainBreak, ChainCheck};
use crate::journal::heads::{FileEnd, HeadsFile, SignedHead, key_id, read_heads};
use crate::journal::seal::address_of;
use crate::journal::{Journal, StoredRecord};

/// Maximum number of listed problems; further ones are counted in a note.
const PROBLEMS_MAX: usize = 1000;

/// Runs to verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyScope {
    /// Every run of the journal, and every run that has a signed head.
    All,
    Run(RunId),
}

/// Result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Number of records verified.
    pub events: u64,
    /// Number of runs verified.
    pub runs: u64,
    /// Runs whose key is destroyed: their texts cannot be read and may be missing.
    pub shredded: Vec<RunId>,
    /// Deviations from what was written.
    pub problems: Vec<VerifyProblem>,
    /// Remarks that are not problems.
    pub notes: Vec<String>,
}

impl Verification {
    /// True if everything is as it was written.
    pub fn is_ok(&self) -> bool {
        self.problems.is_empty()
    }
}

/// A deviation from what was written, and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerifyProblem {
    /// The run; `None` if it belongs to none.
    pub run: Option<RunId>,
    /// The episode; `None` if it concerns the whole run.
    pub episode: Option<EpisodeId>,
    /// The record; `None` if it concerns the whole chain.
    pub seq: Option<Seq>,
    #[serde(serialize_with = "as_text")]
    pub what: VerifyFault,
}

fn as_text<S: Serializer>(fault: &VerifyFault, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(fault)
}

impl fmt::Display for VerifyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(run) = self.run {
            write!(f, "{run} ")?;
        }
        match (&self.episode, self.seq) {
            (Some(episode), Some(seq)) => write!(f, "{episode}:{seq} ")?,
            (Some(episode), None) => write!(f, "{episode} ")?,
            (None, _) => {}
        }
        self.what.fmt(f)
    }
}

/// Kinds of deviations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerifyFault {
    /// The chain breaks here.
    Chain(ChainBreak),
    /// The record is stored under a number other than its own.
    Misfiled,
    /// The record states a final head of a child that the child's chain does not contain.
    ChildHead { child: EpisodeId },
    /// A text of the record is missing.
    MissingText { address: Digest },
    /// A text of the record is not what was written.
    DamagedText { address: Digest },
    /// A signed head covers this record, and it is gone: the tail was cut off.
    CutOff,
    /// A signed head does not match the chain.
    HeadDiffers,
    /// A head's signature is not valid.
    BadSignature,
    /// A head is signed with a key that is not this home's.
    ForeignKey {
        /// The key's short name.
        key: String,
    },
    /// A line of the heads file is malformed.
    UnreadableHead {
        /// Line number, counted from one.
        line: u64,
    },
    /// The list of runs counts more records than are stored.
    FewerRecords {
        /// Number in the list.
        listed: u64,
        /// Number stored.
        found: u64,
    },
    /// The run has records and is not in the list of runs.
    Unlisted,
    /// The run cannot be read to its end.
    Unreadable {
        /// The store's error.
        what: String,
    },
}

impl fmt::Display for VerifyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chain(found) => write!(f, "{}", found.why),
            Self::Misfiled => f.write_str("the record is stored under a different number"),
            Self::ChildHead { child } => {
                write!(
                    f,
                    "the chain of child {child} does not end as the record says"
                )
            }
            Self::MissingText { address } => write!(f, "text {address} is missing"),
            Self::DamagedText { address } => write!(f, "text {address} is damaged"),
            Self::CutOff => f.write_str("the record is missing, but a signed head covers it"),
            Self::HeadDiffers => f.write_str("a signed head does not match the chain"),
            Self::BadSignature => f.write_str("a head has an invalid signature"),
            Self::ForeignKey { key } => write!(f, "a head is signed with the unknown key {key}"),
            Self::UnreadableHead { line } => {
                write!(f, "line {line} of the heads file is malformed")
            }
            Self::FewerRecords { listed, found } => {
                write!(f, "{listed} records are listed, but only {found} exist")
            }
            Self::Unlisted => f.write_str("the run is not in the list of runs"),
            Self::Unreadable { what } => f.write_str(what),
        }
    }
}

/// Inputs of a verification.
pub struct JournalVerifier<'a> {
    pub journal: &'a dyn Journal,
    /// The file of signed heads; `None` if heads are not kept.
    pub heads: Option<&'a Path>,
    /// The key that signed them.
    pub key: &'a VerifyingKey,
    /// Returns true if the key of a run is destroyed.
    pub is_shredded: &'a dyn Fn(RunId) -> Result<bool, StoreError>,
}

impl JournalVerifier<'_> {
    /// Checks every record, text and head in scope. An error means that the verification itself failed.
    pub fn verify(&self, scope: VerifyScope) -> Result<Verification, StoreError> {
        let mut report = VerifyReport::default();
        // First the heads: what they cover is stored already, also while a run goes on.
        let mut heads = self.heads_by_run(scope, &mut report)?;
        let mut runs = match scope {
            VerifyScope::Run(run) => vec![run],
            VerifyScope::All => self.journal.run_ids()?,
        };
        if scope == VerifyScope::All {
            runs.extend(heads.keys());
            runs.sort_unstable();
            runs.dedup();
        }
        for run in runs {
            self.verify_run(run, heads.remove(&run).unwrap_or_default(), &mut report)?;
        }
        Ok(report.finish())
    }

    fn heads_by_run(
        &self,
        scope: VerifyScope,
        report: &mut VerifyReport,
    ) -> Result<BTreeMap<RunId, Vec<SignedHead>>, StoreError> {
        let Some(path) = self.heads else {
            report.note("this home keeps no signed heads".to_owned());
            return Ok(BTreeMap::new());
        };
        let HeadsFile {
            heads,
            unreadable_lines,
            end,
        } = read_heads(path, |head| match scope {
            VerifyScope::All => true,
            VerifyScope::Run(run) => head.run == run,
        })?;
        match end {
            FileEnd::Whole => {}
            FileEnd::Torn => {
                report.note("the last line of the heads file is incomplete".to_owned());
            }
            FileEnd::Missing => report.note("the file of signed heads is missing".to_owned()),
        }
        for line in unreadable_lines {
            report.problem(None, None, None, VerifyFault::UnreadableHead { line });
        }
        let mut by_run: BTreeMap<RunId, Vec<SignedHead>> = BTreeMap::new();
        for signed in heads {
            by_run.entry(signed.head.run).or_default().push(signed);
        }
        Ok(by_run)
    }

    fn verify_run(
        &self,
        run: RunId,
        heads: Vec<SignedHead>,
        report: &mut VerifyReport,
    ) -> Result<(), StoreError> {
        report.found.runs += 1;
        // Before the records, so that a run that goes on meanwhile can only have more of them.
        let info = self.journal.run_info(run)?;
        let is_shredded = (self.is_shredded)(run)?;
        if is_shredded {
            report.found.shredded.push(run);
        }
        let mut walk = ChainWalk {
            journal: self.journal,
            run,
            is_shredded,
            episodes: HashMap::new(),
            texts: HashSet::new(),
            found: 0,
        };
        for stored in self.journal.records(run) {
            match stored {
                Ok(stored) => walk.step(&stored, report)?,
                // Damage is a finding. Any other error means that the check itself failed.
                Err(StoreError::Damaged { what }) => {
                    report.problem(Some(run), None, None, VerifyFault::Unreadable { what });
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        let found = walk.found;
        // More records than listed are fine: the run may have gone on since.
        match info {
            Some(info) if info.events > found => {
                let listed = info.events;
                let fault = VerifyFault::FewerRecords { listed, found };
                report.problem(Some(run), None, None, fault);
            }
            None if found > 0 => report.problem(Some(run), None, None, VerifyFault::Unlisted),
            Some(_) | None => {}
        }
        for signed in heads {
            if let Some(fault) = self.check_head(&signed, &walk) {
                let head = signed.head;
                report.problem(Some(run), Some(head.episode), Some(head.seq), fault);
            }
        }
        Ok(())
    }

    fn check_head(&self, signed: &SignedHead, walk: &ChainWalk<'_>) -> Option<VerifyFault> {
        // Before the signature: a head of another home fails the signature too, and is a different finding.
        if signed.key != key_id(self.key) {
            return Some(VerifyFault::ForeignKey {
                key: signed.key.clone(),
            });
        }
        if !signed.is_signed_by(self.key) {
            return Some(VerifyFault::BadSignature);
        }
        let head = &signed.head;
        let episode = walk.episodes.get(&head.episode);
        let place = usize::try_from(head.seq.0).unwrap_or(usize::MAX);
        match episode.and_then(|episode| episode.hashes.get(place)) {
            None => Some(VerifyFault::CutOff),
            Some(hash) if *hash != head.hash => Some(VerifyFault::HeadDiffers),
            Some(_) => None,
        }
    }
}

/// The walk through one run's records.
struct ChainWalk<'a> {
    journal: &'a dyn Journal,
    run: RunId,
    is_shredded: bool,
    episodes: HashMap<EpisodeId, EpisodeSummary>,
    /// Texts that were checked.
    texts: HashSet<Digest>,
    found: u64,
}

struct EpisodeSummary {
    check: ChainCheck,
    /// Digests of its stored records.
    hashes: Vec<Digest>,
    is_broken: bool,
}

impl ChainWalk<'_> {
    fn step(&mut self, stored: &StoredRecord, report: &mut VerifyReport) -> Result<(), StoreError> {
        self.found += 1;
        report.found.events += 1;
        let Some(mut record) = self.check_chain(stored, report) else {
            return Ok(());
        };
        if let EventKind::ChildFinished { child, head, .. } = &record.event.kind {
            // A child's last record is stored before its parent hears of it, so it was passed already.
            let known = self.episodes.get(child);
            if !known.is_some_and(|child| child.hashes.contains(head)) {
                let fault = VerifyFault::ChildHead {
                    child: child.clone(),
                };
                self.report(stored, fault, report);
            }
        }
        self.check_texts(stored, &mut record, report)
    }

    /// The record, if its chain is intact up to it.
    fn check_chain(
        &mut self,
        stored: &StoredRecord,
        report: &mut VerifyReport,
    ) -> Option<JournalRecord> {
        let run = self.run;
        let episode = self.episodes.entry(stored.episode.clone());
        let episode = episode.or_insert_with(|| EpisodeSummary {
            check: ChainCheck::new(run, stored.episode.clone()),
            hashes: Vec::new(),
            is_broken: false,
        });
        // Also after a break: heads are compared with what is stored.
        episode.hashes.push(stored.hash);
        if episode.is_broken {
            return None;
        }
        let (seq, fault) = match episode.check.step(&stored.bytes, &stored.hash) {
            Ok(record) if record.seq == stored.seq => return Some(record),
            Ok(record) => (record.seq, VerifyFault::Misfiled),
            Err(found) => (found.seq, VerifyFault::Chain(found)),
        };
        episode.is_broken = true;
        report.problem(Some(run), Some(stored.episode.clone()), Some(seq), fault);
        None
    }

    fn check_texts(
        &mut self,
        stored: &StoredRecord,
        record: &mut JournalRecord,
        report: &mut VerifyReport,
    ) -> Result<(), StoreError> {
        let mut addresses = Vec::new();
        record.each_text(&mut |text| addresses.extend(text.address()));
        for address in addresses {
            // Many records name the same text; its blob is checked once.
            if !self.texts.insert(address) {
                continue;
            }
            let fault = match self.journal.blob(self.run, &address)? {
                Some(bytes) if address_of(&bytes) == address => continue,
                Some(_) => VerifyFault::DamagedText { address },
                None if self.is_shredded => continue,
                None => VerifyFault::MissingText { address },
            };
            self.report(stored, fault, report);
        }
        Ok(())
    }

    fn report(&self, stored: &StoredRecord, fault: VerifyFault, report: &mut VerifyReport) {
        let episode = Some(stored.episode.clone());
        report.problem(Some(self.run), episode, Some(stored.seq), fault);
    }
}

/// A report under construction.
#[derive(Default)]
struct VerifyReport {
    found: Verification,
    unlisted: u64,
}

impl VerifyReport {
    fn problem(
        &mut self,
        run: Option<RunId>,
        episode: Option<EpisodeId>,
        seq: Option<Seq>,
        what: VerifyFault,
    ) {
        if self.found.problems.len() >= PROBLEMS_MAX {
            self.unlisted += 1;
            return;
        }
        self.found.problems.push(VerifyProblem {
            run,
            episode,
            seq,
            what,
        });
    }

    fn note(&mut self, note: String) {
        self.found.notes.push(note);
    }

    fn finish(mut self) -> Verification {
        if self.unlisted > 0 {
            let note = format!("{} further problems are not listed", self.unlisted);
            self.note(note);
        }
        self.found
    }
}
