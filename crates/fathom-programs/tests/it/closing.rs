//! Past 70 % of a dimension an episode may only finish or hand off.

use fathom_core::budget::amounts::{Amounts, Dimension};
use fathom_core::contract::stop::{Refusal, StopReason};
use fathom_core::effect::EffectOutcome;
use fathom_core::episode::program::{Ask, ModelAsk};
use fathom_core::episode::result::{EpisodeStatus, NextAction};
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::run::step::HostStep;
use fathom_core::unit::{Millis, Nanodollars};
use fathom_programs::direct::DirectConfig;

use fathom_testkit::manual_host::host::{ManualHost, at};
use fathom_testkit::manual_host::samples::{
    AMPLE, call, effect, model_ask, rate_limited, root, spawn,
};
use fathom_testkit::manual_host::scripted_program::Scripts;

const TIGHT: Amounts = Amounts {
    tokens: 100,
    ..AMPLE
};

/// A root that has spent `spent` of a hundred tokens before it asks `then`.
fn after(spent: usize, then: Vec<Vec<Ask>>) -> (ManualHost, Scripts) {
    let mut rounds = vec![vec![call(10, 90)]];
    rounds.extend(then);
    let scripts = Scripts::root(rounds).with("child", vec![vec![call(1, 1)]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(TIGHT));
    desk.reply_next(&"y".repeat(spent - 10));
    (desk, heard)
}

fn closing(dimension: Dimension) -> Refusal {
    Refusal::Closing { dimension }
}

#[test]
fn e07_below_the_mark_all_is_allowed() {
    let (mut desk, heard) = after(69, vec![vec![effect("event-1"), spawn("child")]]);
    desk.allow();
    desk.reply_next("y");
    assert_eq!(heard.refusals("root"), []);
    assert_eq!(desk.run.episodes(), 2);
}

#[test]
fn e07_past_the_mark_spawns_and_effects_are_refused() {
    let (desk, heard) = after(70, vec![vec![spawn("child"), effect("event-1")]]);
    let dimension = Dimension::Tokens;
    assert_eq!(
        heard.refusals("root"),
        [closing(dimension), closing(dimension)]
    );
    assert_eq!(desk.run.episodes(), 1);
}

#[test]
fn e07_past_the_mark_there_is_one_closing_call() {
    let (mut desk, heard) = after(70, vec![vec![call(5, 5)], vec![call(5, 5)]]);
    desk.reply_next("y");
    assert_eq!(desk.calls_out(), 0);
    assert_eq!(heard.refusals("root"), [closing(Dimension::Tokens)]);
    assert_eq!(desk.result().budget.spent.tokens, 76);
}

#[test]
fn e07_of_two_calls_past_the_mark_the_first_is_the_closing_one() {
    let (mut desk, heard) = after(70, vec![vec![call(5, 5), call(5, 5)]]);
    assert_eq!(desk.calls_out(), 1);
    assert_eq!(heard.refusals("root"), [], "the second is held");
    desk.reply_next("y");
    assert_eq!(heard.refusals("root"), [closing(Dimension::Tokens)]);
}

#[test]
fn e07_a_call_that_may_not_close_leaves_the_closing_call_to_another() {
    let leaf = Ask::Model(Box::new(ModelAsk {
        may_close: false,
        ..model_ask(5, 5)
    }));
    let (mut desk, heard) = after(70, vec![vec![leaf.clone(), call(5, 5), leaf]]);
    assert_eq!(heard.refusals("root"), [closing(Dimension::Tokens)]);
    let sent = desk.sent();
    assert_eq!(sent.ask, AskId(2));
    desk.reply(&sent, "y");
    assert_eq!(desk.calls_out(), 0);
    assert_eq!(desk.result().budget.spent.tokens, 76);
}

#[test]
fn e07_the_closing_call_may_be_tried_again() {
    let (mut desk, heard) = after(70, vec![vec![call(5, 5)]]);
    let first = desk.sent();
    desk.fail(&first, rate_limited(Millis(10)));
    let second = desk.sent();
    assert_eq!((second.ask, second.attempt), (first.ask, 2));
    desk.fail(&second, ModelFailure::sent(FailureKind::Timeout, ""));
    desk.reply_next("y");
    assert_eq!(heard.refusals("root"), []);
    assert_eq!(desk.result().stop_reason, StopReason::Success);
    assert_eq!(desk.result().budget.spent.tokens, 70 + 10 + 6);
}

#[test]
fn e07_the_closing_call_is_made_again_after_a_crash() {
    let (mut desk, heard) = after(70, vec![vec![call(5, 5)]]);
    desk.crash(desk.log.entries.len());
    desk.reply_next("y");
    assert_eq!(heard.refusals("root"), []);
    assert_eq!(desk.result().stop_reason, StopReason::Success);
}

#[test]
fn e07_every_divided_dimension_has_its_mark() {
    let used = Amounts {
        tokens: 10,
        calls: 1,
        tools: 1,
        money: Nanodollars(5 + 2 * 5),
        episodes: 1,
    };
    for dimension in [Dimension::Tokens, Dimension::Calls, Dimension::Money] {
        let amounts = match dimension {
            Dimension::Tokens => Amounts {
                tokens: used.tokens * 10 / 7,
                ..AMPLE
            },
            Dimension::Calls => Amounts { calls: 1, ..AMPLE },
            _ => Amounts {
                money: Nanodollars(used.money.0 * 10 / 7),
                ..AMPLE
            },
        };
        let scripts = Scripts::root(vec![vec![call(5, 5)], vec![effect("event-1")]]);
        let heard = scripts.clone();
        let mut desk = ManualHost::open(scripts, root(amounts));
        desk.reply_next("five!");
        assert_eq!(heard.refusals("root"), [closing(dimension)]);
    }
    let scripts = Scripts::root(vec![vec![effect("event-1")], vec![spawn("child")]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(Amounts { tools: 1, ..AMPLE }));
    desk.allow();
    let place = desk.attempt();
    desk.settle(
        &place,
        EffectOutcome::Confirmed {
            receipt: "1".into(),
        },
    );
    assert_eq!(heard.refusals("root"), [closing(Dimension::Tools)]);
}

#[test]
fn e07_own_calls_in_flight_count_towards_the_mark() {
    let scripts = Scripts::root(vec![vec![call(10, 60), spawn("child")]])
        .with("child", vec![vec![call(1, 1)]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(TIGHT));
    assert_eq!(desk.run.episodes(), 1, "70 of 100 are in flight: held");
    desk.reply_next("short");
    assert_eq!(desk.run.episodes(), 2, "15 were used: admitted");
    assert_eq!(heard.refusals("root"), []);
}

#[test]
fn e07_open_grants_of_children_do_not_count_towards_the_mark() {
    // Three children hold three quarters of what there is; their parent may still call.
    let scripts = Scripts::root(vec![vec![
        spawn("child"),
        spawn("child"),
        spawn("child"),
        call(5, 5),
    ]])
    .with("child", vec![vec![call(1, 1)]]);
    let desk = ManualHost::open(scripts, root(TIGHT));
    let own = desk
        .steps
        .iter()
        .filter(|step| matches!(step, HostStep::Call { episode, .. } if episode.is_root()));
    assert_eq!(own.count(), 1);
}

#[test]
fn e07_what_children_spent_counts_once_they_are_over() {
    let scripts = Scripts::root(vec![
        vec![call(5, 25)],
        vec![spawn("child")],
        vec![spawn("child")],
        vec![spawn("child")],
    ])
    .with("child", vec![vec![call(5, 200)]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(TIGHT));
    desk.reply_next(&"y".repeat(25));
    for _ in 0..2 {
        let sent = desk.sent();
        let all = sent.request.output_tokens_max as usize;
        let words = format!("{}{}", sent.episode, "y".repeat(all));
        desk.reply(&sent, &words[..all]);
    }
    // 30 of its own, then half of 70, then half of 35: 82 are gone.
    assert_eq!(heard.refusals("root"), [closing(Dimension::Tokens)]);
    assert_eq!(desk.run.episodes(), 3);
}

#[test]
fn e07_an_episode_with_a_single_call_can_use_it() {
    let params = DirectConfig::default();
    let mut started = root(Amounts { calls: 1, ..AMPLE });
    started.program = params.spec();
    let mut desk = ManualHost::open(Scripts::default(), started);
    desk.reply_next("the answer");
    let result = desk.result();
    assert_eq!(
        (result.status, result.budget.spent.calls),
        (EpisodeStatus::Ok, 1)
    );
}

#[test]
fn e07_an_only_call_that_takes_all_there_is_can_be_made() {
    let mut desk = ManualHost::open(Scripts::root(vec![vec![call(10, 500)]]), root(TIGHT));
    let sent = desk.sent();
    assert_eq!(sent.request.output_tokens_max, 90);
    desk.reply(&sent, &"y".repeat(90));
    assert_eq!(desk.result().stop_reason, StopReason::Success);
}

#[test]
fn e07_an_episode_that_cannot_close_hands_off() {
    // The answer is cut at the closing mark, and cut again in the closing call.
    let params = DirectConfig {
        output_tokens_max: 60,
        output_tokens_min: 1,
        ..DirectConfig::default()
    };
    let mut started = root(Amounts {
        tokens: 400,
        ..AMPLE
    });
    started.program = params.spec();
    let mut desk = ManualHost::open(Scripts::default(), started);
    while desk.calls_out() > 0 {
        let sent = desk.sent();
        let all = sent.request.output_tokens_max as usize;
        desk.cut_reply(&sent, &"y".repeat(all));
    }
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::NeedsReview);
    let dimension = Dimension::Tokens;
    assert_eq!(
        result.stop_reason,
        StopReason::BudgetExhausted { dimension }
    );
    let [NextAction::Handoff(ticket)] = result.next_actions.as_slice() else {
        panic!("{:?}", result.next_actions);
    };
    for text in [&ticket.tried, &ticket.known, &ticket.asked] {
        assert!(!text.is_blank());
    }
    assert!(result.answer.is_some(), "what there is, is kept");
    assert!(result.budget.spent.tokens <= 400);
}

#[test]
fn e07_held_asks_are_refused_once_all_has_settled() {
    let scripts = Scripts::root(vec![vec![
        spawn("child"),
        call(20, 60),
        spawn("child"),
        effect("event-1"),
    ]])
    .with("child", vec![vec![call(1, 9)]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(TIGHT));
    let child = desk.sent();
    assert_eq!(child.episode, at(&[0]));
    desk.reply(&child, "y");
    let own = desk.sent();
    assert_eq!(own.episode, EpisodeId::root());
    assert_eq!(heard.refusals("root"), []);
    desk.reply(&own, &"y".repeat(60));
    let dimension = Dimension::Tokens;
    assert_eq!(
        heard.refusals("root"),
        [closing(dimension), closing(dimension)]
    );
}
