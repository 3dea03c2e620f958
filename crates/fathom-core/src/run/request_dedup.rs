//! Deduplicates requests: identical requests of a run that may share an answer are sent once.
//!
//! Nothing is waited for but a call that is on its way and a request that the host measures: both end by themselves. A call
//! that still waits for its budget may wait for the very episode that would wait for it, so whoever is measured and not sent
//! makes room for the next.

use std::collections::{BTreeMap, VecDeque};

use sha2::{Digest as _, Sha256};

use crate::id::{AskId, Digest, EpisodeId, Seq};
use crate::journal::event::{EventKind, ModelCallOutcome};
use crate::model::{FinishReason, ModelRequest, ModelRole};
use crate::run::step::{HostStep, RecordedReply};

/// Most replies that are remembered, so that a run that asks for ever does not grow for ever.
const REMEMBERED_MAX: usize = 100_000;

/// Requests that need be answered only once, and their answers.
#[derive(Default)]
pub(super) struct RequestDedup {
    /// The question that each ask stands for.
    asking: BTreeMap<EpisodeAsk, DedupKey>,
    known: BTreeMap<DedupKey, DedupEntry>,
    /// Questions whose asking came to nothing just now.
    ended: Vec<DedupKey>,
}

/// A question: the model's role and a digest of the request.
type DedupKey = (ModelRole, Digest);

enum DedupEntry {
    /// One asks it; these wait for what comes of that.
    Asked {
        by: EpisodeAsk,
        how_far: AskerState,
        held: VecDeque<HostStep>,
    },
    Said(RecordedReply),
}

/// An ask of an episode.
type EpisodeAsk = (EpisodeId, AskId);

/// Progress of the ask that others wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AskerState {
    /// The host measures it.
    Measuring,
    /// The call is on its way.
    Sent,
    /// It came to nothing. Nobody waits for it longer than until all that follows from that is carried out.
    Ended,
}

impl RequestDedup {
    /// Notes what an ask wants to know.
    pub(super) fn note(
        &mut self,
        episode: &EpisodeId,
        ask: AskId,
        model: ModelRole,
        request: &ModelRequest,
    ) -> DedupKey {
        let question = (model, digest(request));
        self.asking.insert((episode.clone(), ask), question);
        question
    }

