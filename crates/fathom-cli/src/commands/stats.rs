//! `fathom stats`: figures over the runs of the last days, and over the councils among them.

use std::collections::BTreeMap;

use fathom_core::id::RunId;
use fathom_core::unit::{Millis, Nanodollars};
use fathom_host::view::council_stats::{CouncilStats, PastCouncil};
use fathom_host::view::run::RunView;
use fathom_store::RunQuery;
use serde::Serialize;

use crate::app::App;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::OutputFormat;
use crate::terminal::output;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::episode_json::{RunOwnership, run_status};
use crate::view::phases;
use crate::view::result_json::phases_report;
use crate::view::units::{self, many};

pub(super) const DAY_MS: u64 = 86_400_000;

/// Feedback that is shown to a person.
const FEEDBACK_SHOWN_MAX: usize = 5;

/// Totals over runs.
#[derive(Debug, Default)]
struct RunStats {
    runs: u64,
    by_status: BTreeMap<String, u64>,
    episodes: u64,
    model_calls: u64,
    retries: u64,
    refusals: u64,
    overruns: u64,
    resumes: u64,
    tokens: u64,
    money: Nanodollars,
    latencies: Vec<Millis>,
    /// The newest first.
    councils: Vec<PastCouncil>,
    /// Feedback of phase loops to their operators, newest first, each with its run.
    feedback: Vec<(RunId, String)>,
}

#[derive(Serialize)]
struct StatsJson<'a> {
    days: u32,
    runs: u64,
    by_status: BTreeMap<String, u64>,
    episodes: u64,
    model_calls: u64,
    retries: u64,
    refusals: u64,
    overruns: u64,
    resumes: u64,
    tokens: u64,
    cost: f64,
    latency_ms: LatencyJson,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    feedback: Vec<FeedbackJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    councils: Option<&'a CouncilStats>,
}

#[derive(Serialize)]
struct FeedbackJson {
    run: RunId,
    text: String,
}

/// None when no call was answered.
#[derive(Serialize)]
struct LatencyJson {
    p50: Option<Millis>,
    p95: Option<Millis>,
}

pub(crate) fn stats(app: &App, days: u32) -> Result<ExitStatus, CliError> {
    let figures = gather(app, days)?;
    let councils = CouncilStats::of(&figures.councils);
    match app.settings.form {
        OutputFormat::Json => output::print_json(&StatsJson {
            councils: councils.as_ref(),
            ..figures.json(days)
        })?,
        OutputFormat::Human => {
            let mut lines = figures.lines(days);
            if let Some(councils) = &councils {
                lines.extend(crate::view::council_stats::lines(
                    councils,
                    output::stdout_columns(),
                ));
            }
            output::print(&lines)?;
        }
    }
    Ok(ExitStatus::Ok)
}

fn gather(app: &App, days: u32) -> Result<RunStats, CliError> {
    let span = Millis(u64::from(days).saturating_mul(DAY_MS));
    let mut figures = RunStats::default();
    let now = app.now();
    for info in app.runtime.runs(RunQuery::LIMIT_MAX)? {
        if now.since(info.created_at) > span {
            // They come newest first.
            break;
        }
        let ownership = if !info.state.is_finished() && app.runtime.is_owned(info.run) {
            RunOwnership::Owned
        } else {
            RunOwnership::Free
        };
        // A run that cannot be read counts, without its figures.
        let story = app.runtime.story(info.run).unwrap_or_default();
        figures.add(run_status(info.state, ownership), &story);
        figures.councils.extend(PastCouncil::of(&story));
        if let Some(report) = story.root().and_then(phases_report) {
            let said = phases::feedback(&report).map(|text| (info.run, text));
            figures.feedback.extend(said);
        }
    }
    figures.latencies.sort_unstable();
    Ok(figures)
}

impl RunStats {
    fn add(&mut self, status: String, story: &RunView) {
        self.runs += 1;
        *self.by_status.entry(status).or_default() += 1;
        self.resumes += story.root().map_or(0, |root| u64::from(root.resumes));
        let spent = story.spent();
        self.tokens += spent.tokens;
        self.money.0 = self.money.0.saturating_add(spent.money.0);
        for chapter in story.chapters.values() {
            self.episodes += 1;
            self.model_calls += chapter.latencies.len() as u64;
            self.retries += u64::from(chapter.retries);
            self.refusals += chapter.refusals.len() as u64;
            self.overruns += u64::from(chapter.overruns);
            self.latencies.extend(&chapter.latencies);
        }
    }

    /// The latency that `percent` of the answered calls stayed within.
    fn latency(&self, percent: usize) -> Option<Millis> {
        // Nearest rank: the figure is a latency that was measured, not one in between.
        let rank = (self.latencies.len() * percent).div_ceil(100);
        self.latencies.get(rank.checked_sub(1)?).copied()
    }

    fn json<'a>(&self, days: u32) -> StatsJson<'a> {
        StatsJson {
            days,
            latency_ms: LatencyJson {
                p50: self.latency(50),
                p95: self.latency(95),
            },
            runs: self.runs,
            by_status: self.by_status.clone(),
            episodes: self.episodes,
            model_calls: self.model_calls,
            retries: self.retries,
            refusals: self.refusals,
            overruns: self.overruns,
            resumes: self.resumes,
            tokens: self.tokens,
            cost: units::dollars(self.money),
            feedback: self
                .feedback
                .iter()
                .map(|(run, text)| FeedbackJson {
                    run: *run,
                    text: text.clone(),
                })
                .collect(),
            councils: None,
        }
    }

    fn lines(&self, days: u32) -> Vec<StyledLine> {
        let line = |name: &str, text: String| {
            StyledLine::new()
                .with(LineStyle::Faint, format!("{name:<9}"))
                .with(LineStyle::Plain, text)
        };
        let statuses: Vec<String> = self
            .by_status
            .iter()
            .map(|(status, count)| format!("{status} {}", units::count(*count)))
            .collect();
        let latency = |percent| {
            self.latency(percent)
                .map_or_else(|| "–".to_owned(), units::latency)
        };
        let mut lines = vec![
            line(
                "runs",
                format!(
                    "{} in {}   {}",
                    units::count(self.runs),
                    many(u64::from(days), "day", "days"),
                    statuses.join("   ")
                ),
            ),
            line(
                "calls",
                format!(
                    "{}   {}   {}   {}",
                    units::count(self.model_calls),
                    many(self.retries, "retry", "retries"),
                    many(self.refusals, "refusal", "refusals"),
                    many(self.overruns, "overrun", "overruns"),
                ),
            ),
            line(
                "latency",
                format!("p50 {}   p95 {}", latency(50), latency(95)),
            ),
            line(
                "used",
                format!(
                    "{} tokens   {}   {}",
                    units::count(self.tokens),
                    units::cost(self.money),
                    many(self.episodes, "episode", "episodes"),
                ),
            ),
            line("resumes", units::count(self.resumes)),
        ];
        let shown = self.feedback.iter().take(FEEDBACK_SHOWN_MAX);
        lines.extend(shown.map(|(_, text)| line("feedback", text.clone())));
        let more = self.feedback.len().saturating_sub(FEEDBACK_SHOWN_MAX);
        if more > 0 {
            lines.push(line(
                "",
                format!(
                    "and {} more; use `--json` for all",
                    units::count(more as u64)
                ),
            ));
        }
        lines
    }
}

#[cfg(test)]
#[path = "samples_tests.rs"]
pub(crate) mod samples;

#[cfg(test)]
#[path = "stats_tests.rs"]
mod tests;
