//! A home, a model server and the runs of a test.

use std::path::Path;
use std::sync::{Arc, Mutex};

use fathom_core::budget::amounts::{Amounts, Budget};
use fathom_core::contract::Contract;
use fathom_core::effect::{
    EffectClass, EffectOutcome, EffectPermit, EffectRequest, EffectTarget, PolicyDecision,
};
use fathom_core::episode::result::EpisodeResult;
use fathom_core::id::RunId;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::{ModelSet, ModelSpec};
use fathom_core::packet::PacketFrame;
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars};
use fathom_host::effects::port::{
    EffectCaller, EffectDecision, EffectPort, EffectSettlement, PortFuture,
};
use fathom_host::{NewRun, RunEnd, RunHandle, Runtime, RuntimeOptions};
use fathom_testkit::drill::DrillPrograms;
use fathom_testkit::model_server::ModelServer;

pub(crate) const BUDGET: Budget = Budget {
    amounts: Amounts {
        tokens: 1_000_000,
        calls: 10_000,
        tools: 100,
        money: Nanodollars(1_000_000_000),
        episodes: 100,
    },
    time: Millis(60_000),
};

pub(crate) fn models(server: &ModelServer) -> ModelSet {
    let spec = ModelSpec {
        base_url: Some(server.openai_url()),
        ..ModelSpec::named("openai/test")
    };
    ModelSet::new(spec.clone(), spec)
}

pub(crate) fn new_run(program: ProgramSpec, models: ModelSet) -> NewRun {
    NewRun {
        goal: Text::from("find out"),
        program,
        contract: Contract::default(),
        budget: BUDGET,
        models,
        frame: PacketFrame::default(),
    }
}

pub(crate) fn host(home: &Path) -> Runtime {
    host_with(home, Arc::new(fathom_host::effects::port::NoEffects))
}

pub(crate) fn host_with(home: &Path, effects: Arc<dyn EffectPort>) -> Runtime {
    Runtime::open(RuntimeOptions {
        programs: Arc::new(DrillPrograms),
        effects: Some(effects),
        ..RuntimeOptions::new(home.to_owned(), |_| None)
    })
    .expect("the home opens")
}

/// The result of a run that must come to its end.
pub(crate) async fn finished(handle: RunHandle) -> EpisodeResult {
    match handle.end().await {
        RunEnd::Finished(result) => *result,
        other => panic!("the run came back as {other:?}"),
    }
}

/// Chains, heads, blobs and the fold of a run are as they should be.
pub(crate) fn check(host: &Runtime, run: RunId) {
    let verification = host.verify(Some(run)).expect("it can be read");
    assert_eq!(verification.problems, []);
    let replay = host.replay(run).expect("it replays");
    assert_eq!(replay.differences, []);
    assert!(replay.events > 0);
}

/// A platform that remembers what was done to it.
#[derive(Default)]
pub(crate) struct Platform {
    done: Mutex<Vec<String>>,
    decision: Mutex<Option<PolicyDecision>>,
    loses_answers: bool,
    knows_nothing: bool,
}

impl Platform {
    pub(crate) fn deciding(decision: PolicyDecision) -> Arc<Self> {
        Arc::new(Self {
            decision: Mutex::new(Some(decision)),
            ..Self::default()
        })
    }

    pub(crate) fn losing_answers() -> Arc<Self> {
        Arc::new(Self {
            loses_answers: true,
            ..Self::default()
        })
    }

    /// A platform that loses answers and cannot say afterwards what happened.
    pub(crate) fn knowing_nothing() -> Self {
        Self {
            loses_answers: true,
            knows_nothing: true,
            ..Self::default()
        }
    }

    pub(crate) fn done(&self) -> Vec<String> {
        self.done.lock().expect("no panic").clone()
    }
}

impl EffectPort for Platform {
    fn decide<'a>(
        &'a self,
        _: &'a EffectRequest,
        _: &'a EffectCaller,
    ) -> PortFuture<'a, EffectDecision> {
        let decision = self.decision.lock().expect("no panic").clone();
        let allow = PolicyDecision::Allow {
            rules: vec!["test".into()],
        };
        let decided = EffectDecision {
            decision: decision.unwrap_or(allow),
            grounds: None,
        };
        Box::pin(async { decided })
    }

    fn attempt<'a>(
        &'a self,
        permit: EffectPermit,
        _: &'a EffectCaller,
    ) -> PortFuture<'a, EffectSettlement> {
        let key = permit.effect().key().as_str().to_owned();
        self.done.lock().expect("no panic").push(key);
        let detail = Text::from("the answer was lost");
        let receipt = Text::from("done");
        let outcome = if self.loses_answers {
            EffectOutcome::Unknown { detail }
        } else {
            EffectOutcome::Confirmed { receipt }
        };
        Box::pin(async { outcome.into() })
    }

    fn reconcile<'a>(
        &'a self,
        effect: &'a EffectRequest,
        _: &'a EffectCaller,
    ) -> PortFuture<'a, EffectSettlement> {
        let key = effect.key();
        let happened = self.done().iter().any(|done| done == key.as_str());
        let outcome = if self.knows_nothing {
            EffectOutcome::Unknown {
                detail: Text::from("nobody can say"),
            }
        } else if happened {
            EffectOutcome::Confirmed {
                receipt: Text::from("found"),
            }
        } else {
            EffectOutcome::Failed {
                detail: Text::from("never arrived"),
            }
        };
        Box::pin(async { outcome.into() })
    }
}

pub(crate) fn effect(event: &str) -> EffectRequest {
    EffectRequest {
        tool: "post".into(),
        target: EffectTarget {
            tenant: "acme".into(),
            platform: "board".into(),
            account: "main".into(),
            action: "publish".into(),
        },
        event: event.into(),
        arguments: Text::from("{}"),
        class: EffectClass::Effect,
        taint: Vec::new(),
    }
}
