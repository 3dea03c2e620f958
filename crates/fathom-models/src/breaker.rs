//! Circuit breaker: stops calling a server that keeps failing, and tries it again after a while.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fathom_core::model::failure::{FailureKind, ModelFailure};
use tokio::time::Instant;

use crate::clock;
use crate::http::classify_failure;
use crate::http::endpoint::EndpointId;

/// Consecutive failures that open the circuit.
pub const BREAKER_FAILURES: usize = 5;
/// Time within which they must occur.
pub const BREAKER_WINDOW: Duration = Duration::from_mins(1);
/// Time for which the circuit stays open before one call may try.
pub const BREAKER_COOL_DOWN: Duration = Duration::from_secs(15);

/// One server's circuit breaker.
#[derive(Debug)]
pub(crate) struct CircuitBreaker {
    endpoint: EndpointId,
    circuit: Mutex<CircuitState>,
}

#[derive(Debug)]
enum CircuitState {
    /// Calls pass. Holds the times of the latest consecutive failures.
    Closed(VecDeque<Instant>),
    /// Calls fail at once.
    Open { until: Instant },
    /// One call is trying; the others fail at once.
    Probing,
}

impl CircuitState {
    fn closed() -> Self {
        Self::Closed(VecDeque::with_capacity(BREAKER_FAILURES))
    }

    fn opened() -> Self {
        Self::Open {
            until: clock::now() + BREAKER_COOL_DOWN,
        }
    }
}

/// Role of a call in the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallKind {
    Call,
    Probe,
}

/// Permit for one call. Report the outcome; a permit dropped without a report does not count.
#[derive(Debug)]
pub(crate) struct BreakerPermit {
    breaker: Arc<CircuitBreaker>,
    errand: CallKind,
    begun: Instant,
    settled: bool,
}

impl CircuitBreaker {
    pub(crate) fn new(endpoint: EndpointId) -> Self {
        Self {
            endpoint,
            circuit: Mutex::new(CircuitState::closed()),
        }
    }

    /// Admits a call, or returns the reason for refusing it.
    pub(crate) fn admit(self: &Arc<Self>) -> Result<BreakerPermit, ModelFailure> {
        let mut circuit = self.lock();
        let errand = match &*circuit {
            CircuitState::Closed(_) => CallKind::Call,
            CircuitState::Open { until } => {
                let left = until.saturating_duration_since(clock::now());
                if !left.is_zero() {
                    return Err(self.refusal(left));
                }
                // Before the lock is released, so that exactly one call becomes the probe.
                *circuit = CircuitState::Probing;
                CallKind::Probe
            }
            CircuitState::Probing => return Err(self.refusal(Duration::ZERO)),
        };
        drop(circuit);
        Ok(BreakerPermit {
            breaker: Arc::clone(self),
            errand,
            begun: clock::now(),
            settled: false,
        })
    }

    fn refusal(&self, left: Duration) -> ModelFailure {
        let endpoint = &self.endpoint;
        let detail = if left.is_zero() {
            format!("{endpoint} kept failing and one call is trying it now")
        } else {
            let seconds = left.as_secs_f64();
            format!("{endpoint} kept failing: not asked again for another {seconds:.1} s")
        };
        ModelFailure {
            retry_after: Some(classify_failure::millis(left)),
            ..ModelFailure::unsent(FailureKind::CircuitOpen, detail)
        }
    }

    fn lock(&self) -> MutexGuard<'_, CircuitState> {
        self.circuit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BreakerPermit {
    /// Reports the outcome of the call: `None` for a reply.
    pub(crate) fn settle(mut self, failed: Option<FailureKind>) {
        self.settled = true;
        let mut circuit = self.breaker.lock();
        match failed {
            // Parallel calls that fail together count as one failure, not as many in a row. Each of those that
            // time out has waited long enough to count by itself.
            Some(FailureKind::Connection | FailureKind::Server) if self.is_told(&circuit) => {}
            Some(FailureKind::Connection | FailureKind::Server | FailureKind::Timeout) => {
                self.note_failure(&mut circuit);
            }
            Some(FailureKind::Cancelled | FailureKind::CircuitOpen) => self.step_back(&mut circuit),
            // Any other answer shows that the server is there.
            Some(
                FailureKind::RateLimited
                | FailureKind::Auth
                | FailureKind::Rejected
                | FailureKind::Refused
                | FailureKind::Empty
                | FailureKind::Truncated
                | FailureKind::Malformed
                | FailureKind::TooLarge,
            )
            | None => *circuit = CircuitState::closed(),
        }
    }

    /// True if a failure was recorded after this call had started.
    fn is_told(&self, circuit: &CircuitState) -> bool {
        match circuit {
            CircuitState::Closed(failures) => {
                failures.back().is_some_and(|last| self.begun < *last)
            }
            CircuitState::Open { .. } | CircuitState::Probing => false,
        }
    }

    fn note_failure(&self, circuit: &mut CircuitState) {
        match (&mut *circuit, self.errand) {
            (CircuitState::Closed(failures), _) => {
                let now = clock::now();
                // The window slides: only the latest failures decide.
                failures.push_back(now);
                if failures.len() > BREAKER_FAILURES {
                    failures.pop_front();
                }
                let recent = failures
                    .front()
                    .is_some_and(|first| now - *first <= BREAKER_WINDOW);
                if failures.len() == BREAKER_FAILURES && recent {
                    tracing::warn!(endpoint = %self.breaker.endpoint, "circuit opened");
                    *circuit = CircuitState::opened();
                }
            }
            (CircuitState::Probing, CallKind::Probe) => *circuit = CircuitState::opened(),
            // A call from before the circuit opened: its failure is known already.
            (CircuitState::Open { .. } | CircuitState::Probing, _) => {}
        }
    }

    /// A probe without an outcome lets the next call try.
    fn step_back(&self, circuit: &mut CircuitState) {
        if self.errand == CallKind::Probe && matches!(circuit, CircuitState::Probing) {
            *circuit = CircuitState::Open {
                until: clock::now(),
            };
        }
    }
}

impl Drop for BreakerPermit {
    fn drop(&mut self) {
        if !self.settled {
            let mut circuit = self.breaker.lock();
            self.step_back(&mut circuit);
        }
    }
}

#[cfg(test)]
#[path = "breaker_tests.rs"]
mod tests;
