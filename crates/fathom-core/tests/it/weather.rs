//! A host that does everything a host may do, in any order: it answers late, fails, loses the tail of its
//! log, is killed and comes back. It keeps the bill that the providers would send.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fathom_core::budget::amounts::Amounts;
use fathom_core::budget::ledger::BudgetAccounts;
use fathom_core::effect::{EffectOutcome, KillScope, PolicyDecision};
use fathom_core::episode::program::ProgramFactory;
use fathom_core::episode::{Episode, billed};
use fathom_core::id::{AskId, EpisodeId, Epoch};
use fathom_core::journal::event::{
    EpisodeSpec, EventKind, ModelCallOutcome, ReleaseReason, Signal,
};
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{FinishReason, ModelReply, ModelRequest, RequestEstimate};
use fathom_core::run::Run;
use fathom_core::run::step::{HostStep, LogPosition, RunWait};
use fathom_core::unit::{Millis, Timestamp};

use fathom_testkit::manual_host::host::refold;
use fathom_testkit::manual_host::log::Journal;
use fathom_testkit::manual_host::samples::{self, BEGIN, BINDING, terms};
use fathom_testkit::manual_host::scripted_program::Scripts;

/// No run of these tests needs more moves than this to end.
const MOVES_MAX: usize = 6_000;

/// What the contract of the trees allows over a whole tree.
const EPISODES_MAX: u64 = 12;

/// Names one attempt at a call.
type Wire = (EpisodeId, AskId, u16);

/// Choices, made beforehand. When they are used up, everything goes well.
struct Dice {
    rolls: std::vec::IntoIter<u8>,
}

impl Dice {
    /// A number below `faces`; zero once the choices are used up.
    fn roll(&mut self, faces: usize) -> usize {
        usize::from(self.rolls.next().unwrap_or(0)) % faces.max(1)
    }
}

/// Something the host was asked to do and has not answered yet.
enum Work {
    Measure(EpisodeId, EventKind),
    Call(Wire, ModelRequest),
    /// A call that was given up.
    Cancel(Wire),
    Decide(EpisodeId, AskId),
    Attempt(EpisodeId, AskId),
    Reconcile(EpisodeId, AskId),
}

/// What may happen to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Climate {
    /// Calls fail and people wait, but the owner lives.
    Fair,
    /// The owner dies now and then.
    Stormy,
    /// As stormy, and providers say that calls took more than was asked for.
    Dishonest,
}

pub(crate) struct Weather {
    programs: Arc<dyn ProgramFactory>,
    run: Run,
    pub(crate) log: Journal,
    limit: Amounts,
    now: Timestamp,
    epoch: Epoch,
    durable: usize,
    work: Vec<Work>,
    timers: BTreeMap<EpisodeId, Timestamp>,
    /// Calls on the wire, at the most they can cost.
    wires: BTreeMap<Wire, Amounts>,
    /// What providers have billed for sure.
    bill: Amounts,
    waiting: Option<RunWait>,
    dice: Dice,
    climate: Climate,
    pub(crate) crashes: usize,
    told_over: bool,
    said: usize,
}

impl Weather {
    pub(crate) fn new(
        scripts: Scripts,
        started: EpisodeSpec,
        climate: Climate,
        rolls: Vec<u8>,
    ) -> Self {
        let programs: Arc<dyn ProgramFactory> = Arc::new(scripts);
        let mut weather = Self {
            run: Run::new(Epoch(1), Arc::clone(&programs)),
            programs,
            log: Journal::default(),
            limit: started.budget.amounts,
            now: BEGIN,
            epoch: Epoch(1),
            durable: 0,
            work: Vec::new(),
            timers: BTreeMap::new(),
            wires: BTreeMap::new(),
            bill: Amounts::ZERO,
            waiting: None,
            dice: Dice {
                rolls: rolls.into_iter(),
            },
            climate,
            crashes: 0,
            told_over: false,
            said: 0,
        };
        let steps = weather.run.start(&mut weather.log, BEGIN, started);
        weather.take(steps);
        weather
    }

