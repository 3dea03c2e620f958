//! Domains: what outlives a run and has an owner, as the symbols or the history of a session.

use serde::{Deserialize, Serialize};

use crate::contract::{Contract, Role};
use crate::stop::Refusal;
use crate::text::{Text, Texts};

/// Whether a domain is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// It is looked at. The domain's name must stand in the contract's `read_scopes`.
    Read,
    /// It is changed, at most once, after the request is durable. The name must stand in `write_scopes`.
    Write,
}

/// Something wanted of a domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainRequest {
    /// The domain.
    pub domain: String,
    /// Whether it is changed.
    pub access: Access,
    /// What is wanted, in the domain's own words as JSON.
    pub request: Text,
    /// Untrusted content that it may come from. The governor fills it in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
}

/// Whose a domain is, for those of the domains that have named owners.
///
/// Such a domain is lent, not shared: an episode that gave it to a child to write has it back when the child is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owners {
    /// The domain.
    pub domain: &'static str,
    /// Roles that may change it; nobody but people and the host's own ingestion where none is named.
    pub writers: &'static [Role],
    /// Roles that may look at it.
    pub readers: &'static [Role],
    /// Whether what stands there was said by people outside.
    pub untrusted: bool,
}

const ALL: &[Role] = &[
    Role::Orchestrator,
    Role::Planner,
    Role::Creator,
    Role::Publisher,
    Role::Engagement,
    Role::Verifier,
    Role::Doc,
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
    /// What people said and did, as it came in.
    pub const EVENTS: &str = "events";
    /// Labels and flags of events.
    pub const ANNOTATIONS: &str = "annotations";
    /// What was answered, and tickets for people.
    pub const ACTIONS: &str = "actions";
    /// Versions of the policies.
    pub const POLICY: &str = "policy";
    /// Flags that people set.
    pub const FLAGS: &str = "flags";
    /// Bounded summaries of large sources.
    pub const CAPSULES: &str = "capsules";
    /// What verifiers found.
    pub const REPORTS: &str = "reports";
    /// What happened, for those who come later.
    pub const JOURNAL: &str = "journal";
}

/// The domains that have owners, and who they are.
pub const OWNERS: [Owners; 12] = {
    use Role::{Creator, Doc, Engagement, Orchestrator, Planner, Publisher, Verifier};
    const fn of(
        domain: &'static str,
        writers: &'static [Role],
        readers: &'static [Role],
        untrusted: bool,
    ) -> Owners {
        Owners {
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
        of(name::EVENTS, &[], &[Engagement, Planner], true),
        of(
            name::ANNOTATIONS,
            &[Engagement, Planner, Verifier],
            &[Engagement, Planner, Verifier],
            false,
        ),
        of(name::ACTIONS, &[Engagement], ALL, false),
        of(name::POLICY, &[], ALL, false),
        of(name::FLAGS, &[], ALL, false),
        of(name::CAPSULES, &[Orchestrator], ALL, false),
        of(name::REPORTS, &[Verifier], ALL, false),
        of(name::JOURNAL, &[Doc], ALL, false),
    ]
};

/// The owners of a domain that has any.
pub fn owners(domain: &str) -> Option<&'static Owners> {
    OWNERS.iter().find(|owners| owners.domain == domain)
}

impl Owners {
    /// Whether a role may do this.
    pub fn check(&self, role: Role, access: Access) -> Result<(), Refusal> {
        let roles = match access {
            Access::Read => self.readers,
            Access::Write => self.writers,
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
    pub fn new(domain: &str, access: Access, request: String) -> Self {
        Self {
            domain: domain.to_owned(),
            access,
            request: Text::new(request),
            sources: Vec::new(),
        }
    }

    /// Whether a contract names the domain for this access, and the domain the role.
    pub(crate) fn check(&self, contract: &Contract, role: Role) -> Result<(), Refusal> {
        let scopes = match self.access {
            Access::Read => &contract.read_scopes,
            Access::Write => &contract.write_scopes,
        };
        if !scopes.contains(&self.domain) {
            return Err(Refusal::OutOfScope {
                domain: self.domain.clone(),
                access: self.access,
            });
        }
        owners(&self.domain).map_or(Ok(()), |owners| owners.check(role, self.access))
    }
}

impl Texts for DomainRequest {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.request);
    }
}
