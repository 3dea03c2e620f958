//! The connected models of a run, and the embedded ones.

pub mod embedded;
pub(crate) mod run_models;
