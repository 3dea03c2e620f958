//! The embedded host through its public surface, against a scripted model server and a platform of its own.

mod effects;
mod fixture;
mod running;
