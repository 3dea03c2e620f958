//! The binary `fathom`: reads what was typed, settles what it means, and carries it out.
//!
//! Data goes to stdout and everything else to stderr. Every error has a code, a cause and a hint.

mod app;
mod args;
mod atomic_file;
mod commands;
mod error;
mod exit_code;
mod panic_report;
mod run;
mod settings;
mod terminal;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::args::usage_error::UsageError;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::environment::EnvVars;
use crate::settings::{OutputFormat, RunSettings};

/// Threads that drive runs. The work is waiting, and one thread hands it on without waking another; models, journal and
/// sandbox have threads and processes of their own.
const WORKERS: usize = 1;

fn main() -> ExitCode {
    panic_report::report_panics();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let [_, only] = arguments.as_slice()
        // Before anything else is read: a worker must not see configuration, and must not fail because of it.
        && only == settings::WORKER
    {
        return fathom_sandbox::worker::main();
    }
    // Needed for errors of the argument parser, which come before the settings.
    let form = if settings::wants_json(&arguments, settings::environment::look_up) {
        OutputFormat::Json
    } else {
        OutputFormat::Human
    };
    // A panic must end in a report and an exit code, since runs can be resumed and scripts check both.
    let exit = std::panic::catch_unwind(|| {
        run(&arguments).unwrap_or_else(|error| {
            terminal::output::say(&error.lines());
            fail(&error, form)
        })
    });
    // The hook has said what happened already.
    let exit = exit.unwrap_or_else(|_| fail(&panic_report::last(), form));
    exit.into()
}

/// Tells programs about an error; people were told before.
fn fail(error: &CliError, form: OutputFormat) -> ExitStatus {
    if form == OutputFormat::Json {
        // Without a stdout nobody reads the object; the exit code still says it.
        let _ = terminal::output::print_json(&error.json());
    }
    error.exit()
}

fn run(arguments: &[OsString]) -> Result<ExitStatus, CliError> {
    let typed = match args::parse(arguments) {
        Ok(typed) => typed,
        Err(error) => {
            return match args::usage_error::read(&error) {
                UsageError::Help(text) => {
                    terminal::output::print_help(&text).map(|()| ExitStatus::Ok)
                }
                UsageError::Nothing(text) => {
                    terminal::output::say_help(&text);
                    Ok(ExitStatus::Usage)
                }
                UsageError::Mistake(mistake) => Err(mistake),
            };
        }
    };
    let folder = std::env::current_dir().map_err(CliError::Setup)?;
    let variables = EnvVars::read(settings::environment::look_up)?;
    let charter = typed.command.usual_charter();
    // Before the settings are read, so that their reading is logged, too.
    terminal::logs::begin(variables.get(terminal::logs::VARIABLE))?;
    let settings = RunSettings::read(typed.flags, &variables, &folder, charter)?;
    if let Some(file) = &settings.redaction_rules {
        // Before the first command can print anything.
        terminal::masking::use_rules(file)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .map_err(CliError::Setup)?;
    runtime.block_on(commands::carry_out(typed.command, settings))
}
