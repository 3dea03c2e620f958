//! How a budget is divided: between an episode and its children, and among siblings.

use std::collections::BTreeMap;

use fathom_core::budget::amounts::{Amounts, Dimension};
use fathom_core::budget::ledger::{
    BudgetAccounts, Ledger, ReservationOverrun, SHARED, crossed, share,
};
use fathom_core::contract::stop::Refusal;
use fathom_core::episode::program::Ask;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::Command;
use fathom_core::unit::{Millis, Nanodollars};
use proptest::prelude::*;
use proptest::test_runner::Config;

use fathom_testkit::manual_host::host::{ManualHost, at};
use fathom_testkit::manual_host::samples::{AMPLE, call, root, spawn, spawn_request};
use fathom_testkit::manual_host::scripted_program::Scripts;

fn amounts(most: u64) -> impl Strategy<Value = Amounts> {
    (0..=most, 0..=most, 0..=most, 0..=most, 0..=most).prop_map(
        |(tokens, calls, tools, money, episodes)| Amounts {
            tokens,
            calls,
            tools,
            money: Nanodollars(money),
            episodes,
        },
    )
}

fn any_amounts() -> impl Strategy<Value = Amounts> {
    prop_oneof![amounts(12), amounts(10_000), amounts(u64::MAX)]
}

fn recursing() -> impl Strategy<Value = bool> {
    any::<bool>()
}

fn config() -> Config {
    Config {
        cases: 2_000,
        failure_persistence: None,
        ..Config::default()
    }
}

/// A step of a random bookkeeper.
#[derive(Clone, Debug)]
enum Entry {
    Reserve(u32, Amounts),
    Settle(u32, Amounts),
    Grant(u32, Amounts),
    Close(u32, Amounts),
    Draw(Amounts),
    Forfeit,
}

