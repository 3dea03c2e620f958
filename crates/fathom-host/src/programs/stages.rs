//! Prepares a run that thinks in stages: the commands that the charter's tools make possible, where its blocks go, and what
//! the run may do.

use std::collections::BTreeMap;

use fathom_core::channel::delivery::{self, SHELL};
use fathom_core::channel::marker::Marker;
use fathom_core::contract::{Autonomy, Contract, PermissionMode};
use fathom_core::effect::EffectClass;
use fathom_programs::stages::{StageAction, StagesConfig};
use fathom_programs::tools_loop::OfferedTool;
use fathom_tools::ToolFacts;
use uuid::Uuid;

use crate::charter::Charter;
use crate::error::HostError;
use crate::runtime::Runtime;

impl Runtime {
    /// The parameters of `stages` under a charter, and the contract that goes with them. No command is run that a person
    /// did not say yes to, whatever the policies allow.
    pub async fn stages_params(
        &self,
        charter: &Charter,
        usual: StagesConfig,
        base: Contract,
    ) -> Result<(StagesConfig, Contract), HostError> {
        let routes = charter.routes();
        let runs = routes.get(Marker::Execute.as_str());
        let runs = runs.is_some_and(|ways| ways.iter().any(|way| way.channel == SHELL));
        let offered = if runs && charter.gate.is_some() {
            let offered = self.inner.gates.offered(charter, &BTreeMap::new()).await;
            offered.map_err(|cause| HostError::Tools {
                name: charter.name.clone(),
                cause,
            })?
        } else {
            Vec::new()
        };
        let actions: Vec<StageAction> = offered
            .into_iter()
            .filter(ToolFacts::takes_words)
            .map(action)
            .collect();
        let mut contract = Contract {
            allowed_tools: actions.iter().map(|one| one.name().to_owned()).collect(),
            ..base
        };
        contract.write_scopes.push(delivery::DOMAIN.to_owned());
        if !actions.is_empty() {
            contract.permission_mode = PermissionMode::Act;
            contract.autonomy = Autonomy::Approve;
        }
        let params = StagesConfig {
            actions,
            routes,
            event: occasion(),
            ..usual
        };
        Ok((params, contract))
    }
}

/// What the commands of a run answer to. A fork shares it, so that it runs nothing twice.
#[expect(
    clippy::disallowed_methods,
    reason = "an occasion is drawn once, before any model runs, and stands in the first record"
)]
fn occasion() -> String {
    Uuid::now_v7().to_string()
}

fn action(facts: ToolFacts) -> StageAction {
    StageAction {
        inverse: facts.inverse,
        offered: OfferedTool {
            spec: facts.spec,
            // Even one that only looks is run after a yes.
            class: EffectClass::Effect,
            target: facts.target,
        },
    }
}
