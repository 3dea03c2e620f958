//! Splits a text into messages where a reader would.

use std::iter;

use fathom_core::channel::marker::FenceTracker;

/// Maximum length of a message. Discord counts characters; UTF-16 units are never fewer.
pub const MESSAGE_UNITS_MAX: usize = 2_000;
/// Longest fence that is closed at a cut and opened again after it, and longest language name that is repeated.
const FENCE_MARKS_MAX: usize = 12;
const INFO_CHARS_MAX: usize = 24;
/// Space reserved for closing a fence.
const CLOSING_UNITS: usize = FENCE_MARKS_MAX + 1;
/// Note at the end of the last message if the text does not fit.
const MORE: &str = "\n*(cut: there is more)*";

/// A fence that is cut.
#[derive(Default)]
struct SplitPoint {
    /// Line that opens it again.
    opening: String,
    /// Line that closes it.
    closing: String,
}

/// Messages of at most [`MESSAGE_UNITS_MAX`], each with its fences closed, the last followed by `note`.
pub(super) fn split(text: &str, messages_max: usize, note: &str) -> Vec<String> {
    let mut messages = Vec::new();
    let mut cut = SplitPoint::default();
    let mut rest = text;
    while !rest.trim().is_empty() {
        let is_last = messages.len() + 1 == messages_max;
        let reserved = units(&cut.opening) + CLOSING_UNITS + units(MORE).max(units(note));
        let room = MESSAGE_UNITS_MAX.saturating_sub(reserved);
        let end = place_of_cut(rest, room);
        let (now, after) = rest.split_at(end);
        let body = format!("{}{}", cut.opening, now.trim_end_matches(['\n', '\r']));
        cut = cut_after(&format!("{body}\n"));
        rest = after;
        let is_over = rest.trim().is_empty();
        let ending = match (is_over, is_last) {
            (true, _) => note,
            (false, true) => MORE,
            (false, false) => "",
        };
        // Discord refuses empty messages.
        if !now.trim().is_empty() {
            messages.push(format!("{body}{}{ending}", cut.closing));
        }
        if is_last {
            break;
        }
    }
    messages
}

/// Position at which to cut a text longer than `units_max`: after a paragraph, a line or a word that ends in
/// the second half of the available space, else between any characters.
fn place_of_cut(text: &str, units_max: usize) -> usize {
    let mut used = 0;
    let too_far = text.char_indices().find(|(_, c)| {
        used += c.len_utf16();
        used > units_max
    });
    let Some((end, _)) = too_far else {
        return text.len();
    };
    let fits = &text[..end];
    let good = |separator: &str| {
        let at = fits.rfind(separator)? + separator.len();
        (at > end / 2).then_some(at)
    };
    let place = ["\n\n", "\n", " "].into_iter().find_map(good);
    place.unwrap_or(end)
}

/// The fence that is open after a text, unless it is too long to be opened again.
fn cut_after(text: &str) -> SplitPoint {
    let mut fences = FenceTracker::default();
    let mut opened_by = "";
    for line in text.split_inclusive('\n') {
        let was_open = fences.open().is_some();
        fences.push(line);
        if !was_open {
            opened_by = line;
        }
    }
    let Some(fence) = fences
        .open()
        .filter(|open| open.length() <= FENCE_MARKS_MAX)
    else {
        return SplitPoint::default();
    };
    let marks: String = iter::repeat_n(fence.mark(), fence.length()).collect();
    let info = opened_by.trim().trim_start_matches(fence.mark());
    let info = info.split_whitespace().next().unwrap_or_default();
    let info = if info.chars().count() <= INFO_CHARS_MAX {
        info
    } else {
        ""
    };
    SplitPoint {
        opening: format!("{marks}{info}\n"),
        closing: format!("\n{marks}"),
    }
}

fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
