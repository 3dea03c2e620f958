//! Random scenarios: what is asked, of whom, and what goes wrong meanwhile.

use std::collections::BTreeMap;

use fathom_core::budget::amounts::{Amounts, Budget};
use fathom_core::contract::spawn::{SpawnClass, SpawnTrigger};
use fathom_core::contract::{
    AgentRole, Autonomy, Contract, PermissionMode, RecursionPolicy, StopConditions,
};
use fathom_core::effect::{EffectRequest, KillScope};
use fathom_core::journal::event::{EpisodeOrigin, EpisodeSpec, ProgramSpec};
use fathom_core::model::{CountPrecision, ModelPrice, ModelRole, ModelSet, ModelSpec, ReplyMode};
use fathom_core::packet::{PacketFrame, PacketRisk};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars};
use fathom_programs::{direct, motion};

use super::{platform, provider, rng::SimRng};
use crate::drill::{DrillChild, DrillConfig, DrillEffect, DrillEnding};

/// Types of children that a scenario's policy knows; one of them is not allowed.
const CHILD_TYPES: [&str; 3] = ["drill", "critique", "publish"];

/// Interventions of people from outside.
#[derive(Clone, Debug)]
pub(super) struct SimPeople {
    /// Time of a cancellation, if any.
    pub(super) cancels_after: Option<u64>,
    /// Time and scope of the kill switch, and the time at which it is lifted.
    pub(super) kill: Option<(u64, KillScope, Option<u64>)>,
    /// Time at which someone decides about an effect that they were not asked about.
    pub(super) meddles_after: Option<u64>,
    /// Time of a polite interrupt of the process.
    pub(super) interrupts_after: Option<u64>,
    /// Longest time until a decision.
    pub(super) decides_within: u64,
}

/// Behaviour of the disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct DiskFaults {
    pub(super) capacity: usize,
    pub(super) write_failures_permille: u64,
    pub(super) sync_failures_permille: u64,
    pub(super) read_failures_permille: u64,
    /// True if frames wait in the process until the next commit.
    pub(super) is_buffered: bool,
    /// Longest time until a commit.
    pub(super) sync_within: u64,
}

/// Everything a seed stands for.
#[derive(Clone, Debug)]
pub(super) struct SimScenario {
    pub(super) started: EpisodeSpec,
    pub(super) provider: provider::ProviderFaults,
    pub(super) platform: platform::PlatformFaults,
    pub(super) people: SimPeople,
    pub(super) disk: DiskFaults,
    pub(super) crashes: u32,
    pub(super) crash_spacing: u64,
    /// Out of a thousand crashes, how many take the power away.
    pub(super) power_permille: u64,
    /// Out of a thousand, how many owners only seem dead and wake up later.
    pub(super) hangs_permille: u64,
    /// Out of a thousand times that only a person can move the run, how often its owner lets go of it.
    pub(super) releases_permille: u64,
    /// Out of a thousand answers, how many come twice.
    pub(super) repeats_permille: u64,
    /// Out of a thousand events, how many find the clock changed.
    pub(super) clock_jumps_permille: u64,
}

impl SimScenario {
    pub(super) fn draw(rng: &mut SimRng) -> Self {
        match rng.below(100) {
            0..8 => return Self::crowded(rng),
            8..12 => return Self::killed(rng),
            _ => {}
        }
        let is_small = rng.chance(300);
        Self {
            started: started(rng, is_small),
            provider: provider_manners(rng),
            platform: platform_manners(rng),
            people: people(rng),
            disk: disk(rng),
            crashes: u32::try_from(rng.between(1, 9)).unwrap_or(1),
            crash_spacing: rng.pick(&[10, 30, 80, 150, 300, 600]),
            power_permille: rng.pick(&[0, 400, 800, 1000]),
            hangs_permille: rng.pick(&[0, 0, 150, 400]),
            releases_permille: 500,
            repeats_permille: rng.pick(&[0, 0, 60]),
            clock_jumps_permille: rng.pick(&[0, 0, 5, 30]),
        }
    }
}

