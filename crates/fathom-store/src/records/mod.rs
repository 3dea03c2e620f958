//! Records of domains: appended in versions that are never changed, read in bounded slices.
//!
//! Episodes use [`Records::carry_out`], which enforces the owners and guardrails of a domain, and applies a
//! write once, however often it comes. People and the ingestion of events have functions of their own, which no
//! request of an episode reaches.

mod error;
mod sealing;
mod table;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use fathom_core::contract::Role;
use fathom_core::domain::{Access, DomainRequest, name, owners};
use fathom_core::id::{AskId, EpisodeId, RunId};
use fathom_core::records::{
    Author, Capsule, Draft, Kind, Pointer, Record, RecordAnswer, RecordFault, RecordRequest,
    ReportVerdict, Rule, VerificationReport, check, check_id, sha256,
};
use fathom_core::unit::Timestamp;
use serde::Deserialize as _;

pub use error::RecordStoreError;

use crate::seal::RunKey;
use crate::symbols::RequestKey;
use error::Result;
use sealing::Content;
use table::{NewRow, Outcome, Table, Trouble, WrittenBy};

/// Domains that people write by hand.
const BY_PEOPLE: [&str; 3] = [name::CONVERSATIONS, name::POLICY, name::FLAGS];

/// The records of a home.
pub struct Records {
    table: Table,
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Records")
    }
}

/// The asking episode, its ask and the time.
#[derive(Clone, Debug)]
pub struct Asker {
    pub run: RunId,
    /// Its place in the run.
    pub episode: EpisodeId,
    pub role: Role,
    /// The ask, which identifies the request permanently.
    pub ask: AskId,
    pub at: Timestamp,
}

impl Records {
    /// Opens the file, or creates it. Contents are sealed under the secret.
    pub(crate) fn open(path: &Path, secret: &RunKey) -> Result<Self> {
        Ok(Self {
            table: Table::open(path, secret)?,
        })
    }

