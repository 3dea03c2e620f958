//! Walks over a file line by line and checks each.

use super::HistoryError;
use super::record::{HistoryHead, HistoryLine};
use super::sealed_line::{LineSealer, SealedLine};

/// Content of a file.
#[derive(Debug, Default)]
pub(super) struct HistoryScan {
    /// The records, each with the head that it made.
    pub(super) records: Vec<(HistoryLine, HistoryHead)>,
    pub(super) head: HistoryHead,
    /// Bytes of whole lines. The rest was left by a crash.
    pub(super) bytes: usize,
}

/// Checks every line of a file, and that it includes `known`, the last head in the journal.
///
/// Lines after that head are valid: a crash came between them and the journal. Only the last line may be torn,
/// since each was on disk before the next was written.
pub(super) fn scan(
    file: &[u8],
    sealer: &LineSealer,
    known: HistoryHead,
) -> Result<HistoryScan, HistoryError> {
    let mut scan = HistoryScan::default();
    let mut has_known = known == HistoryHead::default();
    let mut rest = file;
    while !rest.is_empty() {
        let number = scan.head.sequence + 1;
        let is_known = number <= known.sequence;
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
            break;
        };
        let (text, after) = (&rest[..end], &rest[end + 1..]);
        if !is_known && after.is_empty() && has_hole(text) {
            break;
        }
        let line = SealedLine::read(text, number)?;
        if line.key != sealer.key {
            let key = line.key;
            return Err(HistoryError::MissingKey { line: number, key });
        }
        let (record, head) = sealer.open(scan.head, &line)?;
        has_known |= head == known || record == HistoryLine::Rotated { from: known };
        scan.records.push((record, head));
        scan.head = head;
        scan.bytes += text.len() + 1;
        rest = after;
    }
    if scan.head.sequence < known.sequence {
        return Err(HistoryError::CutShort {
            line: scan.head.sequence + 1,
            lines: known.sequence,
        });
    }
    if has_known {
        Ok(scan)
    } else {
        let line = known.sequence;
        Err(HistoryError::OtherHead { line })
    }
}

/// True if a power loss took a page out of a line: a file system returns zeros for it, and no line contains
/// any.
pub(super) fn has_hole(text: &[u8]) -> bool {
    text.contains(&0)
}
