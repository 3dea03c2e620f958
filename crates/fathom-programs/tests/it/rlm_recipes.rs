//! `rlm` with recipes that are chosen: by rules, by the model, and what becomes of those that find nothing.

use fathom_core::contract::stop::{ErrorClass, StopReason};
use fathom_core::episode::result::{EpisodeResult, EpisodeStatus};
use fathom_core::id::{AskId, Digest, EpisodeId};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::EventKind;
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::run::step::HostStep;
use fathom_core::sandbox::{
    CellError, CellErrorKind, CellOutput, CellResult, CellValue, ValueFormat,
};
use fathom_core::text::Text;
use fathom_programs::BuiltInPrograms;
use fathom_programs::rlm::{MaterialItem, MaterialSource, RecipeMode, RlmConfig, RlmReport};

use fathom_testkit::manual_host::host::ManualHost;
use fathom_testkit::manual_host::samples::{AMPLE, root};

const LOOK: &str = r#"{"sources": [{"name": "", "kind": "text", "size": 9, "format": "CSV", "head": "a", "fields": [
    {"name": "category", "is_number": false, "values": ["billing", "login"]},
    {"name": "minutes", "is_number": true, "values": []}]}]}"#;

fn given(name: &str) -> MaterialItem {
    MaterialItem {
        name: name.into(),
        form: ValueFormat::Text,
        bytes: 50_000_000,
        chars: 50_000_000,
        lines: 700_000,
        preview: "id,category".into(),
        digest: Digest::default(),
        place: MaterialSource::File {
            path: format!("/data/{name}"),
        },
    }
}

fn ask_with(question: &str, params: &RlmConfig) -> ManualHost {
    let mut started = root(AMPLE);
    started.goal = question.into();
    started.program = params.spec();
    ManualHost::open(BuiltInPrograms, started)
}

fn ask(question: &str) -> ManualHost {
    let params = RlmConfig {
        given: vec![given("tickets.csv")],
        recipes: RecipeMode::Chosen,
        ..RlmConfig::default()
    };
    ask_with(question, &params)
}

/// The cell that is to be run next.
#[track_caller]
fn cell(desk: &mut ManualHost) -> (EpisodeId, AskId, String) {
    let is_cell = |step: &HostStep| {
        matches!(
            step,
            HostStep::Host {
                command: Command::RunCell { .. },
                ..
            }
        )
    };
    let place = desk.steps.iter().position(is_cell);
    match place.map(|place| desk.steps.remove(place)) {
        Some(HostStep::Host {
            episode,
            ask,
            command: Command::RunCell { code, .. },
        }) => (episode, ask, code.as_str().to_owned()),
        _ => panic!("no cell is run; there is {:?}", desk.steps),
    }
}

/// Ends the next cell, and gives its first line.
#[track_caller]
fn end(desk: &mut ManualHost, end: CellResult) -> String {
    let (episode, ask, code) = cell(desk);
    let end = Box::new(end);
    desk.deliver(&episode, EventKind::CellFinished { ask, end });
    code.lines().next().unwrap_or_default().to_owned()
}

fn printed(text: &str) -> CellResult {
    CellResult {
        output: CellOutput {
            head: text.into(),
            tail: None,
            bytes: text.len() as u64,
        },
        ..CellResult::default()
    }
}

fn submitted(text: &str) -> CellResult {
    CellResult {
        submitted: Some(CellValue {
            form: ValueFormat::Text,
            text: text.into(),
        }),
        ..CellResult::default()
    }
}

fn raised() -> CellResult {
    CellResult {
        error: Some(CellError {
            kind: CellErrorKind::Raised,
            message: "LookupError: there is no field".into(),
        }),
        ..CellResult::default()
    }
}

fn not_found() -> CellResult {
    printed("NOT FOUND\n")
}

fn recipes(result: &EpisodeResult) -> Vec<String> {
    let text = result.report.as_ref().map_or("", Text::as_str);
    let report: RlmReport = serde_json::from_str(text).expect("the report is JSON");
    report.recipes
}

