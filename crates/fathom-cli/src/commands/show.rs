//! `fathom show`: a run's tree, budget, troubles and answer.

use fathom_core::id::{EpisodeId, RunId};
use fathom_core::journal::event::{EventKind, JournalRecord};
use fathom_host::HostError;
use fathom_host::governance::identity::signature;
use fathom_host::view::effects_json::{EffectJson, effects_json};
use fathom_host::view::run::{RecordRef, RunView};
use serde::Serialize;

use crate::app::App;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::models::shown;
use crate::settings::{OutputFormat, Verbosity};
use crate::terminal::output;
use crate::terminal::plain_text::safe;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::budget;
use crate::view::council::{self, SeatDetail};
use crate::view::effects;
use crate::view::episode_json::{self, EpisodeJson, RecordJson, RunOwnership, run_status};
use crate::view::progress::{asked_of_people, picture};
use crate::view::record_lines;
use crate::view::result_json::{self, ResultJson};
use crate::view::stages;
use crate::view::tree::{COLUMNS_MIN, TreeTime};
use crate::view::units::{self, many};

#[derive(Serialize)]
struct ShowJson {
    run: RunId,
    status: String,
    created_at: String,
    shredded: bool,
    /// The last record that was looked at, when it is not the last there is.
    at: Option<String>,
    result: Option<ResultJson>,
    /// Identity of the speaker, as verified when the run began.
    identity: Option<SpeakerJson>,
    /// Effects, attempted or done.
    effects: Vec<EffectJson>,
    episode: Option<EpisodeJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<Vec<RecordJson>>,
}

/// The identity that is in the provenance of every packet of a run.
#[derive(Serialize)]
struct SpeakerJson {
    fingerprint: String,
    protocol: String,
    signed_by: Option<String>,
}

/// The identity that a run began with. A signature is told only if it fits.
fn speaker(story: &RunView) -> Option<SpeakerJson> {
    let frame = &story.root()?.started.frame;
    let known = frame.provenance.as_ref()?;
    Some(SpeakerJson {
        fingerprint: known.identity.clone(),
        protocol: known.protocol.clone(),
        signed_by: signature::signed_by(frame).map(|key| format!("key:{}", key.fingerprint())),
    })
}

/// A run as it is looked at.
struct ShownRun {
    run: RunId,
    status: String,
    records: Vec<(EpisodeId, JournalRecord)>,
    story: RunView,
    is_shredded: bool,
}

pub(crate) fn show(app: &App, name: &str, at: Option<&RecordRef>) -> Result<ExitStatus, CliError> {
    let looked = look(app, app.find(name)?, at)?;
    let is_verbose = app.settings.loudness == Verbosity::Verbose;
    match app.settings.form {
        OutputFormat::Json => output::print_json(&json(looked, at, is_verbose))?,
        OutputFormat::Human => {
            let width = output::stdout_columns().max(COLUMNS_MIN);
            output::print(&lines(app, &looked, width, is_verbose))?;
            let result = looked.story.root().and_then(|root| root.result.as_ref());
            // A council's picture holds its answer.
            let answer = result.filter(|_| council::report(&looked.story).is_none());
            if let Some(answer) = answer.and_then(result_json::answer) {
                output::print(&[StyledLine::new()])?;
                output::print_answer(&answer)?;
            }
        }
    }
    Ok(ExitStatus::Ok)
}

fn look(app: &App, run: RunId, at: Option<&RecordRef>) -> Result<ShownRun, CliError> {
    let info = app.runtime.info(run)?;
    let mut records = app.runtime.records(run)?;
    if let Some(place) = at {
        let last = records
            .iter()
            .position(|(id, record)| *id == place.episode && record.seq == place.seq);
        let last = last.ok_or_else(|| HostError::NoSuchPlace {
            run,
            place: place.clone(),
        })?;
        // Everything below is folded from these records, so the view is what was known at that moment.
        records.truncate(last + 1);
    }
    let mut story = RunView::default();
    for (episode, record) in &records {
        story.read(episode, record);
    }
    let ownership = if !info.state.is_finished() && app.runtime.is_owned(run) {
        RunOwnership::Owned
    } else {
        RunOwnership::Free
    };
    Ok(ShownRun {
        run,
        status: run_status(info.state, ownership),
        is_shredded: story
            .root()
            .is_some_and(|root| root.started.goal.is_closed()),
        records,
        story,
    })
}

fn json(looked: ShownRun, at: Option<&RecordRef>, is_verbose: bool) -> ShowJson {
    let ShownRun {
        run,
        status,
        records,
        story,
        is_shredded,
    } = looked;
    let root = story.root();
    let has_result = root.is_some_and(|root| root.result.is_some());
    ShowJson {
        run,
        status,
        created_at: root.map_or_else(String::new, |root| units::moment(root.began)),
        shredded: is_shredded,
        at: at.map(|place| format!("{}:{}", place.episode, place.seq)),
        result: has_result
            .then(|| result_json::of(run, &story, Vec::new()))
            .flatten(),
        identity: speaker(&story),
        effects: effects_json(&story),
        episode: episode_json::tree(&story, &EpisodeId::root()),
        records: is_verbose.then(|| {
            let records = records.iter();
            records
                .map(|(episode, record)| episode_json::record(episode, record))
                .collect()
        }),
    }
}

