//! The binary `fathom`: reads what was typed, settles what it means, and carries it out.
//!
//! Data goes to stdout and everything else to stderr. Every error has a code, a cause and a hint.

mod app;
mod approval_view;
mod beside;
mod budget;
mod bug;
mod changes;
mod chronicle;
mod commands;
mod council;
mod deeds_view;
mod embedded;
mod environment;
mod episode_json;
mod error;
mod exit;
mod figures;
mod findings;
mod follow;
mod inputs;
mod line;
mod logs;
mod masking;
mod meter;
mod model_choice;
mod output;
mod painter;
mod passing;
mod phases_view;
mod plain_text;
mod progress;
mod result_json;
mod settings;
mod signals;
mod stages_json;
#[cfg(test)]
mod stories_tests;
mod table;
mod tree;
mod typed;
mod usage;
mod whole_file;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::environment::EnvVars;
use crate::error::CliError;
use crate::exit::ExitStatus;
use crate::settings::{OutputFormat, RunSettings};
use crate::usage::UsageError;

/// Threads that drive runs. The work is waiting, and one thread hands it on without waking another; models, journal and
/// sandbox have threads and processes of their own.
const WORKERS: usize = 1;

fn main() -> ExitCode {
    bug::report_panics();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let [_, only] = arguments.as_slice()
        && only == settings::WORKER
    {
        return fathom_sandbox::worker::main();
    }
    let form = if settings::wants_json(&arguments, environment::look_up) {
        OutputFormat::Json
    } else {
        OutputFormat::Human
    };
    let exit = std::panic::catch_unwind(|| {
        run(&arguments).unwrap_or_else(|error| {
            output::say(&error.lines());
            fail(&error, form)
        })
    });
    // The hook has said what happened already.
    let exit = exit.unwrap_or_else(|_| fail(&bug::last(), form));
    exit.into()
}

/// Tells programs about an error; people were told before.
fn fail(error: &CliError, form: OutputFormat) -> ExitStatus {
    if form == OutputFormat::Json {
        // Without a stdout nobody reads the object; the exit code still says it.
        let _ = output::print_json(&error.json());
    }
    error.exit()
}

fn run(arguments: &[OsString]) -> Result<ExitStatus, CliError> {
    let typed = match typed::parse(arguments) {
        Ok(typed) => typed,
        Err(error) => {
            return match usage::read(&error) {
                UsageError::Help(text) => output::print_help(&text).map(|()| ExitStatus::Ok),
                UsageError::Nothing(text) => {
                    output::say_help(&text);
                    Ok(ExitStatus::Usage)
                }
                UsageError::Mistake(mistake) => Err(mistake),
            };
        }
    };
    let folder = std::env::current_dir().map_err(CliError::Setup)?;
    let variables = EnvVars::read(environment::look_up)?;
    let charter = typed.command.usual_charter();
    logs::begin(variables.get(logs::VARIABLE))?;
    let settings = RunSettings::read(typed.flags, &variables, &folder, charter)?;
    if let Some(file) = &settings.redaction_rules {
        masking::use_rules(file)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .map_err(CliError::Setup)?;
    runtime.block_on(commands::carry_out(typed.command, settings))
}
