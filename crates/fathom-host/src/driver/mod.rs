//! Drives one run: journals and folds what happens, carries out what follows, until it ends or is let go.

pub(crate) mod answer_cache;
mod host_commands;
mod inbox;
mod model_call;
pub(crate) mod recorder;
pub(crate) mod sandbox_sessions;
pub(crate) mod session_history;
mod signals;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use fathom_core::budget::ledger::Ledger;
use fathom_core::effect::KillScope;
use fathom_core::episode::result::EpisodeResult;
use fathom_core::id::{AskId, EpisodeId, RunId};
use fathom_core::journal::event::{EpisodeSpec, EventKind, ReleaseReason};
use fathom_core::model::{
    CountPrecision, ModelPrice, ModelReply, ModelRequest, ModelRole, RequestEstimate, ReuseGrant,
};
use fathom_core::run::Run;
use fathom_core::run::step::{HostStep, RunWait};
use fathom_core::unit::Timestamp;
use fathom_models::{CallLimiter, Model};
use fathom_store::{CommitDurability, Journal, RunLock, SignalId, StoreError};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::clock::{Clock, until};
use crate::domains::DomainStores;
use crate::driver::answer_cache::{AnswerCache, CacheKey, EarlierReplies};
use crate::driver::host_commands::note;
pub(crate) use crate::driver::inbox::{DriverEvent, INBOX_MAX};
use crate::driver::model_call::{CallHandle, CallKey, ModelCall, never_sent};
use crate::driver::recorder::RecordWriter;
use crate::driver::sandbox_sessions::SandboxSessions;
use crate::effects::port::{EffectCaller, EffectDecision, EffectSettlement, GuardedPort};
use crate::error::HostError;
use crate::models::embedded::EmbeddedModels;
use crate::models::run_models::RunModels;
use crate::view::run::RunView;

/// Interval between two looks for signals of other processes.
const LOOK: Duration = Duration::from_millis(50);

/// Looks for news, a microsecond or two each, before the thread sleeps.
const LINGER_TURNS: u32 = 100;

/// The end of a run's work in this process.
#[derive(Debug)]
pub enum RunEnd {
    /// It is over, and that is durable.
    Finished(Box<EpisodeResult>),
    /// Nothing moves until a person acts; it can be resumed.
    Waiting(RunWait),
    /// It was interrupted; it can be resumed.
    Interrupted,
    /// The host could not go on; what was durable is kept and can be resumed.
    Failed(HostError),
}

pub(crate) struct RunDriver {
    pub(crate) id: RunId,
    /// The spec of the root, for those who decide about its effects.
    pub(crate) root: Arc<EpisodeSpec>,
    pub(crate) run: Run<Ledger>,
    pub(crate) recorder: RecordWriter,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) models: RunModels,
    pub(crate) embedded: Arc<EmbeddedModels>,
    /// Earlier answers; none when their index cannot be used.
    pub(crate) memory: Option<Arc<AnswerCache>>,
    pub(crate) limiter: Arc<CallLimiter>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) passage: GuardedPort,
    pub(crate) cells: SandboxSessions,
    pub(crate) domains: Arc<DomainStores>,
    pub(crate) interrupt: Arc<Notify>,
    pub(crate) shown: watch::Sender<RunView>,
    /// Held as long as the run is owned.
    pub(crate) lock: RunLock,
    pub(crate) events: mpsc::Sender<DriverEvent>,
    pub(crate) inbox: mpsc::Receiver<DriverEvent>,
    pub(crate) state: DriverState,
}

/// State that the driver keeps between two events.
#[derive(Default)]
pub(crate) struct DriverState {
    calls: BTreeMap<CallKey, CallHandle>,
    timers: BTreeSet<(Timestamp, EpisodeId)>,
    /// Calls whose answers are worth knowing later.
    wanted: BTreeMap<(EpisodeId, AskId), CacheKey>,
    /// Replies of earlier runs, as far as they were looked for.
    earlier: EarlierReplies,
    signals_seen: SignalId,
    kills: Vec<KillScope>,
    has_news: bool,
    /// Over when the last block that was said is delivered.
    pub(crate) speaking: Option<oneshot::Receiver<()>>,
    /// Blocks on their way.
    pub(crate) deliveries: JoinSet<()>,
}

impl RunDriver {
    /// Drives the run from its first steps to its end.
    pub(crate) async fn drive(mut self, first: Vec<HostStep>) -> RunEnd {
        let end = self.work(first).await;
        for (key, call) in std::mem::take(&mut self.state.calls) {
            call.abort(&key);
        }
        // The next owner delivers what is left: nobody else may then be at it.
        self.state.deliveries.shutdown().await;
        let end = match end {
            Ok(end) => self.leave(end).await.unwrap_or_else(RunEnd::Failed),
            Err(error) => RunEnd::Failed(error),
        };
        self.shown.send_replace(self.recorder.story.clone());
        drop(self.lock);
        end
    }

