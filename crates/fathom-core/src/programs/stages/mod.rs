//! `stages`: plan, refine, act while an observer reads along, verify.
//!
//! A plan that is missing is tried again and then put to the council; so is one that its judge does not trust. The observer
//! reads the acting model's stream and stops it in the middle; the third time the risk is high, and the council decides
//! whether it goes on. Commands are effects, one after the other. When the result does not verify, what can be taken back
//! is, the last first, and everyone is told. It ends when all that was said has been delivered, or nobody knows better. A block that a stage has no right to, as an acting model's own `VERIFY:`, is not one.

mod acting;
mod params;
mod report;
mod running;
mod speaking;
mod words;

use std::collections::BTreeMap;

use crate::amounts::Amounts;
use crate::contract::{Contract, RecursionPolicy, Role};
use crate::effect::EffectOutcome;
use crate::event::ProgramSpec;
use crate::failure::{FailureKind, ModelFailure};
use crate::id::AskId;
use crate::marker::{BlockKind, Marker};
use crate::model::{Delivery, Message, Reply, Speaker};
use crate::outcome::{Decision, EpisodeResult, Status, Verdict, clip};
use crate::packet::{Packet, Risk};
use crate::program::{Ask, Input, ModelAsk, OnOutage, Program, ProgramError, View};
use crate::programs::motion;
use crate::programs::reply::after_thoughts;
use crate::protocol::{CouncilRole, Outcome, Ruling};
use crate::recursion::{Class, SpawnRequest, Trigger};
use crate::stop::{Refusal, StopReason};
use crate::text::Text;
use crate::unit::PerMille;

use super::close::Close;
use acting::Acting;
use running::{Reverting, Running};
use words::Stage;

pub use params::{Action, Cast, Params};
pub use report::{BlockNote, CommandNote, Fate, Report, VoteNote};

/// The program's name.
pub const NAME: &str = "stages";

/// Confidence below which a plan is put to the council, in thousandths.
const CONFIDENCE_MIN: u16 = 300;
/// Characters of a block that are kept in the report.
const BLOCK_CHARS: usize = 8_000;

/// What is awaited.
enum Now {
    /// The reply of a stage.
    Speaking(Stage, AskId),
    /// The acting model and its observer.
    Acting(Acting),
    /// Commands.
    Running(Running),
    /// A command that takes another back.
    Reverting(Reverting),
    /// A vote of the council. When it carries, the model acts.
    Voting(AskId, String),
    /// Nothing any more.
    Over,
}

/// The program.
pub struct Stages {
    params: Params,
    goal: String,
    now: Now,
    plan: String,
    /// Tries of the present stage that brought nothing.
    tries: u32,
    /// Attempts at acting.
    acts: u32,
    /// Why the acting model was stopped last, and what it had said.
    stopped: Option<(String, String)>,
    response: Option<Text>,
    decisions: Vec<Decision>,
    report: Report,
    /// Deliveries under way, and the places of their blocks in the report.
    delivering: BTreeMap<AskId, usize>,
    /// How it ends, once everything is delivered.
    ending: Option<Box<Verdict>>,
}

impl Stages {
    /// Reads the parameters.
    pub fn new(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        Ok(Self {
            params: Params::read(spec)?,
            goal: String::new(),
            now: Now::Over,
            plan: String::new(),
            tries: 0,
            acts: 0,
            stopped: None,
            response: None,
            decisions: Vec::new(),
            report: Report::default(),
            delivering: BTreeMap::new(),
            ending: None,
        })
    }

    fn role(&self, stage: Stage) -> CouncilRole {
        let cast = &self.params.cast;
        match stage {
            Stage::Plan => cast.plan,
            Stage::Refine => cast.refine,
            Stage::Observe => cast.observe,
            Stage::Act => cast.act,
            Stage::Verify => cast.verify,
        }
    }

