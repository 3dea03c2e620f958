//! Runs, records and entries to write down.

use std::collections::BTreeMap;

use fathom_core::budget::amounts::{Amounts, Budget};
use fathom_core::contract::stop::StopReason;
use fathom_core::contract::{AgentRole, Contract};
use fathom_core::council_bus::{CouncilRole, MessageDraft};
use fathom_core::domain::{DomainAccess, DomainRequest};
use fathom_core::effect::{EffectClass, EffectOutcome, EffectRequest, EffectTarget};
use fathom_core::episode::result::{
    BudgetUse, Decision, EpisodeResult, EpisodeStatus, HandoffTicket, NextAction, ResultSummary,
    TaskPacket,
};
use fathom_core::id::{AskId, Digest, EpisodeId, Epoch, RunId, Seq};
use fathom_core::journal::command::{Command, ExternalWait, OutputBlock};
use fathom_core::journal::event::{
    EpisodeOrigin, EpisodeSpec, Event, EventKind, JournalRecord, ModelCallOutcome, ProgramSpec,
    Signal,
};
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{
    ChatMessage, FinishReason, ModelReply, ModelRequest, ModelRole, ModelSet, ModelSpec, ReplyMode,
    Speaker, TokenUsage, UsageSource,
};
use fathom_core::packet::{PacketFrame, PacketId, PacketMeta};
use fathom_core::sandbox::{
    CellAnswer, CellCall, CellError, CellErrorKind, CellException, CellExceptionKind, CellLimits,
    CellOutcome, CellOutput, CellQuestion, CellReply, CellResult, CellTask, CellValue,
    ContextSource, ValueFormat,
};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Timestamp};
use fathom_store::{
    Journal, JournalEntry, LogPosition, NewRun, RecordChain, RunKey, RunLog, TextSealer,
};

pub(crate) fn run(number: u8) -> RunId {
    let mut bytes = [0; 16];
    bytes[0] = number;
    bytes[15] = 1;
    RunId::from_bytes(bytes)
}

pub(crate) fn new_run(number: u8) -> NewRun {
    NewRun {
        run: run(number),
        program: "direct".to_owned(),
        model: "script/answers.jsonl".to_owned(),
        created_at: Timestamp(1_000 + u64::from(number)),
        started_by: "os:ada".to_owned(),
    }
}

pub(crate) fn key(number: u8) -> RunKey {
    RunKey::from_bytes([number; 32])
}

pub(crate) fn episode(text: &str) -> EpisodeId {
    text.parse().unwrap()
}

/// Writes the records of one run, each at the end of its chain.
pub(crate) struct Author {
    pub(crate) run: RunId,
    pub(crate) epoch: Epoch,
    pub(crate) sealer: TextSealer,
    chains: BTreeMap<EpisodeId, RecordChain>,
    clock: u64,
}

impl Author {
    pub(crate) fn new(number: u8, epoch: Epoch) -> Self {
        Self::with_key(run(number), epoch, &key(number))
    }

    pub(crate) fn with_key(run: RunId, epoch: Epoch, key: &RunKey) -> Self {
        Self {
            run,
            epoch,
            sealer: TextSealer::new(run, key),
            chains: BTreeMap::new(),
            clock: 2_000,
        }
    }

    /// Makes the run and opens a log for it.
    pub(crate) fn start(journal: &dyn Journal, number: u8) -> (Self, RunLog) {
        let epoch = journal.create_run(&new_run(number)).unwrap();
        let log = journal.open_log(run(number), epoch).unwrap();
        (Self::new(number, epoch), log)
    }

    pub(crate) fn chain(&mut self, id: &str) -> &mut RecordChain {
        let id = episode(id);
        let chain = RecordChain::new(self.run, id.clone());
        self.chains.entry(id).or_insert(chain)
    }

    pub(crate) fn record(
        &mut self,
        id: &str,
        kind: EventKind,
        commands: Vec<Command>,
    ) -> JournalRecord {
        self.clock += 1;
        JournalRecord {
            seq: self.chain(id).next_seq(),
            epoch: self.epoch,
            event: Event {
                at: Timestamp(self.clock),
                kind,
            },
            commands,
        }
    }

    pub(crate) fn entry(
        &mut self,
        id: &str,
        kind: EventKind,
        commands: Vec<Command>,
    ) -> JournalEntry {
        let mut record = self.record(id, kind, commands);
        let sealer = self.sealer.clone();
        JournalEntry::seal(&mut record, self.chain(id), &sealer).unwrap()
    }

    pub(crate) fn says(&mut self, id: &str, words: &str) -> JournalEntry {
        let kind = EventKind::ModelDelta {
            ask: AskId(1),
            attempt: 0,
            text: Text::from(words),
        };
        self.entry(id, kind, Vec::new())
    }

    pub(crate) fn starts(&mut self, id: &str, goal: &str) -> JournalEntry {
        let kind = EventKind::Started(Box::new(started(goal)));
        let call = call_model("what is asked");
        self.entry(id, kind, vec![call])
    }

