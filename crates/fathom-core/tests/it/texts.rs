//! Free text is kept apart from events, encrypted: every one of them must be found.

use fathom_core::budget::amounts::{Amounts, Dimension};
use fathom_core::contract::AgentRole;
use fathom_core::contract::spawn::{SpawnClass, SpawnRequest, SpawnTrigger};
use fathom_core::contract::stop::{Refusal, ShortenStage, StopReason};
use fathom_core::council_bus::{CouncilRole, MessageDraft};
use fathom_core::domain::{DomainAccess, DomainRequest};
use fathom_core::effect::{
    DecisionGrounds, DryRun, EffectOutcome, EffectRequest, Evidence, KillScope, PolicyDecision,
};
use fathom_core::episode::result::{
    BudgetUse, Decision, EpisodeResult, EpisodeStatus, HandoffTicket, NextAction, ResultSummary,
    TaskPacket,
};
use fathom_core::id::{AskId, Digest, EpisodeId, Epoch, Seq};
use fathom_core::journal::command::{Command, ExternalWait, OutputBlock};
use fathom_core::journal::event::{
    EpisodeOrigin, EpisodeSpec, Event, EventKind, JournalRecord, ModelCallOutcome, ReleaseReason,
    Signal,
};
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::tool_call::{ToolCall, ToolSpec};
use fathom_core::model::{ChatMessage, ModelRequest, ModelRole, ReuseGrant, Speaker};
use fathom_core::packet::{HeaderField, PacketFrame, PacketId, PacketMeta};
use fathom_core::sandbox::{
    CellAnswer, CellCall, CellError, CellErrorKind, CellException, CellExceptionKind, CellLimits,
    CellOutcome, CellOutput, CellQuestion, CellReply, CellResult, CellTask, CellValue,
    ContextSource, ValueFormat,
};
use fathom_core::text::{Text, VisitTexts};
use fathom_core::unit::{Millis, Timestamp};

use fathom_testkit::manual_host::samples::{self, AMPLE, root, spawn_request};

/// Stands in every text and nowhere else.
const CANARY: &str = "canary";

fn canary() -> Text {
    Text::from(CANARY)
}

fn started() -> Box<EpisodeSpec> {
    let mut started = root(AMPLE);
    started.goal = canary();
    started.program.params = canary();
    started.frame = PacketFrame {
        identity: canary(),
        persona: canary(),
        instructions: [("verification".to_owned(), canary())].into(),
        ..PacketFrame::default()
    };
    started.origin = EpisodeOrigin::Spawned {
        child_type: "helper".into(),
        class: SpawnClass::Work,
        trigger: SpawnTrigger::TaskPacket,
        why: canary(),
        fetch: canary(),
        return_format: canary(),
    };
    Box::new(started)
}

fn request() -> ModelRequest {
    ModelRequest {
        messages: vec![
            ChatMessage::new(Speaker::System, CANARY),
            ChatMessage::new(Speaker::User, CANARY),
        ],
        schema: Some(canary()),
        pattern: Some(canary()),
        tools: vec![ToolSpec {
            name: "look".into(),
            description: canary(),
            schema: canary(),
        }],
        ..samples::request("")
    }
}

fn meta() -> PacketMeta {
    PacketMeta {
        id: PacketId::of(&EpisodeId::root(), AskId(1)),
        parent: None,
        at: Timestamp(1),
        identity: None,
        confidence_milli: None,
        risk: None,
        retries: None,
        items: Vec::new(),
    }
}

fn failure() -> ModelFailure {
    ModelFailure {
        partial: canary(),
        ..ModelFailure::unsent(FailureKind::Server, CANARY)
    }
}

fn effect() -> EffectRequest {
    let mut effect = samples::effect_request("event-1");
    effect.arguments = canary();
    effect
}

fn evidence() -> Evidence {
    Evidence {
        step: "opened".into(),
        media: "text/html".into(),
        digest: Digest([3; 32]),
        content: canary(),
    }
}

