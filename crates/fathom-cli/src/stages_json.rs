//! What a run of `stages` showed: its blocks, filtered, with the channels they go to.

use fathom_core::marker::Marker;
use fathom_core::packet::Risk;
use fathom_core::programs::stages::{self, CommandNote, VoteNote};
use fathom_host::story::{Chapter, Story};
use fathom_output::matrix::Matrix;
use fathom_output::redact::{Redactor, Rules};
use serde::Serialize;

use crate::figures::many;
use crate::line::{Line, Tone};
use crate::plain_text::one_line;

/// Keys of the result of `think`.
#[derive(Debug, Serialize)]
pub(crate) struct StagesJson {
    pub(crate) blocks: Vec<BlockJson>,
    risk_level: Risk,
    confidence: Option<f64>,
    interrupts: u32,
    verified: Option<bool>,
    votes: Vec<VoteNote>,
    commands: Vec<CommandNote>,
}

/// A block and where it goes.
#[derive(Debug, Serialize)]
pub(crate) struct BlockJson {
    pub(crate) marker: String,
    pub(crate) text: String,
    pub(crate) channels: Vec<String>,
}

/// What the root of a run of `stages` left beside its answer.
pub(crate) fn of(root: &Chapter) -> Option<StagesJson> {
    if root.started.program.name != stages::NAME {
        return None;
    }
    let report = root
        .result
        .as_ref()
        .and_then(|result| result.report.as_ref());
    let report =
        report.and_then(|report| serde_json::from_str::<stages::Report>(report.as_str()).ok());
    let report = report.unwrap_or_default();
    // Without rules nothing leaves.
    let redactor = Rules::builtin()
        .and_then(|rules| Redactor::new(&rules, None))
        .ok();
    let clean = |text: &str| {
        let redacted = redactor.as_ref().map(|redactor| redactor.redact(text).text);
        redacted.unwrap_or_default()
    };
    let matrix = Matrix::default();
    let channels = |marker: &str| {
        let routes = Marker::from_name(marker).map(|marker| matrix.routes(marker));
        let routes = routes.unwrap_or_default().iter();
        routes.map(|route| route.channel.to_string()).collect()
    };
    Some(StagesJson {
        blocks: report
            .blocks
            .iter()
            .map(|block| BlockJson {
                marker: block.marker.clone(),
                text: clean(&block.text),
                channels: channels(&block.marker),
            })
            .collect(),
        risk_level: report.risk_level,
        confidence: report
            .confidence_milli
            .map(|milli| f64::from(milli) / 1000.0),
        interrupts: report.interrupts,
        verified: report.verified,
        votes: report.votes,
        commands: report.commands,
    })
}

/// The blocks of a run of `stages` as a person reads them, each with where it goes; nothing for any other run.
pub(crate) fn lines(story: &Story, width: usize) -> Vec<Line> {
    let Some(shown) = story.root().and_then(of) else {
        return Vec::new();
    };
    let mut lines = vec![Line::new()];
    for block in &shown.blocks {
        let marker = format!("{:<13}", block.marker);
        let place = format!("→ {}  ", block.channels.join(", "));
        lines.push(
            Line::new()
                .with(Tone::Strong, marker)
                .with(Tone::Faint, place)
                .with(Tone::Plain, one_line(&block.text))
                .clipped(width),
        );
    }
    let mut words = vec![format!("risk {}", risk(shown.risk_level))];
    words.extend(shown.confidence.map(|sure| format!("confidence {sure:.2}")));
    if shown.interrupts > 0 {
        words.push(many(shown.interrupts.into(), "interrupt", "interrupts"));
    }
    words.extend(shown.votes.iter().map(|vote| one_line(&vote.ruling)));
    lines.push(
        Line::new()
            .with(Tone::Faint, words.join("   "))
            .clipped(width),
    );
    lines
}

const fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Med => "med",
        Risk::High => "high",
    }
}