impl SimScenario {
    /// Many children take nearly all of a budget and give most of it back, on a disk that is seldom synced: what
    /// their parent does with it then is easily forgotten in a crash.
    fn crowded(rng: &mut SimRng) -> Self {
        let children = 20;
        let calls = rng.between(62, 66);
        let cap = rng.pick(&[10, 40]);
        let child = DrillChild {
            round: 1,
            drill: DrillConfig {
                output_tokens_max: 1,
                ..DrillConfig::default()
            },
            ..DrillChild::default()
        };
        let params = DrillConfig {
            rounds: 4,
            calls: 4,
            output_tokens_max: u32::try_from(cap).unwrap_or(1),
            children: (0..children).map(|_| child.clone()).collect(),
            ..DrillConfig::default()
        };
        let mut started = started(rng, true);
        started.program = params.spec();
        let recursion = &mut started.contract.recursion;
        recursion.max_depth = 1;
        recursion.max_children = 20;
        recursion.max_total_episodes = 40;
        recursion.stop_conditions = StopConditions {
            no_delta_children_max: 50,
            same_error_max: 50,
        };
        started.budget.amounts = Amounts {
            tokens: calls * (cap + 10),
            calls,
            tools: 0,
            money: Nanodollars(u64::MAX / 4),
            episodes: 40,
        };
        started.budget.time = Millis(600_000);
        Self {
            started,
            provider: provider::ProviderFaults {
                failures_permille: rng.pick(&[0, 0, 100]),
                is_greedy: true,
                exactness: CountPrecision::Exact,
                latency_max: 5,
                window_tokens: None,
                price: ModelPrice::default(),
            },
            platform: platform_manners(rng),
            people: people(rng),
            disk: DiskFaults {
                sync_within: 60,
                is_buffered: true,
                ..disk(rng)
            },
            crashes: 1,
            crash_spacing: rng.pick(&[600, 100_000]),
            power_permille: 1000,
            hangs_permille: 0,
            releases_permille: 500,
            repeats_permille: 0,
            clock_jumps_permille: 0,
        }
    }
}

impl SimScenario {
    /// Children that want effect after effect, and a kill switch that covers them all: a crash may leave some of
    /// them without the word.
    fn killed(rng: &mut SimRng) -> Self {
        let rounds = 8;
        let child = |rng: &mut SimRng| DrillChild {
            drill: DrillConfig {
                rounds,
                calls: 0,
                effects: (0..rounds)
                    .map(|round| DrillEffect {
                        round,
                        request: EffectRequest {
                            event: format!("event {}", rng.draw()),
                            tool: "post".into(),
                            ..platform::effect(rng)
                        },
                    })
                    .collect(),
                ..DrillConfig::default()
            },
            ..DrillChild::default()
        };
        let params = DrillConfig {
            calls: 0,
            children: (0..3).map(|_| child(rng)).collect(),
            ..DrillConfig::default()
        };
        let mut scenario = Self::crowded(rng);
        scenario.started.program = params.spec();
        scenario.started.contract.permission_mode = PermissionMode::Act;
        scenario.started.budget.amounts.tools = 200;
        scenario.people.kill = Some((
            rng.between(5, 300),
            KillScope::Tenant("tenant".into()),
            None,
        ));
        scenario.platform.asks_people_permille = 0;
        scenario.disk.is_buffered = false;
        scenario.disk.sync_within = 8;
        scenario.power_permille = 0;
        scenario.crash_spacing = 100_000;
        scenario
    }
}

fn provider_manners(rng: &mut SimRng) -> provider::ProviderFaults {
    provider::ProviderFaults {
        failures_permille: rng.pick(&[0, 0, 50, 200, 500]),
        is_greedy: rng.chance(400),
        exactness: if rng.chance(850) {
            CountPrecision::Exact
        } else {
            CountPrecision::UpperBound
        },
        latency_max: rng.pick(&[5, 50, 500]),
        window_tokens: rng.pick(&[None, None, Some(4096), Some(60)]),
        price: ModelPrice {
            input_per_million: Nanodollars(rng.pick(&[0, 150_000_000, 3_000_000_000])),
            output_per_million: Nanodollars(rng.pick(&[0, 600_000_000, 15_000_000_000])),
        },
    }
}

fn platform_manners(rng: &mut SimRng) -> platform::PlatformFaults {
    platform::PlatformFaults {
        reconciles: rng.chance(600),
        dedupes: rng.chance(200),
        rejects_permille: rng.pick(&[0, 100]),
        lost_responses_permille: rng.pick(&[0, 150]),
        lost_requests_permille: rng.pick(&[0, 150]),
        denies_permille: rng.pick(&[0, 100]),
        asks_people_permille: rng.pick(&[0, 0, 400]),
        approval_within: rng.chance(300).then_some(Millis(400)),
        fates: BTreeMap::new(),
    }
}

