//! Records of domains: who may append and read them, that nothing is changed in place, and what a crash leaves.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs, thread};

use fathom_core::contract::AgentRole;
use fathom_core::domain::records::{
    DomainRecord, RecordAnswer, RecordAuthor, RecordDraft, RecordFaultKind, RecordKind,
    RecordPointer, RecordRequest, RecordRule, sha256,
};
use fathom_core::domain::{DomainAccess, DomainRequest};
use fathom_core::id::{AskId, Digest, EpisodeId};
use fathom_core::unit::Timestamp;
use fathom_store::HomeFolder;
use fathom_store::records::{DomainRecords, RecordCaller, RecordStoreError};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::sample::run;

/// A home, whose records can be opened more than once, as by several processes.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn open(&self) -> DomainRecords {
        open(self.0.path()).unwrap()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "it looks at the file past the store"
    )]
    fn raw(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.0.path().join("domains.db")).unwrap()
    }
}

fn open(folder: &Path) -> Result<DomainRecords, RecordStoreError> {
    HomeFolder::open(folder).unwrap().open_records()
}

fn asker(role: AgentRole, ask: u32) -> RecordCaller {
    RecordCaller {
        run: run(1),
        episode: EpisodeId::root().child(2),
        role,
        ask: AskId(ask),
        at: Timestamp(1_000),
    }
}

fn request(access: DomainAccess, domain: &str, request: &RecordRequest) -> DomainRequest {
    DomainRequest::new(domain, access, serde_json::to_string(request).unwrap())
}

/// Asks as a role, for what the kind's own domain is asked for.
fn ask(records: &DomainRecords, role: AgentRole, ask: u32, wanted: &RecordRequest) -> RecordAnswer {
    let access = if wanted.is_write() {
        DomainAccess::Write
    } else {
        DomainAccess::Read
    };
    let asked = request(access, wanted.kind().domain(), wanted);
    records.carry_out(&asker(role, ask), &asked).unwrap()
}

fn draft(kind: RecordKind, id: &str, body: Value, evidence: &[&str]) -> RecordDraft {
    RecordDraft {
        kind,
        id: id.to_owned(),
        body,
        evidence: evidence.iter().map(|&at| at.to_owned()).collect(),
    }
}

fn append(kind: RecordKind, id: &str, body: Value, evidence: &[&str]) -> RecordRequest {
    RecordRequest::Append(draft(kind, id, body, evidence))
}

fn entry(id: &str, text: &str) -> RecordRequest {
    append(
        RecordKind::JournalEntry,
        id,
        json!({"title": "t", "text": text}),
        &[],
    )
}

fn event(id: &str, text: &str) -> RecordDraft {
    let body = json!({
        "platform": "forum", "account": "acme", "action": "comment", "author": "jo", "text": text, "at_ms": 5,
    });
    draft(RecordKind::EngagementEvent, id, body, &[])
}

fn read(kind: RecordKind, limit: u16, bytes_max: u32) -> RecordRequest {
    RecordRequest::Read {
        kind,
        ids: None,
        since: None,
        limit,
        bytes_max,
    }
}

fn latest(kind: RecordKind, id: &str) -> RecordRequest {
    let id = id.to_owned();
    RecordRequest::Latest { kind, id }
}

#[track_caller]
fn written(answer: &RecordAnswer) -> String {
    let written = answer.written.as_ref().map(ToString::to_string);
    written.unwrap_or_else(|| format!("not written: {:?}", answer.fault))
}

fn rule(answer: &RecordAnswer) -> Option<RecordRule> {
    assert!(answer.records.is_empty() && answer.written.is_none());
    answer.fault.as_ref().and_then(|fault| fault.rule)
}

/// Versions and texts.
fn texts(records: &[DomainRecord]) -> Vec<(u64, &str)> {
    let records = records.iter();
    records
        .map(|record| (record.version, record.body["text"].as_str().unwrap()))
        .collect()
}

