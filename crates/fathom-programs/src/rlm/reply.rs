//! Reading a turn's reply: code to run, an answer in words, or neither.

use super::submission::{TextSubmission, is_call, is_expression};
use crate::reply::{
    BlockLanguage, CodeBlock, after_thoughts, blocks, is_only, outside, unfenced_code,
};

/// Intent of a model's turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RlmAction {
    Code(String),
    /// This is the answer, said outside of any code.
    Final(String),
    /// Neither code nor an answer that is called one.
    Prose,
}

/// A reply, and what is left of it should its turn bring no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParsedTurn {
    pub(crate) turn: RlmAction,
    /// Words of the reply. Those beside code that will run were written before its output was seen.
    pub(crate) words: String,
}

/// Line starts of session code that are rare elsewhere.
const BEGINNINGS: [&str; 3] = ["print(", "import ", "answer["];

/// Constructs that only session code contains.
const SIGNS: [&str; 10] = [
    "llm_query",
    "rlm_query",
    "recipes.",
    "SUBMIT(",
    "FINAL(",
    "FINAL_VAR(",
    "context[",
    "(context)",
    "(context,",
    ", context)",
];

/// Calls that are looked at to see whether they submit. Each may have a bracket that is open to the end of the reply, and so
/// be as long as all of it.
const CALLS_MAX: usize = 32;

/// Reads a reply into an action and its words.
pub(crate) fn read(reply: &str) -> ParsedTurn {
    let said = after_thoughts(reply);
    let mut blocks = blocks(said);
    for block in &mut blocks {
        if block.kind == BlockLanguage::Unknown {
            block.kind = if is_program(&block.code) {
                BlockLanguage::Unnamed
            } else {
                BlockLanguage::Other
            };
        }
    }
    // A block that names its language is meant to be run; one without may be an example of output.
    let named = blocks
        .iter()
        .any(|block| block.kind == BlockLanguage::Named);
    let wanted = if named {
        BlockLanguage::Named
    } else {
        BlockLanguage::Unnamed
    };
    let run = blocks.iter().filter(|block| block.kind == wanted);
    let run: Vec<_> = run.filter(|block| !block.code.trim().is_empty()).collect();
    let code: Vec<&str> = run.iter().map(|block| block.code.trim_end()).collect();
    let first = submission(said, 0, &blocks);
    if let Some(answer) = words_for_an_answer(&run, first.as_ref()) {
        return ParsedTurn {
            turn: RlmAction::Final(answer),
            words: String::new(),
        };
    }
    let made = |code: &&str| {
        is_program(code) || first.as_ref().is_some_and(|first| first.is_made_by(code))
    };
    if let Some(last) = run.last().filter(|_| named || code.iter().any(made)) {
        let below = submission(said, last.to, &blocks);
        let below = below.and_then(|submission| submission.below_code);
        let parts = code.into_iter().chain(below.as_deref());
        return ParsedTurn {
            turn: RlmAction::Code(parts.collect::<Vec<_>>().join("\n\n")),
            words: String::new(),
        };
    }
    // Without any sign that it is code, a block may be what an answer rests upon; one in another language holds no other code.
    let first = first.or_else(|| submission(said, 0, &[]).filter(|_| code.is_empty()));
    let is_code = first
        .as_ref()
        .is_none_or(|first| matches!(first.turn, RlmAction::Code(_)));
    let is_bare = blocks.is_empty() && is_code;
    let bare = is_bare.then(|| unfenced_code::code(said)).flatten();
    let is_more = |code: &String| code.lines().nth(1).is_some() || first.is_none();
    if let Some(code) = bare.filter(|code| is_more(code) && is_program(code)) {
        return ParsedTurn {
            turn: RlmAction::Code(code),
            words: String::new(),
        };
    }
    let (turn, words) = match first {
        Some(submission) => (submission.turn, submission.before),
        None if code.is_empty() => (RlmAction::Prose, said.trim()),
        None if is_only(said, &blocks) => (RlmAction::Code(code.join("\n\n")), ""),
        None => (RlmAction::Code(code.join("\n\n")), said.trim()),
    };
    ParsedTurn {
        turn,
        words: words.to_owned(),
    }
}

/// The answer in words that stands in a block by itself, or around the blocks.
fn words_for_an_answer(
    run: &[&CodeBlock<'_>],
    first: Option<&TextSubmission<'_>>,
) -> Option<String> {
    let block = run.first()?;
    if let Some(first) = first.filter(|first| first.at < block.from)
        && let RlmAction::Final(words) = &first.turn
        && words.contains(block.code.trim_end())
    {
        return Some(words.clone());
    }
    if run.len() > 1 {
        return None;
    }
    match TextSubmission::read(&block.code, 0)?.turn {
        RlmAction::Final(words) if !is_expression(&words) => Some(words),
        RlmAction::Final(_) | RlmAction::Code(_) | RlmAction::Prose => None,
    }
}

/// The first submission from here on that stands outside of all blocks.
fn submission<'a>(
    said: &'a str,
    from: usize,
    blocks: &[CodeBlock<'_>],
) -> Option<TextSubmission<'a>> {
    let lines = outside(said, blocks).filter(|(at, line)| *at >= from && is_call(line));
    let mut calls = lines.take(CALLS_MAX);
    calls.find_map(|(at, _)| TextSubmission::read(said, at))
}

/// True if a block without a language can only be meant to run.
fn is_program(code: &str) -> bool {
    let begins = |line: &str| BEGINNINGS.iter().any(|sign| line.starts_with(sign));
    code.lines().any(|line| begins(line.trim_start())) || SIGNS.iter().any(|s| code.contains(s))
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
