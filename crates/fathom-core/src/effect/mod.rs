//! Effects: what changes the world outside, its states, its idempotency key and the kill switch.

mod decision;
mod kill_switch;
mod outcome;
mod permit;
mod request;
mod state;
pub mod undo;

pub use decision::{ApprovalTerms, DENIED, DecisionGrounds, DryRun, PolicyDecision};
pub use kill_switch::KillScope;
pub use outcome::{EffectOutcome, Evidence};
pub use permit::EffectPermit;
pub use request::{EffectClass, EffectRequest, EffectTarget, IdempotencyKey, TaintedArgument};
pub use state::{EffectState, EffectTransition, IllegalTransition};
