//! Pictures as SVG: well-formed by construction, every text escaped.

use std::fmt::Write as _;

use crate::plain_text::one_line;

/// A picture that is being drawn.
pub(crate) struct Svg {
    text: String,
}

/// Where a text stands from its place.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// An empty picture of so many pixels. Title and description are for those who hear it.
    pub(crate) fn new((width, height): (f64, f64), title: &str, desc: &str, style: &str) -> Self {
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-labelledby=\"title desc\">\n"
        );
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "<title id=\"title\">{}</title>", escaped(title));
        let _ = writeln!(text, "<desc id=\"desc\">{}</desc>", escaped(desc));
        let _ = writeln!(text, "<style>{style}</style>");
        Self { text }
    }

    /// A rectangle, with words that show when it is pointed at.
    pub(crate) fn bar(&mut self, class: &str, [x, y, width, height]: [f64; 4], tip: &str) {
        let _ = writeln!(
            self.text,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\"><title>{}</title></rect>",
            escaped(tip)
        );
    }

    /// A line.
    pub(crate) fn line(&mut self, class: &str, [x1, y1, x2, y2]: [f64; 4]) {
        let _ = writeln!(
            self.text,
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        );
    }

    /// A line of text.
    pub(crate) fn text(&mut self, class: &str, anchor: Anchor, (x, y): (f64, f64), said: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = writeln!(
            self.text,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            escaped(said)
        );
    }

    /// The picture as a file holds it.
    pub(crate) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

/// Text that can stand anywhere in XML: on one line, without what steers a reader.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&apos;"),
            // XML has no place for these two, not even escaped.
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
#[path = "svg_tests.rs"]
mod tests;
