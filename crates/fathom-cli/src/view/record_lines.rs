//! Records as lines: place, time, name and a few words.

use std::collections::BTreeMap;

use fathom_core::id::EpisodeId;
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, JournalRecord, ModelCallOutcome, Signal};
use fathom_core::sandbox::{CellCall, CellQuestion};
use fathom_core::text::Text;
use fathom_core::unit::Timestamp;

use crate::terminal::masking::masked;
use crate::terminal::plain_text::{one_line, pad, pad_front};
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units;

/// Longest text of a record that is shown before the line is cut.
const TEXT_CHARS_MAX: usize = 400;

/// A record on one line.
pub(crate) fn line(
    episode: &EpisodeId,
    record: &JournalRecord,
    began: Timestamp,
    width: usize,
) -> StyledLine {
    let place = format!("{episode}:{}", record.seq);
    let offset = units::span(record.event.at.since(began));
    let mut line = StyledLine::new()
        .with(LineStyle::Plain, pad(&place, 8))
        .with(
            LineStyle::Faint,
            format!("{}  ", pad_front(&format!("+{offset}"), 9)),
        )
        .with(LineStyle::Strong, pad(record.event.kind.name(), 14))
        .with(LineStyle::Plain, " ")
        .with(LineStyle::Plain, short(&words(&record.event.kind)));
    let commands: Vec<&str> = record.commands.iter().map(name).collect();
    if !commands.is_empty() {
        line.push(LineStyle::Faint, format!("  → {}", commands.join(", ")));
    }
    line.clipped(width)
}

fn short(text: &str) -> String {
    let head: String = masked(text).chars().take(TEXT_CHARS_MAX).collect();
    one_line(&head)
}

/// Summary of a record in a few words.
pub(crate) fn words(event: &EventKind) -> String {
    match event {
        EventKind::Started(started) => quoted(&started.goal),
        EventKind::Resumed | EventKind::Tick => String::new(),
        EventKind::Released { why } => format!("{why:?}").to_lowercase(),
        EventKind::Measured { ask, measured, .. } => {
            format!("{ask} {} tokens", measured.input_tokens)
        }
        EventKind::Summarised { ask, text, .. }
        | EventKind::DomainAnswered { ask, answer: text } => {
            format!("{ask} {}", quoted(text))
        }
        // A value may go over several of them, so that none of them can be filtered by itself.
        EventKind::ModelDelta { ask, text, .. } => {
            let characters = text.as_str().chars().count() as u64;
            format!(
                "{ask} {}",
                units::many(characters, "character", "characters")
            )
        }
        EventKind::ModelReplied {
            ask,
            attempt,
            outcome,
            ..
        } => {
            let tries = if *attempt > 1 {
                format!(" attempt {attempt}")
            } else {
                String::new()
            };
            match outcome {
                ModelCallOutcome::Replied(reply) => format!(
                    "{ask}{tries} {} in {}",
                    quoted(&reply.text),
                    units::latency(reply.latency)
                ),
                ModelCallOutcome::Failed(failure) => format!("{ask}{tries} {failure}"),
            }
        }
        EventKind::ChildFinished { child, result, .. } => format!("{child} {}", result.status),
        EventKind::CellYielded { ask, question } => format!("{ask} {}", asked(question)),
        EventKind::CellFinished { ask, end } => {
            let how = end.error.as_ref().map_or("done", |error| error.kind.name());
            match &end.submitted {
                Some(value) => format!("{ask} {how}, submitted {}", quoted(&value.text)),
                None => format!("{ask} {how} {}", quoted(&end.output.head)),
            }
        }
        EventKind::EffectDecided { ask, decision, .. } => format!("{ask} {decision:?}"),
        EventKind::EffectSettled { ask, outcome, .. } => format!("{ask} {outcome:?}"),
        EventKind::Signal(signal) => match signal {
            Signal::Cancel => "cancel".to_owned(),
            Signal::Kill { scope } => format!("kill {scope}"),
            Signal::Lift { scope } => format!("lift {scope}"),
            Signal::Decide { ask, allow, by, .. } => {
                let word = if *allow { "allowed" } else { "denied" };
                format!("{ask} {word} by {by}")
            }
        },
        EventKind::Refused { ask, reason } => format!("{ask} {reason}"),
        EventKind::Overrun {
            ask,
            dimension,
            reserved,
            used,
        } => format!("{ask} {dimension}: {used} used, {reserved} reserved"),
        EventKind::TokenBudgetOverrun {
            ask,
            field,
            by,
            limit,
            before,
            after,
        } => {
            let after = match after {
                Some(after) if after <= limit => format!("{by} shortened it to {after}"),
                Some(after) => format!("{by} shortened it to {after}, still too long"),
                None => format!("{by} could not shorten it"),
            };
            format!("{ask} {field}: {before} tokens, limit {limit}, {after}")
        }
        EventKind::Forfeited { amounts } => {
            format!("{} tokens, {}", amounts.tokens, units::cost(amounts.money))
        }
    }
}

