//! From compressed bytes to what they hold.

use std::io::{self, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// What is compressed is unfolded, to one byte more than there may be at most; all else is left as it is.
pub(crate) fn unfold(bytes: Vec<u8>, bytes_max: u64) -> io::Result<Vec<u8>> {
    match bytes.as_slice() {
        [0x1f, 0x8b, ..] => {
            let unfolding = flate2::read::MultiGzDecoder::new(bytes.as_slice());
            at_most(unfolding, 0, bytes_max)
        }
        // What can be skipped may come first: `pzstd` begins so.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            zstandard(&bytes, bytes_max)
        }
        _ => Ok(bytes),
    }
}

/// All of it, or one byte more than there may be.
pub(crate) fn at_most(from: impl Read, said: u64, bytes_max: u64) -> io::Result<Vec<u8>> {
    let room = said.min(bytes_max).saturating_add(1);
    let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or_default());
    from.take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Frame by frame: what was appended to, or compressed in parts, has several. What follows the last must be another.
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
