//! Removes a model's thoughts from its reply: they are not part of the answer.

use super::json_objects::{JsonCandidate, pieces};
use fathom_core::text::Text;

/// Opening and closing marks of thoughts, in lower case. The first pair is the one that chat templates open by themselves.
const MARKS: [(&str, &str); 9] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<seed:think>", "</seed:think>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
];

/// The text after the thoughts at the start of a reply; empty if the reply is only a thought. The marks may
/// also stand in code, so those further on mean nothing.
pub(crate) fn after_thoughts(reply: &str) -> &str {
    // Of the same length, so that places in one are places in the other.
    let small = reply.to_ascii_lowercase();
    let mut at = 0;
    if begun(&small).is_none() {
        match end_of_begun_before(reply, &small) {
            Some(rest) => at = rest,
            None => return reply,
        }
    }
    while let Some((begin, close)) = begun(&small[at..]) {
        at += begin;
        let mut ends = ends(&small[at..], close);
        at += ends.next().map_or(small.len() - at, |(_, rest)| rest);
    }
    let said = &reply[at..];
    // A blank between the mark and the first word; more of them may be what indents a block.
    let word = said.strip_prefix(' ').filter(|_| at > 0);
    word.filter(|word| !word.starts_with(char::is_whitespace))
        .unwrap_or(said)
}

/// [`after_thoughts`] on a [`Text`]; without thoughts the same text, shared.
pub(crate) fn said(reply: &Text) -> Text {
    let said = after_thoughts(reply.as_str());
    if said.len() == reply.as_str().len() {
        reply.clone()
    } else {
        Text::from(said.trim())
    }
}

/// Start of the thought that a text opens with, and its closing mark.
fn begun(said: &str) -> Option<(usize, &'static str)> {
    let start = unspaced(said);
    let mark = MARKS.iter().find(|(begin, _)| start.starts_with(begin));
    mark.map(|(begin, end)| (said.len() - start.len() + begin.len(), *end))
}

/// A text without the spaces before it, also those that have no width.
fn unspaced(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || ['\u{feff}', '\u{200b}'].contains(&c))
}

/// The rest after a thought that the chat template opened before the reply began: the reply holds its end
/// and no beginning. An end that stands in a JSON object is a part of it, and one amid a sentence is a word.
fn end_of_begun_before(reply: &str, small: &str) -> Option<usize> {
    let (begin, close) = MARKS[0];
    let mut ends = ends(small, close).peekable();
    // Objects are looked for only where there is something to find in them.
    ends.peek()?;
    let mut objects = objects(reply).peekable();
    let (end, rest) = ends.find(|(end, rest)| {
        while objects.next_if(|(_, to)| to <= end).is_some() {}
        let is_inside = objects.peek().is_some_and(|(from, _)| from < end);
        !is_inside && !is_word(&small[..*end], &small[*rest..])
    })?;
    (!small[..end].contains(begin)).then_some(rest)
}

/// End of the thoughts, and start of the rest.
fn ends<'a>(said: &'a str, mark: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
    let places = said
        .match_indices(mark)
        .map(|(at, _)| (at, at + mark.len()));
    places.filter(|(at, rest)| !is_quoted(&said[..*at], &said[*rest..]))
}

/// True if a mark stands in quotes, as in code that searches for it. Three backticks after it open a block.
fn is_quoted(before: &str, after: &str) -> bool {
    after.starts_with(['"', '\'', '\\'])
        || (before.ends_with('`') && after.starts_with('`') && !after.starts_with("```"))
}

/// True if a mark is a word of the sentence around it: `write </think> at the end`.
fn is_word(before: &str, after: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || c == ',';
    let word = before.strip_suffix(' ');
    word.is_some_and(|word| word.ends_with(goes_on))
        && after
            .strip_prefix(' ')
            .is_some_and(|word| word.starts_with(char::is_lowercase))
}

/// Byte ranges of the JSON objects in a reply. One without an end runs to the end of the reply, if the reply is
/// nothing else.
fn objects(reply: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let is_all = |from: usize| {
        let before = reply[..from].trim();
        let fence = before.trim_start_matches(['`', '~']);
        fence.is_empty() || fence.len() < before.len() && fence.eq_ignore_ascii_case("json")
    };
    pieces(reply).filter_map(move |piece| match piece {
        JsonCandidate::Object(object) => Some((object.from, object.to)),
        JsonCandidate::Cut(from) => is_all(from).then_some((from, reply.len())),
        JsonCandidate::Broken(_) => None,
    })
}

#[cfg(test)]
#[path = "think_tags_tests.rs"]
mod tests;
