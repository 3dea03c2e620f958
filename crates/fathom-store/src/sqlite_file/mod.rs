//! `SQLite` files that are not the journal: caches, and files that several processes share.

pub(crate) mod cache;
pub(crate) mod shared;
