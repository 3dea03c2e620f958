//! What autonomy and taint add to what the policies say.

use fathom_core::contract::{AgentRole, Autonomy};
use fathom_core::effect::{ApprovalTerms, EffectClass, EffectRequest, PolicyDecision};
use fathom_core::id::{Digest, RunId};
use fathom_core::unit::{Millis, Timestamp};
use fathom_gateway::{APPROVAL_EXPIRES_AFTER, binding};

use crate::fixture::{NOW, ask, bundle, effect, gateway, run, tainted, word};

const POLICIES: &str = r#"
    @id("open") permit (principal, action == Action::"publish", resource);
    @id("asked") @approval("operator") @expires("1h") permit (principal, action == Action::"reply", resource);"#;

fn terms(decision: PolicyDecision) -> (String, ApprovalTerms) {
    match decision {
        PolicyDecision::NeedsApproval { rule, terms } => (rule, *terms),
        other => panic!("{other:?}"),
    }
}

fn read(mut effect: EffectRequest) -> EffectRequest {
    effect.class = EffectClass::Read;
    effect
}

#[test]
fn e13_autonomy_and_taint_only_make_it_harder() {
    use Autonomy::{Act, Approve, Suggest};
    let gateway = gateway(bundle(POLICIES).unwrap());
    let dirty = |action| tainted(effect(action), &["/title"]);
    let cases = [
        (Suggest, effect("publish"), "deny"),
        (Approve, effect("publish"), "approve"),
        (Act, effect("publish"), "allow"),
        (Act, dirty("publish"), "approve"),
        (Suggest, dirty("publish"), "deny"),
        (Suggest, effect("reply"), "deny"),
        (Act, effect("reply"), "approve"),
        (Act, effect("delete"), "deny"),
        (Act, dirty("delete"), "deny"),
        (Approve, effect("delete"), "deny"),
        // Looking changes nothing.
        (Suggest, read(effect("publish")), "allow"),
        (Approve, read(dirty("publish")), "allow"),
        (Act, read(effect("reply")), "approve"),
        (Act, read(effect("delete")), "deny"),
    ];
    for (autonomy, effect, expected) in cases {
        let (decision, _) = ask(&gateway, autonomy, &effect);
        assert_eq!(word(&decision), expected, "{autonomy:?} {effect:?}");
    }
}

#[test]
fn e13_a_role_does_no_more_by_itself_than_people_let_it() {
    let mut gateway = gateway(bundle(POLICIES).unwrap());
    gateway
        .autonomy_max
        .insert(AgentRole::Publisher, Autonomy::Approve);
    let (decision, _) = ask(&gateway, Autonomy::Act, &effect("publish"));
    assert_eq!(terms(decision).0, "open, fathom:autonomy");
    let (decision, _) = ask(&gateway, Autonomy::Suggest, &effect("publish"));
    assert_eq!(
        decision,
        PolicyDecision::Deny {
            rule: "fathom:autonomy".to_owned()
        }
    );
}

#[test]
fn e13_a_decision_names_its_rules_and_the_bundle() {
    let gateway = gateway(bundle(POLICIES).unwrap());
    let (decision, grounds) = ask(&gateway, Autonomy::Act, &effect("publish"));
    let rules = vec!["open".to_owned()];
    assert_eq!(decision, PolicyDecision::Allow { rules });
    assert_eq!(grounds.bundle, gateway.bundle.digest());
    assert!(grounds.dry_run.is_some_and(|dry_run| dry_run.ok));
}

#[test]
fn e17_terms_come_from_the_policy_or_are_three_days() {
    let gateway = gateway(bundle(POLICIES).unwrap());
    let dirty = tainted(effect("reply"), &["/title"]);
    let (decision, _) = ask(&gateway, Autonomy::Approve, &dirty);
    let (rule, by_policy) = terms(decision);
    assert_eq!(rule, "asked, fathom:autonomy, fathom:taint");
    assert_eq!(by_policy.roles, ["operator"]);
    assert_eq!(by_policy.expires, NOW.plus(Millis(3_600_000)));
    assert_eq!(
        by_policy.binding,
        binding(run(), &dirty, gateway.bundle.digest())
    );

    let (decision, _) = ask(&gateway, Autonomy::Approve, &effect("publish"));
    let (_, by_autonomy) = terms(decision);
    assert!(by_autonomy.roles.is_empty());
    assert_eq!(by_autonomy.expires, NOW.plus(APPROVAL_EXPIRES_AFTER));
}

#[test]
fn e17_a_yes_is_bound_to_everything_that_matters() {
    type Change = fn(&mut EffectRequest);
    let bundle = Digest([1; 32]);
    let asked = effect("publish");
    let bound = binding(run(), &asked, bundle);
    assert_eq!(bound, binding(run(), &asked.clone(), bundle));
    let changes: [Change; 7] = [
        |effect| effect.tool = "other".to_owned(),
        |effect| effect.arguments = r#"{"amount":13}"#.into(),
        |effect| effect.event = "plan-2".to_owned(),
        |effect| effect.target.tenant = "other".to_owned(),
        |effect| effect.target.platform = "other".to_owned(),
        |effect| effect.target.account = "other".to_owned(),
        |effect| effect.target.action = "other".to_owned(),
    ];
    for change in changes {
        let mut swapped = asked.clone();
        change(&mut swapped);
        assert_ne!(bound, binding(run(), &swapped, bundle), "{swapped:?}");
    }
    assert_ne!(bound, binding(RunId::from_bytes([8; 16]), &asked, bundle));
    assert_ne!(bound, binding(run(), &asked, Digest([2; 32])));
    // No byte can move from one part to the next.
    let mut moved = asked.clone();
    moved.target.tenant = "samples".to_owned();
    moved.target.platform = "andbox".to_owned();
    assert_ne!(bound, binding(run(), &moved, bundle));
}

#[test]
fn expiry_at_the_end_of_time_does_not_wrap() {
    let gateway = gateway(bundle(POLICIES).unwrap());
    let asked = fathom_gateway::EffectQuestion {
        run: run(),
        role: AgentRole::Publisher,
        autonomy: Autonomy::Approve,
        effect: &effect("publish"),
        dry_run: None,
        at: Timestamp(u64::MAX - 1),
    };
    let (decision, _) = gateway.decide(&asked);
    assert_eq!(terms(decision).1.expires, Timestamp(u64::MAX));
}