    /// Lets things happen until the run is over.
    pub(crate) fn pass(&mut self) {
        for _ in 0..MOVES_MAX {
            if self.told_over {
                return;
            }
            self.happen();
            self.check_bill();
            self.check_books();
        }
        panic!("the run does not end: {:?}", self.log.entries.last());
    }

    /// Whether the root has its result.
    pub(crate) fn is_over(&self) -> bool {
        self.run.result().is_some()
    }

    /// What the providers bill at most, if every call on the wire costs all it may.
    pub(crate) fn worst_bill(&self) -> Amounts {
        self.wires
            .values()
            .fold(self.bill, |sum, worst| sum.plus(*worst))
    }

    fn check_bill(&self) {
        if self.climate == Climate::Dishonest {
            return;
        }
        let worst = self.worst_bill();
        assert_eq!(
            worst.exceeds(&self.limit),
            None,
            "the bill is {worst:?}, the limit {:?}",
            self.limit
        );
    }

    /// Every ledger adds up: what is not spent, not reserved and not with a child is left.
    fn check_books(&self) {
        let episodes = self.run.episodes() as u64;
        assert!(
            episodes <= self.limit.episodes.min(EPISODES_MAX),
            "{episodes}"
        );
        let live: BTreeMap<&EpisodeId, &Episode> = self.run.live().collect();
        for (&id, episode) in &live {
            let books = episode.accounts();
            let granted = live
                .iter()
                .filter(|(child, _)| child.parent().as_ref() == Some(id))
                .fold(Amounts::ZERO, |sum, (_, child)| {
                    sum.plus(child.started().budget.amounts)
                });
            let gone = books.spent().plus(books.reserved()).plus(granted);
            assert_eq!(
                books.left(),
                books.limit().minus(gone),
                "the books of {id} do not add up"
            );
            if self.climate != Climate::Dishonest {
                assert_eq!(gone.exceeds(&books.limit()), None, "{id} has gone too far");
            }
        }
    }

    fn happen(&mut self) {
        self.now = self.now.plus(Millis(self.dice.roll(100) as u64));
        match self.dice.roll(256) {
            242..=255 if self.climate != Climate::Fair => self.crash(),
            236..=241 => self.flush_some(),
            235 => self.say(&Signal::Cancel),
            234 => self.say(&Signal::Kill {
                scope: KillScope::Platform("forum".into()),
            }),
            233 => self.say(&Signal::Lift {
                scope: KillScope::Platform("forum".into()),
            }),
            232 => self.say(&Signal::Kill {
                scope: KillScope::Global,
            }),
            231 => self.ring(),
            190..=230 if self.run.awaits_log() => self.flush_some(),
            _ if self.work.is_empty() => self.when_idle(),
            _ => {
                let next = self.dice.roll(self.work.len());
                let work = self.work.swap_remove(next);
                self.answer(work);
            }
        }
    }

    /// Nothing is under way: either the log is slow, or people are, or the run is stuck.
    fn when_idle(&mut self) {
        if self.run.awaits_log() {
            self.flush(self.log.entries.len());
            return;
        }
        match self.waiting.take() {
            Some(RunWait::Approval) if self.dice.roll(2) == 0 => self.decide_all(),
            Some(_) => {
                self.run
                    .release(&mut self.log, self.now, ReleaseReason::Interrupted);
                self.durable = self.log.entries.len();
                self.take_over();
                self.decide_all();
            }
            None => panic!("the run is stuck: {:?}", self.log.entries.last()),
        }
    }

    /// A person decides on all that was ever asked; what is decided already is not decided again.
    fn decide_all(&mut self) {
        let asked: BTreeSet<(EpisodeId, AskId)> = self
            .log
            .entries
            .iter()
            .filter_map(|entry| match &entry.record.event.kind {
                EventKind::EffectDecided {
                    ask,
                    decision: PolicyDecision::NeedsApproval { .. },
                    ..
                } => Some((entry.episode.clone(), *ask)),
                _ => None,
            })
            .collect();
        for (episode, ask) in asked {
            let allow = self.dice.roll(3) != 1;
            self.say(&Signal::Decide {
                episode,
                ask,
                allow,
                by: "ada".into(),
                binding: BINDING,
            });
        }
    }

