//! Properties of the machine: clock, cores, instruction sets.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::Instant;

use super::error::EngineError;

#[expect(
    clippy::disallowed_methods,
    reason = "reading and writing speeds are measured on the engine's own thread, away from any event"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Reports missing instruction sets. The engine is built with them, so without them the process would be killed
/// at the first matrix product.
pub(crate) fn check_processor() -> Result<(), EngineError> {
    let missing = missing_instructions();
    if missing.is_empty() {
        return Ok(());
    }
    Err(EngineError::Processor {
        missing: missing.join(", "),
    })
}

#[cfg(target_arch = "x86_64")]
fn missing_instructions() -> Vec<&'static str> {
    [
        ("AVX", is_x86_feature_detected!("avx")),
        ("AVX2", is_x86_feature_detected!("avx2")),
        ("FMA", is_x86_feature_detected!("fma")),
        ("F16C", is_x86_feature_detected!("f16c")),
        ("BMI2", is_x86_feature_detected!("bmi2")),
    ]
    .into_iter()
    .filter_map(|(name, there)| (!there).then_some(name))
    .collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn missing_instructions() -> Vec<&'static str> {
    Vec::new()
}

/// Number of cores to compute on: the physical ones, limited to those this process may use. Two threads on one
/// core only slow each other down.
pub(crate) fn cores() -> u32 {
    let usable = thread::available_parallelism().map_or(1, usize::from);
    let physical = fs::read_to_string("/proc/cpuinfo")
        .ok()
        .map(|text| physical_cores(&text))
        .filter(|&count| count > 0)
        .unwrap_or(usable);
    u32::try_from(usable.min(physical)).unwrap_or(1).max(1)
}

/// Number of distinct pairs of socket and core; zero if the text does not list them.
fn physical_cores(cpuinfo: &str) -> usize {
    let mut socket = "";
    let mut cores = BTreeSet::new();
    for line in cpuinfo.lines() {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        match key.trim() {
            "physical id" => socket = value.trim(),
            "core id" => {
                cores.insert((socket, value.trim()));
            }
            _ => {}
        }
    }
    cores.len()
}

#[cfg(test)]
mod tests {
    use super::physical_cores;

    #[test]
    fn two_threads_of_a_core_count_once() {
        let text = "physical id\t: 0\ncore id\t\t: 0\n\nphysical id\t: 0\ncore id\t\t: 1\n\n\
                    physical id\t: 0\ncore id\t\t: 0\n\nphysical id\t: 1\ncore id\t\t: 0\n";
        assert_eq!(physical_cores(text), 3);
        assert_eq!(physical_cores("Processor\t: ARM\n"), 0);
    }
}