    pub(crate) fn finishes(&mut self, id: &str, answer: &str) -> JournalEntry {
        let result = Box::new(result(answer));
        self.entry(id, EventKind::Tick, vec![Command::Finish { result }])
    }

    pub(crate) fn hears_of(&mut self, parent: &str, child: &str) -> JournalEntry {
        let kind = EventKind::ChildFinished {
            child: episode(child),
            result: Box::new(result("of the child")),
            head: self.chain(child).head(),
        };
        self.entry(parent, kind, Vec::new())
    }
}

/// Appends entries and waits until they are durable.
pub(crate) fn store(log: &RunLog, entries: Vec<JournalEntry>) -> LogPosition {
    let mut last = LogPosition::default();
    for entry in entries {
        last = log.append(entry).unwrap();
    }
    log.wait_durable(last).unwrap();
    last
}

pub(crate) fn started(goal: &str) -> EpisodeSpec {
    EpisodeSpec {
        goal: Text::from(goal),
        role: AgentRole::Orchestrator,
        program: ProgramSpec {
            name: "direct".to_owned(),
            params: Text::from("{}"),
        },
        contract: Contract::default(),
        budget: Budget {
            amounts: Amounts::MAX,
            time: Millis(60_000),
        },
        depth: 0,
        model: ModelRole::Main,
        models: ModelSet::new(
            ModelSpec::named("script/answers.jsonl"),
            ModelSpec::named("script/answers.jsonl"),
        ),
        frame: PacketFrame::default(),
        sources: Vec::new(),
        origin: EpisodeOrigin::Asked,
    }
}

pub(crate) fn request(words: &str) -> ModelRequest {
    ModelRequest {
        messages: vec![
            ChatMessage::new(Speaker::System, "be brief"),
            ChatMessage::new(Speaker::User, words),
        ],
        output_tokens_max: 100,
        temperature_milli: None,
        schema: Some(Text::from("{\"type\":\"object\"}")),
        pattern: None,
        tools: Vec::new(),
        seed: None,
        delivery: ReplyMode::Whole,
        timeout: Millis(1_000),
    }
}

pub(crate) fn call_model(words: &str) -> Command {
    Command::CallModel {
        ask: AskId(0),
        attempt: 0,
        model: ModelRole::Main,
        request: request(words),
        packet: PacketMeta {
            id: PacketId::of(&EpisodeId::root(), AskId(0)),
            parent: None,
            at: Timestamp(0),
            identity: None,
            confidence_milli: None,
            risk: None,
            retries: None,
            items: Vec::new(),
        },
        reserved: Amounts::ZERO,
        drawn: Amounts::ZERO,
        not_before: None,
    }
}

pub(crate) fn effect(arguments: &str) -> EffectRequest {
    EffectRequest {
        tool: "mail".to_owned(),
        target: EffectTarget {
            tenant: "acme".to_owned(),
            platform: "smtp".to_owned(),
            account: "info".to_owned(),
            action: "send".to_owned(),
        },
        event: "order-17".to_owned(),
        arguments: Text::from(arguments),
        class: EffectClass::Effect,
        taint: Vec::new(),
    }
}

pub(crate) fn result(answer: &str) -> EpisodeResult {
    EpisodeResult {
        status: EpisodeStatus::Ok,
        stop_reason: StopReason::Success,
        summary: ResultSummary::new(["one", "two", "three"].map(str::to_owned), None),
        answer: Some(Text::from(answer)),
        report: Some(Text::from("{}")),
        artifacts_created: vec![Text::from("an artifact")],
        decisions: vec![Decision {
            what: Text::from("this"),
            rationale: Text::from("because"),
        }],
        verification_needed: false,
        next_actions: vec![
            NextAction::Task(TaskPacket {
                role: AgentRole::Verifier,
                child_type: "verify".to_owned(),
                goal: Text::from("look"),
                why: Text::from("to be sure"),
            }),
            NextAction::Handoff(HandoffTicket {
                tried: Text::from("all"),
                known: Text::from("little"),
                asked: Text::from("help"),
                deadline: None,
            }),
        ],
        sources: Vec::new(),
        budget: BudgetUse {
            limit: Amounts::MAX,
            spent: Amounts::ZERO,
            time_limit: Millis(1),
            time_spent: Millis(1),
        },
        depth_reached: 0,
        position: Seq(0),
    }
}

fn reply(words: &str) -> ModelCallOutcome {
    ModelCallOutcome::Replied(ModelReply {
        text: Text::from(words),
        tool_calls: Vec::new(),
        ending: FinishReason::Complete,
        usage: TokenUsage {
            input_tokens: 1,
            output_tokens: 1,
            source: UsageSource::Counted,
        },
        latency: Millis(5),
        timing: None,
        recalled: None,
        margin_milli: None,
    })
}

fn failure() -> ModelFailure {
    ModelFailure::sent(FailureKind::Server, "what went wrong")
}

fn text() -> Text {
    Text::from("words")
}

