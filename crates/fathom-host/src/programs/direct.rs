//! Prepares a single question: what it is to look at goes into the prompt.

use fathom_material::{GatheredMaterial, gather};
use fathom_programs::direct::{self, DirectConfig, PromptMaterial};

use super::setup::{
    PrepareFuture, PrepareWarning, PreparedRun, ProgramSetup, RunContext, RunRequest,
};
use crate::runtime::Runtime;

/// The setup of `direct`. Its options are a [`DirectConfig`]; without any, the charter's.
#[derive(Clone, Copy, Debug)]
pub struct DirectSetup;

impl ProgramSetup for DirectSetup {
    fn name(&self) -> &str {
        direct::NAME
    }

    fn charter_section(&self) -> Option<&str> {
        Some("direct")
    }

    fn prepare<'a>(&'a self, _: &'a Runtime, mut request: RunRequest<'a>) -> PrepareFuture<'a> {
        Box::pin(async move {
            let usual = request.charter.direct.clone().unwrap_or_default();
            let mut params: DirectConfig = request.take_options::<Option<_>>()?.unwrap_or(usual);
            let RunContext { paths, text } = std::mem::take(&mut request.context);
            let GatheredMaterial { documents, skipped } = gather(&paths)?;
            let documents = documents.into_iter().chain(text);
            params
                .material
                .extend(documents.map(|document| PromptMaterial {
                    text: document.plain().into_owned(),
                    source: document.source,
                }));
            let contract = std::mem::take(&mut request.contract);
            let new = request.into_run(params.spec(), contract);
            Ok(PreparedRun {
                warnings: skipped.into_iter().map(PrepareWarning::Skipped).collect(),
                ..PreparedRun::new(direct::NAME, new)
            })
        })
    }
}
