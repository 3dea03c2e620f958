//! Records of domains: appended in versions that are never changed, read in bounded slices.
//!
//! Episodes use [`DomainRecords::carry_out`], which enforces the owners and guardrails of a domain, and applies a
//! write once, however often it comes. People and the ingestion of events have functions of their own, which no
//! request of an episode reaches.

mod error;
mod seal;
mod table;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use fathom_core::contract::AgentRole;
use fathom_core::domain::records::{
    CapsuleBody, DomainRecord, RecordAnswer, RecordAuthor, RecordDraft, RecordFault, RecordKind,
    RecordPointer, RecordRequest, RecordRule, ReportVerdict, VerificationReport, check, check_id,
    sha256,
};
use fathom_core::domain::{DomainAccess, DomainRequest, name, owners};
use fathom_core::id::{AskId, EpisodeId, RunId};
use fathom_core::unit::Timestamp;
use serde::Deserialize as _;

pub use error::RecordStoreError;

use crate::journal::seal::RunKey;
use crate::symbols::RequestKey;
use error::RecordsResult;
use seal::RecordContent;
use table::{AppendOutcome, NewRow, RecordTable, TransactionError, WrittenBy};

/// Domains that people write by hand.
const BY_PEOPLE: [&str; 3] = [name::CONVERSATIONS, name::POLICY, name::FLAGS];

/// The records of a home.
pub struct DomainRecords {
    table: RecordTable,
}

impl fmt::Debug for DomainRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Records")
    }
}

/// The asking episode, its ask and the time.
#[derive(Clone, Debug)]
pub struct RecordCaller {
    pub run: RunId,
    /// Its place in the run.
    pub episode: EpisodeId,
    pub role: AgentRole,
    /// The ask, which identifies the request permanently.
    pub ask: AskId,
    pub at: Timestamp,
}

impl DomainRecords {
    /// Opens the file, or creates it. Contents are sealed under the secret.
    pub(crate) fn open(path: &Path, secret: &RunKey) -> RecordsResult<Self> {
        Ok(Self {
            table: RecordTable::open(path, secret)?,
        })
    }

    /// Answers an episode. A violation is a fault of the answer with the rule's name; a write whose ask was
    /// applied before changes nothing and is answered as it was then.
    pub fn carry_out(
        &self,
        who: &RecordCaller,
        asked: &DomainRequest,
    ) -> RecordsResult<RecordAnswer> {
        let request = match checked(who, asked) {
            Ok(request) => request,
            Err(fault) => return Ok(fault.into()),
        };
        let answer = match &request {
            RecordRequest::Append(draft) => self.append(who, asked, draft),
            RecordRequest::Read {
                kind,
                ids: Some(ids),
                since,
                limit,
                bytes_max,
            } => self.named(*kind, ids, since.unwrap_or_default(), *limit, *bytes_max),
            RecordRequest::Read {
                kind,
                ids: None,
                since,
                limit,
                bytes_max,
            } => self.slice(*kind, since.unwrap_or_default(), *limit, *bytes_max),
            RecordRequest::Latest { kind, id } => self.latest(*kind, id),
            RecordRequest::Capsule { kind, source } => {
                let capsule = self.table.sealer.capsule(*kind, *source);
                self.table
                    .read(|within| Ok(within.capsule(capsule)?.filter(is_verified)))
                    .map(|found| found_all(found.into_iter().collect()))
            }
        };
        match answer {
            Err(RecordStoreError::Refused { fault }) => Ok(fault.into()),
            answer => answer,
        }
    }

    /// Stores a record written by a person: a conversation summary, a version of the policies or a flag.
    pub fn append_by_person(
        &self,
        person: &str,
        at: Timestamp,
        draft: &RecordDraft,
    ) -> RecordsResult<RecordPointer> {
        if !BY_PEOPLE.contains(&draft.kind.domain()) {
            return Err(RecordFault::broken(
                RecordRule::ByPeople,
                format_args!("`{}` is not written by hand", draft.kind),
            )
            .into());
        }
        let author = RecordAuthor::Person {
            name: person.to_owned(),
        };
        self.keep(&author, at, draft, None, Vec::new())
    }

    /// Stores an event from outside. An unchanged one gets no new version.
    pub fn ingest(
        &self,
        from: &str,
        at: Timestamp,
        draft: &RecordDraft,
    ) -> RecordsResult<RecordPointer> {
        if draft.kind != RecordKind::EngagementEvent {
            return Err(RecordFault::broken(
                RecordRule::ByIngestion,
                format_args!("`{}` does not come in from outside", draft.kind),
            )
            .into());
        }
        let author = RecordAuthor::Ingestion {
            name: from.to_owned(),
        };
        self.keep(&author, at, draft, None, Vec::new())
    }

