//! Decoding of bytes into text.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Maximum percentage of bytes outside ASCII in a text of one byte per character. Western European prose has
/// under ten.
const HIGH_PERCENT_MAX: usize = 30;

/// Minimum number of characters outside ASCII per flaw that makes a text UTF-8. Older western text has next to
/// none by chance.
const PER_FLAW_MIN: u64 = 9;

/// Maximum number of bytes of a cut character at the start of a text.
const CUT_START_MAX: usize = 3;

/// The decoded text of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DecodedText {
    pub(crate) text: String,
    /// Number of places that are not UTF-8 and became `U+FFFD`.
    pub(crate) flaws: u64,
}

/// Decodes a file; `None` if it is not text.
///
/// Accepted are UTF-8, also if a small part of it is broken, and UTF-16 with its byte-order mark. Anything else
/// without control characters is read as Windows-1252, the encoding of older western files.
pub(crate) fn text(bytes: Vec<u8>) -> Option<DecodedText> {
    let decoded = match Encoding::for_bom(&bytes) {
        Some((encoding, mark)) if encoding == UTF_8 => lossy(&bytes[mark..]),
        Some((encoding, mark)) => {
            let (text, malformed) = encoding.decode_without_bom_handling(&bytes[mark..]);
            if malformed {
                return None;
            }
            whole(text.into_owned())
        }
        None => match String::from_utf8(bytes) {
            Ok(text) => whole(text),
            Err(error) if is_nearly_utf_8(error.as_bytes()) => lossy(error.as_bytes()),
            Err(error) => whole(western(error.as_bytes())?),
        },
    };
    // No text has zero bytes, in any of these encodings.
    (!decoded.text.contains('\0')).then_some(decoded)
}

const fn whole(text: String) -> DecodedText {
    DecodedText { text, flaws: 0 }
}

fn lossy(bytes: &[u8]) -> DecodedText {
    DecodedText {
        text: String::from_utf8_lossy(bytes).into_owned(),
        flaws: flaws(bytes),
    }
}

fn flaws(bytes: &[u8]) -> u64 {
    let broken = bytes.utf8_chunks().map(|chunk| chunk.invalid());
    broken.filter(|invalid| !invalid.is_empty()).count() as u64
}

/// True if all but a tenth of the characters outside ASCII are UTF-8, or only a character at an end was cut.
fn is_nearly_utf_8(bytes: &[u8]) -> bool {
    let is_rest = |byte: &&u8| matches!(byte, 0x80..=0xbf);
    let head = bytes.iter().take_while(is_rest).count();
    let within = bytes.get(head..).filter(|_| head <= CUT_START_MAX);
    let within = within.unwrap_or(bytes);
    // A cut at the end leaves the start of a character, so that only its end is missing.
    let tail = match std::str::from_utf8(within) {
        Err(error) if error.error_len().is_none() => within.len() - error.valid_up_to(),
        _ => 0,
    };
    let inner = &within[..within.len() - tail];
    let chunks = inner.utf8_chunks();
    let proper: u64 = chunks
        .map(|chunk| chunk.valid().chars().filter(|c| !c.is_ascii()).count() as u64)
        .sum();
    let is_only_cut = flaws(inner) == 0 && (proper > 0 || head > 1 || tail > 1);
    is_only_cut || proper >= flaws(bytes).saturating_mul(PER_FLAW_MIN)
}

fn western(bytes: &[u8]) -> Option<String> {
    let control =
        |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c);
    let high = bytes.iter().filter(|byte| !byte.is_ascii()).count();
    if bytes.iter().any(control) || high * 100 > bytes.len() * HIGH_PERCENT_MAX {
        return None;
    }
    Some(
        WINDOWS_1252
            .decode_without_bom_handling(bytes)
            .0
            .into_owned(),
    )
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
