//! The commands, one file each.

pub(crate) mod agency;
pub(crate) mod approvals;
mod ask;
mod cancel;
mod charter;
mod charter_learn;
mod charter_tools;
pub(crate) mod council;
mod doctor;
mod fork;
mod identity;
mod kill;
pub(crate) mod models;
pub(crate) mod phases;
mod pull;
mod redact;
mod repl;
mod replay;
mod resume;
mod rfc;
pub(crate) mod rlm;
mod runs;
mod seeds;
mod session;
mod show;
mod show_domain;
mod shred;
pub(crate) mod stats;
mod symbols;
pub(crate) mod think;
mod think_idle;
mod unmasked;
mod verify;

pub(crate) use crate::run::launch::left_out;

use crate::app::App;
use crate::args::{CliCommand, ModelsCommand};
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::RunSettings;
use crate::terminal::masking::Unmasked;

/// Carries out a command.
pub(crate) async fn carry_out(
    command: CliCommand,
    settings: RunSettings,
) -> Result<ExitStatus, CliError> {
    match command {
        CliCommand::Ask(asked) => Box::pin(ask::ask(asked, settings)).await,
        CliCommand::Council(asked) => council::council(asked, settings).await,
        CliCommand::Rlm(asked) => rlm::rlm(asked, settings).await,
        CliCommand::Repl(asked) => repl::repl(asked, settings).await,
        CliCommand::Agency(asked) => agency::agency(asked, settings).await,
        CliCommand::Think(asked) => Box::pin(think::think(asked, settings)).await,
        CliCommand::Seeds(command) => seeds::carry_out(command, &App::open(settings)?),
        CliCommand::Phases(asked) => phases::phases(asked, settings).await,
        CliCommand::Symbols(command) => symbols::carry_out(command, settings),
        CliCommand::Kits { id } => symbols::kits(id.as_deref(), settings),
        CliCommand::Personas { id } => symbols::personas(id.as_deref(), settings),
        CliCommand::Session(command) => session::carry_out(command, &App::open(settings)?),
        CliCommand::Runs { limit } => runs::runs(&App::open(settings)?, limit),
        CliCommand::Show(asked) => {
            let app = App::open(settings)?;
            if asked.original {
                unmasked::lift(&app, Unmasked::Show)?;
            }
            match (asked.domain, asked.run) {
                (Some(name), run) => {
                    let run = run.map(|run| app.find(&run)).transpose()?;
                    show_domain::domain(&app, &name, run, asked.record.as_deref())
                }
                (None, run) => show::show(&app, &run.unwrap_or_default(), asked.at.as_ref()),
            }
        }
        CliCommand::Replay(run) => replay::replay(&App::open(settings)?, &run.run),
        CliCommand::Fork { run, at } => fork::fork(&App::open(settings)?, &run.run, &at).await,
        CliCommand::Resume { run } => resume::resume(&App::open(settings)?, run.as_deref()).await,
        CliCommand::People(command) => approvals::carry_out(command, &App::open(settings)?).await,
        CliCommand::Cancel(run) => cancel::cancel(&App::open(settings)?, &run.run).await,
        CliCommand::Verify { run } => verify::verify(&App::open(settings)?, run.as_deref()),
        CliCommand::Stats { days } => stats::stats(&App::open(settings)?, days),
        CliCommand::Models(ModelsCommand::List) => models::list(&settings),
        CliCommand::Charter(command) => charter::carry_out(command, &settings),
        CliCommand::Models(ModelsCommand::Pull { names }) => pull::pull(&names, &settings).await,
        CliCommand::Redact(asked) => redact::redact(&asked, &settings),
        CliCommand::Doctor => doctor::doctor(settings).await,
        CliCommand::Shred { run, yes } => shred::shred(&App::open(settings)?, &run.run, yes),
    }
}
