//! The orchestrator: hands each part of the work to the role whose it is, and decides what comes next.

use serde_json::{Value, json};

use super::config::{AgencyConfig, CapsuleSource};
use super::report::{AgencyReport, StageReport};
use super::role_program::{self, RoleEnd, append};
use crate::reply::passes;
use fathom_core::contract::stop::{Refusal, StopReason};
use fathom_core::domain::{DomainAccess, DomainRequest, name};
use fathom_core::episode::program::{Ask, Program, ProgramError, ProgramInput, ProgramView};
use fathom_core::episode::result::{EpisodeResult, EpisodeStatus, HandoffTicket, NextAction, clip};
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::event::ProgramSpec;
use fathom_core::text::Text;

/// Stage of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AgencyStage {
    /// A capsule is looked for.
    Find(usize),
    /// A capsule is made.
    Make(usize),
    /// A capsule is held against its source.
    Prove(usize),
    /// A capsule is kept.
    Keep(usize),
    Plan,
    Create,
    Judge,
    Publish,
    Verify,
    Engage,
    VerifyReply(usize),
    Document,
}

impl AgencyStage {
    const fn name(self) -> &'static str {
        match self {
            Self::Find(_) | Self::Make(_) | Self::Prove(_) | Self::Keep(_) => "capsule",
            Self::Plan => "plan",
            Self::Create => "create",
            Self::Judge => "critique",
            Self::Publish => "publish",
            Self::Verify => "verify",
            Self::Engage => "engage",
            Self::VerifyReply(_) => "verify reply",
            Self::Document => "document",
        }
    }
}

/// The `agency` program: the orchestrator that starts the roles one after the other and collects their results.
pub struct AgencyProgram {
    pub(super) params: AgencyConfig,
    pub(super) goal: String,
    awaited: AskId,
    at: AgencyStage,
    /// The capsule that is being made.
    pub(super) capsule: String,
    /// Capsules so far: where each is, and what it says.
    pub(super) capsules: Vec<(String, String)>,
    pub(super) plan: String,
    pub(super) asset: String,
    revisions: u32,
    pub(super) criticism: Option<String>,
    pub(super) post: Value,
    /// Answers that were sent, to be seen.
    pub(super) replies: Vec<Value>,
    pub(super) stages: Vec<StageReport>,
    /// Handoffs to a person.
    tickets: Vec<HandoffTicket>,
    /// Reason that the work ended early.
    failed: Option<StopReason>,
}

impl AgencyProgram {
    /// Builds the program from the parameters in `spec`.
    pub fn new(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        Ok(Self {
            params: spec.read()?,
            goal: String::new(),
            awaited: AskId::default(),
            at: AgencyStage::Find(0),
            capsule: String::new(),
            capsules: Vec::new(),
            plan: String::new(),
            asset: String::new(),
            revisions: 0,
            criticism: None,
            post: Value::Null,
            replies: Vec::new(),
            stages: Vec::new(),
            tickets: Vec::new(),
            failed: None,
        })
    }

    pub(super) fn go(&mut self, at: AgencyStage, ask: Ask, view: &ProgramView<'_>) -> Vec<Ask> {
        self.at = at;
        self.awaited = view.next_ask;
        vec![ask]
    }

    /// An id of this run's own for a record, the same whenever the run is folded again.
    pub(super) fn id(&self, what: &str) -> String {
        // Derived, because a fold has no random numbers; the occasion is fixed before the run.
        format!("{}-{what}", self.params.occasion)
    }

    fn find(&mut self, i: usize, view: &ProgramView<'_>) -> Vec<Ask> {
        let Some(source) = self.params.sources.get(i) else {
            return self.plan(view);
        };
        let request = json!({ "op": "capsule", "kind": source.kind, "source": source.digest });
        let request = DomainRequest::new(name::CAPSULES, DomainAccess::Read, request.to_string());
        self.go(AgencyStage::Find(i), Ask::Domain(request), view)
    }

