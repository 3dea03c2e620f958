//! Models: what goes to one and what comes back, free of any provider's wire format.

mod reply;
mod request;
mod spec;
mod usage;

pub use reply::{Ending, Recalled, Reply};
pub use request::{Delivery, Message, Recall, Request, Speaker};
pub use spec::{ModelRole, ModelSpec, Models};
pub use usage::{Exactness, Measured, Price, Timing, Usage, UsageSource};
