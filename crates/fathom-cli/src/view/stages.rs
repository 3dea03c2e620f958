//! What a run of `stages` showed: its blocks, filtered, with the channels they go to.

use fathom_core::channel::delivery::{ChannelDelivery, DeliveryState};
use fathom_core::channel::marker::Marker;
use fathom_core::packet::PacketRisk;
use fathom_host::view::deliveries::DeliveredBlock;
use fathom_host::view::run::{EpisodeView, RunView};
use fathom_programs::stages::{self, StagesReport};

use crate::terminal::masking::masked;
use crate::terminal::plain_text::one_line;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units::many;

/// Most lines of a block that are shown; the record has all of them.
const ROWS_MAX: usize = 12;

/// What the root of a run of `stages` left beside its answer.
fn report(root: &EpisodeView) -> Option<StagesReport> {
    if !is_stages(root) {
        return None;
    }
    let report = root.result.as_ref()?.report.as_ref();
    let report = report.and_then(|report| serde_json::from_str(report.as_str()).ok());
    Some(report.unwrap_or_default())
}

/// The blocks of a run of `stages` as a person reads them, each with where it goes; nothing for any other run.
pub(crate) fn lines(story: &RunView, width: usize) -> Vec<StyledLine> {
    let Some(root) = story.root().filter(|root| is_stages(root)) else {
        return Vec::new();
    };
    let blocks = root.spoken.iter();
    let mut lines = vec![StyledLine::new()];
    lines.extend(blocks.flat_map(|block| block_lines(block, width)));
    lines.extend(summary(story, width));
    lines
}

/// A block: its head, and its text but for an answer, which is shown by itself.
pub(crate) fn block_lines(block: &DeliveredBlock, width: usize) -> Vec<StyledLine> {
    let mut head = StyledLine::new()
        .with(LineStyle::Busy, "▸ ")
        .with(LineStyle::Strong, block.marker.as_str());
    for (number, way) in block.to.iter().enumerate() {
        let before = if number == 0 { " → " } else { ", " };
        head.push(LineStyle::Faint, before);
        head.push(LineStyle::Plain, way.channel.as_str());
        if way.log {
            head.push(LineStyle::Faint, " log");
        }
        let notes = block.deliveries.iter().flatten();
        if let Some(note) = notes.into_iter().find(|note| note.channel == way.channel)
            && let Some(word) = trouble(note)
        {
            head.push(LineStyle::Odd, format!(" ({word})"));
        }
    }
    let mut lines = vec![head.clipped(width)];
    if block.marker == Marker::Response {
        return lines;
    }
    let text = masked(&block.text);
    let mut rows = text.lines().filter(|row| !row.trim().is_empty());
    for row in rows.by_ref().take(ROWS_MAX) {
        let row = format!("    {}", one_line(row));
        lines.push(StyledLine::new().with(LineStyle::Plain, row).clipped(width));
    }
    let more = rows.count() as u64;
    if more > 0 {
        let more = many(more, "line more", "lines more");
        lines.push(StyledLine::new().with(LineStyle::Faint, format!("    … {more}")));
    }
    lines
}

/// What a reader should know of a delivery that is not simply there.
fn trouble(note: &ChannelDelivery) -> Option<String> {
    let word = match note.state {
        DeliveryState::Delivered => return None,
        DeliveryState::Absent => "not configured",
        DeliveryState::Failed => "failed",
        DeliveryState::Unknown => "delivery unknown",
    };
    let detail = note.detail.as_deref().map(one_line);
    Some(detail.map_or_else(|| word.to_owned(), |detail| format!("{word}: {detail}")))
}

/// How it went, in one line; nothing for a run of another program, or one that is not over.
pub(crate) fn summary(story: &RunView, width: usize) -> Option<StyledLine> {
    let root = story.root().filter(|root| root.result.is_some())?;
    let shown = report(root)?;
    let mut words = vec![format!("risk {}", risk(shown.risk_level))];
    let sure = shown
        .confidence_milli
        .map(|milli| f64::from(milli) / 1000.0);
    words.extend(sure.map(|sure| format!("confidence {sure:.2}")));
    if shown.interrupts > 0 {
        words.push(many(shown.interrupts.into(), "interrupt", "interrupts"));
    }
    words.extend(shown.votes.iter().map(|vote| one_line(&vote.ruling)));
    let line = StyledLine::new().with(LineStyle::Faint, words.join("   "));
    Some(line.clipped(width))
}

fn is_stages(root: &EpisodeView) -> bool {
    root.started.program.name == stages::NAME
}

const fn risk(risk: PacketRisk) -> &'static str {
    match risk {
        PacketRisk::Low => "low",
        PacketRisk::Med => "med",
        PacketRisk::High => "high",
    }
}