    /// A call of a stage's model.
    fn call(&self, stage: Stage, prompt: String, view: &View<'_>) -> Ask {
        let mut standing = self.params.system.trim().to_owned();
        if !standing.is_empty() {
            standing.push_str("\n\n");
        }
        standing.push_str(stage.task());
        if stage == Stage::Act {
            let offered = self.params.actions.iter().map(|one| &one.offered.spec);
            let list = offered.map(|spec| (spec.name.as_str(), spec.description.as_str()));
            standing.push('\n');
            standing.push_str(&words::commands(list));
        }
        // Its instruction is for the one who was stopped.
        let instruction = stage != Stage::Act || self.stopped.is_some();
        let packet = Packet {
            instruction: instruction.then(|| stage.key().to_owned()),
            standing: Text::new(standing),
            prompt: vec![Message::new(Speaker::User, prompt)],
            confidence_milli: self.report.confidence_milli,
            risk: Some(self.report.risk_level),
            ..Packet::default()
        };
        let output_tokens_max = match stage {
            Stage::Plan | Stage::Refine | Stage::Act => self.params.output_tokens_max,
            Stage::Observe | Stage::Verify => self.params.look_tokens_max,
        };
        let pattern = stage.pattern().filter(|_| self.params.structured);
        Ask::Model(Box::new(ModelAsk {
            output_tokens_max,
            output_tokens_min: output_tokens_max.min(32),
            temperature_milli: self.params.temperature_milli,
            pattern: pattern.map(Text::from),
            delivery: Delivery::Streamed,
            timeout: self.params.timeout,
            on_outage: if view.depth == 0 {
                OnOutage::Wait
            } else {
                OnOutage::Fail
            },
            ..ModelAsk::new(self.role(stage).model(), packet)
        }))
    }

    fn speak(&mut self, stage: Stage, asks: Vec<Ask>, view: &View<'_>) -> Vec<Ask> {
        let mut asks = asks;
        let prompt = match stage {
            Stage::Plan => format!("Task:\n{}", self.goal),
            Stage::Refine => format!("Task:\n{}\n\nPlan:\n{}", self.goal, self.plan),
            Stage::Verify => self.evidence(),
            Stage::Observe | Stage::Act => return self.act(asks, view),
        };
        self.now = Now::Speaking(stage, after(view, &asks));
        asks.push(self.call(stage, prompt, view));
        asks
    }

    /// All that a verifier may know.
    fn evidence(&self) -> String {
        let said = self.response.as_ref().map_or("", Text::as_str);
        let mut parts = vec![format!(
            "Task:\n{}\n\nPlan:\n{}\n\nThe user was told:\n---\n{said}\n---",
            self.goal, self.plan
        )];
        parts.extend(self.report.commands.iter().map(words::tried));
        parts.join("\n\n")
    }

    /// Tries a stage again that brought nothing of use, as often as it may.
    fn again(&mut self, stage: Stage, view: &View<'_>) -> Option<Vec<Ask>> {
        self.tries += 1;
        (self.tries <= self.params.retries).then(|| self.speak(stage, Vec::new(), view))
    }

    fn on_reply(&mut self, stage: Stage, reply: &Reply, view: &View<'_>) -> Vec<Ask> {
        let said = after_thoughts(reply.text.as_str());
        match stage {
            Stage::Plan => self.on_plan(said, view),
            Stage::Refine => self.on_refined(said, view),
            Stage::Verify => self.on_verify(said, view),
            Stage::Observe | Stage::Act => Vec::new(),
        }
    }

    fn on_plan(&mut self, said: &str, view: &View<'_>) -> Vec<Ask> {
        let Some(plan) = words::block(said, Marker::Plan) else {
            if let Some(asks) = self.again(Stage::Plan, view) {
                return asks;
            }
            let what = "There is no plan. Go on without one?";
            return self.escalate(what.to_owned(), Vec::new(), view);
        };
        self.tries = 0;
        self.plan = plan;
        let mut asks = Vec::new();
        let plan = self.plan.clone();
        self.show(BlockKind::Marked(Marker::Plan), &plan, &mut asks, view);
        self.speak(Stage::Refine, asks, view)
    }

