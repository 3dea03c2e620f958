//! Memory available for a model.

use std::path::Path;

/// Memory available to a new process, in bytes; unknown if the system does not report it. A container's limit
/// counts.
pub fn memory_available() -> Option<u64> {
    let machine = read("/proc/meminfo").as_deref().and_then(of_machine);
    let limit = read("/sys/fs/cgroup/memory.max");
    // Without a limit it contains `max`.
    let container = limit.and_then(|limit| limit.trim().parse().ok());
    match (machine, container) {
        (Some(machine), Some(container)) => Some(machine.min(container)),
        (known, None) | (None, known) => known,
    }
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(Path::new(path)).ok()
}

/// `MemAvailable:   123 kB`.
fn of_machine(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
#[path = "free_memory_tests.rs"]
mod tests;
