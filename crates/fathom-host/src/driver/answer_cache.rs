//! Answers that were given before: found by the same packet, or by a question that is similar enough.
//!
//! The index only points into the journal; what is used again is a record of a chain that was checked, opened with the
//! key of the run that holds it. Whatever goes wrong here, the model is asked as if nothing were known.

use std::collections::BTreeMap;
use std::sync::Arc;

use fathom_core::id::{AskId, EpisodeId, RunId, Seq};
use fathom_core::journal::event::{EventKind, ModelCallOutcome};
use fathom_core::model::{FinishReason, ModelReply, ModelRequest, ReuseGrant, ReuseSource};
use fathom_core::text::{Text, VisitTexts};
use fathom_core::unit::Timestamp;
use fathom_store::{AnswerIndex, AnswerKey, AnswerPlace, HomeFolder, IndexedAnswer, Journal};

use crate::error::HostError;
use crate::models::embedded::EmbeddedModels;
use crate::runtime::run_reader::{ReadRecord, RunReader};

/// A call that an earlier answer might serve, until it is answered itself.
#[derive(Clone, Debug)]
pub(crate) struct CacheKey {
    key: AnswerKey,
    scope: AnswerKey,
    question: Option<Vec<f32>>,
}

/// Most earlier runs whose replies are held at a time.
const RUNS_MAX: usize = 16;

/// Replies of earlier runs, held as long as one run lives: all its calls may find their answers in a few of them.
#[derive(Default)]
pub(crate) struct EarlierReplies(BTreeMap<RunId, RepliesByPrompt>);

/// The whole replies of a run, with their places in its journal.
type RepliesByPrompt = BTreeMap<(EpisodeId, AskId), (ModelReply, Seq)>;

/// Earlier answers of a home.
pub(crate) struct AnswerCache {
    answers: AnswerIndex,
    home: HomeFolder,
    journal: Arc<dyn Journal>,
    embedded: Arc<EmbeddedModels>,
}

impl AnswerCache {
    pub(crate) fn open(
        home: &HomeFolder,
        journal: &Arc<dyn Journal>,
        embedded: &Arc<EmbeddedModels>,
    ) -> Result<Self, HostError> {
        Ok(Self {
            answers: home.open_answers()?,
            home: home.clone(),
            journal: Arc::clone(journal),
            embedded: Arc::clone(embedded),
        })
    }

    /// The key of a call, and the earlier answer to it if there is one.
    pub(crate) fn recall(
        &self,
        model: &str,
        request: &ModelRequest,
        recall: &ReuseGrant,
        now: Timestamp,
        earlier: &mut EarlierReplies,
    ) -> (CacheKey, Option<ModelReply>) {
        let mut wanted = CacheKey {
            key: self.answers.key(model, request),
            scope: self.answers.scope(model, &recall.scope),
            question: None,
        };
        let same = self.answers.find(&wanted.key, now);
        if let Some(place) = told(same, "look for an earlier answer").flatten()
            && let Some(reply) = self.reply(&place, 1000, earlier)
        {
            return (wanted, Some(reply));
        }
        let Some(least) = recall.similarity_min_milli else {
            return (wanted, None);
        };
        let vectors = self.embedded.embed(&[recall.question.as_str()]);
        let vector = told(vectors, "embed a question").and_then(|mut vectors| vectors.pop());
        wanted.question = vector.map(|vector| vector.as_slice().to_vec());
        let reply = self.similar(&wanted, least, now, earlier);
        (wanted, reply)
    }

    /// The answer to the most similar question of the scope, if it is similar enough.
    fn similar(
        &self,
        wanted: &CacheKey,
        least_milli: u16,
        now: Timestamp,
        earlier: &mut EarlierReplies,
    ) -> Option<ModelReply> {
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
        self.reply(&place, similarity, earlier)
    }

    /// Makes an answer known for later.
    pub(crate) fn keep(
        &self,
        wanted: CacheKey,
        place: AnswerPlace,
        outcome: &ModelCallOutcome,
        at: Timestamp,
    ) {
        let whole = matches!(outcome, ModelCallOutcome::Replied(reply) if reply.ending == FinishReason::Complete);
        if !whole {
            return;
        }
        let answer = IndexedAnswer {
            key: wanted.key,
            scope: wanted.scope,
            place,
            at,
            question: wanted.question,
        };
        let _ = told(self.answers.keep(&answer), "note an answer");
    }

    /// The reply that stands at a place. One that is gone is forgotten.
    fn reply(
        &self,
        place: &AnswerPlace,
        similarity_milli: u16,
        earlier: &mut EarlierReplies,
    ) -> Option<ModelReply> {
        let key = (place.episode.clone(), place.ask);
        let known = earlier.0.get(&place.run);
        if known.is_none_or(|replies| !replies.contains_key(&key)) {
            // It may have been said since: a run that is still at work has more to tell.
            // All go at once: nobody knows which is needed next, and to read one again only takes time.
            if earlier.0.len() >= RUNS_MAX {
                earlier.0.clear();
            }
            let replies = self.read(place.run).unwrap_or_default();
            earlier.0.insert(place.run, replies);
        }
        let found = earlier.0.get(&place.run)?.get(&key);
        let Some((reply, seq)) = found else {
            let _ = told(self.answers.forget(place), "forget an answer that is gone");
            return None;
        };
        let mut again = reply.again(ReuseSource {
            run: place.run,
            episode: place.episode.clone(),
            seq: *seq,
            similarity_milli,
        });
        // Another run seals it with its own key.
        again.each_text(&mut Text::unseal);
        Some(again)
    }

    fn read(&self, run: RunId) -> Option<RepliesByPrompt> {
        let reading = RunReader::of(&*self.journal, &self.home, run);
        let reading = told(reading, "read an earlier run")?;
        let mut replies = RepliesByPrompt::new();
        for (call, reply) in reading.records.into_iter().filter_map(reply_in) {
            // The first that was whole is the one that counted.
            replies.entry(call).or_insert(reply);
        }
        Some(replies)
    }
}

/// The whole reply that a record holds, when it can be read.
fn reply_in(read: ReadRecord) -> Option<((EpisodeId, AskId), (ModelReply, Seq))> {
    match read.record.event.kind {
        EventKind::ModelReplied {
            ask,
            outcome: ModelCallOutcome::Replied(reply),
            ..
        } if !reply.text.is_closed() => Some(((read.episode, ask), (reply, read.record.seq))),
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

/// The value of a result. An error goes to the log only: without earlier answers a run costs more and is not wrong.
fn told<T, E: std::fmt::Display>(result: Result<T, E>, doing: &str) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            tracing::warn!(%error, doing, "cannot reuse earlier answers");
            None
        }
    }
}
