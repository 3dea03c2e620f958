use super::*;
use crate::view::run_tests::{Teller, finished, result, run_id};
use fathom_core::budget::amounts::Dimension;
use fathom_core::id::Digest;
use fathom_core::journal::event::ReleaseReason;

#[test]
fn e08_the_result_of_a_finished_run() {
    let json = of(run_id(), &finished().story, vec!["a warning".to_owned()]).unwrap();
    insta::assert_json_snapshot!(json);
}

#[test]
fn e05_a_suspended_run_has_all_keys_too() {
    let mut teller = Teller::asked("may I?");
    teller.release(200, ReleaseReason::AwaitingApproval);
    let json = serde_json::to_value(of(run_id(), &teller.story, vec![])).unwrap();
    assert_eq!(json["status"], "needs_review");
    assert_eq!(json["stop_reason"], "awaiting_approval");
    assert_eq!(json["answer"], Value::Null);
    let finished = serde_json::to_value(of(run_id(), &finished().story, vec![])).unwrap();
    let keys = |json: &Value| {
        json.as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&json), keys(&finished));
}

#[test]
fn e05_a_stop_reason_is_a_word_and_what_it_says_beyond() {
    let dimension = Dimension::Money;
    for (reason, name, detail) in [
        (StopReason::Success, "success", Value::Null),
        (
            StopReason::BudgetExhausted { dimension },
            "budget_exhausted",
            serde_json::json!({"dimension": "money"}),
        ),
        (
            StopReason::PolicyDeny { rule: "r".into() },
            "policy_deny",
            serde_json::json!({"rule": "r"}),
        ),
    ] {
        let (found, more) = stop(&reason);
        assert_eq!(found, name);
        assert_eq!(more.unwrap_or_default(), detail);
    }
}

#[test]
fn sealed_texts_are_written_as_texts() {
    let mut sealed = result(EpisodeStatus::Ok, StopReason::Success, Some("yes"), 1);
    sealed.each_text(&mut |text| text.seal(Digest([7; 32])));
    let mut teller = Teller::asked("?");
    teller.end(500, sealed);
    let json = serde_json::to_value(of(run_id(), &teller.story, vec![])).unwrap();
    assert_eq!(json["answer"], "yes");
    assert_eq!(json["summary"], "asked\nanswered\n1 call");
}
