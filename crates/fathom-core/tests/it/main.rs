//! The core, seen from outside: runs are given events, and what they want done is looked at.
//!
//! `cfg(test)` tells the linter that the modules without tests of their own are test code as well.

#[cfg(test)]
mod approval;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod clock;
#[cfg(test)]
mod effects;
#[cfg(test)]
mod holding;
#[cfg(test)]
mod host_asks;
#[cfg(test)]
mod ids;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod leases;
#[cfg(test)]
mod packets;
#[cfg(test)]
mod packing;
#[cfg(test)]
mod permission;
#[cfg(test)]
mod protocol;
#[cfg(test)]
mod records;
#[cfg(test)]
mod recursion;
#[cfg(test)]
mod result;
#[cfg(test)]
mod sharing;
#[cfg(test)]
mod spawning;
#[cfg(test)]
mod storm;
#[cfg(test)]
mod texts;
#[cfg(test)]
mod tree;
#[cfg(test)]
mod waking;
#[cfg(test)]
mod weather;
#[cfg(test)]
mod winding_down;
