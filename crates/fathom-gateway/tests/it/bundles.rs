//! What makes a bundle, and what it says.

use fathom_core::unit::Millis;
use fathom_gateway::{
    APPROVAL_EXPIRES_AFTER, CheckedPolicies, GatewaySettings, PolicyVerdict, RequiredApproval,
    SCHEMA, with_actions,
};

use crate::fixture::{bundle, effect, ruling, tainted};

const PERMIT: &str = r#"@id("all") permit (principal, action, resource);"#;

fn refused(policies: &str) -> String {
    let error = bundle(policies).expect_err("it must be refused");
    format!("{} {error}", error.code())
}

#[test]
fn e13_nothing_is_permitted_by_nothing() {
    let ruling = ruling(&bundle("").unwrap(), &effect("publish"));
    assert_eq!(ruling.verdict, PolicyVerdict::Deny);
    assert_eq!(ruling.reason(), "fathom:default-deny");
}

#[test]
fn e13_a_permit_permits_and_is_named() {
    let ruling = ruling(&bundle(PERMIT).unwrap(), &effect("publish"));
    assert_eq!(ruling.verdict, PolicyVerdict::Allow);
    assert_eq!(ruling.policies, ["all"]);
}

#[test]
fn e13_a_forbid_wins() {
    let bundle = bundle(&format!(
        "{PERMIT}\n@id(\"never\") forbid (principal, action == Action::\"publish\", resource);"
    ))
    .unwrap();
    let denied = ruling(&bundle, &effect("publish"));
    assert_eq!(denied.verdict, PolicyVerdict::Deny);
    assert_eq!(denied.reason(), "never");
    assert_eq!(
        ruling(&bundle, &effect("reply")).verdict,
        PolicyVerdict::Allow
    );
}

#[test]
fn e13_a_policy_that_fails_denies() {
    let policies = format!(
        "{PERMIT}\n@id(\"sum\") permit (principal, action, resource) when {{ \
         context.numbers.hasTag(\"/amount\") && \
         context.numbers.getTag(\"/amount\") * 9223372036854775807 > 1 }};"
    );
    let ruling = ruling(&bundle(&policies).unwrap(), &effect("publish"));
    assert_eq!(ruling.verdict, PolicyVerdict::Deny);
    assert!(ruling.reason().contains("sum"), "{}", ruling.reason());
}

#[test]
fn e13_an_action_that_is_not_declared_is_denied() {
    let ruling = ruling(&bundle(PERMIT).unwrap(), &effect("transfer"));
    assert_eq!(ruling.verdict, PolicyVerdict::Deny);
    assert!(ruling.reason().contains("transfer"), "{}", ruling.reason());
}

