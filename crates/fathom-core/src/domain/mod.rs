//! Domains: what outlives a run and has an owner, as the symbols or the history of a session.

pub mod records;
pub mod session;
pub mod symbols;

use serde::{Deserialize, Serialize};

use crate::contract::stop::Refusal;
use crate::contract::{AgentRole, Contract};
use crate::text::{Text, VisitTexts};

/// The kind of access to a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DomainAccess {
    /// It is looked at. The domain's name must stand in the contract's `read_scopes`.
    Read,
    /// It is changed, at most once, after the request is durable. The name must stand in `write_scopes`.
    Write,
}

/// Something wanted of a domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainRequest {
    pub domain: String,
    pub access: DomainAccess,
    /// The request in the domain's own words, as JSON.
    pub request: Text,
    /// Untrusted content that it may come from. The governor fills it in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
}

/// Whose a domain is, for those of the domains that have named owners.
///
/// Such a domain is lent, not shared: an episode that gave it to a child to write has it back when the child is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainOwners {
    pub domain: &'static str,
    /// Roles that may change it; if none is named, only people and the host's own ingestion.
    pub writers: &'static [AgentRole],
    /// Roles that may look at it.
    pub readers: &'static [AgentRole],
    /// True if the domain holds what people outside said.
    pub untrusted: bool,
}

const ALL: &[AgentRole] = &[
    AgentRole::Orchestrator,
    AgentRole::Planner,
    AgentRole::Creator,
    AgentRole::Publisher,
    AgentRole::Engagement,
    AgentRole::Verifier,
    AgentRole::Doc,
];

/// Names of the domains that have owners.
pub mod name {
    /// Plan nodes, edges, variants and proposals for the schedule.
    pub const PLAN: &str = "plan";
    /// Assets, their edges and bundles.
    pub const ASSETS: &str = "assets";
    /// Snapshots of what is to be published, which refer to assets.
    pub const PAYLOADS: &str = "payloads";
    /// Summaries of conversations.
    pub const CONVERSATIONS: &str = "conversations";
    /// Words and deeds of people, as they came in.
    pub const EVENTS: &str = "events";
    /// Labels and flags of events.
    pub const ANNOTATIONS: &str = "annotations";
    /// Replies, and tickets for people.
    pub const ACTIONS: &str = "actions";
    /// Versions of the policies.
    pub const POLICY: &str = "policy";
    /// Flags that people set.
    pub const FLAGS: &str = "flags";
    /// Bounded summaries of large sources.
    pub const CAPSULES: &str = "capsules";
    /// Findings of verifiers.
    pub const REPORTS: &str = "reports";
    /// Events worth telling those who come later.
    pub const JOURNAL: &str = "journal";
}

/// The domains that have owners, and who they are.
pub const OWNERS: [DomainOwners; 12] = {
    use AgentRole::{Creator, Doc, Engagement, Orchestrator, Planner, Publisher, Verifier};
    const fn of(
        domain: &'static str,
        writers: &'static [AgentRole],
        readers: &'static [AgentRole],
        untrusted: bool,
    ) -> DomainOwners {
        DomainOwners {
            domain,
            writers,
            readers,
            untrusted,
        }
    }
    [
        of(
            name::PLAN,
            &[Planner],
            &[
                Orchestrator,
                Planner,
                Creator,
                Publisher,
                Engagement,
                Verifier,
            ],
            false,
        ),
        of(name::ASSETS, &[Creator], ALL, false),
        of(name::PAYLOADS, &[Publisher], ALL, false),
        of(
            name::CONVERSATIONS,
            &[Engagement, Verifier],
            &[Planner, Creator, Engagement, Verifier],
            true,
        ),
        // No agent writes these: they are what people did, and ingestion takes them in.
        of(name::EVENTS, &[], &[Engagement, Planner], true),
        of(
            name::ANNOTATIONS,
            &[Engagement, Planner, Verifier],
            &[Engagement, Planner, Verifier],
            false,
        ),
        of(name::ACTIONS, &[Engagement], ALL, false),
        // Policies and flags are for people to set.
        of(name::POLICY, &[], ALL, false),
        of(name::FLAGS, &[], ALL, false),
        of(name::CAPSULES, &[Orchestrator], ALL, false),
        of(name::REPORTS, &[Verifier], ALL, false),
        of(name::JOURNAL, &[Doc], ALL, false),
    ]
};

/// The owners of a domain that has any.
pub fn owners(domain: &str) -> Option<&'static DomainOwners> {
    OWNERS.iter().find(|owners| owners.domain == domain)
}

impl DomainOwners {
    /// Checks that a role has this access.
    pub fn check(&self, role: AgentRole, access: DomainAccess) -> Result<(), Refusal> {
        let roles = match access {
            DomainAccess::Read => self.readers,
            DomainAccess::Write => self.writers,
        };
        if roles.contains(&role) {
            return Ok(());
        }
        Err(Refusal::NotOwner {
            domain: self.domain.to_owned(),
            access,
            role,
        })
    }
}

impl DomainRequest {
    /// A request for a domain, of which nothing untrusted is known.
    pub fn new(domain: &str, access: DomainAccess, request: String) -> Self {
        Self {
            domain: domain.to_owned(),
            access,
            request: Text::new(request),
            sources: Vec::new(),
        }
    }

    /// Checks that the contract names the domain for this access, and the domain the role.
    pub(crate) fn check(&self, contract: &Contract, role: AgentRole) -> Result<(), Refusal> {
        let scopes = match self.access {
            DomainAccess::Read => &contract.read_scopes,
            DomainAccess::Write => &contract.write_scopes,
        };
        // The contract first: a role has its domains only where its parent handed them on.
        if !scopes.contains(&self.domain) {
            return Err(Refusal::OutOfScope {
                domain: self.domain.clone(),
                access: self.access,
            });
        }
        owners(&self.domain).map_or(Ok(()), |owners| owners.check(role, self.access))
    }
}

impl VisitTexts for DomainRequest {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.request);
    }
}
