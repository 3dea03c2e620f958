//! Answers that were given before: found by the same packet, or by a question that is similar enough.
//!
//! The index only points into the journal; what is used again is a record of a chain that was checked, opened with the
//! key of the run that holds it. Whatever goes wrong here, the model is asked as if nothing were known.

use std::sync::{Arc, Mutex, PoisonError};

use fathom_core::event::{CallOutcome, EventKind};
use fathom_core::id::{AskId, EpisodeId, RunId};
use fathom_core::model::{Ending, Recall, Recalled, Reply, Request, Usage, UsageSource};
use fathom_core::text::{Text, Texts};
use fathom_core::unit::{Millis, Timestamp};
use fathom_store::{Answer, AnswerKey, AnswerPlace, Answers, Home, Journal};

use crate::error::HostError;
use crate::local::Embedded;
use crate::reading::{Read, Reading};

/// What is known of a call that an earlier answer might serve, until it is answered itself.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    key: AnswerKey,
    scope: AnswerKey,
    question: Option<Vec<f32>>,
}

/// The records of the run that was read last: a council that is asked again finds all its answers in one run.
type LastRead = Option<(RunId, Arc<Vec<Read>>)>;

/// Earlier answers of a home.
pub(crate) struct Memory {
    answers: Answers,
    home: Home,
    journal: Arc<dyn Journal>,
    embedded: Arc<Embedded>,
    last: Mutex<LastRead>,
}

impl Memory {
    pub(crate) fn open(
        home: &Home,
        journal: &Arc<dyn Journal>,
        embedded: &Arc<Embedded>,
    ) -> Result<Self, HostError> {
        Ok(Self {
            answers: home.open_answers()?,
            home: home.clone(),
            journal: Arc::clone(journal),
            embedded: Arc::clone(embedded),
            last: Mutex::new(None),
        })
    }

    /// What is wanted, and the earlier answer if there is one.
    pub(crate) fn recall(
        &self,
        model: &str,
        request: &Request,
        recall: &Recall,
        now: Timestamp,
    ) -> (Wanted, Option<Reply>) {
        let mut wanted = Wanted {
            key: self.answers.key(model, request),
            scope: self.answers.scope(model, &recall.scope),
            question: None,
        };
        let same = self.answers.find(&wanted.key, now);
        if let Some(place) = told(same, "look for an earlier answer").flatten()
            && let Some(reply) = self.reply(&place, 1000)
        {
            return (wanted, Some(reply));
        }
        let Some(least) = recall.similarity_min_milli else {
            return (wanted, None);
        };
        let vectors = self.embedded.embed(&[recall.question.as_str()]);
        let vector = told(vectors, "embed a question").and_then(|mut vectors| vectors.pop());
        wanted.question = vector.map(|vector| vector.as_slice().to_vec());
        let reply = self.similar(&wanted, least, now);
        (wanted, reply)
    }

    /// The answer to the most similar question of the scope, if it is similar enough.
    fn similar(&self, wanted: &Wanted, least_milli: u16, now: Timestamp) -> Option<Reply> {
        let question = wanted.question.as_deref()?;
        let known = self.answers.questions(&wanted.scope, now);
        let known = told(known, "look for similar questions")?;
        let mut best: Option<(u16, AnswerPlace)> = None;
        for (other, place) in known {
            let similarity = cosine_milli(question, &other);
            if similarity >= least_milli && best.as_ref().is_none_or(|(most, _)| similarity > *most)
            {
                best = Some((similarity, place));
            }
        }
        let (similarity, place) = best?;
        self.reply(&place, similarity)
    }

    /// Makes an answer known for later.
    pub(crate) fn keep(
        &self,
        wanted: Wanted,
        place: AnswerPlace,
        outcome: &CallOutcome,
        at: Timestamp,
    ) {
        let whole =
            matches!(outcome, CallOutcome::Replied(reply) if reply.ending == Ending::Complete);
        if !whole {
            return;
        }
        let answer = Answer {
            key: wanted.key,
            scope: wanted.scope,
            place,
            at,
            question: wanted.question,
        };
        let _ = told(self.answers.keep(&answer), "note an answer");
    }

    /// The reply that stands at a place. One that is gone is forgotten.
    fn reply(&self, place: &AnswerPlace, similarity_milli: u16) -> Option<Reply> {
        let records = self.records(place.run);
        let found = records
            .iter()
            .flat_map(|records| records.iter())
            .find_map(|read| {
                let reply = reply_to(read, &place.episode, place.ask)?;
                Some((reply, read.record.seq))
            });
        let Some((reply, seq)) = found else {
            let _ = told(self.answers.forget(place), "forget an answer that is gone");
            return None;
        };
        let mut text = reply.text.clone();
        // Another run seals it with its own key.
        text.unseal();
        let mut tool_calls = reply.tool_calls.clone();
        tool_calls.each_text(&mut Text::unseal);
        Some(Reply {
            text,
            tool_calls,
            ending: reply.ending,
            usage: Usage {
                input_tokens: 0,
                output_tokens: 0,
                source: UsageSource::Counted,
            },
            latency: Millis(0),
            timing: None,
            recalled: Some(Recalled {
                run: place.run,
                episode: place.episode.clone(),
                seq,
                similarity_milli,
            }),
        })
    }

    fn records(&self, run: RunId) -> Option<Arc<Vec<Read>>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, records)) = &*last
            && *known == run
        {
            return Some(Arc::clone(records));
        }
        let reading = Reading::of(&*self.journal, &self.home, run);
        let reading = told(reading, "read an earlier run")?;
        let records = Arc::new(reading.records);
        let info = self.journal.run_info(run);
        // One that is still at work has more to tell the next time.
        if told(info, "look at an earlier run")?.is_some_and(|info| info.state.is_finished()) {
            *last = Some((run, Arc::clone(&records)));
        }
        Some(records)
    }
}

/// The whole reply to a call, when this record holds it and it can be read.
fn reply_to<'a>(read: &'a Read, episode: &EpisodeId, wanted: AskId) -> Option<&'a Reply> {
    match &read.record.event.kind {
        EventKind::ModelReplied {
            ask,
            outcome: CallOutcome::Replied(reply),
            ..
        } if *ask == wanted && read.episode == *episode && !reply.text.is_closed() => Some(reply),
        _ => None,
    }
}

/// Cosine of two vectors of length one, in thousandths; nothing below zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it lies between zero and a thousand"
)]
fn cosine_milli(a: &[f32], b: &[f32]) -> u16 {
    if a.len() != b.len() {
        return 0;
    }
    let product: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    (product.clamp(0.0, 1.0) * 1000.0).floor() as u16
}

/// What came of it; what went wrong is told to the log and to nobody else.
fn told<T, E: std::fmt::Display>(result: Result<T, E>, doing: &str) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            tracing::warn!(%error, doing, "earlier answers are left out");
            None
        }
    }
}
