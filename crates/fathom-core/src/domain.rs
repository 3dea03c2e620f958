//! Domains: what outlives a run and has an owner, as the symbols or the history of a session.

use serde::{Deserialize, Serialize};

use crate::contract::Contract;
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
}

impl DomainRequest {
    /// Whether a contract names the domain for this access.
    pub(crate) fn check(&self, contract: &Contract) -> Result<(), Refusal> {
        let scopes = match self.access {
            Access::Read => &contract.read_scopes,
            Access::Write => &contract.write_scopes,
        };
        if scopes.contains(&self.domain) {
            return Ok(());
        }
        Err(Refusal::OutOfScope {
            domain: self.domain.clone(),
            access: self.access,
        })
    }
}

impl Texts for DomainRequest {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.request);
    }
}