    /// The newest versions of a kind after a number, in order of creation, for people.
    pub fn list(
        &self,
        kind: RecordKind,
        since: u64,
        max: usize,
    ) -> RecordsResult<Vec<DomainRecord>> {
        self.table.read(|within| within.after(kind, since, max))
    }

    /// All versions of a record, oldest first, for people. Empty if it never existed.
    pub fn versions(&self, kind: RecordKind, id: &str) -> RecordsResult<Vec<DomainRecord>> {
        self.table.read(|within| within.versions(kind, id))
    }

    fn append(
        &self,
        who: &RecordCaller,
        asked: &DomainRequest,
        draft: &RecordDraft,
    ) -> RecordsResult<RecordAnswer> {
        let mut parts = vec![asked.domain.as_str(), asked.request.as_str()];
        parts.extend(asked.sources.iter().map(String::as_str));
        let by = WrittenBy {
            key: RequestKey::new(who.run, &who.episode, who.ask).to_string(),
            request: self.table.sealer.request(&parts),
        };
        let author = RecordAuthor::Episode {
            run: who.run,
            episode: who.episode.clone(),
            role: who.role,
        };
        let sources = asked.sources.clone();
        let written = self.keep(&author, who.at, draft, Some(&by), sources)?;
        Ok(RecordAnswer {
            written: Some(written),
            ..RecordAnswer::default()
        })
    }

    /// Checks a draft against all rules and adds it, in one transaction.
    fn keep(
        &self,
        author: &RecordAuthor,
        at: Timestamp,
        draft: &RecordDraft,
        by: Option<&WrittenBy>,
        sources: Vec<String>,
    ) -> RecordsResult<RecordPointer> {
        let named = check(draft)?;
        let capsule = (draft.kind == RecordKind::Capsule)
            .then(|| CapsuleBody::deserialize(&draft.body).ok())
            .flatten();
        let content = RecordContent {
            body: draft.body.clone(),
            evidence: draft.evidence.clone(),
            sources: with_domain(sources, draft.kind.domain()),
        };
        self.table.write(|within| {
            // Before all rules: a request that comes again is answered as it was, even if it would break a rule
            // now.
            if let Some(by) = by
                && let Some((written, request)) = within.applied(&by.key)?
            {
                return if request == by.request {
                    Ok(written)
                } else {
                    let key = by.key.clone();
                    Err(TransactionError::Refused(
                        RecordStoreError::AnotherRequest { key },
                    ))
                };
            }
            if let RecordAuthor::Ingestion { .. } = author
                && let Some(newest) = within.one(&RecordPointer::to(draft.kind, &draft.id))?
                && newest.body == draft.body
            {
                return Ok(pointer_to(&newest));
            }
            for pointer in &named {
                if !within.is_there(pointer)? {
                    return broken(
                        RecordRule::NamesExist,
                        format_args!("there is no `{pointer}`"),
                    );
                }
            }
            if let Some(capsule) = &capsule
                && capsule.verified
                && !passed(within, &named, &capsule.text)?
            {
                return broken(
                    RecordRule::CapsuleVerified,
                    "no report that is cited passed a text with this `sha256`",
                );
            }
            within.add(&NewRow {
                kind: draft.kind,
                id: &draft.id,
                at,
                author,
                content: &content,
                capsule: capsule
                    .as_ref()
                    .map(|capsule| self.table.sealer.capsule(capsule.kind, capsule.source)),
                by,
            })
        })
    }

    fn latest(&self, kind: RecordKind, id: &str) -> RecordsResult<RecordAnswer> {
        check_id(id)?;
        let pointer = RecordPointer::to(kind, id);
        let found = self.table.read(|within| within.one(&pointer))?;
        let found = found.ok_or_else(|| {
            RecordFault::broken(RecordRule::Found, format_args!("there is no `{pointer}`"))
        })?;
        Ok(found_all(vec![found]))
    }

    fn named(
        &self,
        kind: RecordKind,
        ids: &[String],
        since: u64,
        limit: u16,
        bytes_max: u32,
    ) -> RecordsResult<RecordAnswer> {
        let ids: BTreeSet<&String> = ids.iter().collect();
        let mut missing = Vec::new();
        let mut records = self.table.read(|within| {
            let mut records = Vec::new();
            for id in ids {
                match within.one(&RecordPointer::to(kind, id))? {
                    Some(record) if record.seq > since => records.push(record),
                    Some(_) => {}
                    None => missing.push(id.clone()),
                }
            }
            Ok(records)
        })?;
        records.sort_by_key(|record| record.seq);
        let answer = sliced(records, limit, bytes_max)?;
        Ok(RecordAnswer { missing, ..answer })
    }

