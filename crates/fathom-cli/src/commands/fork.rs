//! `fathom fork`: starts a new run from a record of another one.

use fathom_host::view::run::RecordRef;

use crate::app::App;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::background_resume::BackgroundResume;
use crate::run::conclude::conclude;
use crate::run::follow::follow;

pub(crate) async fn fork(app: &App, name: &str, at: &RecordRef) -> Result<ExitStatus, CliError> {
    let run = app.find(name)?;
    let handle = app.runtime.fork(run, at)?;
    let followed = follow(app, vec![handle], BackgroundResume::begin(app)).await?;
    match followed.into_iter().next() {
        Some(followed) => conclude(app, followed, Vec::new()),
        None => Ok(ExitStatus::Bug),
    }
}
