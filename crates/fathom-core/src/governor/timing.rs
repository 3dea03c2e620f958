//! The clock of an episode and its one timer.

use super::Governor;
use crate::budget::ledger::BudgetAccounts;
use crate::contract::cap;
use crate::journal::command::{Command, ExternalWait};
use crate::unit::Timestamp;

impl<L: BudgetAccounts> Governor<L> {
    /// Counts the time up to an event.
    pub(crate) fn see(&mut self, at: Timestamp) {
        self.clock.see(at);
    }

    /// Passes over the time in which the run had no owner.
    pub(crate) fn skip_to(&mut self, at: Timestamp) {
        self.clock.skip_to(at);
    }

    pub(crate) const fn is_out_of_time(&self) -> bool {
        self.clock.left().0 == 0
    }

    /// Lets go of the episode: its clock stands still until somebody takes it over.
    pub(crate) fn release(&mut self) {
        self.clock.pause(true);
        self.released = true;
    }

    /// Stops the clock while only a person can move things, and starts it again afterwards.
    pub(crate) fn pause_for_people(&mut self, out: &mut Vec<Command>) {
        if self.released {
            return;
        }
        let waits = self.waits_for_person();
        let resumes = self.clock.is_paused() && !waits;
        self.clock.pause(waits);
        if resumes {
            // The host's timer stands for the deadline of before the pause, which has moved since.
            out.push(self.timer());
        }
    }

    /// The one timer of the episode: for the moment its program waits for, or for the end of its time.
    pub(crate) fn timer(&self) -> Command {
        let deadline = self.clock.deadline();
        let at = self.wake.map_or(deadline, |wake| wake.min(deadline));
        Command::Await {
            awaited: ExternalWait::Until { at },
        }
    }

    /// Notes the moment that the program waits for. It lies a little ahead, so that nobody spins.
    pub(super) fn wait_for(&mut self, at: Timestamp) {
        self.wake = Some(at.max(self.clock.last().plus(cap::WAKE_AHEAD_MIN)));
    }

    /// Takes the moment that the program waits for, if it has come.
    pub(crate) fn take_wake(&mut self, at: Timestamp) -> Tick {
        match self.wake.take_if(|wake| *wake <= at) {
            Some(_) => Tick::Woke,
            None => Tick::Stale,
        }
    }

    /// Sets the timer that a tick used up.
    pub(crate) fn set_timer_again(&self, tick: Tick, out: &mut Vec<Command>) {
        // A program that was woken and waits anew has set it already, and a clock that stands still sets it when it
        // goes on.
        let is_set = tick == Tick::Woke && self.wake.is_some();
        if !is_set && !self.is_out_of_time() && !self.clock.is_paused() {
            out.push(self.timer());
        }
    }
}

/// The occasion of a tick of the host's timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tick {
    /// The moment that the program waited for.
    Woke,
    /// A moment that nobody waits for any more.
    Stale,
}