fn entry() -> impl Strategy<Value = Entry> {
    let some = || amounts(400);
    prop_oneof![
        (0_u32..6, some()).prop_map(|(id, amounts)| Entry::Reserve(id, amounts)),
        (0_u32..6, some()).prop_map(|(id, amounts)| Entry::Settle(id, amounts)),
        (0_u32..6, some()).prop_map(|(id, amounts)| Entry::Grant(id, amounts)),
        (0_u32..6, some()).prop_map(|(id, amounts)| Entry::Close(id, amounts)),
        some().prop_map(Entry::Draw),
        Just(Entry::Forfeit),
    ]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn e06_child_never_gets_more_than_half(
        left in any_amounts(),
        siblings in 0_u64..20,
        at_least in any_amounts(),
        at_most in any_amounts(),
        may_recurse in recursing(),
    ) {
        if let Ok(granted) = share(left, siblings, at_least, at_most, may_recurse) {
            for dimension in SHARED {
                prop_assert!(granted.get(dimension) <= left.get(dimension) / 2);
                prop_assert!(granted.get(dimension) <= at_most.get(dimension));
                prop_assert!(granted.get(dimension) >= at_least.get(dimension));
            }
            prop_assert!((1..=left.episodes).contains(&granted.episodes));
            prop_assert!(granted.episodes >= at_least.episodes);
            prop_assert!(granted.episodes <= at_most.episodes.max(1));
        }
    }

    #[test]
    fn e06_a_child_is_refused_only_when_half_is_not_enough(
        left in any_amounts(),
        siblings in 1_u64..20,
        at_least in any_amounts(),
        may_recurse in recursing(),
    ) {
        if let Err(dimension) = share(left, siblings, at_least, Amounts::MAX, may_recurse) {
            let room = if dimension == Dimension::Episodes {
                left.episodes
            } else {
                left.get(dimension) / 2
            };
            let needed = at_least.max(Amounts { episodes: 1, ..Amounts::ZERO });
            prop_assert!(needed.get(dimension) > room);
        }
    }

    #[test]
    fn e06_siblings_share_alike_and_one_share_is_kept(
        left in amounts(100_000),
        count in 1_u64..12,
    ) {
        let left = Amounts { episodes: count + left.episodes, ..left };
        let mut rest = left;
        for waiting in (1..=count).rev() {
            let granted = share(rest, waiting, Amounts::ZERO, Amounts::MAX, true)
                .expect("siblings who need nothing are never refused");
            for dimension in SHARED {
                let fair = left.get(dimension) / (count + 1);
                let one_call = u64::from(dimension == Dimension::Calls);
                let got = granted.get(dimension);
                // What a division leaves over goes to those who come last, one at a time.
                prop_assert!(got >= fair.min(rest.get(dimension) / 2));
                prop_assert!(got <= (fair + 1).max(one_call), "{got} of {fair} {dimension}");
            }
            rest = rest.minus(granted);
        }
        for dimension in [Dimension::Tokens, Dimension::Tools, Dimension::Money] {
            prop_assert!(rest.get(dimension) >= left.get(dimension) / (count + 1));
        }
    }

    #[test]
    fn e06_a_child_has_a_call_while_half_allows_one(
        calls in 0_u64..40,
        siblings in 1_u64..12,
    ) {
        let left = Amounts { calls, ..AMPLE };
        let granted = share(left, siblings, Amounts::ZERO, Amounts::MAX, false);
        let granted = granted.expect("it needs nothing");
        prop_assert_eq!(granted.calls > 0, calls >= 2);
    }

    #[test]
    fn e06_a_ledger_always_adds_up(
        limit in amounts(1_000),
        entries in prop::collection::vec(entry(), 0..60),
    ) {
        let mut books = Ledger::open(Amounts { episodes: limit.episodes + 1, ..limit });
        let child = |id: u32| EpisodeId::root().child(id);
        let mut reserved = BTreeMap::new();
        let mut granted = BTreeMap::new();
        for entry in entries {
            match entry {
                Entry::Reserve(id, need) if !reserved.contains_key(&id) => {
                    let fits = need.exceeds(&books.left());
                    prop_assert_eq!(books.reserve(AskId(id), need).err(), fits);
                    if fits.is_none() {
                        reserved.insert(id, need);
                    }
                }
                Entry::Settle(id, used) => {
                    let before = books.spent();
                    let set_aside = reserved.remove(&id);
                    let used = used.min(set_aside.unwrap_or_default());
                    prop_assert_eq!(books.settle(AskId(id), used), Vec::new());
                    let spent = set_aside.map_or(Amounts::ZERO, |_| used);
                    prop_assert_eq!(books.spent(), before.plus(spent), "settled once at most");
                }
                Entry::Grant(id, need) if !granted.contains_key(&id) => {
                    let fits = need.exceeds(&books.left());
                    prop_assert_eq!(books.grant(&child(id), need).err(), fits);
                    if fits.is_none() {
                        granted.insert(id, need);
                    }
                }
                Entry::Close(id, used) => {
                    let before = books.spent();
                    let part = granted.remove(&id);
                    let used = used.min(part.unwrap_or_default());
                    books.close_grant(&child(id), used);
                    let spent = part.map_or(Amounts::ZERO, |_| used);
                    prop_assert_eq!(books.spent(), before.plus(spent), "closed once at most");
                }
                Entry::Draw(need) => {
                    let draw = books.draw(need.min(books.left()));
                    if let Some(upto) = draw.lease {
                        prop_assert_eq!(draw.drawn.exceeds(&upto), None);
                    }
                }
                Entry::Forfeit => {
                    let before = books.spent();
                    let lost = books.forfeit();
                    prop_assert_eq!(books.spent(), before.plus(lost));
                    prop_assert_eq!(books.forfeit(), Amounts::ZERO, "lost once at most");
                }
                Entry::Reserve(..) | Entry::Grant(..) => {}
            }
            let sum = |parts: &BTreeMap<u32, Amounts>| {
                parts.values().fold(Amounts::ZERO, |sum, part| sum.plus(*part))
            };
            prop_assert_eq!(books.reserved(), sum(&reserved));
            let gone = books.spent().plus(sum(&reserved)).plus(sum(&granted));
            prop_assert_eq!(gone.exceeds(&books.limit()), None);
            prop_assert_eq!(gone.plus(books.left()), books.limit());
        }
    }

    #[test]
    fn e06_what_is_used_beyond_a_reservation_is_an_overrun(
        reserved in amounts(1_000),
        used in amounts(2_000),
    ) {
        let mut books = Ledger::open(Amounts::MAX);
        prop_assert_eq!(books.reserve(AskId(0), reserved), Ok(()));
        let overruns = books.settle(AskId(0), used);
        let expected: Vec<ReservationOverrun> = Amounts::DIMENSIONS
            .into_iter()
            .filter(|&dimension| used.get(dimension) > reserved.get(dimension))
            .map(|dimension| ReservationOverrun {
                dimension,
                reserved: reserved.get(dimension),
                used: used.get(dimension),
            })
            .collect();
        prop_assert_eq!(overruns, expected);
        prop_assert_eq!(books.reserved(), Amounts::ZERO);
    }

    #[test]
    fn e07_the_closing_mark_is_seventy_percent(used in any::<u64>(), limit in 1..=u64::MAX) {
        let at = |tokens: u64| Amounts { tokens, ..Amounts::ZERO };
        let past = u128::from(used) * 10 >= u128::from(limit) * 7;
        let expected = past.then_some(Dimension::Tokens);
        prop_assert_eq!(crossed(at(used), at(limit)), expected);
    }
}

