//! What policies say about a question.

use std::collections::BTreeSet;

use fathom_core::unit::Millis;

/// How long a person has when the policy does not say: three days.
pub const APPROVAL_EXPIRES_AFTER: Millis = Millis(72 * 60 * 60 * 1_000);

/// Rules that are no policies. No policy can have such an id.
pub mod rule {
    /// Nothing permits it.
    pub const DEFAULT_DENY: &str = "fathom:default-deny";
    /// The episode may not do it by itself.
    pub const AUTONOMY: &str = "fathom:autonomy";
    /// An argument may come from untrusted content.
    pub const TAINT: &str = "fathom:taint";
    /// Two policies name no role in common.
    pub const NO_ROLE: &str = "fathom:no-role-in-common";
}

/// On what terms a person may say yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Who may decide; any person when nobody is named.
    pub roles: BTreeSet<String>,
    /// How long a person has.
    pub expires_after: Millis,
    /// Whether it takes someone else than the person whose run it is.
    pub second_person: bool,
}

impl Default for Approval {
    fn default() -> Self {
        Self {
            roles: BTreeSet::new(),
            expires_after: APPROVAL_EXPIRES_AFTER,
            second_person: false,
        }
    }
}

impl Approval {
    /// Terms that meet both; none when nobody could.
    pub(crate) fn and(self, other: Self) -> Option<Self> {
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

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Some policy permits it, none forbids it, all could be read.
    Allow,
    /// It may not happen.
    Deny,
    /// It may, when a person says so.
    Approve(Approval),
}

/// What policies say about a question, and which of them said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// What is to be done.
    pub verdict: Verdict,
    /// Ids of the policies that decided, in order; none when nothing permits it.
    pub policies: Vec<String>,
    /// What went wrong while the policies were asked. Any of it denies.
    pub errors: Vec<String>,
}

impl Ruling {
    pub(crate) fn failed(error: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Deny,
            policies: Vec::new(),
            errors: vec![error.into()],
        }
    }

    /// Why it is denied, in one line.
    pub fn reason(&self) -> String {
        if !self.errors.is_empty() {
            return self.errors.join("; ");
        }
        if self.policies.is_empty() {
            return rule::DEFAULT_DENY.to_owned();
        }
        self.policies.join(", ")
    }

    /// What both rulings let pass.
    pub(crate) fn and(self, other: Self) -> Self {
        use Verdict::{Allow, Approve, Deny};
        let verdict = match (self.verdict, other.verdict) {
            // The reasons of a no are all that is worth telling.
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