fn result() -> Box<EpisodeResult> {
    let line = || CANARY.to_owned();
    Box::new(EpisodeResult {
        status: EpisodeStatus::NeedsReview,
        stop_reason: StopReason::NoNewInformation,
        summary: ResultSummary::new([line(), line(), line()], [line()]),
        answer: Some(canary()),
        report: Some(canary()),
        artifacts_created: vec![canary()],
        decisions: vec![Decision {
            what: canary(),
            rationale: canary(),
        }],
        verification_needed: false,
        next_actions: vec![
            NextAction::Task(TaskPacket {
                role: AgentRole::Doc,
                child_type: "doc".into(),
                goal: canary(),
                why: canary(),
            }),
            NextAction::Handoff(HandoffTicket {
                tried: canary(),
                known: canary(),
                asked: canary(),
                deadline: None,
            }),
        ],
        sources: Vec::new(),
        budget: BudgetUse {
            limit: AMPLE,
            spent: Amounts::ZERO,
            time_limit: Millis(1),
            time_spent: Millis(1),
        },
        depth_reached: 0,
        position: Seq(0),
    })
}

fn outcomes() -> [EffectOutcome; 3] {
    [
        EffectOutcome::Confirmed { receipt: canary() },
        EffectOutcome::Failed { detail: canary() },
        EffectOutcome::Unknown { detail: canary() },
    ]
}

/// One of each event.
#[expect(clippy::too_many_lines, reason = "a list with one entry for each kind")]
fn events() -> Vec<EventKind> {
    let ask = AskId(1);
    let replied = |outcome| EventKind::ModelReplied {
        ask,
        attempt: 1,
        outcome,
        jitter: 0,
    };
    let mut reply = samples::reply(1, "");
    reply.tool_calls = vec![ToolCall {
        name: canary(),
        arguments: canary(),
    }];
    reply.text = canary();
    let mut events = vec![
        EventKind::Started(started()),
        EventKind::Resumed,
        EventKind::Released {
            why: ReleaseReason::Outage,
        },
        EventKind::Measured {
            ask,
            measured: samples::measure(&request(), None),
            weights: vec![1],
            recalled: Some(Box::new(samples::reply(1, CANARY))),
            round: 0,
        },
        EventKind::Summarised {
            ask,
            text: canary(),
            round: 0,
        },
        EventKind::DomainAnswered {
            ask,
            answer: canary(),
        },
        EventKind::ModelDelta {
            ask,
            attempt: 1,
            text: canary(),
        },
        replied(ModelCallOutcome::Replied(reply)),
        replied(ModelCallOutcome::Failed(failure())),
        EventKind::ChildFinished {
            child: EpisodeId::root().child(0),
            result: result(),
            head: Digest::default(),
        },
        EventKind::CellYielded {
            ask,
            question: Box::new(CellQuestion {
                id: 0,
                draft: Some(CellValue {
                    form: ValueFormat::Text,
                    text: canary(),
                }),
                call: CellCall::Query {
                    prompts: vec![canary()],
                    pattern: Some(canary()),
                    tokens_max: None,
                },
            }),
        },
        EventKind::CellYielded {
            ask,
            question: Box::new(CellQuestion {
                id: 1,
                draft: Some(CellValue {
                    form: ValueFormat::Text,
                    text: canary(),
                }),
                call: CellCall::Recurse {
                    tasks: vec![CellTask {
                        goal: canary(),
                        context: Some(CellValue {
                            form: ValueFormat::Text,
                            text: canary(),
                        }),
                    }],
                },
            }),
        },
        EventKind::CellFinished {
            ask,
            end: Box::new(CellResult {
                output: CellOutput {
                    head: canary(),
                    tail: Some(canary()),
                    bytes: 9,
                },
                submitted: Some(CellValue {
                    form: ValueFormat::Text,
                    text: canary(),
                }),
                draft: Some(CellValue {
                    form: ValueFormat::Json,
                    text: canary(),
                }),
                error: Some(CellError {
                    kind: CellErrorKind::Raised,
                    message: canary(),
                }),
                took: Millis(1),
            }),
        },
        EventKind::EffectDecided {
            ask,
            decision: PolicyDecision::Deny {
                rule: "a rule".into(),
            },
            grounds: Some(Box::new(DecisionGrounds {
                bundle: Digest([3; 32]),
                dry_run: Some(DryRun {
                    ok: true,
                    report: canary(),
                }),
                undo: None,
            })),
        },
        EventKind::Signal(Signal::Kill {
            scope: KillScope::Global,
        }),
        EventKind::Refused {
            ask,
            reason: Refusal::ReadOnly,
        },
        EventKind::Overrun {
            ask,
            dimension: Dimension::Tokens,
            reserved: 1,
            used: 2,
        },
        EventKind::TokenBudgetOverrun {
            ask,
            field: HeaderField::Persona,
            by: ShortenStage::Local,
            limit: 1,
            before: 9,
            after: None,
        },
        EventKind::Forfeited { amounts: AMPLE },
        EventKind::Tick,
    ];
    events.extend(outcomes().map(|outcome| EventKind::EffectSettled {
        ask,
        outcome,
        evidence: vec![evidence()],
    }));
    events
}

