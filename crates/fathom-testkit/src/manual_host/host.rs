//! A host that does nothing by itself but measuring: each test says what comes back, and when.

use std::sync::Arc;

use fathom_core::effect::{EffectOutcome, EffectRequest, PolicyDecision};
use fathom_core::episode::Episode;
use fathom_core::episode::program::ProgramFactory;
use fathom_core::episode::result::EpisodeResult;
use fathom_core::id::{AskId, EpisodeId, Epoch, RunId};
use fathom_core::journal::event::{
    EpisodeSpec, EventKind, ModelCallOutcome, ReleaseReason, Signal,
};
use fathom_core::model::failure::ModelFailure;
use fathom_core::model::{FinishReason, ModelReply, ModelRequest, ModelRole};
use fathom_core::run::Run;
use fathom_core::run::step::{HostStep, LogPosition, RunWait};
use fathom_core::unit::{Millis, Timestamp};

use super::log::Journal;
use super::samples::{self, BEGIN};

/// A call that went out.
#[derive(Clone, Debug)]
pub struct Sent {
    pub episode: EpisodeId,
    pub ask: AskId,
    pub attempt: u16,
    pub model: ModelRole,
    pub request: ModelRequest,
    pub not_before: Option<Timestamp>,
}

impl Sent {
    /// Input tokens of the request, as the host measures it.
    pub fn input_tokens(&self) -> u64 {
        samples::measure(&self.request, None).input_tokens
    }
}

/// Moment at which the log becomes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disk {
    /// With every record.
    Quick,
    /// On command of the test.
    Slow,
}

/// A run with its log and clock. Only the test moves them on.
pub struct ManualHost {
    pub run: Run,
    pub log: Journal,
    pub now: Timestamp,
    pub disk: Disk,
    /// The window that every request is measured with.
    pub window_tokens: Option<u64>,
    /// The earlier answer to every call that may use one.
    pub recalled: Option<ModelReply>,
    /// Commands to carry out, without measuring and waiting.
    pub steps: Vec<HostStep>,
    /// State that the run waits in, as of the last event.
    pub waiting: Option<RunWait>,
    programs: Arc<dyn ProgramFactory>,
    epoch: Epoch,
}

impl ManualHost {
    /// A desk with no run on it yet.
    pub fn new(programs: impl ProgramFactory + 'static) -> Self {
        let programs: Arc<dyn ProgramFactory> = Arc::new(programs);
        Self {
            run: Run::new(Epoch(1), Arc::clone(&programs)),
            log: Journal::default(),
            now: BEGIN,
            disk: Disk::Quick,
            window_tokens: None,
            recalled: None,
            steps: Vec::new(),
            waiting: None,
            programs,
            epoch: Epoch(1),
        }
    }

    /// A desk with a run that has begun.
    pub fn open(programs: impl ProgramFactory + 'static, started: EpisodeSpec) -> Self {
        let mut desk = Self::new(programs);
        desk.start(started);
        desk
    }

    /// Starts the run with its root episode.
    pub fn start(&mut self, started: EpisodeSpec) {
        let steps = self.run.start(&mut self.log, self.now, started);
        self.take_in(steps);
    }

    fn take_in(&mut self, steps: Vec<HostStep>) {
        let mut fresh = steps;
        self.waiting = None;
        loop {
            if self.disk == Disk::Quick {
                fresh.extend(self.run.durable(self.log.end()));
            }
            let mut measured = Vec::new();
            for step in std::mem::take(&mut fresh) {
                match step {
                    HostStep::Waiting(wait) => self.waiting = Some(wait),
                    HostStep::Measure {
                        episode,
                        ask,
                        request,
                        weigh,
                        recall,
                        said,
                        round,
                        ..
                    } => {
                        let window = self.window_tokens;
                        let mut kind = samples::measured(ask, &request, &weigh, round, window);
                        if let EventKind::Measured { recalled, .. } = &mut kind {
                            let said = said.map(|said| said.again(RunId::from_bytes([7; 16])));
                            let recall = recall.and(self.recalled.clone());
                            *recalled = said.or(recall).map(Box::new);
                        }
                        measured.push((episode, kind));
                    }
                    step => self.steps.push(step),
                }
            }
            if measured.is_empty() {
                return;
            }
            for (episode, kind) in measured {
                self.waiting = None;
                fresh.extend(self.run.deliver(&mut self.log, self.now, episode, kind));
            }
        }
    }

