//! Limits of one cell.

use serde::{Deserialize, Serialize};

use crate::unit::Millis;

/// Limits of one cell. The sandbox holds these against any code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellLimits {
    /// Longest time it may work by itself; the time it waits for an answer does not count.
    pub time: Millis,
    /// Most memory of a session beyond what it was given, in bytes.
    pub memory: u64,
    /// Most bytes of output that are kept, half of them from its beginning and half from its end.
    pub output: u32,
    /// Most questions it may ask.
    pub questions: u32,
    /// Most bytes of all its questions together: each of them is written down before it is answered or refused.
    #[serde(default = "question_bytes")]
    pub question_bytes: u64,
}

/// Room to ask all of 100 MB several times over, whatever its letters are.
const fn question_bytes() -> u64 {
    1 << 30
}

impl Default for CellLimits {
    fn default() -> Self {
        Self {
            time: Millis(30_000),
            memory: 512 << 20,
            output: 8 << 10,
            questions: 10_000,
            question_bytes: question_bytes(),
        }
    }
}
