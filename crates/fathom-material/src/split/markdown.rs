//! Markdown: headings, paragraphs, lists, code and tables, as they are in the source.

use std::borrow::Cow;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

use super::{BlockKind, HeadingOutline, TextBlock, lines_of};

pub(super) fn outline(text: &str) -> HeadingOutline<'_> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut blocks = Vec::new();
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    let kind = kind_of(&tag);
                    blocks.push(TextBlock { range, kind });
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    HeadingOutline {
        text: Cow::Borrowed(text),
        lines: lines_of(text),
        blocks,
        title: String::new(),
    }
}

fn kind_of(tag: &Tag<'_>) -> BlockKind {
    match tag {
        Tag::Heading { level, .. } => BlockKind::Heading(match level {
            HeadingLevel::H1 => 1,
            HeadingLevel::H2 => 2,
            HeadingLevel::H3 => 3,
            HeadingLevel::H4 => 4,
            HeadingLevel::H5 => 5,
            HeadingLevel::H6 => 6,
        }),
        Tag::Paragraph | Tag::BlockQuote(_) => BlockKind::Prose,
        _ => BlockKind::Lines,
    }
}
