//! Effective settings from flags, variables and `fathom.toml`, checked once.

pub(crate) mod environment;
pub(crate) mod inputs;
pub(crate) mod models;
mod sources;

use self::sources::{SettingSources, capped};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fathom_core::budget::amounts::Budget;
use fathom_core::contract::{Contract, RecursionPolicy};
use fathom_host::HostError;
use fathom_host::channels::DiscordTarget;
use fathom_host::charter::Charter;
use fathom_host::config::SymbolStoreConfig;
use fathom_host::governance::identity::TrustConfig;
use fathom_host::governance::people::ApproverRoster;
use fathom_host::models::embedded::EmbeddedModels;
use fathom_models::count_o200k;
use fathom_programs::direct;
use fathom_sandbox::{InterpreterChoice, Sandbox, WorkerCommand};

use crate::args::GlobalFlags;
use crate::error::CliError;
use crate::settings::environment::{EnvVars, is_on};
use crate::settings::models::{ModelArg, ModelArgs};

/// Format of stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// Text for people.
    Human,
    /// One JSON object.
    Json,
}

/// Amount of output on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Errors.
    Quiet,
    /// Progress of the run.
    Usual,
    /// Its records too.
    Verbose,
}

/// Treatment of other unfinished runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherRuns {
    /// They are resumed.
    Resumed,
    /// Nothing.
    LeftAlone,
}

/// The argument that makes this program a worker of the sandbox. Users do not type it.
pub(crate) const WORKER: &str = "sandbox-worker";

/// Effective settings of one command.
#[derive(Clone, Debug)]
pub(crate) struct RunSettings {
    pub(crate) home: PathBuf,
    pub(crate) heads: Option<PathBuf>,
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) form: OutputFormat,
    pub(crate) loudness: Verbosity,
    pub(crate) others: OtherRuns,
    pub(crate) budget: Budget,
    pub(crate) recursion: RecursionPolicy,
    /// The depth that was asked for, in the program's own counting, and by what.
    depth: Option<(&'static str, u64)>,
    pub(crate) concurrency: u32,
    /// Interpreter for code that a model wrote.
    pub(crate) interpreter: InterpreterChoice,
    pub(crate) direct: direct::DirectConfig,
    pub(crate) model: ModelArgs,
    /// The charter as it was named, and the folder that its path is relative to.
    pub(crate) charter: ModelArg,
    /// Folder of weights; unknown if the user has neither a cache nor a home.
    pub(crate) models_folder: Option<PathBuf>,
    /// The model hub, when it is not the usual one.
    pub(crate) hub_url: Option<String>,
    /// Location of the symbols.
    pub(crate) symbols: SymbolStoreConfig,
    /// Roles of people.
    pub(crate) people: Option<ApproverRoster>,
    /// The channel on Discord.
    pub(crate) discord: Option<DiscordTarget>,
    /// File of rules for what is masked.
    pub(crate) redaction_rules: Option<PathBuf>,
    /// Whose signature of an identity counts.
    pub(crate) identity: Box<TrustConfig>,
}

impl RunSettings {
    /// Embedded models, with the folder of weights.
    pub(crate) fn embedded(&self) -> EmbeddedModels {
        let own = self.home.join("models");
        EmbeddedModels::new(self.models_folder.clone().unwrap_or(own))
    }

    /// Sandbox for code that a model wrote. The interpreter that needs no Python is this very program.
    pub(crate) fn sandbox(&self) -> Sandbox {
        let worker = std::env::current_exe().ok().map(|program| WorkerCommand {
            program,
            arguments: vec![WORKER.into()],
        });
        let mut options = fathom_sandbox::SandboxOptions {
            interpreter: self.interpreter,
            worker,
            ..fathom_sandbox::SandboxOptions::default()
        };
        // The usual places come first: what else is on the path may be a script that only starts a Python.
        options.search.extend(environment::search_path());
        Sandbox::new(options)
    }

    /// The charter of a run. Commands that need none are not disturbed by a broken one.
    pub(crate) fn charter(&self) -> Result<Charter, CliError> {
        let ModelArg { value, folder } = &self.charter;
        let charter = Charter::find(value, folder, &self.home, &count_o200k);
        Ok(charter.map_err(HostError::from)?)
    }

    /// The depth that was asked for, where it was, if that is no more than `cap`.
    pub(crate) fn depth_of(&self, cap: u8) -> Result<Option<u8>, CliError> {
        let depth = self.depth.map(|(what, value)| capped(what, value, cap));
        depth.transpose()
    }

    /// Contract of a run with these settings.
    pub(crate) fn contract(&self) -> Contract {
        Contract {
            recursion: self.recursion.clone(),
            ..Contract::default()
        }
    }

    /// Reads the configuration file and puts everything together. Paths are taken from `folder`; `charter` is the one for
    /// which none is named.
    pub(crate) fn read(
        flags: GlobalFlags,
        variables: &EnvVars,
        folder: &Path,
        charter: &'static str,
    ) -> Result<Self, CliError> {
        let sources = SettingSources {
            flags,
            variables,
            usual_charter: charter,
        };
        let home = sources.home(folder);
        let (config, config_file) = sources.config(folder, home.as_deref())?;
        sources.settle(folder, home, config, config_file)
    }
}

/// True if `--json` was given, for errors that come before anything else is known.
pub(crate) fn wants_json(
    arguments: &[OsString],
    look_up: impl Fn(&str) -> Option<OsString>,
) -> bool {
    // After `--` everything is text of the user, who may ask about `--json`.
    let typed = arguments.iter().take_while(|argument| *argument != "--");
    typed.into_iter().any(|argument| argument == "--json")
        || look_up("FATHOM_JSON").is_some_and(|value| value.to_str().is_some_and(is_on))
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
