//! Task packets of the orchestrator: one for each role.

use serde_json::{Value, json};

use super::child;
use super::config::CrewMember;
use super::orchestrator::{AgencyProgram, AgencyStage, capsule_id};
use super::spawn_role::{ONE_CALL, RoleChild};
use super::{capsule_check, engagement, publisher, verifier, writer};
use crate::direct;
use fathom_core::budget::amounts::Amounts;
use fathom_core::contract::AgentRole;
use fathom_core::contract::spawn::SpawnTrigger;
use fathom_core::episode::program::{Ask, ProgramView};

const JUDGE: &str = "You judge an asset against a rubric and the facts you are given. The first word of your reply is PASS or \
                     FAIL. After it, say in one or two sentences why.";

impl AgencyProgram {
    /// Has a capsule made of a source: retrieval, because one that is needed is missing.
    pub(super) fn make(&mut self, i: usize, view: &ProgramView<'_>) -> Vec<Ask> {
        let Some(source) = self.params.sources.get(i) else {
            return self.plan(view);
        };
        let program = direct::DirectConfig {
            system: self.params.crew.orchestrator.prompt.clone(),
            material: vec![direct::PromptMaterial {
                source: format!("{} of {}", source.kind, self.params.brand),
                text: source.text.clone(),
            }],
            output_tokens_max: self.params.limits.output_tokens,
            timeout: self.params.limits.timeout,
            temperature_milli: Some(0),
            continuations_max: 0,
            stream: false,
            ..direct::DirectConfig::default()
        };
        let child = RoleChild {
            kind: child::RETRIEVE,
            trigger: SpawnTrigger::MissingCapsule,
            why: "there is no capsule of this source",
            fetch: "the facts that matter, in few lines",
            goal: format!(
                "Sum up the {} of {} in at most twelve lines: facts, names, dates and rules, nothing else.",
                source.kind, self.params.brand
            ),
            role: AgentRole::Orchestrator,
            program: program.spec(),
            at_least: ONE_CALL,
        };
        // It sums up what it is given, and nothing else.
        let ask = child.ask(&CrewMember::default(), view);
        self.go(AgencyStage::Make(i), ask, view)
    }

    /// Has a capsule held against its source.
    pub(super) fn prove(&mut self, i: usize, view: &ProgramView<'_>) -> Vec<Ask> {
        let Some(source) = self.params.sources.get(i) else {
            return self.plan(view);
        };
        let program = capsule_check::CapsuleCheckConfig {
            report: capsule_id(source),
            text: self.capsule.clone(),
            source: source.text.clone(),
        };
        let child = RoleChild {
            kind: child::VERIFY,
            trigger: SpawnTrigger::UnprovenCapsule,
            why: "a capsule is used again and again",
            fetch: "whether its facts stand in the source",
            goal: format!(
                "Check the capsule of the {} of {}.",
                source.kind, self.params.brand
            ),
            role: AgentRole::Verifier,
            program: program.spec(),
            at_least: Amounts::ZERO,
        };
        let ask = child.ask(&self.params.crew.verifier, view);
        self.go(AgencyStage::Prove(i), ask, view)
    }

    pub(super) fn plan(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        let member = &self.params.crew.planner;
        let program = writer::WriterConfig {
            prompt: member.prompt.clone(),
            work: writer::WritingTask::Plan {
                id: self.id("plan"),
            },
            given: self.capsules.clone(),
            limits: self.params.limits,
        };
        let child = RoleChild {
            kind: child::PLAN,
            trigger: SpawnTrigger::TaskPacket,
            why: "the goal needs a plan",
            fetch: "a plan node",
            goal: self.goal.clone(),
            role: AgentRole::Planner,
            program: program.spec(),
            at_least: ONE_CALL,
        };
        let ask = child.ask(member, view);
        self.go(AgencyStage::Plan, ask, view)
    }

    pub(super) fn create(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        let member = &self.params.crew.creator;
        let mut given = self.capsules.clone();
        given.push((format!("plan_node:{}", self.id("plan")), self.plan.clone()));
        let program = writer::WriterConfig {
            prompt: member.prompt.clone(),
            work: writer::WritingTask::Asset {
                id: self.id("asset"),
                plan: self.id("plan"),
                blueprint: Box::new(self.params.blueprint.clone()),
                provider: self.params.provider.clone(),
                criticism: self.criticism.clone(),
            },
            given,
            limits: self.params.limits,
        };
        let child = RoleChild {
            kind: child::CREATE,
            trigger: SpawnTrigger::TaskPacket,
            why: "the plan needs an asset",
            fetch: "an asset",
            goal: self.goal.clone(),
            role: AgentRole::Creator,
            program: program.spec(),
            at_least: ONE_CALL,
        };
        let ask = child.ask(member, view);
        self.go(AgencyStage::Create, ask, view)
    }

