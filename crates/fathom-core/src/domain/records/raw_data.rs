//! Detection of raw data in a text that may only point to people and payloads in a redacted form.
//!
//! Raw are: an e-mail address; an address of a page that carries a query, a fragment or a user; data and file addresses; a
//! telephone number; nine or more digits in a row; a UUID; and sixteen or more hexadecimal digits in a row. In their place
//! stands `redacted:` with what it was and perhaps a number, as `redacted:email-1`: nothing of what was there.

/// Digits in a row that are an id of something.
const DIGITS_MAX: usize = 8;

/// Digits of a telephone number that begins with `+` or `00`.
const PHONE_DIGITS_MIN: usize = 8;

/// Hexadecimal digits in a row that are an id or a digest.
const HEX_MAX: usize = 15;

const REDACTED: &str = "redacted:";

/// The first word that is raw.
pub(super) fn raw_word(text: &str) -> Option<&str> {
    let mut words = text.split(|c: char| c.is_whitespace() || c.is_control());
    // A telephone number may have spaces inside, so it is looked for in the whole text.
    words.find(|word| is_raw(word)).or_else(|| phone(text))
}

/// True if a pointer says that it is redacted, and is.
pub(super) fn is_redacted(pointer: &str) -> bool {
    let Some(what) = pointer.strip_prefix(REDACTED) else {
        return false;
    };
    let (word, number) = what.split_once('-').unwrap_or((what, ""));
    // Short, and letters alone: what was redacted must not fit in again.
    (1..=32).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_lowercase())
        && number.len() <= 3
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_raw(word: &str) -> bool {
    // An at sign can be hidden by percent-encoding or as a full-width letter.
    let word = word.to_lowercase().replace("%40", "@").replace('＠', "@");
    is_email(&word)
        || is_telling_address(&word)
        || longest_run(&word, |c| c.is_ascii_digit()) > DIGITS_MAX
        || longest_run(&word, |c| c.is_ascii_hexdigit()) > HEX_MAX
        || has_uuid(&word)
}

/// Something, an at sign, and something with a dot inside.
fn is_email(word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "._%+-".contains(c);
    word.match_indices('@').any(|(at, _)| {
        let before = word[..at].chars().next_back().is_some_and(is_part);
        let after: String = word[at + 1..].chars().take_while(|c| is_part(*c)).collect();
        let after = after.trim_end_matches('.');
        before && after.split('.').count() > 1 && !after.starts_with('.')
    })
}

/// An address that says more than which page is meant.
fn is_telling_address(word: &str) -> bool {
    let at = |scheme: &str| {
        word.split_once(scheme)
            .filter(|(before, _)| !before.ends_with(char::is_alphanumeric))
    };
    at("data:").is_some_and(|(_, rest)| rest.contains([',', '/']))
        || at("file:").is_some_and(|(_, rest)| rest.starts_with('/'))
        || word.split_once("://").is_some_and(|(_, rest)| {
            let host = rest.split('/').next().unwrap_or_default();
            host.contains('@') || rest.contains(['?', '#'])
        })
}

fn longest_run(word: &str, is_in: impl Fn(char) -> bool) -> usize {
    let runs = word.split(|c| !is_in(c));
    runs.map(str::len).max().unwrap_or_default()
}

fn has_uuid(word: &str) -> bool {
    let mut runs = word.split(|c: char| !c.is_ascii_hexdigit() && c != '-');
    runs.any(|run| {
        let lengths: Vec<usize> = run.split('-').map(str::len).collect();
        lengths.windows(5).any(|five| five == [8, 4, 4, 4, 12])
    })
}

/// A number that is dialled, which may have spaces inside.
fn phone(text: &str) -> Option<&str> {
    let is_inside = |c: char| c.is_ascii_digit() || " -./()\u{a0}".contains(c);
    let starts = text
        .match_indices('+')
        .chain(text.match_indices("00"))
        .map(|(at, _)| at);
    starts
        .filter(|at| {
            !text[..*at]
                .chars()
                .next_back()
                .is_some_and(char::is_alphanumeric)
        })
        .map(|at| {
            let rest = &text[at..];
            let end = rest[1..]
                .find(|c| !is_inside(c))
                .map_or(rest.len(), |end| end + 1);
            &rest[..end]
        })
        .find(|number| number.bytes().filter(u8::is_ascii_digit).count() >= PHONE_DIGITS_MIN)
}