    fn on_found(&mut self, i: usize, answer: &Text, view: &ProgramView<'_>) -> Vec<Ask> {
        // A domain that refuses to read is as good as an empty one: the capsule is made again.
        let records = role_program::records(answer).unwrap_or_default();
        let known = records.first().and_then(|record| {
            let id = record.get("id")?.as_str()?;
            let text = record.get("body")?.get("text")?.as_str()?;
            Some((format!("capsule:{id}"), text.to_owned()))
        });
        let Some((pointer, text)) = known else {
            return self.make(i, view);
        };
        self.note(None, EpisodeStatus::Ok, &format!("{pointer} is still good"));
        self.capsules.push((pointer, text));
        self.find(i + 1, view)
    }

    /// Keeps a capsule. One that its proof failed is good for this run only.
    fn keep(&mut self, i: usize, proven: bool, view: &ProgramView<'_>) -> Vec<Ask> {
        let Some(source) = self.params.sources.get(i) else {
            return self.plan(view);
        };
        let id = capsule_id(source);
        let body = json!({
            "kind": source.kind, "source": source.digest, "text": self.capsule, "verified": proven,
        });
        let mut evidence = vec![format!("source:{}", source.digest)];
        if proven {
            // An unproven capsule has no report to point to.
            evidence.push(format!("verification_report:{id}"));
        }
        let ask = append(name::CAPSULES, "capsule", &id, &body, &evidence);
        let text = std::mem::take(&mut self.capsule);
        self.capsules.push((format!("capsule:{id}"), text));
        self.go(AgencyStage::Keep(i), ask, view)
    }

    fn on_judged(&mut self, result: &EpisodeResult, view: &ProgramView<'_>) -> Vec<Ask> {
        let said = result.answer.as_ref().map_or("", Text::as_str).trim();
        if passes(said) == Some(false) && self.revisions < self.params.limits.revisions_max {
            self.revisions += 1;
            self.criticism = Some(clip(said, 400));
            return self.create(view);
        }
        self.publish(view)
    }

    fn note(&mut self, episode: Option<&EpisodeId>, status: EpisodeStatus, outcome: &str) {
        self.stages.push(StageReport {
            stage: self.at.name().to_owned(),
            episode: episode.map(ToString::to_string),
            status,
            outcome: clip(outcome, 200),
        });
    }

    fn on_child(
        &mut self,
        child: &EpisodeId,
        result: &EpisodeResult,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        let said = result.answer.as_ref().map_or("", Text::as_str).to_owned();
        let outcome = match result.status {
            EpisodeStatus::Ok => said.clone(),
            EpisodeStatus::NeedsReview | EpisodeStatus::Failed => {
                let found = result.summary.lines().nth(2).unwrap_or_default();
                format!("{}: {found}", result.stop_reason)
            }
        };
        self.note(Some(child), result.status, &outcome);
        for action in &result.next_actions {
            if let NextAction::Handoff(ticket) = action
                // A capsule that failed its proof is still good for this run, so nobody has to look at it.
                && !matches!(self.at, AgencyStage::Prove(_))
            {
                self.tickets.push(ticket.clone());
            }
        }
        let is_ok = result.status == EpisodeStatus::Ok;
        match self.at {
            AgencyStage::Make(i) if is_ok => {
                self.capsule = said;
                self.prove(i, view)
            }
            AgencyStage::Prove(i) => self.keep(i, is_ok, view),
            AgencyStage::Plan if is_ok => {
                self.plan = said;
                self.create(view)
            }
            AgencyStage::Create if is_ok => {
                self.asset = said;
                self.judge(view)
            }
            // A judge that could not speak has not said no; a person looks at what goes out.
            AgencyStage::Judge => self.on_judged(result, view),
            AgencyStage::Publish if is_ok => {
                self.post = serde_json::from_str(&said).unwrap_or_default();
                self.verify_post(view)
            }
            // Where nobody knows whether it can be seen, nobody is answered under it.
            AgencyStage::Verify if is_ok && self.params.lane.feed.is_some() => {
                let seen: Value = serde_json::from_str(&said).unwrap_or_default();
                // A browser shows what the platform calls a post only afterwards.
                if let Some(id) = seen.get("id").filter(|id| id.is_string()) {
                    self.post["post"] = id.clone();
                }
                self.engage(view)
            }
            AgencyStage::Engage => {
                let said: Value = serde_json::from_str(&said).unwrap_or_default();
                let answered = said.get("comments").and_then(Value::as_array);
                let sent = |one: &&Value| one.get("reply").is_some_and(Value::is_string);
                self.replies = answered
                    .into_iter()
                    .flatten()
                    .filter(sent)
                    .cloned()
                    .collect();
                self.verify_replies(0, view)
            }
            // A reply that cannot be seen does not keep the others from being looked for.
            AgencyStage::VerifyReply(i) => self.verify_replies(i + 1, view),
            AgencyStage::Document => self.finish(),
            AgencyStage::Verify => self.document(view),
            AgencyStage::Find(_) | AgencyStage::Keep(_) => Vec::new(),
            AgencyStage::Make(_)
            | AgencyStage::Plan
            | AgencyStage::Create
            | AgencyStage::Publish => {
                self.failed = Some(result.stop_reason.clone());
                self.document(view)
            }
        }
    }

