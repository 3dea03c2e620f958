//! Children of an episode: whether one may be spawned, what it is given, and what its end changes.

use super::{AdmitOutcome, Governor};
use crate::budget::amounts::Budget;
use crate::budget::ledger::{BudgetAccounts, share};
use crate::contract::spawn::{SpawnClass, SpawnRequest, SpawnTrigger};
use crate::contract::stop::Refusal;
use crate::effect::KillScope;
use crate::episode::result::{EpisodeResult, EpisodeStatus};
use crate::governor::pending::PendingAsk;
use crate::governor::spawn_rules::{SpawnParent, check_spawn};
use crate::id::{AskId, EpisodeId};
use crate::journal::command::Command;
use crate::journal::event::{EpisodeOrigin, EpisodeSpec};
use crate::model::ModelRole;

/// A child that has finished.
pub(crate) struct ClosedChild {
    pub(crate) ask: AskId,
    /// True if the child worked on a part of an input that is too large for one episode.
    pub(crate) is_part_of_input: bool,
}

impl<L: BudgetAccounts> Governor<L> {
    pub(super) fn admit_child(
        &mut self,
        id: AskId,
        request: &SpawnRequest,
        siblings: u64,
        out: &mut Vec<Command>,
    ) -> AdmitOutcome {
        // Narrower switches cover targets, and a child has none: they are looked at when it asks for an effect.
        if let Some(scope) = self
            .killed
            .iter()
            .find(|scope| **scope == KillScope::Global)
        {
            return AdmitOutcome::Refused(Refusal::Killed {
                scope: scope.clone(),
            });
        }
        let parent = SpawnParent {
            contract: &self.started.contract,
            depth: self.started.depth,
            children: self.children,
            unverified_effect: self.unverified.is_some(),
        };
        let allowed = check_spawn(&parent, request).and_then(|()| self.check_lending(request));
        if let Err(reason) = allowed {
            return AdmitOutcome::Refused(reason);
        }
        if let Some(dimension) = self.closing() {
            // Held, not refused: what is in flight is counted at its worst, and a settlement may free budget below the
            // mark. Only with nothing in flight the answer is final.
            return if self.in_flight() {
                AdmitOutcome::Held
            } else {
                AdmitOutcome::Refused(Refusal::Closing { dimension })
            };
        }
        let depth = self.started.depth + 1;
        let granted = share(
            self.ledger.left(),
            siblings,
            request.at_least,
            request.at_most,
            // A child that may not spawn needs no episode but its own.
            depth < request.contract.recursion.max_depth,
        );
        let child = self.id.child(self.children);
        let granted =
            granted.and_then(|amounts| self.ledger.grant(&child, amounts).map(|()| amounts));
        let amounts = match granted {
            Ok(amounts) => amounts,
            Err(_) if self.in_flight() => return AdmitOutcome::Held,
            Err(dimension) => return AdmitOutcome::Refused(Refusal::Budget { dimension }),
        };
        self.children += 1;
        let started = Box::new(EpisodeSpec {
            goal: request.goal.clone(),
            role: request.role,
            program: request.program.clone(),
            contract: request.contract.clone(),
            budget: Budget {
                amounts,
                // Time is not divided: siblings run at once, and each may use all that is left.
                time: request
                    .time_max
                    .map_or(self.clock.left(), |most| most.min(self.clock.left())),
            },
            depth,
            // Only the root speaks to the model that its caller chose.
            model: ModelRole::Sub,
            models: self.started.models.clone(),
            frame: self.started.frame.clone(),
            sources: self.sources(),
            origin: EpisodeOrigin::Spawned {
                child_type: request.child_type.clone(),
                class: request.class,
                trigger: request.trigger,
                why: request.why.clone(),
                fetch: request.fetch.clone(),
                return_format: request.return_format.clone(),
            },
        });
        out.push(Command::Spawn {
            ask: id,
            child: child.clone(),
            started: started.clone(),
        });
        self.pending.insert(
            id,
            PendingAsk::Child {
                child,
                class: request.class,
                started,
            },
        );
        AdmitOutcome::Admitted
    }

    /// Closes the books on a child. None if no ask waits for it.
    pub(crate) fn close_child(
        &mut self,
        child: &EpisodeId,
        result: &EpisodeResult,
    ) -> Option<ClosedChild> {
        let (ask, class, is_part_of_input) = self.pending.iter().find_map(|(&ask, pending)| {
            let PendingAsk::Child {
                child: id,
                class,
                started,
            } = pending
            else {
                return None;
            };
            (id == child).then(|| (ask, *class, is_part_of_input(&started.origin)))
        })?;
        self.pending.remove(ask);
        self.ledger.close_grant(child, result.budget.spent);
        self.sources.extend(result.sources.iter().cloned());
        // A verifier that was under way before the effect was attempted has not looked at it.
        if class == SpawnClass::Verification
            && result.status == EpisodeStatus::Ok
            && self.unverified.as_ref() <= Some(child)
        {
            self.unverified = None;
        }
        Some(ClosedChild {
            ask,
            is_part_of_input,
        })
    }
}

fn is_part_of_input(origin: &EpisodeOrigin) -> bool {
    matches!(
        origin,
        EpisodeOrigin::Spawned {
            trigger: SpawnTrigger::OversizedInput,
            ..
        }
    )
}
