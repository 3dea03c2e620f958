//! The weights of the embedded model, as commands list them.

use std::path::PathBuf;

use fathom_local::weights::{Catalogue, Presence, Store};
use serde::Serialize;

use crate::error::CliError;
use crate::figures;
use crate::line::{Line, Tone};
use crate::plain_text::one_line;
use crate::settings::Settings;

/// The weights that these settings mean.
pub(crate) fn store(settings: &Settings) -> Result<Store, CliError> {
    let folder = settings.models_folder.clone().ok_or(CliError::NoHome)?;
    Ok(Store::new(folder, Catalogue::built_in()?))
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

const fn word(presence: Presence) -> &'static str {
    match presence {
        Presence::Installed => "installed",
        Presence::Damaged => "damaged",
        Presence::Begun { .. } => "begun",
        Presence::Missing => "missing",
    }
}

/// What is known and what is there.
pub(crate) fn listed(store: &Store) -> WeightsJson {
    let known = store.catalogue().all().iter().map(|weights| {
        let presence = store.presence(weights);
        KnownJson {
            name: weights.name.clone(),
            aliases: weights.aliases.clone(),
            title: weights.title.clone(),
            licence: weights.licence.clone(),
            bytes: weights.bytes(),
            installed: presence == Presence::Installed,
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
    pub(crate) fn lines(&self) -> Vec<Line> {
        let head = Line::new()
            .with(Tone::Faint, format!("{:<10}", "weights"))
            .with(
                Tone::Plain,
                one_line(&self.weights_folder.display().to_string()),
            );
        let known = self.weights.iter().map(|known| {
            let tone = match known.state {
                "installed" => Tone::Good,
                "damaged" => Tone::Bad,
                _ => Tone::Faint,
            };
            Line::from(format!("  {:<20} ", known.name))
                .with(tone, format!("{:<9}", known.state))
                .with(
                    Tone::Plain,
                    format!(
                        "  {:>7}  {:<10}  {} ({})",
                        figures::bytes(known.bytes),
                        known.licence,
                        known.title,
                        known.aliases.join(", "),
                    ),
                )
        });
        let others = self.other_weights.iter().map(|other| {
            let name = one_line(&other.name);
            let bytes = figures::bytes(other.bytes);
            Line::from(format!("  {name:<20} yours      {bytes:>7}"))
        });
        std::iter::once(head).chain(known).chain(others).collect()
    }
}

/// The weights in one line.
pub(crate) struct State {
    pub(crate) said: String,
    /// The first of them that is damaged.
    pub(crate) damaged: Option<String>,
}

/// What is installed, in one line.
pub(crate) fn state(store: &Store) -> State {
    let all = store.catalogue().all().iter();
    let (mut installed, mut damaged) = (Vec::new(), Vec::new());
    for weights in all {
        match store.presence(weights) {
            Presence::Installed => installed.push(weights.name.clone()),
            Presence::Damaged => damaged.push(weights.name.clone()),
            Presence::Begun { .. } | Presence::Missing => {}
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
    State {
        said,
        damaged: damaged.into_iter().next(),
    }
}
