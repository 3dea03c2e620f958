//! What happens to an ask that does not fit now: it is held in order, then shrunk or refused.

use fathom_core::budget::amounts::{Amounts, Dimension};
use fathom_core::budget::ledger::BudgetAccounts;
use fathom_core::contract::stop::Refusal;
use fathom_core::episode::program::Ask;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, ModelCallOutcome};
use fathom_core::model::ModelReply;
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::packet::HeaderField;
use fathom_core::run::step::HostStep;
use fathom_core::unit::Nanodollars;

use fathom_testkit::manual_host::host::{ManualHost, at};
use fathom_testkit::manual_host::samples::{
    self, AMPLE, PRICE, call, model_ask, root, spawn, spawn_request, usage,
};
use fathom_testkit::manual_host::scripted_program::{Heard, Scripts};

fn tokens(tokens: u64) -> Amounts {
    Amounts { tokens, ..AMPLE }
}

#[test]
fn e06_a_call_reserves_its_exact_input_and_its_output_cap() {
    let mut desk = ManualHost::open(Scripts::root(vec![vec![call(7, 40)]]), root(AMPLE));
    let books = desk.episode(&EpisodeId::root()).accounts();
    let worst = Amounts {
        tokens: 47,
        calls: 1,
        money: Nanodollars(7 + 2 * 40),
        ..Amounts::ZERO
    };
    assert_eq!(books.reserved(), worst);
    desk.reply_next("four");
    let spent = desk.result().budget.spent;
    assert_eq!(
        (spent.tokens, spent.calls, spent.money),
        (11, 1, PRICE.of(7, 4))
    );
}

#[test]
fn e06_an_ask_that_may_fit_later_is_held_and_served_in_order() {
    // Each call needs 40 of 100 tokens. The third would not fit beside the others, and the small fourth,
    // which would, has to wait its turn.
    let scripts = Scripts::root(vec![vec![
        call(10, 30),
        call(10, 30),
        call(10, 30),
        call(1, 1),
    ]]);
    let mut desk = ManualHost::open(scripts, root(tokens(100)));
    assert_eq!(desk.calls_out(), 1, "two would cross the closing mark");
    let first = desk.sent();
    desk.reply(&first, "");
    assert_eq!(desk.sent().ask, AskId(1));
    assert_eq!(desk.calls_out(), 0);
}

#[test]
fn e06_asks_are_served_in_the_order_of_asking_whatever_is_measured_first() {
    let scripts = Scripts::root(vec![vec![call(5, 5), spawn("child"), call(9, 5)]])
        .with("child", vec![vec![call(5, 5)]]);
    let mut desk = ManualHost::new(scripts);
    let steps = desk.run.start(&mut desk.log, desk.now, root(AMPLE));
    let mut requests: Vec<_> = steps
        .into_iter()
        .filter_map(|step| match step {
            HostStep::Measure { ask, request, .. } => Some((ask, request)),
            _ => None,
        })
        .collect();
    requests.reverse();
    let mut out = Vec::new();
    for (ask, request) in requests {
        assert!(out.is_empty(), "nothing overtakes the first ask");
        let kind = samples::measured(ask, &request, &[], 0, None);
        out = desk
            .run
            .deliver(&mut desk.log, desk.now, EpisodeId::root(), kind);
    }
    let order: Vec<AskId> = desk
        .log
        .commands(&EpisodeId::root())
        .iter()
        .filter_map(|command| match command {
            Command::CallModel { ask, .. } | Command::Spawn { ask, .. } => Some(*ask),
            _ => None,
        })
        .collect();
    assert_eq!(order, [AskId(0), AskId(1), AskId(2)]);
}

#[test]
fn e06_a_call_is_shrunk_only_when_nothing_is_in_flight() {
    let scripts = Scripts::root(vec![vec![spawn("child"), call(10, 300)]])
        .with("child", vec![vec![call(5, 5)]]);
    let mut desk = ManualHost::open(scripts, root(tokens(200)));
    let child = desk.sent();
    assert_eq!(child.episode, at(&[0]));
    assert_eq!(desk.calls_out(), 0, "the parent's call is held");
    desk.reply(&child, "four");
    let shrunk = desk.sent();
    assert_eq!(shrunk.episode, EpisodeId::root());
    assert_eq!(shrunk.request.output_tokens_max, 200 - 9 - 10);
    desk.reply(&shrunk, "fine");
    assert_eq!(desk.result().budget.spent.tokens, 9 + 10 + 4);
}

