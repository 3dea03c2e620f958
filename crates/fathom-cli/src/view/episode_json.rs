//! A run's episodes and records as a program reads them.

use fathom_core::contract::stop::Refusal;
use fathom_core::episode::result::EpisodeResult;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::event::{JournalRecord, ReleaseReason};
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use fathom_host::view::run::{EpisodeState, EpisodeView, RunView};
use fathom_store::RunState;
use serde::Serialize;
use serde_json::Value;

use crate::terminal::plain_text::one_line;
use crate::view::budget;
use crate::view::record_lines;
use crate::view::result_json::{BudgetJson, answer, opened, stop};
use crate::view::tree::TreeTime;
use crate::view::units;

/// An episode with its children.
#[derive(Debug, Serialize)]
pub(crate) struct EpisodeJson {
    id: EpisodeId,
    label: String,
    program: String,
    role: Value,
    goal: Option<String>,
    depth: u8,
    model: String,
    status: String,
    stop_reason: Option<String>,
    stop_detail: Option<Value>,
    summary: Vec<String>,
    answer: Option<String>,
    decisions: Vec<fathom_core::episode::result::Decision>,
    started_at: String,
    elapsed_ms: u64,
    budget: BudgetJson,
    model_calls: usize,
    latencies_ms: Vec<Millis>,
    retries: u32,
    overruns: u32,
    resumes: u32,
    refusals: Vec<RefusalJson>,
    records: u64,
    children: Vec<EpisodeJson>,
}

#[derive(Debug, Serialize)]
struct RefusalJson {
    ask: AskId,
    reason: Refusal,
    text: String,
}

/// The tree from `id` down. It is at most as deep as a run may be.
pub(crate) fn tree(story: &RunView, id: &EpisodeId) -> Option<EpisodeJson> {
    let chapter = story.chapters.get(id)?;
    let result = chapter.result.as_ref().map(opened);
    let stopped = result.as_ref().map(|result| stop(&result.stop_reason));
    let (stop_reason, stop_detail) = stopped.unzip();
    Some(EpisodeJson {
        id: id.clone(),
        label: chapter.label().to_owned(),
        program: chapter.started.program.name.clone(),
        role: serde_json::to_value(chapter.started.role).unwrap_or_default(),
        goal: readable(&chapter.started.goal),
        depth: chapter.started.depth,
        model: chapter.model().to_owned(),
        status: status(&chapter.state),
        stop_reason,
        stop_detail: stop_detail.flatten(),
        summary: result.as_ref().map_or_else(Vec::new, summary),
        answer: result.as_ref().and_then(answer),
        decisions: result.map_or_else(Vec::new, |result| result.decisions),
        started_at: units::moment(chapter.began),
        elapsed_ms: chapter.last.since(chapter.began).0,
        budget: BudgetJson::from(&used(story, id, chapter)),
        model_calls: chapter.latencies.len(),
        latencies_ms: chapter.latencies.clone(),
        retries: chapter.retries,
        overruns: chapter.overruns,
        resumes: chapter.resumes,
        refusals: chapter.refusals.iter().map(refusal).collect(),
        records: chapter.records,
        children: story
            .children(id)
            .filter_map(|(child, _)| tree(story, child))
            .collect(),
    })
}

fn used(
    story: &RunView,
    id: &EpisodeId,
    chapter: &EpisodeView,
) -> fathom_core::episode::result::BudgetUse {
    let of_root = id
        .is_root()
        .then(|| budget::of(story, TreeTime::Rest))
        .flatten();
    of_root
        .or_else(|| chapter.result.as_ref().map(|result| result.budget))
        .unwrap_or_else(|| {
            let limit = chapter.budget();
            fathom_core::episode::result::BudgetUse {
                limit: limit.amounts,
                spent: chapter.spent,
                time_limit: limit.time,
                time_spent: chapter.last.since(chapter.began),
            }
        })
}

fn summary(result: &EpisodeResult) -> Vec<String> {
    result.summary.lines().map(str::to_owned).collect()
}

fn refusal((ask, reason): &(AskId, Refusal)) -> RefusalJson {
    RefusalJson {
        ask: *ask,
        reason: reason.clone(),
        text: reason.to_string(),
    }
}

/// A text; none when its content is gone.
pub(crate) fn readable(text: &Text) -> Option<String> {
    (!text.is_closed()).then(|| text.as_str().to_owned())
}

fn status(state: &EpisodeState) -> String {
    match state {
        EpisodeState::Working
        | EpisodeState::Calling { .. }
        | EpisodeState::Retrying { .. }
        | EpisodeState::Children { .. }
        | EpisodeState::Computing { .. } => "unfinished".to_owned(),
        EpisodeState::AwaitingApproval => departed(ReleaseReason::AwaitingApproval).to_owned(),
        EpisodeState::Outage { .. } => departed(ReleaseReason::Outage).to_owned(),
        EpisodeState::Released(why) => departed(*why).to_owned(),
        EpisodeState::Finished(status) => status.to_string(),
    }
}

const fn departed(why: ReleaseReason) -> &'static str {
    match why {
        ReleaseReason::Interrupted => "interrupted",
        ReleaseReason::AwaitingApproval => "awaiting_approval",
        ReleaseReason::Outage => "outage",
    }
}

/// Whether a process works on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunOwnership {
    Owned,
    Free,
}

/// How a run stands, in one word.
pub(crate) fn run_status(state: RunState, ownership: RunOwnership) -> String {
    match (state, ownership) {
        (RunState::Finished(status), _) => status.to_string(),
        (RunState::Running | RunState::Released(_), RunOwnership::Owned) => "running".to_owned(),
        (RunState::Running, RunOwnership::Free) => "unfinished".to_owned(),
        (RunState::Released(why), RunOwnership::Free) => departed(why).to_owned(),
    }
}

/// A record in short.
#[derive(Debug, Serialize)]
pub(crate) struct RecordJson {
    episode: EpisodeId,
    seq: u64,
    at_ms: u64,
    event: &'static str,
    text: String,
    commands: Vec<&'static str>,
}

/// A record in short.
pub(crate) fn record(episode: &EpisodeId, record: &JournalRecord) -> RecordJson {
    RecordJson {
        episode: episode.clone(),
        seq: record.seq.0,
        at_ms: record.event.at.0,
        event: record.event.kind.name(),
        text: one_line(&record_lines::words(&record.event.kind)),
        commands: record.commands.iter().map(record_lines::name).collect(),
    }
}
