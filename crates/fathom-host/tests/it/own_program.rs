//! A program from outside, added by what this crate shows to everyone.

use std::sync::Arc;

use fathom_core::contract::stop::StopReason;
use fathom_core::episode::program::{
    Ask, ModelAsk, Program, ProgramError, ProgramFactory, ProgramInput, ProgramView,
};
use fathom_core::episode::result::{EpisodeStatus, ProgramVerdict, ResultSummary};
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::{ChatMessage, ModelRole, Speaker};
use fathom_core::packet::Packet;
use fathom_core::text::Text;
use fathom_host::charter::Charter;
use fathom_host::programs::{
    PrepareFuture, PreparedRun, ProgramRegistry, ProgramSetup, ResultKeys, ResultSource, RunRequest,
};
use fathom_host::{HostError, Runtime, RuntimeOptions};
use fathom_programs::BuiltInPrograms;
use fathom_testkit::model_server::ModelServer;
use serde::{Deserialize, Serialize};

use crate::fixture::{check, finished, models};

const NAME: &str = "echo";

/// What a run of it is told, and its parameters.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EchoConfig {
    shout: bool,
}

/// Asks the model once and passes on what it says.
struct EchoProgram {
    config: EchoConfig,
    answer: Option<Text>,
}

impl Program for EchoProgram {
    fn on(&mut self, input: ProgramInput<'_>, _: &ProgramView<'_>) -> Vec<Ask> {
        match input {
            ProgramInput::Start(started) => {
                let packet = Packet {
                    prompt: vec![ChatMessage::new(Speaker::User, started.goal.as_str())],
                    ..Packet::default()
                };
                vec![Ask::Model(Box::new(ModelAsk::new(ModelRole::Main, packet)))]
            }
            ProgramInput::Reply { reply, .. } => {
                let said = reply.text.as_str();
                let said = if self.config.shout {
                    said.to_uppercase()
                } else {
                    said.to_owned()
                };
                self.answer = Some(Text::new(said));
                vec![Ask::Finish(Box::new(ProgramVerdict {
                    status: EpisodeStatus::Ok,
                    stop: StopReason::Success,
                    answer: self.answer.clone(),
                    report: None,
                    summary: summary(),
                    artifacts: Vec::new(),
                    decisions: Vec::new(),
                    verification_needed: false,
                    next_actions: Vec::new(),
                }))]
            }
            _ => Vec::new(),
        }
    }

    fn partial(&self) -> Option<Text> {
        self.answer.clone()
    }
}

fn summary() -> ResultSummary {
    let lines = ["asked", "answered", "one call"].map(Text::from);
    ResultSummary::try_from(lines.to_vec()).expect("three lines")
}

struct EchoPrograms;

impl ProgramFactory for EchoPrograms {
    fn build(&self, spec: &ProgramSpec) -> Result<Box<dyn Program>, ProgramError> {
        if spec.name != NAME {
            return BuiltInPrograms.build(spec);
        }
        Ok(Box::new(EchoProgram {
            config: spec.read()?,
            answer: None,
        }))
    }
}

struct EchoSetup;

impl ProgramSetup for EchoSetup {
    fn name(&self) -> &str {
        NAME
    }

    fn prepare<'a>(&'a self, _: &'a Runtime, mut request: RunRequest<'a>) -> PrepareFuture<'a> {
        Box::pin(async move {
            let config: EchoConfig = request.take_options()?;
            let contract = request.contract.clone();
            let new = request.into_run(ProgramSpec::new(NAME, &config), contract);
            Ok(PreparedRun::new(NAME, new))
        })
    }

    fn result(&self, source: &ResultSource<'_>) -> ResultKeys {
        let calls = source.story.model_calls();
        ResultKeys::from_iter([("echoes".to_owned(), calls.into())])
    }
}

#[tokio::test]
async fn h02_a_program_from_outside_is_prepared_run_and_replayed_like_any_other() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::replying("because").await.expect("a port");
    let setups = ProgramRegistry::built_in().with(EchoSetup);
    let host = Runtime::open(RuntimeOptions {
        programs: Arc::new(EchoPrograms),
        setups: setups.clone(),
        ..RuntimeOptions::new(dir.path().to_owned(), |_| None)
    })
    .expect("the home opens");
    let charter = Charter::built_in(fathom_host::charter::DEFAULT).expect("a charter");
    let request = RunRequest::new(NAME, "why?", &charter, models(&server));
    let request = request.with_options(&EchoConfig { shout: true });
    let prepared = host.prepare(request).await.expect("it is prepared");
    assert_eq!(prepared.warnings, []);
    assert_eq!(prepared.new.frame, charter.frame());
    let handle = host.start_prepared(prepared).expect("it starts");
    let run = handle.run();
    let result = finished(handle).await;
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert_eq!(result.stop_reason, StopReason::Success);
    assert_eq!(result.answer.expect("an answer").as_str(), "BECAUSE");
    check(&host, run);
    let story = host.story(run).expect("a story");
    let source = ResultSource {
        story: &story,
        mask: &|text| text.to_owned(),
    };
    let keys = serde_json::Value::Object(setups.result(None, &source));
    assert_eq!(keys, serde_json::json!({"echoes": 1}));
}

#[tokio::test]
async fn h02_what_a_program_does_not_take_is_told_before_anything_is_written() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::replying("because").await.expect("a port");
    let host = crate::fixture::host(dir.path());
    let charter = Charter::built_in(fathom_host::charter::DEFAULT).expect("a charter");
    let wanted = |program| RunRequest::new(program, "why?", &charter, models(&server));
    let unknown = host.prepare(wanted("nobody")).await.err().expect("none");
    assert!(matches!(
        unknown,
        HostError::Program(ProgramError::Unknown(_))
    ));
    let options = serde_json::json!({"depht": 2});
    let misspelt = wanted("council").with_options(&options);
    let misspelt = host.prepare(misspelt).await.err().expect("no such option");
    assert_eq!(misspelt.code(), "F0113");
    assert!(misspelt.to_string().contains("depht"), "{misspelt}");
    let lacking = host.prepare(wanted("council")).await.err();
    let lacking = lacking.expect("this charter has no council");
    assert_eq!(lacking.code(), "F0417");
    assert!(host.unfinished().expect("runs").is_empty());
}

#[tokio::test]
async fn c07_a_council_is_one_deeper_for_the_engine_than_for_people() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::replying("because").await.expect("a port");
    let host = crate::fixture::host(dir.path());
    let charter = Charter::built_in("council").expect("a charter");
    let request = RunRequest::new("council", "may we?", &charter, models(&server));
    let request = request.with_options(&serde_json::json!({"depth": 2}));
    let prepared = host.prepare(request).await.expect("it is prepared");
    assert_eq!(prepared.new.contract.recursion.max_depth, 3);
}

#[test]
fn h02_every_built_in_program_has_a_charter_that_has_its_section() {
    let programs = ProgramRegistry::built_in();
    let names: Vec<&str> = programs.iter().map(ProgramSetup::name).collect();
    assert_eq!(
        names,
        [
            "direct", "council", "rlm", "phases", "stages", "tools", "agency"
        ]
    );
    for program in programs.iter() {
        let charter = Charter::built_in(program.default_charter()).expect("it is built in");
        let has = match program.charter_section() {
            Some("council") => charter.council.is_some(),
            Some("phases") => charter.phases.is_some(),
            Some("agency") => charter.agency.is_some(),
            _ => true,
        };
        assert!(has, "{}", program.name());
    }
}
