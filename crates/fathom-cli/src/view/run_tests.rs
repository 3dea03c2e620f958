//! Stories for tests, told as the host tells them: record by record.

use fathom_core::budget::amounts::{Amounts, Budget};
use fathom_core::contract::spawn::{SpawnClass, SpawnTrigger};
use fathom_core::contract::stop::{Refusal, StopReason};
use fathom_core::contract::{AgentRole, Contract};
use fathom_core::episode::result::{
    BudgetUse, EpisodeResult, EpisodeStatus, HandoffTicket, NextAction, ResultSummary,
};
use fathom_core::id::{AskId, Digest, EpisodeId, Epoch, RunId, Seq};
use fathom_core::journal::command::{Command, ExternalWait};
use fathom_core::journal::event::{
    EpisodeOrigin, EpisodeSpec, Event, EventKind, JournalRecord, ModelCallOutcome, ProgramSpec,
    ReleaseReason,
};
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{
    CountPrecision, FinishReason, ModelPrice, ModelReply, ModelRequest, ModelRole, ModelSet,
    ModelSpec, RequestEstimate, TokenUsage, UsageSource,
};
use fathom_core::packet::{PacketFrame, PacketId, PacketMeta};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars, Timestamp};
use fathom_host::view::run::RunView;
use fathom_programs::direct;
use uuid::Uuid;

/// Start of every sample run.
pub(crate) const BEGAN: u64 = 1_700_000_000_000;

pub(crate) fn run_id() -> RunId {
    RunId::new(Uuid::from_u128(0x0199_c2f4_1a2b_7000_8000_0000_0000_0001))
}

pub(crate) fn after(millis: u64) -> Timestamp {
    Timestamp(BEGAN + millis)
}

/// Builds a story and keeps its records.
#[derive(Default)]
pub(crate) struct Teller {
    pub(crate) story: RunView,
    pub(crate) records: Vec<(EpisodeId, JournalRecord)>,
}

pub(crate) fn id(text: &str) -> EpisodeId {
    text.parse().unwrap()
}

impl Teller {
    /// A run that has just begun, with its first call measured and sent.
    pub(crate) fn asked(question: &str) -> Self {
        let mut teller = Self::default();
        teller.start("0", question, EpisodeOrigin::Asked);
        teller.call("0", 1, 120);
        teller
    }

    pub(crate) fn tell(&mut self, at: u64, episode: &str, kind: EventKind, commands: Vec<Command>) {
        let episode = id(episode);
        let told = self.records.iter().filter(|(id, _)| *id == episode).count();
        let record = JournalRecord {
            seq: Seq(told as u64),
            epoch: Epoch(1),
            event: Event {
                at: after(at),
                kind,
            },
            commands,
        };
        self.story.read(&episode, &record);
        self.records.push((episode, record));
    }

    pub(crate) fn start(&mut self, episode: &str, goal: &str, origin: EpisodeOrigin) {
        self.start_program(
            episode,
            goal,
            origin,
            direct::DirectConfig::default().spec(),
        );
    }

    pub(crate) fn start_program(
        &mut self,
        episode: &str,
        goal: &str,
        origin: EpisodeOrigin,
        program: ProgramSpec,
    ) {
        let depth = u8::try_from(id(episode).depth()).unwrap();
        let models = ModelSet::new(
            ModelSpec::named("openai/qwen3-32b"),
            ModelSpec::named("script/files/answers.jsonl"),
        );
        let started = EpisodeSpec {
            goal: goal.into(),
            role: AgentRole::Orchestrator,
            program,
            contract: Contract::default(),
            budget: budget(),
            depth,
            model: if depth == 0 {
                ModelRole::Main
            } else {
                ModelRole::Sub
            },
            models,
            frame: PacketFrame::default(),
            sources: vec![],
            origin,
        };
        self.tell(
            100 * u64::from(depth),
            episode,
            EventKind::Started(Box::new(started)),
            vec![],
        );
    }

    /// Spawns a child of `kind` below the episode that its id names.
    pub(crate) fn spawn(&mut self, episode: &str, kind: &str) {
        self.spawn_program(episode, kind, direct::DirectConfig::default().spec());
    }

