//! Number of threads on a machine with other load.
//!
//! The engine's threads wait for each other after every layer by spinning. If other processes keep one of them
//! from its core, the rest waste their time, and a token can take a hundred times as long. So the engine's
//! thread measures how long it was kept waiting; if that is much, the model continues with a single thread,
//! which waits for none.

use std::fs;
use std::time::{Duration, Instant};

/// Length of one measurement.
const SPAN: Duration = Duration::from_millis(250);
/// Share of the time spent waiting for a core above which one thread is better, in percent.
const WAITING_PERCENT_MAX: u128 = 15;
/// Time with one thread before all are tried again, at first and at most.
const RETRY_FIRST: Duration = Duration::from_secs(5);
const RETRY_MAX: Duration = Duration::from_mins(5);

pub(crate) struct LoadMonitor {
    all: u32,
    threads: u32,
    begin: Option<(Instant, Duration)>,
    reduced_at: Option<Instant>,
    retry_after: Duration,
}

impl LoadMonitor {
    pub(crate) fn new(threads: u32) -> Self {
        Self {
            all: threads,
            threads,
            begin: None,
            reduced_at: None,
            retry_after: RETRY_FIRST,
        }
    }

    pub(crate) fn threads(&self) -> u32 {
        self.threads
    }

    /// Called while the engine is idle. Returns true if another number of threads is to be tried.
    pub(crate) fn rest(&mut self, now: Instant) -> bool {
        self.begin = None;
        let due = self
            .reduced_at
            .is_some_and(|at| now - at >= self.retry_after);
        if due {
            self.threads = self.all;
            self.reduced_at = None;
            self.retry_after = (self.retry_after * 2).min(RETRY_MAX);
        }
        due
    }

    /// Called after each step. Returns true if the number of threads has changed.
    pub(crate) fn step(&mut self, now: Instant, waited: Option<Duration>) -> bool {
        let Some(waited) = waited.filter(|_| self.threads > 1) else {
            return false;
        };
        let Some((begin, waited_then)) = self.begin else {
            self.begin = Some((now, waited));
            return false;
        };
        let span = now - begin;
        if span < SPAN {
            return false;
        }
        self.begin = Some((now, waited));
        let waiting = waited.saturating_sub(waited_then);
        if waiting.as_nanos() * 100 <= span.as_nanos() * WAITING_PERCENT_MAX {
            self.retry_after = RETRY_FIRST;
            return false;
        }
        self.threads = 1;
        self.begin = None;
        self.reduced_at = Some(now);
        true
    }
}

/// Time for which this thread was ready but not running; `None` if the system does not report it.
pub(crate) fn waited() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{LoadMonitor, RETRY_FIRST, SPAN};
    use crate::engine::cpu;

    #[test]
    fn waiting_costs_threads_and_rest_brings_them_back() {
        let begin = cpu::now();
        let mut strain = LoadMonitor::new(2);
        assert!(!strain.step(begin, Some(Duration::ZERO)));
        assert!(
            !strain.step(begin + SPAN, Some(SPAN / 20)),
            "a little waiting is nothing"
        );
        assert!(
            !strain.step(begin + SPAN * 3 / 2, Some(SPAN)),
            "too soon to tell"
        );
        assert!(strain.step(begin + SPAN * 2, Some(SPAN)));
        assert_eq!(strain.threads(), 1);
        assert!(
            !strain.step(begin + SPAN * 4, Some(SPAN * 3)),
            "one thread stays one"
        );
        let reduced = begin + SPAN * 2;
        assert!(!strain.rest(reduced + RETRY_FIRST / 2));
        assert!(strain.rest(reduced + RETRY_FIRST));
        assert_eq!(strain.threads(), 2);
    }

    #[test]
    fn a_second_failure_waits_longer() {
        let begin = cpu::now();
        let mut strain = LoadMonitor::new(4);
        strain.step(begin, Some(Duration::ZERO));
        assert!(strain.step(begin + SPAN, Some(SPAN)));
        let later = begin + SPAN + RETRY_FIRST;
        assert!(strain.rest(later));
        strain.step(later, Some(SPAN));
        assert!(strain.step(later + SPAN, Some(SPAN * 2)));
        assert!(!strain.rest(later + SPAN + RETRY_FIRST));
        assert!(strain.rest(later + SPAN + RETRY_FIRST * 2));
    }

    #[test]
    fn a_system_that_does_not_say_keeps_its_threads() {
        let begin = cpu::now();
        let mut strain = LoadMonitor::new(2);
        assert!(!strain.step(begin, None) && !strain.step(begin + SPAN, None));
        assert_eq!(strain.threads(), 2);
    }
}
