//! Policies that are parsed, checked and hashed together.

use std::collections::{BTreeMap, HashSet};
use std::str::FromStr as _;

use cedar_policy::{
    Authorizer, Decision, Entities, EntityUid, Policy, PolicyId, PolicySet, Schema, ValidationMode,
    Validator,
};
use fathom_core::effect::TaintedArgument;
use fathom_core::id::Digest;
use miette::Diagnostic;
use sha2::{Digest as _, Sha256};

use crate::annotations;
use crate::error::GatewayError;
use crate::policy_question::{CannotJudge, PolicyContext, PolicyQuestion, PolicyTypes};
use crate::policy_ruling::{PolicyRuling, PolicyVerdict, RequiredApproval, rule};

/// Longest text of one error in a ruling, in characters.
const ERROR_CHARS_MAX: usize = 300;

/// A checked set of policies. It does not change; another set is another bundle with another digest.
#[derive(Clone, Debug)]
pub struct CheckedPolicies {
    policies: PolicySet,
    /// Terms of the permits that need a person's approval.
    approvals: BTreeMap<String, RequiredApproval>,
    schema: Schema,
    entities: Entities,
    /// Entities that any question may need: all except accounts that no policy names.
    common: Entities,
    types: PolicyTypes,
    digest: Digest,
}

impl CheckedPolicies {
    /// Reads policies, each file with its name, and checks them against the schema. An empty list of files denies everything.
    pub fn new(files: &[(&str, &str)], schema: &str, entities: &str) -> Result<Self, GatewayError> {
        let digest = digest(files, schema, entities);
        let schema = read_schema(schema)?;
        let mut policies = PolicySet::new();
        let mut approvals = BTreeMap::new();
        let mut origins = BTreeMap::new();
        for &(file, text) in files {
            for policy in read(file, text)? {
                let line = line_of(&policy, text);
                let id = identify(&policy, file, line)?;
                let approval =
                    annotations::approval(&policy).map_err(|fault| GatewayError::Annotation {
                        file: file.to_owned(),
                        line,
                        what: format!("policy `{id}`: {fault}"),
                    })?;
                if let Some(approval) = approval {
                    approvals.insert(id.clone(), approval);
                }
                // Cedar names policies by their position, which changes when a file is edited; rulings are written down.
                let policy = policy.new_id(PolicyId::new(&id));
                policies
                    .add(policy)
                    .map_err(|_| GatewayError::DuplicateId {
                        file: file.to_owned(),
                        line,
                        policy: id.clone(),
                    })?;
                origins.insert(id, (file, text, line));
            }
        }
        validate(&policies, &schema, &origins)?;
        let entities = read_entities(entities, &schema)?;
        let types = PolicyTypes::new()
            .map_err(|CannotJudge(what)| GatewayError::Schema { line: 1, what })?;
        let common = common(&entities, &policies, &types)?;
        Ok(Self {
            policies,
            approvals,
            schema,
            entities,
            common,
            types,
            digest,
        })
    }

    /// SHA-256 over policies, schema and entities.
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// The ids of all policies, in order.
    pub fn ids(&self) -> Vec<String> {
        let ids = self
            .policies
            .policies()
            .map(|policy| policy.id().to_string());
        let mut ids: Vec<String> = ids.collect();
        ids.sort_unstable();
        ids
    }

    /// Decides a question. If arguments are tainted, the policies are also evaluated as if none were, and the
    /// stricter ruling wins: a policy can make an effect harder for what came from outside, never easier.
    pub fn decide(&self, question: &PolicyQuestion<'_>) -> PolicyRuling {
        let prepared = match PolicyContext::new(question, &self.types, &self.entities, &self.common)
        {
            Ok(prepared) => prepared,
            Err(error) => return PolicyRuling::failed(clip(&error.0)),
        };
        let clean = self.ask(&prepared, &[]);
        let taint = &question.effect.taint;
        if taint.is_empty() {
            return clean;
        }
        clean.and(self.ask(&prepared, taint))
    }

    fn ask(&self, prepared: &PolicyContext<'_>, taint: &[TaintedArgument]) -> PolicyRuling {
        let request = match prepared.request(taint, &self.schema) {
            Ok(request) => request,
            Err(error) => return PolicyRuling::failed(clip(&error.0)),
        };
        let response =
            Authorizer::new().is_authorized(&request, &self.policies, &prepared.entities);
        let diagnostics = response.diagnostics();
        // Cedar's order of errors and policies is not stable, and the ruling is written down.
        let errors = diagnostics.errors().map(|error| clip(&error.to_string()));
        let mut errors: Vec<String> = errors.collect();
        let mut policies: Vec<String> = diagnostics.reason().map(ToString::to_string).collect();
        errors.sort_unstable();
        policies.sort_unstable();
        let verdict = match response.decision() {
            // A policy that fails to evaluate is skipped by Cedar. It may have been the one that forbids, so
            // any error denies.
            Decision::Allow if errors.is_empty() => self.terms(&policies),
            Decision::Allow | Decision::Deny => Some(PolicyVerdict::Deny),
        };
        let verdict = verdict.unwrap_or_else(|| {
            errors.push(rule::NO_ROLE.to_owned());
            PolicyVerdict::Deny
        });
        PolicyRuling {
            verdict,
            policies,
            errors,
        }
    }

