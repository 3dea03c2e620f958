//! Builders for what an episode starts with and asks for. Every test says only what it is about.

use fathom_core::budget::amounts::{Amounts, Budget};
use fathom_core::contract::spawn::{SpawnClass, SpawnRequest, SpawnTrigger};
use fathom_core::contract::stop::StopReason;
use fathom_core::contract::{AgentRole, Autonomy, Contract, PermissionMode, RecursionPolicy};
use fathom_core::effect::{ApprovalTerms, EffectClass, EffectRequest, EffectTarget};
use fathom_core::episode::program::{Ask, ModelAsk};
use fathom_core::episode::result::{EpisodeStatus, ProgramVerdict, ResultSummary};
use fathom_core::id::{AskId, Digest};
use fathom_core::journal::event::{EpisodeOrigin, EpisodeSpec, EventKind, ProgramSpec};
use fathom_core::model::failure::{CallBilling, FailureKind, ModelFailure};
use fathom_core::model::{
    ChatMessage, CountPrecision, FinishReason, ModelPrice, ModelReply, ModelRequest, ModelRole,
    ModelSet, ModelSpec, ReplyMode, RequestEstimate, Speaker, TokenUsage, UsageSource,
};
use fathom_core::packet::{Packet, PacketFrame};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars, Timestamp};

/// Start of every run in these tests.
pub const BEGIN: Timestamp = Timestamp(1_000_000);

/// The time every episode has unless its test says otherwise.
pub const TIME: Millis = Millis(600_000);

/// More than any test needs that is not about running out.
pub const AMPLE: Amounts = Amounts {
    tokens: 100_000,
    calls: 100,
    tools: 20,
    money: Nanodollars(1_000_000),
    episodes: 12,
};

/// One nanodollar for a token of input, two for one of output.
pub const PRICE: ModelPrice = ModelPrice {
    input_per_million: Nanodollars(1_000_000),
    output_per_million: Nanodollars(2_000_000),
};

/// The tool that [`contract`] allows.
pub const TOOL: &str = "post";

/// The kind of child that [`contract`] allows and [`spawn`] asks for.
pub const HELPER: &str = "helper";

/// A budget of these amounts, with the time that all samples have.
pub fn budget(amounts: Amounts) -> Budget {
    Budget {
        amounts,
        time: TIME,
    }
}

/// A contract that allows helpers of every class, and the one tool.
pub fn contract() -> Contract {
    Contract {
        recursion: RecursionPolicy {
            allowed_child_types: vec![HELPER.into()],
            allowed_classes: CLASSES.to_vec(),
            ..RecursionPolicy::default()
        },
        allowed_tools: vec![TOOL.into()],
        permission_mode: PermissionMode::Act,
        autonomy: Autonomy::Act,
        ..Contract::default()
    }
}

pub const CLASSES: [SpawnClass; 5] = [
    SpawnClass::Retrieval,
    SpawnClass::Critique,
    SpawnClass::Repair,
    SpawnClass::Verification,
    SpawnClass::Work,
];

/// A program without parameters.
pub fn program(name: &str) -> ProgramSpec {
    ProgramSpec {
        name: name.to_owned(),
        params: Text::default(),
    }
}

/// A root that runs the script `root`, with [`contract`] and `amounts`.
pub fn root(amounts: Amounts) -> EpisodeSpec {
    EpisodeSpec {
        goal: "find out".into(),
        role: AgentRole::Orchestrator,
        program: program("root"),
        contract: contract(),
        budget: budget(amounts),
        depth: 0,
        model: ModelRole::Main,
        models: ModelSet::new(
            ModelSpec::named("script/main"),
            ModelSpec::named("script/sub"),
        ),
        frame: PacketFrame::default(),
        sources: Vec::new(),
        origin: EpisodeOrigin::Asked,
    }
}

/// A call whose prompt has `input` tokens and whose reply has at most `output`.
pub fn model_ask(input: usize, output: u32) -> ModelAsk {
    ModelAsk {
        output_tokens_max: output,
        output_tokens_min: 1,
        ..ModelAsk::new(
            ModelRole::Main,
            Packet::plain(vec![ChatMessage::new(Speaker::User, "x".repeat(input))]),
        )
    }
}

/// A request that says `prompt`.
pub fn request(prompt: &str) -> ModelRequest {
    ModelRequest {
        messages: vec![ChatMessage::new(Speaker::User, prompt)],
        output_tokens_max: 1,
        temperature_milli: None,
        schema: None,
        pattern: None,
        tools: Vec::new(),
        seed: None,
        delivery: ReplyMode::Streamed,
        timeout: Millis(60_000),
    }
}

