//! What an episode has before it may start.

use fathom_core::budget::amounts::Amounts;
use fathom_core::contract::stop::StopReason;
use fathom_core::episode::result::EpisodeStatus;
use fathom_core::journal::event::EpisodeSpec;
use fathom_core::text::Text;
use fathom_programs::direct;
use serde_json::Value;

use fathom_testkit::manual_host::host::ManualHost;
use fathom_testkit::manual_host::samples::{AMPLE, program, root};
use fathom_testkit::manual_host::scripted_program::Scripts;

#[test]
fn e01_an_episode_starts_with_all_its_parts_or_not_at_all() {
    let whole = serde_json::to_value(root(AMPLE)).unwrap();
    assert_eq!(
        serde_json::from_value::<EpisodeSpec>(whole.clone()).unwrap(),
        root(AMPLE)
    );
    let parts: Vec<&String> = whole.as_object().unwrap().keys().collect();
    for needed in ["goal", "role", "program", "contract", "budget"] {
        assert!(parts.iter().any(|part| *part == needed), "{needed}");
    }
    // A frame that is not there is an empty one.
    for part in parts.into_iter().filter(|part| *part != "frame") {
        let mut lacking = whole.clone();
        lacking.as_object_mut().unwrap().remove(part);
        let refused = serde_json::from_value::<EpisodeSpec>(lacking);
        assert!(refused.is_err(), "it started without its {part}");
    }
}

#[test]
fn e01_a_budget_names_every_dimension() {
    let whole = serde_json::to_value(root(AMPLE)).unwrap();
    let mut dimensions: Vec<String> = whole["budget"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    dimensions.sort_unstable();
    assert_eq!(
        dimensions,
        ["calls", "episodes", "money", "time", "tokens", "tools"]
    );
    for dimension in dimensions {
        let mut lacking = whole.clone();
        lacking["budget"]
            .as_object_mut()
            .unwrap()
            .remove(&dimension);
        assert!(
            serde_json::from_value::<EpisodeSpec>(lacking).is_err(),
            "it started without {dimension}"
        );
    }
}

#[test]
fn e01_a_program_needs_its_name_and_its_parameters() {
    let whole = serde_json::to_value(root(AMPLE)).unwrap();
    for part in ["name", "params"] {
        let mut lacking = whole.clone();
        lacking["program"].as_object_mut().unwrap().remove(part);
        assert!(
            serde_json::from_value::<EpisodeSpec>(lacking).is_err(),
            "{part}"
        );
    }
}

fn ends_unbuilt(started: EpisodeSpec, rule: &str) {
    let desk = ManualHost::open(Scripts::default(), started);
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::Failed);
    let rule = rule.to_owned();
    assert_eq!(result.stop_reason, StopReason::PolicyDeny { rule });
    let only_itself = Amounts {
        episodes: 1,
        ..Amounts::ZERO
    };
    assert_eq!(result.budget.spent, only_itself);
    assert_eq!(desk.log.entries.len(), 1, "it ended as it began");
}

#[test]
fn e01_a_program_that_nobody_knows_still_ends_with_a_result() {
    let mut started = root(AMPLE);
    started.program = program("soothsayer");
    ends_unbuilt(started, "there is no program `soothsayer`");
}

#[test]
fn e01_parameters_that_do_not_fit_still_end_with_a_result() {
    let mut started = root(AMPLE);
    started.program = program(direct::NAME);
    started.program.params = Text::from(r#"{"outputs": 3}"#);
    let error = serde_json::from_str::<direct::DirectConfig>(r#"{"outputs": 3}"#).unwrap_err();
    ends_unbuilt(
        started,
        &format!("the parameters of program `direct` are not valid: {error}"),
    );
}

#[test]
fn e01_a_second_start_changes_nothing() {
    let scripts = Scripts::root(vec![vec![fathom_testkit::manual_host::samples::call(5, 5)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    let before = desk.log.entries.len();
    desk.start(root(AMPLE));
    assert_eq!(desk.log.entries.len(), before);
    desk.reply_next("done");
    assert_eq!(
        desk.result().answer.as_ref().map(Text::as_str),
        Some("done")
    );
}

#[test]
fn e01_unknown_keys_of_a_contract_are_refused() {
    let mut whole = serde_json::to_value(root(AMPLE)).unwrap();
    whole["contract"]["allowed_tool"] = Value::from(vec!["post"]);
    assert!(serde_json::from_value::<EpisodeSpec>(whole).is_err());
}
