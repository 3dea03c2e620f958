//! Prepares the phase loop: the charter's catalogue is in the store, the session has its beginning and its past.

use fathom_core::contract::Contract;
use fathom_core::domain::session::SessionSpeaker;
use fathom_core::domain::symbols::{AgentProfile, SymbolRequest};
use fathom_programs::phases::{self, PhasesConfig, PhasesReport, SessionEntry};
use fathom_store::symbols::{ImportReport, Progress, SymbolCatalogue, SymbolStore};
use serde::{Deserialize, Serialize};

use super::setup::{
    PrepareFuture, PrepareProgress, PreparedRun, ProgramSetup, ResultKeys, ResultSource,
    RunRequest, keys,
};
use crate::charter::ModelProfile;
use crate::charter::phases::{PhasesCharter, SessionSeed};
use crate::domains::by_hand;
use crate::error::HostError;
use crate::runtime::Runtime;

/// The charter of a run for which none is named.
pub const CHARTER: &str = "signalzero";

/// The setup of `phases`. Its options are [`PhasesOptions`].
#[derive(Clone, Copy, Debug)]
pub struct PhasesSetup;

/// What a run in phases may be told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PhasesOptions {
    /// The session that the run goes on with.
    pub session: Option<String>,
}

impl ProgramSetup for PhasesSetup {
    fn name(&self) -> &str {
        phases::NAME
    }

    fn default_charter(&self) -> &str {
        CHARTER
    }

    fn charter_section(&self) -> Option<&str> {
        Some("phases")
    }

    fn prepare<'a>(
        &'a self,
        runtime: &'a Runtime,
        mut request: RunRequest<'a>,
    ) -> PrepareFuture<'a> {
        Box::pin(async move {
            let PhasesOptions { session } = request.take_options()?;
            let charter = request.charter;
            let missing = || HostError::NoPhases {
                name: charter.name.clone(),
            };
            let phases = charter.phases.as_ref().ok_or_else(missing)?;
            let profile = ModelProfile::of(&request.models.main);
            let mut progress = |Progress { done, total }: Progress| {
                request.report(PrepareProgress::Symbols { done, total });
            };
            let session = session.as_deref();
            let params = runtime.phase_params(phases, profile, session, &mut progress)?;
            let contract = Contract {
                read_scopes: phases.read_scopes.clone(),
                write_scopes: phases.write_scopes.clone(),
                ..std::mem::take(&mut request.contract)
            };
            let new = request.into_run(params.spec(), contract);
            Ok(PreparedRun::new(phases::NAME, new))
        })
    }

    fn result(&self, source: &ResultSource<'_>) -> ResultKeys {
        let report = source.report::<PhasesReport>(phases::NAME);
        report.map_or_else(ResultKeys::new, |report| keys(&PhasesJson::from(report)))
    }
}

/// How a question was thought through.
#[derive(Serialize)]
struct PhasesJson {
    reply: String,
    phases: Vec<phases::PhaseNote>,
    commands: Vec<phases::CommandNote>,
    symbols: Vec<String>,
    intermediate_responses: Vec<phases::PhaseAnswer>,
}

impl From<PhasesReport> for PhasesJson {
    fn from(report: PhasesReport) -> Self {
        Self {
            reply: report.reply,
            phases: report.phases,
            commands: report.commands,
            symbols: report.symbols,
            intermediate_responses: report.intermediate_responses,
        }
    }
}

impl Runtime {
    /// The parameters of a run of the phase loop in a session. What the charter's catalogue has and the store never had is
    /// put there first, which takes a while the first time.
    pub fn phase_params(
        &self,
        phases: &PhasesCharter,
        profile: ModelProfile,
        session: Option<&str>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<PhasesConfig, HostError> {
        self.seed(phases, progress)?;
        let symbols = self.domains().symbols()?;
        let beginning = &phases.beginning;
        let ids = SessionSeed::ids(&beginning.symbols);
        let found = symbols.carry_out(&by_hand(), &SymbolRequest::Get { ids })?;
        let personas = symbols.personas()?;
        let agents = SessionSeed::ids(&beginning.agents)
            .into_iter()
            .filter_map(|id| personas.iter().find(|one| one.id == id).cloned());
        let mut params = phases.params(profile);
        params.agents = agents.collect();
        params.symbols = found
            .symbols
            .into_iter()
            .map(|found| found.symbol)
            .collect();
        if let Some(session) = session {
            let entries = self.domains().history(session)?.read()?;
            let shown: Vec<SessionEntry> = entries
                .into_iter()
                .filter(|entry| entry.who != SessionSpeaker::Commands)
                .map(|entry| SessionEntry {
                    who: entry.who,
                    text: entry.text,
                })
                .collect();
            let latest = phases.rules(profile).history_entries as usize;
            params.history = shown[shown.len().saturating_sub(latest)..].to_vec();
            params.session = Some(session.to_owned());
        }
        Ok(params)
    }

    /// Puts into the store what it never had. What somebody changed or took away stays so.
    pub fn seed(
        &self,
        phases: &PhasesCharter,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<ImportReport, HostError> {
        let store = self.domains().symbols()?;
        let (kits, personas) = (store.kits()?, store.personas()?);
        let catalogue = &phases.catalogue;
        let mut symbols = Vec::new();
        for symbol in &catalogue.symbols {
            if store.versions(&symbol.id)?.is_empty() {
                symbols.push(symbol.clone());
            }
        }
        let is_new = |persona: &&AgentProfile| personas.iter().all(|one| one.id != persona.id);
        let missing = SymbolCatalogue {
            symbols,
            kits: catalogue
                .kits
                .iter()
                .filter(|kit| kits.iter().all(|one| one.id != kit.id))
                .cloned()
                .collect(),
            agents: catalogue.agents.iter().filter(is_new).cloned().collect(),
        };
        Ok(store.import(&missing, progress)?)
    }
}
