//! Decides about effects: policies, autonomy, taint, approvals and the windows that trip the kill switch.
//!
//! A [`CheckedPolicies`] is a checked set of policies with one digest. A [`Gateway`] asks it, adds what no policy can lift, and
//! answers with a decision to be written down. Nothing here reads a clock, a file or a network, and nothing is carried out:
//! the same question has the same answer.
//!
//! What holds whatever the policies say: what nothing permits is denied, a forbid wins, and so does a policy that fails;
//! an episode that only suggests changes nothing; an effect with an argument from untrusted content needs a person.

mod annotations;
mod checked_policies;
mod decide;
mod error;
mod policy_arguments;
mod policy_question;
mod policy_ruling;
mod retry;
mod schema;
mod settings;
mod trip_switch;

pub use checked_policies::CheckedPolicies;
pub use decide::{EffectQuestion, Gateway, binding};
pub use error::GatewayError;
pub use policy_question::PolicyQuestion;
pub use policy_ruling::{
    APPROVAL_EXPIRES_AFTER, PolicyRuling, PolicyVerdict, RequiredApproval, rule,
};
pub use retry::{AttemptFailure, WAIT_MAX, retry};
pub use schema::{SCHEMA, with_actions};
pub use settings::GatewaySettings;
pub use trip_switch::{SCOPES_MAX, TripSwitch, TripWindow};
