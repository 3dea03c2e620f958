//! What a model thinks before it speaks is no part of what it says.

const BEGIN: &str = "<think>";
const END: &str = "</think>";

/// What is said after the thoughts that a reply begins with; one that is nothing but a thought says nothing. The marks may
/// also stand in code, so those further on mean nothing.
pub(super) fn after_thoughts(reply: &str) -> &str {
    let mut said = reply;
    if !reply.trim_start().starts_with(BEGIN) {
        // The template of the chat may have begun the thought.
        said = match end(reply) {
            Some((thought, rest)) if !thought.contains(BEGIN) => rest,
            Some(_) | None => return reply,
        };
    }
    while let Some(thought) = said.trim_start().strip_prefix(BEGIN) {
        said = end(thought).map_or("", |(_, rest)| rest);
    }
    said
}

/// What stands before the end of a thought, and after it.
fn end(said: &str) -> Option<(&str, &str)> {
    // Code that looks for the mark has it in quotes.
    let is_mark = |rest: &str| !rest.starts_with(['"', '\'', '\\']);
    said.match_indices(END)
        .map(|(at, _)| (&said[..at], &said[at + END.len()..]))
        .find(|(_, rest)| is_mark(rest))
}

#[cfg(test)]
#[path = "thoughts_tests.rs"]
mod tests;
