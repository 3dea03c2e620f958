//! `rlm`: a question about material far larger than a model's window, answered by code in a sandbox.

mod cell_questions;
mod config;
mod material_fields;
mod program;
mod prompts;
pub(crate) mod python_strings;
mod recipe;
mod recipe_rules;
mod recipe_selection;
pub(crate) mod reply;
mod report;
pub(crate) mod submission;

pub use config::{MaterialItem, MaterialSource, RecipeMode, RlmConfig};
pub use program::{NAME, PREVIEW_CHARS, RlmProgram};
pub use report::{CellNote, RlmReport};
