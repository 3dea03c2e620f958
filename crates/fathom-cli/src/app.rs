//! A command at work: its settings, the opened home, and the clock.

use std::sync::Arc;

use fathom_core::id::RunId;
use fathom_core::unit::Timestamp;
use fathom_host::clock::{Clock, SystemClock};
use fathom_host::{HostError, Runtime, RuntimeOptions};

use crate::error::CliError;
use crate::settings::RunSettings;
use crate::settings::environment;
use crate::terminal::masking;

/// A command at work.
pub(crate) struct App {
    pub(crate) settings: RunSettings,
    pub(crate) runtime: Runtime,
    clock: Arc<SystemClock>,
}

impl App {
    /// Opens the home.
    pub(crate) fn open(settings: RunSettings) -> Result<Self, CliError> {
        let clock = Arc::new(SystemClock::new());
        let symbols = settings
            .symbols
            .settle(environment::key)
            .map_err(HostError::from)?;
        let options = RuntimeOptions {
            symbols,
            people: settings.people.clone(),
            discord: settings.discord.clone(),
            filter: masking::own(),
            identity: (*settings.identity).clone(),
            heads: settings.heads.clone(),
            concurrency: settings.concurrency,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            embedded: Arc::new(settings.embedded()),
            sandbox: settings.sandbox(),
            ..RuntimeOptions::new(settings.home.clone(), environment::key)
        };
        Ok(Self {
            runtime: Runtime::open(options)?,
            settings,
            clock,
        })
    }

    /// Current time of the wall clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The run that a user means by an id or its beginning.
    pub(crate) fn find(&self, name: &str) -> Result<RunId, CliError> {
        if name.trim().is_empty() {
            return Err(HostError::NoSuchRun {
                prefix: name.to_owned(),
            }
            .into());
        }
        Ok(self.runtime.find(name.trim())?)
    }

    /// A run's id, as short as a user can give it.
    pub(crate) fn short(&self, run: RunId) -> String {
        short(&self.runtime, run, self.now())
    }
}

/// A run's id, as short as a user can give it: eight digits, or the few more that make it mean this run alone.
pub(crate) fn short(runtime: &Runtime, run: RunId, now: Timestamp) -> String {
    /// Ends of the groups of an ID.
    const ENDS: [usize; 4] = [8, 13, 18, 23];
    let whole = run.to_string();
    // A prefix that is unique now must stay so: a run that begins in the same minute would share the first group.
    let stays = |end: usize| end > ENDS[0] || is_first_group_over(run, now);
    let prefixes = ENDS.iter().filter(|end| stays(**end));
    let mut unique = prefixes
        .filter_map(|end| whole.get(..*end))
        .filter(|prefix| runtime.find(prefix).is_ok());
    unique.next().unwrap_or(&whole).to_owned()
}

/// True if no later run can begin with the same eight digits: they count time in steps of about a minute.
fn is_first_group_over(run: RunId, now: Timestamp) -> bool {
    let [a, b, c, d, ..] = *run.as_bytes();
    let group = u64::from(u32::from_be_bytes([a, b, c, d]));
    // A UUIDv7 begins with 48 bits of milliseconds; without the lowest 16 these are its first eight digits.
    now.0 >> 16 > group
}

#[cfg(test)]
#[path = "app_tests.rs"]
mod tests;