    fn slice(
        &self,
        kind: RecordKind,
        since: u64,
        limit: u16,
        bytes_max: u32,
    ) -> RecordsResult<RecordAnswer> {
        // One more than requested shows whether there are more.
        let max = usize::from(limit) + 1;
        let records = self.table.read(|within| within.after(kind, since, max))?;
        sliced(records, limit, bytes_max)
    }
}

/// Parses and checks an episode's request. The governor checked it before; this check does not rely on that.
fn checked(
    who: &RecordCaller,
    asked: &DomainRequest,
) -> std::result::Result<RecordRequest, RecordFault> {
    let request: RecordRequest = serde_json::from_str(asked.request.as_str())
        .map_err(|error| RecordFault::broken(RecordRule::Form, error))?;
    let kind = request.kind();
    if kind.domain() != asked.domain {
        return Err(RecordFault::broken(
            RecordRule::KindOfDomain,
            format_args!("`{kind}` belongs to the domain `{}`", kind.domain()),
        ));
    }
    if request.is_write() != (asked.access == DomainAccess::Write) {
        return Err(RecordFault::broken(
            RecordRule::AskedAsWrite,
            "an append is asked for as a write, and everything else as a read",
        ));
    }
    owners(&asked.domain)
        .map_or(Ok(()), |owners| owners.check(who.role, asked.access))
        .map_err(|refusal| RecordFault::broken(RecordRule::Owner, refusal))?;
    request.check_bounds()?;
    Ok(request)
}

fn broken<T>(rule: RecordRule, what: impl fmt::Display) -> AppendOutcome<T> {
    Err(TransactionError::Refused(
        RecordFault::broken(rule, what).into(),
    ))
}

/// True if a cited report passed exactly this text.
fn passed(
    within: &table::RecordTransaction<'_>,
    cited: &[RecordPointer],
    text: &str,
) -> AppendOutcome<bool> {
    let digest = sha256(text);
    for pointer in cited {
        if pointer.kind != RecordKind::VerificationReport {
            continue;
        }
        let report = within.one(pointer)?;
        let report = report.and_then(|report| VerificationReport::deserialize(&report.body).ok());
        if report.is_some_and(|report| {
            report.verdict == ReportVerdict::Passed && report.sha256 == Some(digest)
        }) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_verified(record: &DomainRecord) -> bool {
    CapsuleBody::deserialize(&record.body).is_ok_and(|capsule| capsule.verified)
}

/// Sources including the domain, if it has untrusted content: what is stored there stays untrusted, whoever
/// wrote it.
fn with_domain(sources: Vec<String>, domain: &str) -> Vec<String> {
    let mut all: BTreeSet<String> = sources.into_iter().collect();
    if owners(domain).is_some_and(|owners| owners.untrusted) {
        all.insert(format!("domain:{domain}"));
    }
    all.into_iter().collect()
}

/// The first `limit` records. If they exceed the requested bytes they are refused, not truncated.
fn sliced(
    mut records: Vec<DomainRecord>,
    limit: u16,
    bytes_max: u32,
) -> RecordsResult<RecordAnswer> {
    let limit = usize::from(limit);
    let has_more = records.len() > limit;
    records.truncate(limit);
    let mut bytes = 0;
    let mut fitting = 0;
    for record in &records {
        bytes += record.body.to_string().len();
        fitting += usize::from(bytes <= bytes_max as usize);
    }
    if fitting < records.len() {
        return Err(RecordFault::broken(
            RecordRule::ReadBytes,
            format_args!(
                "{} records have {bytes} bytes and {bytes_max} are asked for; the first {fitting} would fit",
                records.len()
            ),
        )
        .into());
    }
    let next = records.last().filter(|_| has_more).map(|last| last.seq);
    Ok(RecordAnswer {
        next,
        ..found_all(records)
    })
}

fn found_all(records: Vec<DomainRecord>) -> RecordAnswer {
    let sources: BTreeSet<String> = records
        .iter()
        .flat_map(|record| record.sources.iter().cloned())
        .collect();
    RecordAnswer {
        records,
        sources: sources.into_iter().collect(),
        ..RecordAnswer::default()
    }
}

fn pointer_to(record: &DomainRecord) -> RecordPointer {
    RecordPointer {
        version: Some(record.version),
        ..RecordPointer::to(record.kind, &record.id)
    }
}
