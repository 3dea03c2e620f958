//! Prepares a run whose model calls tools: what the charter offers, and what the run may do with it.

use std::collections::BTreeMap;

use fathom_core::contract::{Autonomy, Contract, PermissionMode};
use fathom_programs::tools_loop::{self, OfferedTool, ToolsConfig};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::setup::{PrepareFuture, PreparedRun, ProgramSetup, RunRequest};
use crate::charter::Charter;
use crate::error::HostError;
use crate::runtime::Runtime;

/// The setup of `tools`. Its options are [`ToolsOptions`].
#[derive(Clone, Copy, Debug)]
pub struct ToolsSetup;

/// What a run that calls tools may be told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolsOptions {
    /// Standing instructions; the charter's for a single question where none are given.
    pub system: Option<String>,
    /// Values for the places in the charter's tools.
    pub values: BTreeMap<String, String>,
}

impl ProgramSetup for ToolsSetup {
    fn name(&self) -> &str {
        tools_loop::NAME
    }

    fn prepare<'a>(
        &'a self,
        runtime: &'a Runtime,
        mut request: RunRequest<'a>,
    ) -> PrepareFuture<'a> {
        Box::pin(async move {
            let ToolsOptions { system, values } = request.take_options()?;
            let usual = || {
                request
                    .charter
                    .direct
                    .as_ref()
                    .map(|one| one.system.clone())
            };
            let system = system.or_else(usual).unwrap_or_default();
            let base = std::mem::take(&mut request.contract);
            let (charter, goal) = (request.charter, request.goal.as_str());
            let (params, contract) = runtime.tool_params(charter, goal, base, &values).await?;
            let params = ToolsConfig { system, ..params };
            let mut new = request.into_run(params.spec(), contract);
            new.frame.values = values;
            Ok(PreparedRun::new(tools_loop::NAME, new))
        })
    }
}

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
                cause: Box::new(cause),
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
