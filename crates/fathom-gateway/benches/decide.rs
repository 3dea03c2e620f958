//! How long a decision about an effect takes.
//!
//! Not a test: it prints what it saw. `make bench` runs it.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark reads clocks and prints"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use fathom_core::contract::{AgentRole, Autonomy};
use fathom_core::effect::{DryRun, EffectClass, EffectRequest, EffectTarget, TaintedArgument};
use fathom_core::id::RunId;
use fathom_core::text::Text;
use fathom_core::unit::Timestamp;
use fathom_gateway::{CheckedPolicies, EffectQuestion, Gateway, GatewayError, GatewaySettings};

const ACCOUNTS: usize = 50;
const ROUNDS: usize = 20_000;

/// The agency's policies.
const FILES: [(&str, &str); 4] = [
    (
        "publishing.cedar",
        include_str!("../../../charters/agency/policies/publishing.cedar"),
    ),
    (
        "engagement.cedar",
        include_str!("../../../charters/agency/policies/engagement.cedar"),
    ),
    (
        "verification.cedar",
        include_str!("../../../charters/agency/policies/verification.cedar"),
    ),
    (
        "limits.cedar",
        include_str!("../../../charters/agency/policies/limits.cedar"),
    ),
];

fn gateway() -> Result<Gateway, GatewayError> {
    let settings = GatewaySettings::parse(include_str!("../../../charters/agency/gateway.toml"))?;
    let mut entities = String::from("[");
    for n in 0..ACCOUNTS {
        let comma = if n == 0 { "" } else { "," };
        let _infallible = write!(
            entities,
            "{comma}{{\"uid\":{{\"type\":\"Account\",\"id\":\"sample/sandbox/{n}\"}},\"attrs\":{{\"closed\":false}},\"parents\":[]}}"
        );
    }
    entities.push(']');
    Ok(Gateway {
        bundle: CheckedPolicies::new(&FILES, &settings.schema()?, &entities)?,
        tenant: "sample".to_owned(),
        flags: BTreeSet::from_iter(settings.flags),
        autonomy_max: BTreeMap::new(),
    })
}

fn effect(action: &str, taint: &[&str]) -> EffectRequest {
    EffectRequest {
        tool: format!("sandbox_{action}"),
        target: EffectTarget {
            tenant: "sample".to_owned(),
            platform: "sandbox".to_owned(),
            account: "7".to_owned(),
            action: action.to_owned(),
        },
        event: "plan-17".to_owned(),
        arguments: Text::from(
            r#"{"amount":3,"draft":false,"post":"post-17","tags":["spring","workshop"],"text":"Come to the spring workshop: three evenings, twelve seats, and a table for everyone. Write to us by Friday.","title":"Spring workshop"}"#,
        ),
        class: EffectClass::Effect,
        taint: taint
            .iter()
            .map(|argument| TaintedArgument {
                argument: (*argument).to_owned(),
                sources: vec!["domain:events".to_owned()],
            })
            .collect(),
    }
}

fn measure(name: &str, gateway: &Gateway, role: AgentRole, effect: &EffectRequest) {
    let dry_run = DryRun {
        ok: true,
        report: Text::from("would be published"),
    };
    let asked = EffectQuestion {
        run: RunId::from_bytes([7; 16]),
        role,
        autonomy: Autonomy::Act,
        effect,
        dry_run: Some(&dry_run),
        at: Timestamp(1_786_525_200_000),
    };
    let mut took: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            black_box(gateway.decide(black_box(&asked)));
            begin.elapsed()
        })
        .collect();
    took.sort_unstable();
    println!(
        "{name:<24} fastest {:>8.2?}   median {:>8.2?}   99th of 100 {:>8.2?}",
        took[0],
        took[ROUNDS / 2],
        took[ROUNDS * 99 / 100],
    );
}

fn main() -> Result<(), GatewayError> {
    let begin = Instant::now();
    let gateway = gateway()?;
    println!(
        "deciding on {} policies, {ACCOUNTS} accounts and 6 arguments, {ROUNDS} rounds; wanted: a median < 100 µs\n\
         read and checked once in {:.2?}",
        gateway.bundle.ids().len(),
        begin.elapsed(),
    );
    measure(
        "publish",
        &gateway,
        AgentRole::Publisher,
        &effect("publish", &[]),
    );
    measure(
        "reply, nothing tainted",
        &gateway,
        AgentRole::Engagement,
        &effect("reply", &[]),
    );
    measure(
        "reply, two tainted",
        &gateway,
        AgentRole::Engagement,
        &effect("reply", &["/text", "/title"]),
    );
    measure(
        "a planner's publish",
        &gateway,
        AgentRole::Planner,
        &effect("publish", &[]),
    );
    Ok(())
}
