//! Code that an episode runs in its sandbox, and what the two say to each other. All of it is written by a model, or by
//! code that a model wrote: it is data, never authority.

mod limits;
mod material;
mod question;
mod result;

pub use limits::CellLimits;
pub use material::{ContextSource, Form, Value};
pub use question::{
    CellAnswer, CellBudget, CellCall, CellFault, CellOutcome, CellQuestion, CellReply, CellTask,
    FaultKind,
};
pub use result::{CellEnd, CellError, CellErrorKind, Output};
