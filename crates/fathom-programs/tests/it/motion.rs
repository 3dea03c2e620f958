//! `motion`: a proposal is put to the vote of the council's roles.

use std::sync::Arc;

use fathom_core::budget::amounts::Amounts;
use fathom_core::contract::stop::{ErrorClass, StopReason};
use fathom_core::council_bus::{
    CouncilRole, DeferralReason, Envelope, MessageId, MessageType, MotionRuling, RoleAssembly,
    messages,
};
use fathom_core::episode::program::{Ask, ProgramFactory};
use fathom_core::episode::result::{EpisodeResult, EpisodeStatus, NextAction};
use fathom_core::id::{AskId, EpisodeId, Epoch};
use fathom_core::journal::event::{EpisodeSpec, ReleaseReason};
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{ModelRole, Speaker};
use fathom_core::packet::PacketRisk;
use fathom_core::run::step::HostStep;
use fathom_core::text::Text;
use fathom_core::unit::{Millis, PerMille, Timestamp};
use fathom_programs::BuiltInPrograms;
use fathom_programs::motion::{MotionConfig, NAME};

use fathom_testkit::manual_host::host::{ManualHost, Sent, at, refold};
use fathom_testkit::manual_host::log::Journal;
use fathom_testkit::manual_host::samples::{AMPLE, BEGIN, root, spawn_request};
use fathom_testkit::manual_host::scripted_program::Scripts;

use CouncilRole::{CodeMind, Lite, Prime};

const SILENCE: Millis = Millis(90_001);

fn proposed() -> MotionConfig {
    MotionConfig {
        proposal: "Move the database to the new cluster.".into(),
        ..MotionConfig::default()
    }
}

fn started(params: &MotionConfig) -> EpisodeSpec {
    EpisodeSpec {
        program: params.spec(),
        ..root(AMPLE)
    }
}

/// A vote that has begun, with the calls to the roles that were asked.
struct Hall {
    desk: ManualHost,
    calls: Vec<Sent>,
}

impl Hall {
    fn new(params: &MotionConfig) -> Self {
        Self::open(started(params))
    }

    fn open(started: EpisodeSpec) -> Self {
        let mut hall = Self {
            desk: ManualHost::open(BuiltInPrograms, started),
            calls: Vec::new(),
        };
        hall.collect();
        hall
    }

    fn collect(&mut self) {
        self.calls.clear();
        while self.desk.calls_out() > 0 {
            let sent = self.desk.sent();
            self.calls.push(sent);
        }
    }

    #[track_caller]
    fn call(&self, role: CouncilRole) -> Sent {
        let call = self.calls.iter().find(|sent| sent.model == role.model());
        call.expect("the role was asked").clone()
    }

    #[track_caller]
    fn says(&mut self, role: CouncilRole, reply: &str) {
        let call = self.call(role);
        self.desk.reply(&call, reply);
    }

    #[track_caller]
    fn votes(&mut self, role: CouncilRole, ballot: &str) {
        self.says(role, &vote(ballot, 80));
    }

    #[track_caller]
    fn fails(&mut self, role: CouncilRole, kind: FailureKind) {
        let call = self.call(role);
        self.desk
            .fail(&call, ModelFailure::unsent(kind, "nobody there"));
    }

    #[track_caller]
    fn speaks(&mut self, role: CouncilRole) {
        let call = self.call(role);
        self.desk.delta(&call, "{");
    }

    #[track_caller]
    fn ring(&mut self) {
        self.desk.ring(&EpisodeId::root());
    }

    fn timer(&self) -> Option<Timestamp> {
        let steps = self.desk.steps.iter().rev();
        steps.clone().find_map(|step| match step {
            HostStep::Timer { at, .. } => Some(*at),
            _ => None,
        })
    }

    /// Type, role and first line of what went on the bus.
    fn bus(&self) -> Vec<(MessageType, CouncilRole, String)> {
        bus(&self.desk.log)
    }

