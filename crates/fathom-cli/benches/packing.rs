//! How long the core takes to pack a large packet: a thousand entries of history and five hundred symbols.
//!
//! Not a test: it prints what it saw. `make bench` runs it.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark reads clocks, prints, and stops at the first surprise"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use fathom_core::budget::amounts::{Amounts, Budget};
use fathom_core::contract::{AgentRole, Contract};
use fathom_core::episode::program::{
    Ask, ModelAsk, Program, ProgramError, ProgramFactory, ProgramInput, ProgramView,
};
use fathom_core::id::{Digest, EpisodeId, Epoch};
use fathom_core::journal::event::{
    EpisodeOrigin, EpisodeSpec, EventKind, JournalRecord, ModelCallOutcome, ProgramSpec,
};
use fathom_core::model::{
    ChatMessage, CountPrecision, FinishReason, ModelPrice, ModelReply, ModelRole, ModelSet,
    ModelSpec, RequestEstimate, Speaker, TokenUsage, UsageSource,
};
use fathom_core::packet::{KeepFrom, Packet, PacketFrame, PacketShare};
use fathom_core::run::Run;
use fathom_core::run::step::{AppendReceipt, HostStep, LogPosition, RecordLog};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Timestamp};
use fathom_models::count_o200k;

const ENTRIES: usize = 1_000;
const SYMBOLS: usize = 500;
const ROUNDS: usize = 50;

/// Asks the same again and again.
struct Chat;

impl Program for Chat {
    fn on(&mut self, _: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        let entry = |kind: &str, n: usize| {
            let words = "what was said and what came of it, in about as many words as people use";
            ChatMessage::new(Speaker::User, format!("{kind} {n}: {words}"))
        };
        let packet = Packet {
            shares: vec![
                PacketShare::section(
                    "symbols",
                    "Symbols",
                    500,
                    KeepFrom::First,
                    (0..SYMBOLS).map(|n| entry("symbol", n)).collect(),
                ),
                PacketShare::history((0..ENTRIES).map(|n| entry("turn", n)).collect()),
            ],
            prompt: vec![ChatMessage::new(Speaker::User, "And now?")],
            ..Packet::default()
        };
        vec![Ask::Model(Box::new(ModelAsk::new(view.model, packet)))]
    }

    fn partial(&self) -> Option<Text> {
        None
    }
}

struct Chats;

impl ProgramFactory for Chats {
    fn build(&self, _: &ProgramSpec) -> Result<Box<dyn Program>, ProgramError> {
        Ok(Box::new(Chat))
    }
}

/// A log that is durable at once and keeps nothing.
#[derive(Default)]
struct Nowhere(u64);

impl RecordLog for Nowhere {
    fn append(&mut self, _: &EpisodeId, _: JournalRecord) -> AppendReceipt {
        self.0 += 1;
        AppendReceipt {
            position: LogPosition(self.0),
            head: Digest::default(),
        }
    }
}

fn started() -> EpisodeSpec {
    EpisodeSpec {
        goal: "talk".into(),
        role: AgentRole::Orchestrator,
        program: ProgramSpec {
            name: "chat".to_owned(),
            params: Text::default(),
        },
        contract: Contract::default(),
        budget: Budget {
            amounts: Amounts::MAX,
            time: Millis(u64::MAX / 4),
        },
        depth: 0,
        model: ModelRole::Main,
        models: ModelSet::new(ModelSpec::named("script/a"), ModelSpec::named("script/a")),
        frame: PacketFrame {
            mtu_tokens: Some(4096),
            identity: "You tell the truth.".into(),
            persona: "You are brief.".into(),
            ..PacketFrame::default()
        },
        sources: Vec::new(),
        origin: EpisodeOrigin::Asked,
    }
}

fn main() {
    let mut run: Run = Run::new(Epoch(1), Arc::new(Chats));
    let mut log = Nowhere::default();
    let at = Timestamp(0);
    let mut steps = run.start(&mut log, at, started());
    let (mut packing, mut counting) = (Vec::new(), Vec::new());
    let (mut core, mut tokens) = (Duration::ZERO, Duration::ZERO);
    let mut size = 0;
    while packing.len() <= ROUNDS {
        let begin = Instant::now();
        steps.extend(run.durable(LogPosition(log.0)));
        core += begin.elapsed();
        let begin = Instant::now();
        let kind = match steps.remove(0) {
            HostStep::Measure {
                ask,
                request,
                weigh,
                round,
                ..
            } => {
                let messages = request.messages.iter();
                size = messages.map(|m| count_o200k(m.text.as_str())).sum();
                EventKind::Measured {
                    ask,
                    measured: RequestEstimate {
                        input_tokens: size,
                        exactness: CountPrecision::Exact,
                        window_tokens: None,
                        price: ModelPrice::default(),
                    },
                    weights: weigh.iter().map(|t| count_o200k(t.as_str())).collect(),
                    recalled: None,
                    round,
                }
            }
            HostStep::Call { ask, attempt, .. } => {
                packing.push(std::mem::take(&mut core));
                counting.push(std::mem::take(&mut tokens));
                EventKind::ModelReplied {
                    ask,
                    attempt,
                    outcome: ModelCallOutcome::Replied(ModelReply {
                        text: "then".into(),
                        tool_calls: Vec::new(),
                        ending: FinishReason::Complete,
                        usage: TokenUsage {
                            input_tokens: size,
                            output_tokens: 1,
                            source: UsageSource::Reported,
                        },
                        latency: Millis(1),
                        timing: None,
                        recalled: None,
                        margin_milli: None,
                    }),
                    jitter: 0,
                }
            }
            _ => continue,
        };
        tokens += begin.elapsed();
        let begin = Instant::now();
        steps.extend(run.deliver(&mut log, at, EpisodeId::root(), kind));
        core += begin.elapsed();
    }
    let cold = (packing.remove(0), counting.remove(0));
    packing.sort_unstable();
    counting.sort_unstable();
    println!(
        "packing {ENTRIES} entries of history and {SYMBOLS} symbols into {size} tokens, median of {ROUNDS}\n\
         core {:>10.2?}   counting {:>10.2?}   wanted < 5 ms together\n\
         the first time, with every entry counted: core {:.2?}, counting {:.2?}",
        packing[ROUNDS / 2],
        counting[ROUNDS / 2],
        cold.0,
        cold.1,
    );
}