#[test]
fn e12_an_append_is_a_version_and_the_versions_before_stay() {
    let place = Place::new();
    let records = place.open();
    for (number, text) in ["one", "two", "three"].into_iter().enumerate() {
        let number = u32::try_from(number).unwrap();
        let answer = ask(&records, AgentRole::Doc, number, &entry("day", text));
        assert_eq!(
            written(&answer),
            format!("journal_entry:day@{}", number + 1)
        );
    }
    let versions = records.versions(RecordKind::JournalEntry, "day").unwrap();
    assert_eq!(texts(&versions), [(1, "one"), (2, "two"), (3, "three")]);
    let newest = ask(
        &records,
        AgentRole::Planner,
        9,
        &latest(RecordKind::JournalEntry, "day"),
    );
    assert_eq!(texts(&newest.records), [(3, "three")]);
    assert_eq!(
        newest.records[0].by,
        RecordAuthor::Episode {
            run: run(1),
            episode: EpisodeId::root().child(2),
            role: AgentRole::Doc,
        }
    );
    assert_eq!(newest.records[0].at_ms, Timestamp(1_000));
    let none = ask(
        &records,
        AgentRole::Doc,
        9,
        &latest(RecordKind::JournalEntry, "night"),
    );
    assert_eq!(rule(&none), Some(RecordRule::Found));
}

#[test]
fn e12_nothing_is_changed_removed_or_replaced_past_the_store() {
    let place = Place::new();
    let records = place.open();
    for number in 0..2 {
        ask(&records, AgentRole::Doc, number, &entry("day", "x"));
    }
    let file = place.raw();
    for change in [
        "UPDATE records SET author = 'me'",
        "UPDATE records SET version = 7 WHERE seq = 2",
        "DELETE FROM records",
        "DELETE FROM records WHERE seq = 2",
        "REPLACE INTO records SELECT * FROM records WHERE seq = 1",
        "REPLACE INTO records SELECT 3, domain, kind, id, 1, at_ms, author, content, capsule, NULL, NULL FROM records WHERE seq = 1",
        "REPLACE INTO records SELECT 3, domain, kind, id, 3, at_ms, author, content, capsule, key, request FROM records WHERE seq = 1",
        "INSERT INTO records SELECT 3, domain, kind, id, 4, at_ms, author, content, capsule, NULL, NULL FROM records WHERE seq = 1",
        "INSERT INTO records SELECT 4, domain, kind, id, 3, at_ms, author, content, capsule, NULL, NULL FROM records WHERE seq = 1",
    ] {
        let error = file.execute(change, []).unwrap_err();
        assert!(error.to_string().contains("never"), "{change}: {error}");
    }
    assert_eq!(
        texts(&records.versions(RecordKind::JournalEntry, "day").unwrap()),
        [(1, "x"), (2, "x")]
    );
}

#[test]
fn e12_a_record_that_was_put_elsewhere_does_not_open() {
    let place = Place::new();
    let records = place.open();
    ask(&records, AgentRole::Doc, 0, &entry("day", "x"));
    place
        .raw()
        .execute(
            "INSERT INTO records SELECT 2, domain, kind, 'night', 1, at_ms, author, content, capsule, NULL, NULL FROM records",
            [],
        )
        .unwrap();
    let error = records
        .versions(RecordKind::JournalEntry, "night")
        .unwrap_err();
    assert_eq!(error.code(), "F0932");
    assert!(error.to_string().contains("journal_entry:night@1"));
}

