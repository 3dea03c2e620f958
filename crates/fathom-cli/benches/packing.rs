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

use fathom_core::amounts::{Amounts, Budget};
use fathom_core::contract::{Contract, Role};
use fathom_core::event::{CallOutcome, EventKind, Origin, ProgramSpec, Record, Started};
use fathom_core::id::{Digest, EpisodeId, Epoch};
use fathom_core::model::{
    Ending, Exactness, Measured, Message, ModelRole, ModelSpec, Models, Price, Reply, Speaker,
    Usage, UsageSource,
};
use fathom_core::packet::{Frame, Keep, Packet, Share};
use fathom_core::program::{Ask, Input, ModelAsk, Program, ProgramError, Programs, View};
use fathom_core::run::Run;
use fathom_core::step::{Appended, Log, Position, Step};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Timestamp};
use fathom_models::count_o200k;

const ENTRIES: usize = 1_000;
const SYMBOLS: usize = 500;
const ROUNDS: usize = 50;

/// Asks the same again and again.
struct Chat;

impl Program for Chat {
    fn on(&mut self, _: Input<'_>, view: &View<'_>) -> Vec<Ask> {
        let entry = |kind: &str, n: usize| {
            let words = "what was said and what came of it, in about as many words as people use";
            Message::new(Speaker::User, format!("{kind} {n}: {words}"))
        };
        let packet = Packet {
            shares: vec![
                Share::section(
                    "symbols",
                    "Symbols",
                    500,
                    Keep::First,
                    (0..SYMBOLS).map(|n| entry("symbol", n)).collect(),
                ),
                Share::history((0..ENTRIES).map(|n| entry("turn", n)).collect()),
            ],
            prompt: vec![Message::new(Speaker::User, "And now?")],
            ..Packet::default()
        };
        vec![Ask::Model(Box::new(ModelAsk::new(view.model, packet)))]
    }

    fn partial(&self) -> Option<Text> {
        None
    }
}

struct Chats;

impl Programs for Chats {
    fn build(&self, _: &ProgramSpec) -> Result<Box<dyn Program>, ProgramError> {
        Ok(Box::new(Chat))
    }
}

/// A log that is durable at once and keeps nothing.
#[derive(Default)]
struct Nowhere(u64);

impl Log for Nowhere {
    fn append(&mut self, _: &EpisodeId, _: Record) -> Appended {
        self.0 += 1;
        Appended {
            position: Position(self.0),
            head: Digest::default(),
        }
    }
}

fn started() -> Started {
    Started {
        goal: "talk".into(),
        role: Role::Orchestrator,
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
        models: Models::new(ModelSpec::named("script/a"), ModelSpec::named("script/a")),
        frame: Frame {
            mtu_tokens: Some(4096),
            identity: "You tell the truth.".into(),
            persona: "You are brief.".into(),
            ..Frame::default()
        },
        sources: Vec::new(),
        origin: Origin::Asked,
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
        steps.extend(run.durable(Position(log.0)));
        core += begin.elapsed();
        let begin = Instant::now();
        let kind = match steps.remove(0) {
            Step::Measure {
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
                    measured: Measured {
                        input_tokens: size,
                        exactness: Exactness::Exact,
                        window_tokens: None,
                        price: Price::default(),
                    },
                    weights: weigh.iter().map(|t| count_o200k(t.as_str())).collect(),
                    recalled: None,
                    round,
                }
            }
            Step::Call { ask, attempt, .. } => {
                packing.push(std::mem::take(&mut core));
                counting.push(std::mem::take(&mut tokens));
                EventKind::ModelReplied {
                    ask,
                    attempt,
                    outcome: CallOutcome::Replied(Reply {
                        text: "then".into(),
                        tool_calls: Vec::new(),
                        ending: Ending::Complete,
                        usage: Usage {
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
