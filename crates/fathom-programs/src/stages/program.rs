//! The episode of `stages`, from one stage to the next.

use super::config::StagesConfig;
use super::report::{StagesReport, VoteNote};
use std::collections::BTreeMap;

use crate::motion;
use crate::reply::after_thoughts;
use fathom_core::budget::amounts::Amounts;
use fathom_core::channel::marker::{BlockKind, Marker};
use fathom_core::contract::spawn::{SpawnClass, SpawnRequest, SpawnTrigger};
use fathom_core::contract::stop::{Refusal, StopReason};
use fathom_core::contract::{AgentRole, Contract, RecursionPolicy};
use fathom_core::council_bus::{CouncilRole, MotionOutcome, MotionRuling};
use fathom_core::effect::EffectOutcome;
use fathom_core::episode::program::{
    Ask, ModelAsk, OnOutage, Program, ProgramError, ProgramInput, ProgramView,
};
use fathom_core::episode::result::{Decision, EpisodeResult, EpisodeStatus, ProgramVerdict, clip};
use fathom_core::id::AskId;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{ChatMessage, ModelReply, ReplyMode, Speaker};
use fathom_core::packet::{Packet, PacketRisk};
use fathom_core::text::Text;
use fathom_core::unit::PerMille;

use super::prompts::PromptStage;
use super::state::StageState;
use crate::conclusion::Conclusion;

/// Name of the program in specifications and journals.
pub const NAME: &str = "stages";

/// Confidence below which a plan is put to the council, in thousandths.
const CONFIDENCE_MIN: u16 = 300;
/// Characters of a block that are kept in the report.
pub(super) const BLOCK_CHARS: usize = 8_000;

/// The `stages` program: plans, refines, acts under an observer, verifies, and undoes what does not verify.
pub struct StagesProgram {
    pub(super) params: StagesConfig,
    pub(super) goal: String,
    pub(super) now: StageState,
    pub(super) plan: String,
    /// Tries of the present stage that brought nothing.
    tries: u32,
    pub(super) acts: u32,
    /// Reason the acting model was stopped last, with the text it had produced.
    pub(super) stopped: Option<(String, String)>,
    pub(super) response: Option<Text>,
    decisions: Vec<Decision>,
    pub(super) report: StagesReport,
    /// Deliveries under way, and the places of their blocks in the report.
    pub(super) delivering: BTreeMap<AskId, usize>,
    /// The verdict, held back until everything is delivered.
    pub(super) ending: Option<Box<ProgramVerdict>>,
}

impl StagesProgram {
    /// Builds the program from the parameters in `spec`.
    pub fn new(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        Ok(Self {
            params: StagesConfig::read(spec)?,
            goal: String::new(),
            now: StageState::Over,
            plan: String::new(),
            tries: 0,
            acts: 0,
            stopped: None,
            response: None,
            decisions: Vec::new(),
            report: StagesReport::default(),
            delivering: BTreeMap::new(),
            ending: None,
        })
    }

    fn role(&self, stage: PromptStage) -> CouncilRole {
        let cast = &self.params.cast;
        match stage {
            PromptStage::Plan => cast.plan,
            PromptStage::Refine => cast.refine,
            PromptStage::Observe => cast.observe,
            PromptStage::Act => cast.act,
            PromptStage::Verify => cast.verify,
        }
    }

    /// A call of a stage's model.
    pub(super) fn call(&self, stage: PromptStage, prompt: String, view: &ProgramView<'_>) -> Ask {
        let mut standing = self.params.system.trim().to_owned();
        if !standing.is_empty() {
            standing.push_str("\n\n");
        }
        standing.push_str(stage.task());
        if stage == PromptStage::Act {
            let offered = self.params.actions.iter().map(|one| &one.offered.spec);
            let list = offered.map(|spec| (spec.name.as_str(), spec.description.as_str()));
            standing.push('\n');
            standing.push_str(&super::prompts::commands(list));
        }
        // Its instruction is for the one who was stopped.
        let instruction = stage != PromptStage::Act || self.stopped.is_some();
        let packet = Packet {
            instruction: instruction.then(|| stage.key().to_owned()),
            standing: Text::new(standing),
            prompt: vec![ChatMessage::new(Speaker::User, prompt)],
            confidence_milli: self.report.confidence_milli,
            risk: Some(self.report.risk_level),
            ..Packet::default()
        };
        let output_tokens_max = match stage {
            PromptStage::Plan | PromptStage::Refine | PromptStage::Act => {
                self.params.output_tokens_max
            }
            // These reply with a word and a reason, and the observer is called many times for one attempt.
            PromptStage::Observe | PromptStage::Verify => self.params.look_tokens_max,
        };
        let pattern = stage.pattern().filter(|_| self.params.structured);
        Ask::Model(Box::new(ModelAsk {
            output_tokens_max,
            output_tokens_min: output_tokens_max.min(32),
            temperature_milli: self.params.temperature_milli,
            pattern: pattern.map(Text::from),
            // The observer reads along while the acting model writes.
            delivery: ReplyMode::Streamed,
            timeout: self.params.timeout,
            on_outage: if view.depth == 0 {
                OnOutage::Wait
            } else {
                OnOutage::Fail
            },
            ..ModelAsk::new(self.role(stage).model(), packet)
        }))
    }

