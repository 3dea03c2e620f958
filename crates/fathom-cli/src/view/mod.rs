//! Views for people: one file each.

pub(crate) mod approval;
pub(crate) mod budget;
mod change_lines;
pub(crate) mod charter;
pub(crate) mod charter_findings;
pub(crate) mod council;
pub(crate) mod council_stats;
pub(crate) mod effects;
pub(crate) mod episode_json;
pub(crate) mod phases;
pub(crate) mod progress;
pub(crate) mod record_lines;
pub(crate) mod result_json;
#[cfg(test)]
pub(crate) mod run_tests;
pub(crate) mod stages;
pub(crate) mod tree;
pub(crate) mod units;
pub(crate) mod weights;
