//! Effects, questions and policies that tests begin from.

use std::collections::{BTreeMap, BTreeSet};

use fathom_core::contract::{AgentRole, Autonomy};
use fathom_core::effect::{
    DecisionGrounds, DryRun, EffectClass, EffectRequest, EffectTarget, PolicyDecision,
    TaintedArgument,
};
use fathom_core::id::RunId;
use fathom_core::text::Text;
use fathom_core::unit::Timestamp;
use fathom_gateway::{
    CheckedPolicies, EffectQuestion, Gateway, GatewayError, PolicyQuestion, PolicyRuling,
    with_actions,
};

/// Nine in the morning of a day in 2026.
pub(crate) const NOW: Timestamp = Timestamp(1_786_525_200_000);

pub(crate) const ROLES: [AgentRole; 7] = [
    AgentRole::Orchestrator,
    AgentRole::Planner,
    AgentRole::Creator,
    AgentRole::Publisher,
    AgentRole::Engagement,
    AgentRole::Verifier,
    AgentRole::Doc,
];

pub(crate) fn run() -> RunId {
    RunId::from_bytes([7; 16])
}

pub(crate) fn effect(action: &str) -> EffectRequest {
    EffectRequest {
        tool: format!("{action}_post"),
        target: EffectTarget {
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
        .map(|argument| TaintedArgument {
            argument: (*argument).to_owned(),
            sources: vec!["domain:events".to_owned()],
        })
        .collect();
    effect
}

/// A bundle of one file with the actions `publish` and `reply`.
pub(crate) fn bundle(policies: &str) -> Result<CheckedPolicies, GatewayError> {
    let schema = with_actions(["publish", "reply"])?;
    CheckedPolicies::new(&[("test.cedar", policies)], &schema, "[]")
}

/// What policies say about an effect of a publisher.
pub(crate) fn ruling(bundle: &CheckedPolicies, effect: &EffectRequest) -> PolicyRuling {
    bundle.decide(&PolicyQuestion {
        run: run(),
        tenant: "sample",
        role: AgentRole::Publisher,
        autonomy: Autonomy::Act,
        effect,
        dry_run: None,
        flags: &BTreeSet::new(),
        at: NOW,
    })
}

pub(crate) fn gateway(bundle: CheckedPolicies) -> Gateway {
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
) -> (PolicyDecision, DecisionGrounds) {
    let dry_run = DryRun {
        ok: true,
        report: Text::from("would be published"),
    };
    gateway.decide(&EffectQuestion {
        run: run(),
        role: AgentRole::Publisher,
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
