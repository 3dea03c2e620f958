//! Seats that were asked together, and what has come of each.

use super::chief::{self, ChiefBrief};
use super::config::CouncilSeat;
use super::report::{SeatFailure, SeatReport};
use fathom_core::budget::amounts::{Amounts, Dimension};
use fathom_core::contract::spawn::{SpawnClass, SpawnRequest, SpawnTrigger};
use fathom_core::contract::stop::{Refusal, StopReason};
use fathom_core::contract::{AgentRole, Contract, RecursionPolicy};
use fathom_core::episode::program::{Ask, ProgramView};
use fathom_core::episode::result::EpisodeResult;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::event::ProgramSpec;
use fathom_core::text::Text;
use fathom_core::unit::Millis;

/// The kind of child that a chief is.
pub const CHIEF: &str = "chief";

/// The kind of child that a sub-chief is.
pub const SUB_CHIEF: &str = "sub_chief";

/// Tokens without which no vote can be had.
const TOKENS_MIN: u64 = 64;

/// One of those who were asked.
#[derive(Clone, Debug)]
struct AskedSeat {
    ask: AskId,
    seat: String,
    report: Option<SeatReport>,
    refused: Option<Refusal>,
}

/// Seats that were asked together.
#[derive(Clone, Debug, Default)]
pub(super) struct SeatPanel {
    asked: Vec<AskedSeat>,
}

impl SeatPanel {
    /// Asks every one of `briefs`, all at once.
    pub(super) fn ask(
        kind: &str,
        question: &Text,
        briefs: Vec<ChiefBrief>,
        view: &ProgramView<'_>,
    ) -> (Self, Vec<Ask>) {
        let episodes: u64 = briefs.iter().map(ChiefBrief::episodes).sum();
        // If not all can have their sub-chiefs, none reserves them: the first would take what the last ones need.
        let fits = episodes <= view.left.episodes;
        let mut asks = Vec::new();
        let mut panel = Self::default();
        for (number, brief) in (view.next_ask.0..).zip(briefs) {
            let at_least = Amounts {
                tokens: TOKENS_MIN,
                calls: 1,
                episodes: if fits { brief.episodes() } else { 1 },
                ..Amounts::ZERO
            };
            panel.asked.push(AskedSeat {
                ask: AskId(number),
                seat: brief.seat.id.clone(),
                report: None,
                refused: None,
            });
            asks.push(Ask::Spawn(Box::new(SpawnRequest {
                child_type: kind.to_owned(),
                class: SpawnClass::Work,
                trigger: SpawnTrigger::ComplexQuestion,
                why: "each seat looks at the question for itself".into(),
                fetch: Text::new(format!("the vote of {}", brief.path)),
                return_format: "a vote with confidence and reasoning".into(),
                goal: question.clone(),
                role: AgentRole::Planner,
                contract: contract(&brief, view),
                at_least,
                // The contract and the time bound a seat; the parent shares out what is left.
                at_most: Amounts::MAX,
                time_max: Some(brief.time_max(view.time_left)),
                program: brief.spec(),
            })));
        }
        (panel, asks)
    }

    fn find(&mut self, ask: AskId) -> Option<&mut AskedSeat> {
        self.asked.iter_mut().find(|asked| asked.ask == ask)
    }

    /// Takes in what a child left.
    pub(super) fn on_child(&mut self, ask: AskId, child: &EpisodeId, result: &EpisodeResult) {
        let Some(asked) = self.find(ask) else { return };
        let told = result.report.as_ref();
        let told = told.and_then(|report| serde_json::from_str::<SeatReport>(report.as_str()).ok());
        let report = told.unwrap_or_else(|| SeatReport {
            failure: Some(match &result.stop_reason {
                StopReason::BudgetExhausted {
                    dimension: Dimension::Time,
                } => SeatFailure::Late,
                other => SeatFailure::Stopped {
                    message: other.to_string(),
                },
            }),
            ..SeatReport::new(&asked.seat)
        });
        asked.report = Some(SeatReport {
            episode: Some(child.clone()),
            tokens: result.budget.spent.tokens,
            calls: result.budget.spent.calls,
            elapsed: result.budget.time_spent,
            ..report
        });
    }

    /// Takes in that one was not let in.
    pub(super) fn on_refused(&mut self, ask: AskId, reason: &Refusal) {
        let Some(asked) = self.find(ask) else { return };
        asked.report = Some(SeatReport {
            failure: Some(SeatFailure::Refused {
                message: reason.to_string(),
            }),
            ..SeatReport::new(&asked.seat)
        });
        asked.refused = Some(reason.clone());
    }

    /// True if a seat is still out.
    pub(super) fn is_open(&self) -> bool {
        self.asked.iter().any(|asked| asked.report.is_none())
    }

    /// The first refusal, when nobody was let in at all.
    pub(super) fn turned_away(&self) -> Option<&Refusal> {
        let all = self.asked.iter().all(|asked| asked.refused.is_some());
        self.refusal().filter(|_| all)
    }

    /// The first refusal, if there is one.
    pub(super) fn refusal(&self) -> Option<&Refusal> {
        self.asked.iter().find_map(|asked| asked.refused.as_ref())
    }

    /// Reports of all seats; those still out count as late.
    pub(super) fn reports(&self) -> Vec<SeatReport> {
        let late = |asked: &AskedSeat| SeatReport {
            failure: Some(SeatFailure::Late),
            ..SeatReport::new(&asked.seat)
        };
        self.asked
            .iter()
            .map(|asked| asked.report.clone().unwrap_or_else(|| late(asked)))
            .collect()
    }
}

impl SeatReport {
    /// Nothing has come of a seat yet.
    pub(super) fn new(seat: &str) -> Self {
        Self {
            seat: seat.to_owned(),
            cast: None,
            failure: None,
            agreement: None,
            samples: None,
            reused: None,
            alone: None,
            alone_ms: None,
            episode: None,
            tokens: 0,
            calls: 0,
            reused_calls: 0,
            elapsed: Millis(0),
            children: Vec::new(),
        }
    }
}

/// A seat may do what its asker may, and nothing else than vote.
fn contract(brief: &ChiefBrief, view: &ProgramView<'_>) -> Contract {
    let own = &view.contract.recursion;
    let may_ask = !brief.relevant().is_empty();
    let recursion = RecursionPolicy {
        max_depth: if may_ask {
            own.max_depth
        } else {
            view.depth + 1
        },
        ..own.clone()
    };
    Contract {
        recursion,
        ..Contract::default()
    }
}

/// The name of the seat that an episode sits on, as `IT/security`.
pub fn seat_of(program: &ProgramSpec) -> Option<String> {
    if program.name != chief::NAME {
        return None;
    }
    serde_json::from_str::<SeatPath>(program.params.as_str())
        .ok()
        .map(|brief| brief.path)
}

/// The one part of a brief that an onlooker wants.
#[derive(serde::Deserialize)]
struct SeatPath {
    path: String,
}

/// The sub-chiefs of a seat that a question touches, at most so many.
pub(super) fn touched<'a>(
    seat: &'a CouncilSeat,
    path: &str,
    seats: &[String],
    most: usize,
) -> Vec<&'a CouncilSeat> {
    let is_touched = |sub: &&CouncilSeat| seats.contains(&format!("{path}/{}", sub.id));
    seat.sub_chiefs
        .iter()
        .filter(is_touched)
        .take(most)
        .collect()
}
