//! The core, seen from outside: runs are given events, and what they want done is looked at.
//!
//! `cfg(test)` tells the linter that the modules without tests of their own are test code as well.

#[cfg(test)]
mod audit;
#[cfg(test)]
mod desk;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod recursion;
#[cfg(test)]
mod script;
#[cfg(test)]
mod starting;
#[cfg(test)]
mod stopping;
#[cfg(test)]
mod storm;
#[cfg(test)]
mod tree;
#[cfg(test)]
mod weather;