    async fn work(&mut self, first: Vec<HostStep>) -> Result<RunEnd, HostError> {
        let mut durable = self.recorder.log().durability();
        // The first records were appended before anyone listened: what became of them is news.
        durable.mark_changed();
        let mut look = tokio::time::interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut steps = VecDeque::from(first);
        // What was said while nobody owned the run comes before anything is sent.
        self.look(&mut steps)?;
        loop {
            while let Some(step) = steps.pop_front() {
                if let Some(end) = self.take(step, &mut steps) {
                    return Ok(end);
                }
            }
            if let Some(failure) = &self.recorder.failure {
                return Err(failure.clone().into());
            }
            // Asked for here, not when the step came: a signal may have moved things on meanwhile.
            if let Some(wait) = self.run.waiting().filter(|_| !self.run.awaits_log()) {
                return Ok(RunEnd::Waiting(wait));
            }
            let timer = self.state.timers.first().map(|(at, _)| *at);
            let awaits_log = self.run.awaits_log();
            // What is durable meanwhile is looked at first: it may be all that is waited for.
            if awaits_log && !durable.has_changed().unwrap_or(true) {
                self.recorder.log().urge();
            }
            tokio::select! {
                biased;
                // Nobody is woken by a disk that nothing waits for.
                changed = durable.changed(), if awaits_log => {
                    if changed.is_err() {
                        return Err(StoreError::Closed.into());
                    }
                    let upto = match &*durable.borrow_and_update() {
                        CommitDurability::Upto(upto) => *upto,
                        CommitDurability::Failed { reason, .. } => return Err(reason.clone().into()),
                    };
                    steps.extend(self.run.durable(upto));
                }
                () = self.interrupt.notified() => return Ok(RunEnd::Interrupted),
                Some(input) = self.inbox.recv() => {
                    self.deliver(input, &mut steps);
                }
                () = wait_for(&*self.clock, timer), if timer.is_some() => self.tick(&mut steps),
                _ = look.tick() => self.look(&mut steps)?,
                () = linger() => {}
            }
        }
    }

    /// Carries out a step. A run that ends says so.
    fn take(&mut self, step: HostStep, steps: &mut VecDeque<HostStep>) -> Option<RunEnd> {
        match step {
            HostStep::Measure {
                episode,
                ask,
                model,
                request,
                weigh,
                recall,
                said,
                round,
            } => {
                let model = Arc::clone(self.models.get(model));
                let recalled = match said {
                    Some(said) => Some(said.again(self.id)),
                    None => recall.and_then(|recall| {
                        self.recall((&episode, ask), &*model, &request, &recall)
                    }),
                };
                let kind = EventKind::Measured {
                    ask,
                    // A count that fails does not stop the run: what is reserved too much is given back, too little would
                    // overrun.
                    measured: model
                        .measure(&request)
                        .unwrap_or_else(|_| upper_bound(&request)),
                    weights: weigh.iter().map(|t| model.count(t.as_str())).collect(),
                    recalled: recalled.map(Box::new),
                    round,
                };
                self.deliver(DriverEvent { episode, kind }, steps);
            }
            HostStep::Call {
                episode,
                ask,
                attempt,
                model,
                request,
                not_before,
            } => self.call(
                CallKey {
                    episode,
                    ask,
                    attempt,
                },
                model,
                request,
                not_before,
            ),
            HostStep::Cancel {
                episode,
                ask,
                attempt,
            } => {
                let key = CallKey {
                    episode,
                    ask,
                    attempt,
                };
                let answer = match self.state.calls.remove(&key) {
                    Some(call) => call.abort(&key),
                    None => never_sent(&key),
                };
                self.deliver(answer, steps);
            }
            HostStep::Timer { episode, at } => {
                // An episode has one timer: a pause of its clock moves the deadline that the old one was for.
                self.state.timers.retain(|(_, waiting)| *waiting != episode);
                self.state.timers.insert((at, episode));
            }
            HostStep::Decide { .. } | HostStep::Attempt(_) | HostStep::Reconcile { .. } => {
                self.effect(step);
            }
            HostStep::Host {
                episode,
                ask,
                command,
            } => self.host((episode, ask), command, steps),
            HostStep::Over { episode } => self.cells.close(&episode),
            HostStep::Emit { episode, block } => {
                note(&episode, &block);
            }
            HostStep::Waiting(_) => {}
            HostStep::Finished(result) => return Some(RunEnd::Finished(result)),
        }
        None
    }

