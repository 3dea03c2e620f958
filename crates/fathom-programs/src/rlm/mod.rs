//! `rlm`: a question about material far larger than a model's window.
//!
//! The material is a variable in a sandbox; the model writes code, sees what it prints, and submits an answer. The code may
//! ask other models (leaf calls) and child episodes, which the program answers.

mod cell_questions;
mod child_tasks;
mod config;
mod leaf_calls;
mod material_fields;
mod program;
mod prompts;
pub(crate) mod python_strings;
mod recipe;
mod recipe_rules;
mod recipe_selection;
pub(crate) mod reply;
mod report;
mod state;
pub(crate) mod submission;

pub use config::{MaterialItem, MaterialSource, RecipeMode, RlmConfig};
pub use program::{NAME, PREVIEW_CHARS, RlmProgram};
pub use report::{CellNote, RlmReport};