    pub(crate) fn spawn_program(&mut self, episode: &str, kind: &str, program: ProgramSpec) {
        let origin = EpisodeOrigin::Spawned {
            child_type: kind.to_owned(),
            class: SpawnClass::Critique,
            trigger: SpawnTrigger::HighStakesAction,
            why: Text::default(),
            fetch: Text::default(),
            return_format: Text::default(),
        };
        self.start_program(episode, "judge the answer", origin, program);
        let Some((_, record)) = self.records.last() else {
            return;
        };
        let EventKind::Started(started) = record.event.kind.clone() else {
            return;
        };
        let parent = id(episode).parent().unwrap().to_string();
        let spawn = Command::Spawn {
            ask: AskId(90),
            child: id(episode),
            started,
        };
        self.tell(100, &parent, EventKind::Tick, vec![spawn]);
    }

    /// Measures a request and sends it.
    pub(crate) fn call(&mut self, episode: &str, ask: u32, at: u64) {
        let measured = RequestEstimate {
            input_tokens: 800,
            exactness: CountPrecision::Exact,
            window_tokens: Some(32_000),
            price: ModelPrice {
                input_per_million: Nanodollars(150_000_000),
                output_per_million: Nanodollars(600_000_000),
            },
        };
        let call = Self::call_model(ask, 1, None);
        let ask = AskId(ask);
        self.tell(
            at,
            episode,
            EventKind::Measured {
                ask,
                measured,
                weights: vec![],
                recalled: None,
                round: 0,
            },
            vec![call],
        );
    }

    fn call_model(ask: u32, attempt: u16, not_before: Option<Timestamp>) -> Command {
        Command::CallModel {
            ask: AskId(ask),
            attempt,
            model: ModelRole::Main,
            request: ModelRequest {
                messages: vec![],
                output_tokens_max: 1024,
                temperature_milli: None,
                schema: None,
                pattern: None,
                tools: Vec::new(),
                seed: None,
                delivery: fathom_core::model::ReplyMode::Streamed,
                timeout: Millis(60_000),
            },
            packet: PacketMeta {
                id: PacketId::of(&id("0"), AskId(ask)),
                parent: None,
                at: Timestamp(0),
                identity: None,
                confidence_milli: None,
                risk: None,
                retries: None,
                items: vec![],
            },
            reserved: Amounts {
                tokens: 1824,
                calls: 1,
                ..Amounts::ZERO
            },
            drawn: Amounts::ZERO,
            not_before,
        }
    }

    pub(crate) fn hear(&mut self, episode: &str, ask: u32, at: u64, words: &str) {
        let kind = EventKind::ModelDelta {
            ask: AskId(ask),
            attempt: 1,
            text: words.into(),
        };
        self.tell(at, episode, kind, vec![]);
    }

    pub(crate) fn reply(
        &mut self,
        episode: &str,
        ask: u32,
        at: u64,
        text: &str,
        more: Vec<Command>,
    ) {
        let reply = ModelReply {
            text: text.into(),
            tool_calls: Vec::new(),
            ending: FinishReason::Complete,
            usage: TokenUsage {
                input_tokens: 800,
                output_tokens: 340,
                source: UsageSource::Reported,
            },
            latency: Millis(at.saturating_sub(120)),
            timing: None,
            recalled: None,
            margin_milli: None,
        };
        let kind = EventKind::ModelReplied {
            ask: AskId(ask),
            attempt: 1,
            outcome: ModelCallOutcome::Replied(reply),
            jitter: 0,
        };
        self.tell(at, episode, kind, more);
    }

    /// A call is turned away and will be tried again.
    pub(crate) fn retry(&mut self, episode: &str, ask: u32, at: u64, again_at: u64) {
        let kind = EventKind::ModelReplied {
            ask: AskId(ask),
            attempt: 1,
            outcome: ModelCallOutcome::Failed(ModelFailure::unsent(
                FailureKind::RateLimited,
                "slow down",
            )),
            jitter: 0,
        };
        let again = Self::call_model(ask, 2, Some(after(again_at)));
        self.tell(at, episode, kind, vec![again]);
    }

    pub(crate) fn refuse(&mut self, episode: &str, ask: u32, at: u64, reason: Refusal) {
        let ask = AskId(ask);
        self.tell(at, episode, EventKind::Refused { ask, reason }, vec![]);
    }

    pub(crate) fn outage(&mut self, at: u64) {
        let awaited = ExternalWait::Repair {
            ask: AskId(1),
            failure: ModelFailure::unsent(FailureKind::Connection, "nobody listens"),
        };
        self.tell(at, "0", EventKind::Tick, vec![Command::Await { awaited }]);
    }

    pub(crate) fn release(&mut self, at: u64, why: ReleaseReason) {
        self.tell(at, "0", EventKind::Released { why }, vec![]);
    }

