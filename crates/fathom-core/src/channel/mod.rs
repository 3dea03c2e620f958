//! Output on its way to channels: marked blocks, shell commands in them, and deliveries.

pub mod delivery;
pub mod marker;
pub mod shell_words;
