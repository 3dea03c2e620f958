//! The questions of a running cell: which calls and children answer them, and what was answered before.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::child_tasks::{child, passed, sharing, spawn};
use super::config::RlmConfig;
use super::leaf_calls::{LeafCall, model_call};
use crate::reply::said;
use fathom_core::contract::stop::{Refusal, StopReason};
use fathom_core::episode::program::{Ask, ProgramView};
use fathom_core::episode::result::{EpisodeResult, EpisodeStatus};
use fathom_core::id::{AskId, Digest};
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{FinishReason, ModelReply};
use fathom_core::sandbox::{
    CellAnswer, CellBudget, CellCall, CellException, CellExceptionKind, CellOutcome, CellQuestion,
    CellReply, CellValue, ContextSource,
};
use fathom_core::text::Text;

/// Most leaf calls whose replies are remembered, so that a run that asks for ever does not grow for ever.
const REMEMBERED_MAX: usize = 100_000;

/// Most bytes of the answers to one question, all its entries together: they are held until the last of them is there.
pub(super) const ANSWERS_BYTES_MAX: usize = 16 << 20;

enum LeafState {
    /// It is being asked, for these places.
    Asked(Vec<AnswerSlot>),
    Said(CellOutcome),
}

/// A place in an answer: the question and the entry.
type AnswerSlot = (u32, usize);

struct OpenQuestion {
    outcomes: Vec<Option<CellOutcome>>,
    missing: usize,
    /// Of the answers so far.
    bytes: usize,
}

/// Open questions of a cell, with the calls and children they wait for.
#[derive(Default)]
pub(super) struct CellQuestions {
    /// The ask that runs the cell.
    cell: AskId,
    open: BTreeMap<u32, OpenQuestion>,
    leaves: BTreeMap<Digest, LeafState>,
    calls: BTreeMap<AskId, Digest>,
    children: BTreeMap<AskId, AnswerSlot>,
    /// Leaf calls that a model was asked.
    pub(super) subcalls: u64,
    /// Leaf calls that were answered with what was said before.
    pub(super) memoised: u64,
    /// Child episodes that were asked for.
    pub(super) spawned: u64,
}

impl CellQuestions {
    /// A new cell runs.
    pub(super) fn begin(&mut self, cell: AskId) {
        self.cell = cell;
    }

    /// The cell ended: nobody waits for what it asked, and the next one numbers its questions as this one did.
    pub(super) fn end(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        self.open.clear();
        let calls = std::mem::take(&mut self.calls);
        let unsent = calls.keys().filter(|ask| !view.was_sent(**ask));
        // Calls that were queued but never sent cost nothing, and the report counts what was paid for.
        self.subcalls -= unsent.count() as u64;
        for leaf in calls.values() {
            // The cancelled call will never answer, so a later cell with the same prompt must ask again.
            self.leaves.remove(leaf);
        }
        let children = std::mem::take(&mut self.children);
        calls
            .into_keys()
            .chain(children.into_keys())
            .map(Ask::Cancel)
            .collect()
    }

    /// Takes in a question.
    pub(super) fn ask(
        &mut self,
        question: &CellQuestion,
        params: &RlmConfig,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        let id = question.id;
        let count = match &question.call {
            CellCall::Budget => {
                let reply = CellReply::Budget(CellBudget {
                    left: view.left,
                    time_left: view.time_left,
                });
                return vec![self.say(id, reply)];
            }
            CellCall::Query { prompts, .. } => prompts.len(),
            CellCall::Recurse { tasks } => tasks.len(),
        };
        let open = OpenQuestion {
            outcomes: vec![None; count],
            missing: count,
            bytes: 0,
        };
        // Before the asks are made: an empty prompt settles its place at once.
        self.open.insert(id, open);
        let mut asks = Vec::new();
        match &question.call {
            CellCall::Query {
                prompts,
                pattern,
                tokens_max,
            } => {
                let cap = params.leaf_tokens_max;
                // The code may lower the cap, never raise it: the code is written by the model that the cap is for.
                let tokens_max = tokens_max.map_or(cap, |most| most.clamp(1, cap));
                for (entry, prompt) in prompts.iter().enumerate() {
                    let leaf = LeafCall {
                        prompt,
                        pattern: pattern.as_ref(),
                        tokens_max,
                    };
                    self.ask_leaf(&leaf, (id, entry), params, view, &mut asks);
                }
            }
            CellCall::Recurse { tasks } => {
                // There may be thousands that work on the same material.
                let shared = OnceCell::new();
                for (entry, task) in tasks.iter().enumerate() {
                    let program = match &task.context {
                        None => shared.get_or_init(|| sharing(params)).clone(),
                        Some(part) => self.on_part(part, (id, entry), params, view),
                    };
                    let ask = numbered(view, &asks);
                    self.children.insert(ask, (id, entry));
                    self.spawned += 1;
                    asks.push(spawn(task, program, view));
                }
            }
            CellCall::Budget => {}
        }
        // An empty list has nothing to wait for, and the cell would block for ever without this answer.
        asks.extend(self.answered(id));
        asks
    }

