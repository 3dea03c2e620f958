//! One model call on its way: waits its turn, goes out once, and comes back as events.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::event::{EventKind, ModelCallOutcome};
use fathom_core::model::failure::{CallBilling, FailureKind, ModelFailure};
use fathom_core::model::{ModelRequest, ReplyMode};
use fathom_core::text::Text;
use fathom_core::unit::Timestamp;
use fathom_models::{CallLimiter, Model};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::MissedTickBehavior;

use crate::clock::{Clock, until};
use crate::driver::DriverEvent;

/// A stream's words are gathered for this long before they become one event.
const SEGMENT: Duration = Duration::from_millis(100);

/// Names one attempt at one call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallKey {
    pub(crate) episode: EpisodeId,
    pub(crate) ask: AskId,
    pub(crate) attempt: u16,
}

impl CallKey {
    fn input(&self, kind: EventKind) -> DriverEvent {
        DriverEvent {
            episode: self.episode.clone(),
            kind,
        }
    }

    fn replied(&self, outcome: ModelCallOutcome) -> DriverEvent {
        self.input(EventKind::ModelReplied {
            ask: self.ask,
            attempt: self.attempt,
            jitter: jitter_of(&outcome),
            outcome,
        })
    }
}

/// A call that is under way, and the means to give it up.
pub(crate) struct CallHandle {
    task: AbortHandle,
    sent: Arc<AtomicBool>,
}

impl CallHandle {
    /// Gives the call up. Whether it may be billed depends on whether it went out.
    pub(crate) fn abort(&self, key: &CallKey) -> DriverEvent {
        self.task.abort();
        let billing = if self.sent.load(Ordering::SeqCst) {
            CallBilling::Perhaps
        } else {
            CallBilling::Nothing
        };
        let failure = ModelFailure {
            billing,
            ..ModelFailure::unsent(FailureKind::Cancelled, "given up")
        };
        key.replied(ModelCallOutcome::Failed(failure))
    }
}

/// Answers for a call that was given up before it was even under way.
pub(crate) fn never_sent(key: &CallKey) -> DriverEvent {
    let failure = ModelFailure::unsent(FailureKind::Cancelled, "given up before it was sent");
    key.replied(ModelCallOutcome::Failed(failure))
}

/// A model call before it is sent.
pub(crate) struct ModelCall {
    pub(crate) key: CallKey,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) limiter: Arc<CallLimiter>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) request: ModelRequest,
    pub(crate) not_before: Option<Timestamp>,
    pub(crate) events: mpsc::Sender<DriverEvent>,
}

impl ModelCall {
    /// Sends the call on its way.
    pub(crate) fn start(self) -> CallHandle {
        let sent = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(self.run(Arc::clone(&sent))).abort_handle();
        CallHandle { task, sent }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a retry waits here, where giving the call up also ends the waiting"
    )]
    async fn run(self, sent: Arc<AtomicBool>) {
        if let Some(at) = self.not_before {
            tokio::time::sleep(until(&*self.clock, at)).await;
        }
        let permit = self.limiter.acquire(self.model.endpoint()).await;
        // Set before the request is handed over: a call that is given up in between counts as perhaps billed, never as
        // free.
        sent.store(true, Ordering::SeqCst);
        let outcome = self.call().await;
        if let ModelCallOutcome::Failed(failure) = &outcome
            && failure.kind == FailureKind::RateLimited
            && let Some(pause) = failure.retry_after
        {
            self.limiter.pause(self.model.endpoint(), pause.into());
        }
        drop(permit);
        // A closed channel means that the run was let go of: nobody waits for the answer.
        let _ = self.events.send(self.key.replied(outcome)).await;
    }

    async fn call(&self) -> ModelCallOutcome {
        let heard = Mutex::new(String::new());
        let mut hear = |words: &str| {
            heard
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push_str(words);
        };
        let reply = self.model.call(&self.request, &mut hear);
        let reply = match self.request.delivery {
            ReplyMode::Whole => reply.await,
            ReplyMode::Streamed => {
                let mut reply = reply;
                let mut segments = tokio::time::interval(SEGMENT);
                segments.set_missed_tick_behavior(MissedTickBehavior::Delay);
                // The first tick of an interval comes at once.
                segments.tick().await;
                loop {
                    tokio::select! {
                        biased;
                        reply = &mut reply => break reply,
                        _ = segments.tick() => {
                            let words = std::mem::take(
                                &mut *heard.lock().unwrap_or_else(PoisonError::into_inner),
                            );
                            self.pass_on(words).await;
                        }
                    }
                }
            }
        };
        match reply {
            Ok(reply) => ModelCallOutcome::Replied(reply),
            Err(failure) => ModelCallOutcome::Failed(failure),
        }
    }

    async fn pass_on(&self, words: String) {
        if words.is_empty() {
            return;
        }
        let kind = EventKind::ModelDelta {
            ask: self.key.ask,
            attempt: self.key.attempt,
            text: Text::new(words),
        };
        let _ = self.events.send(self.key.input(kind)).await;
    }
}

/// Random bits for the pause before a retry; without a source of them every pause is the longest.
fn jitter_of(outcome: &ModelCallOutcome) -> u16 {
    let mut bits = [0xff; 2];
    if let ModelCallOutcome::Failed(_) = outcome {
        let _ = getrandom::fill(&mut bits);
    }
    u16::from_le_bytes(bits)
}
