//! The result object of the contract: the same keys for every program, always all of them.

use fathom_core::contract::stop::StopReason;
use fathom_core::episode::result::{BudgetUse, Decision, EpisodeResult, EpisodeStatus, NextAction};
use fathom_core::id::RunId;
use fathom_core::text::{Text, VisitTexts};
use fathom_host::programs::{ProgramRegistry, ResultKeys, ResultSource};
use fathom_host::view::run::{EpisodeView, RunView};
use fathom_programs::phases;
use serde::Serialize;
use serde_json::Value;

use crate::terminal::masking::masked;
use crate::view::approval::ApprovalJson;
use crate::view::budget;
use crate::view::tree::TreeTime;
use crate::view::units;

/// What a run came to.
#[derive(Debug, Serialize)]
pub(crate) struct ResultJson {
    run: RunId,
    program: String,
    status: EpisodeStatus,
    stop_reason: String,
    /// What the stop reason says beyond its name, as the dimension that ran out.
    stop_detail: Option<Value>,
    summary: String,
    answer: Option<String>,
    artifacts_created: Vec<Text>,
    decisions: Vec<Decision>,
    verification_needed: bool,
    next_actions: Vec<NextAction>,
    budget: BudgetJson,
    episodes: usize,
    depth: usize,
    model_calls: usize,
    elapsed_ms: u64,
    warnings: Vec<String>,
    model: String,
    /// What a run that waits asks of people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    approvals: Vec<ApprovalJson>,
    /// What the program says beyond the common keys.
    #[serde(flatten)]
    own: ResultKeys,
}

impl ResultJson {
    /// The same result with what is asked of people.
    pub(crate) fn asking(mut self, approvals: Vec<ApprovalJson>) -> Self {
        self.approvals = approvals;
        self
    }
}

/// What the root of a `phases` run left beside its answer.
pub(crate) fn phases_report(root: &EpisodeView) -> Option<phases::PhasesReport> {
    if root.started.program.name != phases::NAME {
        return None;
    }
    let report = root
        .result
        .as_ref()
        .and_then(|result| result.report.as_ref());
    let report = report.and_then(|report| serde_json::from_str(report.as_str()).ok());
    Some(report.unwrap_or_default())
}

/// What a run might use and used.
#[derive(Debug, Serialize)]
pub(crate) struct BudgetJson {
    tokens: BudgetFigures<u64>,
    calls: BudgetFigures<u64>,
    tools: BudgetFigures<u64>,
    /// In milliseconds.
    time: BudgetFigures<u64>,
    /// In dollars.
    cost: BudgetFigures<f64>,
    episodes: BudgetFigures<u64>,
}

#[derive(Debug, Serialize)]
struct BudgetFigures<T> {
    limit: T,
    spent: T,
}

impl From<&BudgetUse> for BudgetJson {
    fn from(used: &BudgetUse) -> Self {
        let BudgetUse {
            limit,
            spent,
            time_limit,
            time_spent,
        } = used;
        let figures = |limit, spent| BudgetFigures { limit, spent };
        Self {
            tokens: figures(limit.tokens, spent.tokens),
            calls: figures(limit.calls, spent.calls),
            tools: figures(limit.tools, spent.tools),
            time: figures(time_limit.0, time_spent.0),
            cost: BudgetFigures {
                limit: units::dollars(limit.money),
                spent: units::dollars(spent.money),
            },
            episodes: figures(limit.episodes, spent.episodes),
        }
    }
}

/// What an unfinished run stands for in a result: it waits for a person.
const SUSPENDED: &str = "awaiting_approval";

/// The result of a run: of a finished one what it left, of a suspended one what is known so far.
pub(crate) fn of(run: RunId, story: &RunView, warnings: Vec<String>) -> Option<ResultJson> {
    of_program(run, story, warnings, None)
}

/// The same with the keys of `program`; of the run's own where none is named.
pub(crate) fn of_program(
    run: RunId,
    story: &RunView,
    mut warnings: Vec<String>,
    program: Option<&str>,
) -> Option<ResultJson> {
    let root = story.root()?;
    let source = ResultSource {
        story,
        mask: &|text| masked(text).into_owned(),
    };
    warnings.extend(noticed(story));
    let used = budget::of(story, TreeTime::Rest)?;
    let result = root.result.as_ref().map(opened);
    let (stop_reason, stop_detail) = match &result {
        Some(result) => stop(&result.stop_reason),
        None => (SUSPENDED.to_owned(), None),
    };
    let known = result.as_ref();
    Some(ResultJson {
        run,
        program: root.started.program.name.clone(),
        status: known.map_or(EpisodeStatus::NeedsReview, |result| result.status),
        stop_reason,
        stop_detail,
        summary: known.map_or_else(String::new, summary),
        answer: known.and_then(answer),
        artifacts_created: known.map_or_else(Vec::new, |known| known.artifacts_created.clone()),
        decisions: known.map_or_else(Vec::new, |known| known.decisions.clone()),
        verification_needed: known.is_some_and(|known| known.verification_needed),
        next_actions: known.map_or_else(Vec::new, |known| known.next_actions.clone()),
        budget: BudgetJson::from(&used),
        episodes: story.chapters.len(),
        depth: story.depth(),
        model_calls: story.model_calls(),
        elapsed_ms: story.elapsed().0,
        warnings,
        model: root.model().to_owned(),
        approvals: Vec::new(),
        own: ProgramRegistry::built_in().result(program, &source),
    })
}

/// The result with its texts as texts: a sealed one would be written as its address.
pub(crate) fn opened(result: &EpisodeResult) -> EpisodeResult {
    let mut result = result.clone();
    result.each_text(&mut Text::unseal);
    result
}

fn summary(result: &EpisodeResult) -> String {
    let lines: Vec<&str> = result.summary.lines().collect();
    lines.join("\n")
}

/// The answer; none when there is none or its content is gone.
pub(crate) fn answer(result: &EpisodeResult) -> Option<String> {
    let answer = result.answer.as_ref()?;
    (!answer.is_closed()).then(|| answer.as_str().to_owned())
}

/// A stop reason's name, and what it says beyond that.
pub(crate) fn stop(reason: &StopReason) -> (String, Option<Value>) {
    let Ok(Value::Object(mut parts)) = serde_json::to_value(reason) else {
        return (reason.to_string(), None);
    };
    let name = match parts.remove("kind") {
        Some(Value::String(name)) => name,
        _ => reason.to_string(),
    };
    let detail = (!parts.is_empty()).then_some(Value::Object(parts));
    (name, detail)
}

/// What a reader of the result should know beside it.
fn noticed(story: &RunView) -> Vec<String> {
    let overruns: u32 = story
        .chapters
        .values()
        .map(|chapter| chapter.overruns)
        .sum();
    let overruns = (overruns > 0).then(|| {
        let calls = units::many(u64::from(overruns), "call", "calls");
        format!("{calls} used more than the amount reserved")
    });
    overruns.into_iter().collect()
}

#[cfg(test)]
#[path = "result_json_tests.rs"]
mod tests;
