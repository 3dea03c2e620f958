//! The filters between this program and the readers of its output.
//!
//! Everything that [`crate::terminal::output`] writes passes them, and so does every text before it is cut, because
//! half a key is not recognised. The rules are the built-in ones, or those that `fathom.toml` names.

use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, OnceLock};

use fathom_output::redact::{RULES_BYTES_MAX, RedactRules, RedactedText, TextRedactor};

use crate::error::CliError;
use crate::settings::inputs;

/// Replacement of a text that cannot be filtered.
const WITHHELD: &str = "[withheld]";

/// Compiled on first use: a command that shows nothing from outside does not pay for it.
static BUILTIN: LazyLock<Option<TextRedactor>> = LazyLock::new(|| {
    let rules = RedactRules::builtin().ok()?;
    TextRedactor::new(&rules, None).ok()
});
static OWN: OnceLock<TextRedactor> = OnceLock::new();
static IS_LIFTED: AtomicBool = AtomicBool::new(false);
static HAS_MASKED: AtomicBool = AtomicBool::new(false);

/// Output that stays unmasked, by the will of the person who asked for it. `docs/redaction.md` has the same list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unmasked {
    /// Output of `fathom redact`.
    Redact,
    /// Output of `fathom redact --open`.
    Opened,
    /// `fathom symbols export`.
    SymbolsExport,
    /// `fathom session export`.
    SessionExport,
    /// `fathom charter learn`.
    Learned,
    /// `fathom show --original`.
    Show,
    /// `fathom approvals --original`.
    Approvals,
}

impl Unmasked {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 7] = [
        Self::Redact,
        Self::Opened,
        Self::SymbolsExport,
        Self::SessionExport,
        Self::Learned,
        Self::Show,
        Self::Approvals,
    ];

    /// The command, as it is typed.
    #[cfg(test)]
    pub(crate) const fn command(self) -> &'static str {
        match self {
            Self::Redact => "fathom redact",
            Self::Opened => "fathom redact --open",
            Self::SymbolsExport => "fathom symbols export",
            Self::SessionExport => "fathom session export",
            Self::Learned => "fathom charter learn",
            Self::Show => "fathom show --original",
            Self::Approvals => "fathom approvals --original",
        }
    }
}

/// Has the rules of a file used from now on.
pub(crate) fn use_rules(file: &Path) -> Result<(), CliError> {
    let text = inputs::read_file(file, RULES_BYTES_MAX as u64)?;
    let redactor = TextRedactor::new(&RedactRules::parse(&text)?, None)?;
    // They are settled once, before the command begins.
    let _ = OWN.set(redactor);
    Ok(())
}

/// The rules of a file, where there is one: what goes to channels passes them too.
pub(crate) fn own() -> Option<TextRedactor> {
    OWN.get().cloned()
}

/// Shows values as they are from now on. Who may ask for it was checked before.
pub(crate) fn lift(_why: Unmasked) {
    IS_LIFTED.store(true, Ordering::Relaxed);
}

/// True if anything was masked so far.
pub(crate) fn has_masked() -> bool {
    HAS_MASKED.load(Ordering::Relaxed)
}

fn redactor() -> Option<&'static TextRedactor> {
    OWN.get().or(BUILTIN.as_ref())
}

/// The text as it may leave.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    match redacted(text) {
        None => Cow::Borrowed(text),
        Some(redacted) => Cow::Owned(redacted.text),
    }
}

/// The text as it may leave, whatever was asked for: logs are read by others.
pub(crate) fn masked_for_all(text: &str) -> Cow<'_, str> {
    match filtered(text) {
        None => Cow::Borrowed(text),
        Some(redacted) => Cow::Owned(redacted.text),
    }
}

/// The text as it may leave, with what was found; nothing where it may leave as it is.
pub(crate) fn redacted(text: &str) -> Option<RedactedText> {
    if IS_LIFTED.load(Ordering::Relaxed) {
        return None;
    }
    filtered(text)
}

fn filtered(text: &str) -> Option<RedactedText> {
    if text.trim().is_empty() {
        return None;
    }
    let redacted = match redactor() {
        Some(redactor) => redactor.redact(text),
        // Without rules nothing leaves.
        None => RedactedText {
            text: WITHHELD.to_owned(),
            spans: Vec::new(),
        },
    };
    if redacted.text == text {
        return None;
    }
    HAS_MASKED.store(true, Ordering::Relaxed);
    Some(redacted)
}

/// Presentable part of a text of which more is to come: a value whose end is missing is held back.
pub(crate) fn masked_so_far(text: &str) -> String {
    if IS_LIFTED.load(Ordering::Relaxed) {
        return text.to_owned();
    }
    // The stream keeps back what could still become a value; `redact` would let its first half out.
    redactor().map_or_else(String::new, |redactor| redactor.stream().push(text))
}

/// JSON as it may leave: each string by itself, with its key as the words before it. Numbers stay.
pub(crate) fn masked_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    let mut rest = json;
    let mut key = String::new();
    while let Some((before, literal, after)) = next_string(rest) {
        shown.push_str(before);
        rest = after;
        let text: String = serde_json::from_str(literal).unwrap_or_default();
        let said = if after.trim_start().starts_with(':') {
            let said = masked(&text).into_owned();
            key.clone_from(&text);
            said
        } else {
            masked_value(&key, &text)
        };
        if said == text {
            // Unchanged strings are copied as they were written, escapes included, so that data is not rewritten for
            // nothing.
            shown.push_str(literal);
        } else {
            shown.push_str(&serde_json::Value::from(said).to_string());
        }
    }
    shown.push_str(rest);
    shown
}

/// A value as it may leave. A label such as `password` marks the text after it, also where it is a JSON key.
fn masked_value(key: &str, text: &str) -> String {
    let by_itself = masked(text);
    // Many secrets are recognised only by the word before them, which JSON keeps apart as the key.
    let labelled = format!("{key}: {by_itself}");
    let beside_its_key = masked(&labelled);
    let value = beside_its_key.strip_prefix(&format!("{key}: "));
    value.unwrap_or(&by_itself).to_owned()
}

/// The next string of JSON with its quotes, and what stands before and after it.
fn next_string(json: &str) -> Option<(&str, &str, &str)> {
    let start = json.find('"')?;
    let mut is_escaped = false;
    let inside = json.get(start + 1..)?;
    let length = inside.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })?;
    let end = start + length + 2;
    Some((json.get(..start)?, json.get(start..end)?, json.get(end..)?))
}

#[cfg(test)]
#[path = "masking_tests.rs"]
mod tests;