    /// Ends a child and tells its parent.
    pub(crate) fn end_child(&mut self, episode: &str, at: u64, result: EpisodeResult) {
        let result = Box::new(result);
        let finish = Command::Finish {
            result: result.clone(),
        };
        self.reply(episode, 1, at, "judged", vec![finish]);
        let kind = EventKind::ChildFinished {
            child: id(episode),
            result,
            head: Digest::default(),
        };
        let parent = id(episode).parent().unwrap().to_string();
        self.tell(at, &parent, kind, vec![]);
    }

    /// Ends the root.
    pub(crate) fn end(&mut self, at: u64, result: EpisodeResult) {
        let finish = Command::Finish {
            result: Box::new(result),
        };
        self.tell(at, "0", EventKind::Tick, vec![finish]);
    }
}

pub(crate) fn budget() -> Budget {
    Budget {
        amounts: Amounts {
            tokens: 40_000,
            calls: 64,
            tools: 32,
            money: Nanodollars(1_000_000_000),
            episodes: 12,
        },
        time: Millis(300_000),
    }
}

/// Result of an episode that used `tokens`.
pub(crate) fn result(
    status: EpisodeStatus,
    stop: StopReason,
    answer: Option<&str>,
    tokens: u64,
) -> EpisodeResult {
    let Budget { amounts, time } = budget();
    let next_actions = match status {
        EpisodeStatus::NeedsReview => vec![NextAction::Handoff(HandoffTicket {
            tried: "1 call".into(),
            known: "no answer".into(),
            asked: "look at the answer".into(),
            deadline: None,
        })],
        EpisodeStatus::Ok | EpisodeStatus::Failed => vec![],
    };
    EpisodeResult {
        status,
        stop_reason: stop,
        summary: ResultSummary::new(["asked".into(), "answered".into(), "1 call".into()], []),
        answer: answer.map(Text::from),
        report: None,
        artifacts_created: vec![],
        decisions: vec![],
        verification_needed: false,
        next_actions,
        sources: vec![],
        budget: BudgetUse {
            limit: amounts,
            spent: Amounts {
                tokens,
                calls: 2,
                tools: 0,
                money: Nanodollars(1_234_567),
                episodes: 1,
            },
            time_limit: time,
            time_spent: Millis(4_400),
        },
        depth_reached: 0,
        position: Seq(7),
    }
}

/// A run with a critique child at work: the picture the live tree is made for.
pub(crate) fn at_work() -> Teller {
    let mut teller =
        Teller::asked("Should we move the customer database before the auth migration?");
    teller.reply("0", 1, 2_400, "Yes, but rehearse it.", vec![]);
    teller.spawn("0.0", "critique");
    teller.call("0.0", 1, 2_500);
    teller.hear(
        "0.0",
        1,
        3_000,
        "PASS because the answer names the risk and the capacity that is there.\n",
    );
    teller
}

/// The same, finished.
pub(crate) fn finished() -> Teller {
    let mut teller = at_work();
    teller.end_child(
        "0.0",
        3_800,
        result(
            EpisodeStatus::Ok,
            StopReason::Success,
            Some("PASS it names the risk"),
            900,
        ),
    );
    teller.end(
        4_400,
        result(
            EpisodeStatus::Ok,
            StopReason::Success,
            Some("Yes, but rehearse it."),
            3_040,
        ),
    );
    teller
}

/// Children of children, in every state.
pub(crate) fn forest() -> Teller {
    let mut teller = Teller::asked(
        "Considering cost, latency and the auth migration, should we move the customer database?",
    );
    for (child, kind) in [("0.0", "IT"), ("0.1", "Data"), ("0.2", "Ops")] {
        teller.spawn(child, kind);
        teller.call(child, 1, 300);
    }
    for child in ["0.0.0", "0.0.1", "0.1.0"] {
        teller.spawn(child, "security and everything that belongs to it");
        teller.call(child, 1, 400);
    }
    teller.end_child(
        "0.0.0",
        900,
        result(
            EpisodeStatus::Ok,
            StopReason::Success,
            Some("REJECT the migration was not rehearsed"),
            900,
        ),
    );
    teller.retry("0.0.1", 1, 1_000, 2_800);
    teller.hear(
        "0.1.0",
        1,
        1_100,
        "\u{1b}[31mthe schema\nis additive 日本語\n",
    );
    teller.end_child(
        "0.2",
        1_200,
        result(EpisodeStatus::Failed, StopReason::Cancelled, None, 10),
    );
    teller
}
