//! When a failed call is tried again, and when a run waits for someone to mend what lies between.

use fathom_core::budget::amounts::Amounts;
use fathom_core::budget::ledger::BudgetAccounts;
use fathom_core::contract::stop::{ErrorClass, StopReason};
use fathom_core::effect::PolicyDecision;
use fathom_core::episode::program::{
    Ask, OnOutage, Program, ProgramError, ProgramFactory, ProgramInput, ProgramView,
};
use fathom_core::episode::result::EpisodeStatus;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::{Command, ExternalWait};
use fathom_core::journal::event::{EventKind, ModelCallOutcome, ProgramSpec, ReleaseReason};
use fathom_core::model::failure::{CallBilling, FailureKind, ModelFailure};
use fathom_core::model::retry::{ATTEMPTS_MAX, BACKOFF, BACKOFF_MAX, RATE_LIMITED_ATTEMPTS_MAX};
use fathom_core::run::step::{HostStep, RunWait};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars, Timestamp};
use fathom_programs::direct::DirectConfig;

use fathom_testkit::manual_host::host::{ManualHost, Sent, at};
use fathom_testkit::manual_host::samples::{
    AMPLE, call, effect, model_ask, rate_limited, root, spawn, spawn_request, terms, usage,
};
use fathom_testkit::manual_host::scripted_program::{Heard, Scripts};

const KINDS: [FailureKind; 13] = [
    FailureKind::Timeout,
    FailureKind::RateLimited,
    FailureKind::Connection,
    FailureKind::Server,
    FailureKind::CircuitOpen,
    FailureKind::Auth,
    FailureKind::Rejected,
    FailureKind::Refused,
    FailureKind::Empty,
    FailureKind::Truncated,
    FailureKind::Malformed,
    FailureKind::TooLarge,
    FailureKind::Cancelled,
];

fn one_call() -> (ManualHost, Scripts) {
    let scripts = Scripts::root(vec![vec![call(5, 5)]]);
    let heard = scripts.clone();
    (ManualHost::open(scripts, root(AMPLE)), heard)
}

/// Fails the call with `kind` until it is no longer tried, and says how often it was.
fn tries(kind: FailureKind) -> u16 {
    let (mut desk, heard) = one_call();
    let mut tries = 0;
    while desk.calls_out() > 0 {
        let sent = desk.sent();
        tries += 1;
        assert_eq!(sent.attempt, tries, "each try has a number of its own");
        desk.fail(&sent, ModelFailure::unsent(kind, "broken"));
    }
    assert_eq!(heard.heard("root"), [Heard::Failed(AskId(0), kind)]);
    tries
}

#[test]
fn x05_only_what_may_pass_is_tried_again_and_not_forever() {
    for kind in KINDS {
        let expected = match kind {
            FailureKind::Timeout | FailureKind::Connection | FailureKind::Server => ATTEMPTS_MAX,
            FailureKind::RateLimited => RATE_LIMITED_ATTEMPTS_MAX,
            _ => 1,
        };
        assert_eq!(tries(kind), expected, "{kind}");
        assert_eq!(kind.is_retryable(), expected > 1);
    }
}

#[test]
fn x05_the_pause_doubles_with_every_try() {
    let (mut desk, _) = one_call();
    for doubling in 0..3 {
        let sent = desk.sent();
        desk.fail(&sent, ModelFailure::unsent(FailureKind::Server, ""));
        // With no jitter at all it is half of the whole pause.
        let pause = Millis((BACKOFF.0 << doubling) / 2);
        assert_eq!(next_try(&desk), desk.now.plus(pause));
    }
}

/// When the call that went out last may be sent.
fn next_try(desk: &ManualHost) -> Timestamp {
    let time = desk.steps.iter().rev().find_map(|step| match step {
        HostStep::Call { not_before, .. } => *not_before,
        _ => None,
    });
    time.expect("a further try, at a time")
}

fn fail_with_jitter(desk: &mut ManualHost, sent: &Sent, failure: ModelFailure, jitter: u16) {
    desk.deliver(
        &sent.episode,
        EventKind::ModelReplied {
            ask: sent.ask,
            attempt: sent.attempt,
            outcome: ModelCallOutcome::Failed(failure),
            jitter,
        },
    );
}

#[test]
fn x05_full_jitter_is_the_whole_pause_and_no_pause_is_longer_than_its_bound() {
    let (mut desk, _) = one_call();
    for attempt in 1..RATE_LIMITED_ATTEMPTS_MAX {
        let sent = desk.sent();
        fail_with_jitter(&mut desk, &sent, rate_limited(Millis(0)), u16::MAX);
        let whole = Millis((BACKOFF.0 << (attempt - 1)).min(BACKOFF_MAX.0));
        assert_eq!(next_try(&desk), desk.now.plus(whole));
    }
}

