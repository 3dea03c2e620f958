//! The gateway of every run: its charter's policies decide, its charter's tools carry out.
//!
//! A run's charter is the one it began with. When that has changed since, nothing goes out: a yes was given under other rules.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};

use fathom_core::effect::{EffectClass, EffectOutcome, EffectPermit, EffectRequest};
use fathom_core::id::RunId;
use fathom_core::text::Text;
use fathom_gateway::{Gateway, GatewaySettings, TripSwitch};
use fathom_sandbox::WorkerCommand;
use fathom_store::{HomeFolder, Journal, PinStanding, StoreError, ToolSighting};
use fathom_tools::browser::{Browser, BrowserDriver, BrowserError, BrowserInstall};
use fathom_tools::program::ShellTool;
use fathom_tools::{
    PlatformKey, PlatformSecrets, ToolEnvironment, ToolFacts, ToolKind, ToolPins, ToolRegistry,
    ToolsFile,
};

use crate::charter::Charter;
use crate::clock::Clock;
use crate::domains::DomainStores;
use crate::effects::RunGatewayError;
use crate::effects::confined_runner::ConfinedRunner;
use crate::effects::port::{
    EffectCaller, EffectDecision, EffectPort, EffectSettlement, PortFuture,
};
use crate::effects::send::aborted;

/// The folder of a home that programs begin in.
const SHELL_FOLDER: &str = "shell";

/// The value of a brand that names whose runs they are.
pub(crate) const TENANT: &str = "tenant";

/// The gateways of a home's runs, each made when it is first needed.
pub(crate) struct GatewayCache {
    pub(crate) home: HomeFolder,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) domains: Arc<DomainStores>,
    pub(crate) read_env: fn(&str) -> Option<String>,
    /// Starts the processes that programs are confined in.
    pub(crate) worker: Option<WorkerCommand>,
    pub(crate) kept: Mutex<BTreeMap<RunId, Arc<RunGateway>>>,
}

/// The gateway of one run.
pub(crate) struct RunGateway {
    pub(super) gateway: Gateway,
    pub(super) tools: ToolRegistry,
    /// Tools that cannot be used here, each with why.
    absent: BTreeMap<String, String>,
    /// Tools whose answers are ingested as events.
    pub(super) feeds: BTreeSet<String>,
    pub(super) trips: Mutex<TripSwitch>,
}

/// Keys of platforms, by the names of variables.
struct GatewayInputs(fn(&str) -> Option<String>);

impl PlatformSecrets for GatewayInputs {
    fn secret(&self, name: &str) -> Option<PlatformKey> {
        (self.0)(name).map(PlatformKey::new)
    }
}

impl GatewayCache {
    /// The gateway of the caller's run, made when it is first needed.
    pub(super) async fn of(&self, who: &EffectCaller) -> Result<Arc<RunGateway>, RunGatewayError> {
        let known = |gates: &Self| {
            let kept = gates.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.get(&who.run).cloned()
        };
        if let Some(keeper) = known(self) {
            return Ok(keeper);
        }
        let charter = Charter::of_run(&who.root)?;
        let keeper = Arc::new(Box::pin(self.make(&charter, &who.root.frame.values)).await?);
        // The lock is not held while a gateway is made, so two effects may make one each. The first stays, since it
        // may have counted errors already.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(kept.entry(who.run).or_insert(keeper)))
    }

    /// The tools that a charter offers and that can be called here.
    pub(crate) async fn offered(
        &self,
        charter: &Charter,
        values: &BTreeMap<String, String>,
    ) -> Result<Vec<ToolFacts>, RunGatewayError> {
        let keeper = Box::pin(self.make(charter, values)).await?;
        let specs = keeper.tools.specs().into_iter();
        let facts = specs.filter_map(|spec| keeper.tools.get(&spec.name));
        Ok(facts.map(|tool| tool.facts().clone()).collect())
    }

