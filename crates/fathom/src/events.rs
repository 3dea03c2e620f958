//! The records of a run as a stream.

use std::pin::Pin;
use std::task::{Context, Poll};

use fathom_core::effect::{EffectOutcome, PolicyDecision};
use fathom_core::episode::result::EpisodeStatus;
use fathom_core::id::{EpisodeId, RunId, Seq};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, JournalRecord, ModelCallOutcome};
use fathom_core::unit::Timestamp;
use fathom_host::view::run::RunView;
use futures_core::Stream;
use tokio::sync::{mpsc, watch};

use crate::error::FathomError;
use crate::home::Fathom;
use crate::preparation::in_background;

/// Events that wait for a slow reader. The journal keeps the others until there is room.
const EVENTS_WAITING_MAX: usize = 256;

/// One durable record of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunEvent {
    /// The episode: `0` is the root, `0.1` its second child.
    pub episode: EpisodeId,
    /// The record's number in the episode's chain. Together with the episode it is a place for [`Fathom::fork`].
    pub seq: Seq,
    /// The host's clock.
    pub at: Timestamp,
    /// The name of the event in the journal, such as `model_replied`.
    pub name: &'static str,
    /// The part of the event that most programs need.
    pub kind: RunEventKind,
}

/// The part of an event that most programs need.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunEventKind {
    /// An episode started: the root, or a child.
    Started {
        /// Goal of the episode.
        goal: String,
        /// The program that works on it.
        program: String,
    },
    /// A model said a few more words.
    Said {
        /// Words since the last such event.
        text: String,
    },
    /// A model call was answered.
    Replied {
        /// The whole reply.
        text: String,
    },
    /// A model call failed; it may be tried again.
    CallFailed {
        /// Description of the failure.
        failure: String,
    },
    /// A policy decided about an effect.
    EffectDecided {
        /// Decision of the policy.
        decision: PolicyDecision,
    },
    /// An effect was carried out or checked.
    EffectSettled {
        /// Outcome at the platform.
        outcome: EffectOutcome,
    },
    /// The episode finished with this record.
    Finished {
        /// Status of the result.
        status: EpisodeStatus,
        /// Its answer, as far as there is one.
        answer: Option<String>,
    },
    /// Anything else; [`RunEvent::name`] says what.
    Other,
}

impl RunEvent {
    /// The events of one record: what happened, and the end of the episode where that followed.
    fn all_of(episode: &EpisodeId, record: &JournalRecord) -> Vec<Self> {
        let event = |kind| Self {
            episode: episode.clone(),
            seq: record.seq,
            at: record.event.at,
            name: record.event.kind.name(),
            kind,
        };
        // The last reply and the end that follows from it are one record.
        let mut events = vec![event(kind(&record.event.kind))];
        events.extend(finished(record).map(event));
        events
    }
}

/// The end of the episode, where this record has it.
fn finished(record: &JournalRecord) -> Option<RunEventKind> {
    record.commands.iter().find_map(|command| match command {
        Command::Finish { result } => Some(RunEventKind::Finished {
            status: result.status,
            answer: result.answer.as_ref().map(|text| text.as_str().to_owned()),
        }),
        _ => None,
    })
}

fn kind(event: &EventKind) -> RunEventKind {
    match event {
        EventKind::Started(started) => RunEventKind::Started {
            goal: started.goal.as_str().to_owned(),
            program: started.program.name.clone(),
        },
        EventKind::ModelDelta { text, .. } => RunEventKind::Said {
            text: text.as_str().to_owned(),
        },
        EventKind::ModelReplied { outcome, .. } => match outcome {
            ModelCallOutcome::Replied(reply) => RunEventKind::Replied {
                text: reply.text.as_str().to_owned(),
            },
            ModelCallOutcome::Failed(failure) => RunEventKind::CallFailed {
                failure: failure.to_string(),
            },
        },
        EventKind::EffectDecided { decision, .. } => RunEventKind::EffectDecided {
            decision: decision.clone(),
        },
        EventKind::EffectSettled { outcome, .. } => RunEventKind::EffectSettled {
            outcome: outcome.clone(),
        },
        _ => RunEventKind::Other,
    }
}

/// The durable records of a run, in the order in which they were written.
///
/// [`RunEvents::next`] is enough for most programs; it is also a [`Stream`] for those that combine streams. Dropping it
/// leaves the run alone.
#[derive(Debug)]
pub struct RunEvents {
    records: mpsc::Receiver<Result<RunEvent, FathomError>>,
}

impl RunEvents {
    pub(crate) fn follow(fathom: Fathom, run: RunId, changes: watch::Receiver<RunView>) -> Self {
        let (sender, records) = mpsc::channel(EVENTS_WAITING_MAX);
        tokio::spawn(forward(fathom, run, changes, sender));
        Self { records }
    }

    /// The next record; `None` once the run has come back and every record was given.
    pub async fn next(&mut self) -> Option<Result<RunEvent, FathomError>> {
        self.records.recv().await
    }
}

impl Stream for RunEvents {
    type Item = Result<RunEvent, FathomError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.records.poll_recv(context)
    }
}

/// Reads the journal after each change of the run, so that only what is durable is told.
async fn forward(
    fathom: Fathom,
    run: RunId,
    mut changes: watch::Receiver<RunView>,
    sender: mpsc::Sender<Result<RunEvent, FathomError>>,
) {
    let mut told = 0;
    loop {
        // The owner drops its end after its last record is durable: what is read after that is everything.
        let is_over = changes.has_changed().is_err();
        let runtime = fathom.runtime().clone();
        let read = in_background(move || runtime.records(run)).await;
        let records = match read {
            Ok(records) => records,
            Err(error) => {
                // Nobody may listen any more, which is fine.
                let _ = sender.send(Err(error.into())).await;
                return;
            }
        };
        for (episode, record) in records.into_iter().skip(told) {
            told += 1;
            for event in RunEvent::all_of(&episode, &record) {
                if sender.send(Ok(event)).await.is_err() {
                    return;
                }
            }
        }
        if is_over {
            return;
        }
        tokio::select! {
            // An error says that the owner is gone: the next turn reads the rest.
            _ = changes.changed() => {}
            () = sender.closed() => return,
        }
    }
}