    /// Combines the approval terms of all matching permits: a permit without terms does not override one with
    /// terms. `None` if nobody could meet all of them.
    fn terms(&self, policies: &[String]) -> Option<PolicyVerdict> {
        let mut asked = policies.iter().filter_map(|id| self.approvals.get(id));
        let Some(first) = asked.next() else {
            return Some(PolicyVerdict::Allow);
        };
        asked
            .try_fold(first.clone(), |all, one| all.and(one.clone()))
            .map(PolicyVerdict::Approve)
    }
}

/// The policies of a file.
fn read(file: &str, text: &str) -> Result<Vec<Policy>, GatewayError> {
    let syntax = |line, what| GatewayError::Syntax {
        file: file.to_owned(),
        line,
        what,
    };
    let policies = PolicySet::from_str(text)
        .map_err(|errors| syntax(line_at(&errors, text).unwrap_or(1), errors.to_string()))?;
    if let Some(template) = policies.templates().next() {
        let loc = template.as_ref().loc();
        let line = loc.map_or(1, |loc| line_number(text, loc.start()));
        return Err(syntax(
            line,
            "policy templates are not supported".to_owned(),
        ));
    }
    Ok(policies.policies().cloned().collect())
}

fn identify(policy: &Policy, file: &str, line: usize) -> Result<String, GatewayError> {
    let file = file.to_owned();
    let Some(id) = policy.annotation("id") else {
        return Err(GatewayError::NoId { file, line });
    };
    match annotations::check_id(id) {
        Ok(()) => Ok(id.to_owned()),
        Err(fault) => Err(GatewayError::Annotation {
            file,
            line,
            what: fault.to_string(),
        }),
    }
}

type PolicyOrigins<'a> = BTreeMap<String, (&'a str, &'a str, usize)>;

/// Checks every policy. Warnings are errors too: a rule that can never match is not what its author meant.
fn validate(
    policies: &PolicySet,
    schema: &Schema,
    origins: &PolicyOrigins<'_>,
) -> Result<(), GatewayError> {
    let result = Validator::new(schema.clone()).validate(policies, ValidationMode::Strict);
    let errors = result
        .validation_errors()
        .map(|error| (error.policy_id(), error as &dyn Diagnostic));
    let warnings = result
        .validation_warnings()
        .map(|warning| (warning.policy_id(), warning as &dyn Diagnostic));
    let Some((id, fault)) = errors.chain(warnings).next() else {
        return Ok(());
    };
    let policy = id.to_string();
    let (file, text, line) = origins.get(&policy).copied().unwrap_or_default();
    Err(GatewayError::Invalid {
        file: file.to_owned(),
        line: line_at(fault, text).unwrap_or(line),
        policy,
        what: fault.to_string(),
    })
}

fn read_schema(text: &str) -> Result<Schema, GatewayError> {
    let read = Schema::from_cedarschema_str(text);
    read.map(|(schema, _)| schema)
        .map_err(|error| GatewayError::Schema {
            line: line_at(&error, text).unwrap_or(1),
            what: error.to_string(),
        })
}

fn read_entities(text: &str, schema: &Schema) -> Result<Entities, GatewayError> {
    Entities::from_json_str(text, Some(schema)).map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        GatewayError::Entities {
            what: cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}")),
        }
    })
}

/// Entities that every question is evaluated with. There may be many accounts, and a question is about one.
fn common(
    entities: &Entities,
    policies: &PolicySet,
    types: &PolicyTypes,
) -> Result<Entities, GatewayError> {
    let named: HashSet<EntityUid> = policies
        .policies()
        .flat_map(Policy::entity_literals)
        .collect();
    let is_account = |uid: &EntityUid| types.is_account(uid);
    // An account above another entity is needed to decide about that entity, so then none can be left out.
    let mut above = entities
        .iter()
        .filter_map(|entity| entities.ancestors(&entity.uid()));
    if above.any(|mut above| above.any(is_account)) {
        return Ok(entities.clone());
    }
    let kept = entities.iter().filter(|entity| {
        let uid = entity.uid();
        !is_account(&uid) || named.contains(&uid)
    });
    Entities::from_entities(kept.cloned(), None).map_err(|error| GatewayError::Entities {
        what: error.to_string(),
    })
}

/// Digest that does not depend on the order of the files, and changes with any byte of them.
fn digest(files: &[(&str, &str)], schema: &str, entities: &str) -> Digest {
    let mut files = files.to_vec();
    files.sort_unstable();
    let mut hash = Sha256::new();
    // Length before content, or moving bytes from one part to the next would keep the digest.
    let mut add = |part: &str| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    add("fathom bundle 1");
    add(schema);
    add(entities);
    for (name, text) in files {
        add(name);
        add(text);
    }
    Digest(hash.finalize().into())
}

fn line_of(policy: &Policy, text: &str) -> usize {
    let loc = policy.as_ref().loc();
    loc.map_or(1, |loc| line_number(text, loc.start()))
}

/// The line that an error points to.
fn line_at(error: &dyn Diagnostic, text: &str) -> Option<usize> {
    let label = error.labels()?.next()?;
    Some(line_number(text, label.offset()))
}

fn line_number(text: &str, at: usize) -> usize {
    let before = text.as_bytes().iter().take(at);
    1 + before.filter(|byte| **byte == b'\n').count()
}

fn clip(text: &str) -> String {
    text.chars().take(ERROR_CHARS_MAX).collect()
}