fn shortening(ask: AskId) -> Command {
    Command::ReportShortening {
        ask,
        field: HeaderField::Persona,
        by: ShortenStage::Lite,
        limit: 1,
        before: 9,
        after: Some(1),
    }
}

fn posted(ask: AskId) -> Command {
    let draft = MessageDraft::info(CouncilRole::Lite, canary());
    Command::Post {
        envelope: Box::new(draft.stamp(&EpisodeId::root(), ask, Timestamp(1))),
    }
}

fn recall() -> ReuseGrant {
    ReuseGrant {
        scope: "council/IT".into(),
        question: canary(),
        similarity_min_milli: None,
    }
}

/// One of each command.
#[expect(clippy::too_many_lines, reason = "a list with one entry for each kind")]
fn commands() -> Vec<Command> {
    let ask = AskId(1);
    let child = EpisodeId::root().child(0);
    vec![
        Command::Measure {
            ask,
            model: ModelRole::Main,
            request: request(),
            weigh: vec![canary()],
            recall: Some(Box::new(recall())),
            once: false,
            round: 0,
        },
        Command::Summarise {
            ask,
            model: ModelRole::Main,
            text: canary(),
            tokens_max: 9,
            round: 0,
        },
        Command::Lease { upto: AMPLE },
        shortening(ask),
        Command::CallModel {
            ask,
            attempt: 1,
            model: ModelRole::Sub,
            request: request(),
            packet: meta(),
            reserved: AMPLE,
            drawn: AMPLE,
            not_before: Some(Timestamp(1)),
        },
        Command::CancelCall { ask, attempt: 1 },
        Command::Spawn {
            ask,
            child: child.clone(),
            started: started(),
        },
        Command::SignalChild {
            child,
            signal: Signal::Cancel,
        },
        Command::RunCell {
            ask,
            code: canary(),
            context: ContextSource::Given,
            limits: CellLimits::default(),
        },
        Command::AnswerCell {
            ask,
            answer: Box::new(CellAnswer {
                id: 0,
                reply: CellReply::Each(vec![
                    CellOutcome::Said(canary()),
                    CellOutcome::Fault(CellException {
                        kind: CellExceptionKind::Truncated,
                        message: canary(),
                        partial: Some(canary()),
                    }),
                ]),
            }),
        },
        Command::Propose {
            ask,
            effect: effect(),
        },
        Command::Attempt {
            ask,
            effect: effect(),
        },
        Command::Reconcile {
            ask,
            effect: effect(),
        },
        Command::Domain {
            ask,
            request: DomainRequest {
                domain: "plans".into(),
                access: DomainAccess::Write,
                request: canary(),
                sources: Vec::new(),
            },
        },
        Command::Emit {
            block: OutputBlock {
                channel: "cli".into(),
                text: canary(),
            },
        },
        Command::Await {
            awaited: ExternalWait::Until { at: Timestamp(1) },
        },
        Command::Await {
            awaited: ExternalWait::Approval { ask },
        },
        Command::Await {
            awaited: ExternalWait::Repair {
                ask,
                failure: failure(),
            },
        },
        Command::Refuse {
            ask,
            reason: Refusal::VerifyFirst,
        },
        Command::ReportOverrun {
            ask,
            dimension: Dimension::Money,
            reserved: 1,
            used: 2,
        },
        Command::ReportForfeit { amounts: AMPLE },
        Command::Finish { result: result() },
        posted(ask),
    ]
}

fn address(n: u8) -> Digest {
    Digest([n; 32])
}

/// Seals every text that `texts` shows, and says how many there were.
fn seal(texts: &mut impl VisitTexts) -> usize {
    let mut count = 0;
    texts.each_text(&mut |text| {
        assert_eq!(text.as_str(), CANARY, "a text that the test does not know");
        count += 1;
        text.seal(address(u8::try_from(count).unwrap_or(u8::MAX)));
    });
    count
}

fn canaries(json: &str) -> usize {
    json.matches(CANARY).count()
}

