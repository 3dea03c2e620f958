//! Prepares a run that thinks in stages: the commands that the charter's tools make possible, where its blocks go, and what
//! the run may do.

use std::collections::BTreeMap;

use fathom_core::channel::delivery::ChannelDelivery;
use fathom_core::channel::delivery::{self, SHELL};
use fathom_core::channel::marker::Marker;
use fathom_core::contract::{Autonomy, Contract, PermissionMode};
use fathom_core::effect::EffectClass;
use fathom_core::packet::PacketRisk;
use fathom_core::unit::Millis;
use fathom_programs::stages::{
    self, CommandNote, StageAction, StagesConfig, StagesReport, VoteNote,
};
use fathom_programs::tools_loop::OfferedTool;
use fathom_tools::ToolFacts;
use serde::Serialize;
use uuid::Uuid;

use super::setup::{
    PrepareFuture, PreparedRun, ProgramSetup, ResultKeys, ResultSource, RunRequest, keys,
};
use crate::charter::{Charter, ModelProfile};
use crate::error::HostError;
use crate::runtime::Runtime;

/// The charter of a run for which none is named.
pub const CHARTER: &str = "gaia";

/// Output cap of a model in this process: it is slow.
const LOCAL_OUTPUT_TOKENS: u32 = 384;
/// Longest time of one attempt of a model in this process.
const LOCAL_TIMEOUT: Millis = Millis(480_000);

/// The setup of `stages`. It has no options.
#[derive(Clone, Copy, Debug)]
pub struct StagesSetup;

impl ProgramSetup for StagesSetup {
    fn name(&self) -> &str {
        stages::NAME
    }

    fn default_charter(&self) -> &str {
        CHARTER
    }

    fn charter_section(&self) -> Option<&str> {
        Some("stages")
    }

    fn prepare<'a>(
        &'a self,
        runtime: &'a Runtime,
        mut request: RunRequest<'a>,
    ) -> PrepareFuture<'a> {
        Box::pin(async move {
            let usual = request.charter.stages.clone().unwrap_or_default();
            let params = profiled(usual, ModelProfile::of(&request.models.main));
            let base = std::mem::take(&mut request.contract);
            let charter = request.charter;
            let (params, contract) = runtime.stages_params(charter, params, base).await?;
            let new = request.into_run(params.spec(), contract);
            Ok(PreparedRun::new(stages::NAME, new))
        })
    }

    fn result(&self, source: &ResultSource<'_>) -> ResultKeys {
        let Some(report) = source.report::<StagesReport>(stages::NAME) else {
            return ResultKeys::new();
        };
        let spoken = source.root().map(|root| root.spoken.iter());
        let blocks = spoken.into_iter().flatten().map(|block| BlockJson {
            marker: block.marker.as_str(),
            text: (source.mask)(&block.text),
            channels: block.to.iter().map(|way| way.channel.as_str()).collect(),
            deliveries: block.deliveries.clone().unwrap_or_default(),
        });
        keys(&StagesJson {
            blocks: blocks.collect(),
            risk_level: report.risk_level,
            confidence: report
                .confidence_milli
                .map(|milli| f64::from(milli) / 1000.0),
            interrupts: report.interrupts,
            verified: report.verified,
            votes: report.votes,
            commands: report.commands,
        })
    }
}

/// A small model forgets its form, and is slow.
fn profiled(usual: StagesConfig, profile: ModelProfile) -> StagesConfig {
    match profile {
        ModelProfile::Local => StagesConfig {
            structured: true,
            output_tokens_max: usual.output_tokens_max.min(LOCAL_OUTPUT_TOKENS),
            timeout: LOCAL_TIMEOUT,
            ..usual
        },
        ModelProfile::Remote => usual,
    }
}

/// Keys of the result.
#[derive(Serialize)]
struct StagesJson<'a> {
    blocks: Vec<BlockJson<'a>>,
    risk_level: PacketRisk,
    confidence: Option<f64>,
    interrupts: u32,
    verified: Option<bool>,
    votes: Vec<VoteNote>,
    commands: Vec<CommandNote>,
}

/// A block, where it goes, and what became of it there.
#[derive(Serialize)]
struct BlockJson<'a> {
    marker: &'a str,
    text: String,
    channels: Vec<&'a str>,
    deliveries: Vec<ChannelDelivery>,
}

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
                cause: Box::new(cause),
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