    fn say(&mut self, signal: &Signal) {
        let steps = self.run.signal(&mut self.log, self.now, signal);
        self.take(steps);
    }

    fn ring(&mut self) {
        let timers = std::mem::take(&mut self.timers);
        for (episode, at) in timers {
            self.now = self.now.max(at);
            self.deliver(episode, EventKind::Tick);
        }
    }

    fn flush_some(&mut self) {
        let open = self.log.entries.len() - self.durable;
        let more = self.dice.roll(open + 1);
        self.flush(self.durable + more);
    }

    fn flush(&mut self, upto: usize) {
        self.durable = upto;
        let steps = self.run.durable(LogPosition(upto as u64));
        self.take(steps);
    }

    /// The owner dies. What was durable is kept, and perhaps some of what was not.
    fn crash(&mut self) {
        self.crashes += 1;
        let lucky = self.dice.roll(self.log.entries.len() - self.durable + 1);
        self.log.cut(self.durable + lucky);
        self.durable += lucky;
        self.take_over();
    }

    fn take_over(&mut self) {
        self.bill = self.worst_bill();
        self.wires.clear();
        self.work.clear();
        self.timers.clear();
        self.waiting = None;
        self.now = self.now.plus(Millis(1_000_000));
        self.epoch = Epoch(self.epoch.0 + 1);
        if self.log.entries.is_empty() {
            // Not even the start was durable: nobody knows of the run.
            self.told_over = true;
            return;
        }
        self.run = refold(&self.log, self.epoch, &self.programs);
        self.run.durable(LogPosition(self.durable as u64));
        self.told_over = self.run.result().is_some();
        let steps = self.run.resume(&mut self.log, self.now);
        self.take(steps);
    }

    fn take(&mut self, steps: Vec<HostStep>) {
        for step in steps {
            self.waiting = None;
            match step {
                HostStep::Measure {
                    episode,
                    ask,
                    request,
                    weigh,
                    round,
                    ..
                } => {
                    let kind = samples::measured(ask, &request, &weigh, round, None);
                    self.work.push(Work::Measure(episode, kind));
                }
                HostStep::Call {
                    episode,
                    ask,
                    attempt,
                    request,
                    ..
                } => {
                    self.check_unanswered(&episode, ask);
                    let worst = measured(&request).worst_case(request.output_tokens_max);
                    let wire = (episode, ask, attempt);
                    let before = self.wires.insert(wire.clone(), worst);
                    assert_eq!(before, None, "{wire:?} went out twice");
                    self.work.push(Work::Call(wire, request));
                }
                HostStep::Cancel {
                    episode,
                    ask,
                    attempt,
                } => {
                    let wire = (episode, ask, attempt);
                    self.work
                        .retain(|work| !matches!(work, Work::Call(w, _) if *w == wire));
                    self.work.push(Work::Cancel(wire));
                }
                HostStep::Timer { episode, at } => {
                    self.timers.insert(episode, at);
                }
                HostStep::Decide { episode, ask, .. } => self.work.push(Work::Decide(episode, ask)),
                HostStep::Attempt(permit) => {
                    self.bill.tools += 1;
                    let episode = permit.episode().clone();
                    self.work.push(Work::Attempt(episode, permit.ask()));
                }
                HostStep::Reconcile { episode, ask, .. } => {
                    self.work.push(Work::Reconcile(episode, ask));
                }
                HostStep::Host { .. } | HostStep::Emit { .. } | HostStep::Over { .. } => {}
                HostStep::Waiting(wait) => self.waiting = Some(wait),
                HostStep::Finished(_) => self.told_over = true,
            }
        }
    }

    /// A call whose reply is in the journal is finished and never goes out again.
    fn check_unanswered(&self, episode: &EpisodeId, ask: AskId) {
        let answered = self.log.of(episode).any(|record| {
            matches!(&record.event.kind, EventKind::ModelReplied {
                ask: answered,
                outcome: ModelCallOutcome::Replied(_),
                ..
            } if *answered == ask)
        });
        assert!(!answered, "{episode} {ask} was answered and is asked again");
    }

