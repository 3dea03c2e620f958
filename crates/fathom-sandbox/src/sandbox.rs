//! The sandbox: it finds an interpreter, keeps its base process, and counts processes.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use crate::cpython;
use crate::driver::{Driver, Past};
use crate::engine::{Engine, Template};
use crate::error::SandboxError;
use crate::material::{Material, Sealed};
use crate::monty;
use crate::options::{Choice, Interpreter, Isolation, Options, WorkerCommand};
use crate::pool::Pool;
use crate::record::PastCell;
use crate::session::Session;

/// Runs code that a model wrote. Clones share their processes.
#[derive(Clone, Debug)]
pub struct Sandbox(Arc<Shared>);

/// Material that sessions begin with. The last clone to go ends the process that holds it.
#[derive(Clone, Debug)]
pub struct Context(Arc<Template>);

impl Context {
    pub(crate) fn template(&self) -> &Template {
        &self.0
    }
}

#[derive(Debug)]
pub(crate) struct Shared {
    options: Options,
    begun: Mutex<Begun>,
    pub(crate) pool: Arc<Pool>,
    computing: Arc<Semaphore>,
}

/// No interpreter holds, each for its reason.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("; "))]
struct NoneHolds(Vec<String>);

#[derive(Debug)]
enum Begun {
    NotYet,
    Ready(Engine, Isolation),
    /// Nothing can be used, for this reason; it is not tried again.
    Refused(String),
}

impl Sandbox {
    /// Command of this program's worker process, if there is one.
    pub fn worker(&self) -> Option<&WorkerCommand> {
        self.0.options.worker.as_ref()
    }

    /// A sandbox that starts nothing yet.
    pub fn new(options: Options) -> Self {
        let pool = Pool::new(options.processes_max);
        let computing = options.computing_max.clamp(1, Semaphore::MAX_PERMITS);
        Self(Arc::new(Shared {
            options,
            begun: Mutex::new(Begun::NotYet),
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
    pub async fn load(&self, material: Vec<Material>) -> Result<Context, SandboxError> {
        let sealed = spawn_blocking(move || Sealed::copy(material));
        let (engine, _) = self.0.begin().await?;
        let sealed = sealed.await.map_err(|error| SandboxError::BaseFailed {
            what: error.to_string(),
        })??;
        let template = engine.load(sealed).await?;
        Ok(Context(Arc::new(template)))
    }

    /// A session on this context that has these cells behind it. Its process is made by the first cell.
    pub fn session(&self, context: &Context, history: Vec<PastCell>) -> Session {
        Session::new(Driver {
            shared: Arc::clone(&self.0),
            context: context.clone(),
            history: history.into_iter().map(Past::from).collect(),
            live: None,
        })
    }
}

impl Shared {
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
    pub(crate) async fn base(&self) -> Result<Arc<cpython::Base>, SandboxError> {
        match self.begin().await?.0 {
            Engine::CPython(base) => Ok(base),
            Engine::Monty(_) => Err(SandboxError::BaseFailed {
                what: "it ended, and no other could be begun".to_owned(),
            }),
        }
    }

    /// The interpreter there is. One whose base process failed is begun anew.
    async fn begin(&self) -> Result<(Engine, Isolation), SandboxError> {
        // Held while interpreters are tried: who comes meanwhile waits for this try and starts none.
        let mut begun = self.begun.lock().await;
        if let Begun::Ready(Engine::CPython(base), _) = &*begun
            && base.is_broken()
        {
            *begun = Begun::NotYet;
        }
        if let Begun::NotYet = *begun {
            *begun = match self.choose().await {
                Ok((engine, isolation)) => Begun::Ready(engine, isolation),
                Err(reasons) => Begun::Refused(reasons.to_string()),
            };
        }
        match &*begun {
            Begun::Ready(engine, isolation) => Ok((engine.clone(), isolation.clone())),
            Begun::Refused(reason) => Err(self.refusal(reason.clone())),
            Begun::NotYet => Err(self.refusal("nothing was tried".to_owned())),
        }
    }

    /// The first interpreter that holds.
    async fn choose(&self) -> Result<(Engine, Isolation), NoneHolds> {
        let mut refused = Vec::new();
        if self.options.interpreter != Choice::Monty {
            let programs = cpython::programs(self.options.python.as_ref(), &self.options.search);
            if programs.is_empty() {
                refused.push("no Python was found".to_owned());
            }
            for program in programs {
                match cpython::Base::begin(&program).await {
                    Ok((base, mut isolation)) => {
                        isolation.refused = refused;
                        return Ok((Engine::CPython(Arc::new(base)), isolation));
                    }
                    Err(reason) => refused.push(format!("{}: {reason}", program.display())),
                }
            }
        }
        if self.options.interpreter != Choice::CPython {
            match &self.options.worker {
                Some(command) => match monty::probe(command).await {
                    Ok(mut isolation) => {
                        isolation.refused = refused;
                        return Ok((Engine::Monty(Arc::new(command.clone())), isolation));
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
            Choice::Auto => return SandboxError::NoInterpreter { reason },
            Choice::CPython => Interpreter::CPython,
            Choice::Monty => Interpreter::Monty,
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