    fn on_refused(&mut self, reason: &Refusal, view: &ProgramView<'_>) -> Vec<Ask> {
        self.note(None, EpisodeStatus::Failed, &reason.to_string());
        // What failed before is written down once; a refused journal entry would be refused again.
        if self.failed.is_some() || self.at == AgencyStage::Document {
            self.failed.get_or_insert(reason.as_stop());
            return self.finish();
        }
        self.failed = Some(reason.as_stop());
        self.document(view)
    }

    fn report(&self) -> AgencyReport {
        AgencyReport {
            brand: self.params.brand.clone(),
            occasion: self.params.occasion.clone(),
            lane: self.params.lane.name.clone(),
            stages: self.stages.clone(),
        }
    }

    fn finish(&self) -> Vec<Ask> {
        let title = self.post.get("title").and_then(Value::as_str);
        let answer = title.map(|title| {
            let answered = self.replies.len();
            format!("published `{title}`; answered {answered} comments")
        });
        let did = format!("{} stages by {}", self.stages.len(), self.params.lane.name);
        let last = self
            .stages
            .iter()
            .rev()
            .find(|stage| stage.status != EpisodeStatus::Ok);
        let found = last.map_or_else(
            || "all of it went well".to_owned(),
            |stage| format!("{}: {}", stage.stage, stage.outcome),
        );
        // A ticket weighs more than a failure: it tells a person what to do about it.
        let mut end = match (self.tickets.first(), &self.failed) {
            (None, None) => RoleEnd::ok(answer.clone().unwrap_or_default(), did, found),
            (Some(ticket), failed) => {
                let stop = failed.clone().unwrap_or(StopReason::ReviewFailed);
                RoleEnd::review(stop, ticket.clone(), answer.clone())
            }
            (None, Some(stop)) => RoleEnd::failed(stop.clone(), did, found),
        };
        end.answer = answer;
        end.report = serde_json::to_value(self.report()).ok();
        end.artifacts = self
            .capsules
            .iter()
            .map(|(pointer, _)| pointer.clone())
            .collect();
        end.finish(&self.goal)
    }
}

/// The id of the capsule of a source: another text is another source.
pub(super) fn capsule_id(source: &CapsuleSource) -> String {
    let digits = source.digest.get(..12).unwrap_or_default();
    format!("{}-{digits}", source.kind)
}

impl Program for AgencyProgram {
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        match input {
            ProgramInput::Start(started) => {
                started.goal.as_str().clone_into(&mut self.goal);
                self.find(0, view)
            }
            ProgramInput::Host { ask, text } if ask == self.awaited => match self.at {
                AgencyStage::Find(i) => self.on_found(i, text, view),
                AgencyStage::Keep(i) => {
                    if let Err(why) = role_program::records(text) {
                        // Without a capsule that is kept the next run makes it again; this one has it.
                        self.note(None, EpisodeStatus::NeedsReview, &why);
                    }
                    self.find(i + 1, view)
                }
                _ => Vec::new(),
            },
            ProgramInput::Child { ask, child, result } if ask == self.awaited => {
                self.on_child(child, result, view)
            }
            ProgramInput::Refused { ask, reason } if ask == self.awaited => {
                self.on_refused(reason, view)
            }
            _ => Vec::new(),
        }
    }

    fn partial(&self) -> Option<Text> {
        let title = self.post.get("title").and_then(Value::as_str)?;
        Some(Text::new(format!("published `{title}`")))
    }

    fn report(&self) -> Option<Text> {
        serde_json::to_string(&self.report()).ok().map(Text::new)
    }
}