    fn ask_leaf(
        &mut self,
        leaf: &LeafCall<'_>,
        place: AnswerSlot,
        params: &RlmConfig,
        view: &ProgramView<'_>,
        asks: &mut Vec<Ask>,
    ) {
        if leaf.prompt.is_blank() {
            let fault = fault(CellExceptionKind::Refused, "the prompt is empty");
            self.settle(place, CellOutcome::Fault(fault));
            return;
        }
        let digest = leaf.digest();
        match self.leaves.get_mut(&digest) {
            Some(LeafState::Said(said)) => {
                let said = said.clone();
                self.memoised += 1;
                self.settle(place, said);
            }
            Some(LeafState::Asked(places)) => {
                self.memoised += 1;
                places.push(place);
            }
            None => {
                self.subcalls += 1;
                self.calls.insert(numbered(view, asks), digest);
                asks.push(model_call(leaf, params));
                if self.leaves.len() == REMEMBERED_MAX {
                    self.leaves
                        // Calls in flight stay, because places wait for them; answers can be asked for again.
                        .retain(|_, known| matches!(known, LeafState::Asked(_)));
                }
                self.leaves.insert(digest, LeafState::Asked(vec![place]));
            }
        }
    }

    /// Specification of a child that works on a part handed over by a cell.
    fn on_part(
        &self,
        part: &CellValue,
        place: AnswerSlot,
        params: &RlmConfig,
        view: &ProgramView<'_>,
    ) -> ProgramSpec {
        let source = ContextSource::Passed {
            depth: Some(view.depth),
            cell: self.cell,
            question: place.0,
            task: u32::try_from(place.1).unwrap_or(u32::MAX),
        };
        child(params, vec![passed(part.text.as_str(), part.form)], source)
    }

    /// A leaf call was answered.
    pub(super) fn on_reply(&mut self, ask: AskId, reply: &ModelReply) -> Vec<Ask> {
        if reply.recalled.is_some() && self.calls.contains_key(&ask) {
            self.subcalls -= 1;
            self.memoised += 1;
        }
        let text = said(&reply.text);
        let outcome = match reply.ending {
            FinishReason::Complete if text.is_blank() => {
                let message = "the reply is nothing but thoughts";
                CellOutcome::Fault(fault(CellExceptionKind::Empty, message))
            }
            FinishReason::Complete => match reply.margin_milli {
                None => CellOutcome::Said(text),
                Some(margin_milli) => CellOutcome::Chosen { text, margin_milli },
            },
            FinishReason::Truncated => CellOutcome::Fault(CellException {
                kind: CellExceptionKind::Truncated,
                message: Text::from("the reply ran into its output cap"),
                partial: Some(text).filter(|text| !text.is_blank()),
            }),
        };
        self.on_leaf(ask, &outcome)
    }

    /// A leaf call failed for good.
    pub(super) fn on_failed(&mut self, ask: AskId, failure: &ModelFailure) -> Vec<Ask> {
        let kind = match failure.kind {
            FailureKind::RateLimited => CellExceptionKind::RateLimited,
            FailureKind::Timeout => CellExceptionKind::TimedOut,
            FailureKind::Refused => CellExceptionKind::Refused,
            FailureKind::Empty => CellExceptionKind::Empty,
            FailureKind::Truncated => CellExceptionKind::Truncated,
            FailureKind::TooLarge => CellExceptionKind::TooLarge,
            FailureKind::Connection
            | FailureKind::Server
            | FailureKind::CircuitOpen
            | FailureKind::Auth
            | FailureKind::Rejected
            | FailureKind::Malformed
            | FailureKind::Cancelled => CellExceptionKind::Unavailable,
        };
        let fault = CellException {
            partial: (!failure.partial.is_blank()).then(|| failure.partial.clone()),
            ..fault(kind, &failure.to_string())
        };
        self.on_leaf(ask, &CellOutcome::Fault(fault))
    }

