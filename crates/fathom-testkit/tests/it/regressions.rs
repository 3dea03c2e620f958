//! Bugs that the simulator found in the core, each as the shortest story that shows it.

use std::sync::Arc;

use fathom_core::budget::amounts::{Amounts, Budget};
use fathom_core::contract::{AgentRole, Autonomy, Contract, PermissionMode, RecursionPolicy};
use fathom_core::effect::{EffectClass, EffectRequest, EffectTarget, PolicyDecision};
use fathom_core::id::{AskId, Digest, EpisodeId, Epoch};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{
    EpisodeOrigin, EpisodeSpec, EventKind, JournalRecord, ModelCallOutcome, Signal,
};
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{
    CountPrecision, FinishReason, ModelPrice, ModelReply, ModelRole, ModelSet, ModelSpec,
    RequestEstimate, TokenUsage, UsageSource,
};
use fathom_core::packet::PacketFrame;
use fathom_core::run::Run;
use fathom_core::run::step::{AppendReceipt, HostStep, LogPosition, RecordLog};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars, Timestamp};
use fathom_testkit::drill::{self, DrillPrograms};

/// A log that keeps records in memory and loses nothing.
#[derive(Default)]
struct Kept(Vec<(EpisodeId, JournalRecord)>);

impl RecordLog for Kept {
    fn append(&mut self, episode: &EpisodeId, record: JournalRecord) -> AppendReceipt {
        self.0.push((episode.clone(), record));
        AppendReceipt {
            position: LogPosition(self.0.len() as u64),
            head: Digest::default(),
        }
    }
}

/// A run, its log and a clock, in the hands of a test.
struct Desk {
    run: Run,
    log: Kept,
    now: u64,
}

impl Desk {
    fn new(params: &drill::DrillConfig) -> Self {
        Self::timed(params, Millis(60_000))
    }

    fn timed(params: &drill::DrillConfig, time: Millis) -> Self {
        let model = ModelSpec::named("sim/model");
        let started = EpisodeSpec {
            goal: Text::new("goal"),
            role: AgentRole::Orchestrator,
            program: params.spec(),
            contract: Contract {
                recursion: RecursionPolicy {
                    max_depth: 0,
                    ..RecursionPolicy::default()
                },
                allowed_tools: vec!["post".into()],
                permission_mode: PermissionMode::Act,
                autonomy: Autonomy::Act,
                ..Contract::default()
            },
            budget: Budget {
                amounts: Amounts {
                    tokens: 10_000,
                    calls: 50,
                    tools: 50,
                    money: Nanodollars(1_000_000_000),
                    episodes: 12,
                },
                time,
            },
            depth: 0,
            model: ModelRole::Main,
            models: ModelSet::new(model.clone(), model),
            frame: PacketFrame::default(),
            sources: Vec::new(),
            origin: EpisodeOrigin::Asked,
        };
        let mut desk = Self {
            run: Run::new(Epoch(1), Arc::new(DrillPrograms)),
            log: Kept::default(),
            now: 1_000,
        };
        let at = Timestamp(desk.now);
        desk.run.start(&mut desk.log, at, started);
        desk
    }

    fn give(&mut self, kind: EventKind) -> Vec<HostStep> {
        let at = Timestamp(self.now);
        let mut steps = self.run.deliver(&mut self.log, at, EpisodeId::root(), kind);
        steps.extend(self.run.durable(LogPosition(self.log.0.len() as u64)));
        steps
    }

    fn measure(&mut self, ask: u32) -> Vec<HostStep> {
        self.give(EventKind::Measured {
            ask: AskId(ask),
            measured: RequestEstimate {
                input_tokens: 10,
                exactness: CountPrecision::UpperBound,
                window_tokens: None,
                price: ModelPrice::default(),
            },
            weights: Vec::new(),
            recalled: None,
            round: 0,
        })
    }

    fn answer(&mut self, ask: u32, outcome: ModelCallOutcome) -> Vec<HostStep> {
        self.give(EventKind::ModelReplied {
            ask: AskId(ask),
            attempt: 1,
            outcome,
            jitter: 0,
        })
    }

    /// Another owner reads the log and goes on.
    fn restart(&mut self) -> Vec<HostStep> {
        let mut run = Run::new(Epoch(2), Arc::new(DrillPrograms));
        for (episode, record) in &self.log.0 {
            assert_eq!(run.refold(episode, record, Digest::default()), None);
        }
        run.durable(LogPosition(self.log.0.len() as u64));
        self.run = run;
        self.run.resume(&mut self.log, Timestamp(self.now))
    }

    fn events(&self) -> Vec<&'static str> {
        let records = self.log.0.iter();
        records
            .map(|(_, record)| record.event.kind.name())
            .collect()
    }

    fn commands(&self) -> impl Iterator<Item = &Command> {
        self.log.0.iter().flat_map(|(_, record)| &record.commands)
    }

    fn calls(&self, ask: u32) -> usize {
        self.commands()
            .filter(
                |command| matches!(command, Command::CallModel { ask: a, .. } if *a == AskId(ask)),
            )
            .count()
    }
}

fn said(output_tokens: u64) -> ModelCallOutcome {
    ModelCallOutcome::Replied(ModelReply {
        text: Text::new("yes"),
        tool_calls: Vec::new(),
        ending: FinishReason::Complete,
        usage: TokenUsage {
            input_tokens: 10,
            output_tokens,
            source: UsageSource::Reported,
        },
        latency: Millis(1),
        timing: None,
        recalled: None,
        margin_milli: None,
    })
}

