//! A run as plain lines: one for each change that matters.

use std::collections::BTreeMap;

use fathom_core::id::EpisodeId;
use fathom_core::unit::Timestamp;
use fathom_host::view::run::{EpisodeState, EpisodeView, RunView};

use crate::settings::models::shown;
use crate::view::council;
use crate::view::tree::{TreeTime, retry};
use crate::view::units;

/// State of each episode that was already printed.
#[derive(Default)]
pub(crate) struct ChangePrinter {
    told: BTreeMap<EpisodeId, PrintedState>,
}

#[derive(Default)]
struct PrintedState {
    retries: u32,
    is_over: bool,
}

impl ChangePrinter {
    /// Changes since the last call.
    pub(crate) fn since_last(
        &mut self,
        short: &str,
        story: &RunView,
        now: Timestamp,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        for (id, chapter) in &story.chapters {
            let name = if id.is_root() {
                short.to_owned()
            } else {
                format!("{short} {id}")
            };
            if !self.told.contains_key(id) {
                let seat = council::path(chapter);
                lines.push(format!(
                    "{name}  started {} with {}",
                    seat.as_deref().unwrap_or_else(|| chapter.label()),
                    shown(chapter.model())
                ));
            }
            let told = self.told.entry(id.clone()).or_default();
            if chapter.retries > told.retries {
                told.retries = chapter.retries;
                if let EpisodeState::Retrying { at, attempt, kind } = &chapter.state {
                    let moment = TreeTime::Live { now, frame: 0 };
                    let retry = retry(*at, *attempt, &kind.to_string(), moment);
                    lines.push(format!("{name}  {retry}"));
                } else {
                    lines.push(format!("{name}  retried"));
                }
            }
            if !told.is_over
                && let Some(end) = end(chapter)
            {
                told.is_over = true;
                lines.push(format!("{name}  {end}"));
            }
        }
        lines
    }
}

fn end(chapter: &EpisodeView) -> Option<String> {
    let EpisodeState::Finished(status) = chapter.state else {
        return None;
    };
    let took = format!(
        "{} tokens  {}  {}",
        units::count(chapter.spent.tokens),
        units::cost(chapter.spent.money),
        units::span(chapter.last.since(chapter.began))
    );
    if let Some(path) = council::path(chapter)
        && let Some(seat) = council::seat_report(chapter)
    {
        let (_, said) = council::said(&seat);
        return Some(format!("{path} {said}  {took}"));
    }
    let why = match &chapter.result {
        Some(result) if status != fathom_core::episode::result::EpisodeStatus::Ok => {
            format!(": {}", result.stop_reason)
        }
        _ => String::new(),
    };
    Some(format!("finished {status}{why}  {took}"))
}

#[cfg(test)]
#[path = "change_lines_tests.rs"]
mod tests;