#[test]
fn x05_retry_after_is_honoured_when_it_is_longer() {
    for (asked, waited) in [(90_000, 90_000), (1, BACKOFF.0 / 2)] {
        let (mut desk, _) = one_call();
        let sent = desk.sent();
        desk.fail(&sent, rate_limited(Millis(asked)));
        assert_eq!(desk.sent().not_before, Some(desk.now.plus(Millis(waited))));
    }
}

#[test]
fn x05_an_endless_retry_after_ends_with_the_deadline() {
    let (mut desk, _) = one_call();
    let sent = desk.sent();
    desk.fail(&sent, rate_limited(Millis(u64::MAX)));
    let waiting = desk.sent();
    assert_eq!(waiting.not_before, Some(Timestamp(u64::MAX)));
    desk.ring(&EpisodeId::root());
    desk.fail(&waiting, ModelFailure::unsent(FailureKind::Cancelled, ""));
    assert_eq!(desk.result().budget.spent.calls, 0);
}

#[test]
fn e06_each_attempt_is_a_reservation_of_its_own() {
    let (mut desk, _) = one_call();
    let root = EpisodeId::root();
    let worst = Amounts {
        tokens: 10,
        calls: 1,
        money: Nanodollars(15),
        ..Amounts::ZERO
    };
    for attempt in 0..3_u64 {
        let sent = desk.sent();
        let books = desk.episode(&root).accounts();
        assert_eq!(books.reserved(), worst);
        assert_eq!(books.spent().tokens, attempt * 10, "paid for each time");
        desk.fail(&sent, ModelFailure::sent(FailureKind::Timeout, ""));
    }
    desk.reply_next("four");
    let spent = desk.result().budget.spent;
    assert_eq!((spent.tokens, spent.calls), (3 * 10 + 9, 4));
}

#[test]
fn e06_a_provider_that_turns_a_call_away_bills_nothing() {
    let (mut desk, _) = one_call();
    for _ in 0..5 {
        let turned_away = desk.sent();
        desk.fail(&turned_away, rate_limited(Millis(10)));
    }
    desk.reply_next("four");
    let spent = desk.result().budget.spent;
    assert_eq!((spent.tokens, spent.calls), (9, 1));
}

#[test]
fn e06_a_failed_call_is_billed_as_its_provider_says() {
    let (mut desk, _) = one_call();
    let malformed = desk.sent();
    let failure = ModelFailure {
        billing: CallBilling::Reported(usage(5, 2)),
        ..ModelFailure::unsent(FailureKind::Malformed, "no JSON")
    };
    desk.fail(&malformed, failure);
    let spent = desk.result().budget.spent;
    assert_eq!((spent.tokens, spent.calls), (7, 1));
}

