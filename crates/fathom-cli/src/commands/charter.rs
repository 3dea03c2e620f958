//! `fathom charter check`, `show` and `new`: is a charter as it must be, what does it say, and one to begin with.

use std::collections::BTreeMap;
use std::path::Path;

use fathom_host::HostError;
use fathom_host::charter::{self, ChannelRoutes, Charter, CharterVersion, CheckReport, Finding};
use fathom_models::count_o200k;
use fathom_programs::council::CouncilSeat;
use serde::Serialize;

use crate::app::App;
use crate::args::CharterCommand;
use crate::commands::{charter_tools, rfc};
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::{OutputFormat, RunSettings};
use crate::terminal::output;
use crate::terminal::plain_text::safe;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::charter::{TokenRows, show_lines};
use crate::view::charter_findings::{self, Severity};
use crate::view::units::many;

pub(crate) fn carry_out(
    command: CharterCommand,
    settings: &RunSettings,
) -> Result<ExitStatus, CliError> {
    let folder = std::env::current_dir().map_err(CliError::Setup)?;
    match command {
        CharterCommand::Check { which } => check(which.as_deref(), &folder, settings),
        CharterCommand::Show { which } => show(which.as_deref(), &folder, settings),
        CharterCommand::Diff { old, new } => rfc::diff(&old, &new, &folder, settings),
        CharterCommand::Learn(asked) => {
            super::charter_learn::learn(&asked, &folder, settings.clone())
        }
        // These open the journal; checking and showing a charter must work without a home.
        CharterCommand::Tools { name } => {
            charter_tools::tools(&App::open(settings.clone())?, &name)
        }
        CharterCommand::Accept { name, tool, digest } => {
            charter_tools::accept(&App::open(settings.clone())?, &name, &tool, &digest)
        }
        CharterCommand::New { name, dir } => new(&name, dir.as_deref(), &folder, settings),
    }
}

/// The charter that was named, or the one that runs would use, with the folder that paths are relative to.
fn named<'a>(
    which: Option<&'a str>,
    folder: &'a Path,
    settings: &'a RunSettings,
) -> (&'a str, &'a Path) {
    match which {
        Some(said) => (said, folder),
        None => (&settings.charter.value, &settings.charter.folder),
    }
}

/// Result of a check.
#[derive(Serialize)]
struct CheckJson<'a> {
    ok: bool,
    problems: &'a [Finding],
    warnings: &'a [Finding],
    charter: Option<SummaryJson<'a>>,
}

/// The charter in a few words.
#[derive(Serialize)]
struct SummaryJson<'a> {
    name: &'a str,
    version: CharterVersion,
    protocol: CharterVersion,
    /// The folder it lies in; null when it is built in.
    folder: Option<&'a Path>,
    digest: String,
    instructions: Vec<&'a str>,
    agents: Vec<&'a str>,
    prompts: Vec<&'a str>,
    chiefs: Vec<&'a str>,
}

impl<'a> SummaryJson<'a> {
    fn of(charter: &'a Charter) -> Self {
        fn ids<T>(things: &BTreeMap<String, T>) -> Vec<&str> {
            things.keys().map(String::as_str).collect()
        }
        Self {
            name: &charter.name,
            version: charter.version,
            protocol: charter.protocol,
            folder: charter.folder.as_deref(),
            digest: charter.digest(),
            instructions: ids(&charter.instructions),
            agents: ids(&charter.agents),
            prompts: ids(&charter.prompts),
            chiefs: chiefs(charter).iter().map(|seat| &*seat.id).collect(),
        }
    }
}

/// The chiefs of the charter's council, if it has one.
fn chiefs(charter: &Charter) -> &[CouncilSeat] {
    let council = charter.council.as_ref();
    council.map_or(&[], |council| &council.chiefs)
}

fn check(
    which: Option<&str>,
    folder: &Path,
    settings: &RunSettings,
) -> Result<ExitStatus, CliError> {
    let (said, folder) = named(which, folder, settings);
    let found =
        charter::check(said, folder, &settings.home, &count_o200k).map_err(HostError::from)?;
    match settings.form {
        OutputFormat::Json => output::print_json(&CheckJson {
            ok: found.charter.is_some(),
            problems: &found.problems,
            warnings: &found.warnings,
            charter: found.charter.as_ref().map(SummaryJson::of),
        })?,
        OutputFormat::Human => output::print(&check_lines(said, &found))?,
    }
    Ok(match found.charter {
        Some(_) => ExitStatus::Ok,
        // A broken charter is the user's input, as a wrong flag is.
        None => ExitStatus::Usage,
    })
}