#[test]
fn e12_what_records_say_is_not_to_be_read_in_the_file() {
    let place = Place::new();
    let records = place.open();
    let body = json!({"title": "t", "text": "a most telling phrase"});
    let said = append(
        RecordKind::JournalEntry,
        "day",
        body,
        &["receipt:telling-receipt"],
    );
    ask(&records, AgentRole::Doc, 0, &said);
    drop(records);
    let mut found = 0;
    for file in fs::read_dir(place.0.path()).unwrap() {
        let file = file.unwrap();
        if file.file_name().to_str().unwrap().starts_with("domains.db") {
            let bytes = fs::read(file.path()).unwrap();
            let holds = |text: &str| {
                bytes
                    .windows(text.len())
                    .any(|part| part == text.as_bytes())
            };
            assert!(!holds("telling"));
            found += usize::from(holds("journal_entry"));
        }
    }
    assert!(found > 0, "the kind stands in the clear");
}

#[test]
fn e12_a_write_that_comes_again_changes_nothing_and_is_answered_as_it_was() {
    let place = Place::new();
    let first = ask(&place.open(), AgentRole::Doc, 4, &entry("day", "one"));
    ask(&place.open(), AgentRole::Doc, 5, &entry("day", "two"));
    let records = place.open();
    assert_eq!(
        ask(&records, AgentRole::Doc, 4, &entry("day", "one")),
        first
    );
    assert_eq!(written(&first), "journal_entry:day@1");
    let versions = records.versions(RecordKind::JournalEntry, "day").unwrap();
    assert_eq!(texts(&versions), [(1, "one"), (2, "two")]);

    let other = request(DomainAccess::Write, "journal", &entry("day", "three"));
    let error = records
        .carry_out(&asker(AgentRole::Doc, 4), &other)
        .unwrap_err();
    assert_eq!(error.code(), "F0934");
    let mut tainted = request(DomainAccess::Write, "journal", &entry("day", "one"));
    tainted.sources = vec!["tool:http".to_owned()];
    let error = records.carry_out(&asker(AgentRole::Doc, 4), &tainted);
    assert_eq!(error.unwrap_err().code(), "F0934");
}

#[test]
fn e11_only_the_roles_of_a_domain_write_and_read_it() {
    let place = Place::new();
    let records = place.open();
    let body = json!({"title": "t", "text": "x"});
    let node = append(RecordKind::PlanNode, "a", body, &["capsule:brand"]);
    let flag = append(
        RecordKind::Flag,
        "a",
        json!({"value": 1, "reason": "x"}),
        &[],
    );
    let digest = Digest([1; 32]);
    let policy = json!({"version": "1", "digest": digest, "reason": "x"});
    let policy = append(RecordKind::PolicyBundle, "a", policy, &[]);
    let event = RecordRequest::Append(event("e-1", "x"));
    let all = [
        AgentRole::Orchestrator,
        AgentRole::Planner,
        AgentRole::Creator,
        AgentRole::Publisher,
        AgentRole::Engagement,
        AgentRole::Verifier,
        AgentRole::Doc,
    ];
    let mut refused = Vec::new();
    for role in all {
        if role != AgentRole::Planner {
            refused.push((role, &node));
        }
        refused.extend([(role, &event), (role, &policy), (role, &flag)]);
    }
    let conversations = read(RecordKind::ConversationSummary, 1, 1);
    let events = read(RecordKind::EngagementEvent, 1, 1);
    let plan = read(RecordKind::PlanNode, 1, 1);
    refused.extend([
        (AgentRole::Publisher, &conversations),
        (AgentRole::Doc, &conversations),
        (AgentRole::Creator, &events),
        (AgentRole::Orchestrator, &events),
        (AgentRole::Doc, &plan),
    ]);
    for (role, wanted) in refused {
        let answer = ask(&records, role, 0, wanted);
        assert_eq!(rule(&answer), Some(RecordRule::Owner), "{role} {wanted:?}");
        let fault = answer.fault.unwrap();
        assert_eq!(fault.kind, RecordFaultKind::NotOwner);
        assert!(fault.message.contains(wanted.kind().domain()), "{fault}");
    }
    assert_eq!(ask(&records, AgentRole::Planner, 0, &events).fault, None);
    // The planner gets as far as the rule that what it cites is there.
    let answer = ask(&records, AgentRole::Planner, 0, &node);
    assert_eq!(rule(&answer), Some(RecordRule::NamesExist));
}

