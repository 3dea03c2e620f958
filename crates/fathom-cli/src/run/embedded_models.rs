//! What the embedded models of a run took.

use fathom_core::unit::Millis;
use fathom_host::view::run::{LocalSpeed, RunView};

use crate::terminal::styled_line::{LineStyle, StyledLine};

/// What the embedded models of a run took: tokens a second, and the memory of this process.
pub(crate) fn used(story: &RunView) -> Option<StyledLine> {
    let speed = story.speed()?;
    let LocalSpeed {
        read_tokens,
        reading,
        shared_tokens,
        wrote_tokens,
        writing,
    } = speed;
    let shared = match shared_tokens {
        0 => String::new(),
        tokens => format!(" ({tokens} reused)"),
    };
    let memory = memory_peak_bytes().map_or_else(String::new, |bytes| {
        let tenths = bytes / 100_000_000;
        format!(", memory {}.{} GB", tenths / 10, tenths % 10)
    });
    let said = format!(
        "prompt {read_tokens} tokens{}{shared}, reply {wrote_tokens}{}{memory}",
        rate(read_tokens, reading),
        rate(wrote_tokens, writing)
    );
    Some(
        StyledLine::new()
            .with(LineStyle::Faint, "speed   ")
            .with(LineStyle::Plain, said),
    )
}

fn rate(tokens: u64, Millis(millis): Millis) -> String {
    match (tokens * 1000).checked_div(millis) {
        Some(per_second) => format!(" at {per_second}/s"),
        None => String::new(),
    }
}

/// The most memory that this process has had, where the system tells.
fn memory_peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