fn text(result: &EpisodeResult) -> &str {
    result.answer.as_ref().map_or("", Text::as_str)
}

#[test]
fn r01_a_plain_question_needs_no_model_to_choose() {
    let mut desk = ask("How many tickets are there in each category?");
    assert_eq!(end(&mut desk, printed(LOOK)), "import json");
    assert_eq!(desk.calls_out(), 0);
    assert_eq!(
        end(&mut desk, submitted(r#"{"billing": 3}"#)),
        r#"made = recipes.count_by_field("category", None)"#
    );
    let result = desk.result();
    assert_eq!(
        (result.status, text(result)),
        (EpisodeStatus::Ok, r#"{"billing": 3}"#)
    );
    assert_eq!(recipes(result), ["count_by_field"]);
    assert_eq!(result.budget.spent.calls, 0);
}

#[test]
fn r01_what_rules_leave_open_the_model_chooses_in_a_form() {
    let mut desk = ask("How many tickets are complaints?");
    end(&mut desk, printed(LOOK));
    let sent = desk.sent();
    assert_eq!(sent.request.temperature_milli, Some(0));
    let schema = sent.request.schema.clone().expect("there is a schema");
    let schema: serde_json::Value = serde_json::from_str(schema.as_str()).expect("it is JSON");
    let forms = schema["anyOf"].as_array().expect("there are forms");
    for form in forms {
        let first = form["properties"]
            .as_object()
            .and_then(|it| it.keys().next());
        assert_eq!(first.map(String::as_str), Some("recipe"), "{form}");
    }
    let named = |name: &str| {
        let mut forms = forms.iter();
        forms
            .find(|form| form["properties"]["recipe"]["const"] == name)
            .cloned()
    };
    let count = named("count_by_field").expect("a field can be counted");
    assert_eq!(count["properties"]["field"]["const"], "category");
    assert_eq!(
        count["properties"]["value"]["enum"],
        serde_json::json!(["billing", "login", ""])
    );
    assert_eq!(named("compare"), None);
    // Entries are counted, not their minutes.
    assert_eq!(named("aggregate"), None);
    desk.reply(&sent, r#"{"recipe":"classify_each","label":"com\"plaint"}"#);
    assert_eq!(
        end(&mut desk, submitted("7")),
        r#"made = recipes.classify_each("com\"plaint")"#
    );
    assert_eq!(recipes(desk.result()), ["classify_each"]);
}

#[test]
fn r01_numbers_that_a_count_names_can_be_chosen() {
    let mut desk = ask("How many complaints took more minutes than usual?");
    end(&mut desk, printed(LOOK));
    let sent = desk.sent();
    let schema = sent.request.schema.clone().expect("there is a schema");
    assert!(schema.as_str().contains("aggregate"), "{}", schema.as_str());
}

/// What is no choice, or one with arguments that the material does not have, is taken for a search.
#[test]
fn r01_a_choice_that_is_none_searches() {
    let replies = [
        "I would count them.",
        r#"{"recipe":"rm_rf"}"#,
        r#"{"recipe":"count_by_field","field":"password","value":""}"#,
        r#"{"recipe":"count_by_field","field":"category","value":"nobody"}"#,
        r#"{"recipe":"aggregate","field":"category","op":"sum"}"#,
        r#"{"recipe":"aggregate","field":"minutes","op":"__import__"}"#,
        r#"{"recipe":"compare","a":"tickets.csv","b":"/etc/passwd"}"#,
        r#"{"recipe":"classify_each","label":" "}"#,
        r#"{"recipe":"map_reduce_summary","bullets":200}"#,
        r#"{"recipe":"find","keywords":[],"code":"1"}"#,
    ];
    for reply in replies {
        let mut desk = ask("Is it so?");
        end(&mut desk, printed(LOOK));
        desk.reply_next(reply);
        assert_eq!(
            end(&mut desk, submitted("yes")),
            r#"made = recipes.find("Is it so?", [])"#,
            "{reply}"
        );
    }
}

#[test]
fn r01_an_empty_choice_searches_too() {
    let mut desk = ask("Is it so?");
    end(&mut desk, printed(LOOK));
    let sent = desk.sent();
    desk.fail(&sent, ModelFailure::sent(FailureKind::Empty, "nothing"));
    assert!(end(&mut desk, submitted("yes")).contains("recipes.find("));
}

#[test]
fn r01_what_is_not_found_is_widened_then_read_then_admitted() {
    let mut desk = ask("Who took the parcel?");
    end(&mut desk, printed(LOOK));
    assert_eq!(
        end(&mut desk, not_found()),
        r#"made = recipes.find("Who took the parcel?", [])"#
    );
    let sent = desk.sent();
    assert!(sent.request.schema.is_some());
    desk.reply(&sent, r#"{"keywords":["courier","package"," "]}"#);
    assert_eq!(
        end(&mut desk, not_found()),
        r#"made = recipes.find("Who took the parcel?", ["courier", "package"])"#
    );
    assert!(
        end(&mut desk, not_found())
            .contains(r#"filter_then_read("Who took the parcel?", ["courier", "#)
    );
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::NeedsReview);
    assert_eq!(result.stop_reason, StopReason::NoNewInformation);
    assert!(text(result).contains("found no answer"), "{}", text(result));
    assert_eq!(recipes(result), ["find", "find", "filter_then_read"]);
}

#[test]
fn r01_a_read_that_finds_nothing_is_widened_once() {
    let mut desk = ask("Why did it fail?");
    end(&mut desk, printed(LOOK));
    assert!(end(&mut desk, not_found()).contains("filter_then_read"));
    desk.reply_next("no JSON at all");
    assert!(end(&mut desk, not_found()).contains("filter_then_read"));
    assert_eq!(desk.result().status, EpisodeStatus::NeedsReview);
}

#[test]
fn r01_a_recipe_that_fails_lets_the_model_choose_another() {
    let mut desk = ask("How many billing tickets are there?");
    end(&mut desk, printed(LOOK));
    assert_eq!(
        end(&mut desk, raised()),
        r#"made = recipes.count_by_field("category", "billing")"#
    );
    let sent = desk.sent();
    let schema = sent.request.schema.clone().expect("there is a schema");
    assert!(!schema.as_str().contains("count_by_field"));
    desk.reply(&sent, r#"{"recipe":"classify_each","label":"billing"}"#);
    assert!(end(&mut desk, raised()).contains("classify_each"));
    assert_eq!(desk.result().status, EpisodeStatus::NeedsReview);
}

/// Who could not look does not say that nothing is there.
#[test]
fn r04_a_recipe_that_could_not_look_says_why() {
    let unavailable = || CellResult {
        error: Some(CellError {
            kind: CellErrorKind::Raised,
            message: "Traceback (most recent call last):\nUnavailable: connection refused".into(),
        }),
        ..CellResult::default()
    };
    let mut desk = ask("Who took the parcel?");
    end(&mut desk, printed(LOOK));
    end(&mut desk, unavailable());
    desk.reply_next(r#"{"keywords":["courier"]}"#);
    end(&mut desk, not_found());
    end(&mut desk, not_found());
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::NeedsReview);
    let class = ErrorClass::Cell;
    assert_eq!(result.stop_reason, StopReason::Failure { class });
    assert_eq!(result.answer, None);
    let said = format!("{:?}", result.summary);
    let why = "`find` failed: Unavailable: connection refused";
    assert!(said.contains(why), "{said}");
}

/// A look that is not what it should be tells nothing, and stops nothing.
#[test]
fn r03_what_the_look_prints_is_data() {
    let long = CellResult {
        output: CellOutput {
            head: LOOK.into(),
            tail: Some("…".into()),
            bytes: 9_000,
        },
        ..CellResult::default()
    };
    let timed_out = CellResult {
        error: Some(CellError {
            kind: CellErrorKind::TimedOut,
            message: "30 s".into(),
        }),
        ..printed(LOOK)
    };
    let other = LOOK.replace("\"format\"", "\"fields\": [], \"format\"");
    for look in [
        printed("{}"),
        printed("SUBMIT(1)"),
        printed(&other),
        timed_out,
        long,
    ] {
        let mut desk = ask("How many tickets are there in each category?");
        end(&mut desk, look);
        desk.reply_next(r#"{"recipe":"find","keywords":["x"]}"#);
        assert!(end(&mut desk, submitted("1")).contains("recipes.find("));
    }
}

#[test]
fn r01_two_files_are_compared_by_name() {
    let params = RlmConfig {
        given: vec![given("a \"old\".txt"), given("b.txt")],
        recipes: RecipeMode::Chosen,
        ..RlmConfig::default()
    };
    let mut desk = ask_with("What changed?", &params);
    end(&mut desk, printed(LOOK));
    assert_eq!(
        end(&mut desk, submitted("the date")),
        r#"made = recipes.compare("a \"old\".txt", "b.txt", "What changed?")"#
    );
}

#[test]
fn r01_entries_are_set_side_by_side() {
    let mut desk = ask("Which tickets contradict each other?");
    end(&mut desk, printed(LOOK));
    assert_eq!(
        end(&mut desk, submitted(r#"[["open", "shut"]]"#)),
        r#"made = recipes.pairwise("Which tickets contradict each other?")"#
    );
    assert_eq!(recipes(desk.result()), ["pairwise"]);
}

#[test]
fn r04_without_a_sandbox_there_is_no_recipe() {
    let mut desk = ask("Who took the parcel?");
    let unavailable = CellResult {
        error: Some(CellError {
            kind: CellErrorKind::Unavailable,
            message: "no python3".into(),
        }),
        ..CellResult::default()
    };
    end(&mut desk, unavailable);
    assert_eq!(desk.result().status, EpisodeStatus::Failed);
}

/// An answer in the wrong form is worth a turn of the model's own.
#[test]
fn r01_an_answer_that_does_not_meet_the_schema_goes_to_the_model() {
    let params = RlmConfig {
        given: vec![given("tickets.csv")],
        recipes: RecipeMode::Chosen,
        schema: Some(serde_json::json!({"type": "integer"})),
        ..RlmConfig::default()
    };
    let mut desk = ask_with("Who took the parcel?", &params);
    end(&mut desk, printed(LOOK));
    end(&mut desk, submitted("Ada"));
    let sent = desk.sent();
    let last = sent.request.messages.last().expect("there is a prompt");
    assert!(last.text.as_str().contains("schema"), "{last:?}");
    desk.reply(&sent, "```repl\nSUBMIT(3)\n```");
    end(&mut desk, submitted("3"));
    assert_eq!(desk.result().status, EpisodeStatus::Ok);
}

#[test]
fn r01_where_there_are_no_recipes_the_model_writes_its_own() {
    let mut desk = ask("Who took the parcel?");
    end(&mut desk, raised());
    let sent = desk.sent();
    let system = sent.request.messages[0].text.as_str();
    assert!(
        system.contains("```repl") && !system.contains("recipes."),
        "{system}"
    );
    desk.reply(&sent, "```repl\nSUBMIT('Ada')\n```");
    end(&mut desk, submitted("Ada"));
    assert_eq!(
        (desk.result().status, text(desk.result())),
        (EpisodeStatus::Ok, "Ada")
    );
}

#[test]
fn r01_a_thought_before_a_choice_is_no_part_of_it() {
    let mut desk = ask("How many tickets are complaints?");
    end(&mut desk, printed(LOOK));
    desk.reply_next(
        "<think>A form {like this}.</think>{\"recipe\":\"classify_each\",\"label\":\"complaint\"}",
    );
    assert!(end(&mut desk, submitted("3")).contains("classify_each"));
    assert_eq!(recipes(desk.result()), ["classify_each"]);
}
