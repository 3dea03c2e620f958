//! The weights of the embedded model, as commands list them.

use std::path::PathBuf;

use fathom_local::weights::{FilePresence, WeightsCatalogue, WeightsFolder};
use serde::Serialize;

use crate::error::CliError;
use crate::settings::RunSettings;
use crate::terminal::plain_text::one_line;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units;

/// The weights that these settings mean.
pub(crate) fn store(settings: &RunSettings) -> Result<WeightsFolder, CliError> {
    let folder = settings.models_folder.clone().ok_or(CliError::NoHome)?;
    Ok(WeightsFolder::new(folder, WeightsCatalogue::built_in()?))
}

#[derive(Serialize)]
pub(crate) struct WeightsJson {
    weights_folder: PathBuf,
    weights: Vec<KnownJson>,
    /// Model files that the catalogue does not know.
    other_weights: Vec<OtherJson>,
}

#[derive(Serialize)]
struct KnownJson {
    name: String,
    aliases: Vec<String>,
    title: String,
    licence: String,
    bytes: u64,
    installed: bool,
    /// `installed`, `begun`, `damaged` or `missing`.
    state: &'static str,
    paths: Vec<PathBuf>,
}

#[derive(Serialize)]
struct OtherJson {
    name: String,
    bytes: u64,
    path: PathBuf,
}

const fn word(presence: FilePresence) -> &'static str {
    match presence {
        FilePresence::Installed => "installed",
        FilePresence::Damaged => "damaged",
        FilePresence::Begun { .. } => "begun",
        FilePresence::Missing => "missing",
    }
}

/// Known and installed weights.
pub(crate) fn listed(store: &WeightsFolder) -> WeightsJson {
    let known = store.catalogue().all().iter().map(|weights| {
        let presence = store.presence(weights);
        KnownJson {
            name: weights.name.clone(),
            aliases: weights.aliases.clone(),
            title: weights.title.clone(),
            licence: weights.licence.clone(),
            bytes: weights.bytes(),
            installed: presence == FilePresence::Installed,
            state: word(presence),
            paths: weights.files.iter().map(|file| store.path(file)).collect(),
        }
    });
    let others = store.others().into_iter().map(|other| OtherJson {
        name: other.name,
        bytes: other.bytes,
        path: other.path,
    });
    WeightsJson {
        weights_folder: store.folder().to_owned(),
        weights: known.collect(),
        other_weights: others.collect(),
    }
}

impl WeightsJson {
    /// The same for people.
    pub(crate) fn lines(&self) -> Vec<StyledLine> {
        let head = StyledLine::new()
            .with(LineStyle::Faint, format!("{:<10}", "weights"))
            .with(
                LineStyle::Plain,
                one_line(&self.weights_folder.display().to_string()),
            );
        let known = self.weights.iter().map(|known| {
            let tone = match known.state {
                "installed" => LineStyle::Good,
                "damaged" => LineStyle::Bad,
                _ => LineStyle::Faint,
            };
            StyledLine::from(format!("  {:<20} ", known.name))
                .with(tone, format!("{:<9}", known.state))
                .with(
                    LineStyle::Plain,
                    format!(
                        "  {:>7}  {:<10}  {} ({})",
                        units::bytes(known.bytes),
                        known.licence,
                        known.title,
                        known.aliases.join(", "),
                    ),
                )
        });
        let others = self.other_weights.iter().map(|other| {
            let name = one_line(&other.name);
            let bytes = units::bytes(other.bytes);
            StyledLine::from(format!("  {name:<20} yours      {bytes:>7}"))
        });
        std::iter::once(head).chain(known).chain(others).collect()
    }
}

/// The weights in one line.
pub(crate) struct WeightsState {
    pub(crate) said: String,
    /// The first of them that is damaged.
    pub(crate) damaged: Option<String>,
}

/// Installed weights, in one line.
pub(crate) fn state(store: &WeightsFolder) -> WeightsState {
    let all = store.catalogue().all().iter();
    let (mut installed, mut damaged) = (Vec::new(), Vec::new());
    for weights in all {
        match store.presence(weights) {
            FilePresence::Installed => installed.push(weights.name.clone()),
            FilePresence::Damaged => damaged.push(weights.name.clone()),
            FilePresence::Begun { .. } | FilePresence::Missing => {}
        }
    }
    let folder = one_line(&store.folder().display().to_string());
    let said = if !damaged.is_empty() {
        format!("{} damaged in {folder}", damaged.join(", "))
    } else if installed.is_empty() {
        format!("none in {folder}; download them with `fathom models pull default`")
    } else {
        format!("{} in {folder}", installed.join(", "))
    };
    WeightsState {
        said,
        damaged: damaged.into_iter().next(),
    }
}
