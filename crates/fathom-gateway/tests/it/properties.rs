//! What holds for every policy, effect and taint.

use std::collections::{BTreeMap, BTreeSet};

use fathom_core::contract::{AgentRole, Autonomy};
use fathom_core::effect::{EffectClass, EffectRequest, PolicyDecision};
use fathom_gateway::{CheckedPolicies, EffectQuestion, Gateway, PolicyVerdict, with_actions};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::fixture::{NOW, ROLES, bundle, effect, gateway, ruling, run, tainted};

const CONDITIONS: [&str; 10] = [
    "true",
    "context.tainted",
    "!context.tainted",
    "context.tainted_arguments.contains(\"/title\")",
    "!context.tainted_arguments.contains(\"/title\")",
    "context.class == Class::\"read\"",
    "context.numbers.hasTag(\"/amount\") && context.numbers.getTag(\"/amount\") < 10",
    "context.flags.contains(\"on\")",
    "context.autonomy == Autonomy::\"act\"",
    // It fails.
    "context.hour * 9223372036854775807 > 1",
];

/// Scope, condition and annotations of a policy, without its id and its effect.
fn body() -> impl Strategy<Value = String> {
    let principal = select(vec!["principal", "principal == Role::\"publisher\""]);
    let action = select(vec![
        "action",
        "action == Action::\"publish\"",
        "action == Action::\"reply\"",
    ]);
    (principal, action, select(CONDITIONS.to_vec())).prop_map(|(principal, action, condition)| {
        format!("({principal}, {action}, resource) when {{ {condition} }};")
    })
}

fn permit() -> impl Strategy<Value = String> {
    let approval = select(vec![
        "",
        "@approval(\"\")",
        "@approval(\"operator\") @expires(\"1h\")",
        "@approval(\"owner\") @second_person(\"\")",
    ]);
    (approval, body()).prop_map(|(approval, body)| format!("{approval} permit {body}"))
}

fn forbid() -> impl Strategy<Value = String> {
    body().prop_map(|body| format!("forbid {body}"))
}

fn policies() -> impl Strategy<Value = String> {
    let policy = prop_oneof![3 => permit(), 1 => forbid()];
    prop::collection::vec(policy, 0..6).prop_map(|policies| {
        let numbered = policies.iter().enumerate();
        let named = numbered.map(|(n, policy)| format!("@id(\"p{n}\") {policy}\n"));
        named.collect()
    })
}

fn wanted() -> impl Strategy<Value = EffectRequest> {
    let action = select(vec!["publish", "reply", "delete"]);
    let class = select(vec![EffectClass::Read, EffectClass::Effect]);
    (action, class, 0..20_i64).prop_map(|(action, class, amount)| {
        let mut effect = effect(action);
        effect.class = class;
        effect.arguments = format!(r#"{{"amount":{amount},"title":"Spring"}}"#).into();
        effect
    })
}

fn asker() -> impl Strategy<Value = (AgentRole, Autonomy)> {
    let autonomy = select(vec![Autonomy::Suggest, Autonomy::Approve, Autonomy::Act]);
    (select(ROLES.to_vec()), autonomy)
}

fn decide(
    gateway: &Gateway,
    (role, autonomy): (AgentRole, Autonomy),
    effect: &EffectRequest,
) -> PolicyDecision {
    let asked = EffectQuestion {
        run: run(),
        role,
        autonomy,
        effect,
        dry_run: None,
        at: NOW,
    };
    gateway.decide(&asked).0
}

fn freedom(decision: &PolicyDecision) -> u8 {
    match decision {
        PolicyDecision::Deny { .. } => 0,
        PolicyDecision::NeedsApproval { .. } => 1,
        PolicyDecision::Allow { .. } => 2,
    }
}

proptest! {
    #[test]
    fn e13_a_forbid_always_wins(policies in policies(), effect in wanted()) {
        let never = format!("{policies}@id(\"never\") forbid (principal, action, resource);");
        let ruling = ruling(&bundle(&never).unwrap(), &effect);
        prop_assert_eq!(ruling.verdict, PolicyVerdict::Deny);
    }

    #[test]
    fn e13_another_forbid_never_frees(
        policies in policies(), more in forbid(), effect in wanted(), asker in asker()
    ) {
        let before = gateway(bundle(&policies).unwrap());
        let after = gateway(bundle(&format!("{policies}@id(\"more\") {more}")).unwrap());
        let before = decide(&before, asker, &effect);
        let after = decide(&after, asker, &effect);
        prop_assert!(freedom(&after) <= freedom(&before), "{before:?} {after:?}");
    }

    #[test]
    fn e13_taint_never_frees(
        policies in policies(),
        effect in wanted(),
        asker in asker(),
        taint in subsequence(vec!["/amount", "/title"], 1..=2),
    ) {
        let gateway = gateway(bundle(&policies).unwrap());
        let clean = decide(&gateway, asker, &effect);
        let dirty = decide(&gateway, asker, &tainted(effect.clone(), &taint));
        prop_assert!(freedom(&dirty) <= freedom(&clean), "{clean:?} {dirty:?}");
        if effect.class == EffectClass::Effect {
            prop_assert!(freedom(&dirty) < 2, "{dirty:?}");
        }
    }

    #[test]
    fn e13_less_autonomy_never_frees(
        policies in policies(), effect in wanted(), asker in asker(), flag in any::<bool>()
    ) {
        // Policies that look at autonomy say themselves what it means.
        prop_assume!(!policies.contains("autonomy"));
        let mut free = gateway(bundle(&policies).unwrap());
        free.flags = flag.then(|| "on".to_owned()).into_iter().collect::<BTreeSet<_>>();
        let mut tied = free.clone();
        tied.autonomy_max = ROLES.map(|role| (role, Autonomy::Suggest)).into_iter().collect::<BTreeMap<_, _>>();
        let free = decide(&free, asker, &effect);
        let tied = decide(&tied, asker, &effect);
        prop_assert!(freedom(&tied) <= freedom(&free), "{free:?} {tied:?}");
        prop_assert!(effect.class == EffectClass::Read || freedom(&tied) == 0, "{tied:?}");
    }

    #[test]
    fn e13_any_byte_changes_the_digest(which in 0..3_usize, at in any::<prop::sample::Index>(), byte in b' '..b'~') {
        let mut parts = [
            "// one\n// two\n@id(\"x\") permit (principal, action, resource);".to_owned(),
            with_actions(["publish"]).unwrap(),
            "[ ]".to_owned(),
        ];
        let digest = |[policies, schema, entities]: &[String; 3]| {
            CheckedPolicies::new(&[("a.cedar", policies)], schema, entities).map(|bundle| bundle.digest())
        };
        let before = digest(&parts).unwrap();
        let at = at.index(parts[which].len());
        prop_assume!(parts[which].as_bytes()[at] != byte && parts[which].is_char_boundary(at));
        parts[which].replace_range(at..=at, std::str::from_utf8(&[byte]).unwrap());
        // Most of these are refused; those that are not are others.
        if let Ok(after) = digest(&parts) {
            prop_assert_ne!(before, after);
        }
    }
}
