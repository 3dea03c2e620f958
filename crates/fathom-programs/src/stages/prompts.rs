//! Prompts of each stage, the form of its reply, and the reading of that reply.

use super::report::CommandNote;
use crate::reply::labels::last_value;
use fathom_core::channel::marker::{BlockKind, Marker, blocks};
use fathom_core::channel::shell_words::ArgumentVector;
use fathom_core::journal::command::OutputBlock;
use fathom_core::text::Text;

/// A stage of thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptStage {
    Plan,
    Refine,
    Observe,
    Act,
    Verify,
}

impl PromptStage {
    /// The key of its instruction in the charter.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Plan => "initial_planning",
            Self::Refine => "refinement",
            Self::Observe => "observer",
            Self::Act => "interruption_handling",
            Self::Verify => "verification",
        }
    }

    /// The request of a stage, which a charter cannot change.
    pub(super) const fn task(self) -> &'static str {
        match self {
            Self::Plan => {
                "Plan how to do the task below. Reply with one block: a line that is `PLAN:`, then one step a line, each beginning with `- `. Do not answer the task yet."
            }
            Self::Refine => {
                "Judge the plan below and make it better. Reply with one block: a line that is `PLAN:`, then the steps, each beginning with `- `, and as the last line `confidence=` with a number from 0 to 1: how sure you are that the plan does the task safely."
            }
            Self::Observe => {
                "You read along while another model answers. Reply `INTERRUPT: ` and the reason in one line if what stands there so far is false, unsafe, leaks something private or leaves the task. Otherwise reply `OK`."
            }
            Self::Act => {
                "Do the task by the plan. What the user is to read stands after `RESPONSE:` at the start of a line. An idea for later may stand after `THOUGHT_SEED:`, and ends with an empty line."
            }
            Self::Verify => {
                "Look whether the task was done as planned. Reply with one line: `VERIFY: success` or `VERIFY: fail`, and why in a few words."
            }
        }
    }

    /// The form that a small model is held to.
    pub(super) fn pattern(self) -> Option<&'static str> {
        match self {
            Self::Plan => Some(r"PLAN:\n(- [^\n]{3,160}\n){1,6}"),
            Self::Refine => Some(r"PLAN:\n(- [^\n]{3,160}\n){1,6}confidence=(0\.[0-9]{1,2}|1\.0)"),
            Self::Observe => Some(r"(OK|INTERRUPT: [^\n]{3,160})"),
            Self::Act => None,
            Self::Verify => Some(r"VERIFY: (success|fail)[^\n]{0,200}"),
        }
    }
}

/// The text of the first block of a marker.
pub(super) fn block(reply: &str, marker: Marker) -> Option<String> {
    let found = blocks(reply)
        .into_iter()
        .find(|block| block.kind() == Some(BlockKind::Marked(marker)))?;
    let text = found.text.as_str().trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The `confidence=` that a refined plan ends with, in thousandths.
pub(super) fn confidence(text: &str) -> Option<u16> {
    let value = last_value(text, "confidence")?;
    milli(value.trim_end_matches(['.', '*']))
}

/// A number from 0 to 1 in thousandths, without a float in between.
fn milli(text: &str) -> Option<u16> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if part.len() > 18 || !part.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let digits: String = part.chars().chain("000".chars()).take(3).collect();
    let part: u16 = digits.parse().ok()?;
    match (whole, part) {
        ("" | "0", part) if !text.is_empty() => Some(part),
        ("1", 0) => Some(1000),
        _ => None,
    }
}

/// A plan without its confidence.
pub(super) fn steps(plan: &str) -> String {
    let is_confidence = |line: &&str| confidence(line).is_none();
    let lines: Vec<&str> = plan.lines().filter(is_confidence).collect();
    lines.join("\n").trim().to_owned()
}

/// The observer's objection to the stream; `None` only if it says `OK`.
pub(super) fn interrupt(reply: &str) -> Option<String> {
    let is_interrupt =
        |block: &OutputBlock| block.kind() == Some(BlockKind::Marked(Marker::Interrupt));
    if blocks(reply).iter().any(is_interrupt) {
        let why = block(reply, Marker::Interrupt);
        return Some(why.unwrap_or_else(|| "the observer did not say why".to_owned()));
    }
    let is_ok = words(reply).next().is_some_and(|word| word == "ok");
    (!is_ok).then(|| "the observer could not look: it said neither `OK` nor `INTERRUPT`".to_owned())
}

/// The verdict of a verification; `None` if it gives neither, or calls a failed result a success.
pub(super) fn success(verify: &str) -> Option<bool> {
    let is_failure = |word: &str| matches!(word, "fail" | "failed" | "failure");
    let mut words = words(verify);
    match words.next()?.as_str() {
        "success" | "succeeded" | "pass" | "passed" | "ok" => {
            (!words.any(|word| is_failure(&word))).then_some(true)
        }
        word => is_failure(word).then_some(false),
    }
}

/// The words of a text, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
}

/// Instructions on running commands, for the acting model.
pub(super) fn commands<'a>(names: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let list: Vec<String> = names
        .map(|(name, about)| format!("- `{name}`: {about}"))
        .collect();
    if list.is_empty() {
        return "No command can be run.".to_owned();
    }
    format!(
        "Commands stand after `EXECUTE:` at the start of a line, one a line, plain words and no shell. They run only when a person agrees, and there are only these:\n{}",
        list.join("\n")
    )
}

/// A command as a person reads it.
pub(super) fn line(argv: &ArgumentVector) -> String {
    let words: Vec<&str> = argv.words().collect();
    words.join(" ")
}

/// A command that was tried, for the models that go on from it. What it printed is data.
pub(super) fn tried(note: &CommandNote) -> String {
    let (line, fate) = (note.argv.join(" "), note.fate);
    format!(
        "The command `{line}` was tried: {fate:?}. It printed:\n---\n{}\n---",
        note.said
    )
}

/// The blocks of a reply that say something.
pub(super) fn spoken(reply: &str) -> Vec<OutputBlock> {
    let mut spoken = blocks(reply);
    for block in &mut spoken {
        block.text = Text::from(block.text.as_str().trim());
    }
    spoken.retain(|block| !block.text.is_blank());
    spoken
}

/// A text of at most so many characters, with its lines.
pub(super) fn bounded(text: &str, chars_max: usize) -> String {
    text.chars().take(chars_max).collect()
}