    /// A leaf call or a child was refused.
    pub(super) fn on_refused(&mut self, ask: AskId, reason: &Refusal) -> Vec<Ask> {
        let (kind, message) = match reason {
            Refusal::Budget { .. } | Refusal::Closing { .. } => {
                (CellExceptionKind::BudgetExceeded, reason.to_string())
            }
            Refusal::TokenBudget { tokens, limit, .. } => (
                CellExceptionKind::TooLarge,
                format!("the prompt has about {tokens} tokens, and the model takes {limit}"),
            ),
            Refusal::Depth { max_depth } => (
                CellExceptionKind::Refused,
                format!("no deeper than {max_depth}: use llm_query"),
            ),
            other => (CellExceptionKind::Refused, other.to_string()),
        };
        let outcome = CellOutcome::Fault(fault(kind, &message));
        if let Some(place) = self.children.remove(&ask) {
            self.spawned -= 1;
            return Vec::from_iter(self.settle_and_answer(place, outcome));
        }
        // No model was asked.
        self.subcalls -= u64::from(self.calls.contains_key(&ask));
        self.on_leaf(ask, &outcome)
    }

    /// A child ended.
    pub(super) fn on_child(&mut self, ask: AskId, result: &EpisodeResult) -> Vec<Ask> {
        let Some(place) = self.children.remove(&ask) else {
            return Vec::new();
        };
        let answer = result.answer.clone().filter(|answer| !answer.is_blank());
        let outcome = match (result.status, answer) {
            (EpisodeStatus::Ok, Some(answer)) => CellOutcome::Said(answer),
            (EpisodeStatus::Ok, None) => {
                CellOutcome::Fault(fault(CellExceptionKind::Empty, "it said nothing"))
            }
            (_, partial) => {
                let kind = match result.stop_reason {
                    StopReason::BudgetExhausted { .. } => CellExceptionKind::BudgetExceeded,
                    StopReason::TokenBudget { .. } => CellExceptionKind::TooLarge,
                    _ => CellExceptionKind::Unavailable,
                };
                CellOutcome::Fault(CellException {
                    partial,
                    ..fault(kind, &result.stop_reason.to_string())
                })
            }
        };
        Vec::from_iter(self.settle_and_answer(place, outcome))
    }

    fn on_leaf(&mut self, ask: AskId, outcome: &CellOutcome) -> Vec<Ask> {
        let Some(leaf) = self.calls.remove(&ask) else {
            return Vec::new();
        };
        let known = match outcome {
            // What failed may be asked again.
            CellOutcome::Fault(_) => self.leaves.remove(&leaf),
            said => self.leaves.insert(leaf, LeafState::Said(said.clone())),
        };
        let Some(LeafState::Asked(places)) = known else {
            return Vec::new();
        };
        places
            .into_iter()
            .filter_map(|place| self.settle_and_answer(place, outcome.clone()))
            .collect()
    }

    fn settle_and_answer(&mut self, place: AnswerSlot, outcome: CellOutcome) -> Option<Ask> {
        self.settle(place, outcome);
        self.answered(place.0)
    }

    fn settle(&mut self, (question, entry): AnswerSlot, outcome: CellOutcome) {
        if let Some(open) = self.open.get_mut(&question)
            && let Some(slot @ None) = open.outcomes.get_mut(entry)
        {
            let bytes = open.bytes + size(&outcome);
            let outcome = if bytes > ANSWERS_BYTES_MAX {
                let why = format!("the answers have more than {ANSWERS_BYTES_MAX} bytes together");
                CellOutcome::Fault(fault(CellExceptionKind::TooLarge, &why))
            } else {
                open.bytes = bytes;
                outcome
            };
            *slot = Some(outcome);
            open.missing -= 1;
        }
    }

    /// The answer to a question of which nothing is missing any more.
    fn answered(&mut self, question: u32) -> Option<Ask> {
        if self.open.get(&question)?.missing > 0 {
            return None;
        }
        let open = self.open.remove(&question)?;
        let each = open.outcomes.into_iter().flatten().collect();
        Some(self.say(question, CellReply::Each(each)))
    }

    fn say(&self, id: u32, reply: CellReply) -> Ask {
        Ask::Answer {
            cell: self.cell,
            answer: Box::new(CellAnswer { id, reply }),
        }
    }
}

/// The number that the next of these asks will get.
fn numbered(view: &ProgramView<'_>, asks: &[Ask]) -> AskId {
    AskId(view.next_ask.0 + u32::try_from(asks.len()).unwrap_or(u32::MAX))
}

/// Bytes of what was said.
fn size(outcome: &CellOutcome) -> usize {
    let said = match outcome {
        CellOutcome::Said(text) | CellOutcome::Chosen { text, .. } => Some(text),
        CellOutcome::Fault(fault) => fault.partial.as_ref(),
    };
    said.map_or(0, |text| text.as_str().len())
}

fn fault(kind: CellExceptionKind, message: &str) -> CellException {
    CellException {
        kind,
        message: Text::from(message),
        partial: None,
    }
}
