//! The scenario of thirty publishes: every one that is allowed must be there in the end, once.

use std::collections::BTreeMap;

use fathom_core::budget::amounts::{Amounts, Budget};
use fathom_core::contract::{
    AgentRole, Autonomy, Contract, PermissionMode, RecursionPolicy, StopConditions, cap,
};
use fathom_core::effect::{EffectClass, EffectRequest, EffectTarget, IdempotencyKey};
use fathom_core::journal::event::{EpisodeOrigin, EpisodeSpec};
use fathom_core::model::{CountPrecision, ModelPrice, ModelRole, ModelSet, ModelSpec};
use fathom_core::packet::PacketFrame;
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars};

use super::gateway::SendFate;
use super::rng::SimRng;
use super::scenario::{SimPeople, SimScenario, disk};
use super::{platform, provider};
use crate::drill::{DrillConfig, DrillEffect};

/// Maximum number of effects of a run.
const PUBLISHES: u32 = 30;

/// Attempts that a run may make: many more than it needs, and far from its closing mark.
const ATTEMPTS_MAX: u64 = 600;

/// Time of a run: a clock that jumps ahead by hours does not end it.
const TIME: Millis = Millis(1_000_000_000);

impl SimScenario {
    /// Thirty publishes, several at once, half of them under a person's eyes, by a process that dies now and then.
    pub(super) fn publishing(rng: &mut SimRng) -> Self {
        let at_once = rng.pick(&[5, 10, PUBLISHES]);
        let requests: Vec<EffectRequest> = (0..PUBLISHES).map(publish).collect();
        let keys = requests.iter().map(EffectRequest::key);
        let fates: BTreeMap<IdempotencyKey, SendFate> = keys.map(|key| (key, fate(rng))).collect();
        let effects = (0..).zip(requests).map(|(n, request)| DrillEffect {
            round: n / at_once,
            request,
        });
        let params = DrillConfig {
            rounds: PUBLISHES.div_ceil(at_once),
            calls: 0,
            effects: effects.collect(),
            insists: true,
            ..DrillConfig::default()
        };
        Self {
            started: started(&params),
            provider: provider::ProviderFaults {
                failures_permille: 0,
                is_greedy: false,
                exactness: CountPrecision::Exact,
                latency_max: rng.pick(&[5, 40]),
                window_tokens: None,
                price: ModelPrice::default(),
            },
            platform: platform::PlatformFaults {
                reconciles: true,
                dedupes: false,
                rejects_permille: 30,
                lost_responses_permille: 500,
                lost_requests_permille: 150,
                denies_permille: 0,
                asks_people_permille: 0,
                approval_within: Some(Millis(rng.pick(&[600, 3_000]))),
                fates,
            },
            people: SimPeople {
                cancels_after: None,
                kill: None,
                meddles_after: rng.chance(100).then(|| rng.between(1, 300)),
                interrupts_after: rng.chance(100).then(|| rng.between(1, 1_000)),
                decides_within: rng.pick(&[5, 300]),
            },
            disk: disk(rng),
            crashes: u32::try_from(rng.between(1, 4)).unwrap_or(1),
            crash_spacing: rng.pick(&[60, 200, 500]),
            power_permille: rng.pick(&[0, 400, 800, 1000]),
            hangs_permille: rng.pick(&[0, 0, 200]),
            releases_permille: 100,
            repeats_permille: rng.pick(&[0, 0, 60]),
            clock_jumps_permille: rng.pick(&[0, 0, 0, 5]),
        }
    }
}

fn publish(number: u32) -> EffectRequest {
    EffectRequest {
        tool: "post".into(),
        target: EffectTarget {
            tenant: "tenant".into(),
            platform: "square".into(),
            account: "account".into(),
            action: "publish".into(),
        },
        event: format!("post {number}"),
        arguments: Text::new("{}"),
        class: EffectClass::Effect,
        taint: Vec::new(),
    }
}

fn fate(rng: &mut SimRng) -> SendFate {
    if rng.chance(500) {
        return SendFate::Free;
    }
    rng.pick(&[
        SendFate::Yes,
        SendFate::Yes,
        SendFate::Yes,
        SendFate::No,
        SendFate::Late,
    ])
}

fn started(params: &DrillConfig) -> EpisodeSpec {
    let model = ModelSpec::named("sim/model");
    EpisodeSpec {
        goal: Text::new("publish it all"),
        role: AgentRole::Orchestrator,
        program: params.spec(),
        contract: Contract {
            recursion: RecursionPolicy {
                stop_conditions: StopConditions {
                    no_delta_children_max: 1,
                    same_error_max: cap::REPEATS_MAX,
                },
                ..RecursionPolicy::default()
            },
            allowed_tools: vec!["post".into()],
            permission_mode: PermissionMode::Act,
            autonomy: Autonomy::Act,
            ..Contract::default()
        },
        budget: Budget {
            amounts: Amounts {
                tokens: 0,
                calls: 0,
                tools: ATTEMPTS_MAX,
                money: Nanodollars(0),
                episodes: 1,
            },
            time: TIME,
        },
        depth: 0,
        model: ModelRole::Main,
        models: ModelSet::new(model.clone(), model),
        frame: PacketFrame::default(),
        sources: Vec::new(),
        origin: EpisodeOrigin::Asked,
    }
}
