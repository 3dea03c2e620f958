//! `fathom show`: a run's tree, budget, troubles and answer.

use fathom_core::event::{EventKind, Record};
use fathom_core::id::{EpisodeId, RunId};
use fathom_host::HostError;
use fathom_host::identity::signing;
use fathom_host::story::{Place, Story};
use serde::Serialize;

use crate::app::App;
use crate::budget;
use crate::chronicle;
use crate::council::{self, Detail};
use crate::deeds_view::{self, EffectJson};
use crate::episode_json::{self, EpisodeJson, Ownership, RecordJson, run_status};
use crate::error::CliError;
use crate::exit::Exit;
use crate::figures::{self, many};
use crate::line::{Line, Tone};
use crate::model_choice::shown;
use crate::output;
use crate::plain_text::safe;
use crate::progress::{asked_of_people, picture};
use crate::result_json::{self, ResultJson};
use crate::settings::{Form, Loudness};
use crate::stages_json;
use crate::tree::{COLUMNS_MIN, Moment};

#[derive(Serialize)]
struct ShowJson {
    run: RunId,
    status: String,
    created_at: String,
    shredded: bool,
    /// The last record that was looked at, when it is not the last there is.
    at: Option<String>,
    result: Option<ResultJson>,
    /// Who spoke, as it was verified when the run began.
    identity: Option<SpeakerJson>,
    /// What was done outside, or wanted to be.
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
fn speaker(story: &Story) -> Option<SpeakerJson> {
    let frame = &story.root()?.started.frame;
    let known = frame.provenance.as_ref()?;
    Some(SpeakerJson {
        fingerprint: known.identity.clone(),
        protocol: known.protocol.clone(),
        signed_by: signing::signed_by(frame).map(|key| format!("key:{}", key.fingerprint())),
    })
}

/// A run as it is looked at.
struct Looked {
    run: RunId,
    status: String,
    records: Vec<(EpisodeId, Record)>,
    story: Story,
    is_shredded: bool,
}

pub(crate) fn show(app: &App, name: &str, at: Option<&Place>) -> Result<Exit, CliError> {
    let looked = look(app, app.find(name)?, at)?;
    let is_verbose = app.settings.loudness == Loudness::Verbose;
    match app.settings.form {
        Form::Json => output::print_json(&json(looked, at, is_verbose))?,
        Form::Human => {
            let width = output::stdout_columns().max(COLUMNS_MIN);
            output::print(&lines(app, &looked, width, is_verbose))?;
            let result = looked.story.root().and_then(|root| root.result.as_ref());
            // A council's picture holds its answer.
            let answer = result.filter(|_| council::report(&looked.story).is_none());
            if let Some(answer) = answer.and_then(result_json::answer) {
                output::print(&[Line::new()])?;
                output::print_answer(&answer)?;
            }
        }
    }
    Ok(Exit::Ok)
}

fn look(app: &App, run: RunId, at: Option<&Place>) -> Result<Looked, CliError> {
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
        records.truncate(last + 1);
    }
    let mut story = Story::default();
    for (episode, record) in &records {
        story.read(episode, record);
    }
    let ownership = if !info.state.is_finished() && app.runtime.is_owned(run) {
        Ownership::Owned
    } else {
        Ownership::Free
    };
    Ok(Looked {
        run,
        status: run_status(info.state, ownership),
        is_shredded: story
            .root()
            .is_some_and(|root| root.started.goal.is_closed()),
        records,
        story,
    })
}

fn json(looked: Looked, at: Option<&Place>, is_verbose: bool) -> ShowJson {
    let Looked {
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
        created_at: root.map_or_else(String::new, |root| figures::moment(root.began)),
        shredded: is_shredded,
        at: at.map(|place| format!("{}:{}", place.episode, place.seq)),
        result: has_result
            .then(|| result_json::of(run, &story, Vec::new()))
            .flatten(),
        identity: speaker(&story),
        effects: deeds_view::json(&story),
        episode: episode_json::tree(&story, &EpisodeId::root()),
        records: is_verbose.then(|| {
            let records = records.iter();
            records
                .map(|(episode, record)| episode_json::record(episode, record))
                .collect()
        }),
    }
}

