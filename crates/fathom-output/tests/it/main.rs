//! What leaves, tested from outside.

#[cfg(test)]
mod clean;
#[cfg(test)]
mod discord;
#[cfg(test)]
mod markers;
mod redact;
