//! The gateway of every run: its charter's policies decide, its charter's tools carry out.
//!
//! A run's charter is the one it began with. When that has changed since, nothing goes out: a yes was given under other rules.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fathom_core::effect::{
    EffectClass, EffectOutcome, EffectPermit, EffectRequest, PolicyDecision,
};
use fathom_core::id::RunId;
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use fathom_gateway::{
    AttemptFailure, EffectQuestion, Gateway, GatewaySettings, TripSwitch, binding, retry,
};
use fathom_sandbox::WorkerCommand;
use fathom_store::{HomeFolder, Journal, KillOrder, PinStanding, StoreError, ToolSighting};
use fathom_tools::browser::{Browser, BrowserDriver, BrowserError, BrowserInstall};
use fathom_tools::program::ShellTool;
use fathom_tools::{
    PlatformKey, PlatformSecrets, RetryHint, ToolEnvironment, ToolFacts, ToolKind, ToolOutcome,
    ToolPins, ToolRegistry, ToolsFile,
};

use crate::charter::Charter;
use crate::clock::Clock;
use crate::domains::DomainStores;
use crate::effects::RunGatewayError;
use crate::effects::confined_runner::ConfinedRunner;
use crate::effects::port::{
    EffectCaller, EffectDecision, EffectPort, EffectSettlement, PortFuture,
};

/// How often the kill switch is looked at while a tool works.
const LOOK: Duration = Duration::from_millis(50);

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
    /// What starts the processes that programs are confined in.
    pub(crate) worker: Option<WorkerCommand>,
    pub(crate) kept: Mutex<BTreeMap<RunId, Arc<RunGateway>>>,
}

/// The gateway of one run.
pub(crate) struct RunGateway {
    gateway: Gateway,
    tools: ToolRegistry,
    /// Tools that cannot be used here, each with why.
    absent: BTreeMap<String, String>,
    /// Tools whose answers are ingested as events.
    feeds: BTreeSet<String>,
    trips: Mutex<TripSwitch>,
}

/// Keys of platforms, by the names of variables.
struct GatewayInputs(fn(&str) -> Option<String>);

impl PlatformSecrets for GatewayInputs {
    fn secret(&self, name: &str) -> Option<PlatformKey> {
        (self.0)(name).map(PlatformKey::new)
    }
}

