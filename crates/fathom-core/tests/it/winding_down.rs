//! An episode whose verdict stands still owes its calls, children and effects an end.

use fathom_core::contract::stop::StopReason;
use fathom_core::effect::{EffectOutcome, PolicyDecision};
use fathom_core::episode::program::{
    Ask, Program, ProgramError, ProgramFactory, ProgramInput, ProgramView,
};
use fathom_core::episode::result::EpisodeStatus;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::OutputBlock;
use fathom_core::journal::event::{
    EventKind, ModelCallOutcome, ProgramSpec, ReleaseReason, Signal,
};
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::run::step::{HostStep, LogPosition, RunWait};
use fathom_core::text::Text;

use fathom_testkit::manual_host::host::{Disk, ManualHost, at};
use fathom_testkit::manual_host::samples::{
    AMPLE, call, effect, finish, reply, root, spawn, terms,
};
use fathom_testkit::manual_host::scripted_program::Scripts;

/// Asks for two calls, a child and an effect, and is done with the first reply.
struct Hasty;

impl ProgramFactory for Hasty {
    fn build(&self, spec: &ProgramSpec) -> Result<Box<dyn Program>, ProgramError> {
        if spec.name == "root" {
            Ok(Box::new(Self))
        } else {
            Scripts::default()
                .with("child", vec![vec![call(5, 5)]])
                .build(spec)
        }
    }
}

impl Program for Hasty {
    fn on(&mut self, input: ProgramInput<'_>, _: &ProgramView<'_>) -> Vec<Ask> {
        match input {
            ProgramInput::Start(_) => vec![
                call(5, 5),
                call(6, 6),
                spawn("child"),
                effect("event-1"),
                call(7, 7),
            ],
            ProgramInput::Reply { .. } => vec![finish(Some("enough")), call(8, 8)],
            _ => Vec::new(),
        }
    }

    fn partial(&self) -> Option<Text> {
        Some("not yet".into())
    }
}

fn confirmed() -> EffectOutcome {
    EffectOutcome::Confirmed {
        receipt: "1".into(),
    }
}

fn cancelled() -> ModelFailure {
    ModelFailure::sent(FailureKind::Cancelled, "given up")
}

/// A verdict stands while two calls, a child with its call and an effect are out.
fn winding_down() -> ManualHost {
    let mut desk = ManualHost::open(Hasty, root(AMPLE));
    assert_eq!(desk.calls_out(), 4);
    desk.allow();
    desk.reply_next("four");
    assert!(!desk.is_over());
    desk
}

#[test]
fn e05_a_finished_program_waits_for_all_that_is_out() {
    let mut desk = winding_down();
    assert_eq!(
        desk.cancelled().len(),
        3,
        "two of its own, one of the child"
    );
    let place = desk.attempt();
    while desk.calls_out() > 0 {
        assert!(!desk.is_over());
        let sent = desk.sent();
        desk.fail(&sent, cancelled());
    }
    assert!(!desk.is_over(), "the effect is out");
    desk.settle(&place, confirmed());
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::Ok);
    let answer = result.answer.as_ref().map(Text::as_str);
    assert_eq!(answer, Some("enough"), "the program's own verdict stands");
    // Nine for the reply, and the others in full, for nobody knows.
    assert_eq!(result.budget.spent.tokens, 9 + 12 + 14 + 10);
    assert_eq!(result.budget.spent.tools, 1);
    assert_eq!(result.budget.spent.episodes, 2);
    assert!(result.verification_needed);
}

#[test]
fn x04_a_crash_while_winding_down_ends_the_same_way() {
    let mut desk = winding_down();
    desk.crash(desk.log.entries.len());
    // Calls of an episode that is ending are not made again, and the child is told once more to stop.
    assert_eq!(desk.calls_out(), 0);
    let told = desk.log.events(&at(&[0]));
    assert!(told.contains(&EventKind::Signal(Signal::Cancel)));
    assert!(!desk.is_over(), "nobody knows of the effect");
    let asked = desk.reconcile();
    desk.settle(&asked, confirmed());
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert_eq!(result.answer.as_ref().map(Text::as_str), Some("enough"));
    assert_eq!(result.budget.spent.tools, 1);
}

