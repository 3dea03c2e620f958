//! Splits documents along their structure into passages.
//!
//! A splitter per format turns a document into an [`HeadingOutline`]: its text, the positions of source lines in it,
//! and its blocks. [`passages`] joins small neighbours and splits large blocks.

mod break_points;
mod html;
mod markdown;
mod passages;
mod plain_text;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use break_points::sentence_ends;

use crate::passage::Passage;
use crate::read_documents::{DocumentFormat, MaterialDocument};

/// The structure of a document.
#[derive(Debug, Default)]
struct HeadingOutline<'a> {
    text: Cow<'a, str>,
    /// Positions in the text and the line (or page) starting there, ascending.
    lines: Vec<(usize, u32)>,
    blocks: Vec<TextBlock>,
    /// Heading above every passage.
    title: String,
}

#[derive(Debug)]
struct TextBlock {
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

impl HeadingOutline<'_> {
    fn line_at(&self, offset: usize) -> u32 {
        let after = self.lines.partition_point(|&(start, _)| start <= offset);
        after
            .checked_sub(1)
            .and_then(|at| self.lines.get(at))
            .map_or(1, |&(_, line)| line)
    }
}

/// The passages of a document, in order.
pub(crate) fn passages(document: &MaterialDocument) -> Vec<Passage> {
    let text = document.text.as_str();
    let outline = match document.format {
        DocumentFormat::Plain => plain_text::paragraphs(text),
        DocumentFormat::Markdown => markdown::outline(text),
        DocumentFormat::Html => html::outline(text),
        DocumentFormat::Lines => plain_text::records(text),
        DocumentFormat::Table => plain_text::table(text),
        DocumentFormat::Pages => plain_text::pages(text),
    };
    passages::pack(&document.source, &outline)
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
#[path = "split_tests.rs"]
mod tests;