impl GatewayCache {
    /// The gateway of a run.
    async fn of(&self, who: &EffectCaller) -> Result<Arc<RunGateway>, RunGatewayError> {
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

    /// What a charter offers: every tool that can be called.
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

    async fn decided(
        &self,
        effect: &EffectRequest,
        who: &EffectCaller,
    ) -> Result<EffectDecision, RunGatewayError> {
        let keeper = self.of(who).await?;
        keeper.check(effect)?;
        let asked = |dry_run| EffectQuestion {
            run: who.run,
            role: who.role,
            autonomy: who.autonomy,
            effect,
            dry_run,
            at: who.at,
        };
        let gateway = keeper.gateway_now(&self.domains)?;
        // What is denied anyway is not rehearsed: a rehearsal reaches outside too.
        let hopeful = fathom_core::effect::DryRun {
            ok: true,
            report: Text::default(),
        };
        let (first, grounds) = gateway.decide(&asked(Some(&hopeful)));
        if effect.class == EffectClass::Read || matches!(first, PolicyDecision::Deny { .. }) {
            return Ok(EffectDecision {
                decision: first,
                grounds: Some(Box::new(fathom_core::effect::DecisionGrounds {
                    dry_run: None,
                    ..grounds
                })),
            });
        }
        let dry_run = keeper.tools.rehearse(effect).await;
        let (mut decision, mut grounds) = gateway.decide(&asked(dry_run.as_ref()));
        grounds.undo = keeper.facts(effect).map(|facts| facts.undo());
        if let Some(failed) = dry_run.as_ref().filter(|dry_run| !dry_run.ok) {
            let report = fathom_core::episode::result::clip(failed.report.as_str(), 200);
            decision = PolicyDecision::Deny {
                rule: format!("dry run: {report}"),
            };
        }
        Ok(EffectDecision {
            decision,
            grounds: Some(Box::new(grounds)),
        })
    }

    /// Carries out what was permitted, and tries again where that is safe.
    async fn attempted(&self, permit: &EffectPermit, who: &EffectCaller) -> EffectSettlement {
        let keeper = match self.of(who).await {
            Ok(keeper) => keeper,
            Err(error) => return EffectSettlement::failed(error.to_string()),
        };
        let effect = permit.effect();
        if let Err(error) = keeper
            .check(effect)
            .and_then(|()| self.still_meant(&keeper, effect, who))
        {
            return EffectSettlement::failed(error.to_string());
        }
        let idempotent = keeper.facts(effect).is_some_and(|facts| facts.idempotent);
        let mut count = 0;
        loop {
            let tried = tokio::select! {
                tried = keeper.tools.call(permit) => tried,
                rule = self.killed(effect) => return aborted(&rule, effect.class),
            };
            count += 1;
            self.watch(&keeper, effect, &tried);
            let again = retry(
                trouble(tried.again),
                count,
                idempotent || effect.class == EffectClass::Read,
            );
            let Some(wait) =
                again.filter(|_| !matches!(tried.outcome, EffectOutcome::Confirmed { .. }))
            else {
                self.ingest(&keeper, effect, &tried.outcome);
                return EffectSettlement {
                    outcome: tried.outcome,
                    evidence: tried.evidence,
                };
            };
            tracing::info!(
                tool = effect.tool,
                tries = count,
                wait_ms = wait.0,
                "retrying a tool"
            );
            tokio::select! {
                () = pause(wait) => {}
                rule = self.killed(effect) => return given_up(&rule, &tried.outcome),
            }
            // The wait looks twenty times a second; this look is the last one before something leaves again.
            if let Some(rule) = self.kill_rule(effect) {
                return given_up(&rule, &tried.outcome);
            }
        }
    }

    /// A yes was given to something. It must be what is about to be done, under the rules of then.
    fn still_meant(
        &self,
        keeper: &RunGateway,
        effect: &EffectRequest,
        who: &EffectCaller,
    ) -> Result<(), RunGatewayError> {
        let asked = self.journal.approval_of(&who.owner())?;
        let now = binding(who.run, effect, keeper.gateway.bundle.digest());
        match asked {
            Some(approval) if approval.terms.binding != now => Err(RunGatewayError::OtherApproval),
            _ => Ok(()),
        }
    }

    /// Comes back when the kill switch covers an effect, or cannot be read.
    async fn killed(&self, effect: &EffectRequest) -> String {
        let mut look = tokio::time::interval(LOOK);
        loop {
            look.tick().await;
            if let Some(rule) = self.kill_rule(effect) {
                return rule;
            }
        }
    }

    /// The rule that keeps an effect from being sent, if the kill switch has one.
    fn kill_rule(&self, effect: &EffectRequest) -> Option<String> {
        match self.journal.kills() {
            Ok(kills) => {
                let mut kills = kills.iter();
                let order = kills.find(|order| order.scope.covers(&effect.target))?;
                Some(format!("kill switch: {}", order.scope))
            }
            // A switch that cannot be read counts as active: a person may have thrown it, and whoever throws it when
            // the disk fails must be able to rely on it.
            Err(error) => {
                tracing::error!(code = error.code(), %error, "cannot read the kill switch; nothing is sent");
                Some(format!("kill switch: cannot be read: {error}"))
            }
        }
    }

    /// Counts errors; too many of them throw the kill switch.
    fn watch(&self, keeper: &RunGateway, effect: &EffectRequest, tried: &ToolOutcome) {
        let failed = !matches!(tried.outcome, EffectOutcome::Confirmed { .. });
        let at = self.clock.now();
        let mut trips = keeper.trips.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(scope) = trips.note(&effect.target, failed, at) else {
            return;
        };
        tracing::error!(%scope, "too many errors; activating the kill switch");
        let order = KillOrder {
            scope,
            by: "the gateway".to_owned(),
            why: "too many errors in recent calls".to_owned(),
            at,
        };
        if let Err(error) = self.journal.set_kill(&order) {
            tracing::error!(%error, "cannot activate the kill switch");
        }
    }

    /// What a feed brought is what people said: it goes into the events as it is.
    fn ingest(&self, keeper: &RunGateway, effect: &EffectRequest, outcome: &EffectOutcome) {
        if let EffectOutcome::Confirmed { receipt } = outcome
            && keeper.feeds.contains(&effect.tool)
            && let Err(error) =
                self.domains
                    .ingest(&effect.target, receipt.as_str(), self.clock.now())
        {
            tracing::warn!(code = error.code(), %error, "cannot store received messages");
        }
    }
}

impl RunGateway {
    fn facts(&self, effect: &EffectRequest) -> Option<ToolFacts> {
        Some(self.tools.get(&effect.tool)?.facts().clone())
    }

    /// Whether the effect is what its tool is: where it lands and what it does are not for a program to say.
    fn check(&self, effect: &EffectRequest) -> Result<(), RunGatewayError> {
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

    /// The gateway with the flags as people have set them now. When they cannot be read there is none: a person may
    /// have cleared a flag that the charter sets.
    fn gateway_now(&self, domains: &DomainStores) -> Result<Gateway, RunGatewayError> {
        let mut gateway = self.gateway.clone();
        let flags = domains.flags();
        for (flag, is_set) in flags.map_err(|error| RunGatewayError::Flags(Box::new(error)))? {
            if is_set {
                gateway.flags.insert(flag);
            } else {
                gateway.flags.remove(&flag);
            }
        }
        Ok(gateway)
    }
}

/// A call that was given up. A look that was given up did nothing; of anything else nobody knows.
fn aborted(rule: &str, class: EffectClass) -> EffectSettlement {
    match class {
        EffectClass::Read => EffectSettlement::failed(rule),
        EffectClass::Effect => EffectOutcome::Unknown {
            detail: Text::new(format!("given up: {rule}")),
        }
        .into(),
    }
}

/// Settles an effect that is not tried again. An earlier attempt whose outcome nobody knows may have happened: to say
/// that it failed would free its key for a second one.
fn given_up(rule: &str, last: &EffectOutcome) -> EffectSettlement {
    match last {
        EffectOutcome::Failed { .. } => EffectSettlement::failed(rule),
        _ => EffectOutcome::Unknown {
            detail: Text::new(format!("given up: {rule}")),
        }
        .into(),
    }
}

const fn trouble(again: RetryHint) -> AttemptFailure {
    match again {
        RetryHint::Never => AttemptFailure::Other,
        RetryHint::RateLimited { after } => AttemptFailure::RateLimited { after },
        RetryHint::ServerFault => AttemptFailure::ServerFault,
        RetryHint::NotSent => AttemptFailure::NotSent,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a tool is left alone for a while here, and the kill switch is looked at beside it"
)]
pub(crate) async fn pause(wait: Millis) {
    tokio::time::sleep(Duration::from_millis(wait.0)).await;
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
