//! Every reason to stop, each reached by something that happens. Whatever it is, the partial result is kept.

use fathom_core::budget::amounts::{Amounts, Dimension};
use fathom_core::contract::cap;
use fathom_core::contract::stop::{ErrorClass, Refusal, StopReason};
use fathom_core::effect::{EffectOutcome, KillScope, PolicyDecision};
use fathom_core::episode::program::{
    Ask, Program, ProgramError, ProgramFactory, ProgramInput, ProgramView,
};
use fathom_core::episode::result::{EpisodeResult, EpisodeStatus, NextAction};
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, ProgramSpec, Signal};
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars};

use fathom_testkit::manual_host::host::{ManualHost, Sent, at};
use fathom_testkit::manual_host::samples::{
    AMPLE, TIME, billed, call, effect, finish, root, spawn,
};
use fathom_testkit::manual_host::scripted_program::{Heard, Scripts};

fn answer(result: &EpisodeResult) -> &str {
    result.answer.as_ref().map_or("", Text::as_str)
}

/// A root that has had one answer, and whose second call is on the wire and has begun to speak.
fn half_way() -> (ManualHost, Sent) {
    let scripts = Scripts::root(vec![vec![call(5, 50)], vec![call(5, 50)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.reply_next("first, ");
    let second = desk.sent();
    desk.delta(&second, "and sec");
    (desk, second)
}

/// The second call is given up, its end is awaited, and what was said is kept.
fn stops_half_way(desk: &mut ManualHost, second: &Sent, status: EpisodeStatus, stop: &StopReason) {
    assert!(!desk.is_over(), "a call is still out");
    let given_up = (second.episode.clone(), second.ask, second.attempt);
    assert_eq!(desk.cancelled(), [given_up]);
    desk.fail(second, ModelFailure::sent(FailureKind::Cancelled, ""));
    let result = desk.result();
    assert_eq!((result.status, &result.stop_reason), (status, stop));
    assert_eq!(answer(result), "first, and sec");
}

#[test]
fn e05_success_when_the_objective_is_met() {
    let mut desk = ManualHost::open(Scripts::root(vec![vec![call(5, 5)]]), root(AMPLE));
    desk.reply_next("done");
    let result = desk.result();
    assert_eq!(
        (result.status, &result.stop_reason),
        (EpisodeStatus::Ok, &StopReason::Success)
    );
    assert_eq!(answer(result), "done");
}

#[test]
fn e05_time_is_up() {
    let (mut desk, second) = half_way();
    desk.ring(&EpisodeId::root());
    let dimension = Dimension::Time;
    let stop = StopReason::BudgetExhausted { dimension };
    stops_half_way(&mut desk, &second, EpisodeStatus::NeedsReview, &stop);
    let result = desk.result();
    assert_eq!(result.budget.time_spent, TIME);
    assert!(matches!(
        result.next_actions.as_slice(),
        [NextAction::Handoff(_)]
    ));
}

#[test]
fn e05_a_tick_before_the_deadline_only_sets_the_timer_again() {
    let (mut desk, _) = half_way();
    desk.wait(Millis(TIME.0 - 1));
    desk.deliver(&EpisodeId::root(), EventKind::Tick);
    assert!(desk.cancelled().is_empty());
    desk.ring(&EpisodeId::root());
    assert_eq!(desk.cancelled().len(), 1);
}

#[test]
fn e05_cancelled_by_a_person() {
    let (mut desk, second) = half_way();
    desk.signal(&Signal::Cancel);
    stops_half_way(
        &mut desk,
        &second,
        EpisodeStatus::Failed,
        &StopReason::Cancelled,
    );
}

#[test]
fn e05_the_kill_switch_is_thrown() {
    let (mut desk, second) = half_way();
    let scope = KillScope::Global;
    desk.signal(&Signal::Kill {
        scope: scope.clone(),
    });
    let stop = StopReason::KillSwitch { scope };
    stops_half_way(&mut desk, &second, EpisodeStatus::Failed, &stop);
}

#[test]
fn e05_the_same_error_class_three_times() {
    let scripts = Scripts::root(vec![
        vec![call(5, 5)],
        vec![call(5, 5)],
        vec![call(5, 5)],
        vec![call(5, 5)],
        vec![call(5, 5)],
    ]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.reply_next("kept");
    for _ in 0..3 {
        let sent = desk.sent();
        desk.fail(&sent, billed(FailureKind::Refused, 5, 0));
    }
    let result = desk.result();
    let class = ErrorClass::Model(FailureKind::Refused);
    let stop = StopReason::RepeatedFailure { class, count: 3 };
    assert_eq!(
        (result.status, &result.stop_reason),
        (EpisodeStatus::Failed, &stop)
    );
    assert_eq!(answer(result), "kept");
    assert_eq!(desk.calls_out(), 0, "the fifth call was never made");
}

#[test]
fn e05_other_errors_and_successes_begin_the_count_anew() {
    let rounds = vec![vec![call(5, 5)]; 8];
    let mut desk = ManualHost::open(Scripts::root(rounds), root(AMPLE));
    for kind in [
        FailureKind::Refused,
        FailureKind::Refused,
        FailureKind::Empty,
        FailureKind::Refused,
        FailureKind::Refused,
    ] {
        let sent = desk.sent();
        desk.fail(&sent, billed(kind, 5, 0));
    }
    desk.reply_next("well");
    for _ in 0..2 {
        let sent = desk.sent();
        desk.fail(&sent, billed(FailureKind::Refused, 5, 0));
    }
    assert_eq!(desk.result().stop_reason, StopReason::Success);
}

#[test]
fn e05_the_count_is_the_policys() {
    for most in 1..=4 {
        let rounds = vec![vec![call(5, 5)]; 6];
        let mut started = root(AMPLE);
        started.contract.recursion.stop_conditions.same_error_max = most;
        let mut desk = ManualHost::open(Scripts::root(rounds), started);
        for _ in 0..most {
            assert!(!desk.is_over());
            let sent = desk.sent();
            desk.fail(&sent, billed(FailureKind::Empty, 5, 0));
        }
        let class = ErrorClass::Model(FailureKind::Empty);
        let count = most;
        assert_eq!(
            desk.result().stop_reason,
            StopReason::RepeatedFailure { class, count }
        );
    }
}

#[test]
fn e05_calls_given_up_by_the_program_are_no_errors() {
    let mut desk = ManualHost::open(Impatient, root(AMPLE));
    for _ in 0..5 {
        let sent = desk.sent();
        desk.delta(&sent, "nonsense");
        desk.fail(&sent, ModelFailure::sent(FailureKind::Cancelled, ""));
    }
    assert_eq!(desk.result().stop_reason, StopReason::Success);
}

/// Interrupts each of its five calls at the first word.
struct Impatient;

impl ProgramFactory for Impatient {
    fn build(&self, _: &ProgramSpec) -> Result<Box<dyn Program>, ProgramError> {
        Ok(Box::new(Interrupting(0)))
    }
}

struct Interrupting(u32);

impl Program for Interrupting {
    fn on(&mut self, input: ProgramInput<'_>, _: &ProgramView<'_>) -> Vec<Ask> {
        match input {
            ProgramInput::Delta { ask, .. } => vec![Ask::Cancel(ask)],
            ProgramInput::Start(_) | ProgramInput::Failed { .. } if self.0 < 5 => {
                self.0 += 1;
                vec![call(5, 5)]
            }
            _ => vec![finish(None)],
        }
    }

    fn partial(&self) -> Option<Text> {
        None
    }
}

#[test]
fn e05_two_children_in_a_row_that_bring_nothing_new() {
    let scripts = Scripts::root(vec![
        vec![call(5, 5)],
        vec![spawn("child")],
        vec![spawn("child")],
        vec![spawn("child")],
        vec![spawn("child")],
    ])
    .with("child", vec![vec![call(5, 5)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.reply_next("own words");
    desk.reply_next("old news");
    desk.reply_next("old news");
    assert!(!desk.is_over(), "one without news is no reason");
    desk.reply_next("  old news\n");
    let result = desk.result();
    assert_eq!(
        (result.status, &result.stop_reason),
        (EpisodeStatus::NeedsReview, &StopReason::NoNewInformation)
    );
    assert_eq!(answer(result), "own words");
    assert_eq!(desk.run.episodes(), 4, "the fourth child was never begun");
}

#[test]
fn e05_news_between_two_children_begin_the_count_anew() {
    let scripts =
        Scripts::root(vec![vec![spawn("child")]; 5]).with("child", vec![vec![call(5, 5)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    for words in ["a", "a", "b", "a", "c"] {
        desk.reply_next(words);
    }
    assert_eq!(desk.result().stop_reason, StopReason::Success);
}

#[test]
fn e05_children_that_fail_with_news_are_counted_as_errors() {
    let scripts =
        Scripts::root(vec![vec![spawn("child")]; 4]).with("child", vec![vec![call(5, 5)], vec![]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    for words in ["a", "b", "c"] {
        desk.reply_next(words);
    }
    let class = ErrorClass::Child;
    assert_eq!(
        desk.result().stop_reason,
        StopReason::RepeatedFailure { class, count: 3 }
    );
}

#[test]
fn e05_a_program_that_asks_for_nothing_has_failed() {
    let scripts = Scripts::root(vec![vec![call(5, 5)], vec![]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.reply_next("so far");
    let class = ErrorClass::Idle;
    let result = desk.result();
    assert_eq!(result.stop_reason, StopReason::Failure { class });
    assert_eq!(result.status, EpisodeStatus::Failed);
    assert_eq!(answer(result), "so far");
}

#[test]
fn e05_each_dimension_can_run_out() {
    let lacking: [(Dimension, Amounts); 3] = [
        (Dimension::Tokens, Amounts { tokens: 9, ..AMPLE }),
        (Dimension::Calls, Amounts { calls: 0, ..AMPLE }),
        (
            Dimension::Money,
            Amounts {
                money: Nanodollars(9),
                ..AMPLE
            },
        ),
    ];
    for (dimension, amounts) in lacking {
        let params = fathom_programs::direct::DirectConfig::default();
        let mut started = root(amounts);
        started.program = params.spec();
        started.goal = "seven!!".into();
        let desk = ManualHost::open(Scripts::default(), started);
        let result = desk.result();
        assert_eq!(result.status, EpisodeStatus::NeedsReview);
        assert_eq!(
            result.stop_reason,
            StopReason::BudgetExhausted { dimension }
        );
    }
    let tools = Scripts::root(vec![vec![effect("event-1")]]);
    let heard = tools.clone();
    ManualHost::open(tools, root(Amounts { tools: 0, ..AMPLE }));
    let dimension = Dimension::Tools;
    assert_eq!(heard.refusals("root"), [Refusal::Budget { dimension }]);
    let episodes = Scripts::root(vec![vec![spawn("child")]]).with("child", vec![]);
    let heard = episodes.clone();
    ManualHost::open(
        episodes,
        root(Amounts {
            episodes: 1,
            ..AMPLE
        }),
    );
    let dimension = Dimension::Episodes;
    assert_eq!(heard.refusals("root"), [Refusal::Budget { dimension }]);
}

#[test]
fn e05_a_denied_effect_reaches_the_program_with_its_rule() {
    let scripts = Scripts::root(vec![vec![effect("event-1")]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.decide(PolicyDecision::Deny {
        rule: "never on sundays".into(),
    });
    let outcome = EffectOutcome::Failed {
        detail: "denied: never on sundays".into(),
    };
    assert_eq!(heard.heard("root"), [Heard::Effect(AskId(0), outcome)]);
    assert_eq!(desk.result().budget.spent.tools, 0);
}

#[test]
fn e05_a_stopping_parent_stops_its_children_and_keeps_what_they_spent() {
    let scripts = Scripts::root(vec![vec![spawn("child"), spawn("child")]])
        .with("child", vec![vec![call(5, 50)]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    let (first, second) = (desk.sent(), desk.sent());
    desk.delta(&first, "half");
    desk.signal(&Signal::Cancel);
    assert_eq!(desk.cancelled().len(), 2);
    assert!(!desk.is_over());
    desk.fail(&first, ModelFailure::sent(FailureKind::Cancelled, ""));
    desk.reply(&second, "too late");
    let result = desk.result();
    assert_eq!(result.stop_reason, StopReason::Cancelled);
    // The first may have been billed in full, the second said what it took.
    assert_eq!(result.budget.spent.tokens, 55 + 5 + 8);
    assert_eq!(result.budget.spent.calls, 2);
    assert!(heard.heard("root").is_empty(), "it is told nothing more");
    let child = desk.log.of(&at(&[0])).find_map(|record| record.result());
    assert_eq!(child.map(answer), Some("half"));
}

#[test]
fn e05_what_is_asked_after_the_end_is_dropped() {
    let desk = ManualHost::open(Talkative, root(AMPLE));
    assert_eq!(desk.result().stop_reason, StopReason::Success);
    let commands = desk.log.commands(&EpisodeId::root());
    assert!(
        !commands
            .iter()
            .any(|c| matches!(c, Command::Measure { .. }))
    );
}

/// Finishes, and in the same breath asks for more.
struct Talkative;

impl ProgramFactory for Talkative {
    fn build(&self, _: &ProgramSpec) -> Result<Box<dyn Program>, ProgramError> {
        Ok(Box::new(Self))
    }
}

impl Program for Talkative {
    fn on(&mut self, _: ProgramInput<'_>, _: &ProgramView<'_>) -> Vec<Ask> {
        vec![finish(None), call(5, 5), spawn("x")]
    }

    fn partial(&self) -> Option<Text> {
        None
    }
}

/// Asks again, and again, whatever it is told.
struct Stubborn;

impl ProgramFactory for Stubborn {
    fn build(&self, _: &ProgramSpec) -> Result<Box<dyn Program>, ProgramError> {
        Ok(Box::new(Self))
    }
}

impl Program for Stubborn {
    fn on(&mut self, _: ProgramInput<'_>, _: &ProgramView<'_>) -> Vec<Ask> {
        vec![spawn("nobody")]
    }

    fn partial(&self) -> Option<Text> {
        Some("still here".into())
    }
}

#[test]
fn e05_a_program_that_never_takes_no_for_an_answer_is_stopped() {
    let mut started = root(AMPLE);
    started.contract.recursion.max_depth = 0;
    let desk = ManualHost::open(Stubborn, started);
    let result = desk.result();
    let class = ErrorClass::Refused;
    let count = cap::REFUSALS_MAX;
    assert_eq!(
        result.stop_reason,
        StopReason::RepeatedFailure { class, count }
    );
    assert_eq!(answer(result), "still here");
}

#[test]
fn e05_nothing_left_to_ask_past_the_closing_mark_is_a_handoff() {
    let scripts = Scripts::root(vec![vec![call(5, 95)], vec![]]);
    let mut desk = ManualHost::open(
        scripts,
        root(Amounts {
            tokens: 100,
            ..AMPLE
        }),
    );
    desk.reply_next(&"y".repeat(80));
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::NeedsReview);
    let dimension = Dimension::Tokens;
    assert_eq!(
        result.stop_reason,
        StopReason::BudgetExhausted { dimension }
    );
    assert!(matches!(
        result.next_actions.as_slice(),
        [NextAction::Handoff(_)]
    ));
}