#[test]
fn e06_an_attempt_that_no_longer_fits_is_not_made() {
    let scripts = Scripts::root(vec![vec![call(20, 20)]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(
        scripts,
        root(Amounts {
            tokens: 50,
            ..AMPLE
        }),
    );
    let sent = desk.sent();
    desk.fail(&sent, ModelFailure::sent(FailureKind::Timeout, ""));
    assert_eq!(
        desk.calls_out(),
        0,
        "ten tokens do not even hold the prompt"
    );
    assert_eq!(heard.refusals("root").len(), 1);
    assert_eq!(desk.result().budget.spent.tokens, 40);
}

#[test]
fn a_reply_to_a_former_attempt_changes_nothing() {
    let (mut desk, heard) = one_call();
    let first = desk.sent();
    desk.fail(&first, ModelFailure::sent(FailureKind::Timeout, ""));
    desk.reply(&first, "late");
    assert!(heard.heard("root").is_empty());
    desk.reply_next("four");
    assert_eq!(
        heard.heard("root"),
        [Heard::Reply(AskId(0), "four".to_owned())]
    );
}

fn patient() -> Ask {
    let mut ask = model_ask(5, 5);
    ask.on_outage = OnOutage::Wait;
    Ask::Model(Box::new(ask))
}

#[test]
fn an_outage_waits_for_repair_and_goes_on_when_resumed() {
    for kind in KINDS.into_iter().filter(|kind| kind.is_outage()) {
        let scripts = Scripts::root(vec![vec![patient()]]);
        let heard = scripts.clone();
        let mut desk = ManualHost::open(scripts, root(AMPLE));
        let failure = ModelFailure::unsent(kind, "broken");
        while desk.calls_out() > 0 {
            let sent = desk.sent();
            desk.fail(&sent, failure.clone());
        }
        assert_eq!(desk.waiting, Some(RunWait::Outage(failure.clone())));
        let awaited = ExternalWait::Repair {
            ask: AskId(0),
            failure,
        };
        let last = desk.log.entries.last().unwrap();
        assert!(last.record.commands.contains(&Command::Await { awaited }));
        let tried = desk.log.events(&EpisodeId::root());
        let tried = tried
            .iter()
            .filter(|event| matches!(event, EventKind::ModelReplied { .. }))
            .count();
        desk.hand_over(ReleaseReason::Outage, Millis(3_600_000));
        assert_eq!(desk.waiting, None);
        let again = desk.sent();
        assert_eq!(usize::from(again.attempt), tried + 1);
        desk.reply(&again, "at last");
        assert_eq!(desk.result().status, EpisodeStatus::Ok);
        assert_eq!(desk.result().budget.time_spent, Millis(0));
        assert_eq!(heard.heard("root").len(), 1);
    }
}

#[test]
fn a_resumed_call_may_be_tried_as_often_as_a_new_one() {
    let mut desk = ManualHost::open(Scripts::root(vec![vec![patient()]]), root(AMPLE));
    for _ in 0..2 {
        for _ in 0..ATTEMPTS_MAX {
            let sent = desk.sent();
            desk.fail(&sent, ModelFailure::unsent(FailureKind::Server, ""));
        }
        assert_eq!(desk.calls_out(), 0);
        desk.hand_over(ReleaseReason::Outage, Millis(1));
    }
    assert_eq!(desk.sent().attempt, 2 * ATTEMPTS_MAX + 1);
}

/// Asks for a patient call and another one; with the other's reply it gives up the first and wants an effect.
struct Fickle;

impl ProgramFactory for Fickle {
    fn build(&self, _: &ProgramSpec) -> Result<Box<dyn Program>, ProgramError> {
        Ok(Box::new(Self))
    }
}

impl Program for Fickle {
    fn on(&mut self, input: ProgramInput<'_>, _: &ProgramView<'_>) -> Vec<Ask> {
        match input {
            ProgramInput::Start(_) => vec![patient(), call(6, 6)],
            ProgramInput::Reply { .. } => vec![Ask::Cancel(AskId(0)), effect("event-1")],
            _ => Vec::new(),
        }
    }

    fn partial(&self) -> Option<Text> {
        None
    }
}

#[test]
fn an_outage_that_no_longer_matters_is_not_waited_for() {
    let mut desk = ManualHost::open(Fickle, root(AMPLE));
    let (first, second) = (desk.sent(), desk.sent());
    desk.fail(&first, ModelFailure::unsent(FailureKind::Auth, "no key"));
    desk.reply(&second, "four");
    desk.decide(PolicyDecision::NeedsApproval {
        rule: "look first".into(),
        terms: Box::new(terms()),
    });
    assert_eq!(desk.waiting, Some(RunWait::Approval));
}

#[test]
fn what_is_no_outage_is_told_at_once() {
    for kind in KINDS.into_iter().filter(|kind| !kind.is_outage()) {
        let scripts = Scripts::root(vec![vec![patient()]]);
        let heard = scripts.clone();
        let mut desk = ManualHost::open(scripts, root(AMPLE));
        let sent = desk.sent();
        desk.fail(&sent, ModelFailure::unsent(kind, "broken"));
        assert_eq!(heard.heard("root"), [Heard::Failed(AskId(0), kind)]);
        assert!(desk.is_over());
    }
}

#[test]
fn a_run_waits_for_its_childs_outage_when_the_child_does() {
    let scripts = Scripts::root(vec![vec![spawn("child")]]).with("child", vec![vec![patient()]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    let sent = desk.sent();
    let failure = ModelFailure::unsent(FailureKind::Auth, "no key");
    desk.fail(&sent, failure.clone());
    assert_eq!(desk.waiting, Some(RunWait::Outage(failure)));
    desk.hand_over(ReleaseReason::Outage, Millis(1));
    let again = desk.sent();
    assert_eq!(again.episode, at(&[0]));
    desk.reply(&again, "done");
    assert_eq!(desk.result().status, EpisodeStatus::Ok);
}

#[test]
fn direct_waits_at_the_root_and_fails_below_it() {
    let mut started = root(AMPLE);
    started.program = DirectConfig::default().spec();
    let mut desk = ManualHost::open(Scripts::default(), started);
    let sent = desk.sent();
    let failure = ModelFailure::unsent(FailureKind::Auth, "no key");
    desk.fail(&sent, failure.clone());
    assert_eq!(desk.waiting, Some(RunWait::Outage(failure.clone())));

    let mut request = spawn_request("direct");
    request.program = DirectConfig::default().spec();
    let scripts = Scripts::root(vec![vec![Ask::Spawn(Box::new(request))]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    let sent = desk.sent();
    desk.fail(&sent, failure);
    assert_eq!(desk.waiting, None);
    let Some(Heard::Child(_, result)) = heard.heard("root").into_iter().next() else {
        panic!("{:?}", heard.heard("root"));
    };
    let class = ErrorClass::Model(FailureKind::Auth);
    assert_eq!(result.stop_reason, StopReason::Failure { class });
}
