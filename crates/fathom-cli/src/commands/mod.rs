//! The commands, one file each.

pub(crate) mod agency;
mod ask;
mod cancel;
mod charter;
pub(crate) mod council;
mod doctor;
mod domain;
mod ended;
mod fork;
mod identity;
mod idle;
mod kill;
mod launch;
mod learn;
mod models;
mod originals;
mod people;
pub(crate) mod phases;
pub(crate) mod pins;
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
mod shred;
mod stats;
mod symbols;
pub(crate) mod think;
mod verify;
mod weights;

pub(crate) use launch::left_out;

use crate::app::App;
use crate::error::CliError;
use crate::exit::Exit;
use crate::masking::Original;
use crate::settings::Settings;
use crate::typed::{Command, ModelsCommand};

/// Carries out a command.
pub(crate) async fn carry_out(command: Command, settings: Settings) -> Result<Exit, CliError> {
    match command {
        Command::Ask(asked) => Box::pin(ask::ask(asked, settings)).await,
        Command::Council(asked) => council::council(asked, settings).await,
        Command::Rlm(asked) => rlm::rlm(asked, settings).await,
        Command::Repl(asked) => repl::repl(asked, settings).await,
        Command::Agency(asked) => agency::agency(asked, settings).await,
        Command::Think(asked) => Box::pin(think::think(asked, settings)).await,
        Command::Seeds(command) => seeds::carry_out(command, &App::open(settings)?),
        Command::Phases(asked) => phases::phases(asked, settings).await,
        Command::Symbols(command) => symbols::carry_out(command, settings),
        Command::Kits { id } => symbols::kits(id.as_deref(), settings),
        Command::Personas { id } => symbols::personas(id.as_deref(), settings),
        Command::Session(command) => session::carry_out(command, &App::open(settings)?),
        Command::Runs { limit } => runs::runs(&App::open(settings)?, limit),
        Command::Show(asked) => {
            let app = App::open(settings)?;
            if asked.original {
                originals::lift(&app, Original::Show)?;
            }
            match (asked.domain, asked.run) {
                (Some(name), run) => {
                    let run = run.map(|run| app.find(&run)).transpose()?;
                    domain::domain(&app, &name, run, asked.record.as_deref())
                }
                (None, run) => show::show(&app, &run.unwrap_or_default(), asked.at.as_ref()),
            }
        }
        Command::Replay(run) => replay::replay(&App::open(settings)?, &run.run),
        Command::Fork { run, at } => fork::fork(&App::open(settings)?, &run.run, &at).await,
        Command::Resume { run } => resume::resume(&App::open(settings)?, run.as_deref()).await,
        Command::People(command) => people::carry_out(command, &App::open(settings)?).await,
        Command::Cancel(run) => cancel::cancel(&App::open(settings)?, &run.run).await,
        Command::Verify { run } => verify::verify(&App::open(settings)?, run.as_deref()),
        Command::Stats { days } => stats::stats(&App::open(settings)?, days),
        Command::Models(ModelsCommand::List) => models::list(&settings),
        Command::Charter(command) => charter::carry_out(command, &settings),
        Command::Models(ModelsCommand::Pull { names }) => pull::pull(&names, &settings).await,
        Command::Redact(asked) => redact::redact(&asked, &settings),
        Command::Doctor => doctor::doctor(settings).await,
        Command::Shred { run, yes } => shred::shred(&App::open(settings)?, &run.run, yes),
    }
}
