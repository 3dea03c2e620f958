//! A desk for the phase loop: phases to go through, and a symbol store that says what a test says.

use fathom_core::budget::amounts::Amounts;
use fathom_core::domain::symbols::{FoundSymbol, Symbol, SymbolAnswer, SymbolRequest};
use fathom_core::domain::{DomainAccess, DomainRequest};
use fathom_core::episode::result::EpisodeResult;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::{Command, OutputBlock};
use fathom_core::journal::event::{EpisodeSpec, EventKind};
use fathom_core::model::Speaker;
use fathom_core::run::step::HostStep;
use fathom_core::text::Text;
use fathom_programs::BuiltInPrograms;
use fathom_programs::phases::{self, CommandStatus, PhaseSpec, PhasesConfig, PhasesReport};
use serde_json::{Value, json};

use fathom_testkit::manual_host::host::{ManualHost, Sent};
use fathom_testkit::manual_host::samples::{AMPLE, root};

pub(crate) const IDS: [&str; 3] = ["symbolize_input", "recurse_thought", "build_output"];

pub(crate) fn params() -> PhasesConfig {
    let phase = |id: &str, stem: &str| PhaseSpec {
        id: id.into(),
        commands_min: 0,
        aliases: vec![stem.into()],
        title: String::new(),
        template: format!("Do what {id} does."),
    };
    PhasesConfig {
        phases: vec![
            phase(IDS[0], "00-symbolize-input"),
            phase(IDS[1], "01-recurse-thought"),
            phase(IDS[2], "04-build-narrative"),
        ],
        shared: vec!["You think in symbols.".into(), "Commands are JSON.".into()],
        ..PhasesConfig::default()
    }
}

pub(crate) fn in_session() -> PhasesConfig {
    PhasesConfig {
        session: Some("demo".into()),
        ..params()
    }
}

pub(crate) fn started(params: &PhasesConfig, amounts: Amounts) -> EpisodeSpec {
    let mut started = root(amounts);
    started.goal = "What is trust?".into();
    started.program = params.spec();
    started.contract.read_scopes = vec!["symbols".into()];
    started.contract.write_scopes = vec!["symbols".into(), "history".into()];
    started.contract.recursion.allowed_child_types = vec![phases::TASK.into()];
    started
}

pub(crate) fn open(params: &PhasesConfig) -> ManualHost {
    ManualHost::open(BuiltInPrograms, started(params, AMPLE))
}

pub(crate) fn symbol(id: &str) -> Symbol {
    Symbol {
        id: id.into(),
        name: format!("name of {id}"),
        macro_text: Some(format!("what {id} says")),
        ..Symbol::default()
    }
}

pub(crate) fn found(ids: &[&str]) -> SymbolAnswer {
    let found = |id: &&str| FoundSymbol {
        symbol: symbol(id),
        version: 1,
        near_milli: None,
    };
    SymbolAnswer {
        symbols: ids.iter().map(found).collect(),
        ..SymbolAnswer::default()
    }
}

/// The request to a domain that is to be carried out next.
#[track_caller]
pub(crate) fn asked(desk: &mut ManualHost) -> (AskId, DomainRequest) {
    let place = desk.steps.iter().position(|step| {
        matches!(
            step,
            HostStep::Host {
                command: Command::Domain { .. },
                ..
            }
        )
    });
    match place.map(|place| desk.steps.remove(place)) {
        Some(HostStep::Host {
            ask,
            command: Command::Domain { request, .. },
            ..
        }) => (ask, request),
        _ => panic!("no domain is asked; there is {:?}", desk.steps),
    }
}

/// What the symbol store is asked next.
#[track_caller]
pub(crate) fn wanted(desk: &mut ManualHost) -> (AskId, SymbolRequest) {
    let (ask, request) = asked(desk);
    assert_eq!(request.domain, "symbols");
    let wanted: SymbolRequest =
        serde_json::from_str(request.request.as_str()).expect("it is a request to the store");
    assert_eq!(request.access == DomainAccess::Write, wanted.is_write());
    (ask, wanted)
}

pub(crate) fn tell(desk: &mut ManualHost, ask: AskId, answer: &str) {
    let answer = Text::from(answer);
    let kind = EventKind::DomainAnswered { ask, answer };
    desk.deliver(&EpisodeId::root(), kind);
}

/// Answers what the store is asked next.
#[track_caller]
pub(crate) fn give(desk: &mut ManualHost, answer: &SymbolAnswer) -> SymbolRequest {
    let (ask, request) = wanted(desk);
    let answer = serde_json::to_string(answer).expect("an answer has a JSON form");
    tell(desk, ask, &answer);
    request
}

/// Lets the present phase say something and go on.
#[track_caller]
pub(crate) fn go(desk: &mut ManualHost, says: &str, next: &str) -> Sent {
    desk.reply_next(&json!({ "reply": says, "next_phase": next }).to_string())
}

/// Lets the present phase say something and end the loop.
#[track_caller]
pub(crate) fn stop(desk: &mut ManualHost, says: &str) -> Sent {
    desk.reply_next(&json!({ "reply": says, "next_phase": null }).to_string())
}

/// Lets the present phase emit commands and go on with the second phase.
#[track_caller]
pub(crate) fn emit(desk: &mut ManualHost, commands: &Value) -> Sent {
    let payload = json!({
        "reply": "I command.",
        "control_signature": { "emit": commands },
        "next_phase": IDS[1],
    });
    desk.reply_next(&payload.to_string())
}

pub(crate) fn report(result: &EpisodeResult) -> PhasesReport {
    let text = result.report.as_ref().map_or("", Text::as_str);
    serde_json::from_str(text).expect("the report is JSON")
}

pub(crate) fn answer(result: &EpisodeResult) -> &str {
    result.answer.as_ref().map_or("", Text::as_str)
}

/// The phases that were gone through.
pub(crate) fn walked(report: &PhasesReport) -> Vec<&str> {
    report.phases.iter().map(|note| note.id.as_str()).collect()
}

pub(crate) fn statuses(report: &PhasesReport) -> Vec<(&str, CommandStatus)> {
    report
        .commands
        .iter()
        .map(|note| (note.action.as_str(), note.status))
        .collect()
}

pub(crate) fn system(sent: &Sent) -> &str {
    let first = sent.request.messages.first();
    first
        .filter(|message| message.speaker == Speaker::System)
        .map_or("", |message| message.text.as_str())
}

pub(crate) fn prompt(sent: &Sent) -> &str {
    let last = sent.request.messages.last();
    last.map_or("", |message| message.text.as_str())
}

pub(crate) fn emitted(desk: &ManualHost, channel: &str) -> Vec<String> {
    desk.log
        .commands(&EpisodeId::root())
        .into_iter()
        .filter_map(|command| match command {
            Command::Emit {
                block: OutputBlock { channel: c, text },
            } if c == channel => Some(text.as_str().to_owned()),
            _ => None,
        })
        .collect()
}
