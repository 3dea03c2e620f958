//! Whole trees of episodes in all weathers: the books, the bill and the replay.

use std::sync::Arc;

use fathom_core::budget::amounts::Amounts;
use fathom_core::episode::program::ProgramFactory;
use fathom_core::id::{EpisodeId, Epoch};
use fathom_core::journal::command::Command;
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::audit::audit;
use crate::tree::{Node, limits, node};
use crate::weather::{Climate, Weather};
use fathom_testkit::manual_host::host::refold;

fn cases(cases: u32) -> Config {
    Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    }
}

fn rolls() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..2_000)
}

/// The amounts that are never used without being counted.
fn counted(amounts: Amounts) -> Amounts {
    Amounts {
        episodes: 0,
        ..amounts
    }
}

fn live_through(tree: &Node, limits: Amounts, climate: Climate, rolls: Vec<u8>) -> Weather {
    let (scripts, started) = tree.plant(limits);
    let mut weather = Weather::new(scripts, started, climate, rolls);
    weather.pass();
    weather
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn e06_books_add_up_over_random_trees(
        tree in node(3),
        limits in limits(),
        rolls in rolls(),
    ) {
        let weather = live_through(&tree, limits, Climate::Fair, rolls);
        audit(&weather.log);
    }

    #[test]
    fn e06_a_crash_never_spends_above_the_limit(
        tree in node(3),
        limits in limits(),
        rolls in rolls(),
    ) {
        let weather = live_through(&tree, limits, Climate::Stormy, rolls);
        audit(&weather.log);
        let result = weather.log.of(&EpisodeId::root()).find_map(|record| record.result());
        if let Some(result) = result {
            let spent = result.budget.spent;
            prop_assert_eq!(counted(weather.worst_bill()).exceeds(&spent), None);
            prop_assert_eq!(spent.exceeds(&limits), None);
        }
    }

    #[test]
    fn r07_a_finished_call_is_never_repeated(
        tree in node(2),
        limits in limits(),
        rolls in rolls(),
    ) {
        // The weather looks at every call that goes out.
        let weather = live_through(&tree, limits, Climate::Stormy, rolls);
        prop_assert!(weather.log.entries.is_empty() || weather.is_over());
    }

    #[test]
    fn e06_usage_beyond_all_bounds_stops_a_run_and_nothing_else(
        tree in node(2),
        limits in limits(),
        rolls in rolls(),
    ) {
        let weather = live_through(&tree, limits, Climate::Dishonest, rolls);
        prop_assert!(weather.log.entries.is_empty() || weather.is_over());
        for entry in &weather.log.entries {
            for command in &entry.record.commands {
                if let Command::ReportOverrun { reserved, used, .. } = command {
                    prop_assert!(used > reserved);
                }
            }
        }
    }

    #[test]
    fn x02_refolding_any_run_gives_the_same_commands(
        tree in node(2),
        limits in limits(),
        rolls in rolls(),
    ) {
        let (scripts, started) = tree.plant(limits);
        let mut weather = Weather::new(scripts.clone(), started, Climate::Stormy, rolls);
        weather.pass();
        let programs: Arc<dyn ProgramFactory> = Arc::new(scripts);
        let run = refold(&weather.log, Epoch(99), &programs);
        prop_assert_eq!(run.live().count(), 0);
    }
}