#[test]
fn e11_an_append_does_not_pass_as_a_read_nor_under_another_domain() {
    let place = Place::new();
    let records = place.open();
    for (access, domain, wanted, expected) in [
        (
            DomainAccess::Read,
            "journal",
            entry("a", "x"),
            RecordRule::AskedAsWrite,
        ),
        (
            DomainAccess::Write,
            "journal",
            latest(RecordKind::JournalEntry, "a"),
            RecordRule::AskedAsWrite,
        ),
        (
            DomainAccess::Write,
            "plan",
            entry("a", "x"),
            RecordRule::KindOfDomain,
        ),
        (
            DomainAccess::Write,
            "journals",
            entry("a", "x"),
            RecordRule::KindOfDomain,
        ),
        (
            DomainAccess::Read,
            "journal",
            latest(RecordKind::EngagementEvent, "a"),
            RecordRule::KindOfDomain,
        ),
    ] {
        let asked = request(access, domain, &wanted);
        let answer = records
            .carry_out(&asker(AgentRole::Doc, 0), &asked)
            .unwrap();
        assert_eq!(rule(&answer), Some(expected), "{domain} {wanted:?}");
    }
    for said in ["", "append", r#"{"op":"delete","kind":"flag","id":"a"}"#] {
        let asked = DomainRequest::new("journal", DomainAccess::Write, said.to_owned());
        let answer = records
            .carry_out(&asker(AgentRole::Doc, 0), &asked)
            .unwrap();
        assert_eq!(rule(&answer), Some(RecordRule::Form), "{said}");
    }
    assert!(
        records
            .list(RecordKind::JournalEntry, 0, 9)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn e11_people_write_what_is_theirs_and_events_come_in() {
    let place = Place::new();
    let records = place.open();
    let at = Timestamp(7);
    let flag = |value: Value| {
        draft(
            RecordKind::Flag,
            "publish",
            json!({"value": value, "reason": "x"}),
            &[],
        )
    };
    let by_hand = |draft: &RecordDraft| records.append_by_person("jo", at, draft);
    assert_eq!(by_hand(&flag(json!(false))).unwrap().version, Some(1));
    assert_eq!(by_hand(&flag(json!(true))).unwrap().version, Some(2));
    let found = ask(
        &records,
        AgentRole::Publisher,
        0,
        &latest(RecordKind::Flag, "publish"),
    );
    assert_eq!(found.records[0].body["value"], json!(true));
    let name = "jo".to_owned();
    assert_eq!(found.records[0].by, RecordAuthor::Person { name });

    let raw = draft(
        RecordKind::ConversationSummary,
        "c-1",
        json!({"text": "ask jo@example.org"}),
        &[],
    );
    let error = by_hand(&raw).unwrap_err();
    assert_eq!(error.code(), "F0935");
    assert!(error.to_string().contains("`summary_redacted`"), "{error}");
    let RecordRequest::Append(theirs) = entry("a", "x") else {
        panic!("an append");
    };
    for not_theirs in [theirs.clone(), event("e-1", "x")] {
        let error = by_hand(&not_theirs).unwrap_err();
        assert!(error.to_string().contains("`by_people`"), "{error}");
    }

    let error = records.ingest("forum", at, &theirs).unwrap_err();
    assert!(error.to_string().contains("`by_ingestion`"), "{error}");
    let first = records.ingest("forum", at, &event("e-1", "when?")).unwrap();
    let again = records.ingest("forum", at, &event("e-1", "when?")).unwrap();
    assert_eq!((first.version, again.version), (Some(1), Some(1)));
    let edited = records
        .ingest("forum", at, &event("e-1", "where?"))
        .unwrap();
    assert_eq!(edited.version, Some(2));
    let versions = records
        .versions(RecordKind::EngagementEvent, "e-1")
        .unwrap();
    assert_eq!(texts(&versions), [(1, "when?"), (2, "where?")]);
}

#[test]
fn e11_what_a_record_names_must_be_there() {
    let place = Place::new();
    let records = place.open();
    let note = |id: &str| {
        let body = json!({"event": id, "labels": ["question"]});
        append(RecordKind::Annotation, "n-1", body, &[])
    };
    let answer = ask(&records, AgentRole::Engagement, 0, &note("e-1"));
    assert_eq!(rule(&answer), Some(RecordRule::NamesExist));
    let at = Timestamp(7);
    records.ingest("forum", at, &event("e-1", "when?")).unwrap();
    let answer = ask(&records, AgentRole::Engagement, 0, &note("e-1"));
    assert_eq!(written(&answer), "annotation:n-1@1");

    for (number, (evidence, is_there)) in [
        ("engagement_event:e-1", true),
        ("engagement_event:e-1@1", true),
        ("engagement_event:e-1@2", false),
        ("engagement_event:e-2", false),
        ("receipt:post-1", true),
    ]
    .into_iter()
    .enumerate()
    {
        let body = json!({"title": "t", "text": "x"});
        let entry = append(RecordKind::JournalEntry, "a", body, &[evidence]);
        let number = u32::try_from(number).unwrap() + 10;
        let answer = ask(&records, AgentRole::Doc, number, &entry);
        assert_eq!(answer.written.is_some(), is_there, "{evidence}");
        if !is_there {
            assert_eq!(rule(&answer), Some(RecordRule::NamesExist), "{evidence}");
        }
    }
}

#[test]
fn e11_what_came_from_outside_is_told_with_every_read() {
    let place = Place::new();
    let records = place.open();
    let at = Timestamp(7);
    records.ingest("forum", at, &event("e-1", "when?")).unwrap();
    let found = ask(
        &records,
        AgentRole::Engagement,
        0,
        &read(RecordKind::EngagementEvent, 5, 5_000),
    );
    assert_eq!(found.sources, ["domain:events"]);

    for (number, sources) in [
        vec!["tool:http", "domain:events"],
        vec![],
        vec!["tool:mail"],
    ]
    .into_iter()
    .enumerate()
    {
        let number = u32::try_from(number).unwrap();
        let mut asked = request(
            DomainAccess::Write,
            "journal",
            &entry(&format!("d-{number}"), "x"),
        );
        asked.sources = sources.into_iter().map(str::to_owned).collect();
        let answer = records
            .carry_out(&asker(AgentRole::Doc, number), &asked)
            .unwrap();
        assert!(answer.written.is_some());
    }
    let found = ask(
        &records,
        AgentRole::Planner,
        9,
        &read(RecordKind::JournalEntry, 5, 5_000),
    );
    assert_eq!(found.sources, ["domain:events", "tool:http", "tool:mail"]);
    assert_eq!(found.records[0].sources, ["domain:events", "tool:http"]);
    assert!(found.records[1].sources.is_empty());
    let one = ask(
        &records,
        AgentRole::Planner,
        9,
        &latest(RecordKind::JournalEntry, "d-1"),
    );
    assert!(one.sources.is_empty());
}

#[test]
fn e12_a_read_is_a_bounded_slice_and_is_never_clipped() {
    let place = Place::new();
    let records = place.open();
    for number in 0..5_u32 {
        ask(
            &records,
            AgentRole::Doc,
            number,
            &entry(&format!("d-{number}"), "x"),
        );
    }
    ask(&records, AgentRole::Doc, 5, &entry("d-1", "again"));
    let ids = |answer: &RecordAnswer| -> Vec<String> {
        let records = answer.records.iter();
        records.map(|record| record.id.clone()).collect()
    };
    let planner = |wanted: &RecordRequest| ask(&records, AgentRole::Planner, 9, wanted);
    let first = planner(&read(RecordKind::JournalEntry, 3, 1_000));
    assert_eq!(ids(&first), ["d-0", "d-2", "d-3"]);
    let rest = planner(&RecordRequest::Read {
        kind: RecordKind::JournalEntry,
        ids: None,
        since: first.next,
        limit: 3,
        bytes_max: 1_000,
    });
    assert_eq!(ids(&rest), ["d-4", "d-1"]);
    assert_eq!((rest.next, rest.records[1].version), (None, 2));

    let named = planner(&RecordRequest::Read {
        kind: RecordKind::JournalEntry,
        ids: Some(["d-3", "nobody", "d-1"].map(str::to_owned).to_vec()),
        since: None,
        limit: 3,
        bytes_max: 1_000,
    });
    assert_eq!(ids(&named), ["d-3", "d-1"]);
    assert_eq!(named.missing, ["nobody"]);

    for (wanted, expected) in [
        (
            read(RecordKind::JournalEntry, 51, 1_000),
            RecordRule::ReadLimit,
        ),
        (
            read(RecordKind::JournalEntry, 3, 65_537),
            RecordRule::ReadBytes,
        ),
        (read(RecordKind::JournalEntry, 3, 30), RecordRule::ReadBytes),
    ] {
        let answer = planner(&wanted);
        assert_eq!(rule(&answer), Some(expected), "{wanted:?}");
        let fault = answer.fault.unwrap();
        assert_eq!(fault.kind, RecordFaultKind::PastBound);
        assert!(fault.message.contains(&expected.to_string()), "{fault}");
    }
    // `{"text":"x","title":"t"}` has 24 bytes.
    assert_eq!(
        ids(&planner(&read(RecordKind::JournalEntry, 1, 24))),
        ["d-0"]
    );
    let answer = planner(&read(RecordKind::JournalEntry, 1, 23));
    assert_eq!(rule(&answer), Some(RecordRule::ReadBytes));
}

fn capsule(text: &str, source: Digest, verified: bool, evidence: &[&str]) -> RecordRequest {
    let body = json!({"kind": "brand", "source": source, "text": text, "verified": verified});
    append(RecordKind::Capsule, "brand", body, evidence)
}

fn report(records: &DomainRecords, ask_id: u32, id: &str, verdict: &str, text: &str) {
    let body = json!({
        "subject": "capsule:brand", "sha256": sha256(text), "verdict": verdict, "findings": "looked",
    });
    let report = append(RecordKind::VerificationReport, id, body, &[]);
    let answer = ask(records, AgentRole::Verifier, ask_id, &report);
    assert!(answer.written.is_some(), "{answer:?}");
}

#[test]
fn e12_a_verified_capsule_is_used_again_until_its_source_changes() {
    let place = Place::new();
    let records = place.open();
    let (source, changed) = (Digest([1; 32]), Digest([2; 32]));
    let find = |kind: &str, source: Digest| {
        let wanted = json!({"op": "capsule", "kind": kind, "source": source});
        let wanted = serde_json::from_value(wanted).unwrap();
        let answer = ask(&place.open(), AgentRole::Planner, 99, &wanted);
        assert_eq!(answer.fault, None);
        let found = answer.records.first();
        found.map(|record| record.body["text"].as_str().unwrap().to_owned())
    };
    let orchestrator = |number, wanted| ask(&records, AgentRole::Orchestrator, number, &wanted);

    assert_eq!(find("brand", source), None);
    let draft = orchestrator(0, capsule("warm and plain", source, false, &[]));
    assert_eq!(written(&draft), "capsule:brand@1");
    assert_eq!(find("brand", source), None, "nobody looked at it yet");

    report(&records, 1, "r-1", "passed", "warm and plain");
    report(&records, 2, "r-2", "failed", "cold");
    for (number, text, cited) in [
        (3, "cold", "verification_report:r-1"),
        (4, "cold", "verification_report:r-2"),
        (5, "warm and plain ", "verification_report:r-1"),
    ] {
        let answer = orchestrator(number, capsule(text, source, true, &[cited]));
        assert_eq!(
            rule(&answer),
            Some(RecordRule::CapsuleVerified),
            "{text} {cited}"
        );
    }
    let cited = ["verification_report:r-3"];
    let answer = orchestrator(6, capsule("warm and plain", source, true, &cited));
    assert_eq!(rule(&answer), Some(RecordRule::NamesExist));
    let cited = ["verification_report:r-1"];
    let kept = orchestrator(7, capsule("warm and plain", source, true, &cited));
    assert_eq!(written(&kept), "capsule:brand@2");

    assert_eq!(find("brand", source).as_deref(), Some("warm and plain"));
    assert_eq!(find("brand", changed), None, "the source is another one");
    assert_eq!(find("plan", source), None, "it is about something else");

    orchestrator(8, capsule("of the new source", changed, false, &[]));
    assert_eq!(find("brand", source).as_deref(), Some("warm and plain"));
    assert_eq!(find("brand", changed), None);
    orchestrator(9, capsule("taken back", source, false, &[]));
    assert_eq!(find("brand", source), None, "the newest is not verified");
}

#[test]
fn e12_a_write_that_was_not_committed_leaves_nothing() {
    let place = Place::new();
    let records = place.open();
    ask(&records, AgentRole::Doc, 0, &entry("day", "one"));
    let mut file = place.raw();
    let half = file
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .unwrap();
    half.execute(
        "INSERT INTO records SELECT 2, domain, kind, id, 2, at_ms, author, content, capsule, 'k', request FROM records",
        [],
    )
    .unwrap();
    assert_eq!(
        records
            .versions(RecordKind::JournalEntry, "day")
            .unwrap()
            .len(),
        1
    );
    drop(half);
    let answer = ask(&place.open(), AgentRole::Doc, 1, &entry("day", "two"));
    assert_eq!(written(&answer), "journal_entry:day@2");
    let versions = records.versions(RecordKind::JournalEntry, "day").unwrap();
    assert_eq!(texts(&versions), [(1, "one"), (2, "two")]);
}

/// Set in the process that is to be killed.
const FOLDER_VARIABLE: &str = "FATHOM_STORE_RECORDS_FOLDER";
const ANSWERED_BEFORE_KILL: usize = 40;

/// After a crash all requests come again: those that were answered, and the one that was under way.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a crash needs a process of its own, which is this test once more"
)]
fn e12_kill_nine_applies_no_append_twice() {
    if let Some(folder) = env::var_os(FOLDER_VARIABLE) {
        let records = open(Path::new(&folder)).unwrap();
        let mut out = std::io::stdout();
        for number in 0.. {
            ask(&records, AgentRole::Doc, number, &entry("day", "x"));
            writeln!(out, "answered {number}").unwrap();
        }
    }
    let place = Place::new();
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "records::e12_kill_nine_applies_no_append_twice",
            "--nocapture",
        ])
        .env(FOLDER_VARIABLE, place.0.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let answered = lines
        .map(Result::unwrap)
        .filter(|line| line.starts_with("answered "))
        .take(ANSWERED_BEFORE_KILL)
        .count();
    assert_eq!(answered, ANSWERED_BEFORE_KILL);
    // On this system that is signal 9.
    child.kill().unwrap();
    child.wait().unwrap();
    let records = place.open();
    let kept = records
        .versions(RecordKind::JournalEntry, "day")
        .unwrap()
        .len();
    assert!(kept >= ANSWERED_BEFORE_KILL);
    for number in 0..u32::try_from(kept).unwrap() {
        let answer = ask(&records, AgentRole::Doc, number, &entry("day", "x"));
        assert_eq!(
            written(&answer),
            format!("journal_entry:day@{}", number + 1)
        );
    }
    let after = records
        .versions(RecordKind::JournalEntry, "day")
        .unwrap()
        .len();
    assert_eq!(after, kept);
}

