//! Finds the code in what a model says: fenced blocks among prose, several of them, or one that was never closed.

/// What a model wants with its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Run this.
    Code(String),
    /// This is the answer, said outside of any code.
    Final(String),
    /// Neither code nor an answer that is called one.
    Prose,
}

const LANGUAGES: [&str; 5] = ["repl", "python", "py", "python3", "ipython"];

/// Calls that submit an answer, which some models write without a fence.
const SUBMITS: [&str; 3] = ["SUBMIT(", "FINAL(", "FINAL_VAR("];

struct Fenced {
    is_named: bool,
    code: String,
}

/// Reads a reply.
pub(super) fn read(reply: &str) -> Turn {
    let said = without_thoughts(reply);
    let blocks = blocks(said);
    // A block that names its language is meant to be run; one without may be an example of output.
    let named = blocks.iter().any(|block| block.is_named);
    let code: Vec<&str> = blocks
        .iter()
        .filter(|block| block.is_named || !named)
        .map(|block| block.code.trim_end())
        .filter(|code| !code.trim().is_empty())
        .collect();
    if !code.is_empty() {
        return Turn::Code(code.join("\n\n"));
    }
    bare(said)
}

/// A submission that stands in prose, on a line of its own.
fn bare(said: &str) -> Turn {
    let mut at = 0;
    for line in said.split_inclusive('\n') {
        let start = line.trim_start();
        if let Some(call) = SUBMITS.iter().find(|call| start.starts_with(**call)) {
            let rest = said[at..].trim();
            let inner = rest[call.len()..].rsplit_once(')').map(|(inner, _)| inner);
            let inner = inner.unwrap_or(&rest[call.len()..]).trim();
            return match *call {
                "FINAL(" if !is_literal(inner) => Turn::Final(inner.to_owned()),
                // Anything else is code: names, strings, expressions.
                _ => Turn::Code(rest.to_owned()),
            };
        }
        at += line.len();
    }
    Turn::Prose
}

/// Whether Python would read it as one string, a list or an object.
fn is_literal(inner: &str) -> bool {
    let quoted = |mark: char| inner.len() > 1 && inner.starts_with(mark) && inner.ends_with(mark);
    quoted('"') || quoted('\'') || inner.starts_with(['[', '{'])
}

/// What is said after the last thought; a reply that is nothing but a thought says nothing.
fn without_thoughts(reply: &str) -> &str {
    if let Some((_, said)) = reply.rsplit_once("</think>") {
        return said;
    }
    reply.split("<think>").next().unwrap_or(reply)
}

fn blocks(said: &str) -> Vec<Fenced> {
    let mut blocks = Vec::new();
    let mut open: Option<(char, usize, Option<Fenced>)> = None;
    for line in said.lines() {
        let fence = fence(line);
        match (&mut open, fence) {
            (Some((mark, count, _)), Some((other, length, info)))
                if other == *mark && length >= *count && info.is_empty() =>
            {
                blocks.extend(open.take().and_then(|(_, _, block)| block));
            }
            (Some((_, _, block)), _) => {
                if let Some(block) = block {
                    block.code.push_str(line);
                    block.code.push('\n');
                }
            }
            (None, Some((mark, length, info))) => {
                let word: String = info
                    .chars()
                    .take_while(|c| c.is_alphanumeric())
                    .flat_map(char::to_lowercase)
                    .collect();
                let is_named = LANGUAGES.contains(&word.as_str());
                let block = (is_named || word.is_empty()).then(|| Fenced {
                    is_named,
                    code: String::new(),
                });
                open = Some((mark, length, block));
            }
            (None, None) => {}
        }
    }
    // The reply was cut off, or the model forgot: what is there is still code.
    blocks.extend(open.and_then(|(_, _, block)| block));
    blocks
}

/// The mark, length and info of a line that opens or closes a block.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let line = line.trim_start_matches([' ', '>']);
    let mark = line.chars().next().filter(|c| ['`', '~'].contains(c))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    let info = line[length..].trim();
    // ````code```` on one line is a word in prose.
    (length >= 3 && !info.contains(mark)).then_some((mark, length, info))
}

#[cfg(test)]
#[path = "fence_tests.rs"]
mod tests;
