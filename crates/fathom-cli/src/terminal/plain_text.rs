//! Text that is safe to show on a terminal, and cut by the columns it takes there.

use unicode_width::UnicodeWidthStr;

use crate::terminal::masking::masked;

const ELLIPSIS: char = '…';

/// Model text for a terminal, as it may leave: line breaks and tabs stay, everything that could steer the terminal goes.
pub(crate) fn safe(text: &str) -> String {
    masked(&harmless(text)).into_owned()
}

/// Text without anything that could steer a terminal.
pub(crate) fn harmless(text: &str) -> String {
    // Whole sequences first: without its escape character the rest of one would stay as text.
    let text = anstream::adapter::strip_str(text).to_string();
    text.chars()
        .filter(|c| matches!(c, '\n' | '\t') || is_harmless(*c))
        .collect()
}

/// The same on one line: white space of any kind becomes one space.
pub(crate) fn one_line(text: &str) -> String {
    let text = safe(text);
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    // What stood on two lines is found now.
    masked(&line).into_owned()
}

/// Text on one line with nothing hidden: what a terminal would not show, or would obey, is written out as `\u{202e}`.
pub(crate) fn visible(text: &str) -> String {
    let text = masked(text);
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_harmless(c) && (c == ' ' || !c.is_whitespace()) {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
    }
    shown
}

/// `text` in lines of at most `max` columns that together hold every character of it, broken after a space where there
/// is one.
pub(crate) fn fold(text: &str, max: usize) -> Vec<String> {
    let max = max.max(1);
    let text = masked(text);
    let mut lines = Vec::new();
    let mut line = String::new();
    for c in text.chars() {
        line.push(c);
        if columns(&line) <= max || line.chars().count() == 1 {
            continue;
        }
        let next = match line.trim_end_matches(c).rfind(' ') {
            Some(space) if c != ' ' => line.split_off(space + 1),
            _ => {
                line.pop();
                c.to_string()
            }
        };
        lines.push(std::mem::replace(&mut line, next));
    }
    lines.push(line);
    lines
}

/// True unless it is a control character, an invisible one, or one that changes the reading direction.
fn is_harmless(c: char) -> bool {
    // Invisible and direction-changing characters: they can make a text look like another, or hide a part of it.
    const UNSEEN: [std::ops::RangeInclusive<char>; 8] = [
        '\u{ad}'..='\u{ad}',
        '\u{61c}'..='\u{61c}',
        '\u{200b}'..='\u{200b}',
        '\u{200e}'..='\u{200f}',
        '\u{2028}'..='\u{202e}',
        '\u{2060}'..='\u{206f}',
        '\u{feff}'..='\u{feff}',
        '\u{e0000}'..='\u{e007f}',
    ];
    !c.is_control() && !UNSEEN.iter().any(|range| range.contains(&c))
}

/// Columns that `text` takes.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// The beginning of `text` in at most `max` columns, with an ellipsis where something is missing.
pub(crate) fn clip(text: &str, max: usize) -> String {
    if columns(text) <= max {
        return text.to_owned();
    }
    let text = masked(text);
    if columns(&text) <= max {
        return text.into_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        // Measured as a whole: a mark that joins its letter takes no column of its own.
        if columns(&kept) + 1 > max {
            kept.pop();
            break;
        }
    }
    let mut kept = kept.trim_end().to_owned();
    if max > 0 {
        kept.push(ELLIPSIS);
    }
    kept
}

/// The end of `text` in at most `max` columns, with an ellipsis where something is missing.
pub(crate) fn clip_front(text: &str, max: usize) -> String {
    if columns(text) <= max {
        return text.to_owned();
    }
    let text = masked(text);
    if columns(&text) <= max {
        return text.into_owned();
    }
    let mut starts = text.char_indices().map(|(at, _)| at);
    let tail = starts
        .find_map(|at| {
            let tail = text.get(at..)?.trim_start();
            (columns(tail) < max).then_some(tail)
        })
        .unwrap_or_default();
    if max == 0 {
        String::new()
    } else {
        format!("{ELLIPSIS}{tail}")
    }
}

/// `text` broken between words into lines of at most `max` columns; a word that is wider is broken as well. White space
/// of any kind becomes one space.
pub(crate) fn wrap(text: &str, max: usize) -> Vec<String> {
    let max = max.max(1);
    let text = masked(text);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let gap = usize::from(!line.is_empty());
        if columns(&line) + gap + columns(word) <= max {
            line.push_str(if gap == 0 { "" } else { " " });
            line.push_str(word);
            continue;
        }
        if gap > 0 {
            lines.push(std::mem::take(&mut line));
        }
        for c in word.chars() {
            line.push(c);
            // Measured as a whole, as in `clip`.
            if columns(&line) > max {
                line.pop();
                if !line.is_empty() {
                    lines.push(std::mem::replace(&mut line, c.to_string()));
                }
            }
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// `text` with spaces up to `width` columns.
pub(crate) fn pad(text: &str, width: usize) -> String {
    let gap = width.saturating_sub(columns(text));
    format!("{text}{}", " ".repeat(gap))
}

/// `text` with spaces before it, up to `width` columns.
pub(crate) fn pad_front(text: &str, width: usize) -> String {
    let gap = width.saturating_sub(columns(text));
    format!("{}{text}", " ".repeat(gap))
}

#[cfg(test)]
#[path = "plain_text_tests.rs"]
mod tests;