    fn on_refined(&mut self, said: &str, view: &View<'_>) -> Vec<Ask> {
        let plan = words::block(said, Marker::Plan);
        let sure = words::confidence(said);
        if (plan.is_none() || sure.is_none())
            && let Some(asks) = self.again(Stage::Refine, view)
        {
            return asks;
        }
        self.tries = 0;
        let mut asks = Vec::new();
        if let Some(plan) = plan
            .map(|plan| words::steps(&plan))
            .filter(|plan| !plan.is_empty())
        {
            self.show(BlockKind::Marked(Marker::Plan), &plan, &mut asks, view);
            self.plan = plan;
        }
        // A judge who does not say how sure they are is not.
        let sure = sure.unwrap_or(0);
        self.report.confidence_milli = Some(sure);
        if sure < CONFIDENCE_MIN {
            let what = format!(
                "The plan's judge is {} % sure of it. Act by it all the same?\n\n{}",
                sure / 10,
                self.plan
            );
            return self.escalate(what, asks, view);
        }
        self.act(asks, view)
    }

    fn on_verify(&mut self, said: &str, view: &View<'_>) -> Vec<Ask> {
        let verify = words::block(said, Marker::Verify);
        let success = verify.as_deref().and_then(words::success);
        if success.is_none()
            && let Some(asks) = self.again(Stage::Verify, view)
        {
            return asks;
        }
        let verify = verify.unwrap_or_else(|| "fail: the verifier said neither".to_owned());
        let mut asks = Vec::new();
        self.show(BlockKind::Marked(Marker::Verify), &verify, &mut asks, view);
        self.report.verified = Some(success == Some(true));
        if success == Some(true) {
            asks.extend(self.finish(Status::Ok, StopReason::Success, "answered and verified"));
            return asks;
        }
        self.revert(verify, asks, view)
    }

    /// Puts the question whether to go on to the council.
    fn escalate(&mut self, proposal: String, asks: Vec<Ask>, view: &View<'_>) -> Vec<Ask> {
        let mut asks = asks;
        let confidence = self.report.confidence_milli;
        let motion = motion::Params {
            proposal: format!("Task: {}\n\n{proposal}", words::bounded(&self.goal, 600)),
            proposer: self.params.cast.observe,
            risk: self.report.risk_level,
            confidence: confidence.and_then(|milli| PerMille::new(milli).ok()),
            roles: self.params.council.clone(),
            timeout: self.params.timeout,
            ..motion::Params::default()
        };
        let recursion = RecursionPolicy {
            max_depth: view.depth + 1,
            ..view.contract.recursion.clone()
        };
        self.now = Now::Voting(after(view, &asks), proposal.clone());
        asks.push(Ask::Spawn(Box::new(SpawnRequest {
            child_type: motion::NAME.to_owned(),
            class: Class::Critique,
            trigger: Trigger::HighStakesAction,
            why: Text::new(clip(&proposal, 200)),
            fetch: "a vote of the council".into(),
            return_format: "the outcome of the vote".into(),
            goal: Text::new(proposal),
            role: Role::Verifier,
            program: motion.spec(),
            contract: Contract {
                recursion,
                ..Contract::default()
            },
            at_least: Amounts {
                tokens: 64,
                calls: 1,
                ..Amounts::ZERO
            },
            at_most: Amounts {
                episodes: 1,
                ..Amounts::MAX
            },
            time_max: None,
        })));
        asks
    }

    fn on_vote(&mut self, proposal: &str, result: &EpisodeResult, view: &View<'_>) -> Vec<Ask> {
        let outcome = result
            .report
            .as_ref()
            .and_then(|report| serde_json::from_str::<Outcome>(report.as_str()).ok());
        let ruling = outcome.as_ref().map(|outcome| &outcome.ruling);
        let said = outcome.as_ref().map_or_else(
            || "the council came to nothing".to_owned(),
            ToString::to_string,
        );
        self.report.votes.push(VoteNote {
            proposal: words::bounded(proposal, BLOCK_CHARS),
            ruling: said.clone(),
        });
        self.decisions.push(Decision {
            what: Text::new(format!("council: {said}")),
            rationale: Text::new(words::bounded(proposal, 400)),
        });
        if let Some(Ruling::Carried { .. }) = ruling {
            return self.act(Vec::new(), view);
        }
        let why = format!("the council did not let it go on: {said}");
        self.finish(Status::NeedsReview, StopReason::Undecided, &why)
    }

