//! The page of an error: its title names what went wrong, and the message on it is the program's own.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::error_pages::{PAGES_FOLDER, is_page};
use crate::finding::Finding;
use crate::pattern;
use crate::ratchet::Violation;
use crate::sources::Source;
use crate::tree::{self, Tree};

/// Fewer letters than these match nearly anything.
const LETTERS_MIN: usize = 6;

pub(super) fn check(tree: &Tree, sources: &[Source<'_>]) -> Vec<Violation> {
    let templates = Templates::of(sources);
    let pages = tree.texts().filter(|(path, _)| is_page(path));
    let mut violations = Vec::new();
    for (path, text) in pages {
        let code = tree::file_name(path).trim_end_matches(".md");
        let at = |check, line, message: String| {
            Violation::new(check, PAGES_FOLDER, Finding::new(path, line, message))
        };
        if let Some(title) = title(text).filter(|title| is_sentence(title)) {
            violations.push(at(
                "error-page-title",
                1,
                format!("`{title}`: name the thing, in a noun phrase"),
            ));
        }
        if let Some((line, message)) = quoted_message(text, code)
            && !templates.know(code, message)
        {
            let message = format!("no source says `{message}`: quote the message as it is now");
            violations.push(at("error-page-message", line, message));
        }
    }
    violations
}

/// What stands behind the code in the heading.
fn title(text: &str) -> Option<&str> {
    let heading = text.lines().next()?.strip_prefix("# ")?;
    heading.split_once(": ").map(|(_, title)| title)
}

fn is_sentence(title: &str) -> bool {
    static SENTENCE: LazyLock<Regex> = LazyLock::new(|| {
        pattern::constant(r"^nobody\b| that (?:is|are|cannot)\b| without a yes\b")
    });
    SENTENCE.is_match(title)
}

/// The message behind `error[F0101]: ` and its line, unless it goes on in the next line.
fn quoted_message<'a>(text: &'a str, code: &str) -> Option<(usize, &'a str)> {
    let start = format!("error[{code}]: ");
    let mut lines = text.lines().enumerate();
    let (index, message) =
        lines.find_map(|(index, line)| Some((index, line.trim_start().strip_prefix(&start)?)))?;
    Some((index + 1, message.trim_end()))
}

/// Texts that sources may show, with placeholders.
struct Templates {
    by_crate: BTreeMap<String, Vec<Vec<String>>>,
    crates_of_code: BTreeMap<String, Vec<String>>,
}

impl Templates {
    fn of(sources: &[Source<'_>]) -> Self {
        static CODE: LazyLock<Regex> = LazyLock::new(|| pattern::constant(r"^F[0-9]{4}$"));
        let mut by_crate: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
        let mut crates_of_code: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for source in sources.iter().filter(|source| source.is_product()) {
            let literals = source.rust.literals.iter();
            for literal in literals.filter(|literal| source.is_shipped_at(literal.start)) {
                let text = &source.rust.raw[literal.clone()];
                let text = text.trim_start_matches(['r', '#']).trim_end_matches('#');
                let text = text.trim_matches('"');
                if CODE.is_match(text) {
                    let crates = crates_of_code.entry(text.to_owned()).or_default();
                    crates.push(source.owner.to_owned());
                    continue;
                }
                let pieces = pieces(text);
                let letters = pieces.iter().flat_map(|piece| piece.chars());
                if letters.filter(|c| c.is_alphabetic()).count() >= LETTERS_MIN {
                    by_crate
                        .entry(source.owner.to_owned())
                        .or_default()
                        .push(pieces);
                }
            }
        }
        Self {
            by_crate,
            crates_of_code,
        }
    }

    /// Whether a crate that raises the code has a text that may read like this.
    fn know(&self, code: &str, message: &str) -> bool {
        let crates = self.crates_of_code.get(code).into_iter().flatten();
        crates
            .filter_map(|owner| self.by_crate.get(owner))
            .flatten()
            .any(|pieces| may_read(pieces, message))
    }
}

/// A template's words between its placeholders; the first and the last may be empty.
fn pieces(literal: &str) -> Vec<String> {
    static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| pattern::constant(r"\{[^{}]*\}"));
    static CONTINUATION: LazyLock<Regex> = LazyLock::new(|| pattern::constant(r"\\\n\s*"));
    let text = CONTINUATION.replace_all(literal, "");
    let text = text.replace("\\\"", "\"").replace("\\n", " ");
    PLACEHOLDER
        .split(&text)
        .map(|piece| piece.replace("{{", "{").replace("}}", "}"))
        .collect()
}

fn may_read(pieces: &[String], message: &str) -> bool {
    let [first, middle @ .., last] = pieces else {
        return pieces.first().is_some_and(|only| only == message);
    };
    let Some(mut rest) = message.strip_prefix(first.as_str()) else {
        return false;
    };
    for piece in middle {
        let Some(at) = rest.find(piece.as_str()) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last.as_str())
}

#[cfg(test)]
#[path = "error_titles_tests.rs"]
mod tests;
