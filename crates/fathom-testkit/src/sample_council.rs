//! A council of three chiefs with three sub-chiefs each, for tests and benchmarks.

use fathom_core::contract::spawn::SpawnClass;
use fathom_core::contract::{Contract, RecursionPolicy, StopConditions};
use fathom_programs::council::complexity::{DetectorConfig, TopicDomain};
use fathom_programs::council::{CHIEF, CouncilConfig, CouncilSeat, ReusePolicy, SUB_CHIEF};

/// Touches every sub-chief of [`council`].
pub const COMPLEX: &str = "Should we move the customer database to the new cluster, considering cost, latency, backup and \
                           the auth migration, the rollout by the team and the pipeline?";

/// The chiefs, each with its sub-chiefs as (sub-chief, the word that concerns it).
const SEATS: [(&str, [(&str, &str); 3]); 3] = [
    (
        "IT",
        [
            ("security", "auth"),
            ("infrastructure", "cluster"),
            ("network", "latency"),
        ],
    ),
    (
        "Data",
        [
            ("schema", "database"),
            ("pipeline", "pipeline"),
            ("archive", "backup"),
        ],
    ),
    (
        "Ops",
        [
            ("money", "cost"),
            ("people", "team"),
            ("release", "rollout"),
        ],
    ),
];

/// The paths of all nine sub-chiefs.
pub fn sub_chiefs() -> Vec<String> {
    let paths = SEATS.iter().flat_map(|(chief, subs)| {
        let path = move |(sub, _): &(&str, &str)| format!("{chief}/{sub}");
        subs.iter().map(path)
    });
    paths.collect()
}

/// A seat that one word concerns.
pub fn seat(id: &str, word: &str) -> CouncilSeat {
    CouncilSeat {
        id: id.to_owned(),
        focus: format!("You look at {word}."),
        lexicon: vec![word.to_owned()],
        ..CouncilSeat::default()
    }
}

/// The council, with its seats made by `seat` of their id and their word. It uses no earlier answer again.
pub fn council(seat: impl Fn(&str, &str) -> CouncilSeat) -> CouncilConfig {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    let domain = |name: &str, word: &str| TopicDomain {
        name: name.to_owned(),
        words: words(&[word]),
    };
    let chiefs = SEATS.map(|(chief, subs)| CouncilSeat {
        sub_chiefs: subs.map(|(id, word)| seat(id, word)).to_vec(),
        ..seat(chief, "everything")
    });
    CouncilConfig {
        chiefs: chiefs.to_vec(),
        detector: DetectorConfig {
            factor_openers: words(&["considering"]),
            factors: words(&["cost", "latency", "backup"]),
            domains: vec![
                domain("security", "auth"),
                domain("data", "database"),
                domain("network", "latency"),
            ],
            ..DetectorConfig::default()
        },
        reuse: ReusePolicy::Off,
        ..CouncilConfig::default()
    }
}

/// Contract with room for as many seats as there can be, and no stop before its budget.
pub fn contract() -> Contract {
    Contract {
        recursion: RecursionPolicy {
            max_depth: 4,
            max_total_episodes: 40,
            allowed_child_types: vec![CHIEF.to_owned(), SUB_CHIEF.to_owned()],
            allowed_classes: vec![SpawnClass::Work],
            stop_conditions: StopConditions {
                no_delta_children_max: 100,
                same_error_max: 100,
            },
            ..RecursionPolicy::default()
        },
        ..Contract::default()
    }
}