    /// Something is about to go out: a second pair of eyes looks first.
    pub(super) fn judge(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        let program = direct::DirectConfig {
            system: JUDGE.to_owned(),
            output_tokens_max: 160,
            timeout: self.params.limits.timeout,
            temperature_milli: Some(0),
            continuations_max: 0,
            stream: false,
            material: self
                .capsules
                .iter()
                .map(|(source, text)| direct::PromptMaterial {
                    source: source.clone(),
                    text: text.clone(),
                })
                .collect(),
            ..direct::DirectConfig::default()
        };
        let child = RoleChild {
            kind: child::CRITIQUE,
            trigger: SpawnTrigger::HighStakesAction,
            why: "it is about to be published",
            fetch: "PASS or FAIL, and why",
            goal: format!("Rubric:\n{}\n\nAsset:\n{}", self.params.rubric, self.asset),
            role: AgentRole::Verifier,
            program: program.spec(),
            at_least: ONE_CALL,
        };
        let ask = child.ask(&CrewMember::default(), view);
        self.go(AgencyStage::Judge, ask, view)
    }

    pub(super) fn publish(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        let program = publisher::PublisherConfig {
            asset: self.id("asset"),
            payload: self.id("payload"),
            occasion: self.params.occasion.clone(),
            lane: self.params.lane.clone(),
        };
        let child = RoleChild {
            kind: child::PUBLISH,
            trigger: SpawnTrigger::TaskPacket,
            why: "the asset is ready",
            fetch: "the platform's receipt",
            goal: self.goal.clone(),
            role: AgentRole::Publisher,
            program: program.spec(),
            at_least: Amounts {
                tools: 1,
                ..Amounts::ZERO
            },
        };
        let ask = child.ask(&self.params.crew.publisher, view);
        self.go(AgencyStage::Publish, ask, view)
    }

    pub(super) fn verify(
        &mut self,
        at: AgencyStage,
        look: &verifier::VerifierConfig,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        let child = RoleChild {
            kind: child::VERIFY,
            trigger: SpawnTrigger::EffectAttempted,
            why: "something was sent",
            fetch: "whether it can be seen",
            goal: self.goal.clone(),
            role: AgentRole::Verifier,
            program: look.spec(),
            at_least: Amounts {
                tools: 1,
                ..Amounts::ZERO
            },
        };
        let ask = child.ask(&self.params.crew.verifier, view);
        self.go(at, ask, view)
    }

    pub(super) fn verify_post(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        let title = self.post.get("title").and_then(Value::as_str);
        let title = title.unwrap_or_default().to_owned();
        let look = verifier::VerifierConfig {
            member: self.params.crew.verifier.clone(),
            report: self.id("seen"),
            look: self.params.lane.seen.clone(),
            arguments: json!({ "post": self.post.get("post"), "title": title }),
            expect: title,
            what: "the post".to_owned(),
            limits: self.params.limits,
            looks_left: self.params.limits.looks_max,
        };
        self.verify(AgencyStage::Verify, &look, view)
    }

    pub(super) fn engage(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        let member = &self.params.crew.engagement;
        let post = self.post.get("post").and_then(Value::as_str);
        let program = engagement::EngagementConfig {
            prompt: member.prompt.clone(),
            rubric: self.params.reply_rubric.clone(),
            given: self.capsules.clone(),
            post: post.unwrap_or_default().to_owned(),
            lane: self.params.lane.clone(),
            limits: self.params.limits,
        };
        let child = RoleChild {
            kind: child::ENGAGE,
            trigger: SpawnTrigger::TaskPacket,
            why: "people may have said something",
            fetch: "who was answered",
            goal: self.goal.clone(),
            role: AgentRole::Engagement,
            program: program.spec(),
            at_least: Amounts {
                tools: 1,
                ..ONE_CALL
            },
        };
        let ask = child.ask(member, view);
        self.go(AgencyStage::Engage, ask, view)
    }

    pub(super) fn verify_replies(&mut self, i: usize, view: &ProgramView<'_>) -> Vec<Ask> {
        let (Some(reply), Some(look)) = (self.replies.get(i), &self.params.lane.replied) else {
            return self.document(view);
        };
        let comment = reply.get("comment").and_then(Value::as_str);
        let comment = comment.unwrap_or_default().to_owned();
        let expect = reply.get("reply").and_then(Value::as_str);
        let look = verifier::VerifierConfig {
            member: self.params.crew.verifier.clone(),
            report: self.id(&format!("answer-{comment}")),
            look: look.clone(),
            arguments: json!({ "comment": comment, "post": self.post.get("post") }),
            expect: expect.unwrap_or_default().to_owned(),
            what: format!("the answer to comment {comment}"),
            limits: self.params.limits,
            looks_left: self.params.limits.looks_max,
        };
        self.verify(AgencyStage::VerifyReply(i), &look, view)
    }

    pub(super) fn document(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        let member = &self.params.crew.doc;
        let mut given = Vec::new();
        for (i, stage) in self.stages.iter().enumerate() {
            let said = format!("{}: {} ({})", stage.stage, stage.outcome, stage.status);
            given.push((format!("stage:{}", i + 1), said));
        }
        let program = writer::WriterConfig {
            prompt: member.prompt.clone(),
            work: writer::WritingTask::Journal {
                id: self.id("journal"),
            },
            given,
            limits: self.params.limits,
        };
        let child = RoleChild {
            kind: child::DOCUMENT,
            trigger: SpawnTrigger::TaskPacket,
            why: "what happened is to be found later",
            fetch: "a journal entry",
            goal: self.goal.clone(),
            role: AgentRole::Doc,
            program: program.spec(),
            at_least: ONE_CALL,
        };
        let ask = child.ask(member, view);
        self.go(AgencyStage::Document, ask, view)
    }
}
