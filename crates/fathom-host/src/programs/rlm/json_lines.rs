//! Whether each line of a text is JSON that code can take in: whatever its size, it is known before a session has it.

use fathom_material::SkipReason;
use fathom_sandbox::SandboxError;
use serde::de::IgnoredAny;

/// Most arrays and objects within one another, as many as `serde_json` follows. Python ends at some hundreds more.
const NESTING_MAX: usize = 127;

/// The first line that is no entry of a list.
#[derive(Debug)]
pub(super) struct JsonLineError {
    /// Counted from one.
    number: usize,
    flaw: LineProblem,
}

#[derive(Debug)]
enum LineProblem {
    NotJson { column: usize },
    Nested,
}

/// Looks for a line that is neither blank nor JSON. What only Python takes for JSON, as `NaN`, is none.
pub(super) fn bad_line(text: &str) -> Option<JsonLineError> {
    text.split('\n').zip(1..).find_map(|(line, number)| {
        let flaw = flaw(line)?;
        Some(JsonLineError { number, flaw })
    })
}

fn flaw(line: &str) -> Option<LineProblem> {
    if line.trim().is_empty() {
        return None;
    }
    match serde_json::from_str::<IgnoredAny>(line) {
        Err(error) => Some(LineProblem::NotJson {
            column: error.column(),
        }),
        Ok(_) => nests_too_deeply(line.as_bytes()).then_some(LineProblem::Nested),
    }
}

/// What only skips values follows any depth, so it is counted.
fn nests_too_deeply(json: &[u8]) -> bool {
    // Most lines have too few brackets for that.
    if memchr::memchr2_iter(b'[', b'{', json)
        .nth(NESTING_MAX)
        .is_none()
    {
        return false;
    }
    let (mut depth, mut in_string) = (0_usize, false);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > NESTING_MAX {
            return true;
        }
    }
    false
}

impl JsonLineError {
    /// Why the text is not taken as a list.
    pub(super) fn reason(&self) -> SkipReason {
        let line = self.number;
        match self.flaw {
            LineProblem::NotJson { .. } => SkipReason::NotJsonLines { line },
            LineProblem::Nested => SkipReason::NestedLines {
                line,
                nesting_max: NESTING_MAX,
            },
        }
    }

    /// Why the material of this name cannot be loaded.
    pub(super) fn error(&self, name: &str) -> SandboxError {
        let reason = self.reason();
        let cause = match self.flaw {
            LineProblem::NotJson { column } => format!("{name}: {reason}, at column {column}"),
            LineProblem::Nested => format!("{name}: {reason}"),
        };
        SandboxError::BadMaterial { cause }
    }
}

#[cfg(test)]
#[path = "json_lines_tests.rs"]
mod tests;
