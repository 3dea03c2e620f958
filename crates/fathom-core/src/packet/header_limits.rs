//! Token limits of the fields of a header.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Most tokens of a task instruction.
pub const INSTRUCTION_TOKENS_MAX: u64 = 64;

// Each field has a share of the packet besides its fixed limit: under a small MTU the header must leave room for the
// question.
const IDENTITY_TOKENS_MAX: u64 = 256;
const IDENTITY_PERCENT_MAX: u64 = 6;
const PERSONA_TOKENS_MAX: u64 = 128;
const PERSONA_PERCENT_MAX: u64 = 3;

/// A part of a packet that has a limit of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeaderField {
    /// The identity that speaks.
    Identity,
    /// The manner in which it speaks.
    Persona,
    /// The task of this call.
    Instruction,
    /// The question, with the standing instructions of the program.
    Prompt,
}

impl HeaderField {
    /// The fields that are shortened when they are too long, in the order in which room is given to them.
    pub const HEADER: [Self; 3] = [Self::Identity, Self::Persona, Self::Instruction];
}

impl fmt::Display for HeaderField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Identity => "identity",
            Self::Persona => "persona",
            Self::Instruction => "instruction",
            Self::Prompt => "prompt",
        })
    }
}

/// The limits of a packet's header under one MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderLimits {
    /// Most tokens of the whole packet.
    pub mtu_tokens: u64,
}

impl HeaderLimits {
    /// Most tokens of a header field, when the fields before it take `before` tokens. The prompt takes what is left.
    pub const fn of(self, field: HeaderField, before: u64) -> u64 {
        let left = self.mtu_tokens.saturating_sub(before);
        match field {
            HeaderField::Identity => least(
                IDENTITY_TOKENS_MAX,
                percent(self.mtu_tokens, IDENTITY_PERCENT_MAX),
            ),
            HeaderField::Persona => least(PERSONA_TOKENS_MAX, percent(left, PERSONA_PERCENT_MAX)),
            HeaderField::Instruction => least(INSTRUCTION_TOKENS_MAX, left),
            HeaderField::Prompt => left,
        }
    }
}

const fn least(a: u64, b: u64) -> u64 {
    if a < b { a } else { b }
}

/// `percent` of `tokens`, rounded down, without running over.
const fn percent(tokens: u64, percent: u64) -> u64 {
    tokens / 100 * percent + tokens % 100 * percent / 100
}
