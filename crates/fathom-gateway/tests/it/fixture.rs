//! Effects, questions and policies that tests begin from.

use std::collections::{BTreeMap, BTreeSet};

use fathom_core::contract::{Autonomy, Role};
use fathom_core::effect::{
    DryRun, EffectClass, EffectRequest, Grounds, PolicyDecision, Taint, Target,
};
use fathom_core::id::RunId;
use fathom_core::text::Text;
use fathom_core::unit::Timestamp;
use fathom_gateway::{Asked, Bundle, Gateway, GatewayError, Question, Ruling, with_actions};

/// Nine in the morning of a day in 2026.
pub(crate) const NOW: Timestamp = Timestamp(1_786_525_200_000);

pub(crate) const ROLES: [Role; 7] = [
    Role::Orchestrator,
    Role::Planner,
    Role::Creator,
    Role::Publisher,
    Role::Engagement,
    Role::Verifier,
    Role::Doc,
];

pub(crate) fn run() -> RunId {
    RunId::from_bytes([7; 16])
}

pub(crate) fn effect(action: &str) -> EffectRequest {
    EffectRequest {
        tool: format!("{action}_post"),
        target: Target {
            tenant: "sample".to_owned(),
            platform: "sandbox".to_owned(),
            account: "main".to_owned(),
            action: action.to_owned(),
        },
        event: "plan-1".to_owned(),
        arguments: Text::from(r#"{"amount":12,"tags":["a","b"],"title":"Spring"}"#),
        class: EffectClass::Effect,
        taint: Vec::new(),
    }
}

pub(crate) fn tainted(mut effect: EffectRequest, arguments: &[&str]) -> EffectRequest {
    effect.taint = arguments
        .iter()
        .map(|argument| Taint {
            argument: (*argument).to_owned(),
            sources: vec!["domain:events".to_owned()],
        })
        .collect();
    effect
}

/// A bundle of one file with the actions `publish` and `reply`.
pub(crate) fn bundle(policies: &str) -> Result<Bundle, GatewayError> {
    let schema = with_actions(["publish", "reply"])?;
    Bundle::new(&[("test.cedar", policies)], &schema, "[]")
}

/// What policies say about an effect of a publisher.
pub(crate) fn ruling(bundle: &Bundle, effect: &EffectRequest) -> Ruling {
    bundle.decide(&Question {
        run: run(),
        tenant: "sample",
        role: Role::Publisher,
        autonomy: Autonomy::Act,
        effect,
        dry_run: None,
        flags: &BTreeSet::new(),
        at: NOW,
    })
}

pub(crate) fn gateway(bundle: Bundle) -> Gateway {
    Gateway {
        bundle,
        tenant: "sample".to_owned(),
        flags: BTreeSet::new(),
        autonomy_max: BTreeMap::new(),
    }
}

pub(crate) fn ask(
    gateway: &Gateway,
    autonomy: Autonomy,
    effect: &EffectRequest,
) -> (PolicyDecision, Grounds) {
    let dry_run = DryRun {
        ok: true,
        report: Text::from("would be published"),
    };
    gateway.decide(&Asked {
        run: run(),
        role: Role::Publisher,
        autonomy,
        effect,
        dry_run: Some(&dry_run),
        at: NOW,
    })
}

/// One word for a decision.
pub(crate) fn word(decision: &PolicyDecision) -> &'static str {
    match decision {
        PolicyDecision::Allow { .. } => "allow",
        PolicyDecision::Deny { .. } => "deny",
        PolicyDecision::NeedsApproval { .. } => "approve",
    }
}
