//! Domains with owners: who may look at them and change them, one writer at a time.

use super::Governor;
use crate::budget::ledger::BudgetAccounts;
use crate::contract::AgentRole;
use crate::contract::spawn::SpawnRequest;
use crate::contract::stop::Refusal;
use crate::domain::{DomainAccess, DomainRequest, owners};
use crate::governor::pending::PendingAsk;
use crate::id::EpisodeId;
use crate::journal::command::Command;

impl<L: BudgetAccounts> Governor<L> {
    /// Checks that the episode may do this with a domain now.
    pub(super) fn check_domain(&self, request: &DomainRequest) -> Result<(), Refusal> {
        request.check(&self.started.contract, self.started.role)?;
        match request.access {
            DomainAccess::Read => Ok(()),
            DomainAccess::Write => self.check_free(&request.domain),
        }
    }

    /// Checks that a child may own the domains it would write. Contracts only narrow on their way down, so a domain
    /// that is lent once on every level has one writer in the whole run.
    pub(super) fn check_lending(&self, request: &SpawnRequest) -> Result<(), Refusal> {
        for domain in &request.contract.write_scopes {
            // An orchestrator passes domains on; what it writes itself is looked at when it does.
            if let Some(owners) = owners(domain)
                && request.role != AgentRole::Orchestrator
            {
                owners.check(request.role, DomainAccess::Write)?;
            }
            self.check_free(domain)?;
            // A write of its own may still be on its way to the store.
            if owners(domain).is_some() && self.is_writing(domain) {
                return Err(Refusal::Lent {
                    domain: domain.clone(),
                    to: self.id.clone(),
                });
            }
        }
        Ok(())
    }

    /// True while the episode itself changes a domain.
    fn is_writing(&self, domain: &str) -> bool {
        self.pending.values().any(|pending| match pending {
            PendingAsk::Host(Command::Domain { request, .. }) => {
                request.access == DomainAccess::Write && request.domain == domain
            }
            _ => false,
        })
    }

    fn check_free(&self, domain: &str) -> Result<(), Refusal> {
        match self.lent_to(domain) {
            Some(to) if owners(domain).is_some() => Err(Refusal::Lent {
                domain: domain.to_owned(),
                to: to.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// The child that may write a domain now.
    fn lent_to(&self, domain: &str) -> Option<&EpisodeId> {
        self.pending.values().find_map(|pending| match pending {
            PendingAsk::Child { child, started, .. } => {
                let writes = &started.contract.write_scopes;
                writes.iter().any(|name| name == domain).then_some(child)
            }
            _ => None,
        })
    }
}
