//! The browser tool: a charter's steps on real pages, rehearsed on a sandbox first, with evidence of every
//! step.
//!
//! A model chooses only the text typed into fields: no selector, no address, no script, no key press. If a page
//! differs from what the steps were written for, the walk ends before the effect, for a person to review.

mod declaration;
mod driver;
mod error;
mod page_scripts;
mod proxy;
mod run_steps;
mod wire;

use std::sync::Arc;

use fathom_core::effect::{DryRun, EffectOutcome, EffectPermit, EffectRequest};
use jsonschema::Validator;
use serde_json::{Value, json};

pub use declaration::{
    BrowserAction, BrowserCheck, BrowserDeclaration, BrowserStep, FieldFill, PageExpectation,
};
pub use driver::{BrowserDriver, BrowserInstall};
pub use error::BrowserError;

use crate::argument_schema::key_token;
use crate::secret::PlatformSecrets;
use crate::tool::{RetryHint, Tool, ToolFacts, ToolFuture, ToolOutcome};
use declaration::{BrowserPlan, BrowserSite, FieldFilling};
use driver::BrowserSession;
use run_steps::{BrowserRun, ClickOutcome, RunHalt};

/// Arguments that do not match the schema. The text is told to the model.
#[derive(Debug, thiserror::Error)]
enum ArgumentFault {
    #[error("the arguments are no JSON")]
    NotJson,
    #[error("the arguments do not fit: {0}")]
    Mismatch(String),
    #[error("the arguments are no JSON object")]
    NotAnObject,
}

/// A tool that operates a browser.
pub struct Browser {
    facts: ToolFacts,
    plan: BrowserPlan,
    validator: Validator,
    driver: Arc<BrowserDriver>,
    secrets: Arc<dyn PlatformSecrets>,
}

impl Browser {
    /// A tool with these facts that follows a declaration. Nothing is started yet.
    pub fn new(
        facts: ToolFacts,
        declaration: BrowserDeclaration,
        driver: Arc<BrowserDriver>,
        secrets: Arc<dyn PlatformSecrets>,
    ) -> Result<Self, BrowserError> {
        let schema: Value = serde_json::from_str(facts.spec.schema.as_str()).map_err(|_| {
            BrowserError::declaration("the schema of its arguments is not valid JSON")
        })?;
        let validator = jsonschema::validator_for(&schema)
            .map_err(|error| BrowserError::declaration(error.to_string()))?;
        Ok(Self {
            plan: BrowserPlan::new(declaration, &schema)?,
            facts,
            validator,
            driver,
            secrets,
        })
    }

    /// The arguments, checked against the schema.
    fn filling(&self, effect: &EffectRequest) -> Result<FieldFilling, ArgumentFault> {
        let arguments: Value =
            serde_json::from_str(effect.arguments.as_str()).map_err(|_| ArgumentFault::NotJson)?;
        self.validator
            .validate(&arguments)
            .map_err(|error| ArgumentFault::Mismatch(error.to_string()))?;
        let Value::Object(arguments) = arguments else {
            return Err(ArgumentFault::NotAnObject);
        };
        let key = key_token(effect);
        Ok(FieldFilling { arguments, key })
    }

