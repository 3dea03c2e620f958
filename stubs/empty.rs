//! Nothing: no build of Fathom reaches this crate. See docs/decisions/0020-fewer-crates.md.
#![no_std]