    fn on_failed(&mut self, stage: Stage, failure: &ModelFailure, view: &View<'_>) -> Vec<Ask> {
        if failure.kind == FailureKind::Empty
            && let Some(asks) = self.again(stage, view)
        {
            return asks;
        }
        self.finish(Status::Failed, failure.as_stop(), &failure.to_string())
    }

    fn on_refused(&mut self, reason: &Refusal) -> Vec<Ask> {
        self.finish(reason.as_status(), reason.as_stop(), &reason.to_string())
    }

    fn finish(&mut self, status: Status, stop: StopReason, said: &str) -> Vec<Ask> {
        self.now = Now::Over;
        let close = Close {
            status,
            stop,
            goal: &self.goal,
            answer: self.partial(),
            said,
            work: format!(
                "{} attempts, {} interrupts, {} commands",
                self.acts,
                self.report.interrupts,
                self.report.commands.len()
            ),
            decisions: &self.decisions,
        };
        self.ending = Some(Box::new(close.verdict()));
        self.end()
    }

    fn on_effect(&mut self, ask: AskId, outcome: &EffectOutcome, view: &View<'_>) -> Vec<Ask> {
        match std::mem::replace(&mut self.now, Now::Over) {
            Now::Running(running) => self.on_ran(running, ask, outcome, view),
            Now::Reverting(reverting) => self.on_reverted(reverting, ask, outcome, view),
            other => {
                self.now = other;
                Vec::new()
            }
        }
    }
}

/// The number of the ask that comes after these.
fn after(view: &View<'_>, asks: &[Ask]) -> AskId {
    asks.iter().fold(view.next_ask, |ask, _| ask.next())
}

impl Program for Stages {
    fn on(&mut self, input: Input<'_>, view: &View<'_>) -> Vec<Ask> {
        match (&self.now, input) {
            (_, Input::Host { ask, text }) if self.delivering.contains_key(&ask) => {
                self.on_delivered(ask, text.as_str())
            }
            (_, Input::Refused { ask, reason }) if self.delivering.contains_key(&ask) => {
                self.on_undelivered(ask, &reason.to_string())
            }
            (_, Input::Start(started)) => {
                started.goal.as_str().trim().clone_into(&mut self.goal);
                self.speak(Stage::Plan, Vec::new(), view)
            }
            (Now::Speaking(stage, awaited), Input::Reply { ask, reply }) if *awaited == ask => {
                self.on_reply(*stage, reply, view)
            }
            (Now::Speaking(stage, awaited), Input::Failed { ask, failure }) if *awaited == ask => {
                self.on_failed(*stage, failure, view)
            }
            (Now::Speaking(_, awaited), Input::Refused { ask, reason }) if *awaited == ask => {
                self.on_refused(reason)
            }
            (Now::Acting(_), input) => self.on_acting(input, view),
            (Now::Running(_) | Now::Reverting(_), Input::Effect { ask, outcome }) => {
                self.on_effect(ask, outcome, view)
            }
            (Now::Running(_) | Now::Reverting(_), Input::Refused { ask, reason }) => {
                let outcome = EffectOutcome::Failed {
                    detail: Text::new(reason.to_string()),
                };
                self.on_effect(ask, &outcome, view)
            }
            (Now::Voting(awaited, proposal), Input::Child { ask, result, .. })
                if *awaited == ask =>
            {
                let proposal = proposal.clone();
                self.on_vote(&proposal, result, view)
            }
            (Now::Voting(awaited, _), Input::Refused { ask, reason }) if *awaited == ask => {
                self.on_refused(reason)
            }
            _ => Vec::new(),
        }
    }

    fn partial(&self) -> Option<Text> {
        self.response.clone()
    }

    fn report(&self) -> Option<Text> {
        serde_json::to_string(&self.report).ok().map(Text::new)
    }
}

/// The word for a risk one step up.
const fn raised(risk: Risk) -> Risk {
    match risk {
        Risk::Low => Risk::Med,
        Risk::Med | Risk::High => Risk::High,
    }
}