    fn walk<'a>(
        &'a self,
        session: &'a BrowserSession<'a>,
        place: &'a BrowserSite,
        filling: &'a FieldFilling,
    ) -> BrowserRun<'a> {
        BrowserRun::new(session, place, filling, &*self.secrets)
    }

    async fn rehearsed(&self, effect: &EffectRequest) -> DryRun {
        let refused = |report: String| DryRun {
            ok: false,
            report: report.into(),
        };
        let filling = match self.filling(effect) {
            Ok(filling) => filling,
            Err(fault) => return refused(fault.to_string()),
        };
        let session = match self.driver.session(&self.plan.hosts).await {
            Ok(session) => session,
            Err(error) => return refused(error.to_string()),
        };
        let place = self.plan.sandbox.as_ref().unwrap_or(&self.plan.real);
        let mut walk = self.walk(&session, place, &filling);
        let walked = up_to_the_effect(&mut walk, &self.plan.before).await;
        let report = json!({
            "at": place.host(),
            "sandbox": self.plan.sandbox.is_some(),
            "seen": walk.seen,
            "halt": walked.as_ref().err().map(ToString::to_string),
        });
        let ok = walked.is_ok();
        drop(walk);
        session.close().await;
        DryRun {
            ok,
            report: report.to_string().into(),
        }
    }

    async fn done(&self, effect: &EffectRequest) -> ToolOutcome {
        let filling = match self.filling(effect) {
            Ok(filling) => filling,
            Err(fault) => return failed(fault.to_string(), RetryHint::Never),
        };
        let session = match self.driver.session(&self.plan.hosts).await {
            Ok(session) => session,
            Err(error) => return failed(error.to_string(), RetryHint::NotSent),
        };
        let mut walk = self.walk(&session, &self.plan.real, &filling);
        let (outcome, again) = self.act(&mut walk).await;
        let evidence = std::mem::take(&mut walk.evidence);
        drop(walk);
        session.close().await;
        ToolOutcome {
            outcome,
            evidence,
            again,
        }
    }

    async fn act(&self, walk: &mut BrowserRun<'_>) -> (EffectOutcome, RetryHint) {
        if let Err(halt) = up_to_the_effect(walk, &self.plan.before).await {
            return not_sent(&halt);
        }
        match walk.click(&self.plan.effect).await {
            ClickOutcome::Yes => {}
            ClickOutcome::No(halt) => return not_sent(&halt),
            ClickOutcome::Perhaps(halt) => return (unknown(&halt), RetryHint::Never),
        }
        if let Err(halt) = walk.take(&self.plan.after).await {
            return (unknown(&halt), RetryHint::Never);
        }
        let receipt = json!({"address": walk.address().await, "key": walk.filling.key});
        let receipt = receipt.to_string().into();
        (EffectOutcome::Confirmed { receipt }, RetryHint::Never)
    }

    async fn checked(&self, effect: &EffectRequest) -> ToolOutcome {
        let unknown = |detail: String| ToolOutcome {
            outcome: EffectOutcome::Unknown {
                detail: detail.into(),
            },
            evidence: Vec::new(),
            again: RetryHint::Never,
        };
        let filling = match self.filling(effect) {
            Ok(filling) => filling,
            Err(fault) => return unknown(fault.to_string()),
        };
        let session = match self.driver.session(&self.plan.hosts).await {
            Ok(session) => session,
            Err(error) => return unknown(error.to_string()),
        };
        let mut walk = self.walk(&session, &self.plan.real, &filling);
        let outcome = self.look(&mut walk).await;
        let evidence = std::mem::take(&mut walk.evidence);
        drop(walk);
        session.close().await;
        ToolOutcome {
            outcome,
            evidence,
            again: RetryHint::Never,
        }
    }

    async fn look(&self, walk: &mut BrowserRun<'_>) -> EffectOutcome {
        let Some((last, steps)) = self.plan.check.steps.split_last() else {
            return EffectOutcome::Unknown {
                detail: "there is no way to check".into(),
            };
        };
        if let Err(halt) = walk.take(steps).await {
            return unknown(&halt);
        }
        match walk.count(last).await {
            Err(halt) => unknown(&halt),
            Ok(0) if self.plan.check.conclusive => EffectOutcome::Failed {
                detail: "it is not there".into(),
            },
            Ok(0) => EffectOutcome::Unknown {
                detail: "it is not there, or not yet".into(),
            },
            Ok(times) => {
                let address = walk.address().await;
                let receipt = json!({"address": address, "key": walk.filling.key, "times": times});
                EffectOutcome::Confirmed {
                    receipt: receipt.to_string().into(),
                }
            }
        }
    }
}

async fn up_to_the_effect(
    walk: &mut BrowserRun<'_>,
    before: &[BrowserStep],
) -> Result<(), RunHalt> {
    walk.begin().await?;
    walk.take(before).await
}

/// Nothing was sent. A retry helps against a fault of the browser or network, never against a changed page.
fn not_sent(halt: &RunHalt) -> (EffectOutcome, RetryHint) {
    let again = match halt {
        RunHalt::Broken { .. } => RetryHint::NotSent,
        RunHalt::Unstable { .. }
        | RunHalt::Changed { .. }
        | RunHalt::Altered { .. }
        | RunHalt::Open { .. }
        | RunHalt::NoSecret { .. } => RetryHint::Never,
    };
    let detail = halt.to_string().into();
    (EffectOutcome::Failed { detail }, again)
}

fn unknown(halt: &RunHalt) -> EffectOutcome {
    EffectOutcome::Unknown {
        detail: halt.to_string().into(),
    }
}

fn failed(cause: String, again: RetryHint) -> ToolOutcome {
    ToolOutcome {
        outcome: EffectOutcome::Failed {
            detail: cause.into(),
        },
        evidence: Vec::new(),
        again,
    }
}

impl Tool for Browser {
    fn facts(&self) -> &ToolFacts {
        &self.facts
    }

    fn rehearse<'a>(&'a self, effect: &'a EffectRequest) -> ToolFuture<'a, Option<DryRun>> {
        Box::pin(async { Some(self.rehearsed(effect).await) })
    }

    fn call<'a>(&'a self, permit: &'a EffectPermit) -> ToolFuture<'a, ToolOutcome> {
        Box::pin(self.done(permit.effect()))
    }

    fn check<'a>(&'a self, effect: &'a EffectRequest) -> ToolFuture<'a, ToolOutcome> {
        Box::pin(self.checked(effect))
    }
}
