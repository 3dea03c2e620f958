//! Code that an episode runs in its sandbox, and what the two say to each other. All of it is written by a model, or by
//! code that a model wrote: it is data, never authority.

mod limits;
mod material;
mod question;
mod result;

pub use limits::CellLimits;
pub use material::{CellValue, ContextSource, ValueFormat};
pub use question::{
    CellAnswer, CellBudget, CellCall, CellException, CellExceptionKind, CellOutcome, CellQuestion,
    CellReply, CellTask,
};
pub use result::{CellError, CellErrorKind, CellOutput, CellResult};
