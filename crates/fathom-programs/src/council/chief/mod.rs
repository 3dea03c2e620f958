//! `chief`: one seat of a council. It votes by itself, or asks its sub-chiefs and votes as they do.

mod ballots;
mod config;
mod program;

pub(super) use config::ChiefBrief;
pub(super) use program::{ChiefProgram, NAME, encode, reasoning, synthesis};
