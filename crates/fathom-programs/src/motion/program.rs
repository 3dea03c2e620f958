//! The episode of `motion`, from the proposal to the ruling.

use super::config::MotionConfig;
use std::collections::BTreeMap;

use super::reply::{RoleBallot, SCHEMA, TASK};
use crate::ask_batch::AskBatch;
use fathom_core::contract::stop::StopReason;
use fathom_core::council_bus::{
    CouncilRole, EscalationCause, EscalationTracker, HeartbeatState, MessageDraft, MessageId,
    MotionOutcome, MotionRuling, RoleAssembly, RoleLiveness, VoteCount,
};
use fathom_core::episode::program::{
    Ask, ModelAsk, Program, ProgramError, ProgramInput, ProgramView,
};
use fathom_core::episode::result::{
    Decision, EpisodeStatus, HandoffTicket, NextAction, ProgramVerdict, ResultSummary, clip,
};
use fathom_core::id::AskId;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::{ChatMessage, ModelReply, Speaker};
use fathom_core::packet::Packet;
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Timestamp};

/// The program's name, and the kind of child that it makes.
pub const NAME: &str = "motion";

/// Least output of a call with which a vote can be said.
const OUTPUT_TOKENS_MIN: u32 = 32;

/// The `motion` program: opens a vote on the bus, asks every role, and rules on the votes in time.
pub struct MotionProgram {
    params: MotionConfig,
    /// Opening time of the vote, with the time left then.
    opened: (Timestamp, Millis),
    /// The message that opened it.
    id: Option<MessageId>,
    assembly: RoleAssembly,
    liveness: RoleLiveness,
    escalations: EscalationTracker,
    /// Calls that are out.
    open: BTreeMap<AskId, CouncilRole>,
    /// The moment asked for, until it comes.
    wake: Option<Timestamp>,
    decisions: Vec<Decision>,
    /// Bus messages about roles without a vote, and about escalations.
    remarks: Vec<String>,
}

/// One turn of the program: its view, and the asks in the making.
struct MotionTurn<'a> {
    view: &'a ProgramView<'a>,
    asks: AskBatch,
}

impl MotionProgram {
    /// Builds the program from the parameters in `spec`.
    pub fn new(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        let params = MotionConfig::read(spec)?;
        Ok(Self {
            assembly: RoleAssembly::new([], params.deadline),
            params,
            opened: (Timestamp::default(), Millis::default()),
            id: None,
            liveness: RoleLiveness::default(),
            escalations: EscalationTracker::default(),
            open: BTreeMap::new(),
            wake: None,
            decisions: Vec::new(),
            remarks: Vec::new(),
        })
    }

    /// The present moment on a clock that stands still while nobody works on the episode.
    fn moment(&self, view: &ProgramView<'_>) -> Timestamp {
        let (at, left) = self.opened;
        at.plus(Millis(left.0.saturating_sub(view.time_left.0)))
    }

    /// Puts a message on the bus and takes it in as every reader will. Says whether it counts, to the bus as well.
    fn post(&mut self, draft: MessageDraft, turn: &mut MotionTurn<'_>) -> bool {
        let ask = turn.asks.push(Ask::Post(Box::new(draft.clone())));
        // Stamped with the number of its ask, as readers of the journal will, so that both count the same messages.
        let envelope = draft.stamp(turn.view.episode, ask, turn.view.at);
        let taken = self.assembly.take(&envelope, self.moment(turn.view));
        if let Err(reason) = taken {
            self.remark(&format!("{}: not counted: {reason}", envelope.role), turn);
        }
        taken.is_ok()
    }

    /// Tells the bus something that binds nobody.
    fn remark(&mut self, what: &str, turn: &mut MotionTurn<'_>) {
        self.remarks.push(what.to_owned());
        let mut info = MessageDraft::info(self.params.proposer, what);
        if let Some(motion) = self.id {
            info = info.about(motion);
        }
        turn.asks.push(Ask::Post(Box::new(info)));
    }

    fn escalate(
        &mut self,
        about: MessageId,
        causes: &[EscalationCause],
        turn: &mut MotionTurn<'_>,
    ) {
        for cause in causes {
            self.remarks.push(format!("escalated to prime: {cause}"));
            let draft = MessageDraft::escalation(self.params.proposer, cause.to_string());
            let draft = draft.about(about).at_risk(self.params.risk);
            turn.asks.push(Ask::Post(Box::new(draft)));
        }
    }

