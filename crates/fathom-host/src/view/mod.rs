//! Read models: what people are shown of runs, effects, deliveries and councils.

pub mod council_stats;
pub mod deliveries;
pub mod effects;
pub mod effects_json;
pub mod run;
