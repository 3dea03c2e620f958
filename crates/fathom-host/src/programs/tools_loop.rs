//! Prepares a run whose model calls tools: what the charter offers, and what the run may do with it.

use std::collections::BTreeMap;

use fathom_core::contract::{Autonomy, Contract, PermissionMode};
use fathom_programs::tools_loop::{OfferedTool, ToolsConfig};
use sha2::{Digest as _, Sha256};

use crate::charter::Charter;
use crate::error::HostError;
use crate::runtime::Runtime;

impl Runtime {
    /// The parameters of `tools` under a charter, and the contract that goes with them. What the calls answer to is the
    /// question itself, so that asking the same again does nothing twice.
    pub async fn tool_params(
        &self,
        charter: &Charter,
        question: &str,
        base: Contract,
        values: &BTreeMap<String, String>,
    ) -> Result<(ToolsConfig, Contract), HostError> {
        if charter.gate.is_none() {
            return Err(HostError::NoAgency {
                name: charter.name.clone(),
                what: "tools.toml".to_owned(),
            });
        }
        let facts = self
            .inner
            .gates
            .offered(charter, values)
            .await
            .map_err(|cause| HostError::Tools {
                name: charter.name.clone(),
                cause,
            })?;
        let names = facts.iter().map(|facts| facts.spec.name.clone()).collect();
        let tools = facts.into_iter().map(|facts| OfferedTool {
            spec: facts.spec,
            class: facts.class,
            target: facts.target,
        });
        let event = fathom_core::id::Digest(Sha256::digest(question.as_bytes()).into()).to_string();
        let params = ToolsConfig {
            tools: tools.collect(),
            event: event.get(..16).unwrap_or_default().to_owned(),
            ..ToolsConfig::default()
        };
        let contract = Contract {
            allowed_tools: names,
            permission_mode: PermissionMode::Act,
            autonomy: Autonomy::Act,
            ..base
        };
        Ok((params, contract))
    }
}