fn check_lines(said: &str, found: &CheckReport) -> Vec<StyledLine> {
    let warnings = found.warnings.iter();
    let warnings = warnings.map(|finding| charter_findings::lines(Severity::Warning, finding));
    let problems = found.problems.iter();
    let problems = problems.map(|finding| charter_findings::lines(Severity::Error, finding));
    let mut lines: Vec<StyledLine> = warnings
        .chain(problems)
        .flat_map(|report| report.into_iter().chain([StyledLine::new()]))
        .collect();
    let warned = match found.warnings.len() {
        0 => String::new(),
        number => format!("   {}", many(number as u64, "warning", "warnings")),
    };
    lines.push(verdict(said, found).with(LineStyle::Plain, warned));
    lines
}

fn verdict(said: &str, found: &CheckReport) -> StyledLine {
    let Some(charter) = &found.charter else {
        let problems = found.problems.len() as u64;
        return StyledLine::new()
            .with(LineStyle::Bad, many(problems, "problem", "problems"))
            .with(
                LineStyle::Plain,
                format!(" in the charter `{}`", safe(said)),
            );
    };
    let instructions = charter.instructions.len() as u64;
    let mut parts = vec![
        many(instructions, "instruction", "instructions"),
        many(charter.agents.len() as u64, "agent", "agents"),
        many(charter.prompts.len() as u64, "prompt", "prompts"),
    ];
    let chiefs = chiefs(charter).len() as u64;
    if chiefs > 0 {
        parts.push(many(chiefs, "chief", "chiefs"));
    }
    let name = format!("{} {}", charter.name, charter.version);
    StyledLine::new()
        .with(LineStyle::Good, "ok")
        .with(LineStyle::Plain, "  ")
        .with(LineStyle::Strong, name)
        .with(LineStyle::Plain, format!("   {}", parts.join(", ")))
}

/// All that a charter says, and what its texts take.
#[derive(Serialize)]
struct ShowJson<'a> {
    charter: &'a Charter,
    folder: Option<&'a Path>,
    digest: String,
    tokens: TokenRows<'a>,
    /// Destinations of blocks, defaults included.
    routes: ChannelRoutes,
    warnings: &'a [Finding],
}

fn show(
    which: Option<&str>,
    folder: &Path,
    settings: &RunSettings,
) -> Result<ExitStatus, CliError> {
    let (said, folder) = named(which, folder, settings);
    let charter =
        Charter::find(said, folder, &settings.home, &count_o200k).map_err(HostError::from)?;
    let tokens = TokenRows::of(&charter);
    match settings.form {
        OutputFormat::Json => output::print_json(&ShowJson {
            charter: &charter,
            folder: charter.folder.as_deref(),
            digest: charter.digest(),
            tokens,
            routes: charter.routes(),
            warnings: &charter.warnings,
        })?,
        OutputFormat::Human => output::print(&show_lines(&charter, &tokens))?,
    }
    Ok(ExitStatus::Ok)
}

fn new(
    name: &str,
    dir: Option<&Path>,
    folder: &Path,
    settings: &RunSettings,
) -> Result<ExitStatus, CliError> {
    let in_home = settings.home.join(charter::HOME_FOLDER);
    let parent = dir.map_or(in_home, |dir| folder.join(dir));
    let written = charter::write(name, &parent).map_err(HostError::from)?;
    match settings.form {
        OutputFormat::Json => output::print_json(&written)?,
        OutputFormat::Human => {
            let files = many(written.files.len() as u64, "file", "files");
            let place = written.folder.display().to_string();
            // A charter of the home is known by its name, another one by its path.
            let said = if dir.is_none() { name } else { &place };
            output::print(&[
                StyledLine::from(format!("wrote {} with {files}", safe(&place))),
                StyledLine::from(format!(
                    "check it with `fathom charter check {}`",
                    safe(said)
                )),
            ])?;
        }
    }
    Ok(ExitStatus::Ok)
}