#[test]
fn x02_every_text_of_every_event_is_sealed() {
    for kind in events() {
        let plain = serde_json::to_string(&kind).unwrap();
        let mut sealed = kind.clone();
        let found = seal(&mut sealed);
        assert_eq!(found, canaries(&plain), "{}", kind.name());
        let json = serde_json::to_string(&sealed).unwrap();
        assert_eq!(canaries(&json), 0, "{json}");
    }
}

#[test]
fn x02_every_text_of_every_command_is_sealed() {
    for command in commands() {
        let plain = serde_json::to_string(&command).unwrap();
        let mut sealed = command.clone();
        let found = seal(&mut sealed);
        assert_eq!(found, canaries(&plain), "{plain}");
        let json = serde_json::to_string(&sealed).unwrap();
        assert_eq!(canaries(&json), 0, "{json}");
    }
}

#[test]
fn x02_the_list_of_events_and_commands_is_whole() {
    let mut names: Vec<&str> = events().iter().map(EventKind::name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 19);
    for kind in events() {
        let json = serde_json::to_value(&kind).unwrap();
        assert_eq!(json["event"], kind.name());
    }
    let mut names: Vec<String> = commands()
        .iter()
        .map(|command| serde_json::to_value(command).unwrap()["command"].to_string())
        .collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 21);
}

#[test]
fn x02_a_sealed_record_reads_back_and_opens_to_what_it_was() {
    for kind in events() {
        let mut record = JournalRecord {
            seq: Seq(3),
            epoch: Epoch(1),
            event: Event {
                at: Timestamp(5),
                kind,
            },
            commands: commands(),
        };
        let plain = record.clone();
        let count = seal(&mut record);
        let json = serde_json::to_string(&record).unwrap();
        assert_eq!(canaries(&json), 0);
        let mut read: JournalRecord = serde_json::from_str(&json).unwrap();
        let mut closed = 0;
        read.each_text(&mut |text| {
            assert!(text.is_closed());
            closed += 1;
        });
        assert_eq!(closed, count);
        assert_ne!(read, plain);
        assert_eq!(read.result().is_some(), plain.result().is_some());
        read.each_text(&mut |text| text.open(CANARY));
        assert_eq!(read, plain);
        read.each_text(&mut |text| text.unseal());
        let again = serde_json::to_string(&read).unwrap();
        assert_eq!(again, serde_json::to_string(&plain).unwrap());
    }
}

#[test]
fn x02_a_spawn_request_shows_all_its_texts() {
    let mut request = SpawnRequest {
        why: canary(),
        fetch: canary(),
        return_format: canary(),
        goal: canary(),
        ..spawn_request("child")
    };
    request.program.params = canary();
    let plain = serde_json::to_string(&request).unwrap();
    assert_eq!(seal(&mut request), canaries(&plain));
    assert_eq!(canaries(&serde_json::to_string(&request).unwrap()), 0);
}

#[test]
fn x02_a_text_is_plain_until_it_is_sealed() {
    let mut text = Text::from("hello");
    assert_eq!(serde_json::to_string(&text).unwrap(), r#""hello""#);
    text.seal(address(0xab));
    let sealed = serde_json::to_string(&text).unwrap();
    assert_eq!(sealed, format!(r#"{{"sealed":"{}"}}"#, "ab".repeat(32)));
    assert_eq!(text.as_str(), "hello", "who holds it still reads it");
    let read: Text = serde_json::from_str(&sealed).unwrap();
    assert!(read.is_closed());
    assert_eq!(read.as_str(), "");
    assert_eq!(read.address(), Some(address(0xab)));
    assert_eq!(read, text, "the address says it is the same");
    assert_ne!(
        read,
        Text::from("hello"),
        "without an address nobody can say"
    );
    assert_eq!(format!("{read:?}"), format!("sealed {}", address(0xab)));
}

#[test]
fn x02_texts_are_the_same_when_they_say_the_same() {
    let mut one = Text::from("hello");
    let other = Text::from("hello");
    one.seal(address(1));
    assert_eq!(one, other);
    assert_ne!(one, Text::from("hallo"));
    assert!(Text::from(" \n").is_blank());
    assert!(!one.is_blank());
}

#[test]
fn x08_what_is_no_text_is_refused() {
    for garbage in [
        "1",
        "null",
        "[]",
        "{}",
        r#"{"sealed": 5}"#,
        r#"{"sealed": "ab"}"#,
        r#"{"address": "ab"}"#,
    ] {
        assert!(serde_json::from_str::<Text>(garbage).is_err(), "{garbage}");
    }
}