    pub(super) fn speak(
        &mut self,
        stage: PromptStage,
        asks: Vec<Ask>,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        let mut asks = asks;
        let prompt = match stage {
            PromptStage::Plan => format!("Task:\n{}", self.goal),
            PromptStage::Refine => format!("Task:\n{}\n\nPlan:\n{}", self.goal, self.plan),
            PromptStage::Verify => self.evidence(),
            PromptStage::Observe | PromptStage::Act => return self.act(asks, view),
        };
        self.now = StageState::Speaking(stage, after(view, &asks));
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
        parts.extend(self.report.commands.iter().map(super::prompts::tried));
        parts.join("\n\n")
    }

    /// Tries a stage again that brought nothing of use, as often as it may.
    fn again(&mut self, stage: PromptStage, view: &ProgramView<'_>) -> Option<Vec<Ask>> {
        self.tries += 1;
        (self.tries <= self.params.retries).then(|| self.speak(stage, Vec::new(), view))
    }

    fn on_reply(
        &mut self,
        stage: PromptStage,
        reply: &ModelReply,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        let said = after_thoughts(reply.text.as_str());
        match stage {
            PromptStage::Plan => self.on_plan(said, view),
            PromptStage::Refine => self.on_refined(said, view),
            PromptStage::Verify => self.on_verify(said, view),
            PromptStage::Observe | PromptStage::Act => Vec::new(),
        }
    }

