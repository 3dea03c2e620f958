//! The sandbox: it finds an interpreter, keeps its base process, and counts processes.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use crate::cpython;
use crate::error::SandboxError;
use crate::interpreter::{Interpreter, SessionTemplate};
use crate::material::{SandboxMaterial, SealedMemory};
use crate::monty;
use crate::options::{
    InterpreterChoice, InterpreterKind, Isolation, SandboxOptions, WorkerCommand,
};
use crate::pool::SessionPool;
use crate::question_log::PastCell;
use crate::session::SandboxSession;
use crate::session_task::{FinishedCell, SessionTask};

/// Runs code that a model wrote. Clones share their processes.
#[derive(Clone, Debug)]
pub struct Sandbox(Arc<SandboxShared>);

/// Material that sessions begin with. The last clone to go ends the process that holds it.
#[derive(Clone, Debug)]
pub struct SandboxContext(Arc<SessionTemplate>);

impl SandboxContext {
    pub(crate) fn template(&self) -> &SessionTemplate {
        &self.0
    }
}

#[derive(Debug)]
pub(crate) struct SandboxShared {
    options: SandboxOptions,
    begun: Mutex<BegunWorker>,
    pub(crate) pool: Arc<SessionPool>,
    computing: Arc<Semaphore>,
}

/// No interpreter holds, each for its reason.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("; "))]
struct NoneHolds(Vec<String>);

#[derive(Debug)]
enum BegunWorker {
    NotYet,
    Ready(Interpreter, Isolation),
    /// Nothing can be used, for this reason; it is not tried again.
    Refused(String),
}

impl Sandbox {
    /// Command of this program's worker process, if there is one.
    pub fn worker(&self) -> Option<&WorkerCommand> {
        self.0.options.worker.as_ref()
    }

    /// A sandbox that starts nothing yet.
    pub fn new(options: SandboxOptions) -> Self {
        let pool = SessionPool::new(options.processes_max);
        let computing = options.computing_max.clamp(1, Semaphore::MAX_PERMITS);
        Self(Arc::new(SandboxShared {
            options,
            begun: Mutex::new(BegunWorker::NotYet),
            pool,
            computing: Arc::new(Semaphore::new(computing)),
        }))
    }

    /// The isolation in force. The interpreter is searched for once.
    pub async fn isolation(&self) -> Result<Isolation, SandboxError> {
        self.0.begin().await.map(|(_, isolation)| isolation)
    }

    /// Begins the base process in the background, so that nobody has to wait for it later.
    pub fn warm(&self) {
        if let Ok(runtime) = Handle::try_current() {
            let shared = Arc::clone(&self.0);
            runtime.spawn(async move {
                if let Err(error) = shared.begin().await {
                    tracing::debug!(%error, "no sandbox");
                }
            });
        }
    }

    /// Makes the material into the value that sessions find as `context`: one piece is it, several are a dictionary by name.
    pub async fn load(
        &self,
        material: Vec<SandboxMaterial>,
    ) -> Result<SandboxContext, SandboxError> {
        let sealed = spawn_blocking(move || SealedMemory::copy(material));
        let (engine, _) = self.0.begin().await?;
        let sealed = sealed.await.map_err(|error| SandboxError::BaseFailed {
            what: error.to_string(),
        })??;
        let template = engine.load(sealed).await?;
        Ok(SandboxContext(Arc::new(template)))
    }

    /// A session on this context that has these cells behind it. Its process is made by the first cell.
    pub fn session(&self, context: &SandboxContext, history: Vec<PastCell>) -> SandboxSession {
        SandboxSession::new(SessionTask {
            shared: Arc::clone(&self.0),
            context: context.clone(),
            history: history.into_iter().map(FinishedCell::from).collect(),
            live: None,
        })
    }
}

impl SandboxShared {
    /// A turn to compute, if nobody has to be waited for.
    pub(crate) fn turn_now(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.computing).try_acquire_owned().ok()
    }

    /// A turn to compute, in the order of asking.
    pub(crate) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        // It is never closed.
        Arc::clone(&self.computing).acquire_owned().await.ok()
    }

    /// The base process of `CPython`.
    pub(crate) async fn base(&self) -> Result<Arc<cpython::BaseProcess>, SandboxError> {
        match self.begin().await?.0 {
            Interpreter::CPython(base) => Ok(base),
            Interpreter::Monty(_) => Err(SandboxError::BaseFailed {
                what: "it ended, and no other could be begun".to_owned(),
            }),
        }
    }

    /// The interpreter there is. One whose base process failed is begun anew.
    async fn begin(&self) -> Result<(Interpreter, Isolation), SandboxError> {
        // Held while interpreters are tried: who comes meanwhile waits for this try and starts none.
        let mut begun = self.begun.lock().await;
        if let BegunWorker::Ready(Interpreter::CPython(base), _) = &*begun
            && base.is_broken()
        {
            *begun = BegunWorker::NotYet;
        }
        if let BegunWorker::NotYet = *begun {
            *begun = match self.choose().await {
                Ok((engine, isolation)) => BegunWorker::Ready(engine, isolation),
                Err(reasons) => BegunWorker::Refused(reasons.to_string()),
            };
        }
        match &*begun {
            BegunWorker::Ready(engine, isolation) => Ok((engine.clone(), isolation.clone())),
            BegunWorker::Refused(reason) => Err(self.refusal(reason.clone())),
            BegunWorker::NotYet => Err(self.refusal("nothing was tried".to_owned())),
        }
    }

    /// The first interpreter that holds.
    async fn choose(&self) -> Result<(Interpreter, Isolation), NoneHolds> {
        let mut refused = Vec::new();
        if self.options.interpreter != InterpreterChoice::Monty {
            let programs = cpython::programs(self.options.python.as_ref(), &self.options.search);
            if programs.is_empty() {
                refused.push("no Python was found".to_owned());
            }
            for program in programs {
                match cpython::BaseProcess::begin(&program).await {
                    Ok((base, mut isolation)) => {
                        isolation.refused = refused;
                        return Ok((Interpreter::CPython(Arc::new(base)), isolation));
                    }
                    Err(reason) => refused.push(format!("{}: {reason}", program.display())),
                }
            }
        }
        if self.options.interpreter != InterpreterChoice::CPython {
            match &self.options.worker {
                Some(command) => match monty::probe(command).await {
                    Ok(mut isolation) => {
                        isolation.refused = refused;
                        return Ok((Interpreter::Monty(Arc::new(command.clone())), isolation));
                    }
                    Err(reason) => refused.push(format!("Monty: {reason}")),
                },
                None => refused.push("Monty is not part of this program".to_owned()),
            }
        }
        Err(NoneHolds(refused))
    }

    fn refusal(&self, reason: String) -> SandboxError {
        let interpreter = match self.options.interpreter {
            InterpreterChoice::Auto => return SandboxError::NoInterpreter { reason },
            InterpreterChoice::CPython => InterpreterKind::CPython,
            InterpreterChoice::Monty => InterpreterKind::Monty,
        };
        SandboxError::Refused {
            interpreter: interpreter.name(),
            reason,
        }
    }
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;