    /// Looks for an earlier answer, and remembers what was wanted in case there is none.
    fn recall(
        &mut self,
        (episode, ask): (&EpisodeId, AskId),
        model: &dyn Model,
        request: &ModelRequest,
        recall: &ReuseGrant,
    ) -> Option<ModelReply> {
        let memory = self.memory.as_ref()?;
        let name = format!("{} at {}", model.id(), model.endpoint());
        let now = self.clock.now();
        let (wanted, reply) = memory.recall(&name, request, recall, now, &mut self.state.earlier);
        if reply.is_none() {
            self.state.wanted.insert((episode.clone(), ask), wanted);
        }
        reply
    }

    fn call(
        &mut self,
        key: CallKey,
        model: ModelRole,
        request: ModelRequest,
        not_before: Option<Timestamp>,
    ) {
        let call = ModelCall {
            key: key.clone(),
            model: Arc::clone(self.models.get(model)),
            limiter: Arc::clone(&self.limiter),
            clock: Arc::clone(&self.clock),
            request,
            not_before,
            events: self.events.clone(),
        };
        self.state.calls.insert(key, call.start());
    }

    /// Takes an effect to the port and brings the answer back as an event.
    fn effect(&self, step: HostStep) {
        let passage = self.passage.clone();
        let events = self.events.clone();
        let (episode, ask) = match &step {
            HostStep::Decide { episode, ask, .. } | HostStep::Reconcile { episode, ask, .. } => {
                (episode.clone(), *ask)
            }
            HostStep::Attempt(permit) => (permit.episode().clone(), permit.ask()),
            _ => return,
        };
        // An episode that has ended waits for no outcome, and nothing may be sent in its name.
        let Some((_, asking)) = self.run.live().find(|(id, _)| **id == episode) else {
            return;
        };
        let asker = EffectCaller {
            run: self.id,
            root: Arc::clone(&self.root),
            episode: episode.clone(),
            ask,
            role: asking.started().role,
            autonomy: asking.started().contract.autonomy,
            at: self.clock.now(),
        };
        tokio::spawn(async move {
            let settled = match step {
                HostStep::Decide { effect, .. } => {
                    let EffectDecision { decision, grounds } =
                        passage.decide(&effect, &asker).await;
                    let kind = EventKind::EffectDecided {
                        ask,
                        decision,
                        grounds,
                    };
                    let _ = events.send(DriverEvent { episode, kind }).await;
                    return;
                }
                HostStep::Attempt(permit) => passage.attempt(permit, &asker).await,
                HostStep::Reconcile { effect, .. } => passage.reconcile(&effect, &asker).await,
                _ => return,
            };
            let EffectSettlement { outcome, evidence } = settled;
            let kind = EventKind::EffectSettled {
                ask,
                outcome,
                evidence,
            };
            let _ = events.send(DriverEvent { episode, kind }).await;
        });
    }

    /// Leaves the run so that the next owner finds everything.
    async fn leave(&mut self, end: RunEnd) -> Result<RunEnd, HostError> {
        let why = match &end {
            RunEnd::Finished(_) => return Ok(end),
            RunEnd::Waiting(RunWait::Approval) => ReleaseReason::AwaitingApproval,
            RunEnd::Waiting(RunWait::Outage(_)) => ReleaseReason::Outage,
            RunEnd::Interrupted | RunEnd::Failed(_) => ReleaseReason::Interrupted,
        };
        self.run.release(&mut self.recorder, self.clock.now(), why);
        if let Some(failure) = &self.recorder.failure {
            return Err(failure.clone().into());
        }
        self.recorder.log().durable(self.recorder.last).await?;
        Ok(end)
    }
}

/// Never ends, but keeps the thread awake for a while: to be woken takes longer than many an answer.
async fn linger() {
    for _ in 0..LINGER_TURNS {
        tokio::task::yield_now().await;
    }
    std::future::pending::<()>().await;
}

/// A bound that holds for any tokenizer: no token is shorter than a byte.
fn upper_bound(request: &ModelRequest) -> RequestEstimate {
    const TEMPLATE_TOKENS: u64 = 16;
    let bytes = |text: &str| text.len() as u64;
    let messages = request.messages.iter();
    let input_tokens = messages
        .map(|message| bytes(message.text.as_str()) + TEMPLATE_TOKENS)
        .sum();
    RequestEstimate {
        input_tokens,
        exactness: CountPrecision::UpperBound,
        window_tokens: None,
        price: ModelPrice::default(),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the driver waits for its timers here, beside everything else it waits for"
)]
async fn wait_for(clock: &dyn Clock, at: Option<Timestamp>) {
    if let Some(at) = at {
        tokio::time::sleep(until(clock, at)).await;
    }
}
