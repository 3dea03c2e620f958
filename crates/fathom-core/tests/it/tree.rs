//! Random trees of episodes: what each asks for, round by round, and what the run may use.

use fathom_core::budget::amounts::Amounts;
use fathom_core::contract::{Contract, RecursionPolicy};
use fathom_core::episode::program::{Ask, OnOutage};
use fathom_core::journal::event::EpisodeSpec;
use fathom_core::unit::Nanodollars;
use proptest::prelude::*;

use fathom_testkit::manual_host::samples;
use fathom_testkit::manual_host::scripted_program::Scripts;

/// Something an episode of a random tree wants.
#[derive(Clone, Debug)]
pub(crate) enum Want {
    Call {
        input: usize,
        output: u32,
        on_outage: OnOutage,
    },
    Effect,
    Child {
        node: Node,
        least_tokens: u64,
    },
}

/// An episode of a random tree. What one round wants is asked together.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) rounds: Vec<Vec<Want>>,
}

fn call() -> impl Strategy<Value = Want> {
    let on_outage = prop_oneof![3 => Just(OnOutage::Fail), 1 => Just(OnOutage::Wait)];
    (1_usize..200, 1_u32..300, on_outage).prop_map(|(input, output, on_outage)| Want::Call {
        input,
        output,
        on_outage,
    })
}

fn rounds_of(want: impl Strategy<Value = Want>) -> impl Strategy<Value = Node> {
    prop::collection::vec(prop::collection::vec(want, 1..4), 0..5)
        .prop_map(|rounds| Node { rounds })
}

/// A tree of at most `depth` levels below its root.
pub(crate) fn node(depth: u32) -> BoxedStrategy<Node> {
    let own = prop_oneof![4 => call(), 1 => Just(Want::Effect)];
    if depth == 0 {
        return rounds_of(own).boxed();
    }
    let child = (node(depth - 1), 0_u64..400)
        .prop_map(|(node, least_tokens)| Want::Child { node, least_tokens });
    rounds_of(prop_oneof![1 => own, 1 => child]).boxed()
}

/// Limits from hardly anything to enough.
pub(crate) fn limits() -> impl Strategy<Value = Amounts> {
    let tokens = prop_oneof![1 => 0_u64..1_000, 3 => 1_000_u64..30_000];
    let calls = prop_oneof![1 => 0_u64..6, 3 => 6_u64..80];
    let money = prop_oneof![1 => 0_u64..2_000, 3 => 2_000_u64..60_000];
    (tokens, calls, 0_u64..8, money, 1_u64..14).prop_map(
        |(tokens, calls, tools, money, episodes)| Amounts {
            tokens,
            calls,
            tools,
            money: Nanodollars(money),
            episodes,
        },
    )
}

fn contract() -> Contract {
    let contract = samples::contract();
    Contract {
        recursion: RecursionPolicy {
            max_depth: 4,
            ..contract.recursion
        },
        ..contract
    }
}

impl Node {
    /// The scripts of the tree, and what its root starts with.
    pub(crate) fn plant(&self, limits: Amounts) -> (Scripts, EpisodeSpec) {
        let mut grower = Grower {
            scripts: Scripts::default(),
            names: 0,
            effects: 0,
        };
        let name = grower.grow(self);
        let started = EpisodeSpec {
            program: samples::program(&name),
            contract: contract(),
            ..samples::root(limits)
        };
        (grower.scripts, started)
    }
}

struct Grower {
    scripts: Scripts,
    names: u32,
    effects: u32,
}

impl Grower {
    fn grow(&mut self, node: &Node) -> String {
        let name = format!("node-{}", self.names);
        self.names += 1;
        let rounds = node
            .rounds
            .iter()
            .map(|round| round.iter().map(|want| self.ask(want)).collect())
            .collect();
        self.scripts = std::mem::take(&mut self.scripts).with(&name, rounds);
        name
    }

    fn ask(&mut self, want: &Want) -> Ask {
        match want {
            Want::Call {
                input,
                output,
                on_outage,
            } => {
                let mut ask = samples::model_ask(*input, *output);
                ask.on_outage = *on_outage;
                Ask::Model(Box::new(ask))
            }
            Want::Effect => {
                self.effects += 1;
                samples::effect(&format!("event-{}", self.effects))
            }
            Want::Child { node, least_tokens } => {
                let name = self.grow(node);
                let mut request = samples::spawn_request(&name);
                request.contract = contract();
                request.at_least = Amounts {
                    tokens: *least_tokens,
                    calls: 1,
                    ..Amounts::ZERO
                };
                Ask::Spawn(Box::new(request))
            }
        }
    }
}
