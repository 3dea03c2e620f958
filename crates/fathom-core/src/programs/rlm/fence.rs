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

/// The longer ones first: each begins with a shorter one.
const QUOTES: [&str; 4] = ["\"\"\"", "'''", "\"", "'"];

const THOUGHT_ENDS: &str = "</think>";

struct Fenced<'a> {
    is_named: bool,
    /// What stands before the fence, and so before each line.
    indent: &'a str,
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
            let rest = said[at..].trim()[call.len()..].trim();
            let code = code_inside(rest);
            return if *call != "FINAL(" || code.is_some_and(is_literal) {
                // Names, strings, expressions. What was cut off is left for Python to complain about.
                let end = code.map_or("", |_| ")");
                Turn::Code(format!("{call}{}{end}", code.unwrap_or(rest)))
            } else {
                Turn::Final(words_inside(rest).trim().to_owned())
            };
        }
        at += line.len();
    }
    Turn::Prose
}

/// Code up to the bracket that closes the one before it.
fn code_inside(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut quote: Option<&str> = None;
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        let mut width = next.len_utf8();
        match quote {
            Some(mark) if rest.starts_with(mark) => {
                width = mark.len();
                quote = None;
            }
            // No string of one line goes on in the next.
            Some(mark) if next == '\n' && mark.len() == 1 => return None,
            Some(_) if next == '\\' => {
                width += rest[width..].chars().next().map_or(0, char::len_utf8);
            }
            Some(_) => {}
            None => {
                quote = QUOTES.into_iter().find(|mark| rest.starts_with(mark));
                width = quote.map_or(width, str::len);
                match next {
                    '(' | '[' | '{' => depth += 1,
                    ')' if depth == 0 => return Some(&text[..at]),
                    ')' | ']' | '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
        }
        at += width;
    }
    None
}

/// Words up to the bracket that closes the one before them: whatever brackets stand after it in its line are pairs.
fn words_inside(text: &str) -> &str {
    let step = |next: char| i64::from(next == '(') - i64::from(next == ')');
    let mut depth = 1;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let mut after: i64 = line.chars().map(step).sum();
        for (place, next) in line.char_indices() {
            depth += step(next);
            after -= step(next);
            if next == ')' && depth <= 0 && after == 0 {
                return &text[..at + place];
            }
        }
        at += line.len();
    }
    text.rsplit_once(')').map_or(text, |(inside, _)| inside)
}

/// Whether Python would read it as one string, a list or an object.
fn is_literal(inner: &str) -> bool {
    let inner = inner.trim();
    let quoted = |mark: char| inner.len() > 1 && inner.starts_with(mark) && inner.ends_with(mark);
    quoted('"') || quoted('\'') || inner.starts_with(['[', '{'])
}

/// What is said after the last thought; a reply that is nothing but a thought says nothing.
fn without_thoughts(reply: &str) -> &str {
    // Code that looks for the mark has it in quotes.
    let is_mark = |said: &&str| !said.starts_with(['"', '\'', '\\']);
    let mut ends = reply.rmatch_indices(THOUGHT_ENDS);
    let after = ends.find_map(|(at, _)| reply.get(at + THOUGHT_ENDS.len()..).filter(is_mark));
    after.unwrap_or_else(|| reply.split("<think>").next().unwrap_or(reply))
}

fn blocks(said: &str) -> Vec<Fenced<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<(char, usize, Option<Fenced<'_>>)> = None;
    for line in said.lines() {
        let fence = fence(line).filter(|(mark, length, info)| match &open {
            // A block that was forgotten to be closed ends where the next one begins.
            Some((other, count, _)) => {
                mark == other && length >= count && (info.is_empty() || is_named(info))
            }
            None => true,
        });
        let Some((mark, length, info)) = fence else {
            if let Some((_, _, Some(block))) = &mut open {
                block.code.push_str(without(block.indent, line));
                block.code.push('\n');
            }
            continue;
        };
        let was_open = open.take();
        let closes = was_open.is_some() && info.is_empty();
        blocks.extend(was_open.and_then(|(_, _, block)| block));
        if closes {
            continue;
        }
        let block = (is_named(info) || language(info).is_empty()).then(|| Fenced {
            is_named: is_named(info),
            indent: &line[..line.len() - unindented(line).len()],
            code: String::new(),
        });
        open = Some((mark, length, block));
    }
    // The reply was cut off, or the model forgot: what is there is still code.
    blocks.extend(open.and_then(|(_, _, block)| block));
    blocks
}

/// The language that a fence names.
fn language(info: &str) -> String {
    let word = info.chars().take_while(|c| c.is_alphanumeric());
    word.flat_map(char::to_lowercase).collect()
}

fn is_named(info: &str) -> bool {
    LANGUAGES.contains(&language(info).as_str())
}

/// A line of a block in a list or a quote, without the spaces and marks that it has from there.
fn without<'a>(indent: &str, line: &'a str) -> &'a str {
    let same = line.bytes().zip(indent.bytes());
    &line[same.take_while(|(a, b)| a == b).count()..]
}

fn unindented(line: &str) -> &str {
    line.trim_start_matches([' ', '\t', '>'])
}

/// The mark, length and info of a line that opens or closes a block.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let line = unindented(line);
    let mark = line.chars().next().filter(|c| ['`', '~'].contains(c))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    let info = line[length..].trim();
    // ````code```` on one line is a word in prose.
    (length >= 3 && !info.contains(mark)).then_some((mark, length, info))
}

#[cfg(test)]
#[path = "fence_tests.rs"]
mod tests;
