//! The runtime: a home folder, its journal, and the runs that this process works on.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use fathom_core::amounts::Budget;
use fathom_core::contract::{Contract, Role};
use fathom_core::event::{Origin, ProgramSpec, Record, Signal, Started};
use fathom_core::id::{EpisodeId, Epoch, RunId};
use fathom_core::model::{ModelRole, Models};
use fathom_core::packet::Frame;
use fathom_core::program::Programs;
use fathom_core::programs::BuiltIn;
use fathom_core::run::Run;
use fathom_core::step::{Log, Step};
use fathom_core::text::Text;
use fathom_models::Limiter;
use fathom_output::redact::Redactor;
use fathom_sandbox::{Context, Sandbox};
use fathom_store::{Home, Journal, RunFilter, RunLock, RunQuery};
use tokio::sync::{Notify, mpsc, watch};
use uuid::Uuid;

use crate::cells::{Cells, GivenContext, Notebooks};
use crate::channels::{DiscordAt, Outlets};
use crate::clock::{Clock, SystemClock};
use crate::config::CONCURRENCY;
use crate::domains::{Domains, SymbolsAt};
use crate::driver::{Driver, DriverState, INBOX_MAX};
use crate::effects::{EffectPort, Passage};
use crate::error::HostError;
use crate::exploring::reread;
use crate::fork;
use crate::gates::Gates;
use crate::handle::RunHandle;
use crate::identity::{Going, Trust};
use crate::local::Embedded;
use crate::models::RunModels;
use crate::people::{OsUser, Roster};
use crate::reading::{Reading, Replay};
use crate::recall::Memory;
use crate::recorder::Recorder;
use crate::story::{Place, Story};

/// What a runtime is opened with.
#[derive(Clone)]
pub struct Options {
    /// The home folder.
    pub home: PathBuf,
    /// File for signed heads; in the home folder when not said.
    pub heads: Option<PathBuf>,
    /// Looks up an environment variable, for API keys.
    pub read_env: fn(&str) -> Option<String>,
    /// Calls of one run in flight at once.
    pub concurrency: u32,
    /// Makes programs.
    pub programs: Arc<dyn Programs>,
    /// The door to the outside; each run's own charter where none is given.
    pub effects: Option<Arc<dyn EffectPort>>,
    /// What runs in this process.
    pub embedded: Arc<Embedded>,
    /// Where code that a model wrote runs.
    pub sandbox: Sandbox,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Where the symbols are.
    pub symbols: SymbolsAt,
    /// Who may decide what; without it the owner of the home decides everything.
    pub people: Option<Roster>,
    /// The channel on Discord, where there is one.
    pub discord: Option<DiscordAt>,
    /// The filters of what goes to channels; the built-in ones where none are given.
    pub filter: Option<Redactor>,
    /// Whose signature of an identity counts.
    pub identity: Trust,
}

impl Options {
    /// The usual choices for a home folder.
    pub fn new(home: PathBuf, read_env: fn(&str) -> Option<String>) -> Self {
        Self {
            embedded: Arc::new(Embedded::new(home.join("models"))),
            home,
            heads: None,
            read_env,
            concurrency: CONCURRENCY,
            programs: Arc::new(BuiltIn),
            effects: None,
            sandbox: Sandbox::new(fathom_sandbox::Options::default()),
            clock: Arc::new(SystemClock::new()),
            symbols: SymbolsAt::default(),
            people: None,
            discord: None,
            filter: None,
            identity: Trust::default(),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("home", &self.home)
            .field("heads", &self.heads)
            .field("concurrency", &self.concurrency)
            .finish_non_exhaustive()
    }
}

/// What a new run is to do.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// What it is to reach.
    pub goal: Text,
    /// How.
    pub program: ProgramSpec,
    /// What it may do.
    pub contract: Contract,
    /// What it may use.
    pub budget: Budget,
    /// Its models.
    pub models: Models,
    /// What its packets are framed with.
    pub frame: Frame,
}