#[test]
fn e06_a_call_is_refused_rather_than_shrunk_below_its_use() {
    for (least, fits) in [(50, true), (51, false)] {
        let mut ask = model_ask(50, 300);
        ask.output_tokens_min = least;
        let scripts = Scripts::root(vec![vec![Ask::Model(Box::new(ask))]]);
        let heard = scripts.clone();
        let desk = ManualHost::open(scripts, root(tokens(100)));
        assert_eq!(desk.calls_out() == 1, fits);
        let dimension = Dimension::Tokens;
        let refusals = heard.refusals("root");
        assert_eq!(refusals == [Refusal::Budget { dimension }], !fits);
    }
}

#[test]
fn e06_money_shrinks_a_call_as_tokens_do() {
    let amounts = Amounts {
        money: Nanodollars(50),
        ..AMPLE
    };
    let mut desk = ManualHost::open(Scripts::root(vec![vec![call(10, 300)]]), root(amounts));
    // Ten for the input leave forty, at two a token.
    assert_eq!(desk.sent().request.output_tokens_max, 20);
}

#[test]
fn e06_a_call_is_never_shrunk_to_nothing() {
    let mut ask = model_ask(50, 300);
    ask.output_tokens_min = 0;
    let scripts = Scripts::root(vec![vec![Ask::Model(Box::new(ask))]]);
    let heard = scripts.clone();
    let desk = ManualHost::open(scripts, root(tokens(50)));
    assert_eq!(desk.calls_out(), 0);
    let dimension = Dimension::Tokens;
    assert_eq!(heard.refusals("root"), [Refusal::Budget { dimension }]);
}

#[test]
fn e06_a_held_child_gets_its_share_of_what_came_back() {
    let mut big = spawn_request("child");
    big.at_least = Amounts {
        tokens: 40,
        calls: 1,
        ..Amounts::ZERO
    };
    let scripts = Scripts::root(vec![vec![call(10, 40), Ask::Spawn(Box::new(big))]])
        .with("child", vec![vec![call(1, 1)]]);
    let mut desk = ManualHost::open(scripts, root(tokens(100)));
    assert_eq!(desk.run.episodes(), 1, "half of 50 is not enough");
    desk.reply_next("four");
    let child = desk.episode(&at(&[0])).started().budget.amounts;
    assert_eq!(child.tokens, (100 - 14) / 2);
}

#[test]
fn e06_a_retried_call_keeps_its_place() {
    let scripts = Scripts::root(vec![vec![call(10, 30), call(10, 30), call(10, 30)]]);
    let mut desk = ManualHost::open(scripts, root(tokens(100)));
    let first = desk.sent();
    desk.fail(
        &first,
        ModelFailure::unsent(FailureKind::Connection, "no route"),
    );
    let again = desk.sent();
    assert_eq!((again.ask, again.attempt), (first.ask, 2));
    assert_eq!(desk.calls_out(), 0, "the others still wait behind it");
}