/// A question of a cell in a few words.
fn asked(question: &CellQuestion) -> String {
    match &question.call {
        CellCall::Query { prompts, .. } => match prompts.as_slice() {
            [one] => quoted(one),
            many => format!("{} prompts", many.len()),
        },
        CellCall::Recurse { tasks } => match tasks.as_slice() {
            [one] => format!("child for {}", quoted(&one.goal)),
            many => format!("{} children", many.len()),
        },
        CellCall::Budget => "budget query".to_owned(),
    }
}

fn quoted(text: &Text) -> String {
    if text.is_closed() {
        "(shredded)".to_owned()
    } else {
        format!("“{}”", text.as_str())
    }
}

/// A command's name, as the journal writes it.
pub(crate) const fn name(command: &Command) -> &'static str {
    match command {
        Command::Measure { .. } => "measure",
        Command::Summarise { .. } => "summarise",
        Command::Lease { .. } => "lease",
        Command::CallModel { .. } => "call_model",
        Command::CancelCall { .. } => "cancel_call",
        Command::Spawn { .. } => "spawn",
        Command::SignalChild { .. } => "signal_child",
        Command::RunCell { .. } => "run_cell",
        Command::AnswerCell { .. } => "answer_cell",
        Command::Propose { .. } => "propose",
        Command::Attempt { .. } => "attempt",
        Command::Reconcile { .. } => "reconcile",
        Command::Domain { .. } => "domain",
        Command::Emit { .. } => "emit",
        Command::Await { .. } => "await",
        Command::Refuse { .. } => "refuse",
        Command::ReportOverrun { .. } => "report_overrun",
        Command::ReportShortening { .. } => "report_shortening",
        Command::ReportForfeit { .. } => "report_forfeit",
        Command::Finish { .. } => "finish",
        Command::Post { .. } => "post",
    }
}

/// Tells records as they come; what streams and ticks is left out, there is too much of it.
#[derive(Default)]
pub(crate) struct RecordPrinter {
    told: BTreeMap<EpisodeId, u64>,
}

impl RecordPrinter {
    /// The lines of those records that were not told before.
    pub(crate) fn news(
        &mut self,
        records: &[(EpisodeId, JournalRecord)],
        width: usize,
    ) -> Vec<StyledLine> {
        let Some(began) = records.first().map(|(_, record)| record.event.at) else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        for (episode, record) in records {
            let told = self.told.entry(episode.clone()).or_default();
            if record.seq.0 < *told {
                continue;
            }
            *told = record.seq.0 + 1;
            if !matches!(
                record.event.kind,
                EventKind::ModelDelta { .. } | EventKind::Tick
            ) {
                lines.push(line(episode, record, began, width));
            }
        }
        lines
    }
}

#[cfg(test)]
#[path = "record_lines_tests.rs"]
mod tests;