/// A home folder, its journal, and what is needed to work on its runs. Clones share all of it.
#[derive(Clone)]
pub struct Runtime {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) options: Options,
    pub(crate) home: Home,
    pub(crate) journal: Arc<dyn Journal>,
    memory: Option<Arc<Memory>>,
    domains: Arc<Domains>,
    port: Arc<dyn EffectPort>,
    pub(crate) gates: Arc<Gates>,
}

impl Runtime {
    /// Opens a home folder, making it when it is not there.
    pub fn open(options: Options) -> Result<Self, HostError> {
        let mut home = Home::open(&options.home)?;
        if let Some(heads) = &options.heads {
            home = home.with_heads(heads);
        }
        let journal: Arc<dyn Journal> = Arc::new(home.open_journal()?);
        // Without earlier answers a run only costs more.
        let memory = Memory::open(&home, &journal, &options.embedded)
            .inspect_err(|error| tracing::warn!(%error, "cannot open the store of earlier answers"))
            .ok();
        let domains = Arc::new(Domains::new(
            home.clone(),
            Arc::clone(&journal),
            options.symbols.clone(),
            Arc::clone(&options.embedded),
            Outlets::new(&home, &journal, &options),
        ));
        let gates = Arc::new(Gates {
            home: home.clone(),
            journal: Arc::clone(&journal),
            clock: Arc::clone(&options.clock),
            domains: Arc::clone(&domains),
            read_env: options.read_env,
            worker: options.sandbox.worker().cloned(),
            kept: Mutex::default(),
        });
        let port = options.effects.clone();
        let port = port.unwrap_or_else(|| Arc::clone(&gates) as Arc<dyn EffectPort>);
        Ok(Self {
            inner: Arc::new(Inner {
                port,
                gates,
                domains,
                options,
                home,
                journal,
                memory: memory.map(Arc::new),
            }),
        })
    }

    /// The home folder.
    pub fn home(&self) -> &Home {
        &self.inner.home
    }

    /// What runs in this process.
    pub fn embedded(&self) -> &Embedded {
        &self.inner.options.embedded
    }

    /// Where code that a model wrote runs.
    pub fn sandbox(&self) -> &Sandbox {
        &self.inner.options.sandbox
    }

    /// What outlives runs: symbols and histories.
    pub fn domains(&self) -> &Domains {
        &self.inner.domains
    }

    pub(crate) fn now(&self) -> fathom_core::unit::Timestamp {
        self.inner.options.clock.now()
    }

    /// Begins a run.
    pub fn start(&self, new: NewRun) -> Result<RunHandle, HostError> {
        self.start_on(new, GivenContext::later(Vec::new()))
    }

    /// Begins a run whose code works on this context.
    pub fn start_in(&self, new: NewRun, context: Context) -> Result<RunHandle, HostError> {
        self.start_on(new, GivenContext::loaded(context))
    }

    fn start_on(&self, new: NewRun, given: GivenContext) -> Result<RunHandle, HostError> {
        // A program that cannot be made is a mistake of the caller's, better told before anything is written.
        self.inner.options.programs.build(&new.program)?;
        self.admit(&new.frame)?;
        let started = Started {
            goal: new.goal,
            role: Role::Orchestrator,
            program: new.program,
            contract: new.contract,
            budget: new.budget,
            depth: 0,
            model: ModelRole::Main,
            models: new.models,
            frame: new.frame,
            sources: Vec::new(),
            origin: Origin::Asked,
        };
        let models = self.connect(&started.models)?;
        let (run, lock, epoch) = self.create(&started)?;
        let recorder = self.recorder(run, epoch)?;
        let tree = Run::new(epoch, Arc::clone(&self.inner.options.programs));
        let cells = self.cells(given, Notebooks::default());
        let owned = (run, lock, recorder);
        Ok(self.drive(owned, tree, models, cells, |tree, log, at| {
            tree.start(log, at, started)
        }))
    }

    /// Takes over an unfinished run that nobody works on, if it still has the identity that it began with.
    pub fn resume(&self, run: RunId) -> Result<RunHandle, HostError> {
        self.take_over(run, Going::On)
    }

