//! The policies of the agency charter, as a table.

use std::collections::BTreeSet;
use std::path::Path;

use fathom_core::contract::{AgentRole, Autonomy};
use fathom_core::effect::{DryRun, EffectClass, EffectRequest, PolicyDecision};
use fathom_core::text::Text;
use fathom_gateway::{CheckedPolicies, EffectQuestion, Gateway, GatewaySettings};

use crate::fixture::{NOW, ROLES, effect, run, tainted, word};

fn agency() -> Gateway {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../charters/agency");
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let settings = GatewaySettings::parse(&read(&folder.join("gateway.toml"))).unwrap();
    let mut files: Vec<(String, String)> = std::fs::read_dir(folder.join("policies"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            (name.into_owned(), read(&path))
        })
        .collect();
    files.sort_unstable();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    let entities = read(&folder.join("entities.json"));
    let bundle = CheckedPolicies::new(&files, &settings.schema().unwrap(), &entities).unwrap();
    Gateway {
        bundle,
        tenant: "sample".to_owned(),
        flags: settings.flags,
        autonomy_max: settings.autonomy_max,
    }
}

struct Case {
    role: AgentRole,
    effect: EffectRequest,
    dry_run: Option<bool>,
}

fn decide(gateway: &Gateway, case: &Case) -> PolicyDecision {
    let dry_run = case.dry_run.map(|ok| DryRun {
        ok,
        report: Text::from("rehearsed"),
    });
    let asked = EffectQuestion {
        run: run(),
        role: case.role,
        autonomy: Autonomy::Act,
        effect: &case.effect,
        dry_run: dry_run.as_ref(),
        at: NOW,
    };
    gateway.decide(&asked).0
}

/// What the charter means, in its own few words.
fn meant(
    role: AgentRole,
    action: &str,
    class: EffectClass,
    flags: &BTreeSet<&str>,
    taint: bool,
) -> &'static str {
    match (role, action, class) {
        (AgentRole::Publisher, "publish", _) if flags.contains("publishing_enabled") => "approve",
        (AgentRole::Engagement, "reply", _) if flags.contains("engagement_enabled") => {
            if taint {
                "approve"
            } else {
                "allow"
            }
        }
        (AgentRole::Verifier, "visibility", EffectClass::Read) => "allow",
        _ => "deny",
    }
}

#[test]
fn e09_every_role_may_do_what_the_charter_means_and_nothing_else() {
    let mut gateway = agency();
    let flags = ["publishing_enabled", "engagement_enabled"];
    let flags = [vec![], vec![flags[0]], vec![flags[1]], flags.to_vec()];
    let mut seen = BTreeSet::new();
    for set in flags.map(BTreeSet::from_iter) {
        gateway.flags = set.iter().map(|flag: &&str| (*flag).to_owned()).collect();
        for role in ROLES {
            for action in ["publish", "reply", "visibility", "delete"] {
                for class in [EffectClass::Read, EffectClass::Effect] {
                    for taint in [&[][..], &["/text"]] {
                        let mut effect = tainted(effect(action), taint);
                        effect.class = class;
                        let case = Case {
                            role,
                            effect,
                            dry_run: Some(true),
                        };
                        let decision = decide(&gateway, &case);
                        let expected = meant(role, action, class, &set, !taint.is_empty());
                        assert_eq!(
                            word(&decision),
                            expected,
                            "{role} {action} {class:?} {set:?} {taint:?}: {decision:?}"
                        );
                        seen.insert(expected);
                    }
                }
            }
        }
    }
    assert_eq!(seen.len(), 3);
}

#[test]
fn e09_refusals_name_the_rule() {
    let mut gateway = agency();
    let publish = |dry_run| Case {
        role: AgentRole::Publisher,
        effect: effect("publish"),
        dry_run,
    };
    let denied = |gateway: &Gateway, case: &Case| match decide(gateway, case) {
        PolicyDecision::Deny { rule } => rule,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        denied(&gateway, &publish(None)),
        "publishing-needs-a-dry-run"
    );
    assert_eq!(
        denied(&gateway, &publish(Some(false))),
        "publishing-needs-a-dry-run"
    );

    let mut closed = publish(Some(true));
    closed.effect.target.account = "retired".to_owned();
    assert_eq!(denied(&gateway, &closed), "closed-accounts");

    let mut other = publish(Some(true));
    other.effect.target.tenant = "other".to_owned();
    assert_eq!(denied(&gateway, &other), "no-other-brand");

    let mut planner = publish(Some(true));
    planner.role = AgentRole::Planner;
    assert_eq!(
        denied(&gateway, &planner),
        "only-publisher-and-engagement-act"
    );

    gateway.flags.clear();
    assert_eq!(
        denied(&gateway, &publish(Some(true))),
        "publishing-needs-its-flag"
    );
}

#[test]
fn e17_operators_agree_to_what_is_published() {
    let gateway = agency();
    let case = |role, effect| Case {
        role,
        effect,
        dry_run: Some(true),
    };
    for (case, rule, hours) in [
        (
            case(AgentRole::Publisher, effect("publish")),
            "publish-with-approval, fathom:autonomy",
            72,
        ),
        (
            case(AgentRole::Engagement, tainted(effect("reply"), &["/text"])),
            "reply, reply-to-outsiders-with-approval, fathom:taint",
            24,
        ),
    ] {
        let PolicyDecision::NeedsApproval { rule: said, terms } = decide(&gateway, &case) else {
            panic!("nobody was asked");
        };
        assert_eq!(said, rule);
        assert_eq!(terms.roles, ["operator"]);
        assert_eq!(terms.expires.since(NOW).0, hours * 3_600_000);
    }
}
