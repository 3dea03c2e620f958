//! The recursion rules: whether a child may be spawned at all, whatever the budget says.

use crate::contract::spawn::{SpawnClass, SpawnRequest};
use crate::contract::stop::Refusal;
use crate::contract::{Contract, PermissionMode};

/// The facts about a parent that the rules depend on.
pub(crate) struct SpawnParent<'a> {
    pub(crate) contract: &'a Contract,
    pub(crate) depth: u8,
    pub(crate) children: u32,
    /// An effect was attempted and no verification has run since.
    pub(crate) unverified_effect: bool,
}

/// Checks a spawn against its parent's policy. Nothing is allowed that is not said to be.
pub(crate) fn check_spawn(parent: &SpawnParent<'_>, request: &SpawnRequest) -> Result<(), Refusal> {
    let policy = &parent.contract.recursion;
    if parent.depth >= policy.max_depth {
        return Err(Refusal::Depth {
            max_depth: policy.max_depth,
        });
    }
    if parent.children >= policy.max_children {
        return Err(Refusal::Children {
            max_children: policy.max_children,
        });
    }
    if !policy.allowed_child_types.contains(&request.child_type)
        || policy.forbidden_child_types.contains(&request.child_type)
    {
        return Err(Refusal::ChildType {
            child_type: request.child_type.clone(),
        });
    }
    if !policy.allowed_classes.contains(&request.class) {
        return Err(Refusal::ClassNotAllowed {
            class: request.class,
        });
    }
    if request.trigger.class() != request.class {
        return Err(Refusal::TriggerMismatch {
            trigger: request.trigger,
            class: request.class,
        });
    }
    // A repair of something that in truth went through would do it twice.
    if request.class == SpawnClass::Repair && parent.unverified_effect {
        return Err(Refusal::VerifyFirst);
    }
    match wider(&request.contract, parent.contract) {
        Some(what) => Err(Refusal::WiderContract { what: what.into() }),
        None => Ok(()),
    }
}

/// The first part of `child` that goes beyond `parent`.
fn wider(child: &Contract, parent: &Contract) -> Option<&'static str> {
    let beyond = |child: &[String], parent: &[String]| child.iter().any(|x| !parent.contains(x));
    let (c, p) = (&child.recursion, &parent.recursion);
    // In this order the first part that is wider is named in the refusal, which stands in the journal.
    [
        (
            beyond(&child.allowed_tools, &parent.allowed_tools),
            "allowed_tools",
        ),
        (
            beyond(&child.read_scopes, &parent.read_scopes),
            "read_scopes",
        ),
        (
            beyond(&child.write_scopes, &parent.write_scopes),
            "write_scopes",
        ),
        (
            child.permission_mode == PermissionMode::Act
                && parent.permission_mode == PermissionMode::ReadOnly,
            "permission_mode",
        ),
        (child.autonomy > parent.autonomy, "autonomy"),
        (c.max_depth > p.max_depth, "max_depth"),
        (c.max_children > p.max_children, "max_children"),
        (
            c.max_total_episodes > p.max_total_episodes,
            "max_total_episodes",
        ),
        (
            beyond(&c.allowed_child_types, &p.allowed_child_types),
            "allowed_child_types",
        ),
        (
            beyond(&p.forbidden_child_types, &c.forbidden_child_types),
            "forbidden_child_types",
        ),
        (
            c.allowed_classes
                .iter()
                .any(|class| !p.allowed_classes.contains(class)),
            "allowed_classes",
        ),
        (
            c.stop_conditions.no_delta_children_max > p.stop_conditions.no_delta_children_max
                || c.stop_conditions.same_error_max > p.stop_conditions.same_error_max,
            "stop_conditions",
        ),
    ]
    .into_iter()
    .find_map(|(is_wider, what)| is_wider.then_some(what))
}
