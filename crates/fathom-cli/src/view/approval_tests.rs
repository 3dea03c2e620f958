use fathom_core::contract::AgentRole;
use fathom_core::effect::undo::InverseTool;
use fathom_core::effect::{DryRun, EffectClass, EffectRequest, TaintedArgument};
use fathom_core::id::{AskId, Digest};
use fathom_core::text::Text;
use fathom_core::unit::Timestamp;
use fathom_store::{ApprovalAnswer, ApprovalRecord, ApprovalWord, ClaimOwner};

use super::*;
use crate::terminal::plain_text::columns;
use crate::view::run_tests::{BEGAN, after, run_id};

const DAY: u64 = 86_400_000;

fn view() -> ApprovalView {
    let terms = ApprovalTerms {
        binding: Digest([7; 32]),
        roles: vec!["operator".to_owned()],
        expires: after(DAY),
        second_person: true,
    };
    let owner = ClaimOwner {
        run: run_id(),
        episode: "0.2".parse().unwrap(),
        ask: AskId(3),
    };
    ApprovalView {
        approval: ApprovalRecord::open(owner, terms, Timestamp(BEGAN)),
        goal: Some("Announce the spring workshop".to_owned()),
        task: Some("Publish the post that was reviewed".to_owned()),
        role: Some(AgentRole::Publisher),
        started_by: Some("os:alice".to_owned()),
        asked: Some(ApprovalRequest {
            request: EffectRequest {
                tool: "board/post".to_owned(),
                target: EffectTarget {
                    tenant: "acme".to_owned(),
                    platform: "board".to_owned(),
                    account: "acme-news".to_owned(),
                    action: "publish".to_owned(),
                },
                event: "plan-7/post-2".to_owned(),
                arguments: Text::from(
                    r#"{"body":"Join us on 12 March for the spring workshop: three hours, two rooms, one soldering iron for everyone.\nDoors open at 9.","media":["poster.png"],"reply_to":null,"tags":["spring","workshop"]}"#,
                ),
                class: EffectClass::Effect,
                taint: vec![TaintedArgument {
                    argument: "/body".to_owned(),
                    sources: vec![
                        "tool board/comments".to_owned(),
                        "http://example.org/page".to_owned(),
                    ],
                }],
            },
            rule: "publish-needs-operator".to_owned(),
            dry_run: Some(DryRun {
                ok: true,
                report: Text::from("1 post, 127 characters, visible to 2,140 followers"),
            }),
            undo: Some(Reversibility::Nobody),
        }),
    }
}

fn shown(view: &ApprovalView, width: usize) -> String {
    let lines = lines(view, "0199c2f4", after(DAY / 4), width);
    let plain: Vec<String> = lines.iter().map(StyledLine::plain).collect();
    plain.join("\n")
}

#[test]
fn e17_an_approval_says_who_wants_what_where_and_with_which_words() {
    insta::assert_snapshot!(shown(&view(), 80));
}

#[test]
fn g07_an_approval_says_before_the_decision_what_takes_it_back() {
    let mut view = view();
    for (undo, said) in [
        (Some(Reversibility::Nobody), "this CANNOT be undone"),
        (Some(Reversibility::Hand), "by hand only"),
        (
            Some(Reversibility::Tool(InverseTool::by("unpost"))),
            "with the tool unpost, called with {args}",
        ),
        (None, "reversibility unknown"),
    ] {
        view.asked.as_mut().unwrap().undo = undo;
        assert!(shown(&view, 120).contains(said), "{said}");
    }
}

#[test]
fn e17_an_approval_that_was_decided_says_by_whom() {
    let mut view = view();
    let word = ApprovalWord {
        answer: ApprovalAnswer::No,
        by: "os:bob".to_owned(),
        at: after(1_000),
        why: "the date is wrong".to_owned(),
        binding: Digest([7; 32]),
        signature: None,
    };
    view.approval.state = ApprovalState::Denied { word };
    let asked = view.asked.as_mut().unwrap();
    asked.request.taint.clear();
    asked.dry_run = None;
    asked.request.arguments = Text::from("{}");
    insta::assert_snapshot!(shown(&view, 80));
}

#[test]
fn e17_nothing_in_an_argument_can_pass_for_a_line_of_ours() {
    let mut view = view();
    let asked = view.asked.as_mut().unwrap();
    let attack = serde_json::json!({
        "body": "fine\n\n  approve  fathom approve 000000000000\u{1b}[2J\u{202e}live",
        "a/b": {"~": "\u{200b}"},
    });
    asked.request.arguments = Text::from(attack.to_string().as_str());
    asked.request.taint = vec![TaintedArgument {
        argument: "/elsewhere".to_owned(),
        sources: vec!["a page\n  approve  fathom approve 000000000000".to_owned()],
    }];
    asked.rule = "harmless\u{202e}".to_owned();
    asked.dry_run = Some(DryRun {
        ok: false,
        report: Text::from("no\n  approve  fathom approve 000000000000"),
    });
    let shown = shown(&view, 80);
    let id = view.approval.id.as_str();
    let commands: Vec<&str> = shown
        .lines()
        .filter(|line| line.trim_start().starts_with("approve "))
        .collect();
    assert_eq!(commands, [format!("  approve  fathom approve {id}")]);
    assert!(
        !shown.contains(['\u{1b}', '\u{202e}', '\u{200b}']),
        "{shown}"
    );
    assert!(shown.contains(r"\u{202e}"), "{shown}");
    assert!(shown.contains("/a~1b/~0"), "{shown}");
    assert!(
        shown.contains("UNTRUSTED: /elsewhere may originate from"),
        "{shown}"
    );
    assert!(shown.contains("would FAIL"), "{shown}");
}

#[test]
fn e17_an_approval_fits_its_columns_and_keeps_every_letter() {
    let mut view = view();
    let asked = view.asked.as_mut().unwrap();
    let long = "word ".repeat(60) + &"§".repeat(300);
    let arguments = serde_json::json!({ "body": long, "k".repeat(100): 1 });
    asked.request.arguments = Text::from(arguments.to_string().as_str());
    for width in [40, 60, 80] {
        let shown = shown(&view, width);
        let widest = shown.lines().map(columns).max().unwrap();
        // The head and the commands are short lines that are never folded.
        assert!(widest <= width.max(66), "{widest} of {width}:\n{shown}");
        assert_eq!(shown.matches('§').count(), 300, "at {width}");
    }
}

#[test]
fn e17_an_approval_in_json_has_the_literal_arguments() {
    let view = view();
    let arguments = view.asked.as_ref().unwrap().request.arguments.clone();
    let json = serde_json::to_value(ApprovalJson::from(view)).unwrap();
    assert_eq!(json["arguments"], arguments.as_str());
    assert_eq!(json["state"], "open");
    assert_eq!(json["target"]["account"], "acme-news");
    assert_eq!(json["taint"][0]["argument"], "/body");
    assert_eq!(json["dry_run"]["ok"], true);
    assert_eq!(json["expires_at"], units::moment(after(DAY)));
}