    /// Answers an episode. A violation is a fault of the answer with the rule's name; a write whose ask was
    /// applied before changes nothing and is answered as it was then.
    pub fn carry_out(&self, who: &Asker, asked: &DomainRequest) -> Result<RecordAnswer> {
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
    pub fn append_by_person(&self, person: &str, at: Timestamp, draft: &Draft) -> Result<Pointer> {
        if !BY_PEOPLE.contains(&draft.kind.domain()) {
            return Err(RecordFault::broken(
                Rule::ByPeople,
                format_args!("`{}` is not written by hand", draft.kind),
            )
            .into());
        }
        let author = Author::Person {
            name: person.to_owned(),
        };
        self.keep(&author, at, draft, None, Vec::new())
    }

    /// Stores an event from outside. An unchanged one gets no new version.
    pub fn ingest(&self, from: &str, at: Timestamp, draft: &Draft) -> Result<Pointer> {
        if draft.kind != Kind::EngagementEvent {
            return Err(RecordFault::broken(
                Rule::ByIngestion,
                format_args!("`{}` does not come in from outside", draft.kind),
            )
            .into());
        }
        let author = Author::Ingestion {
            name: from.to_owned(),
        };
        self.keep(&author, at, draft, None, Vec::new())
    }

    /// The newest versions of a kind after a number, in order of creation, for people.
    pub fn list(&self, kind: Kind, since: u64, max: usize) -> Result<Vec<Record>> {
        self.table.read(|within| within.after(kind, since, max))
    }

    /// All versions of a record, oldest first, for people. Empty if it never existed.
    pub fn versions(&self, kind: Kind, id: &str) -> Result<Vec<Record>> {
        self.table.read(|within| within.versions(kind, id))
    }

    fn append(&self, who: &Asker, asked: &DomainRequest, draft: &Draft) -> Result<RecordAnswer> {
        let mut parts = vec![asked.domain.as_str(), asked.request.as_str()];
        parts.extend(asked.sources.iter().map(String::as_str));
        let by = WrittenBy {
            key: RequestKey::new(who.run, &who.episode, who.ask).to_string(),
            request: self.table.sealer.request(&parts),
        };
        let author = Author::Episode {
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
        author: &Author,
        at: Timestamp,
        draft: &Draft,
        by: Option<&WrittenBy>,
        sources: Vec<String>,
    ) -> Result<Pointer> {
        let named = check(draft)?;
        let capsule = (draft.kind == Kind::Capsule)
            .then(|| Capsule::deserialize(&draft.body).ok())
            .flatten();
        let content = Content {
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
                    Err(Trouble::Refused(RecordStoreError::AnotherRequest { key }))
                };
            }
            if let Author::Ingestion { .. } = author
                && let Some(newest) = within.one(&Pointer::to(draft.kind, &draft.id))?
                && newest.body == draft.body
            {
                return Ok(pointer_to(&newest));
            }
            for pointer in &named {
                if !within.is_there(pointer)? {
                    return broken(Rule::NamesExist, format_args!("there is no `{pointer}`"));
                }
            }
            if let Some(capsule) = &capsule
                && capsule.verified
                && !passed(within, &named, &capsule.text)?
            {
                return broken(
                    Rule::CapsuleVerified,
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

    fn latest(&self, kind: Kind, id: &str) -> Result<RecordAnswer> {
        check_id(id)?;
        let pointer = Pointer::to(kind, id);
        let found = self.table.read(|within| within.one(&pointer))?;
        let found = found.ok_or_else(|| {
            RecordFault::broken(Rule::Found, format_args!("there is no `{pointer}`"))
        })?;
        Ok(found_all(vec![found]))
    }

    fn named(
        &self,
        kind: Kind,
        ids: &[String],
        since: u64,
        limit: u16,
        bytes_max: u32,
    ) -> Result<RecordAnswer> {
        let ids: BTreeSet<&String> = ids.iter().collect();
        let mut missing = Vec::new();
        let mut records = self.table.read(|within| {
            let mut records = Vec::new();
            for id in ids {
                match within.one(&Pointer::to(kind, id))? {
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

    fn slice(&self, kind: Kind, since: u64, limit: u16, bytes_max: u32) -> Result<RecordAnswer> {
        // One more than requested shows whether there are more.
        let max = usize::from(limit) + 1;
        let records = self.table.read(|within| within.after(kind, since, max))?;
        sliced(records, limit, bytes_max)
    }
}

/// Parses and checks an episode's request. The governor checked it before; this check does not rely on that.
fn checked(who: &Asker, asked: &DomainRequest) -> std::result::Result<RecordRequest, RecordFault> {
    let request: RecordRequest = serde_json::from_str(asked.request.as_str())
        .map_err(|error| RecordFault::broken(Rule::Form, error))?;
    let kind = request.kind();
    if kind.domain() != asked.domain {
        return Err(RecordFault::broken(
            Rule::KindOfDomain,
            format_args!("`{kind}` belongs to the domain `{}`", kind.domain()),
        ));
    }
    if request.is_write() != (asked.access == Access::Write) {
        return Err(RecordFault::broken(
            Rule::AskedAsWrite,
            "an append is asked for as a write, and everything else as a read",
        ));
    }
    owners(&asked.domain)
        .map_or(Ok(()), |owners| owners.check(who.role, asked.access))
        .map_err(|refusal| RecordFault::broken(Rule::Owner, refusal))?;
    request.check_bounds()?;
    Ok(request)
}

fn broken<T>(rule: Rule, what: impl fmt::Display) -> Outcome<T> {
    Err(Trouble::Refused(RecordFault::broken(rule, what).into()))
}

/// True if a cited report passed exactly this text.
fn passed(within: &table::Within<'_>, cited: &[Pointer], text: &str) -> Outcome<bool> {
    let digest = sha256(text);
    for pointer in cited {
        if pointer.kind != Kind::VerificationReport {
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

fn is_verified(record: &Record) -> bool {
    Capsule::deserialize(&record.body).is_ok_and(|capsule| capsule.verified)
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
fn sliced(mut records: Vec<Record>, limit: u16, bytes_max: u32) -> Result<RecordAnswer> {
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
            Rule::ReadBytes,
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

fn found_all(records: Vec<Record>) -> RecordAnswer {
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

fn pointer_to(record: &Record) -> Pointer {
    Pointer {
        version: Some(record.version),
        ..Pointer::to(record.kind, &record.id)
    }
}
