//! Decompression of files.

use std::io::{self, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// Decompresses to at most one byte above the limit; other bytes are returned as they are.
pub(crate) fn unfold(bytes: Vec<u8>, bytes_max: u64) -> io::Result<Vec<u8>> {
    match bytes.as_slice() {
        [0x1f, 0x8b, ..] => {
            let unfolding = flate2::read::MultiGzDecoder::new(bytes.as_slice());
            at_most(unfolding, 0, bytes_max)
        }
        // Skippable frames may come first, as in files of `pzstd`.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            zstandard(&bytes, bytes_max)
        }
        _ => Ok(bytes),
    }
}

/// All bytes, or one above the limit.
pub(crate) fn at_most(from: impl Read, said: u64, bytes_max: u64) -> io::Result<Vec<u8>> {
    let room = said.min(bytes_max).saturating_add(1);
    // The reported size is a hint only: it may be wrong, and is bounded before memory is reserved.
    let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or_default());
    from.take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Decompresses frame by frame: files that were appended to or compressed in parts have several. What follows a
/// frame must be another one.
fn zstandard(mut folded: &[u8], bytes_max: u64) -> io::Result<Vec<u8>> {
    let room = bytes_max.saturating_add(1);
    let mut decoder = FrameDecoder::new();
    let mut bytes = Vec::new();
    while !folded.is_empty() && (bytes.len() as u64) < room {
        match StreamingDecoder::new_with_decoder(&mut folded, &mut decoder) {
            Ok(frame) => {
                let left = room - bytes.len() as u64;
                frame.take(left).read_to_end(&mut bytes)?;
            }
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let rest = usize::try_from(length).ok().and_then(|at| folded.get(at..));
                folded = rest.ok_or(io::ErrorKind::UnexpectedEof)?;
            }
            Err(error) => return Err(io::Error::other(error)),
        }
    }
    Ok(bytes)
}