fn people(rng: &mut SimRng) -> SimPeople {
    let kill = rng.chance(150).then(|| {
        let at = rng.between(1, 800);
        let scope = match rng.below(5) {
            0 => KillScope::Global,
            1 => KillScope::Tenant("tenant".into()),
            2 => KillScope::Account("account".into()),
            3 => KillScope::Action("say".into()),
            _ => KillScope::Platform(rng.pick(&platform::PLATFORMS).into()),
        };
        let lift = rng.chance(500).then(|| at + rng.between(1, 800));
        (at, scope, lift)
    });
    SimPeople {
        cancels_after: rng.chance(80).then(|| rng.between(1, 2_000)),
        kill,
        meddles_after: rng.chance(100).then(|| rng.between(1, 300)),
        interrupts_after: rng.chance(120).then(|| rng.between(1, 1_500)),
        decides_within: rng.pick(&[5, 500, 20_000]),
    }
}

pub(super) fn disk(rng: &mut SimRng) -> DiskFaults {
    let is_failing = rng.chance(150);
    let rarely = |rng: &mut SimRng| {
        if is_failing { rng.pick(&[0, 4, 20]) } else { 0 }
    };
    DiskFaults {
        capacity: if rng.chance(80) {
            usize::try_from(rng.between(8_000, 120_000)).unwrap_or(usize::MAX)
        } else {
            usize::MAX
        },
        write_failures_permille: rarely(rng),
        sync_failures_permille: rarely(rng),
        read_failures_permille: rarely(rng),
        is_buffered: rng.chance(500),
        sync_within: rng.pick(&[1, 8, 60, 300]),
    }
}

fn started(rng: &mut SimRng, is_small: bool) -> EpisodeSpec {
    let amounts = amounts(rng, is_small);
    let contract = contract(rng, amounts.episodes);
    let program = if rng.chance(130) {
        one_program(rng)
    } else {
        let size = if is_small { 2 } else { rng.between(3, 7) };
        drill(rng, 0, size).spec()
    };
    let model = ModelSpec::named("sim/model");
    EpisodeSpec {
        goal: Text::new("find out what breaks"),
        role: AgentRole::Orchestrator,
        program,
        contract,
        budget: Budget {
            amounts,
            time: Millis(rng.pick(&[300, 3_000, 600_000, 600_000, 600_000, 600_000])),
        },
        depth: 0,
        model: ModelRole::Main,
        models: ModelSet::new(model.clone(), model),
        frame: frame(rng),
        sources: Vec::new(),
        origin: EpisodeOrigin::Asked,
    }
}

/// A program that comes with the core.
fn one_program(rng: &mut SimRng) -> ProgramSpec {
    if rng.chance(300) {
        let params = motion::MotionConfig {
            risk: rng.pick(&[PacketRisk::Low, PacketRisk::High]),
            deadline: Millis(rng.pick(&[50, 600_000])),
            ..motion::MotionConfig::default()
        };
        return params.spec();
    }
    let params = direct::DirectConfig {
        stream: rng.chance(500),
        output_tokens_max: 40,
        output_tokens_min: 4,
        review: rng.chance(500).then(|| direct::ReviewRules {
            rubric: "be kind".into(),
            revisions_max: 2,
        }),
        ..direct::DirectConfig::default()
    };
    params.spec()
}

/// Most runs have no frame; some have one that must be shortened, and now and then cannot be.
fn frame(rng: &mut SimRng) -> PacketFrame {
    if !rng.chance(150) {
        return PacketFrame::default();
    }
    let long = |rng: &mut SimRng| "be kind to all ".repeat(rng.pick(&[1, 4, 60])).into();
    PacketFrame {
        mtu_tokens: rng.chance(500).then(|| rng.between(300, 3_000)),
        identity: long(rng),
        persona: long(rng),
        ..PacketFrame::default()
    }
}

fn amounts(rng: &mut SimRng, is_small: bool) -> Amounts {
    let calls = if is_small {
        rng.between(1, 8)
    } else {
        rng.between(10, 200)
    };
    let tokens = match rng.below(3) {
        0 => rng.between(30, 600),
        1 => calls * rng.between(20, 80),
        _ => 1_000_000,
    };
    Amounts {
        tokens,
        calls,
        tools: rng.pick(&[0, 2, 6, 20, 60]),
        money: Nanodollars(match rng.below(3) {
            0 => calls * rng.between(20_000, 400_000),
            _ => u64::MAX / 4,
        }),
        episodes: rng.pick(&[1, 3, 12, 40]),
    }
}