#[test]
fn e06_usage_above_the_reservation_is_an_overrun_event() {
    let scripts = Scripts::root(vec![vec![call(10, 20)], vec![call(1, 1)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    let sent = desk.sent();
    let reply = ModelReply {
        usage: usage(15, 20),
        ..samples::reply(0, "said")
    };
    desk.answer(&sent, ModelCallOutcome::Replied(reply));
    let overrun = |dimension, reserved, used| EventKind::Overrun {
        ask: AskId(0),
        dimension,
        reserved,
        used,
    };
    let events = desk.log.events(&EpisodeId::root());
    let overruns: Vec<&EventKind> = events
        .iter()
        .filter(|event| matches!(event, EventKind::Overrun { .. }))
        .collect();
    assert_eq!(
        overruns,
        [
            &overrun(Dimension::Tokens, 30, 35),
            &overrun(Dimension::Money, 50, 55)
        ]
    );
    desk.reply_next("more");
    assert_eq!(desk.result().budget.spent.tokens, 35 + 5, "and it is paid");
}

#[test]
fn e06_an_overrun_past_the_limit_leaves_nothing_and_breaks_nothing() {
    let scripts = Scripts::root(vec![vec![call(10, 20)], vec![call(1, 1)]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(tokens(60)));
    let sent = desk.sent();
    let reply = ModelReply {
        usage: usage(u64::MAX, u64::MAX),
        ..samples::reply(0, "said")
    };
    desk.answer(&sent, ModelCallOutcome::Replied(reply));
    let dimension = Dimension::Tokens;
    assert_eq!(heard.refusals("root"), [Refusal::Budget { dimension }]);
    assert_eq!(desk.result().budget.spent.tokens, u64::MAX);
}

#[test]
fn e06_a_reply_counts_once() {
    let scripts = Scripts::root(vec![vec![call(10, 20)], vec![call(10, 20)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    let first = desk.reply_next("four");
    desk.reply(&first, "again");
    desk.reply(&first, "and again");
    desk.reply_next("five!");
    assert_eq!(desk.result().budget.spent.tokens, 14 + 15);
    assert_eq!(desk.result().budget.spent.calls, 2);
}

#[test]
fn e06_a_child_is_accounted_for_once() {
    let scripts = Scripts::root(vec![vec![spawn("child")], vec![call(1, 1)]])
        .with("child", vec![vec![call(10, 20)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.reply_next("four");
    let ended = desk.log.events(&EpisodeId::root());
    let ended = ended
        .into_iter()
        .find(|event| matches!(event, EventKind::ChildFinished { .. }))
        .unwrap();
    desk.deliver(&EpisodeId::root(), ended);
    desk.reply_next("five!");
    assert_eq!(desk.result().budget.spent.tokens, 14 + 6);
}

#[test]
fn a_cancelled_ask_makes_way_for_those_behind_it() {
    let scripts = Scripts::root(vec![vec![
        call(10, 50),
        call(10, 20),
        call(10, 60),
        call(1, 1),
        Ask::Cancel(AskId(1)),
        Ask::Cancel(AskId(2)),
    ]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(tokens(100)));
    // The two were given up before they were measured: they never go out.
    desk.reply_next("four");
    assert_eq!(desk.reply_next("five!").ask, AskId(3));
    let replies = heard.heard("root");
    assert_eq!(replies.len(), 2);
    assert!(matches!(replies[1], Heard::Reply(AskId(3), _)));
    assert_eq!(desk.result().budget.spent.calls, 2);
}

#[test]
fn a_host_that_cannot_count_tokens_may_refuse() {
    let scripts = Scripts::root(vec![vec![call(5, 5), call(6, 6)]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::new(scripts);
    let root_id = EpisodeId::root();
    desk.run.start(&mut desk.log, desk.now, root(AMPLE));
    let reason = Refusal::Unavailable {
        what: "tokenizer".into(),
    };
    for ask in [AskId(0), AskId(1)] {
        let reason = reason.clone();
        desk.deliver(&root_id, EventKind::Refused { ask, reason });
    }
    assert_eq!(heard.refusals("root"), [reason.clone(), reason]);
    assert!(desk.is_over(), "nothing is left to wait for");
}

#[test]
fn r05_a_request_larger_than_the_window_is_refused_with_its_size() {
    let scripts = Scripts::root(vec![vec![call(100, 50)]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::new(scripts);
    desk.window_tokens = Some(100);
    desk.start(root(AMPLE));
    let refusal = Refusal::TokenBudget {
        field: HeaderField::Prompt,
        tokens: 100,
        limit: 99,
    };
    assert_eq!(heard.refusals("root"), [refusal]);
    assert_eq!(desk.calls_out(), 0);
}

#[test]
fn r05_the_window_cuts_the_output_cap() {
    let mut desk = ManualHost::new(Scripts::root(vec![vec![call(60, 50)]]));
    desk.window_tokens = Some(100);
    desk.start(root(AMPLE));
    assert_eq!(desk.sent().request.output_tokens_max, 40);
}