fn lines(app: &App, looked: &Looked, width: usize, is_verbose: bool) -> Vec<Line> {
    let story = &looked.story;
    let mut lines = vec![head(app, looked).clipped(width), Line::new()];
    if is_verbose && let Some((_, first)) = looked.records.first() {
        let began = first.event.at;
        let records = looked.records.iter();
        lines.extend(records.map(|(id, record)| chronicle::line(id, record, began, width)));
        lines.push(Line::new());
    }
    let detail = Detail::from(app.settings.loudness);
    lines.extend(picture(story, width, usize::MAX, detail));
    lines.extend(stages_json::lines(story, width));
    lines.push(Line::new());
    lines.extend(asked_of_people(story, width));
    if let Some(used) = budget::of(story, Moment::Rest) {
        lines.extend(budget::words(&used, width));
    }
    lines.push(tallies(looked).clipped(width));
    if let Some(speaker) = speaker(story)
        && let Some(key) = speaker.signed_by
    {
        let said = format!("identity {}, signed by {key}", speaker.fingerprint);
        lines.push(Line::from(said).clipped(width));
    }
    lines.extend(shortenings(looked, width));
    lines.extend(refusals(story, width));
    lines.extend(deeds_view::lines(story, width));
    if looked.is_shredded {
        lines.push(Line::new());
        lines.push(Line::from(
            "content shredded; only the record structure remains",
        ));
    }
    lines
}

fn head(app: &App, looked: &Looked) -> Line {
    let root = looked.story.root();
    let age = root.map_or_else(String::new, |root| figures::age(app.now(), root.began));
    let model = root.map_or_else(String::new, |root| shown(root.model()));
    let tone = match looked.status.as_str() {
        "ok" => Tone::Good,
        "failed" => Tone::Bad,
        _ => Tone::Odd,
    };
    Line::new()
        .with(Tone::Strong, looked.run.to_string())
        .with(Tone::Plain, "  ")
        .with(tone, looked.status.clone())
        .with(Tone::Faint, format!("  {age} ago  {model}"))
}

/// What happened on the way, counted.
fn tallies(looked: &Looked) -> Line {
    let story = &looked.story;
    let sum = |of: fn(&fathom_host::story::Chapter) -> u64| -> u64 {
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
    let mut line = Line::new()
        .with(Tone::Faint, "journal ")
        .with(Tone::Plain, counted.join("   "));
    let signals = looked.records.iter();
    let signals = signals.filter(|(_, record)| matches!(record.event.kind, EventKind::Signal(_)));
    let signals = signals.count() as u64;
    if signals > 0 {
        line.push(
            Tone::Plain,
            format!("   {}", many(signals, "signal", "signals")),
        );
    }
    line
}

/// Fields of packets that were over their limit, and what came of it.
fn shortenings(looked: &Looked, width: usize) -> Vec<Line> {
    let records = looked.records.iter();
    let overruns = records
        .filter(|(_, record)| matches!(record.event.kind, EventKind::TokenBudgetOverrun { .. }));
    overruns
        .map(|(episode, record)| {
            let said = format!("{episode} {}", chronicle::words(&record.event.kind));
            Line::new()
                .with(Tone::Faint, "packet  ")
                .with(Tone::Odd, said)
                .clipped(width)
        })
        .collect()
}

fn refusals(story: &Story, width: usize) -> Vec<Line> {
    let refused = story.chapters.iter().flat_map(|(id, chapter)| {
        let refusals = chapter.refusals.iter();
        refusals.map(move |(ask, reason)| format!("{id} {ask} {}", safe(&reason.to_string())))
    });
    refused
        .map(|text| {
            Line::new()
                .with(Tone::Faint, "refused ")
                .with(Tone::Odd, text)
                .clipped(width)
        })
        .collect()
}