fn contract(rng: &mut SimRng, episodes: u64) -> Contract {
    Contract {
        recursion: RecursionPolicy {
            max_depth: rng.pick(&[0, 1, 2, 3, 3, 4]),
            max_children: rng.pick(&[1, 6, 20]),
            max_total_episodes: u32::try_from(episodes).unwrap_or(u32::MAX),
            allowed_child_types: CHILD_TYPES.map(str::to_owned).to_vec(),
            allowed_classes: vec![
                SpawnClass::Retrieval,
                SpawnClass::Critique,
                SpawnClass::Repair,
                SpawnClass::Verification,
                SpawnClass::Work,
            ],
            stop_conditions: StopConditions {
                no_delta_children_max: rng.pick(&[1, 2, 50, 50, 50]),
                same_error_max: rng.pick(&[1, 3, 50, 50, 50]),
            },
            ..RecursionPolicy::default()
        },
        allowed_tools: vec!["post".into(), "mail".into()],
        permission_mode: if rng.chance(850) {
            PermissionMode::Act
        } else {
            PermissionMode::ReadOnly
        },
        autonomy: Autonomy::Act,
        ..Contract::default()
    }
}

fn drill(rng: &mut SimRng, depth: u32, size: u64) -> DrillConfig {
    let rounds = rng.between(1, size + 2);
    let round = |rng: &mut SimRng| u32::try_from(rng.below(rounds)).unwrap_or_default();
    let children = if depth < 3 {
        rng.below(size.min(4) + 1)
    } else {
        0
    };
    let children = (0..children).map(|_| child(rng, depth, size, round));
    let children = children.collect();
    let calls = if rng.chance(900) {
        rng.between(1, size.min(4))
    } else {
        0
    };
    let effects = (0..rng.below(size)).map(|_| DrillEffect {
        round: round(rng),
        request: platform::effect(rng),
    });
    let effects = effects.collect();
    DrillConfig {
        prompt: format!("question {}", rng.below(1000)),
        rounds: u32::try_from(rounds).unwrap_or(1),
        calls: u32::try_from(calls).unwrap_or(1),
        output_tokens_max: rng.pick(&[1, 8, 40, 200]),
        output_tokens_min: rng.pick(&[0, 1, 8]),
        delivery: if rng.chance(200) {
            ReplyMode::Streamed
        } else {
            ReplyMode::Whole
        },
        timeout: Millis(60_000),
        waits_out_outages: rng.chance(300),
        children,
        effects,
        cancels: rng.pick(&[0, 0, 1, 3]),
        retries: rng.pick(&[0, 1, 3]),
        insists: rng.chance(100),
        summarises: rng.chance(100),
        emits: rng.chance(400),
        ending: rng.pick(&[
            DrillEnding::Finish,
            DrillEnding::Finish,
            DrillEnding::Finish,
            DrillEnding::Abrupt,
            DrillEnding::Fail,
            DrillEnding::Idle,
        ]),
    }
}

fn child(
    rng: &mut SimRng,
    depth: u32,
    size: u64,
    round: impl Fn(&mut SimRng) -> u32,
) -> DrillChild {
    let (class, trigger) = rng.pick(&[
        (SpawnClass::Work, SpawnTrigger::TaskPacket),
        (SpawnClass::Work, SpawnTrigger::OversizedInput),
        (SpawnClass::Retrieval, SpawnTrigger::MissingCapsule),
        (SpawnClass::Critique, SpawnTrigger::RubricFailed),
        (SpawnClass::Repair, SpawnTrigger::InvalidPayload),
        (SpawnClass::Verification, SpawnTrigger::EffectAttempted),
        (SpawnClass::Critique, SpawnTrigger::TaskPacket),
    ]);
    let child_type = if rng.chance(900) {
        "drill"
    } else {
        rng.pick(&["critique", "publish", "unheard_of"])
    };
    let at_least = Amounts {
        tokens: rng.pick(&[0, 10]),
        calls: rng.pick(&[0, 1]),
        ..Amounts::ZERO
    };
    let at_most = if rng.chance(300) {
        Amounts {
            calls: rng.between(1, 6),
            tokens: rng.between(20, 400),
            ..Amounts::MAX
        }
    } else {
        Amounts::MAX
    };
    DrillChild {
        round: round(rng),
        child_type: child_type.to_owned(),
        class,
        trigger,
        at_least,
        at_most,
        contract: None,
        drill: drill(rng, depth + 1, (size - 1).clamp(1, 4)),
    }
}
