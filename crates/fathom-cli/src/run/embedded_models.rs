//! The embedded models of a run: which weights a name means, and what they took.

use fathom_core::model::{ModelSet, ModelSpec};
use fathom_core::unit::Millis;
use fathom_host::models::embedded::{ChosenWeights, PROVIDER};
use fathom_host::view::run::{LocalSpeed, RunView};
use fathom_host::{HostError, Runtime};

use crate::terminal::styled_line::{LineStyle, StyledLine};

/// Puts the weights that are really used in the place of names like `local/default`, and says where they are not
/// those that were wanted.
pub(crate) fn settle(runtime: &Runtime, models: &mut ModelSet) -> Result<Vec<String>, HostError> {
    let mut warnings = Vec::new();
    let specs: [Option<&mut ModelSpec>; 5] = [
        Some(&mut models.main),
        Some(&mut models.sub),
        models.prime.as_mut(),
        models.lite.as_mut(),
        models.code_mind.as_mut(),
    ];
    for spec in specs.into_iter().flatten() {
        if spec.provider() != PROVIDER {
            continue;
        }
        let ChosenWeights { name, instead } = runtime.embedded().choose(spec.name())?;
        // Settled before the run begins: the record names the model that answers, and a resume must not choose another.
        spec.id = format!("{PROVIDER}/{name}");
        if let Some(why) = instead
            && !warnings.contains(&why)
        {
            warnings.push(why);
        }
    }
    Ok(warnings)
}

/// Usage of the run's embedded models: tokens a second, and the memory of this process.
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
        tokens => format!(" ({tokens} more reused)"),
    };
    let memory = memory_peak_bytes().map_or_else(String::new, |bytes| {
        let tenths = bytes / 100_000_000;
        format!("   memory {}.{} GB", tenths / 10, tenths % 10)
    });
    let said = format!(
        "prompt {read_tokens} tokens{}{shared}, reply {wrote_tokens} tokens{}{memory}",
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
        // The kernel's high-water mark: the peak, which is what decides whether a model fits.
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
