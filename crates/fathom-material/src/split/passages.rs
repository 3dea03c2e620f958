//! Packs blocks into passages.

use std::ops::Range;
use std::sync::Arc;

use super::break_points::{at_lines, at_sentences, weight};
use super::{BlockKind, HeadingOutline};
use crate::limits::{HEADINGS_CHARS_MAX, PASSAGE_WORDS_MAX, PASSAGE_WORDS_MIN};
use crate::passage::Passage;

/// Joins neighbours under the same heading until they make a passage, and splits long blocks.
pub(super) fn pack(source: &str, outline: &HeadingOutline<'_>) -> Vec<Passage> {
    let mut packer = PassagePacker {
        source: source.into(),
        outline,
        passages: Vec::new(),
        open: Vec::new(),
        group: None,
    };
    for block in &outline.blocks {
        match block.kind {
            BlockKind::Heading(level) => packer.heading(level, &block.range),
            BlockKind::Prose => packer.block(&block.range, at_sentences),
            BlockKind::Lines => packer.block(&block.range, at_lines),
        }
    }
    packer.flush();
    packer.passages
}

struct PassagePacker<'a> {
    source: Arc<str>,
    outline: &'a HeadingOutline<'a>,
    passages: Vec<Passage>,
    /// Headings above the next block.
    open: Vec<(u8, String)>,
    group: Option<BlockGroup>,
}

/// Neighbours that become one passage.
struct BlockGroup {
    range: Range<usize>,
    words: usize,
    /// The headings above it, without those inside it.
    headings: Arc<str>,
    has_text: bool,
}

impl PassagePacker<'_> {
    fn heading(&mut self, level: u8, range: &Range<usize>) {
        let words = weight(&self.outline.text[range.clone()]);
        if words > PASSAGE_WORDS_MAX {
            // Too long to be meant as a heading.
            self.block(range, at_lines);
            return;
        }
        let full = |group: &BlockGroup| group.has_text || group.words + words > PASSAGE_WORDS_MAX;
        if self.group.as_ref().is_some_and(full) {
            self.flush();
        }
        self.open.retain(|(above, _)| *above < level);
        self.extend(range, false);
        let text =
            self.outline.text[range.clone()].trim_matches(['#', '=', '-', ' ', '\n', '\r', '\t']);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.open.push((level, text));
    }

    fn block(&mut self, range: &Range<usize>, cut: fn(&str) -> Vec<Range<usize>>) {
        let words = weight(&self.outline.text[range.clone()]);
        if words == 0 {
            return;
        }
        let full = |group: &BlockGroup| {
            group.has_text
                && (group.words >= PASSAGE_WORDS_MIN || group.words + words > PASSAGE_WORDS_MAX)
        };
        if self.group.as_ref().is_some_and(full) {
            self.flush();
        }
        if words <= PASSAGE_WORDS_MAX {
            self.extend(range, true);
            return;
        }
        for part in cut(&self.outline.text[range.clone()]) {
            self.extend(&(range.start + part.start..range.start + part.end), true);
            self.flush();
        }
    }

    fn extend(&mut self, range: &Range<usize>, has_text: bool) {
        let words = weight(&self.outline.text[range.clone()]);
        match &mut self.group {
            Some(group) => {
                group.range.end = range.end;
                group.words += words;
                group.has_text |= has_text;
            }
            None => {
                self.group = Some(BlockGroup {
                    range: range.clone(),
                    words,
                    headings: self.headings().into(),
                    has_text,
                });
            }
        }
    }

    fn headings(&self) -> String {
        let open = self.open.iter().map(|(_, text)| text.as_str());
        let all: Vec<&str> = std::iter::once(self.outline.title.as_str())
            .chain(open)
            .filter(|text| !text.is_empty())
            .collect();
        all.join(" > ").chars().take(HEADINGS_CHARS_MAX).collect()
    }

    fn flush(&mut self) {
        let Some(group) = self.group.take() else {
            return;
        };
        let slice = &self.outline.text[group.range.clone()];
        let text = slice.trim();
        if text.is_empty() {
            return;
        }
        let start = group.range.start + (slice.len() - slice.trim_start().len());
        self.passages.push(Passage {
            source: self.source.clone(),
            first_line: self.outline.line_at(start),
            last_line: self.outline.line_at(start + text.len() - 1),
            headings: group.headings,
            text: text.to_owned(),
        });
    }
}
