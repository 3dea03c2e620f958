//! Decides about effects by the charter's policies, after a rehearsal where the tool offers one.

use fathom_core::effect::{EffectClass, EffectRequest, PolicyDecision};
use fathom_core::text::Text;
use fathom_gateway::{EffectQuestion, Gateway};

use crate::domains::DomainStores;
use crate::effects::RunGatewayError;
use crate::effects::port::{EffectCaller, EffectDecision};
use crate::effects::run_gateway::{GatewayCache, RunGateway};

impl GatewayCache {
    pub(super) async fn decided(
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
}

impl RunGateway {
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
