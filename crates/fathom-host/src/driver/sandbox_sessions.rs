//! The sandboxes of a run: one session for each episode that runs code, and what it needs to come back after a restart.

use std::collections::BTreeMap;
use std::sync::Arc;

use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::EventKind;
use fathom_core::sandbox::{
    CellAnswer, CellCall, CellError, CellErrorKind, CellResult, ContextSource,
};
use fathom_core::text::Text;
use fathom_sandbox::{
    CellEvent, MaterialContent, PastCell, Sandbox, SandboxContext, SandboxError, SandboxMaterial,
    SandboxSession, SessionCell,
};
use tokio::sync::{Mutex, OnceCell, mpsc};

use crate::driver::DriverEvent;
use crate::driver::session_history::SessionHistories;

/// Orders that may wait for a session. A cell has fewer questions open.
const ORDERS_MAX: usize = 1 << 16;

/// The context of a run, loaded once and only when code looks at it.
pub(crate) struct ContextLoader {
    context: OnceCell<SandboxContext>,
    /// Material that is not loaded yet.
    material: Mutex<Option<Vec<SandboxMaterial>>>,
}

impl ContextLoader {
    /// Material that is loaded already.
    pub(crate) fn loaded(context: SandboxContext) -> Self {
        Self {
            context: OnceCell::new_with(Some(context)),
            material: Mutex::default(),
        }
    }

    /// Material that is loaded when it is needed.
    pub(crate) fn later(material: Vec<SandboxMaterial>) -> Self {
        Self {
            context: OnceCell::new(),
            material: Mutex::new(Some(material)),
        }
    }

    /// Material of a run in which no code runs any more.
    pub(crate) fn gone() -> Self {
        Self {
            context: OnceCell::new(),
            material: Mutex::default(),
        }
    }

    async fn get(&self, sandbox: &Sandbox) -> Result<SandboxContext, SandboxError> {
        let load = async || {
            let mut material = self.material.lock().await;
            let given = material.clone().ok_or_else(|| SandboxError::BadMaterial {
                cause: "the run was resumed only to be ended".to_owned(),
            })?;
            let context = sandbox.load(given).await?;
            // Who comes after a failure needs it again.
            *material = None;
            Ok(context)
        };
        self.context.get_or_try_init(load).await.cloned()
    }
}

enum SessionOrder {
    Run(AskId, Box<SessionCell>),
    Answer(AskId, CellAnswer),
}

/// Origin of a session's context.
enum ContextOrigin {
    Given(Arc<ContextLoader>),
    Part(SandboxMaterial),
    /// Nobody knows any more.
    Lost,
}

/// The sandboxes of a run.
pub(crate) struct SandboxSessions {
    sandbox: Sandbox,
    given: Arc<ContextLoader>,
    notebooks: SessionHistories,
    seats: BTreeMap<EpisodeId, mpsc::Sender<SessionOrder>>,
}

impl SandboxSessions {
    pub(crate) fn new(sandbox: Sandbox, given: ContextLoader, notebooks: SessionHistories) -> Self {
        Self {
            sandbox,
            given: Arc::new(given),
            notebooks,
            seats: BTreeMap::new(),
        }
    }

    /// Notes what a question hands to children, before they start.
    pub(crate) fn note(&mut self, episode: &EpisodeId, kind: &EventKind) {
        match kind {
            EventKind::CellYielded { ask, question } => {
                self.notebooks.hand(episode, *ask, question);
            }
            EventKind::CellFinished { ask, .. } => self
                .notebooks
                .handed
                .retain(|(of, cell, _), _| of != episode || cell != ask),
            _ => {}
        }
    }

    /// An episode that is over needs its session no more.
    pub(crate) fn close(&mut self, episode: &EpisodeId) {
        self.seats.remove(episode);
        self.notebooks.forget(episode);
    }

    /// Runs a cell or answers one.
    pub(crate) fn carry_out(
        &mut self,
        episode: &EpisodeId,
        command: Command,
        events: &mpsc::Sender<DriverEvent>,
    ) {
        let (order, context) = match command {
            Command::RunCell {
                ask,
                code,
                context,
                limits,
            } => {
                let asked = self.notebooks.of.get_mut(episode);
                let asked = asked.and_then(|notebook| notebook.current.take());
                let asked = asked.filter(|(current, ..)| *current == ask);
                let cell = SessionCell {
                    code,
                    limits,
                    asked: asked.map(|(.., cell)| cell.asked).unwrap_or_default(),
                };
                (SessionOrder::Run(ask, Box::new(cell)), context)
            }
            Command::AnswerCell { ask, answer } => {
                self.notebooks.answered(episode, ask, answer.id);
                (SessionOrder::Answer(ask, *answer), ContextSource::Given)
            }
            _ => return,
        };
        let seat = match self.seats.get(episode) {
            Some(seat) => seat,
            // An answer without a session is an answer to a cell that is begun anew: it will ask again.
            None if matches!(order, SessionOrder::Answer(..)) => return,
            None => {
                let seat = self.open(episode, context, events);
                self.seats.entry(episode.clone()).or_insert(seat)
            }
        };
        if seat.try_send(order).is_err() {
            tracing::warn!(%episode, "a sandbox session is too slow to take orders");
        }
    }

