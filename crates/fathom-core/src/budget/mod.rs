//! Budgets: amounts by dimension, the ledger that reserves and settles them, and the clock of active time.

pub(crate) mod active_time;
pub mod amounts;
pub mod ledger;