    fn deliver(&mut self, episode: EpisodeId, kind: EventKind) {
        let steps = self.run.deliver(&mut self.log, self.now, episode, kind);
        self.take(steps);
    }

    fn answer(&mut self, work: Work) {
        match work {
            Work::Measure(episode, kind) => {
                self.deliver(episode, kind);
            }
            Work::Call(wire, request) => {
                let outcome = self.outcome(&request);
                self.replied(wire, &measured(&request), outcome);
            }
            Work::Cancel(wire) => {
                let (kind, words) = (FailureKind::Cancelled, "given up");
                let failure = match self.wires.get(&wire) {
                    Some(_) => ModelFailure::sent(kind, words),
                    None => ModelFailure::unsent(kind, words),
                };
                let request = samples::request("");
                self.replied(wire, &measured(&request), ModelCallOutcome::Failed(failure));
            }
            Work::Decide(episode, ask) => {
                let rule = || "a rule".to_owned();
                let decision = match self.dice.roll(8) {
                    5 => PolicyDecision::Deny { rule: rule() },
                    6 | 7 => PolicyDecision::NeedsApproval {
                        rule: rule(),
                        terms: Box::new(terms()),
                    },
                    _ => PolicyDecision::Allow {
                        rules: vec![rule()],
                    },
                };
                self.deliver(episode, EventKind::decided(ask, decision));
            }
            Work::Attempt(episode, ask) | Work::Reconcile(episode, ask) => {
                let outcome = match self.dice.roll(6) {
                    3 => EffectOutcome::Failed {
                        detail: "no".into(),
                    },
                    4 | 5 => EffectOutcome::Unknown {
                        detail: "who knows".into(),
                    },
                    _ => EffectOutcome::Confirmed {
                        receipt: "yes".into(),
                    },
                };
                self.deliver(episode, EventKind::settled(ask, outcome));
            }
        }
    }

    fn outcome(&mut self, request: &ModelRequest) -> ModelCallOutcome {
        let input = measured(request).input_tokens;
        let mut output = self.dice.roll(256) as u64 * u64::from(request.output_tokens_max) / 255;
        if self.climate == Climate::Dishonest {
            output = match self.dice.roll(8) {
                6 => output.saturating_mul(3),
                7 => u64::MAX,
                _ => output,
            };
        }
        let failed = ModelCallOutcome::Failed;
        match self.dice.roll(32) {
            20 | 21 => failed(samples::rate_limited(Millis(5_000))),
            22 | 23 => failed(ModelFailure::sent(FailureKind::Timeout, "too slow")),
            24 => failed(ModelFailure::unsent(FailureKind::Connection, "no route")),
            25 | 26 => failed(samples::billed(FailureKind::Empty, input, 0)),
            27 => failed(ModelFailure::unsent(FailureKind::Auth, "no key")),
            28 => failed(samples::billed(FailureKind::Refused, input, output)),
            face => {
                self.said += 1;
                ModelCallOutcome::Replied(ModelReply {
                    text: format!("answer {}", self.said).into(),
                    tool_calls: Vec::new(),
                    ending: if face == 29 {
                        FinishReason::Truncated
                    } else {
                        FinishReason::Complete
                    },
                    usage: samples::usage(input, output),
                    latency: Millis(1),
                    timing: None,
                    recalled: None,
                    margin_milli: None,
                })
            }
        }
    }

    fn replied(&mut self, wire: Wire, measured: &RequestEstimate, outcome: ModelCallOutcome) {
        if let Some(worst) = self.wires.remove(&wire) {
            self.bill = self.bill.plus(billed(&outcome, measured, worst));
        }
        let (episode, ask, attempt) = wire;
        let jitter = u16::try_from(self.dice.roll(256)).unwrap_or_default() * 257;
        let kind = EventKind::ModelReplied {
            ask,
            attempt,
            outcome,
            jitter,
        };
        self.deliver(episode, kind);
    }
}

fn measured(request: &ModelRequest) -> RequestEstimate {
    samples::measure(request, None)
}
