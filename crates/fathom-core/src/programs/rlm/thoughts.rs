//! What a model thinks before it speaks is no part of what it says.

/// How thoughts begin and end, in small letters. The first is what templates of chats begin by themselves.
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

/// What is said after the thoughts that a reply begins with; one that is nothing but a thought says nothing. The marks may
/// also stand in code, so those further on mean nothing.
pub(super) fn after_thoughts(reply: &str) -> &str {
    // Of the same length, so that places in one are places in the other.
    let small = reply.to_ascii_lowercase();
    let mut at = 0;
    if begun(&small).is_none() {
        let (begin, close) = MARKS[0];
        match end(&small, close) {
            Some((thought, rest)) if !small[..thought].contains(begin) => at = rest,
            Some(_) | None => return reply,
        }
    }
    while let Some((begin, close)) = begun(&small[at..]) {
        at += begin;
        at += end(&small[at..], close).map_or(small.len() - at, |(_, rest)| rest);
    }
    &reply[at..]
}

/// Where the thought begins that a text begins with, and how it ends.
fn begun(said: &str) -> Option<(usize, &'static str)> {
    let start = said.trim_start();
    let mark = MARKS.iter().find(|(begin, _)| start.starts_with(begin));
    mark.map(|(begin, end)| (said.len() - start.len() + begin.len(), *end))
}

/// Where a thought ends, and where the rest begins.
fn end(said: &str, mark: &str) -> Option<(usize, usize)> {
    // Code that looks for the mark has it in quotes.
    let is_mark = |rest: &str| !rest.starts_with(['"', '\'', '\\']);
    let mut places = said
        .match_indices(mark)
        .map(|(at, _)| (at, at + mark.len()));
    places.find(|(_, rest)| is_mark(&said[*rest..]))
}

#[cfg(test)]
#[path = "thoughts_tests.rs"]
mod tests;
