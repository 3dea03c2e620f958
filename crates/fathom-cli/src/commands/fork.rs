//! `fathom fork`: a new run that goes on from a record of another.

use fathom_host::story::RecordRef;

use super::ended::conclude;
use crate::app::App;
use crate::beside::BackgroundResume;
use crate::error::CliError;
use crate::exit::ExitStatus;
use crate::follow::follow;

pub(crate) async fn fork(app: &App, name: &str, at: &RecordRef) -> Result<ExitStatus, CliError> {
    let run = app.find(name)?;
    let handle = app.runtime.fork(run, at)?;
    let followed = follow(app, vec![handle], BackgroundResume::begin(app)).await?;
    match followed.into_iter().next() {
        Some(followed) => conclude(app, followed, Vec::new()),
        None => Ok(ExitStatus::Bug),
    }
}