/// A model call with a prompt and an output cap of these sizes.
pub fn call(input: usize, output: u32) -> Ask {
    Ask::Model(Box::new(model_ask(input, output)))
}

/// A request for a child that runs the script `name`.
pub fn spawn_request(name: &str) -> SpawnRequest {
    SpawnRequest {
        child_type: HELPER.into(),
        class: SpawnClass::Work,
        trigger: SpawnTrigger::ComplexQuestion,
        why: "the question has parts".into(),
        fetch: "one part of the answer".into(),
        return_format: "a sentence".into(),
        goal: Text::new(format!("do the part {name}")),
        role: AgentRole::Planner,
        program: program(name),
        contract: contract(),
        at_least: Amounts::ZERO,
        at_most: Amounts::MAX,
        time_max: None,
    }
}

/// A child that runs the script `name`.
pub fn spawn(name: &str) -> Ask {
    Ask::Spawn(Box::new(spawn_request(name)))
}

/// Target of the sample effects.
pub fn target() -> EffectTarget {
    EffectTarget {
        tenant: "acme".into(),
        platform: "forum".into(),
        account: "acme-news".into(),
        action: "reply".into(),
    }
}

/// A sample effect about `event`, which makes its key unique.
pub fn effect_request(event: &str) -> EffectRequest {
    EffectRequest {
        tool: TOOL.into(),
        target: target(),
        event: event.into(),
        arguments: r#"{"text":"hello"}"#.into(),
        class: EffectClass::Effect,
        taint: Vec::new(),
    }
}

/// An ask for a sample effect.
pub fn effect(event: &str) -> Ask {
    Ask::Effect(effect_request(event))
}

/// An end with success.
pub fn finish(answer: Option<&str>) -> Ask {
    Ask::Finish(Box::new(verdict(answer)))
}

/// A success with this answer.
pub fn verdict(answer: Option<&str>) -> ProgramVerdict {
    ProgramVerdict {
        status: EpisodeStatus::Ok,
        stop: StopReason::Success,
        answer: answer.map(Text::from),
        report: None,
        summary: ResultSummary::new(["asked".into(), "worked".into(), "done".into()], []),
        artifacts: Vec::new(),
        decisions: Vec::new(),
        verification_needed: false,
        next_actions: Vec::new(),
    }
}

/// Counts a byte as a token.
pub fn measure(request: &ModelRequest, window_tokens: Option<u64>) -> RequestEstimate {
    let messages = request.messages.iter().map(|message| &message.text);
    let tools = request.tools.iter().map(|tool| &tool.schema);
    RequestEstimate {
        input_tokens: messages
            .chain(tools)
            .map(|text| text.as_str().len() as u64)
            .sum(),
        exactness: CountPrecision::Exact,
        window_tokens,
        price: PRICE,
    }
}

/// Measurement of a host that counts bytes.
pub fn measured(
    ask: AskId,
    request: &ModelRequest,
    weigh: &[Text],
    round: u16,
    window_tokens: Option<u64>,
) -> EventKind {
    EventKind::Measured {
        ask,
        measured: measure(request, window_tokens),
        weights: weigh.iter().map(|t| t.as_str().len() as u64).collect(),
        recalled: None,
        round,
    }
}

/// Usage of these tokens, and of nothing else.
pub fn usage(input_tokens: u64, output_tokens: u64) -> TokenUsage {
    TokenUsage {
        input_tokens,
        output_tokens,
        source: UsageSource::Reported,
    }
}

/// A complete reply that took as many output tokens as it has bytes.
pub fn reply(input_tokens: u64, text: &str) -> ModelReply {
    ModelReply {
        text: text.into(),
        tool_calls: Vec::new(),
        ending: FinishReason::Complete,
        usage: usage(input_tokens, text.len() as u64),
        latency: Millis(10),
        timing: None,
        recalled: None,
        margin_milli: None,
    }
}

/// Failure of a rate-limited provider. It bills nothing.
pub fn rate_limited(retry_after: Millis) -> ModelFailure {
    ModelFailure {
        retry_after: Some(retry_after),
        ..ModelFailure::unsent(FailureKind::RateLimited, "slow down")
    }
}

/// A failure of which the provider said what it cost.
pub fn billed(kind: FailureKind, input_tokens: u64, output_tokens: u64) -> ModelFailure {
    ModelFailure {
        billing: CallBilling::Reported(usage(input_tokens, output_tokens)),
        ..ModelFailure::unsent(kind, "")
    }
}

/// Digest that a person's decision is bound to.
pub const BINDING: Digest = Digest([7; 32]);

/// Terms that any person meets at any time.
pub fn terms() -> ApprovalTerms {
    ApprovalTerms::open(BINDING)
}