#[test]
fn e07_episodes_and_empty_dimensions_have_no_closing_mark() {
    let used = Amounts {
        episodes: 9,
        tools: 5,
        ..Amounts::ZERO
    };
    let limit = Amounts {
        episodes: 9,
        tools: 0,
        ..AMPLE
    };
    assert_eq!(crossed(used, limit), None);
}

/// Spawns `count` children at once and says what each got.
fn grants(amounts: Amounts, count: usize) -> (Vec<Amounts>, ManualHost, Scripts) {
    let scripts =
        Scripts::root(vec![vec![spawn("child"); count]]).with("child", vec![vec![call(5, 5)]]);
    let heard = scripts.clone();
    let desk = ManualHost::open(scripts, root(amounts));
    let commands = desk.log.commands(&EpisodeId::root());
    let granted = commands
        .iter()
        .filter_map(|command| match command {
            Command::Spawn { started, .. } => Some(started.budget.amounts),
            _ => None,
        })
        .collect();
    (granted, desk, heard)
}

#[test]
fn e06_siblings_asked_together_get_equal_parts_of_what_is_left() {
    let (granted, desk, _) = grants(AMPLE, 3);
    assert_eq!(granted.len(), 3);
    for part in granted {
        assert_eq!(part.tokens, 25_000);
        assert_eq!(part.calls, 25);
        assert_eq!(part.tools, 5);
        assert_eq!(part.money, Nanodollars(250_000));
    }
    let left = desk.episode(&EpisodeId::root()).accounts().left();
    assert_eq!((left.tokens, left.calls, left.tools), (25_000, 25, 5));
}

#[test]
fn e06_at_least_one_call_in_order_while_half_allows_it() {
    let (granted, _, _) = grants(Amounts { calls: 5, ..AMPLE }, 6);
    let calls: Vec<u64> = granted.iter().map(|part| part.calls).collect();
    assert_eq!(calls, [1, 1, 1, 1, 0, 0]);
}

#[test]
fn e06_a_child_that_needs_more_than_half_is_held_and_then_refused() {
    let mut request = spawn_request("child");
    request.at_least = Amounts {
        tokens: 60_000,
        calls: 1,
        ..Amounts::ZERO
    };
    let scripts =
        Scripts::root(vec![vec![call(5, 5), Ask::Spawn(Box::new(request))]]).with("child", vec![]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    assert!(heard.refusals("root").is_empty(), "a call is in flight");
    desk.reply_next("done");
    let dimension = Dimension::Tokens;
    assert_eq!(heard.refusals("root"), [Refusal::Budget { dimension }]);
}

#[test]
fn e06_the_unspent_part_comes_back() {
    let (_, mut desk, _) = grants(AMPLE, 1);
    let root = EpisodeId::root();
    assert_eq!(desk.episode(&root).accounts().left().tokens, 50_000);
    desk.reply_next("four");
    let spent = desk.result().budget.spent;
    assert_eq!((spent.tokens, spent.calls, spent.episodes), (9, 1, 2));
}

#[test]
fn e06_time_is_a_nested_deadline_and_never_divided() {
    let scripts = Scripts::root(vec![vec![call(5, 5)], vec![spawn("child"), spawn("child")]])
        .with("child", vec![vec![call(5, 5)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.wait(Millis(100_000));
    desk.reply_next("first");
    for child in [at(&[0]), at(&[1])] {
        assert_eq!(desk.episode(&child).started().budget.time.0, 500_000);
    }
}
