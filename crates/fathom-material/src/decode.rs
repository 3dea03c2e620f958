//! From bytes to text.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Of a hundred bytes, so many may lie outside ASCII in a text of one byte per character. Prose of western Europe has
/// under ten.
const HIGH_PERCENT_MAX: usize = 30;

/// The text of a file; none when it is no text.
///
/// UTF-8, and UTF-16 with its byte-order mark. What is neither, and has no control characters, is read as Windows-1252,
/// the encoding of older western files.
pub(crate) fn text(bytes: Vec<u8>) -> Option<String> {
    let text = match Encoding::for_bom(&bytes) {
        Some((encoding, mark)) => {
            let (text, malformed) = encoding.decode_without_bom_handling(&bytes[mark..]);
            if malformed && encoding != UTF_8 {
                return None;
            }
            text.into_owned()
        }
        None => match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => western(error.as_bytes())?,
        },
    };
    (!text.contains('\0')).then_some(text)
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
