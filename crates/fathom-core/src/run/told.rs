//! What a run was told: a request that need be answered only once is asked once, whichever episodes have it.
//!
//! Nothing is waited for but a call that is on its way: such a call ends by itself. One that still waits for its budget may
//! wait for the very episode that would wait for it.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use crate::event::{CallOutcome, EventKind};
use crate::id::{AskId, Digest, EpisodeId, Seq};
use crate::model::{Ending, ModelRole, Request};
use crate::step::{Said, Step};

/// Most replies that are remembered, so that a run that asks for ever does not grow for ever.
const REMEMBERED_MAX: usize = 100_000;

/// What is known of the requests that need be answered only once.
#[derive(Default)]
pub(super) struct Told {
    /// What each ask wants to know.
    asking: BTreeMap<(EpisodeId, AskId), Question>,
    known: BTreeMap<Question, Known>,
}

/// Which model is asked, and what.
type Question = (ModelRole, Digest);

enum Known {
    /// It is on its way for one episode; these wait for what comes back.
    Sent {
        by: EpisodeId,
        held: Vec<Step>,
    },
    Said(Said),
}

impl Told {
    /// Notes what an ask wants to know.
    pub(super) fn note(
        &mut self,
        episode: &EpisodeId,
        ask: AskId,
        model: ModelRole,
        request: &Request,
    ) -> Question {
        let question = (model, digest(request));
        self.asking.insert((episode.clone(), ask), question);
        question
    }

    /// A request is to be measured: at once, with what was said to it before, or when somebody else was told.
    pub(super) fn measure(&mut self, mut step: Step) -> Option<Step> {
        let Step::Measure {
            episode,
            ask,
            model,
            request,
            said,
            ..
        } = &mut step
        else {
            return Some(step);
        };
        let question = self.note(episode, *ask, *model, request);
        match self.known.get_mut(&question) {
            Some(Known::Said(known)) => *said = Some(Box::new(known.clone())),
            Some(Known::Sent { by, held }) if by != episode => {
                held.push(step);
                return None;
            }
            Some(Known::Sent { .. }) | None => {}
        }
        Some(step)
    }

    /// A call is on its way.
    pub(super) fn sent(&mut self, episode: &EpisodeId, ask: AskId) {
        if let Some(question) = self.asking.get(&(episode.clone(), ask)) {
            self.known.entry(*question).or_insert_with(|| Known::Sent {
                by: episode.clone(),
                held: Vec::new(),
            });
        }
    }

    /// Takes in what an episode heard, and says who need wait no longer.
    pub(super) fn hear(&mut self, episode: &EpisodeId, seq: Seq, kind: &EventKind) -> Vec<Step> {
        let EventKind::ModelReplied { ask, outcome, .. } = kind else {
            return Vec::new();
        };
        let call = (episode.clone(), *ask);
        let Some(question) = self.asking.get(&call).copied() else {
            return Vec::new();
        };
        let whole = match outcome {
            CallOutcome::Replied(reply) => Some(reply).filter(|r| r.ending == Ending::Complete),
            CallOutcome::Failed(_) => None,
        };
        let Some(reply) = whole else {
            return self.free(episode, question);
        };
        self.asking.remove(&call);
        if self.known.len() >= REMEMBERED_MAX {
            self.known
                .retain(|_, known| matches!(known, Known::Sent { .. }));
        }
        let said = Said {
            reply: reply.clone(),
            episode: episode.clone(),
            seq,
        };
        let before = self.known.insert(question, Known::Said(said));
        // They find it now.
        freed(before)
            .into_iter()
            .filter_map(|step| self.measure(step))
            .collect()
    }

    /// An episode is over: nobody waits for its calls any longer.
    pub(super) fn over(&mut self, episode: &EpisodeId) -> Vec<Step> {
        let all = (episode.clone(), AskId(0))..=(episode.clone(), AskId(u32::MAX));
        let asked: Vec<_> = self
            .asking
            .range(all)
            .map(|(call, _)| call.clone())
            .collect();
        let asked: Vec<Question> = asked
            .iter()
            .filter_map(|call| self.asking.remove(call))
            .collect();
        asked
            .into_iter()
            .flat_map(|question| self.free(episode, question))
            .collect()
    }

    /// A call brought nothing that others could use: whoever waited for it asks.
    fn free(&mut self, episode: &EpisodeId, question: Question) -> Vec<Step> {
        match self.known.get(&question) {
            Some(Known::Sent { by, .. }) if by == episode => freed(self.known.remove(&question)),
            _ => Vec::new(),
        }
    }
}

fn freed(known: Option<Known>) -> Vec<Step> {
    match known {
        Some(Known::Sent { held, .. }) => held,
        Some(Known::Said(_)) | None => Vec::new(),
    }
}

fn digest(request: &Request) -> Digest {
    let mut hasher = Sha256::new();
    request.each_part(&mut |part| {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    });
    Digest(hasher.finalize().into())
}