fn lines(app: &App, looked: &ShownRun, width: usize, is_verbose: bool) -> Vec<StyledLine> {
    let story = &looked.story;
    let mut lines = vec![head(app, looked).clipped(width), StyledLine::new()];
    if is_verbose && let Some((_, first)) = looked.records.first() {
        let began = first.event.at;
        let records = looked.records.iter();
        lines.extend(records.map(|(id, record)| record_lines::line(id, record, began, width)));
        lines.push(StyledLine::new());
    }
    let detail = SeatDetail::from(app.settings.loudness);
    lines.extend(picture(story, width, usize::MAX, detail));
    lines.extend(stages::lines(story, width));
    lines.push(StyledLine::new());
    lines.extend(asked_of_people(story, width));
    if let Some(used) = budget::of(story, TreeTime::Rest) {
        lines.extend(budget::words(&used, width));
    }
    lines.push(tallies(looked).clipped(width));
    if let Some(speaker) = speaker(story)
        && let Some(key) = speaker.signed_by
    {
        let said = format!("identity {}, signed by {key}", speaker.fingerprint);
        lines.push(StyledLine::from(said).clipped(width));
    }
    lines.extend(shortenings(looked, width));
    lines.extend(refusals(story, width));
    lines.extend(effects::lines(story, width));
    if looked.is_shredded {
        lines.push(StyledLine::new());
        lines.push(StyledLine::from(
            "content shredded; only the record structure remains",
        ));
    }
    lines
}

fn head(app: &App, looked: &ShownRun) -> StyledLine {
    let root = looked.story.root();
    let age = root.map_or_else(String::new, |root| units::age(app.now(), root.began));
    let model = root.map_or_else(String::new, |root| shown(root.model()));
    let tone = match looked.status.as_str() {
        "ok" => LineStyle::Good,
        "failed" => LineStyle::Bad,
        _ => LineStyle::Odd,
    };
    StyledLine::new()
        .with(LineStyle::Strong, looked.run.to_string())
        .with(LineStyle::Plain, "  ")
        .with(tone, looked.status.clone())
        .with(LineStyle::Faint, format!("  {age} ago  {model}"))
}

/// Counts of the run's events.
fn tallies(looked: &ShownRun) -> StyledLine {
    let story = &looked.story;
    let sum = |of: fn(&fathom_host::view::run::EpisodeView) -> u64| -> u64 {
        story.chapters.values().map(of).sum()
    };
    let resumes = story.root().map_or(0, |root| u64::from(root.resumes));
    let counted = [
        many(story.chapters.len() as u64, "episode", "episodes"),
        many(story.records(), "record", "records"),
        many(
            sum(|chapter| u64::from(chapter.retries)),
            "retry",
            "retries",
        ),
        many(
            sum(|chapter| chapter.refusals.len() as u64),
            "refusal",
            "refusals",
        ),
        many(
            sum(|chapter| u64::from(chapter.overruns)),
            "overrun",
            "overruns",
        ),
        many(resumes, "resume", "resumes"),
    ];
    let mut line = StyledLine::new()
        .with(LineStyle::Faint, "journal ")
        .with(LineStyle::Plain, counted.join("   "));
    let signals = looked.records.iter();
    let signals = signals.filter(|(_, record)| matches!(record.event.kind, EventKind::Signal(_)));
    let signals = signals.count() as u64;
    if signals > 0 {
        line.push(
            LineStyle::Plain,
            format!("   {}", many(signals, "signal", "signals")),
        );
    }
    line
}

/// Fields of packets that were over their limit, and what came of it.
fn shortenings(looked: &ShownRun, width: usize) -> Vec<StyledLine> {
    let records = looked.records.iter();
    let overruns = records
        .filter(|(_, record)| matches!(record.event.kind, EventKind::TokenBudgetOverrun { .. }));
    overruns
        .map(|(episode, record)| {
            let said = format!("{episode} {}", record_lines::words(&record.event.kind));
            StyledLine::new()
                .with(LineStyle::Faint, "packet  ")
                .with(LineStyle::Odd, said)
                .clipped(width)
        })
        .collect()
}

fn refusals(story: &RunView, width: usize) -> Vec<StyledLine> {
    let refused = story.chapters.iter().flat_map(|(id, chapter)| {
        let refusals = chapter.refusals.iter();
        refusals.map(move |(ask, reason)| format!("{id} {ask} {}", safe(&reason.to_string())))
    });
    refused
        .map(|text| {
            StyledLine::new()
                .with(LineStyle::Faint, "refused ")
                .with(LineStyle::Odd, text)
                .clipped(width)
        })
        .collect()
}