    fn take_over(&self, run: RunId, going: Going) -> Result<RunHandle, HostError> {
        let info = self.info(run)?;
        if info.state.is_finished() {
            return Err(HostError::Finished { run });
        }
        let lock = self.lock(run)?;
        let reading = self.read(run)?;
        let started = reading.started().ok_or(HostError::NoSuchRun {
            prefix: run.to_string(),
        })?;
        self.readmit(run, started, going)?;
        let (models, given) = match going {
            Going::On => (
                self.connect(&started.models)?,
                GivenContext::later(reread(&started.program)?),
            ),
            // No model is asked and no code runs any more: what went away meanwhile must not keep a run from its end.
            Going::ToItsEnd => (RunModels::unasked(&started.models), GivenContext::gone()),
        };
        let epoch = self.inner.journal.acquire(run)?;
        let tree = reading.refold_exactly(epoch, &self.inner.options.programs)?;
        if tree.result().is_some() {
            return Err(HostError::Finished { run });
        }
        let story = reading.story();
        let records = reading.records.iter();
        let notebooks = Notebooks::read(records.map(|read| (&read.episode, &read.record)));
        let cells = self.cells(given, notebooks);
        let recorder = self.recorder(run, epoch)?.continuing(reading.chains, story);
        let owned = (run, lock, recorder);
        Ok(self.drive(owned, tree, models, cells, |tree, log, at| {
            tree.resume(log, at)
        }))
    }

    /// Begins a run that goes on from a record of another.
    pub fn fork(&self, run: RunId, at: &Place) -> Result<RunHandle, HostError> {
        let reading = self.read(run)?;
        if !reading.is_open {
            return Err(HostError::Shredded { run });
        }
        let started = reading.started().cloned().ok_or(HostError::NoSuchPlace {
            run,
            place: at.clone(),
        })?;
        self.readmit(run, &started, Going::On)?;
        let models = self.connect(&started.models)?;
        let given = GivenContext::later(reread(&started.program)?);
        let taken = fork::taken_over(reading, at)?;
        let records = taken.iter();
        let notebooks = Notebooks::read(records.map(|read| (&read.episode, &read.record)));
        let (fork, lock, epoch) = self.create(&started)?;
        let mut recorder = self.recorder(fork, epoch)?;
        let mut tree = Run::new(epoch, Arc::clone(&self.inner.options.programs));
        for mut read in taken {
            read.record.epoch = epoch;
            let appended = recorder.append(&read.episode, read.record.clone());
            let differs = tree.refold(&read.episode, &read.record, appended.head);
            if differs.is_some() {
                return Err(HostError::Differs { run, count: 1 });
            }
        }
        let cells = self.cells(given, notebooks);
        let owned = (fork, lock, recorder);
        Ok(self.drive(owned, tree, models, cells, |tree, log, at| {
            tree.resume(log, at)
        }))
    }

    /// Unfinished runs that nobody works on.
    pub fn unfinished(&self) -> Result<Vec<RunId>, HostError> {
        let query = RunQuery {
            limit: RunQuery::LIMIT_MAX,
            filter: RunFilter::Unfinished,
        };
        let runs = self.inner.journal.list_runs(&query)?;
        // One that was killed before its first record was durable has nothing to go on with.
        let begun = runs.into_iter().filter(|info| info.events > 0);
        let runs = begun.map(|info| info.run);
        Ok(runs.filter(|run| !self.is_owned(*run)).collect())
    }

    /// Whether a process works on the run.
    pub fn is_owned(&self, run: RunId) -> bool {
        !matches!(self.try_lock(run), Ok(Some(_)))
    }

    /// Folds a run's journal again and compares.
    pub fn replay(&self, run: RunId) -> Result<Replay, HostError> {
        let reading = self.read(run)?;
        let (_, differences) = reading.refold(Epoch(0), &self.inner.options.programs)?;
        Ok(Replay {
            events: reading.records.len() as u64,
            differences,
            model_calls: 0,
        })
    }

    /// A run as people look at it.
    pub fn story(&self, run: RunId) -> Result<Story, HostError> {
        Ok(self.read(run)?.story())
    }

