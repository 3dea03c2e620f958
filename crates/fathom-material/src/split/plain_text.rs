//! Text without markup: paragraphs, records and pages.

use std::borrow::Cow;
use std::ops::Range;

use super::{BlockKind, HeadingOutline, TextBlock, lines_of};
use crate::limits::HEADINGS_CHARS_MAX;

/// Separator of pages.
pub(super) const FORM_FEED: char = '\u{c}';

/// Paragraphs separated by blank lines.
pub(super) fn paragraphs(text: &str) -> HeadingOutline<'_> {
    HeadingOutline {
        text: Cow::Borrowed(text),
        lines: lines_of(text),
        blocks: paragraphs_in(text, 0..text.len()),
        title: String::new(),
    }
}

/// One record per line.
pub(super) fn records(text: &str) -> HeadingOutline<'_> {
    HeadingOutline {
        text: Cow::Borrowed(text),
        lines: lines_of(text),
        blocks: vec![TextBlock {
            range: 0..text.len(),
            kind: BlockKind::Lines,
        }],
        title: String::new(),
    }
}

/// One record per line; the first line names the columns.
pub(super) fn table(text: &str) -> HeadingOutline<'_> {
    let columns = text.lines().next().unwrap_or_default().trim();
    HeadingOutline {
        title: columns.chars().take(HEADINGS_CHARS_MAX).collect(),
        ..records(text)
    }
}

/// Paragraphs of pages. The page takes the place of the line.
pub(super) fn pages(text: &str) -> HeadingOutline<'_> {
    let starts = text
        .match_indices(FORM_FEED)
        .map(|(at, feed)| at + feed.len());
    let lines: Vec<(usize, u32)> = std::iter::once(0).chain(starts).zip(1..).collect();
    let ends = lines
        .iter()
        .skip(1)
        .map(|&(start, _)| start)
        .chain([text.len()]);
    let blocks = lines
        .iter()
        .zip(ends)
        .flat_map(|(&(start, _), end)| paragraphs_in(text, start..end))
        .collect();
    HeadingOutline {
        text: Cow::Borrowed(text),
        lines,
        blocks,
        title: String::new(),
    }
}

fn paragraphs_in(text: &str, range: Range<usize>) -> Vec<TextBlock> {
    let mut blocks: Vec<TextBlock> = Vec::new();
    let mut at = range.start;
    let mut is_open = false;
    for line in text[range].split_inclusive('\n') {
        let here = at..at + line.len();
        at = here.end;
        if line.trim().is_empty() {
            is_open = false;
            continue;
        }
        // Lines with a shape of their own, as in lists, tables and programs, are not sentences.
        let kind = if line.starts_with([' ', '\t', '-', '*', '|', '{', '}']) {
            BlockKind::Lines
        } else {
            BlockKind::Prose
        };
        match blocks.last_mut() {
            Some(block) if is_open => block.range.end = here.end,
            Some(_) | None => blocks.push(TextBlock { range: here, kind }),
        }
        is_open = true;
    }
    blocks
}
