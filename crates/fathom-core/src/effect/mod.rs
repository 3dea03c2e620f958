//! Effects: what changes the world outside, its states, its idempotency key and the kill switch.

mod decision;
mod kill_switch;
mod outcome;
mod permit;
mod request;
mod state;

pub use decision::{ApprovalTerms, DENIED, DryRun, Grounds, PolicyDecision};
pub use kill_switch::KillScope;
pub use outcome::{EffectOutcome, Evidence};
pub use permit::Permit;
pub use request::{EffectClass, EffectRequest, IdempotencyKey, Taint, Target};
pub use state::{EffectState, EffectStep, IllegalStep};