#[test]
fn policies_see_arguments_by_their_pointers() {
    let cases = [
        (
            r#"context.numbers.hasTag("/amount") && context.numbers.getTag("/amount") == 12"#,
            true,
        ),
        (
            r#"context.numbers.hasTag("/amount") && context.numbers.getTag("/amount") > 12"#,
            false,
        ),
        (
            r#"context.texts.hasTag("/title") && context.texts.getTag("/title") == "Spring""#,
            true,
        ),
        (
            r#"context.lists.hasTag("/tags") && context.lists.getTag("/tags").contains("b")"#,
            true,
        ),
        (
            r#"context.lists.hasTag("/tags") && context.lists.getTag("/tags").contains("c")"#,
            false,
        ),
        (r#"context.truths.hasTag("/deep/er~1")"#, true),
        (r#"context.left_out.contains("/half")"#, true),
        (r#"context.left_out.contains("/amount")"#, false),
        (
            r#"context.tool == "publish_post" && context.event == "plan-1""#,
            true,
        ),
        (
            r#"context.class == Class::"effect" && context.autonomy == Autonomy::"act""#,
            true,
        ),
        (r"context.hour == 9", true),
        (r"resource in context.tenant", true),
        (r#"resource in Tenant::"other""#, false),
        (
            r#"resource in Platform::"sandbox" && resource == Account::"sample/sandbox/main""#,
            true,
        ),
        (r"context.tainted", false),
        (r"context has dry_run_ok", false),
    ];
    let mut asked = effect("publish");
    asked.arguments =
        r#"{"amount":12,"deep":{"er/":true},"half":0.5,"tags":["a","b"],"title":"Spring"}"#.into();
    for (condition, holds) in cases {
        let policy =
            format!("@id(\"x\") permit (principal, action, resource) when {{ {condition} }};");
        let verdict = ruling(&bundle(&policy).unwrap(), &asked).verdict;
        assert_eq!(verdict == PolicyVerdict::Allow, holds, "{condition}");
    }
}

#[test]
fn arguments_that_cannot_be_judged_are_denied() {
    let bundle = bundle(PERMIT).unwrap();
    let many: Vec<u32> = (0..2_000).collect();
    let many: serde_json::Map<_, _> = many.iter().map(|n| (n.to_string(), (*n).into())).collect();
    for arguments in [
        String::new(),
        "not JSON".to_owned(),
        serde_json::Value::Object(many).to_string(),
    ] {
        let mut asked = effect("publish");
        asked.arguments = arguments.into();
        assert_eq!(ruling(&bundle, &asked).verdict, PolicyVerdict::Deny);
    }
}

#[test]
fn names_with_slashes_are_no_other_account() {
    let policy =
        r#"@id("x") permit (principal, action, resource == Account::"sample/sandbox/main");"#;
    let bundle = bundle(policy).unwrap();
    let mut asked = effect("publish");
    assert_eq!(ruling(&bundle, &asked).verdict, PolicyVerdict::Allow);
    asked.target.tenant = "sample/sandbox".to_owned();
    asked.target.platform = "main".to_owned();
    asked.target.account = String::new();
    assert_eq!(ruling(&bundle, &asked).verdict, PolicyVerdict::Deny);
    asked.target.tenant = "sample".to_owned();
    asked.target.platform = "sandbox/main".to_owned();
    assert_eq!(ruling(&bundle, &asked).verdict, PolicyVerdict::Deny);
}

#[test]
fn e17_a_permit_says_who_must_agree() {
    let bundle = bundle(
        r#"@id("a") @approval("operator, lead") @expires("30m") @second_person("")
           permit (principal, action == Action::"publish", resource);
           @id("b") @approval("") permit (principal, action == Action::"reply", resource);"#,
    )
    .unwrap();
    let approval = RequiredApproval {
        roles: ["lead".to_owned(), "operator".to_owned()].into(),
        expires_after: Millis(30 * 60 * 1_000),
        second_person: true,
    };
    let verdict = ruling(&bundle, &effect("publish")).verdict;
    assert_eq!(verdict, PolicyVerdict::Approve(approval));
    let approval = RequiredApproval {
        roles: [].into(),
        expires_after: APPROVAL_EXPIRES_AFTER,
        second_person: false,
    };
    let verdict = ruling(&bundle, &effect("reply")).verdict;
    assert_eq!(verdict, PolicyVerdict::Approve(approval));
}

#[test]
fn e17_several_permits_ask_for_all_they_want() {
    let policies = r#"
        @id("a") @approval("operator,lead") @expires("2h") permit (principal, action, resource);
        @id("b") @approval("lead,owner") @expires("1h") permit (principal, action, resource);
        @id("c") permit (principal, action, resource);"#;
    let asked = effect("publish");
    let approval = RequiredApproval {
        roles: ["lead".to_owned()].into(),
        expires_after: Millis(60 * 60 * 1_000),
        second_person: false,
    };
    let verdict = ruling(&bundle(policies).unwrap(), &asked).verdict;
    assert_eq!(verdict, PolicyVerdict::Approve(approval));

    let nobody = format!(
        "{policies}\n@id(\"d\") @approval(\"owner\") permit (principal, action, resource);"
    );
    let ruling = ruling(&bundle(&nobody).unwrap(), &asked);
    assert_eq!(ruling.verdict, PolicyVerdict::Deny);
    assert_eq!(ruling.reason(), "fathom:no-role-in-common");
}

#[test]
fn a_policy_can_be_harder_on_taint_and_never_easier() {
    let easier = r#"@id("x") permit (principal, action, resource) when { context.tainted };"#;
    let easier = bundle(easier).unwrap();
    let harder = r#"@id("x") permit (principal, action, resource);
        @id("to") forbid (principal, action, resource) when { context.tainted_arguments.contains("/to") };"#;
    let harder = bundle(harder).unwrap();
    let body = tainted(effect("publish"), &["/text"]);
    let to = tainted(effect("publish"), &["/text", "/to"]);
    assert_eq!(ruling(&easier, &body).verdict, PolicyVerdict::Deny);
    assert_eq!(ruling(&harder, &body).verdict, PolicyVerdict::Allow);
    assert_eq!(ruling(&harder, &to).verdict, PolicyVerdict::Deny);
    assert_eq!(ruling(&harder, &to).reason(), "to");
}

#[test]
fn a_bundle_is_refused_with_file_and_line() {
    let at = |policy: &str| format!("\n\n{policy}");
    let cases = [
        (
            "@id(\"x\") permit (principal, action resource);",
            "F0950 `test.cedar`, line 3:",
        ),
        (
            "@id(\"x\") permit (principal == ?principal, action, resource);",
            "F0950 `test.cedar`, line 3: policy templates are not supported",
        ),
        (
            "permit (principal, action, resource);",
            "F0951 `test.cedar`, line 3: the policy has no `@id`",
        ),
        (
            "@id(\"x\") permit (principal, action, resource);\n@id(\"x\") forbid (principal, action, resource);",
            "F0952 `test.cedar`, line 4: duplicate policy id `x`",
        ),
        (
            "@id(\"x\") permit (principal == Role::\"publsher\", action, resource);",
            "F0953 `test.cedar`, line 3: policy `x`",
        ),
        (
            "@id(\"x\") permit (principal, action == Action::\"pubish\", resource);",
            "F0953 `test.cedar`, line 3: policy `x`",
        ),
        (
            "@id(\"x\")\npermit (principal, action, resource)\nwhen { context.tained };",
            "F0953 `test.cedar`, line 5: policy `x`",
        ),
        (
            "@id(\"x\") permit (principal, action, resource) when { context.hour == \"9\" };",
            "F0953 `test.cedar`, line 3: policy `x`",
        ),
        (
            "@id(\"x\") permit (principal, action, resource) when { context.dry_run_ok };",
            "F0953 `test.cedar`, line 3: policy `x`",
        ),
        (
            "@id(\"x\") permit (principal, action, resource) when { false };",
            "F0953 `test.cedar`, line 3: policy `x`",
        ),
        (
            "@id(\"Big One\") permit (principal, action, resource);",
            "F0954 `test.cedar`, line 3: invalid `@id`",
        ),
        (
            "@id(\"x\") @aproval(\"operator\") permit (principal, action, resource);",
            "F0954 `test.cedar`, line 3: policy `x`: unknown annotation `@aproval`",
        ),
        (
            "@id(\"x\") @approval(\"operator,\") permit (principal, action, resource);",
            "F0954 `test.cedar`, line 3: policy `x`: empty role in `@approval`",
        ),
        (
            "@id(\"x\") @approval(\"operator\") forbid (principal, action, resource);",
            "F0954 `test.cedar`, line 3: policy `x`: `@approval` is not allowed on a `forbid` policy",
        ),
        (
            "@id(\"x\") @approval(\"operator\") @expires(\"soon\") permit (principal, action, resource);",
            "F0954 `test.cedar`, line 3: policy `x`: invalid duration `soon`",
        ),
        (
            "@id(\"x\") @expires(\"1h\") permit (principal, action, resource);",
            "F0954 `test.cedar`, line 3: policy `x`: `@expires`",
        ),
        (
            "@id(\"x\") @approval(\"operator\") @second_person(\"no\") permit (principal, action, resource);",
            "F0954 `test.cedar`, line 3: policy `x`: `@second_person`",
        ),
    ];
    for (policy, expected) in cases {
        let said = refused(&at(policy));
        assert!(said.starts_with(expected), "{policy}\n{said}");
    }
}

#[test]
fn schema_and_entities_are_checked() {
    let schema = with_actions(["publish"]).unwrap();
    let error = CheckedPolicies::new(&[], "entity ;", "[]").unwrap_err();
    assert_eq!(error.code(), "F0955");
    for entities in [
        "{}",
        r#"[{"uid": {"type": "Acount", "id": "a"}, "attrs": {}, "parents": []}]"#,
        r#"[{"uid": {"type": "Account", "id": "a"}, "attrs": {"closed": "yes"}, "parents": []}]"#,
        r#"[{"uid": {"type": "Role", "id": "boss"}, "attrs": {}, "parents": []}]"#,
    ] {
        let error = CheckedPolicies::new(&[], &schema, entities).unwrap_err();
        assert_eq!(error.code(), "F0956", "{error}");
    }
    assert_eq!(with_actions(["\"; entity"]).unwrap_err().code(), "F0957");
    assert!(schema.starts_with(SCHEMA));
}

#[test]
fn settings_are_read_or_refused() {
    let settings = GatewaySettings::parse(
        "actions = [\"publish\"]\n[flags]\non = true\noff = false\n[autonomy]\npublisher = \"approve\"",
    )
    .unwrap();
    assert_eq!(settings.flags, ["on".to_owned()].into());
    assert_eq!(settings.trip.per, Millis(600_000));
    for text in [
        "",
        "actions = [\"\"]",
        "actions = []\nflag = true",
        "actions = []\n[flags]\non = \"yes\"",
        "actions = []\n[autonomy]\nboss = \"act\"",
        "actions = []\n[trip]\nper = \"often\"",
        "actions = []\n[trip]\nerrors_max = 0",
        "actions = []\n[trip]\nerrors_max = 9\nof = 8",
    ] {
        let error = GatewaySettings::parse(text).unwrap_err();
        assert_eq!(error.code(), "F0957", "{text}");
    }
}

#[test]
fn the_order_of_files_does_not_matter_and_their_names_do() {
    let schema = with_actions(["publish"]).unwrap();
    let other = r#"@id("other") permit (principal, action, resource);"#;
    let digest =
        |files: &[(&str, &str)]| CheckedPolicies::new(files, &schema, "[]").unwrap().digest();
    let one = digest(&[("a", PERMIT), ("b", other)]);
    assert_eq!(one, digest(&[("b", other), ("a", PERMIT)]));
    assert_ne!(one, digest(&[("b", PERMIT), ("a", other)]));
}