    fn open(
        &mut self,
        episode: &EpisodeId,
        context: ContextSource,
        events: &mpsc::Sender<DriverEvent>,
    ) -> mpsc::Sender<SessionOrder> {
        let (seat, orders) = mpsc::channel(ORDERS_MAX);
        let notebook = self.notebooks.of.remove(episode).unwrap_or_default();
        let keeper = SessionKeeper {
            episode: episode.clone(),
            sandbox: self.sandbox.clone(),
            source: self.source(episode, context),
            history: notebook.past,
            events: events.clone(),
        };
        tokio::spawn(keeper.keep(orders));
        seat
    }

    fn source(&self, episode: &EpisodeId, context: ContextSource) -> ContextOrigin {
        let ContextSource::Passed {
            depth,
            cell,
            question,
            task,
        } = context
        else {
            return ContextOrigin::Given(Arc::clone(&self.given));
        };
        // A child that shares what its parent was handed names the question of someone further up.
        let line = std::iter::successors(episode.parent(), EpisodeId::parent);
        let owners = line.filter(|of| depth.is_none_or(|depth| of.depth() == usize::from(depth)));
        for of in owners {
            let handed = self.notebooks.handed.get(&(of, cell, question));
            if let Some(CellCall::Recurse { tasks }) = handed.map(|handed| &handed.call)
                && let Some(value) = tasks
                    .get(task as usize)
                    .and_then(|task| task.context.as_ref())
            {
                return ContextOrigin::Part(SandboxMaterial {
                    name: "part".to_owned(),
                    form: value.form,
                    content: MaterialContent::Bytes(value.text.as_str().as_bytes().to_vec()),
                });
            }
        }
        ContextOrigin::Lost
    }
}

/// Keeps one session.
struct SessionKeeper {
    episode: EpisodeId,
    sandbox: Sandbox,
    source: ContextOrigin,
    history: Vec<PastCell>,
    events: mpsc::Sender<DriverEvent>,
}

impl SessionKeeper {
    /// Works until nobody can give orders any more.
    async fn keep(mut self, mut orders: mpsc::Receiver<SessionOrder>) {
        let mut session = None;
        let mut running = None;
        loop {
            let kind = tokio::select! {
                order = orders.recv() => match order {
                    None => return,
                    Some(SessionOrder::Answer(ask, answer)) => {
                        if let Some(session) = session.as_mut().filter(|_| running == Some(ask))
                            && let Err(error) = SandboxSession::answer(session, answer)
                        {
                            tracing::debug!(%error, "an answer arrived after its cell ended");
                        }
                        continue;
                    }
                    Some(SessionOrder::Run(ask, cell)) => match self.run(&mut session, *cell).await {
                        Ok(()) => {
                            running = Some(ask);
                            continue;
                        }
                        Err(message) => EventKind::CellFinished { ask, end: unavailable(message) },
                    },
                },
                (ask, heard) = heard(&mut session, running) => match heard {
                    CellEvent::Asked(question) => EventKind::CellYielded {
                        ask,
                        question: Box::new(question),
                    },
                    CellEvent::Ended(end) => {
                        running = None;
                        EventKind::CellFinished { ask, end: Box::new(end) }
                    }
                },
            };
            let episode = self.episode.clone();
            if self
                .events
                .send(DriverEvent { episode, kind })
                .await
                .is_err()
            {
                return;
            }
        }
    }

    async fn run(
        &mut self,
        session: &mut Option<SandboxSession>,
        cell: SessionCell,
    ) -> Result<(), Text> {
        let failed = |error: SandboxError| Text::new(format!("{error} (hint: {})", error.hint()));
        if session.is_none() {
            let context = match &self.source {
                ContextOrigin::Given(given) => given.get(&self.sandbox).await,
                ContextOrigin::Part(part) => self.sandbox.load(vec![part.clone()]).await,
                ContextOrigin::Lost => {
                    return Err("the material handed to this episode is no longer available".into());
                }
            };
            let context = context.map_err(failed)?;
            // The session has it from now on.
            self.source = ContextOrigin::Lost;
            let history = std::mem::take(&mut self.history);
            *session = Some(self.sandbox.session(&context, history));
        }
        match session {
            Some(session) => session.run(cell).await.map_err(failed),
            None => Ok(()),
        }
    }
}

/// The next event of the running cell. Pending while none runs.
async fn heard(session: &mut Option<SandboxSession>, running: Option<AskId>) -> (AskId, CellEvent) {
    match (session, running) {
        (Some(session), Some(ask)) => (ask, session.next().await),
        _ => std::future::pending().await,
    }
}

fn unavailable(message: Text) -> Box<CellResult> {
    Box::new(CellResult {
        error: Some(CellError {
            kind: CellErrorKind::Unavailable,
            message,
        }),
        ..CellResult::default()
    })
}

#[cfg(test)]
#[path = "sandbox_sessions_tests.rs"]
mod tests;