    /// A run's records, opened as far as its key is there.
    pub fn records(&self, run: RunId) -> Result<Vec<(EpisodeId, Record)>, HostError> {
        let records = self.read(run)?.records.into_iter();
        Ok(records.map(|read| (read.episode, read.record)).collect())
    }

    /// Leaves a signal for whoever works on the run.
    pub fn signal(&self, run: RunId, signal: &Signal) -> Result<(), HostError> {
        Ok(self.inner.journal.post_signal(run, signal).map(drop)?)
    }

    /// Asks for the end of a run. Its owner hears it at once; a run without one is taken over to end it.
    pub fn cancel(&self, run: RunId) -> Result<Option<RunHandle>, HostError> {
        if self.info(run)?.state.is_finished() {
            return Err(HostError::Finished { run });
        }
        self.signal(run, &Signal::Cancel)?;
        match self.take_over(run, Going::ToItsEnd) {
            Ok(handle) => Ok(Some(handle)),
            Err(HostError::Owned { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Destroys the key of a run's content. Its chain stays and can be verified.
    pub fn shred(&self, run: RunId) -> Result<(), HostError> {
        self.info(run)?;
        self.inner.home.shred(run)?;
        Ok(())
    }

    fn read(&self, run: RunId) -> Result<Reading, HostError> {
        self.info(run)?;
        Reading::of(&*self.inner.journal, &self.inner.home, run)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the host is where the ids of runs are drawn"
    )]
    fn create(&self, started: &Started) -> Result<(RunId, RunLock, Epoch), HostError> {
        let run = RunId::new(Uuid::now_v7());
        let lock = self.lock(run)?;
        self.inner.home.keys().create_run_key(run)?;
        let epoch = self.inner.journal.create_run(&fathom_store::NewRun {
            run,
            program: started.program.name.clone(),
            model: started.models.main.id.clone(),
            created_at: self.now(),
            started_by: OsUser::current().to_string(),
        })?;
        Ok((run, lock, epoch))
    }

    fn recorder(&self, run: RunId, epoch: Epoch) -> Result<Recorder, HostError> {
        let sealer = self.inner.home.keys().sealer(run)?;
        let sealer = sealer.ok_or(HostError::Shredded { run })?;
        let log = self.inner.journal.open_log(run, epoch)?;
        Ok(Recorder::new(run, sealer, log))
    }

    pub(crate) fn connect(&self, models: &Models) -> Result<RunModels, HostError> {
        let Options {
            embedded, read_env, ..
        } = &self.inner.options;
        RunModels::connect(models, embedded, *read_env)
    }

    fn cells(&self, given: GivenContext, notebooks: Notebooks) -> Cells {
        Cells::new(self.sandbox().clone(), given, notebooks)
    }

    fn drive(
        &self,
        (run, lock, mut recorder): (RunId, RunLock, Recorder),
        mut tree: Run,
        models: RunModels,
        cells: Cells,
        begin: impl FnOnce(&mut Run, &mut Recorder, fathom_core::unit::Timestamp) -> Vec<Step>,
    ) -> RunHandle {
        let Options {
            concurrency,
            clock,
            embedded,
            ..
        } = &self.inner.options;
        let first = begin(&mut tree, &mut recorder, clock.now());
        let (events, inbox) = mpsc::channel(INBOX_MAX);
        let (shown, watch) = watch::channel(recorder.story.clone());
        let interrupt = Arc::new(Notify::new());
        let driver = Driver {
            id: run,
            run: tree,
            recorder,
            journal: Arc::clone(&self.inner.journal),
            models,
            embedded: Arc::clone(embedded),
            memory: self.inner.memory.clone(),
            limiter: Arc::new(Limiter::new(*concurrency as usize)),
            clock: Arc::clone(clock),
            passage: Passage {
                journal: Arc::clone(&self.inner.journal),
                port: Arc::clone(&self.inner.port),
            },
            cells,
            domains: Arc::clone(&self.inner.domains),
            interrupt: Arc::clone(&interrupt),
            shown,
            lock,
            events,
            inbox,
            state: DriverState::default(),
        };
        RunHandle {
            run,
            interrupt,
            shown: watch,
            driver: tokio::spawn(driver.drive(first)),
        }
    }
}
