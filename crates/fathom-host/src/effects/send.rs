//! Sends permitted effects: retries where that is safe, and gives up when the kill switch says so.

use std::sync::PoisonError;
use std::time::Duration;

use fathom_core::effect::{EffectClass, EffectOutcome, EffectPermit, EffectRequest};
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use fathom_gateway::{AttemptFailure, binding, retry};
use fathom_store::KillOrder;
use fathom_tools::{RetryHint, ToolOutcome};

use crate::effects::RunGatewayError;
use crate::effects::port::{EffectCaller, EffectSettlement};
use crate::effects::run_gateway::{GatewayCache, RunGateway};

/// Interval between two looks at the kill switch while a tool works.
const LOOK: Duration = Duration::from_millis(50);

impl GatewayCache {
    /// Carries out what was permitted, and tries again where that is safe.
    pub(super) async fn attempted(
        &self,
        permit: &EffectPermit,
        who: &EffectCaller,
    ) -> EffectSettlement {
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

    /// Checks that an approval was given to exactly this effect, under the policies that hold now.
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

    /// Returns once the kill switch covers an effect or cannot be read.
    pub(super) async fn killed(&self, effect: &EffectRequest) -> String {
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
        // In its own name, so that people can tell it from an order of theirs.
        let order = KillOrder {
            scope,
            by: "the gateway".to_owned(),
            why: "too many errors in recent calls".to_owned(),
            at,
        };
        // Only logged: the call that was one too many has its outcome, and that must not be lost.
        if let Err(error) = self.journal.set_kill(&order) {
            tracing::error!(%error, "cannot activate the kill switch");
        }
    }

    /// Stores what a feed brought. People said it, so it goes into the events as it is.
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

/// Settles a call that was given up. A look did nothing; the outcome of anything else is unknown.
pub(super) fn aborted(rule: &str, class: EffectClass) -> EffectSettlement {
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
pub(super) fn given_up(rule: &str, last: &EffectOutcome) -> EffectSettlement {
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