    fn open(&mut self, goal: &Text, turn: &mut MotionTurn<'_>) {
        // The moment and the time left then: their difference to now gives active time, which the wall clock does
        // not.
        self.opened = (turn.view.at, turn.view.time_left);
        if self.params.proposal.trim().is_empty() {
            goal.as_str().clone_into(&mut self.params.proposal);
        }
        let (risk, confidence) = (self.params.risk, self.params.confidence);
        // Before the proposal is posted: its own id is that of the next ask, and the escalations refer to it.
        let motion = MessageId::of(turn.view.episode, turn.asks.next());
        let causes = self.escalations.look(motion, risk, confidence);
        if !causes.is_empty() && !self.params.roles.contains(&CouncilRole::Prime) {
            self.params.roles.push(CouncilRole::Prime);
        }
        let roles = self.params.roles.iter().copied();
        self.assembly = RoleAssembly::new(roles, self.params.deadline);
        self.id = Some(motion);
        let draft = MessageDraft::proposal(self.params.proposer, self.params.proposal.as_str());
        self.post(draft.at_risk(risk).confident(confidence), turn);
        self.escalate(motion, &causes, turn);
        let at = self.moment(turn.view);
        let seats: Vec<CouncilRole> = self.assembly.active().collect();
        for role in seats {
            let ask = turn.asks.push(self.call(role, &causes));
            self.open.insert(ask, role);
            self.liveness.asked(role, at);
        }
    }

    fn call(&self, role: CouncilRole, escalated: &[EscalationCause]) -> Ask {
        let mut standing = format!("You vote in a council of models in the role {role}. {TASK}");
        if let Some(more) = self.params.instructions.get(&role) {
            standing.extend(["\n", more]);
        }
        if role == CouncilRole::Prime {
            for cause in escalated {
                let why = cause.to_string();
                standing.extend(["\nThis was escalated to you: ", &why, "."]);
            }
        }
        let prompt = format!("---\n{}\n---", self.params.proposal.trim());
        let packet = Packet {
            standing: Text::new(standing),
            prompt: vec![ChatMessage::new(Speaker::User, prompt)],
            confidence_milli: self.params.confidence.map(u16::from),
            risk: Some(self.params.risk),
            ..Packet::default()
        };
        Ask::Model(Box::new(ModelAsk {
            output_tokens_max: self.params.output_tokens_max,
            output_tokens_min: OUTPUT_TOKENS_MIN,
            temperature_milli: self.params.temperature_milli,
            schema: Some(SCHEMA.into()),
            timeout: self.params.timeout,
            ..ModelAsk::new(role.model(), packet)
        }))
    }

    fn heard(&mut self, role: CouncilRole, turn: &mut MotionTurn<'_>) {
        let at = self.moment(turn.view);
        if let Some(pulse) = self.liveness.heard(role, at) {
            self.post(MessageDraft::heartbeat(role, pulse), turn);
        }
    }

    fn on_reply(&mut self, role: CouncilRole, reply: &ModelReply, turn: &mut MotionTurn<'_>) {
        self.heard(role, turn);
        // A role whose call has ended cannot fall silent any more.
        self.liveness.ended(role);
        let Some(motion) = self.id else { return };
        let Some(said) = super::reply::read(reply.text.as_str()) else {
            return self.remark(&format!("{role}: no vote: the reply cannot be read"), turn);
        };
        let RoleBallot {
            ballot,
            confidence,
            reason,
        } = said;
        let draft = MessageDraft::vote(role, motion, ballot, &reason)
            .confident(Some(confidence))
            .at_risk(self.params.risk);
        // A vote that the bus does not count decides nothing and must not raise an alarm either.
        if !self.post(draft, turn) {
            return;
        }
        self.decisions.push(Decision {
            what: Text::new(format!("{role}: {ballot}, {} %", confidence.percent())),
            rationale: Text::new(reason),
        });
        let causes = self
            .escalations
            .look(motion, self.params.risk, Some(confidence));
        self.escalate(motion, &causes, turn);
    }

    /// A call that brought nothing: no vote, and no sign of life either.
    fn on_nothing(&mut self, role: CouncilRole, why: &str, turn: &mut MotionTurn<'_>) {
        self.liveness.ended(role);
        self.remark(&format!("{role}: no vote: {why}"), turn);
    }