fn every_command() -> Vec<Command> {
    let ask = AskId(1);
    vec![
        Command::Measure {
            ask,
            model: ModelRole::Main,
            request: request("a question"),
            weigh: vec![text()],
            recall: None,
            once: false,
            round: 0,
        },
        Command::Summarise {
            ask,
            model: ModelRole::Main,
            text: text(),
            tokens_max: 10,
            round: 0,
        },
        Command::Lease { upto: Amounts::MAX },
        call_model("a question"),
        Command::Spawn {
            ask,
            child: episode("0.0"),
            started: Box::new(started("a goal")),
        },
        Command::RunCell {
            ask,
            code: text(),
            context: ContextSource::Given,
            limits: CellLimits::default(),
        },
        Command::AnswerCell {
            ask,
            answer: Box::new(CellAnswer {
                id: 0,
                reply: CellReply::Each(vec![
                    CellOutcome::Said(text()),
                    CellOutcome::Fault(CellException {
                        kind: CellExceptionKind::Truncated,
                        message: text(),
                        partial: Some(text()),
                    }),
                ]),
            }),
        },
        Command::Propose {
            ask,
            effect: effect("{}"),
        },
        Command::Attempt {
            ask,
            effect: effect("{}"),
        },
        Command::Reconcile {
            ask,
            effect: effect("{}"),
        },
        Command::Domain {
            ask,
            request: DomainRequest {
                domain: "plan".to_owned(),
                access: DomainAccess::Write,
                request: text(),
                sources: Vec::new(),
            },
        },
        Command::Emit {
            block: OutputBlock {
                channel: "cli".to_owned(),
                text: text(),
            },
        },
        Command::Await {
            awaited: ExternalWait::Repair {
                ask,
                failure: failure(),
            },
        },
        Command::Finish {
            result: Box::new(result("an answer")),
        },
        Command::Post {
            envelope: Box::new(MessageDraft::info(CouncilRole::Lite, text()).stamp(
                &episode("0.0"),
                ask,
                Timestamp(1),
            )),
        },
    ]
}

/// Events and commands of every kind that carries a text, and some that carry none.
pub(crate) fn every_kind() -> Vec<(EventKind, Vec<Command>)> {
    let ask = AskId(1);
    let settled = |outcome| EventKind::settled(ask, outcome);
    let replied = |outcome| EventKind::ModelReplied {
        ask,
        attempt: 0,
        outcome,
        jitter: 7,
    };
    let kinds = vec![
        EventKind::Started(Box::new(started("a goal"))),
        EventKind::Resumed,
        EventKind::Summarised {
            ask,
            text: text(),
            round: 0,
        },
        EventKind::DomainAnswered {
            ask,
            answer: text(),
        },
        EventKind::ModelDelta {
            ask,
            attempt: 0,
            text: text(),
        },
        replied(reply("an answer")),
        replied(ModelCallOutcome::Failed(failure())),
        EventKind::ChildFinished {
            child: episode("0.0"),
            result: Box::new(result("of a child")),
            head: Digest([7; 32]),
        },
        EventKind::CellYielded {
            ask,
            question: Box::new(CellQuestion {
                id: 0,
                draft: Some(CellValue {
                    form: ValueFormat::Text,
                    text: text(),
                }),
                call: CellCall::Query {
                    prompts: vec![text()],
                    pattern: Some(text()),
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
                    text: text(),
                }),
                call: CellCall::Recurse {
                    tasks: vec![CellTask {
                        goal: text(),
                        context: Some(CellValue {
                            form: ValueFormat::Text,
                            text: text(),
                        }),
                    }],
                },
            }),
        },
        EventKind::CellFinished {
            ask,
            end: Box::new(CellResult {
                output: CellOutput {
                    head: text(),
                    tail: Some(text()),
                    bytes: 9,
                },
                submitted: Some(CellValue {
                    form: ValueFormat::Text,
                    text: text(),
                }),
                draft: Some(CellValue {
                    form: ValueFormat::Json,
                    text: text(),
                }),
                error: Some(CellError {
                    kind: CellErrorKind::Raised,
                    message: text(),
                }),
                took: Millis(1),
            }),
        },
        settled(EffectOutcome::Confirmed { receipt: text() }),
        settled(EffectOutcome::Failed { detail: text() }),
        settled(EffectOutcome::Unknown { detail: text() }),
        EventKind::Signal(Signal::Cancel),
        EventKind::Tick,
    ];
    let mut all: Vec<_> = kinds.into_iter().map(|kind| (kind, Vec::new())).collect();
    all.push((EventKind::Tick, every_command()));
    all
}

/// The records of [`every_kind`], as the first ones of a chain.
pub(crate) fn every_record() -> Vec<JournalRecord> {
    let numbered = every_kind().into_iter().zip(0..);
    numbered
        .map(|((kind, commands), seq)| JournalRecord {
            seq: Seq(seq),
            epoch: Epoch(1),
            event: Event {
                at: Timestamp(seq),
                kind,
            },
            commands,
        })
        .collect()
}
