//! The identity of a charter: who signed it, who may change it, and what a persona may not say.
//!
//! [`signature`] says what is signed and [`trust`] whose signature counts. [`Runtime::admit`] is asked before every run
//! and every resume. [`persona_check`] is asked when a charter loads. [`stability`] keeps how the stack stood, for
//! the governance session.

mod changes;
mod error;
pub mod persona_check;
mod persona_phrases;
pub mod signature;
pub mod stability;
pub mod trust;

pub use changes::{IdentityChange, IdentityChangePath, IdentityView, SignedIdentity, SigningKeys};
pub(crate) use changes::{ResumeMode, signed_text};
pub use error::{IdentityError, StabilityRule};
pub use stability::{StabilityLog, StabilitySample, StabilityStatus};
pub use trust::{IdentityStanding, TrustConfig};

#[cfg(doc)]
use crate::runtime::Runtime;
