//! Rulings: the answer of the policies to a question.

use std::collections::BTreeSet;

use fathom_core::unit::Millis;

/// Time that a person has to decide when the policy does not say: three days.
pub const APPROVAL_EXPIRES_AFTER: Millis = Millis(72 * 60 * 60 * 1_000);

/// Rules that are not policies. The colon keeps them apart: no policy id can contain one.
pub mod rule {
    /// No policy permits it.
    pub const DEFAULT_DENY: &str = "fathom:default-deny";
    /// The episode's autonomy does not cover it.
    pub const AUTONOMY: &str = "fathom:autonomy";
    /// An argument may come from untrusted content.
    pub const TAINT: &str = "fathom:taint";
    /// Two policies name no role in common.
    pub const NO_ROLE: &str = "fathom:no-role-in-common";
}

/// Terms on which a person may approve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredApproval {
    /// Roles that may decide; empty for any person.
    pub roles: BTreeSet<String>,
    /// Time that a person has to decide.
    pub expires_after: Millis,
    /// True if the approver must not be the person whose run it is.
    pub second_person: bool,
}

impl Default for RequiredApproval {
    fn default() -> Self {
        Self {
            roles: BTreeSet::new(),
            expires_after: APPROVAL_EXPIRES_AFTER,
            second_person: false,
        }
    }
}

impl RequiredApproval {
    /// Terms that meet both; `None` if nobody could.
    pub(crate) fn and(self, other: Self) -> Option<Self> {
        // An empty set means "anyone", so it is the neutral element and not the empty intersection.
        let roles = if self.roles.is_empty() {
            other.roles
        } else if other.roles.is_empty() {
            self.roles
        } else {
            let both: BTreeSet<String> = self.roles.intersection(&other.roles).cloned().collect();
            if both.is_empty() {
                return None;
            }
            both
        };
        Some(Self {
            roles,
            expires_after: self.expires_after.min(other.expires_after),
            second_person: self.second_person || other.second_person,
        })
    }
}

/// The decision of a ruling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyVerdict {
    /// Some policy permits it, none forbids it, and all could be evaluated.
    Allow,
    /// Denied.
    Deny,
    /// Allowed once a person approves.
    Approve(RequiredApproval),
}

/// A decision of the policies, and the policies that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyRuling {
    pub verdict: PolicyVerdict,
    /// Ids of the policies that decided, sorted; empty if none permits it.
    pub policies: Vec<String>,
    /// Errors of the evaluation. Any of them denies.
    pub errors: Vec<String>,
}

impl PolicyRuling {
    pub(crate) fn failed(error: impl Into<String>) -> Self {
        Self {
            verdict: PolicyVerdict::Deny,
            policies: Vec::new(),
            errors: vec![error.into()],
        }
    }

    /// Reason of a denial, in one line.
    pub fn reason(&self) -> String {
        if !self.errors.is_empty() {
            return self.errors.join("; ");
        }
        if self.policies.is_empty() {
            return rule::DEFAULT_DENY.to_owned();
        }
        self.policies.join(", ")
    }

    /// The stricter of two rulings.
    pub(crate) fn and(self, other: Self) -> Self {
        use PolicyVerdict::{Allow, Approve, Deny};
        let verdict = match (self.verdict, other.verdict) {
            // Of a denial, only the denying side's reasons are worth telling.
            (Deny, Allow | Approve(_)) => {
                return Self {
                    verdict: Deny,
                    ..self
                };
            }
            (Allow | Approve(_), Deny) => {
                return Self {
                    verdict: Deny,
                    ..other
                };
            }
            (Deny, Deny) => Deny,
            (Allow, Allow) => Allow,
            (Allow, Approve(approval)) | (Approve(approval), Allow) => Approve(approval),
            (Approve(one), Approve(two)) => match one.and(two) {
                Some(approval) => Approve(approval),
                None => return Self::failed(rule::NO_ROLE),
            },
        };
        let both = |one: Vec<String>, two: Vec<String>| {
            let all: BTreeSet<String> = one.into_iter().chain(two).collect();
            all.into_iter().collect()
        };
        Self {
            verdict,
            policies: both(self.policies, other.policies),
            errors: both(self.errors, other.errors),
        }
    }
}