    /// Delivers an event to an episode.
    pub fn deliver(&mut self, episode: &EpisodeId, kind: EventKind) {
        let steps = self
            .run
            .deliver(&mut self.log, self.now, episode.clone(), kind);
        self.take_in(steps);
    }

    /// Delivers a signal to the run.
    pub fn signal(&mut self, signal: &Signal) {
        let steps = self.run.signal(&mut self.log, self.now, signal);
        self.take_in(steps);
    }

    /// The log is durable up to `position`.
    pub fn flush(&mut self, position: LogPosition) {
        for step in self.run.durable(position) {
            match step {
                HostStep::Waiting(wait) => self.waiting = Some(wait),
                step => self.steps.push(step),
            }
        }
    }

    /// Makes the whole log durable.
    pub fn flush_all(&mut self) {
        self.flush(self.log.end());
    }

    /// Moves the clock on.
    pub fn wait(&mut self, span: Millis) {
        self.now = self.now.plus(span);
    }

    /// The next call that went out and was not taken yet.
    #[track_caller]
    pub fn sent(&mut self) -> Sent {
        let place = self
            .steps
            .iter()
            .position(|step| matches!(step, HostStep::Call { .. }));
        let step = place.map(|place| self.steps.remove(place));
        let Some(HostStep::Call {
            episode,
            ask,
            attempt,
            model,
            request,
            not_before,
        }) = step
        else {
            panic!("no call went out; there is {:?}", self.steps);
        };
        Sent {
            episode,
            ask,
            attempt,
            model,
            request,
            not_before,
        }
    }

    /// Number of calls that went out and were not taken yet.
    pub fn calls_out(&self) -> usize {
        self.steps
            .iter()
            .filter(|step| matches!(step, HostStep::Call { .. }))
            .count()
    }

    /// Answers a call that went out.
    pub fn answer(&mut self, sent: &Sent, outcome: ModelCallOutcome) {
        let kind = EventKind::ModelReplied {
            ask: sent.ask,
            attempt: sent.attempt,
            outcome,
            jitter: 0,
        };
        self.deliver(&sent.episode, kind);
    }

    /// Answers a call with a reply of the model.
    pub fn reply(&mut self, sent: &Sent, text: &str) {
        let reply = samples::reply(sent.input_tokens(), text);
        self.answer(sent, ModelCallOutcome::Replied(reply));
    }

    /// A reply that ran into its output cap.
    pub fn cut_reply(&mut self, sent: &Sent, text: &str) {
        let reply = ModelReply {
            ending: FinishReason::Truncated,
            ..samples::reply(sent.input_tokens(), text)
        };
        self.answer(sent, ModelCallOutcome::Replied(reply));
    }

    /// Answers a call with a failure.
    pub fn fail(&mut self, sent: &Sent, failure: ModelFailure) {
        self.answer(sent, ModelCallOutcome::Failed(failure));
    }

    /// Delivers words of a reply that is not complete.
    pub fn delta(&mut self, sent: &Sent, words: &str) {
        let kind = EventKind::ModelDelta {
            ask: sent.ask,
            attempt: sent.attempt,
            text: words.into(),
        };
        self.deliver(&sent.episode, kind);
    }

    /// Answers the next call that went out.
    #[track_caller]
    pub fn reply_next(&mut self, text: &str) -> Sent {
        let sent = self.sent();
        self.reply(&sent, text);
        sent
    }

    #[track_caller]
    fn effect_step(&mut self, wanted: fn(&HostStep) -> Option<(&EpisodeId, AskId)>) -> Place {
        let place = self.steps.iter().position(|step| wanted(step).is_some());
        let Some(place) = place else {
            panic!("no such step; there is {:?}", self.steps);
        };
        match self.steps.remove(place) {
            HostStep::Decide {
                episode,
                ask,
                effect,
            }
            | HostStep::Reconcile {
                episode,
                ask,
                effect,
            } => Place {
                episode,
                ask,
                effect,
            },
            HostStep::Attempt(permit) => Place {
                episode: permit.episode().clone(),
                ask: permit.ask(),
                effect: permit.effect().clone(),
            },
            other => panic!("{other:?} is no step of an effect"),
        }
    }

    /// The gateway decides about the effect that was proposed first.
    #[track_caller]
    pub fn decide(&mut self, decision: PolicyDecision) -> Place {
        let place = self.effect_step(|step| match step {
            HostStep::Decide { episode, ask, .. } => Some((episode, *ask)),
            _ => None,
        });
        let kind = EventKind::decided(place.ask, decision);
        self.deliver(&place.episode, kind);
        place
    }

