//! Splits documents along their structure into passages.
//!
//! A splitter per format turns a document into an [`Outline`]: its text, the positions of source lines in it,
//! and its blocks. [`pack`] joins small neighbours and splits large blocks.

mod cut;
mod html;
mod markdown;
mod pack;
mod plain;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use cut::sentence_ends;

use crate::passage::Passage;
use crate::read::{Document, Format};

/// The structure of a document.
#[derive(Debug, Default)]
struct Outline<'a> {
    text: Cow<'a, str>,
    /// Positions in the text and the line (or page) starting there, ascending.
    lines: Vec<(usize, u32)>,
    blocks: Vec<Block>,
    /// Heading above every passage.
    title: String,
}

#[derive(Debug)]
struct Block {
    range: Range<usize>,
    kind: BlockKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockKind {
    /// Starts a part; 1 is the outermost level.
    Heading(u8),
    /// Cut between sentences if it is long.
    Prose,
    /// Cut between lines if it is long.
    Lines,
}

impl Outline<'_> {
    fn line_at(&self, offset: usize) -> u32 {
        let after = self.lines.partition_point(|&(start, _)| start <= offset);
        after
            .checked_sub(1)
            .and_then(|at| self.lines.get(at))
            .map_or(1, |&(_, line)| line)
    }
}

/// The passages of a document, in order.
pub(crate) fn passages(document: &Document) -> Vec<Passage> {
    let text = document.text.as_str();
    let outline = match document.format {
        Format::Plain => plain::paragraphs(text),
        Format::Markdown => markdown::outline(text),
        Format::Html => html::outline(text),
        Format::Lines => plain::records(text),
        Format::Table => plain::table(text),
        Format::Pages => plain::pages(text),
    };
    pack::pack(&document.source, &outline)
}

/// The whole text of an HTML page.
pub(crate) fn text_of_html(text: &str) -> String {
    html::outline(text).text.into_owned()
}

/// Line starts of a text that is its own source.
fn lines_of(text: &str) -> Vec<(usize, u32)> {
    let starts = text.match_indices('\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(starts).zip(1..).collect()
}

#[cfg(test)]
#[path = "../split_tests.rs"]
mod tests;
