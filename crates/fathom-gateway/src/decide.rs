//! Decisions about effects: what the policies say, and what no policy can override.

use std::collections::{BTreeMap, BTreeSet};

use fathom_core::contract::{AgentRole, Autonomy};
use fathom_core::effect::{
    ApprovalTerms, DecisionGrounds, DryRun, EffectClass, EffectRequest, EffectTarget,
    PolicyDecision,
};
use fathom_core::id::{Digest, RunId};
use fathom_core::unit::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::checked_policies::CheckedPolicies;
use crate::policy_question::PolicyQuestion;
use crate::policy_ruling::{PolicyVerdict, RequiredApproval, rule};

/// A request for an effect.
#[derive(Clone, Copy, Debug)]
pub struct EffectQuestion<'a> {
    pub run: RunId,
    /// Role of the asking episode.
    pub role: AgentRole,
    /// Autonomy that the episode's contract grants.
    pub autonomy: Autonomy,
    pub effect: &'a EffectRequest,
    /// Result of the tool's dry run, if it has one.
    pub dry_run: Option<&'a DryRun>,
    pub at: Timestamp,
}

/// Decides about effects, on one bundle of policies.
#[derive(Clone, Debug)]
pub struct Gateway {
    pub bundle: CheckedPolicies,
    /// Tenant whose runs it decides about.
    pub tenant: String,
    /// Flags that are set.
    pub flags: BTreeSet<String>,
    /// Maximum autonomy by role, whatever the contracts say.
    pub autonomy_max: BTreeMap<AgentRole, Autonomy>,
}

impl Gateway {
    /// Decides. A denial stays a denial: autonomy and taint only make it stricter.
    pub fn decide(&self, asked: &EffectQuestion<'_>) -> (PolicyDecision, DecisionGrounds) {
        let grounds = DecisionGrounds {
            bundle: self.bundle.digest(),
            dry_run: asked.dry_run.cloned(),
            undo: None,
        };
        (self.decision(asked), grounds)
    }

    fn decision(&self, asked: &EffectQuestion<'_>) -> PolicyDecision {
        let effect = asked.effect;
        let cap = self.autonomy_max.get(&asked.role);
        let autonomy = cap.map_or(asked.autonomy, |cap| asked.autonomy.min(*cap));
        let changes = effect.class == EffectClass::Effect;
        let ruling = self.bundle.decide(&PolicyQuestion {
            run: asked.run,
            tenant: &self.tenant,
            role: asked.role,
            autonomy,
            effect,
            dry_run: asked.dry_run,
            flags: &self.flags,
            at: asked.at,
        });
        let approval = match ruling.verdict {
            PolicyVerdict::Deny => {
                let rule = ruling.reason();
                return PolicyDecision::Deny { rule };
            }
            PolicyVerdict::Allow => None,
            PolicyVerdict::Approve(approval) => Some(approval),
        };
        // After the policies, so that a denial names the policy that made it and not the autonomy.
        if changes && autonomy == Autonomy::Suggest {
            let rule = rule::AUTONOMY.to_owned();
            return PolicyDecision::Deny { rule };
        }
        let mut rules = ruling.policies;
        let by_policy = approval.is_some();
        let by_autonomy = changes && autonomy == Autonomy::Approve;
        let by_taint = changes && !effect.taint.is_empty();
        rules.extend(by_autonomy.then(|| rule::AUTONOMY.to_owned()));
        rules.extend(by_taint.then(|| rule::TAINT.to_owned()));
        if !(by_policy || by_autonomy || by_taint) {
            return PolicyDecision::Allow { rules };
        }
        let RequiredApproval {
            roles,
            expires_after,
            second_person,
        } = approval.unwrap_or_default();
        PolicyDecision::NeedsApproval {
            rule: rules.join(", "),
            terms: Box::new(ApprovalTerms {
                binding: binding(asked.run, effect, self.bundle.digest()),
                roles: roles.into_iter().collect(),
                expires: asked.at.plus(expires_after),
                second_person,
            }),
        }
    }
}

/// Digest that an approval is bound to: this run, tool, target and event, the exact bytes of the arguments, and
/// these policies.
pub fn binding(run: RunId, effect: &EffectRequest, bundle: Digest) -> Digest {
    let EffectTarget {
        tenant,
        platform,
        account,
        action,
    } = &effect.target;
    let mut hash = Sha256::new();
    // Length before content, or two effects that split the same bytes differently would share an approval.
    let mut add = |part: &[u8]| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    add(b"fathom approval 1");
    add(run.as_bytes());
    for part in [
        &effect.tool,
        tenant,
        platform,
        account,
        action,
        &effect.event,
    ] {
        add(part.as_bytes());
    }
    add(effect.arguments.as_str().as_bytes());
    add(&bundle.0);
    Digest(hash.finalize().into())
}