    fn of_type(&self, kind: MessageType) -> Vec<(CouncilRole, String)> {
        let bus = self.bus().into_iter();
        bus.filter(|(of, ..)| *of == kind)
            .map(|(_, role, said)| (role, said))
            .collect()
    }

    #[track_caller]
    fn ended(&mut self) -> &EpisodeResult {
        for sent in self.calls.clone() {
            if self
                .desk
                .cancelled()
                .contains(&(sent.episode.clone(), sent.ask, sent.attempt))
            {
                let given_up = ModelFailure::sent(FailureKind::Cancelled, "");
                self.desk.fail(&sent, given_up);
            }
        }
        self.desk.result()
    }
}

fn bus(log: &Journal) -> Vec<(MessageType, CouncilRole, String)> {
    let first = |envelope: &Envelope| {
        let line = envelope.content.as_str().lines().next();
        line.unwrap_or_default().to_owned()
    };
    messages(log.of(&EpisodeId::root()))
        .map(|envelope| (envelope.kind, envelope.role, first(envelope)))
        .collect()
}

fn vote(ballot: &str, percent: u16) -> String {
    format!(r#"{{"reason":"It is {ballot}.","vote":"{ballot}","confidence":{percent}}}"#)
}

fn answer(result: &EpisodeResult) -> &str {
    result.answer.as_ref().map_or("", Text::as_str)
}

#[track_caller]
fn handed_off(result: &EpisodeResult) -> (&str, &str) {
    assert_eq!(
        (result.status, &result.stop_reason),
        (EpisodeStatus::NeedsReview, &StopReason::Undecided)
    );
    match result.next_actions.as_slice() {
        [NextAction::Handoff(ticket)] => (ticket.known.as_str(), ticket.asked.as_str()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn c11_every_role_is_asked_and_the_majority_decides() {
    let mut hall = Hall::new(&proposed());
    let models: Vec<ModelRole> = hall.calls.iter().map(|sent| sent.model).collect();
    assert_eq!(
        models,
        [ModelRole::Prime, ModelRole::Lite, ModelRole::CodeMind]
    );
    hall.votes(Prime, "no");
    hall.votes(CodeMind, "yes");
    hall.votes(Lite, "yes");
    assert_eq!(
        hall.bus(),
        [
            (
                MessageType::Proposal,
                Prime,
                "Move the database to the new cluster.".to_owned()
            ),
            (MessageType::Vote, Prime, "no".to_owned()),
            (MessageType::Vote, CodeMind, "yes".to_owned()),
            (MessageType::Vote, Lite, "yes".to_owned()),
        ]
    );
    let result = hall.ended();
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert_eq!(result.stop_reason, StopReason::Success);
    assert_eq!(
        answer(result),
        "carried (2 yes, 1 no, 0 abstain): prime no, lite yes, codemind yes; proposal: Move the database to the new \
         cluster."
    );
    let decisions: Vec<(&str, &str)> = result
        .decisions
        .iter()
        .map(|d| (d.what.as_str(), d.rationale.as_str()))
        .collect();
    assert_eq!(
        decisions,
        [
            ("prime: no, 80 %", "It is no."),
            ("codemind: yes, 80 %", "It is yes."),
            ("lite: yes, 80 %", "It is yes."),
        ]
    );
    assert!(result.next_actions.is_empty());
}

#[test]
fn c11_a_role_is_told_what_it_is_for_and_what_to_judge() {
    let params = MotionConfig {
        instructions: [(CodeMind, "Look at the migration script.".to_owned())].into(),
        ..proposed()
    };
    let hall = Hall::new(&params);
    let code = hall.call(CodeMind);
    let system = &code.request.messages[0];
    assert_eq!(system.speaker, Speaker::System);
    assert!(system.text.as_str().contains("in the role codemind"));
    assert!(
        system
            .text
            .as_str()
            .ends_with("\nLook at the migration script.")
    );
    assert_eq!(
        code.request.messages[1].text.as_str(),
        "---\nMove the database to the new cluster.\n---"
    );
    assert!(code.request.schema.is_some());
    let lite = hall.call(Lite);
    assert!(!lite.request.messages[0].text.as_str().contains("migration"));
}

#[test]
fn c11_the_goal_is_the_proposal_where_none_is_given() {
    let mut given = started(&MotionConfig::default());
    given.goal = "Rename the branch.".into();
    let hall = Hall::open(given);
    let proposal = hall.of_type(MessageType::Proposal);
    assert_eq!(proposal, [(Prime, "Rename the branch.".to_owned())]);
}

#[test]
fn c11_votes_carry_confidence_risk_and_motion() {
    let params = MotionConfig {
        proposer: Lite,
        risk: PacketRisk::Med,
        confidence: PerMille::new(640).ok(),
        ..proposed()
    };
    let mut hall = Hall::new(&params);
    hall.says(Lite, &vote("abstain", 31));
    let root = EpisodeId::root();
    let posted: Vec<&Envelope> = messages(hall.desk.log.of(&root)).collect();
    let [proposal, vote] = posted.as_slice() else {
        panic!("{posted:?}");
    };
    assert_eq!(proposal.role, Lite);
    assert_eq!(proposal.msg_id, MessageId::of(&root, AskId(0)));
    assert_eq!(proposal.confidence.map(PerMille::get), Some(640));
    assert_eq!(vote.parent_id, Some(proposal.msg_id));
    assert_eq!(vote.confidence.map(PerMille::get), Some(310));
    assert_eq!(vote.risk_level, PacketRisk::Med);
    assert_eq!(vote.content.as_str(), "abstain\nIt is abstain.");
}

#[test]
fn c11_a_tie_is_prime_s_in_a_motion_too() {
    let mut hall = Hall::new(&proposed());
    hall.votes(Lite, "yes");
    hall.votes(CodeMind, "abstain");
    hall.votes(Prime, "no");
    let result = hall.ended();
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert!(
        answer(result).starts_with("defeated by Prime's vote in a tie (1 yes, 1 no, 1 abstain)")
    );
}

#[test]
fn c11_a_tie_without_prime_is_handed_to_a_person() {
    let mut hall = Hall::new(&proposed());
    hall.votes(Lite, "yes");
    hall.votes(CodeMind, "no");
    hall.votes(Prime, "abstain");
    let (known, asked) = handed_off(hall.ended());
    assert!(
        known.ends_with(": prime abstain, lite yes, codemind no"),
        "{known}"
    );
    assert_eq!(
        asked,
        "decide on the proposal; the roles could not: a tie that Prime does not break"
    );
}

#[test]
fn c11_what_is_no_vote_is_told_and_not_counted() {
    let mut hall = Hall::new(&proposed());
    hall.says(Lite, "I vote yes! VOTE: yes");
    hall.fails(CodeMind, FailureKind::Refused);
    hall.votes(Prime, "yes");
    let info = hall.of_type(MessageType::Info);
    assert_eq!(info.len(), 2, "{info:?}");
    assert_eq!(info[0].1, "lite: no vote: the reply cannot be read");
    assert!(info[1].1.starts_with("codemind: no vote: "), "{info:?}");
    assert_eq!(hall.of_type(MessageType::Vote).len(), 1);
    let (known, asked) = handed_off(hall.ended());
    assert!(
        known.contains("(1 yes, 0 no, 0 abstain): prime yes"),
        "{known}"
    );
    assert!(asked.ends_with("1 voted and 2 are needed"), "{asked}");
}

#[test]
fn c11_a_failure_of_every_role_fails_the_episode_as_it_fails_any() {
    let mut hall = Hall::new(&proposed());
    for role in CouncilRole::ALL {
        hall.fails(role, FailureKind::Refused);
    }
    let class = ErrorClass::Model(FailureKind::Refused);
    let result = hall.ended();
    assert_eq!(result.status, EpisodeStatus::Failed);
    assert_eq!(
        result.stop_reason,
        StopReason::RepeatedFailure { class, count: 3 }
    );
}

#[test]
fn c11_a_refused_call_is_no_vote() {
    let params = MotionConfig {
        output_tokens_max: 100,
        ..proposed()
    };
    let mut given = started(&params);
    given.budget.amounts = Amounts { calls: 1, ..AMPLE };
    let mut hall = Hall::open(given);
    assert_eq!(hall.calls.len(), 1);
    hall.votes(Prime, "yes");
    assert_eq!(hall.of_type(MessageType::Info).len(), 2);
    let (_, asked) = handed_off(hall.ended());
    assert!(asked.ends_with("1 voted and 2 are needed"), "{asked}");
}

#[test]
fn c11_a_role_that_is_silent_for_over_90_s_is_not_waited_for() {
    let mut hall = Hall::new(&proposed());
    let edge = BEGIN.plus(SILENCE);
    assert_eq!(hall.timer(), Some(edge));
    hall.votes(Lite, "yes");
    hall.votes(Prime, "yes");
    hall.desk.now = Timestamp(edge.0 - 1);
    hall.desk.deliver(
        &EpisodeId::root(),
        fathom_core::journal::event::EventKind::Tick,
    );
    assert!(!hall.desk.is_over(), "exactly 90 s are not too long");
    assert_eq!(hall.of_type(MessageType::Heartbeat), []);
    hall.ring();
    assert_eq!(
        hall.of_type(MessageType::Heartbeat),
        [(CodeMind, "inactive".to_owned())]
    );
    let result = hall.ended();
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert!(answer(result).starts_with("carried (2 yes, 0 no, 0 abstain): prime yes, lite yes"));
    assert_eq!(result.budget.time_spent, SILENCE);
}

#[test]
fn c11_with_one_role_active_a_motion_is_handed_to_a_person() {
    let mut hall = Hall::new(&proposed());
    hall.votes(Lite, "yes");
    hall.ring();
    let silent: Vec<CouncilRole> = hall
        .of_type(MessageType::Heartbeat)
        .into_iter()
        .map(|(role, _)| role)
        .collect();
    assert_eq!(silent, [Prime, CodeMind]);
    let (_, asked) = handed_off(hall.ended());
    assert!(
        asked.ends_with("1 of the council's roles active"),
        "{asked}"
    );
}

#[test]
fn c11_a_word_is_a_sign_of_life() {
    let mut hall = Hall::new(&proposed());
    hall.votes(Lite, "yes");
    hall.votes(Prime, "no");
    hall.desk.wait(Millis(60_000));
    hall.speaks(CodeMind);
    hall.ring();
    assert!(!hall.desk.is_over(), "it spoke 30 s ago");
    assert_eq!(hall.timer(), Some(BEGIN.plus(Millis(150_001))));
    assert_eq!(hall.of_type(MessageType::Heartbeat), []);
    hall.ring();
    let silent = hall.of_type(MessageType::Heartbeat);
    assert_eq!(silent, [(CodeMind, "inactive".to_owned())]);
    assert!(answer(hall.ended()).starts_with("defeated by Prime's vote in a tie"));
}

#[test]
fn c11_a_role_that_was_inactive_is_back_when_it_is_heard() {
    let mut hall = Hall::new(&proposed());
    hall.desk.wait(Millis(50_000));
    hall.speaks(Prime);
    hall.ring();
    let pulses = |hall: &Hall| hall.of_type(MessageType::Heartbeat);
    let inactive = |role| (role, "inactive".to_owned());
    let active = |role| (role, "active".to_owned());
    assert_eq!(pulses(&hall), [inactive(Lite), inactive(CodeMind)]);
    assert!(!hall.desk.is_over(), "Prime is still waited for");
    hall.desk.wait(Millis(10_000));
    hall.speaks(Lite);
    hall.speaks(Lite);
    assert_eq!(pulses(&hall).last(), Some(&active(Lite)));
    assert_eq!(pulses(&hall).len(), 3, "only the change is told");
    // A vote brings a role back as well.
    hall.votes(CodeMind, "no");
    assert_eq!(pulses(&hall).last(), Some(&active(CodeMind)));
    hall.votes(Prime, "yes");
    assert!(!hall.desk.is_over(), "Lite is waited for again");
    hall.votes(Lite, "no");
    let result = hall.ended();
    assert!(answer(result).starts_with("defeated (1 yes, 2 no, 0 abstain)"));
}

#[test]
fn c11_a_motion_closes_at_its_deadline() {
    let params = MotionConfig {
        deadline: Millis(40_000),
        ..proposed()
    };
    let mut hall = Hall::new(&params);
    assert_eq!(hall.timer(), Some(BEGIN.plus(Millis(40_000))));
    hall.votes(Lite, "no");
    hall.votes(CodeMind, "no");
    hall.ring();
    let result = hall.ended();
    assert!(answer(result).starts_with("defeated (0 yes, 2 no, 0 abstain)"));
    assert_eq!(hall.desk.cancelled().len(), 1, "Prime's call is given up");
}

#[test]
fn c11_a_vote_after_the_deadline_does_not_count_and_is_told() {
    let params = MotionConfig {
        deadline: Millis(40_000),
        ..proposed()
    };
    let mut hall = Hall::new(&params);
    hall.votes(Lite, "no");
    hall.desk.wait(Millis(40_001));
    hall.votes(Prime, "yes");
    let info = hall.of_type(MessageType::Info);
    assert_eq!(
        info,
        [(
            Prime,
            "prime: not counted: the motion's time is up".to_owned()
        )]
    );
    let result = hall.ended();
    assert_eq!(result.decisions.len(), 1);
    let (_, asked) = handed_off(result);
    assert!(asked.ends_with("1 voted and 2 are needed"), "{asked}");
}

#[test]
fn c11_high_risk_is_escalated_to_prime_once() {
    let params = MotionConfig {
        risk: PacketRisk::High,
        confidence: PerMille::new(290).ok(),
        roles: vec![Lite, CodeMind],
        proposer: Lite,
        ..proposed()
    };
    let mut hall = Hall::new(&params);
    let told = [
        (Lite, "the risk is high".to_owned()),
        (Lite, "confidence is under 0.3".to_owned()),
    ];
    assert_eq!(hall.of_type(MessageType::Escalation), told);
    // Prime is brought in, and hears why.
    let prime = hall.call(Prime).request;
    let standing = prime.messages[0].text.as_str();
    assert!(
        standing.ends_with(
            "\nThis was escalated to you: the risk is high.\nThis was escalated to you: confidence is under 0.3."
        ),
        "{standing}"
    );
    let lite = hall.call(Lite).request;
    assert!(!lite.messages[0].text.as_str().contains("escalated"));
    // Unsure votes are the same cause in the same matter.
    hall.says(Lite, &vote("yes", 5));
    hall.says(CodeMind, &vote("yes", 5));
    hall.votes(Prime, "yes");
    assert_eq!(hall.of_type(MessageType::Escalation), told);
    assert_eq!(hall.ended().status, EpisodeStatus::Ok);
}

#[test]
fn c11_an_unsure_vote_is_escalated() {
    let mut hall = Hall::new(&proposed());
    hall.says(Lite, &vote("yes", 30));
    assert_eq!(hall.of_type(MessageType::Escalation), []);
    hall.says(CodeMind, &vote("yes", 29));
    assert_eq!(
        hall.of_type(MessageType::Escalation),
        [(Prime, "confidence is under 0.3".to_owned())]
    );
}

#[test]
fn c11_the_same_votes_in_any_order_rule_the_same() {
    let ballots = [(Prime, "no"), (Lite, "yes"), (CodeMind, "abstain")];
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    for order in orders {
        let mut hall = Hall::new(&proposed());
        for place in order {
            let (role, ballot) = ballots[place];
            hall.votes(role, ballot);
        }
        assert!(
            answer(hall.ended()).starts_with("defeated by Prime's vote in a tie (1 yes, 1 no"),
            "{order:?}"
        );
    }
}

/// A vote with a silent role, an escalation, a failure and a late return.
fn eventful() -> Hall {
    let params = MotionConfig {
        risk: PacketRisk::High,
        ..proposed()
    };
    let mut hall = Hall::new(&params);
    hall.votes(Lite, "yes");
    hall.desk.wait(Millis(20_000));
    hall.speaks(Prime);
    hall.ring();
    hall.desk.wait(Millis(1_000));
    hall.speaks(CodeMind);
    hall.votes(Prime, "no");
    hall.says(CodeMind, "?");
    hall
}

#[test]
fn c11_whoever_reads_the_bus_comes_to_the_same_outcome() {
    let mut hall = eventful();
    let root = EpisodeId::root();
    let mut assembly = RoleAssembly::new(CouncilRole::ALL, MotionConfig::default().deadline);
    let mut motion = None;
    for envelope in messages(hall.desk.log.of(&root)) {
        assembly.take(envelope, envelope.timestamp).unwrap();
        if envelope.kind == MessageType::Proposal {
            motion = Some(envelope.msg_id);
        }
    }
    let outcome = assembly.close(motion.unwrap()).unwrap().to_string();
    assert!(outcome.starts_with("defeated by Prime's vote in a tie"));
    assert!(answer(hall.ended()).starts_with(&outcome));
}

#[test]
fn c11_a_motion_folds_again_to_the_same_commands() {
    let mut hall = eventful();
    assert_eq!(hall.ended().status, EpisodeStatus::Ok);
    let programs: Arc<dyn ProgramFactory> = Arc::new(BuiltInPrograms);
    let run = refold(&hall.desk.log, Epoch(9), &programs);
    assert_eq!(run.result(), Some(hall.desk.result()));
    // And after the journal went through JSON.
    let mut log = hall.desk.log.clone();
    for entry in &mut log.entries {
        let json = serde_json::to_string(&entry.record).unwrap();
        entry.record = serde_json::from_str(&json).unwrap();
    }
    refold(&log, Epoch(9), &programs);
}

#[test]
fn c11_a_crash_at_any_record_changes_no_vote_and_silences_nobody() {
    let whole = eventful();
    for keep in 1..whole.desk.log.entries.len() {
        let mut hall = Hall {
            desk: ManualHost::new(BuiltInPrograms),
            calls: Vec::new(),
        };
        hall.desk.log = whole.desk.log.clone();
        hall.desk.now = whole.desk.now.plus(Millis(86_400_000));
        let before = bus(&{
            let mut log = hall.desk.log.clone();
            log.cut(keep);
            log
        });
        hall.desk.crash(keep);
        assert_eq!(hall.bus(), before, "taking over says nothing");
        // A timer that was set before the crash may ring at once; a day without an owner is no silence.
        if hall.timer().is_some_and(|at| at <= hall.desk.now) {
            hall.ring();
        }
        assert_eq!(hall.bus(), before, "after {keep} records");
        hall.collect();
        for (role, ballot) in [(Prime, "no"), (Lite, "yes"), (CodeMind, "abstain")] {
            if hall.calls.iter().any(|sent| sent.model == role.model()) && !hall.desk.is_over() {
                hall.votes(role, ballot);
            }
        }
        let result = hall.ended();
        assert!(
            answer(result).starts_with("defeated by Prime's vote in a tie (1 yes, 1 no"),
            "after {keep} records: {}",
            answer(result)
        );
    }
}

#[test]
fn c11_silence_is_counted_in_time_that_is_worked() {
    let mut hall = Hall::new(&proposed());
    hall.desk.wait(Millis(60_000));
    hall.desk
        .hand_over(ReleaseReason::Interrupted, Millis(86_400_000));
    hall.collect();
    // The moment asked for lies a day back: it comes at once, and nobody is inactive yet.
    hall.ring();
    assert_eq!(hall.of_type(MessageType::Heartbeat), []);
    assert_eq!(hall.timer(), Some(hall.desk.now.plus(Millis(30_001))));
    hall.ring();
    assert_eq!(hall.of_type(MessageType::Heartbeat).len(), 3);
    let (_, asked) = handed_off(hall.ended());
    assert!(
        asked.ends_with("0 of the council's roles active"),
        "{asked}"
    );
}

#[test]
fn c11_any_episode_may_put_its_plan_to_the_vote() {
    let mut request = spawn_request("unused");
    request.child_type = NAME.to_owned();
    request.goal = "Merge the plan.".into();
    request.program = MotionConfig::default().spec();
    request.contract.recursion.allowed_child_types = vec![NAME.to_owned()];
    let mut second = request.clone();
    second.goal = "Drop the plan.".into();
    let asks = [request, second].map(|request| Ask::Spawn(Box::new(request)));
    let scripts = Scripts::root(vec![asks.to_vec()]);
    let mut started = root(AMPLE);
    started.contract.recursion.allowed_child_types = vec![NAME.to_owned()];
    let mut desk = ManualHost::open(scripts, started);
    let calls: Vec<Sent> = (0..6).map(|_| desk.sent()).collect();
    for (place, sent) in calls.iter().enumerate() {
        let ballot = if sent.episode == at(&[0]) {
            "yes"
        } else {
            "no"
        };
        desk.wait(Millis(place as u64));
        desk.reply(sent, &vote(ballot, 90));
    }
    assert!(desk.is_over());
    for (child, ruling) in [(0, "carried (3 yes"), (1, "defeated (0 yes")] {
        let result = desk.log.of(&at(&[child])).find_map(|r| r.result()).unwrap();
        assert!(answer(result).starts_with(ruling), "{}", answer(result));
        let sender = format!("0.{child}");
        assert!(messages(desk.log.of(&at(&[child]))).all(|e| e.sender == sender));
    }
}

#[test]
fn c11_a_motion_that_runs_out_of_time_keeps_what_was_voted() {
    let mut given = started(&proposed());
    given.budget.time = Millis(30_000);
    let mut hall = Hall::open(given);
    hall.votes(Lite, "yes");
    hall.ring();
    let result = hall.ended();
    assert_eq!(result.status, EpisodeStatus::NeedsReview);
    assert!(answer(result).starts_with("undecided: 1 yes, 0 no, 0 abstain"));
}

#[test]
fn c11_parameters_that_make_no_vote_are_refused() {
    let nobody = MotionConfig {
        roles: Vec::new(),
        ..proposed()
    };
    let desk = ManualHost::open(BuiltInPrograms, started(&nobody));
    assert!(matches!(
        &desk.result().stop_reason,
        StopReason::PolicyDeny { rule } if rule.contains("`roles` names nobody who votes")
    ));
    let mut unknown = started(&proposed());
    unknown.program.params = r#"{"quorum": 1}"#.into();
    let desk = ManualHost::open(BuiltInPrograms, unknown);
    assert!(matches!(
        &desk.result().stop_reason,
        StopReason::PolicyDeny { rule } if rule.contains("unknown field `quorum`")
    ));
}

#[test]
fn c11_an_outcome_has_a_json_form() {
    let ruling = MotionRuling::ForPerson {
        why: DeferralReason::NoQuorum {
            voted: 1,
            quorum: 2,
        },
    };
    let json = serde_json::to_value(ruling).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "kind": "for_person",
            "why": {"reason": "no_quorum", "voted": 1, "quorum": 2},
        })
    );
    assert_eq!(
        serde_json::from_value::<MotionRuling>(json).unwrap(),
        ruling
    );
}
