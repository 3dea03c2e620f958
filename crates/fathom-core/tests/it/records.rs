//! The guardrails of each kind of record, and what can be asked for.

use fathom_core::domain::records::{
    CAPSULE_CHARS_MAX, EVIDENCE_BYTES_MAX, LIST_MAX, READ_BYTES_MAX, RecordDraft, RecordFaultKind,
    RecordKind, RecordPointer, RecordRequest, RecordRule, SUMMARY_CHARS_MAX, check, sha256,
};
use fathom_core::domain::{OWNERS, owners};
use fathom_core::id::Digest;
use serde_json::{Value, json};

/// A good body of each kind, with its evidence.
fn good(kind: RecordKind) -> RecordDraft {
    let text = "spring is near";
    let digest = Digest([7; 32]);
    let (body, evidence) = match kind {
        RecordKind::PlanNode => (json!({"title": "t", "text": "x"}), vec!["capsule:brand@1"]),
        RecordKind::PlanEdge => (
            json!({"from": "a", "to": "b", "rationale": "first things first"}),
            vec!["receipt:post-1"],
        ),
        RecordKind::PlanVariant => (json!({"node": "a", "title": "t", "text": "x"}), vec![]),
        RecordKind::ScheduleProposal => (
            json!({"node": "a", "platform": "forum", "at_ms": 5, "reason": "people are up"}),
            vec![],
        ),
        RecordKind::Asset => (
            json!({
                "blueprint": "post", "plan": "a", "prompts": ["creator/1"], "provider": "local/1",
                "media": "text/plain", "content": text, "sha256": sha256(text),
            }),
            vec![],
        ),
        RecordKind::AssetEdge => (
            json!({"from": "a", "to": "b", "relation": "derived_from"}),
            vec![],
        ),
        RecordKind::AssetBundle => (json!({"title": "t", "assets": ["a", "b"]}), vec![]),
        RecordKind::PayloadSnapshot => (
            json!({
                "of": "asset_bundle:launch@2", "payload": {"b": 1, "a": text},
                "sha256": sha256(r#"{"a":"spring is near","b":1}"#),
            }),
            vec![],
        ),
        RecordKind::ConversationSummary => (
            json!({"text": "asked for the date, got it from redacted:email-1", "pointers": ["redacted:email-1"]}),
            vec![],
        ),
        RecordKind::EngagementEvent => (
            json!({"platform": "forum", "account": "acme", "action": "comment", "author": "jo@example.org", "text": "when?", "at_ms": 5}),
            vec![],
        ),
        RecordKind::Annotation => (json!({"event": "e-1", "labels": ["question"]}), vec![]),
        RecordKind::EngagementAction => (
            json!({"event": "e-1", "action": "reply", "text": "soon"}),
            vec![],
        ),
        RecordKind::HandoffTicket => (
            json!({"tried": "to post", "known": "it is full", "asked": "make room", "deadline_ms": 9}),
            vec![],
        ),
        RecordKind::PolicyBundle => (
            json!({"version": "4", "digest": digest, "reason": "no links"}),
            vec![],
        ),
        RecordKind::Flag => (json!({"value": true, "reason": "launch week"}), vec![]),
        RecordKind::Capsule => (
            json!({"kind": "brand", "source": digest, "text": text, "refs": ["brand/voice.md"], "verified": true}),
            vec!["verification_report:r-1"],
        ),
        RecordKind::VerificationReport => (
            json!({"subject": "receipt:post-1", "verdict": "passed", "findings": "it is there"}),
            vec![],
        ),
        RecordKind::JournalEntry => (json!({"title": "t", "text": "x"}), vec![]),
    };
    RecordDraft {
        kind,
        id: "one".to_owned(),
        body,
        evidence: evidence.into_iter().map(str::to_owned).collect(),
    }
}

/// The rule that a change of a good draft breaks.
fn broken(kind: RecordKind, change: impl FnOnce(&mut RecordDraft)) -> RecordRule {
    let mut draft = good(kind);
    change(&mut draft);
    let fault = check(&draft).expect_err("it must be refused");
    let rule = fault.rule.expect("a rule is named");
    assert!(fault.message.contains(&format!("`{rule}`")), "{fault}");
    rule
}

/// The rule that another value of a field breaks.
fn with(kind: RecordKind, field: &str, value: Value) -> RecordRule {
    broken(kind, |draft| draft.body[field] = value)
}

fn cut(kind: RecordKind, field: &str) -> RecordRule {
    broken(kind, |draft| {
        draft.body.as_object_mut().expect("an object").remove(field);
    })
}

fn evidence(kind: RecordKind, evidence: &[&str]) -> RecordRule {
    broken(kind, |draft| {
        draft.evidence = evidence.iter().map(|&at| at.to_owned()).collect();
    })
}

#[test]
fn e11_every_kind_has_a_good_form_a_domain_and_no_other_fields() {
    for kind in RecordKind::ALL {
        let draft = good(kind);
        assert_eq!(check(&draft).map(drop), Ok(()), "{kind}");
        assert!(owners(kind.domain()).is_some(), "{kind}");
        assert_eq!(kind.to_string().parse(), Ok(kind));
        assert_eq!(with(kind, "also", json!(1)), RecordRule::Form, "{kind}");
        assert_eq!(
            broken(kind, |draft| draft.body = json!("x")),
            RecordRule::Form
        );
        assert_eq!(
            broken(kind, |draft| draft.id = "a b".into()),
            RecordRule::Id
        );
        assert_eq!(
            broken(kind, |draft| draft.id = String::new()),
            RecordRule::Id
        );
        assert_eq!(
            broken(kind, |draft| draft.id = "a".repeat(129)),
            RecordRule::Id
        );
        assert_eq!(
            broken(kind, |draft| draft.id = "../a".into()),
            RecordRule::Id
        );
        let large = json!("x".repeat(READ_BYTES_MAX as usize));
        assert_eq!(with(kind, "also", large), RecordRule::BodyBytes, "{kind}");
    }
    for owners in OWNERS {
        assert!(
            RecordKind::of(owners.domain).next().is_some(),
            "{}",
            owners.domain
        );
    }
}

#[test]
fn e11_every_text_of_a_body_says_something_and_not_too_much() {
    for kind in RecordKind::ALL {
        let body = good(kind).body;
        let texts = body.as_object().expect("an object").iter();
        let may_be_empty = |field: &str| {
            matches!(
                (kind, field),
                (
                    RecordKind::EngagementEvent | RecordKind::EngagementAction,
                    "text"
                ) | (RecordKind::Flag, "value")
            )
        };
        for (field, _) in texts.filter(|(_, value)| value.is_string()) {
            let long = with(kind, field, json!("x ".repeat(20_000)));
            let own = [
                RecordRule::Field,
                RecordRule::Id,
                RecordRule::Form,
                RecordRule::SummaryBounded,
                RecordRule::CapsuleBounded,
                RecordRule::AssetHash,
            ];
            assert!(own.contains(&long), "{kind} {field} {long}");
            if !may_be_empty(field) {
                let empty = with(kind, field, json!("  "));
                let own = [
                    RecordRule::Field,
                    RecordRule::Id,
                    RecordRule::Form,
                    RecordRule::EdgeRationale,
                    RecordRule::TicketWhole,
                ];
                assert!(own.contains(&empty), "{kind} {field} {empty}");
                assert_eq!(cut(kind, field), RecordRule::Form, "{kind} {field}");
            }
        }
    }
}

#[test]
fn e11_evidence_is_pointers() {
    let kind = RecordKind::JournalEntry;
    for bad in [
        "brand",
        "capsule:",
        ":x",
        "receipt:a b",
        "receipt:é",
        "capsule:brand@0",
        "capsule:brand@02",
        "capsule:brand@x",
        "capsule:a/b",
    ] {
        assert_eq!(evidence(kind, &[bad]), RecordRule::EvidenceForm, "{bad}");
    }
    let long = format!("receipt:{}", "x".repeat(EVIDENCE_BYTES_MAX));
    assert_eq!(evidence(kind, &[&long]), RecordRule::EvidenceForm);
    assert_eq!(
        evidence(kind, &["receipt:1"; LIST_MAX + 1]),
        RecordRule::EvidenceForm
    );
}

#[test]
fn e11_a_plan_node_cites_a_capsule_or_a_summary() {
    let kind = RecordKind::PlanNode;
    assert_eq!(evidence(kind, &[]), RecordRule::NodeEvidence);
    assert_eq!(evidence(kind, &["receipt:1"]), RecordRule::NodeEvidence);
    assert_eq!(evidence(kind, &["plan_node:a"]), RecordRule::NodeEvidence);
    assert_eq!(evidence(kind, &["capsules:a"]), RecordRule::NodeEvidence);
    for good_enough in ["capsule:brand", "conversation_summary:c-1@3"] {
        let draft = RecordDraft {
            evidence: vec![good_enough.to_owned()],
            ..good(kind)
        };
        let cited = good_enough.parse().expect("a pointer");
        assert_eq!(check(&draft), Ok(vec![cited]));
    }
}

#[test]
fn e11_a_plan_edge_has_two_ends_a_rationale_and_evidence() {
    let kind = RecordKind::PlanEdge;
    assert_eq!(
        with(kind, "rationale", json!(" \n")),
        RecordRule::EdgeRationale
    );
    assert_eq!(evidence(kind, &[]), RecordRule::EdgeEvidence);
    assert_eq!(with(kind, "to", json!("a")), RecordRule::EdgeEnds);
    assert_eq!(
        with(RecordKind::AssetEdge, "to", json!("a")),
        RecordRule::EdgeEnds
    );
    let ends = ["a", "b"].map(|id| RecordPointer::to(RecordKind::PlanNode, id));
    assert_eq!(check(&good(kind)), Ok(ends.to_vec()));
}

#[test]
fn e11_an_asset_says_from_what_it_was_made_and_its_digest_is_true() {
    let kind = RecordKind::Asset;
    for field in ["blueprint", "plan", "prompts", "provider", "sha256"] {
        assert_eq!(cut(kind, field), RecordRule::Form, "{field}");
    }
    assert_eq!(with(kind, "prompts", json!([])), RecordRule::AssetPrompts);
    assert_eq!(with(kind, "prompts", json!([" "])), RecordRule::Field);
    assert_eq!(
        with(kind, "content", json!("spring is far")),
        RecordRule::AssetHash
    );
    assert_eq!(
        with(kind, "sha256", json!(Digest([1; 32]))),
        RecordRule::AssetHash
    );
    assert_eq!(with(kind, "sha256", json!("abc")), RecordRule::Form);
    assert_eq!(
        with(RecordKind::AssetBundle, "assets", json!([])),
        RecordRule::Field
    );
    assert_eq!(
        with(RecordKind::AssetBundle, "assets", json!(["a b"])),
        RecordRule::Id
    );
}

#[test]
fn e11_a_payload_is_that_of_an_asset_and_its_digest_is_true() {
    let kind = RecordKind::PayloadSnapshot;
    assert_eq!(
        with(kind, "of", json!("plan_node:a")),
        RecordRule::PayloadOf
    );
    assert_eq!(with(kind, "of", json!("a")), RecordRule::Form);
    assert_eq!(
        with(kind, "payload", json!({"a": 2})),
        RecordRule::PayloadHash
    );
    assert_eq!(
        with(kind, "sha256", json!(Digest([1; 32]))),
        RecordRule::PayloadHash
    );
    assert_eq!(cut(kind, "sha256"), RecordRule::Form);
}

#[test]
fn e11_a_summary_is_bounded() {
    let kind = RecordKind::ConversationSummary;
    let long = "é".repeat(SUMMARY_CHARS_MAX);
    let mut draft = good(kind);
    draft.body["text"] = json!(long);
    assert_eq!(check(&draft), Ok(Vec::new()));
    assert_eq!(
        with(kind, "text", json!(long + "é")),
        RecordRule::SummaryBounded
    );
}

#[test]
fn e11_a_summary_points_to_nothing_raw() {
    for raw in [
        "ask jane.doe+x@mail.example.org, please",
        "ask <jane@example.org>.",
        "ask jane%40example.org",
        "ask jane＠example.org",
        "see https://forum.example/t/4?user=jane",
        "see http://forum.example/t/4#reply-2",
        "see https://jane:pw@forum.example/",
        "mailto:jane@example.org",
        "see file:///srv/mail/dm.json",
        "see (data:text/plain;base64,amFuZQ==)",
        "order 123456789 is late",
        "user_1234567890",
        "call +49 170 123 45 67",
        "call 0049-170-1234567",
        "thread 0190163d-8694-739b-aea5-966c26f8ad91 is closed",
        "payload 9f86d081884c7d65",
        "redacted:jane@example.org",
        "redacted:123456789",
    ] {
        let rule = with(RecordKind::ConversationSummary, "text", json!(raw));
        assert_eq!(rule, RecordRule::SummaryRedacted, "{raw}");
        let mut draft = good(RecordKind::ConversationSummary);
        draft.body["text"] = json!(raw);
        let said = check(&draft).expect_err("it is raw").message;
        assert!(!said.contains("jane") && !said.contains("123"), "{said}");
    }
    for fine in [
        "on 2026-11-16 at 09:53:45 two of 1,250 people asked @acme about it",
        "the page is https://forum.example/t/4 and the metadata: none",
        "redacted:email-1 wrote to redacted:url and called redacted:phone-12",
        "a café, 50% off, 3 @ 5 each; profile: empty, the data: good",
        "100+ people, 2000 of them on 2026/11/16",
    ] {
        let mut draft = good(RecordKind::ConversationSummary);
        draft.body["text"] = json!(fine);
        assert_eq!(check(&draft).map(drop), Ok(()), "{fine}");
    }
    for bad in [
        "email-1",
        "redacted:",
        "redacted:Jane",
        "redacted:email-1234",
        "redacted:123",
        "redacted:a b",
        "https://forum.example/t/4",
    ] {
        let rule = with(RecordKind::ConversationSummary, "pointers", json!([bad]));
        assert_eq!(rule, RecordRule::SummaryRedacted, "{bad}");
    }
}

#[test]
fn e11_an_annotation_and_a_ticket_say_something() {
    let labels = with(RecordKind::Annotation, "labels", json!([]));
    assert_eq!(labels, RecordRule::AnnotationSays);
    assert_eq!(
        with(RecordKind::Annotation, "risks", json!([""])),
        RecordRule::Field
    );
    assert_eq!(
        with(RecordKind::Annotation, "text", json!("changed")),
        RecordRule::Form
    );
    for field in ["tried", "known", "asked"] {
        let empty = with(RecordKind::HandoffTicket, field, json!(""));
        assert_eq!(empty, RecordRule::TicketWhole, "{field}");
    }
    assert_eq!(
        cut(RecordKind::HandoffTicket, "deadline_ms"),
        RecordRule::Form
    );
}

#[test]
fn e12_a_capsule_is_bounded_and_no_author_calls_it_verified() {
    let kind = RecordKind::Capsule;
    let long = json!("x".repeat(CAPSULE_CHARS_MAX + 1));
    assert_eq!(with(kind, "text", long), RecordRule::CapsuleBounded);
    assert_eq!(with(kind, "kind", json!("mood")), RecordRule::Form);
    assert_eq!(evidence(kind, &[]), RecordRule::CapsuleVerified);
    assert_eq!(
        evidence(kind, &["capsule:brand"]),
        RecordRule::CapsuleVerified
    );
    for about in ["brand", "knowledge", "plan", "asset", "engagement"] {
        let mut draft = good(kind);
        draft.body["kind"] = json!(about);
        assert_eq!(check(&draft).map(drop), Ok(()), "{about}");
    }
    let mut unverified = good(kind);
    unverified.body["verified"] = json!(false);
    unverified.evidence.clear();
    assert_eq!(check(&unverified), Ok(Vec::new()));
}

#[test]
fn e12_a_read_past_its_bound_is_refused_by_the_name_of_the_rule() {
    let read = |ids: Option<usize>, limit, bytes_max| RecordRequest::Read {
        kind: RecordKind::PlanNode,
        ids: ids.map(|count| vec!["a".to_owned(); count]),
        since: None,
        limit,
        bytes_max,
    };
    let rule = |request: RecordRequest| {
        let fault = request.check_bounds().expect_err("past its bound");
        assert_eq!(fault.kind, RecordFaultKind::PastBound);
        fault.rule
    };
    assert_eq!(read(None, 50, 64 << 10).check_bounds(), Ok(()));
    assert_eq!(read(Some(50), 50, 0).check_bounds(), Ok(()));
    assert_eq!(rule(read(None, 51, 1)), Some(RecordRule::ReadLimit));
    assert_eq!(rule(read(None, 0, 1)), Some(RecordRule::ReadLimit));
    assert_eq!(rule(read(Some(51), 1, 1)), Some(RecordRule::ReadLimit));
    assert_eq!(
        rule(read(None, 1, (64 << 10) + 1)),
        Some(RecordRule::ReadBytes)
    );
}

#[test]
fn e12_requests_are_read_as_they_are_written_and_nothing_else_is() {
    for said in [
        r#"{"op":"append","kind":"plan_node","id":"a","body":{"title":"t"},"evidence":["capsule:brand"]}"#,
        r#"{"op":"read","kind":"plan_node","ids":["a"],"since":4,"limit":5,"bytes_max":600}"#,
        r#"{"op":"latest","kind":"flag","id":"a"}"#,
        r#"{"op":"capsule","kind":"brand","source":"0707070707070707070707070707070707070707070707070707070707070707"}"#,
    ] {
        let request: RecordRequest = serde_json::from_str(said).expect("a request");
        assert_eq!(serde_json::to_string(&request).expect("JSON"), said);
        assert_eq!(request.is_write(), said.contains("append"));
        let more = said.replacen('{', r#"{"by":"person","#, 1);
        assert!(
            serde_json::from_str::<RecordRequest>(&more).is_err(),
            "{more}"
        );
    }
    let missing = r#"{"op":"read","kind":"plan_node","limit":5}"#;
    assert!(serde_json::from_str::<RecordRequest>(missing).is_err());
}
