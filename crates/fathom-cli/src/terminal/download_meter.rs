//! Progress of a download on stderr: a bar drawn in place on a terminal, plain lines elsewhere.

use std::io::Stderr;

use fathom_core::unit::{Millis, Timestamp};
use fathom_host::clock::{Clock as _, SystemClock};
use fathom_local::weights::InstallProgress;

use crate::settings::Verbosity;
use crate::terminal::live_area::LiveArea;
use crate::terminal::output;
use crate::terminal::plain_text::one_line;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units;

/// Shortest time between two drawings.
const REDRAW: Millis = Millis(100);
/// Columns of a bar.
const BAR_COLUMNS: u64 = 24;
/// Steps of a download that are told in a pipe.
// Without a terminal every line stays, in a log for example, so four are enough.
const STEPS: u64 = 4;

/// Shows how a download gets on.
pub(crate) struct DownloadMeter {
    way: DrawMode,
    clock: SystemClock,
    /// The present download: its name, its start, and the bytes it started from.
    since: Option<(String, Timestamp, u64)>,
    drawn_at: Timestamp,
    /// The last step that was told in a pipe.
    step: u64,
}

enum DrawMode {
    Silent,
    Plain,
    Live(LiveArea<Stderr>),
}

impl DownloadMeter {
    /// The way that fits stderr and the user's wish.
    pub(crate) fn new(loudness: Verbosity) -> Self {
        let way = if loudness == Verbosity::Quiet {
            DrawMode::Silent
        } else {
            output::painter().map_or(DrawMode::Plain, DrawMode::Live)
        };
        Self {
            way,
            clock: SystemClock::new(),
            since: None,
            drawn_at: Timestamp(0),
            step: 0,
        }
    }

    /// Shows what happened.
    pub(crate) fn show(&mut self, progress: &InstallProgress) {
        if let Some(moving) = self.moving(progress) {
            self.redraw(&moving);
            return;
        }
        self.since = None;
        self.step = 0;
        if let Some(line) = said(progress) {
            self.say(line);
        }
    }

    /// Takes away what moves.
    pub(crate) fn end(&mut self) {
        if let DrawMode::Live(painter) = &mut self.way {
            painter.end(width());
        }
        self.since = None;
    }

    /// Average speed after a step of a download.
    fn moving(&mut self, progress: &InstallProgress) -> Option<MovingAverage> {
        let (file, verb, done_bytes, total_bytes) = match progress {
            InstallProgress::Downloading {
                file,
                source,
                done_bytes,
                total_bytes,
            } => (file, format!("from {source}"), *done_bytes, *total_bytes),
            InstallProgress::Checking {
                file,
                done_bytes,
                total_bytes,
            } => (file, "checking".to_owned(), *done_bytes, *total_bytes),
            _ => return None,
        };
        let now = self.clock.now();
        let what = format!("{file} {verb}");
        if self.since.as_ref().is_none_or(|(since, ..)| *since != what) {
            // A continued download starts with bytes of an earlier one, which would inflate the rate.
            self.since = Some((what, now, done_bytes));
            self.step = 0;
        }
        let (began, from) = self
            .since
            .as_ref()
            .map_or((now, 0), |(_, began, from)| (*began, *from));
        Some(MovingAverage {
            file: file.clone(),
            verb,
            done_bytes,
            total_bytes,
            per_second: per_second(done_bytes.saturating_sub(from), now.since(began)),
        })
    }

    fn redraw(&mut self, moving: &MovingAverage) {
        match &mut self.way {
            DrawMode::Silent => {}
            DrawMode::Plain => {
                let step = moving.done_bytes * STEPS / moving.total_bytes.max(1);
                if step > self.step {
                    self.step = step;
                    output::say(&[moving.words()]);
                }
            }
            DrawMode::Live(painter) => {
                let now = self.clock.now();
                let is_whole = moving.done_bytes >= moving.total_bytes;
                if is_whole || now.since(self.drawn_at) >= REDRAW {
                    self.drawn_at = now;
                    let width = width();
                    // One column less: some terminals wrap after a character in the last one.
                    painter.draw(&[moving.bar().clipped(width.saturating_sub(1))], width);
                }
            }
        }
    }

    /// Says something that stays.
    fn say(&mut self, line: StyledLine) {
        match &mut self.way {
            DrawMode::Silent => {}
            DrawMode::Plain => output::say(&[line]),
            DrawMode::Live(painter) => painter.print(&[line], width()),
        }
    }
}

fn width() -> usize {
    output::stderr_size().map_or(80, |(width, _)| width)
}

fn per_second(bytes: u64, Millis(millis): Millis) -> Option<u64> {
    // Rates of the first moments jump by orders of magnitude.
    (millis >= 500).then(|| bytes.saturating_mul(1000) / millis)
}

/// A download at a moment.
struct MovingAverage {
    file: String,
    verb: String,
    done_bytes: u64,
    total_bytes: u64,
    per_second: Option<u64>,
}

impl MovingAverage {
    fn figures(&self) -> String {
        let rate = self.per_second.map(units::bytes);
        let rate = rate.map(|rate| format!("   {rate}/s")).unwrap_or_default();
        format!(
            "{} of {}{rate}",
            units::bytes(self.done_bytes),
            units::bytes(self.total_bytes)
        )
    }

    /// Drawn in place.
    fn bar(&self) -> StyledLine {
        let full = self.done_bytes.min(self.total_bytes) * BAR_COLUMNS / self.total_bytes.max(1);
        let full = usize::try_from(full).unwrap_or_default();
        let empty = usize::try_from(BAR_COLUMNS).unwrap_or_default() - full;
        StyledLine::new()
            .with(LineStyle::Busy, "█".repeat(full))
            .with(LineStyle::Faint, "░".repeat(empty))
            .with(LineStyle::Strong, format!("  {}", self.file))
            .with(LineStyle::Plain, format!("   {}   ", self.figures()))
            .with(LineStyle::Faint, one_line(&self.verb))
    }

    /// Told in a pipe.
    fn words(&self) -> StyledLine {
        let percent = self.done_bytes * 100 / self.total_bytes.max(1);
        let verb = one_line(&self.verb);
        StyledLine::from(format!(
            "{}: {percent} %   {}   {verb}",
            self.file,
            self.figures()
        ))
    }
}

/// Line that is printed once and stays.
fn said(progress: &InstallProgress) -> Option<StyledLine> {
    let line = match progress {
        InstallProgress::Waiting { file } => {
            format!("{file}: waiting for another process that is installing it")
        }
        InstallProgress::Replacing { file } => format!("{file}: damaged, downloading again"),
        InstallProgress::Skipped { file, source, why } => {
            let source = one_line(&source.to_string());
            return Some(
                StyledLine::from(format!("{file}: cannot download from {source}: "))
                    .with(LineStyle::Odd, one_line(why)),
            );
        }
        InstallProgress::Trying { .. }
        | InstallProgress::Installed { .. }
        | InstallProgress::Downloading { .. }
        | InstallProgress::Checking { .. } => return None,
    };
    Some(StyledLine::from(line))
}

#[cfg(test)]
#[path = "download_meter_tests.rs"]
mod tests;