    fn on_tick(&mut self, turn: &mut MotionTurn<'_>) {
        self.wake = None;
        for role in self.liveness.look(self.moment(turn.view)) {
            self.remarks.push(format!("{role}: silent, inactive"));
            self.post(
                MessageDraft::heartbeat(role, HeartbeatState::Inactive),
                turn,
            );
        }
    }

    /// Closes the vote when there is nobody left to wait for, and waits on otherwise.
    fn go_on(&mut self, turn: &mut MotionTurn<'_>) {
        let Some(motion) = self.id else { return };
        let at = self.moment(turn.view);
        let deadline = self.assembly.deadline(motion).unwrap_or(at);
        let mut awaited = self.open.values();
        if at < deadline && awaited.any(|role| self.assembly.is_active(*role)) {
            let next = self
                .liveness
                .next_look()
                .map_or(deadline, |look| look.min(deadline));
            let wake = turn.view.at.plus(next.since(at));
            // Only an earlier moment needs a new ask; a later one is found when the one asked for comes.
            if self.wake.is_none_or(|asked| wake < asked) {
                self.wake = Some(wake);
                turn.asks.push(Ask::Wake(wake));
            }
            return;
        }
        if let Some(outcome) = self.assembly.close(motion).cloned() {
            let verdict = self.verdict(&outcome);
            turn.asks.push(Ask::Finish(Box::new(verdict)));
        }
    }

    fn verdict(&self, outcome: &MotionOutcome) -> ProgramVerdict {
        let proposal = clip(&self.params.proposal, 120);
        let (status, stop, next_actions) = match outcome.ruling {
            MotionRuling::Carried { .. } | MotionRuling::Defeated { .. } => {
                (EpisodeStatus::Ok, StopReason::Success, Vec::new())
            }
            MotionRuling::ForPerson { why } => {
                let ticket = HandoffTicket {
                    tried: Text::new(format!("a vote on: {proposal}")),
                    known: Text::new(outcome.to_string()),
                    asked: Text::new(format!(
                        "decide on the proposal; the roles could not: {why}"
                    )),
                    deadline: None,
                };
                let next = vec![NextAction::Handoff(ticket)];
                (EpisodeStatus::NeedsReview, StopReason::Undecided, next)
            }
        };
        ProgramVerdict {
            status,
            stop,
            answer: Some(Text::new(format!("{outcome}; proposal: {proposal}"))),
            report: serde_json::to_string(outcome).ok().map(Text::new),
            summary: ResultSummary::new(
                [
                    format!("proposal: {proposal}"),
                    outcome.ruling.to_string(),
                    format!("{}, quorum {}", outcome.count, outcome.quorum),
                ],
                self.remarks.iter().cloned(),
            ),
            artifacts: Vec::new(),
            decisions: self.decisions.clone(),
            verification_needed: false,
            next_actions,
        }
    }
}

impl Program for MotionProgram {
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        let mut turn = MotionTurn {
            view,
            asks: AskBatch::new(view),
        };
        match input {
            ProgramInput::Start(started) => self.open(&started.goal, &mut turn),
            ProgramInput::Delta { ask, .. } => {
                if let Some(&role) = self.open.get(&ask) {
                    self.heard(role, &mut turn);
                }
            }
            ProgramInput::Reply { ask, reply } => {
                if let Some(role) = self.open.remove(&ask) {
                    self.on_reply(role, reply, &mut turn);
                }
            }
            ProgramInput::Failed { ask, failure } => {
                if let Some(role) = self.open.remove(&ask) {
                    self.on_nothing(role, &failure.to_string(), &mut turn);
                }
            }
            ProgramInput::Refused { ask, reason } => {
                if let Some(role) = self.open.remove(&ask) {
                    self.on_nothing(role, &reason.to_string(), &mut turn);
                }
            }
            ProgramInput::Tick => self.on_tick(&mut turn),
            ProgramInput::Child { .. }
            | ProgramInput::Effect { .. }
            | ProgramInput::Host { .. }
            | ProgramInput::Cell { .. }
            | ProgramInput::CellEnded { .. }
            | ProgramInput::Signal(_) => {
                return Vec::new();
            }
        }
        self.go_on(&mut turn);
        turn.asks.list
    }

    fn partial(&self) -> Option<Text> {
        let votes = self.assembly.votes(self.id?)?;
        let proposal = clip(&self.params.proposal, 120);
        let count = VoteCount::of(votes);
        (count.cast() > 0).then(|| Text::new(format!("undecided: {count}; proposal: {proposal}")))
    }
}