/// Appends by several connections at once, each to the ids that it is told.
fn append_at_once(place: &Place, plans: &[Vec<u8>]) -> BTreeMap<u8, Vec<u64>> {
    thread::scope(|scope| {
        for (writer, plan) in plans.iter().enumerate() {
            scope.spawn(move || {
                let records = place.open();
                for (number, id) in plan.iter().enumerate() {
                    let ask_id = u32::try_from(writer * 1_000 + number).unwrap();
                    let wanted = entry(&format!("d-{id}"), "x");
                    let answer = ask(&records, AgentRole::Doc, ask_id, &wanted);
                    assert!(answer.written.is_some(), "{answer:?}");
                }
            });
        }
    });
    let records = place.open();
    let mut found = BTreeMap::new();
    for id in plans.iter().flatten() {
        let versions = records.versions(RecordKind::JournalEntry, &format!("d-{id}"));
        let versions = versions.unwrap().iter().map(|one| one.version).collect();
        found.insert(*id, versions);
    }
    found
}

#[test]
fn e12_versions_have_no_gaps_however_many_append_at_once() {
    let config = Config {
        cases: 12,
        failure_persistence: None,
        ..Config::default()
    };
    let plans = prop::collection::vec(prop::collection::vec(0_u8..3, 0..8), 2..5);
    TestRunner::new(config)
        .run(&plans, |plans| {
            let found = append_at_once(&Place::new(), &plans);
            for (id, versions) in found {
                let count = plans.iter().flatten().filter(|one| **one == id).count();
                let expected: Vec<u64> = (1..=count as u64).collect();
                prop_assert_eq!(versions, expected);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn e12_one_request_through_two_connections_is_applied_once() {
    let place = Place::new();
    let answers: Vec<RecordAnswer> = thread::scope(|scope| {
        let one = || scope.spawn(|| ask(&place.open(), AgentRole::Doc, 0, &entry("day", "x")));
        let both = [one(), one(), one(), one()];
        both.map(|thread| thread.join().unwrap()).to_vec()
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let records = place.open();
    assert_eq!(
        records
            .versions(RecordKind::JournalEntry, "day")
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn e12_a_file_that_cannot_be_used_is_an_error_and_stays_as_it_is() {
    let place = Place::new();
    let file = place.0.path().join("domains.db");
    let noise =
        b"this is no database, and it is longer than a header of one hundred bytes: ".repeat(9);
    fs::write(&file, &noise).unwrap();
    let error = open(place.0.path()).unwrap_err();
    assert_eq!(error.code(), "F0931");
    assert!(error.hint().contains("backup"), "{}", error.hint());
    assert_eq!(fs::read(&file).unwrap(), noise);

    let place = Place::new();
    drop(place.open());
    place.raw().pragma_update(None, "user_version", 2).unwrap();
    assert_eq!(open(place.0.path()).unwrap_err().code(), "F0933");
}

#[test]
fn e12_records_do_not_open_with_another_key() {
    let place = Place::new();
    ask(&place.open(), AgentRole::Doc, 0, &entry("day", "x"));
    fs::remove_file(place.0.path().join("keys/domains.key")).unwrap();
    let records = place.open();
    let error = records.list(RecordKind::JournalEntry, 0, 9).unwrap_err();
    assert_eq!(error.code(), "F0932");
    let asked = request(
        DomainAccess::Read,
        "journal",
        &latest(RecordKind::JournalEntry, "day"),
    );
    let error = records
        .carry_out(&asker(AgentRole::Doc, 1), &asked)
        .unwrap_err();
    assert_eq!(error.code(), "F0932");
}

#[test]
fn e12_a_pointer_reads_as_it_is_written() {
    for text in ["plan_node:a", "capsule:brand:de@12"] {
        assert_eq!(text.parse::<RecordPointer>().unwrap().to_string(), text);
    }
}