    fn on_plan(&mut self, said: &str, view: &ProgramView<'_>) -> Vec<Ask> {
        let Some(plan) = super::prompts::block(said, Marker::Plan) else {
            if let Some(asks) = self.again(PromptStage::Plan, view) {
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
        self.speak(PromptStage::Refine, asks, view)
    }

    fn on_refined(&mut self, said: &str, view: &ProgramView<'_>) -> Vec<Ask> {
        let plan = super::prompts::block(said, Marker::Plan);
        let sure = super::prompts::confidence(said);
        if (plan.is_none() || sure.is_none())
            && let Some(asks) = self.again(PromptStage::Refine, view)
        {
            return asks;
        }
        self.tries = 0;
        let mut asks = Vec::new();
        if let Some(plan) = plan
            .map(|plan| super::prompts::steps(&plan))
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

    fn on_verify(&mut self, said: &str, view: &ProgramView<'_>) -> Vec<Ask> {
        let verify = super::prompts::block(said, Marker::Verify);
        let success = verify.as_deref().and_then(super::prompts::success);
        if success.is_none()
            && let Some(asks) = self.again(PromptStage::Verify, view)
        {
            return asks;
        }
        let verify = verify.unwrap_or_else(|| "fail: the verifier said neither".to_owned());
        let mut asks = Vec::new();
        self.show(BlockKind::Marked(Marker::Verify), &verify, &mut asks, view);
        // A verifier that gives no verdict counts as failed, so that unverified work is undone.
        self.report.verified = Some(success == Some(true));
        if success == Some(true) {
            asks.extend(self.finish(
                EpisodeStatus::Ok,
                StopReason::Success,
                "answered and verified",
            ));
            return asks;
        }
        self.revert(verify, asks, view)
    }

    /// Puts the question whether to go on to the council.
    pub(super) fn escalate(
        &mut self,
        proposal: String,
        asks: Vec<Ask>,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        let mut asks = asks;
        let confidence = self.report.confidence_milli;
        let motion = motion::MotionConfig {
            proposal: format!(
                "Task: {}\n\n{proposal}",
                super::prompts::bounded(&self.goal, 600)
            ),
            proposer: self.params.cast.observe,
            risk: self.report.risk_level,
            confidence: confidence.and_then(|milli| PerMille::new(milli).ok()),
            roles: self.params.council.clone(),
            timeout: self.params.timeout,
            ..motion::MotionConfig::default()
        };
        let recursion = RecursionPolicy {
            max_depth: view.depth + 1,
            ..view.contract.recursion.clone()
        };
        self.now = StageState::Voting(after(view, &asks), proposal.clone());
        asks.push(Ask::Spawn(Box::new(SpawnRequest {
            child_type: motion::NAME.to_owned(),
            class: SpawnClass::Critique,
            trigger: SpawnTrigger::HighStakesAction,
            why: Text::new(clip(&proposal, 200)),
            fetch: "a vote of the council".into(),
            return_format: "the outcome of the vote".into(),
            goal: Text::new(proposal),
            role: AgentRole::Verifier,
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

    fn on_vote(
        &mut self,
        proposal: &str,
        result: &EpisodeResult,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        let outcome = result
            .report
            .as_ref()
            .and_then(|report| serde_json::from_str::<MotionOutcome>(report.as_str()).ok());
        let ruling = outcome.as_ref().map(|outcome| &outcome.ruling);
        let said = outcome.as_ref().map_or_else(
            || "the council came to nothing".to_owned(),
            ToString::to_string,
        );
        self.report.votes.push(VoteNote {
            proposal: super::prompts::bounded(proposal, BLOCK_CHARS),
            ruling: said.clone(),
        });
        self.decisions.push(Decision {
            what: Text::new(format!("council: {said}")),
            rationale: Text::new(super::prompts::bounded(proposal, 400)),
        });
        // Anything but a carried motion ends the work: an undecided or broken vote is not a permission.
        if let Some(MotionRuling::Carried { .. }) = ruling {
            return self.act(Vec::new(), view);
        }
        let why = format!("the council did not let it go on: {said}");
        self.finish(EpisodeStatus::NeedsReview, StopReason::Undecided, &why)
    }

    fn on_failed(
        &mut self,
        stage: PromptStage,
        failure: &ModelFailure,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        if failure.kind == FailureKind::Empty
            && let Some(asks) = self.again(stage, view)
        {
            return asks;
        }
        self.finish(
            EpisodeStatus::Failed,
            failure.as_stop(),
            &failure.to_string(),
        )
    }

    pub(super) fn on_refused(&mut self, reason: &Refusal) -> Vec<Ask> {
        self.finish(reason.as_status(), reason.as_stop(), &reason.to_string())
    }

    pub(super) fn finish(
        &mut self,
        status: EpisodeStatus,
        stop: StopReason,
        said: &str,
    ) -> Vec<Ask> {
        self.now = StageState::Over;
        let close = Conclusion {
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
            notes: Vec::new(),
        };
        self.ending = Some(Box::new(close.verdict()));
        self.end()
    }

    fn on_effect(
        &mut self,
        ask: AskId,
        outcome: &EffectOutcome,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        match std::mem::replace(&mut self.now, StageState::Over) {
            StageState::Running(running) => self.on_ran(running, ask, outcome, view),
            StageState::Reverting(reverting) => self.on_reverted(reverting, ask, outcome, view),
            other => {
                self.now = other;
                Vec::new()
            }
        }
    }
}

/// The number of the ask that comes after these.
pub(super) fn after(view: &ProgramView<'_>, asks: &[Ask]) -> AskId {
    asks.iter().fold(view.next_ask, |ask, _| ask.next())
}

impl Program for StagesProgram {
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        match (&self.now, input) {
            (_, ProgramInput::Host { ask, text }) if self.delivering.contains_key(&ask) => {
                self.on_delivered(ask, text.as_str())
            }
            (_, ProgramInput::Refused { ask, reason }) if self.delivering.contains_key(&ask) => {
                self.on_undelivered(ask, &reason.to_string())
            }
            (_, ProgramInput::Start(started)) => {
                started.goal.as_str().trim().clone_into(&mut self.goal);
                self.speak(PromptStage::Plan, Vec::new(), view)
            }
            (StageState::Speaking(stage, awaited), ProgramInput::Reply { ask, reply })
                if *awaited == ask =>
            {
                self.on_reply(*stage, reply, view)
            }
            (StageState::Speaking(stage, awaited), ProgramInput::Failed { ask, failure })
                if *awaited == ask =>
            {
                self.on_failed(*stage, failure, view)
            }
            (StageState::Speaking(_, awaited), ProgramInput::Refused { ask, reason })
                if *awaited == ask =>
            {
                self.on_refused(reason)
            }
            (StageState::Acting(_), input) => self.on_acting(input, view),
            (
                StageState::Running(_) | StageState::Reverting(_),
                ProgramInput::Effect { ask, outcome },
            ) => self.on_effect(ask, outcome, view),
            (
                StageState::Running(_) | StageState::Reverting(_),
                ProgramInput::Refused { ask, reason },
            ) => {
                let outcome = EffectOutcome::Failed {
                    detail: Text::new(reason.to_string()),
                };
                self.on_effect(ask, &outcome, view)
            }
            (StageState::Voting(awaited, proposal), ProgramInput::Child { ask, result, .. })
                if *awaited == ask =>
            {
                let proposal = proposal.clone();
                self.on_vote(&proposal, result, view)
            }
            (StageState::Voting(awaited, _), ProgramInput::Refused { ask, reason })
                if *awaited == ask =>
            {
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
pub(super) const fn raised(risk: PacketRisk) -> PacketRisk {
    match risk {
        PacketRisk::Low => PacketRisk::Med,
        PacketRisk::Med | PacketRisk::High => PacketRisk::High,
    }
}
