//! Finds fenced blocks in what a model says: among prose, several of them, or one that was never closed.
//!
//! They are read more freely than by [`fathom_core::channel::marker::Fences`], which streams text to people and must not change its mind:
//! here a fence may also stand in a list, in a quote or after words. One table of cases has what each of the two says.

use std::borrow::Cow;

use super::think_tags::after_thoughts;
use crate::rlm::python_strings::ends_in_string;

/// Info strings that models use for Python.
const LANGUAGES: [&str; 17] = [
    "repl",
    "python",
    "py",
    "python3",
    "py3",
    "python_repl",
    "python_code",
    "ipython",
    "ipython3",
    "jupyter",
    "notebook",
    "cell",
    "code",
    "tool_code",
    "code_interpreter",
    "exec",
    "execute",
];

/// Info strings of other languages, whatever the block holds.
const OTHERS: [&str; 28] = [
    "bash",
    "c",
    "console",
    "cpp",
    "css",
    "csv",
    "diff",
    "go",
    "html",
    "ini",
    "java",
    "javascript",
    "js",
    "json",
    "jsonl",
    "log",
    "markdown",
    "md",
    "output",
    "rust",
    "sh",
    "shell",
    "sql",
    "text",
    "toml",
    "txt",
    "xml",
    "yaml",
];

/// Fences that are looked at to see where a string with fences in it ends.
const QUOTED_FENCES_MAX: usize = 16;

/// Bytes that are read again in a reply to see which of its fences stand in strings. Beyond them a fence is a fence.
const LOOKED_AT_BYTES_MAX: usize = 16 << 20;

/// Language that a block declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockLanguage {
    Named,
    Unnamed,
    /// A word that says nothing.
    Unknown,
    Other,
}

/// A block of code.
#[derive(Debug)]
pub(crate) struct CodeBlock<'a> {
    pub(crate) kind: BlockLanguage,
    /// Indentation of the fence, and so of each line.
    indent: &'a str,
    pub(crate) code: String,
    /// Byte range in the reply.
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// The text inside the fence, if one block is the whole reply.
pub(crate) fn unfenced(reply: &str) -> Cow<'_, str> {
    let said = after_thoughts(reply);
    let mut blocks = blocks(said);
    match blocks.pop() {
        Some(block) if blocks.is_empty() && is_only(said, std::slice::from_ref(&block)) => {
            Cow::Owned(block.code.trim().to_owned())
        }
        _ => Cow::Borrowed(said.trim()),
    }
}

/// Words without the lines that are fences, where the code between them has been taken out.
pub(crate) fn without_fence_lines(text: &str) -> String {
    let lines = text.lines().filter(|line| fence(line).is_none());
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The lines that stand in no block, with their places.
pub(crate) fn outside<'a>(
    said: &'a str,
    blocks: &[CodeBlock<'_>],
) -> impl Iterator<Item = (usize, &'a str)> {
    let inside = |at: usize| {
        let begun = blocks.partition_point(|block| block.from <= at);
        begun > 0 && at < blocks[begun - 1].to
    };
    lines(said).filter(move |(at, _)| !inside(*at))
}

/// The lines of a text, with their places.
fn lines(said: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    said.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line)
    })
}