    async fn make(
        &self,
        charter: &Charter,
        values: &BTreeMap<String, String>,
    ) -> Result<RunGateway, RunGatewayError> {
        let gate = charter.gate.as_ref();
        let gate = gate.ok_or(RunGatewayError::NoTools)?;
        let tenant = values.get(TENANT).cloned().unwrap_or_default();
        let settings = GatewaySettings::parse(&gate.settings)?;
        let bundle = gate.bundle(&settings)?;
        let text = gate.tools_with(values.iter().map(|(k, v)| (k.as_str(), v.as_str())))?;
        let declared = ToolsFile::read(&text)?;
        let secrets: Arc<dyn PlatformSecrets> = Arc::new(GatewayInputs(self.read_env));
        let surroundings = ToolEnvironment {
            secrets: Arc::clone(&secrets),
            ..ToolEnvironment::new(tenant.clone())
        };
        let pins = self.pins(&charter.name)?;
        let (mut tools, others) = ToolRegistry::open(declared, &surroundings, pins)?;
        let mut absent = BTreeMap::new();
        let driver = self.driver();
        for (facts, kind) in others {
            let name = facts.spec.name.clone();
            match (kind, &driver) {
                (ToolKind::Browser(declaration), Ok(driver)) => {
                    let driver = Arc::clone(driver);
                    let browser = Browser::new(facts, *declaration, driver, Arc::clone(&secrets));
                    tools.add(Arc::new(browser?));
                }
                // Without a browser everything else still works.
                (ToolKind::Browser(_), Err(why)) => {
                    absent.insert(name, why.to_string());
                }
                (ToolKind::Shell(declaration), _) => {
                    let Some(worker) = self.worker.clone() else {
                        absent.insert(name, "this host cannot confine programs".to_owned());
                        continue;
                    };
                    let runner = Arc::new(ConfinedRunner {
                        worker,
                        folder: self.home.folder().join(SHELL_FOLDER),
                    });
                    let tool = ShellTool::new(facts, declaration, runner);
                    tools.add(Arc::new(tool?));
                }
                (ToolKind::Http(_), _) => {}
            }
        }
        self.survey(&charter.name, &tools).await?;
        let feeds = charter
            .agency
            .iter()
            .flat_map(|agency| agency.lanes.values());
        Ok(RunGateway {
            absent,
            feeds: feeds.filter_map(|lane| lane.feed.clone()).collect(),
            trips: Mutex::new(TripSwitch::new(settings.trip)),
            gateway: Gateway {
                bundle,
                tenant,
                flags: settings.flags,
                autonomy_max: settings.autonomy_max,
            },
            tools,
        })
    }

    /// The pins of a charter's tools, as people know them.
    fn pins(&self, charter: &str) -> Result<ToolPins, StoreError> {
        let mut pins = ToolPins::default();
        for pin in self.journal.pins(charter)? {
            // A changed tool is let in again by a person and not by a survey.
            if pin.standing != PinStanding::Quarantined {
                pins.accept(&pin.seen.tool, pin.seen.digest);
            }
        }
        Ok(pins)
    }

    /// Asks the charter's servers what they offer, and keeps what was new.
    async fn survey(&self, charter: &str, tools: &ToolRegistry) -> Result<(), StoreError> {
        let (surveyed, faults) = tools.survey().await;
        for fault in faults {
            tracing::warn!(code = fault.code(), error = %fault, "an MCP server does not respond");
        }
        for found in surveyed {
            let seen = ToolSighting {
                charter: charter.to_owned(),
                tool: found.facts.spec.name,
                digest: found.facts.pin,
                at: self.clock.now(),
            };
            self.journal.pin(&seen)?;
        }
        Ok(())
    }

    fn driver(&self) -> Result<Arc<BrowserDriver>, BrowserError> {
        let read = self.read_env;
        let installed = BrowserInstall::find(|name| read(name).map(OsString::from))?;
        Ok(Arc::new(BrowserDriver::new(installed)))
    }
}

impl RunGateway {
    pub(super) fn facts(&self, effect: &EffectRequest) -> Option<ToolFacts> {
        Some(self.tools.get(&effect.tool)?.facts().clone())
    }

    /// Compares an effect with the declaration of its tool. A program chooses neither where an effect lands nor what it
    /// counts as.
    pub(super) fn check(&self, effect: &EffectRequest) -> Result<(), RunGatewayError> {
        let facts = self.facts(effect).ok_or_else(|| {
            let why = self
                .absent
                .get(&effect.tool)
                .map_or("not declared", |why| why);
            RunGatewayError::ToolUnavailable {
                tool: effect.tool.clone(),
                why: why.to_owned(),
            }
        })?;
        if facts.class == EffectClass::Effect && effect.class == EffectClass::Read {
            let tool = effect.tool.clone();
            return Err(RunGatewayError::NotReadOnly { tool });
        }
        if facts.target != effect.target {
            let tool = effect.tool.clone();
            return Err(RunGatewayError::OtherTarget { tool });
        }
        Ok(())
    }
}

impl EffectPort for GatewayCache {
    fn decide<'a>(
        &'a self,
        effect: &'a EffectRequest,
        who: &'a EffectCaller,
    ) -> PortFuture<'a, EffectDecision> {
        Box::pin(async move {
            let decided = self.decided(effect, who).await;
            decided.unwrap_or_else(|error| EffectDecision::deny(error.to_string()))
        })
    }

    fn attempt<'a>(
        &'a self,
        permit: EffectPermit,
        who: &'a EffectCaller,
    ) -> PortFuture<'a, EffectSettlement> {
        Box::pin(async move { self.attempted(&permit, who).await })
    }

    fn reconcile<'a>(
        &'a self,
        effect: &'a EffectRequest,
        who: &'a EffectCaller,
    ) -> PortFuture<'a, EffectSettlement> {
        Box::pin(async move {
            match self.of(who).await {
                Ok(keeper) => {
                    let tried = tokio::select! {
                        tried = keeper.tools.check(effect) => tried,
                        rule = self.killed(effect) => return aborted(&rule, EffectClass::Effect),
                    };
                    EffectSettlement {
                        outcome: tried.outcome,
                        evidence: tried.evidence,
                    }
                }
                Err(error) => EffectOutcome::Unknown {
                    detail: Text::new(error.to_string()),
                }
                .into(),
            }
        })
    }
}

#[cfg(test)]
#[path = "run_gateway_tests.rs"]
mod tests;
