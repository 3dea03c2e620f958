//! The identity of a charter: who signed it, who may change it, and what a persona may not say.
//!
//! [`signing`] says what is signed and [`trust`] whose signature counts. [`Runtime::admit`] is asked before every run
//! and every resume. [`contradiction`] is asked when a charter loads. [`stability`] keeps how the stack stood, for
//! the governance session.

pub mod contradiction;
mod error;
mod governing;
pub mod signing;
pub mod stability;
pub mod trust;
mod words;

pub use error::{IdentityError, StabilityRule};
pub use governing::{
    IdentityChange, IdentityChangePath, IdentityView, SignedIdentity, SigningKeys,
};
pub(crate) use governing::{ResumeMode, signed_text};
pub use stability::{StabilityLog, StabilitySample, StabilityStatus};
pub use trust::{IdentityStanding, TrustConfig};

#[cfg(doc)]
use crate::runtime::Runtime;
