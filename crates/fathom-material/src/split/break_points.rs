//! Positions at which a long text may be cut.

use std::ops::Range;

use crate::limits::{PASSAGE_WORDS_MAX, WORD_BYTES};

/// Number of words. Scripts without spaces, and text without words, count by their bytes.
pub(crate) fn weight(text: &str) -> usize {
    text.split_whitespace().count().max(text.len() / WORD_BYTES)
}

/// Ends of the sentences in a text, including the end of the text.
pub(crate) fn sentence_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((at, mark)) = rest.next() {
        // These need no following space.
        if matches!(mark, '。' | '！' | '？') {
            ends.push(at + mark.len_utf8());
        }
        if !matches!(mark, '.' | '!' | '?' | '…') {
            continue;
        }
        let mut end = at + mark.len_utf8();
        while let Some((at, close)) = rest.next_if(|(_, c)| is_closing(*c)) {
            end = at + close.len_utf8();
        }
        let mut spaces = 0;
        while rest.next_if(|(_, c)| c.is_whitespace()).is_some() {
            spaces += 1;
        }
        let goes_on = rest.peek().is_some_and(|(_, next)| next.is_lowercase());
        if spaces > 0 && !goes_on {
            ends.push(end);
        }
    }
    if ends.last() != Some(&text.len()) {
        ends.push(text.len());
    }
    ends
}

fn is_closing(c: char) -> bool {
    matches!(
        c,
        '.' | '!' | '?' | '…' | '"' | '\'' | '”' | '’' | '»' | ')' | ']' | '*' | '_'
    )
}

/// Cuts a text between sentences, into parts of similar size that are no longer than a passage.
pub(super) fn at_sentences(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let units = sentence_ends(text).into_iter().map(|end| {
        let unit = start..end;
        start = end;
        unit
    });
    fill(text, units.flat_map(|unit| at_words(text, unit)))
}

/// Cuts a text between lines, into parts of similar size.
pub(super) fn at_lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let units = text.split_inclusive('\n').map(|line| {
        let unit = start..start + line.len();
        start = unit.end;
        unit
    });
    let units = units.flat_map(|unit| {
        if weight(&text[unit.clone()]) <= PASSAGE_WORDS_MAX {
            return vec![unit];
        }
        let parts = at_sentences(&text[unit.clone()]);
        let shift = |part: Range<usize>| unit.start + part.start..unit.start + part.end;
        parts.into_iter().map(shift).collect()
    });
    fill(text, units)
}

/// Cuts a unit that is longer than a passage between words, and a longer word at any character.
fn at_words(text: &str, unit: Range<usize>) -> Vec<Range<usize>> {
    if weight(&text[unit.clone()]) <= PASSAGE_WORDS_MAX {
        return vec![unit];
    }
    let bytes_max = PASSAGE_WORDS_MAX * WORD_BYTES;
    let mut parts = Vec::new();
    let mut start = unit.start;
    let mut words = 0;
    let mut end = unit.start;
    for word in text[unit.clone()].split_inclusive(char::is_whitespace) {
        if end > start && (words == PASSAGE_WORDS_MAX || end + word.len() - start > bytes_max) {
            parts.push(start..end);
            (start, words) = (end, 0);
        }
        let word_end = end + word.len();
        while word_end - start > bytes_max {
            let cut = text.floor_char_boundary(start + bytes_max);
            parts.push(start..cut);
            start = cut;
        }
        end = word_end;
        words += 1;
    }
    parts.push(start..unit.end);
    parts
}

/// Joins units until a part is full.
fn fill(text: &str, units: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let all = weight(text);
    // Parts of equal size read better than full ones with a short rest.
    let target = all.div_ceil(all.div_ceil(PASSAGE_WORDS_MAX).max(1));
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut filled = usize::MAX;
    for unit in units {
        let more = weight(&text[unit.clone()]);
        match parts.last_mut() {
            Some(part) if filled < target && filled + more <= PASSAGE_WORDS_MAX => {
                part.end = unit.end;
                filled += more;
            }
            Some(_) | None => {
                parts.push(unit);
                filled = more;
            }
        }
    }
    parts
}
