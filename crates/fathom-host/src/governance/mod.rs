//! Who speaks, who may change it, and who decides.

pub mod identity;
pub mod people;
pub mod rfc;