    /// The gateway allows the effect that was proposed first.
    #[track_caller]
    pub fn allow(&mut self) -> Place {
        self.decide(PolicyDecision::Allow {
            rules: vec!["tests may post".into()],
        })
    }

    /// The effect that is to be carried out next.
    #[track_caller]
    pub fn attempt(&mut self) -> Place {
        self.effect_step(|step| match step {
            HostStep::Attempt(permit) => Some((permit.episode(), permit.ask())),
            _ => None,
        })
    }

    /// The effect that the platform is to be asked about next.
    #[track_caller]
    pub fn reconcile(&mut self) -> Place {
        self.effect_step(|step| match step {
            HostStep::Reconcile { episode, ask, .. } => Some((episode, *ask)),
            _ => None,
        })
    }

    /// Settles an effect.
    pub fn settle(&mut self, place: &Place, outcome: EffectOutcome) {
        let kind = EventKind::settled(place.ask, outcome);
        self.deliver(&place.episode, kind);
    }

    /// Moves the clock to the last timer that was set for `episode` and lets it ring.
    #[track_caller]
    pub fn ring(&mut self, episode: &EpisodeId) {
        let at = self.steps.iter().rev().find_map(|step| match step {
            HostStep::Timer { episode: e, at } if e == episode => Some(*at),
            _ => None,
        });
        let Some(at) = at else {
            panic!("no timer of {episode}; there is {:?}", self.steps);
        };
        self.now = self.now.max(at);
        self.deliver(episode, EventKind::Tick);
    }

    /// The calls that were given up, in order.
    pub fn cancelled(&self) -> Vec<(EpisodeId, AskId, u16)> {
        self.steps
            .iter()
            .filter_map(|step| match step {
                HostStep::Cancel {
                    episode,
                    ask,
                    attempt,
                } => Some((episode.clone(), *ask, *attempt)),
                _ => None,
            })
            .collect()
    }

    /// Result of the root, once it is durable and reported.
    #[track_caller]
    pub fn result(&self) -> &EpisodeResult {
        let told = self.steps.iter().find_map(|step| match step {
            HostStep::Finished(result) => Some(&**result),
            _ => None,
        });
        match told {
            Some(result) => result,
            None => panic!("the run is not over; there is {:?}", self.steps),
        }
    }

    /// True once the run has a result.
    pub fn is_over(&self) -> bool {
        self.run.result().is_some()
    }

    /// The owner leaves, and another takes over `later`.
    pub fn hand_over(&mut self, why: ReleaseReason, later: Millis) {
        self.run.release(&mut self.log, self.now, why);
        self.wait(later);
        self.take_over();
    }

    /// The owner dies; its first `keep` records are all that another finds.
    pub fn crash(&mut self, keep: usize) {
        self.log.cut(keep);
        self.take_over();
    }

    /// A new owner reads the journal and continues. The fold must give what was recorded.
    pub fn take_over(&mut self) {
        self.epoch = Epoch(self.epoch.0 + 1);
        self.run = refold(&self.log, self.epoch, &self.programs);
        self.steps.clear();
        self.run.durable(self.log.end());
        let steps = self.run.resume(&mut self.log, self.now);
        self.take_in(steps);
    }

    /// Looks at an episode that is not over.
    #[track_caller]
    pub fn episode(&self, id: &EpisodeId) -> &Episode {
        match self.run.live().find(|(live, _)| *live == id) {
            Some((_, episode)) => episode,
            None => panic!("{id} is not live"),
        }
    }
}

/// An effect on its way.
#[derive(Clone, Debug)]
pub struct Place {
    pub episode: EpisodeId,
    pub ask: AskId,
    pub effect: EffectRequest,
}

/// Folds a journal again; each record must give the commands that were written down with it.
pub fn refold(log: &Journal, epoch: Epoch, programs: &Arc<dyn ProgramFactory>) -> Run {
    let mut run = Run::new(epoch, Arc::clone(programs));
    for entry in &log.entries {
        let difference = run.refold(&entry.episode, &entry.record, entry.head);
        assert_eq!(difference, None, "a replay differs");
    }
    run
}

/// The id of the episode at `path` below the root.
pub fn at(path: &[u32]) -> EpisodeId {
    path.iter()
        .fold(EpisodeId::root(), |id, &ordinal| id.child(ordinal))
}
