//! The programs, seen from outside: runs are given events, and what they ask for is looked at.
//!
//! `cfg(test)` tells the linter that the modules without tests of their own are test code as well.

#[cfg(test)]
mod closing;
#[cfg(test)]
mod council;
#[cfg(test)]
mod direct;
#[cfg(test)]
mod domains;
#[cfg(test)]
mod motion;
#[cfg(test)]
mod phase_fixture;
#[cfg(test)]
mod phases;
#[cfg(test)]
mod phases_commands;
#[cfg(test)]
mod phases_context;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod retries;
#[cfg(test)]
mod rlm;
#[cfg(test)]
mod rlm_recipes;
#[cfg(test)]
mod rlm_turns;
#[cfg(test)]
mod stages;
#[cfg(test)]
mod starting;
#[cfg(test)]
mod stopping;
#[cfg(test)]
mod tools;