fn failed(kind: FailureKind) -> ModelCallOutcome {
    ModelCallOutcome::Failed(ModelFailure::sent(kind, "no answer"))
}

/// E02: an ask that is refused as its episode ends was told to nobody: neither program nor journal.
#[test]
fn e02_a_refusal_is_recorded_even_when_the_episode_ends_with_it() {
    let mut desk = Desk::new(&drill::DrillConfig {
        ending: drill::DrillEnding::Abrupt,
        ..drill::DrillConfig::default()
    });
    desk.measure(0);
    desk.answer(0, said(5));
    assert_eq!(
        desk.events(),
        ["started", "measured", "model_replied", "refused"]
    );
    assert!(desk.run.result().is_some());
}

/// E06: the overrun of an episode's last call was never recorded.
#[test]
fn e06_an_overrun_is_recorded_even_when_the_episode_ends_with_it() {
    let mut desk = Desk::new(&drill::DrillConfig::default());
    desk.measure(0);
    desk.answer(0, said(5_000));
    assert_eq!(
        desk.events(),
        ["started", "measured", "model_replied", "overrun"]
    );
    assert!(desk.run.result().is_some());
}

/// E06: a lease that was forfeited as a cancelled run came back was never recorded.
#[test]
fn e06_a_forfeit_is_recorded_even_when_the_episode_ends_with_it() {
    let mut desk = Desk::new(&drill::DrillConfig::default());
    desk.measure(0);
    desk.give(EventKind::Signal(Signal::Cancel));
    desk.restart();
    assert_eq!(
        desk.events(),
        ["started", "measured", "signal", "resumed", "forfeited"]
    );
    assert!(desk.run.result().is_some());
}

/// E06: a forfeit whose record a second crash took is said again, and counts once.
#[test]
fn e06_a_forfeit_that_was_not_recorded_is_said_again() {
    let mut desk = Desk::new(&drill::DrillConfig::default());
    desk.measure(0);
    desk.restart();
    let spent = |desk: &Desk| desk.run.live().map(|(_, e)| e.budget().spent.calls).sum();
    let before: u64 = spent(&desk);
    let lost = desk.log.0.pop();
    let lost = lost.map(|(_, record)| record.event.kind.name());
    assert_eq!(lost, Some("forfeited"));
    desk.restart();
    let events = desk.events();
    let forfeits = events.iter().filter(|name| **name == "forfeited");
    assert_eq!(
        forfeits.count(),
        2,
        "the old one and that of the second lease"
    );
    // The second owner's call and lease are as large as the first one's.
    assert_eq!(spent(&desk), 2 * before);
}

/// E05: a reply that came after the deadline was answered with another call.
#[test]
fn e05_nothing_new_is_asked_for_when_the_time_is_up() {
    let params = drill::DrillConfig {
        rounds: 2,
        ..drill::DrillConfig::default()
    };
    let mut desk = Desk::timed(&params, Millis(100));
    desk.measure(0);
    desk.now += 100;
    desk.answer(0, said(5));
    assert_eq!(desk.calls(1), 0);
    let result = desk.run.result().map(|result| result.answer.is_some());
    assert_eq!(result, Some(true), "the late reply is kept");
}

/// E05: an effect that was allowed after the deadline was sent.
#[test]
fn e05_no_effect_is_attempted_when_the_time_is_up() {
    let params = drill::DrillConfig {
        calls: 0,
        effects: vec![drill::DrillEffect {
            round: 0,
            request: EffectRequest {
                tool: "post".into(),
                target: EffectTarget {
                    tenant: "tenant".into(),
                    platform: "square".into(),
                    account: "account".into(),
                    action: "say".into(),
                },
                event: "event".into(),
                arguments: Text::new("{}"),
                class: EffectClass::Effect,
                taint: Vec::new(),
            },
        }],
        ..drill::DrillConfig::default()
    };
    let mut desk = Desk::timed(&params, Millis(100));
    desk.now += 100;
    let allow = PolicyDecision::Allow { rules: Vec::new() };
    let steps = desk.give(EventKind::decided(AskId(0), allow));
    assert!(
        !steps
            .iter()
            .any(|step| matches!(step, HostStep::Attempt(_)))
    );
    assert!(desk.run.result().is_some());
}

fn two_calls_one_of_them_given_up() -> Desk {
    let mut desk = Desk::new(&drill::DrillConfig {
        calls: 3,
        cancels: 1,
        ..drill::DrillConfig::default()
    });
    for ask in 0..3 {
        desk.measure(ask);
    }
    desk.answer(0, said(5));
    let cancels = |command: &Command| matches!(command, Command::CancelCall { .. });
    assert_eq!(desk.commands().filter(|c| cancels(c)).count(), 1);
    desk
}

/// E06: a call that its program gave up was tried again when it failed in a way that may pass.
#[test]
fn e06_a_call_given_up_is_not_tried_again() {
    let mut desk = two_calls_one_of_them_given_up();
    desk.answer(2, failed(FailureKind::Timeout));
    assert_eq!(desk.calls(2), 1);
}

/// X04: a call that its program gave up was made again after a crash.
#[test]
fn x04_a_call_given_up_is_not_made_again_after_a_crash() {
    let mut desk = two_calls_one_of_them_given_up();
    desk.restart();
    assert_eq!(
        desk.calls(1),
        2,
        "the call that is still wanted is made again"
    );
    assert_eq!(desk.calls(2), 1);
}