    /// A request is to be measured: at once, with what was said to it before, or when somebody else was told.
    pub(super) fn measure(&mut self, mut step: HostStep) -> Option<HostStep> {
        let HostStep::Measure {
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
        let call = (episode.clone(), *ask);
        match self.known.get_mut(&question) {
            Some(DedupEntry::Said(known)) => *said = Some(Box::new(known.clone())),
            Some(DedupEntry::Asked { by, held, .. }) if by.0 != call.0 => {
                held.push_back(step);
                return None;
            }
            Some(DedupEntry::Asked { by, how_far, .. }) => {
                if *by == call {
                    *how_far = AskerState::Measuring;
                }
            }
            None => {
                self.asked(question, call, AskerState::Measuring);
            }
        }
        Some(step)
    }

    fn asked(&mut self, question: DedupKey, by: EpisodeAsk, how_far: AskerState) {
        let held = VecDeque::new();
        let known = DedupEntry::Asked { by, how_far, held };
        self.known.insert(question, known);
    }

    /// A call is on its way.
    pub(super) fn sent(&mut self, episode: &EpisodeId, ask: AskId) {
        let call = (episode.clone(), ask);
        let Some(question) = self.asking.get(&call).copied() else {
            return;
        };
        match self.known.get_mut(&question) {
            Some(DedupEntry::Asked { by, how_far, .. }) if *how_far != AskerState::Sent => {
                *by = call;
                *how_far = AskerState::Sent;
            }
            Some(DedupEntry::Asked { .. } | DedupEntry::Said(_)) => {}
            None => self.asked(question, call, AskerState::Sent),
        }
    }

    /// Takes in what an episode heard, and says who is told the same.
    pub(super) fn hear(
        &mut self,
        episode: &EpisodeId,
        seq: Seq,
        kind: &EventKind,
    ) -> Vec<HostStep> {
        let (ask, outcome) = match kind {
            EventKind::ModelReplied { ask, outcome, .. } => (*ask, Some(outcome)),
            EventKind::Measured { ask, .. } | EventKind::Refused { ask, .. } => (*ask, None),
            _ => return Vec::new(),
        };
        let call = (episode.clone(), ask);
        let Some(question) = self.asking.get(&call).copied() else {
            return Vec::new();
        };
        let reply = match outcome {
            // A reply that was cut off serves nobody but its asker, who may continue it.
            Some(ModelCallOutcome::Replied(reply)) if reply.ending == FinishReason::Complete => {
                reply
            }
            Some(ModelCallOutcome::Replied(_) | ModelCallOutcome::Failed(_)) | None => {
                self.end(&call, question, outcome.is_some());
                return Vec::new();
            }
        };
        self.asking.remove(&call);
        if self.known.len() >= REMEMBERED_MAX {
            // Answers go, askers stay: somebody waits for them.
            self.known
                .retain(|_, known| matches!(known, DedupEntry::Asked { .. }));
        }
        let said = RecordedReply {
            reply: reply.clone(),
            episode: episode.clone(),
            seq,
        };
        let held = match self.known.insert(question, DedupEntry::Said(said)) {
            Some(DedupEntry::Asked { held, .. }) => held,
            Some(DedupEntry::Said(_)) | None => return Vec::new(),
        };
        // They find it now.
        held.into_iter()
            .filter_map(|step| self.measure(step))
            .collect()
    }

    /// Ends an ask that got no answer that others could use.
    fn end(&mut self, call: &EpisodeAsk, question: DedupKey, was_sent: bool) {
        if let Some(DedupEntry::Asked { by, how_far, .. }) = self.known.get_mut(&question)
            && by == call
            && (*how_far == AskerState::Sent) == was_sent
        {
            *how_far = AskerState::Ended;
            self.ended.push(question);
        }
    }

    /// An episode is over: it waits for nothing, and nobody waits for its calls any longer.
    pub(super) fn over(&mut self, episode: &EpisodeId) {
        let all = (episode.clone(), AskId(0))..=(episode.clone(), AskId(u32::MAX));
        let asked: Vec<_> = self
            .asking
            .range(all)
            .map(|(call, _)| call.clone())
            .collect();
        for call in asked {
            let Some(question) = self.asking.remove(&call) else {
                continue;
            };
            if let Some(DedupEntry::Asked { by, how_far, held }) = self.known.get_mut(&question) {
                // An episode that is over takes no answers, and the next in line must be one that does.
                held.retain(|step| !is_of(step, episode));
                if by.0 == *episode {
                    *how_far = AskerState::Ended;
                    self.ended.push(question);
                }
            }
        }
    }

    /// A new owner goes on: no call of before is on its way until it is sent again.
    pub(super) fn resume(&mut self) {
        for (question, known) in &mut self.known {
            if let DedupEntry::Asked { how_far, .. } = known {
                *how_far = AskerState::Ended;
                self.ended.push(*question);
            }
        }
    }

    /// Promotes the next waiter where the first asker gave up, once all that followed from an event is carried out. One
    /// at a time, for what failed for one may well fail for all.
    pub(super) fn settle(&mut self) -> Vec<HostStep> {
        let mut steps = Vec::new();
        for question in std::mem::take(&mut self.ended) {
            let Some(DedupEntry::Asked { by, how_far, held }) = self.known.get_mut(&question)
            else {
                continue;
            };
            if *how_far != AskerState::Ended {
                continue;
            }
            match held.pop_front() {
                Some(step) => {
                    // It is measured now, and whoever still waits now waits for it.
                    if let HostStep::Measure { episode, ask, .. } = &step {
                        *by = (episode.clone(), *ask);
                        *how_far = AskerState::Measuring;
                    }
                    steps.push(step);
                }
                None => {
                    self.known.remove(&question);
                }
            }
        }
        steps
    }
}

fn is_of(step: &HostStep, wanted: &EpisodeId) -> bool {
    matches!(step, HostStep::Measure { episode, .. } if episode == wanted)
}

fn digest(request: &ModelRequest) -> Digest {
    let mut hasher = Sha256::new();
    request.each_part(&mut |part| {
        // With its length, so that no two lists of parts look the same.
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    });
    Digest(hasher.finalize().into())
}
