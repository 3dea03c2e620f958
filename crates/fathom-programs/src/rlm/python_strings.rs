//! Ranges of string literals in Python code.

/// The longer ones first: each begins with a shorter one.
const QUOTES: [&str; 4] = ["\"\"\"", "'''", "\"", "'"];

/// A string that a text begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PythonString {
    /// So many bytes of it.
    Closed(usize),
    /// It goes on beyond the text, or beyond the line if it may have only one.
    Open {
        /// True for a triple-quoted string, which may span lines.
        is_long: bool,
    },
}

/// The string that a text begins with, without the letters before it.
pub(crate) fn quoted(text: &str) -> Option<PythonString> {
    let mark = QUOTES.into_iter().find(|mark| text.starts_with(mark))?;
    let is_long = mark.len() > 1;
    let mut at = mark.len();
    while let Some(next) = text[at..].chars().next() {
        if text[at..].starts_with(mark) {
            return Some(PythonString::Closed(at + mark.len()));
        }
        if next == '\n' && !is_long {
            break;
        }
        at += next.len_utf8();
        if next == '\\' {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    Some(PythonString::Open { is_long })
}

/// Letters before a string that say what it is: `f`, `rb`.
pub(crate) fn prefix(text: &str) -> usize {
    let is_letter = |c: &char| "fFrRbBuU".contains(*c);
    let width = text.chars().take(2).take_while(is_letter).count();
    if text[width..].starts_with(['"', '\'']) {
        width
    } else {
        0
    }
}

/// Code up to the bracket that closes the one before it.
pub(crate) fn up_to_bracket(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        let mut width = next.len_utf8();
        match (quoted(&text[at..]), next) {
            (Some(PythonString::Closed(bytes)), _) => width = bytes,
            (Some(PythonString::Open { .. }), _) => return None,
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')') if depth == 0 => return Some(&text[..at]),
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
        at += width;
    }
    None
}

/// True if code ends within a triple-quoted string.
pub(crate) fn ends_in_string(code: &str) -> bool {
    let mut at = 0;
    while let Some(next) = code[at..].chars().next() {
        let rest = &code[at..];
        let line = || rest.find('\n').unwrap_or(rest.len());
        at += match quoted(rest) {
            Some(PythonString::Closed(bytes)) => bytes,
            Some(PythonString::Open { is_long: true }) => return true,
            Some(PythonString::Open { is_long: false }) => line(),
            None if next == '#' => line(),
            None => next.len_utf8(),
        };
    }
    false
}