/// True if the reply is nothing but blocks.
pub(crate) fn is_only(said: &str, blocks: &[CodeBlock<'_>]) -> bool {
    outside(said, blocks).all(|(_, line)| line.trim().is_empty())
}

/// The blocks of what is said, in order.
pub(crate) fn blocks(said: &str) -> Vec<CodeBlock<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<(char, usize, CodeBlock<'_>)> = None;
    let mut looks = ScanBudget(LOOKED_AT_BYTES_MAX);
    for (at, line) in lines(said) {
        let to = at + line.len();
        let line = line.trim_end_matches(['\n', '\r']);
        let fence = fence(line).filter(|(mark, length, info)| match &open {
            // A block that was forgotten to be closed ends where the next one begins.
            Some((other, count, block)) => {
                let ends = info.is_empty() || is_named(info);
                let ends = mark == other && length >= count && ends;
                let is_python = matches!(block.kind, BlockLanguage::Named | BlockLanguage::Unnamed);
                ends && !(is_python && looks.is_quoted(&block.code, &said[at..], (*other, *count)))
            }
            None => true,
        });
        let fence = fence.or_else(|| opened_after_words(line).filter(|_| open.is_none()));
        let Some((mark, length, info)) = fence else {
            let Some((mark, length, mut block)) = open.take() else {
                continue;
            };
            let line = without(block.indent, line);
            let last = before_end(line, mark, length)
                .filter(|last| !looks.end_in_string(&block.code, last));
            block.code.push_str(last.unwrap_or(line));
            block.code.push('\n');
            block.to = to;
            if last.is_some() {
                blocks.push(block);
            } else {
                open = Some((mark, length, block));
            }
            continue;
        };
        if let Some((_, _, mut block)) = open.take() {
            block.to = if info.is_empty() { to } else { at };
            blocks.push(block);
            if info.is_empty() {
                continue;
            }
        }
        let kind = match language(info).as_str() {
            "" => BlockLanguage::Unnamed,
            language if LANGUAGES.contains(&language) => BlockLanguage::Named,
            language if OTHERS.contains(&language) => BlockLanguage::Other,
            _ => BlockLanguage::Unknown,
        };
        let block = CodeBlock {
            kind,
            indent: indent(line),
            code: String::new(),
            from: at,
            to,
        };
        open = Some((mark, length, block));
    }
    // The reply was cut off, or the model forgot: what is there is still code.
    blocks.extend(open.map(|(_, _, block)| block));
    blocks
}

/// Bytes that may still be read again.
struct ScanBudget(usize);

impl ScanBudget {
    fn spend(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }

    /// True if code, with `last` at its end, stops within a multi-line string.
    fn end_in_string(&mut self, code: &str, last: &str) -> bool {
        self.spend(code.len() + last.len()) && ends_in_string(&format!("{code}{last}"))
    }

    /// True if the fence at the start of the rest stands in a string of the code before it: then a later one closes the block.
    fn is_quoted(&mut self, code: &str, rest: &str, (mark, count): (char, usize)) -> bool {
        if !self.end_in_string(code, "") {
            return false;
        }
        let mut code = code.to_owned();
        let mut fences = 0;
        for (_, line) in lines(rest) {
            let is_bare = fence(line.trim_end()).is_some_and(|(other, length, info)| {
                other == mark && length >= count && info.is_empty()
            });
            let last = if is_bare {
                Some("")
            } else {
                before_end(line, mark, count)
            };
            if let Some(last) = last {
                if !self.end_in_string(&code, last) {
                    return self.0 > 0;
                }
                fences += 1;
                if fences == QUOTED_FENCES_MAX {
                    return false;
                }
            }
            if !self.spend(line.len()) {
                return false;
            }
            code.push_str(line);
        }
        false
    }
}

/// The end of a block's code, where the fence that closes it stands in the same line.
fn before_end(line: &str, mark: char, length: usize) -> Option<&str> {
    let line = line.trim_end();
    let code = line.trim_end_matches(mark);
    let fence = &line[code.len()..];
    // Two of them in a line are a word in quotes.
    let is_end = fence.len() >= length && !code.trim().is_empty();
    (is_end && !code.contains(&fence[..length])).then_some(code)
}

/// The language that a fence names.
fn language(info: &str) -> String {
    let word = info
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_');
    word.flat_map(char::to_lowercase).collect()
}

fn is_named(info: &str) -> bool {
    LANGUAGES.contains(&language(info).as_str())
}

/// A line of a block in a list or a quote, without the spaces and marks that it has from there.
fn without<'a>(indent: &str, line: &'a str) -> &'a str {
    // The mark of a list stands before its first line only.
    let is_same = |(line, mark): &(char, char)| {
        line == mark || *line == ' ' && (mark.is_ascii_digit() || ".)-*+".contains(*mark))
    };
    let same = line.chars().zip(indent.chars()).take_while(is_same);
    &line[same.map(|(c, _)| c.len_utf8()).sum()..]
}

/// The prefix of a fence line, if it holds no words.
fn indent(line: &str) -> &str {
    let rest = unindented(line);
    let is_fence = rest.starts_with(['`', '~']);
    &line[..if is_fence { line.len() - rest.len() } else { 0 }]
}

/// A line without what stands before it in a list or a quote.
fn unindented(line: &str) -> &str {
    let is_space = |c: char| c.is_whitespace() || ['>', '\u{feff}', '\u{200b}'].contains(&c);
    let rest = line.trim_start_matches(is_space);
    let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = number.len() < rest.len() && number.starts_with(['.', ')']);
    let is_listed = is_numbered || rest.starts_with(['-', '*', '+']);
    let item = if is_numbered { number } else { rest };
    match item.get(1..) {
        Some(item) if is_listed && item.starts_with(' ') => item.trim_start_matches(is_space),
        _ => rest,
    }
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

/// The same for a fence that stands after words in its line: `Step 1: ```python`.
fn opened_after_words(line: &str) -> Option<(char, usize, &str)> {
    let (words, info) = line.rsplit_once("```")?;
    let is_one = !words.contains('`') && LANGUAGES.contains(&info.trim().to_lowercase().as_str());
    is_one.then_some(('`', 3, info.trim()))
}