/// A host that answers whatever is asked.
fn answer_all(desk: &mut ManualHost) {
    while let Some(step) = desk.steps.pop() {
        let (episode, kind) = match step {
            HostStep::Call {
                episode,
                ask,
                attempt,
                ..
            } => {
                let outcome = ModelCallOutcome::Replied(reply(1, "four"));
                (episode, replied(ask, attempt, outcome))
            }
            HostStep::Cancel {
                episode,
                ask,
                attempt,
            } => {
                let outcome = ModelCallOutcome::Failed(cancelled());
                (episode, replied(ask, attempt, outcome))
            }
            HostStep::Decide { episode, ask, .. } => {
                let decision = PolicyDecision::Allow { rules: Vec::new() };
                (episode, EventKind::decided(ask, decision))
            }
            HostStep::Attempt(permit) => (
                permit.episode().clone(),
                EventKind::settled(permit.ask(), confirmed()),
            ),
            HostStep::Reconcile { episode, ask, .. } => {
                (episode, EventKind::settled(ask, confirmed()))
            }
            _ => continue,
        };
        desk.deliver(&episode, kind);
    }
}

fn replied(ask: AskId, attempt: u16, outcome: ModelCallOutcome) -> EventKind {
    EventKind::ModelReplied {
        ask,
        attempt,
        outcome,
        jitter: 0,
    }
}

#[test]
fn x04_a_crash_at_any_record_of_the_wind_down_ends_with_a_result() {
    let records = {
        let mut desk = winding_down();
        let place = desk.attempt();
        desk.settle(&place, confirmed());
        while desk.calls_out() > 0 {
            let sent = desk.sent();
            desk.fail(&sent, cancelled());
        }
        assert!(desk.is_over());
        desk.log.entries.len()
    };
    for keep in 1..records {
        let mut desk = winding_down();
        let place = desk.attempt();
        desk.settle(&place, confirmed());
        while desk.calls_out() > 0 {
            let sent = desk.sent();
            desk.fail(&sent, cancelled());
        }
        desk.crash(keep);
        answer_all(&mut desk);
        assert!(desk.is_over(), "cut after {keep} records it never ends");
    }
}

#[test]
fn e05_a_child_spawned_with_the_last_breath_is_stopped_at_once() {
    let scripts = Scripts::root(vec![vec![spawn("child"), finish(Some("bye"))]])
        .with("child", vec![vec![call(5, 5)]]);
    let desk = ManualHost::open(scripts, root(AMPLE));
    assert_eq!(desk.run.episodes(), 2);
    let child = desk.log.of(&at(&[0])).find_map(|record| record.result());
    assert_eq!(
        child.map(|result| &result.stop_reason),
        Some(&StopReason::Cancelled)
    );
    assert_eq!(desk.result().budget.spent.episodes, 2);
    assert_eq!(desk.calls_out(), 0);
}

#[test]
fn e05_a_run_that_was_let_go_takes_nothing_more() {
    let mut desk = ManualHost::open(Scripts::root(vec![vec![call(5, 5)]]), root(AMPLE));
    let sent = desk.sent();
    desk.run
        .release(&mut desk.log, desk.now, ReleaseReason::Interrupted);
    let before = desk.log.entries.len();
    desk.reply(&sent, "late");
    desk.signal(&Signal::Cancel);
    desk.flush_all();
    assert_eq!(desk.log.entries.len(), before);
    assert!(!desk.is_over());
}

#[test]
fn x03_what_must_be_shown_is_shown_before_a_run_waits() {
    let block = OutputBlock {
        channel: "cli".into(),
        text: "may I post this?".into(),
    };
    let scripts = Scripts::root(vec![
        vec![effect("event-1")],
        vec![Ask::Emit(block.clone()), effect("event-2")],
    ]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.allow();
    let place = desk.attempt();
    desk.disk = Disk::Slow;
    desk.settle(&place, confirmed());
    desk.decide(PolicyDecision::NeedsApproval {
        rule: "ask first".into(),
        terms: Box::new(terms()),
    });
    assert_eq!(
        desk.waiting, None,
        "an owner who left now would not show it"
    );
    desk.flush_all();
    let shown = HostStep::Emit {
        episode: EpisodeId::root(),
        block,
    };
    assert!(desk.steps.contains(&shown));
    assert_eq!(desk.waiting, Some(RunWait::Approval));
    desk.flush(LogPosition(u64::MAX));
    assert!(!desk.run.awaits_log());
}
