//! Readers of model replies, shared by all programs.
//!
//! Every program takes the thoughts from a reply first, here, so that a judge, a seat or a role that thinks aloud is read
//! like one that does not. Time is linear in the length of a reply, whatever stands in it.

mod answer_schema;
mod code_blocks;
mod error;
mod json_objects;
pub(crate) mod labels;
mod think_tags;
pub(crate) mod unfenced_code;
mod vote_fields;

pub(crate) use answer_schema::AnswerSchema;
pub(crate) use code_blocks::{
    BlockLanguage, CodeBlock, blocks, is_only, outside, unfenced, without_fence_lines,
};
pub(crate) use json_objects::{JsonCandidate, JsonObject, form, pieces};
pub use json_objects::{LEVELS_MAX, first_object};
pub(crate) use labels::passes;
pub(crate) use think_tags::{after_thoughts, said};
pub(crate) use vote_fields::VoteFields;

#[cfg(test)]
#[path = "cases_tests.rs"]
mod cases;
