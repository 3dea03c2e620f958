//! Identity, its changes, and the decisions of people.

pub mod identity;
pub mod people;
pub mod rfc;
