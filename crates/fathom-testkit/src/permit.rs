//! Permits for tests of tools: made the only way there is, by a run whose decision is durable.

use std::sync::Arc;

use fathom_core::budget::amounts::{Amounts, Budget};
use fathom_core::contract::{AgentRole, Autonomy, Contract, PermissionMode};
use fathom_core::effect::{EffectPermit, EffectRequest, PolicyDecision};
use fathom_core::episode::program::{
    Ask, Program, ProgramError, ProgramFactory, ProgramInput, ProgramView,
};
use fathom_core::id::{Digest, EpisodeId, Epoch};
use fathom_core::journal::event::{
    EpisodeOrigin, EpisodeSpec, EventKind, JournalRecord, ProgramSpec,
};
use fathom_core::model::{ModelRole, ModelSet, ModelSpec};
use fathom_core::packet::PacketFrame;
use fathom_core::run::Run;
use fathom_core::run::step::{AppendReceipt, HostStep, LogPosition, RecordLog};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars, Timestamp};

/// Asks for one effect and for nothing else.
struct OneEffect(EffectRequest);

impl Program for OneEffect {
    fn on(&mut self, input: ProgramInput<'_>, _: &ProgramView<'_>) -> Vec<Ask> {
        match input {
            ProgramInput::Start(_) => vec![Ask::Effect(self.0.clone())],
            _ => Vec::new(),
        }
    }

    fn partial(&self) -> Option<Text> {
        None
    }
}

impl ProgramFactory for OneEffect {
    fn build(&self, _: &ProgramSpec) -> Result<Box<dyn Program>, ProgramError> {
        Ok(Box::new(Self(self.0.clone())))
    }
}

/// Counts records and keeps none.
#[derive(Default)]
struct CountedPermits(u64);

impl RecordLog for CountedPermits {
    fn append(&mut self, _: &EpisodeId, _: JournalRecord) -> AppendReceipt {
        self.0 += 1;
        AppendReceipt {
            position: LogPosition(self.0),
            head: Digest([0; 32]),
        }
    }
}

/// Leave for `effect`, from a run that proposed it, allowed it and wrote that down. `None` where the run refuses it.
pub fn permit(effect: &EffectRequest) -> Option<EffectPermit> {
    let mut log = CountedPermits::default();
    let mut run: Run = Run::new(Epoch(1), Arc::new(OneEffect(effect.clone())));
    let at = Timestamp(1_000);
    let proposed = run.start(&mut log, at, started(&effect.tool));
    let (episode, ask) = proposed.into_iter().find_map(|step| match step {
        HostStep::Decide { episode, ask, .. } => Some((episode, ask)),
        _ => None,
    })?;
    let allow = PolicyDecision::Allow {
        rules: vec!["test".into()],
    };
    run.deliver(&mut log, at, episode, EventKind::decided(ask, allow));
    run.durable(LogPosition(log.0))
        .into_iter()
        .find_map(|step| match step {
            HostStep::Attempt(permit) => Some(permit),
            _ => None,
        })
}

fn started(tool: &str) -> EpisodeSpec {
    let model = ModelSpec::named("test/model");
    EpisodeSpec {
        goal: Text::new("one effect"),
        role: AgentRole::Publisher,
        program: ProgramSpec {
            name: "one-effect".into(),
            params: Text::new("{}"),
        },
        contract: Contract {
            allowed_tools: vec![tool.to_owned()],
            permission_mode: PermissionMode::Act,
            autonomy: Autonomy::Act,
            ..Contract::default()
        },
        budget: Budget {
            amounts: Amounts {
                tokens: 1_000,
                calls: 1,
                tools: 10,
                money: Nanodollars(1_000),
                episodes: 1,
            },
            time: Millis(60_000),
        },
        depth: 0,
        model: ModelRole::Main,
        models: ModelSet::new(model.clone(), model),
        frame: PacketFrame::default(),
        sources: Vec::new(),
        origin: EpisodeOrigin::Asked,
    }
}
