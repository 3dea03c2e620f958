//! The text of a PDF, page by page.
//!
//! A PDF is a kind of program, and its readers break in many ways. This one runs on a separate thread, with
//! limits on decompressed streams, pages, text, stack and time; a panic in it is an error of that file.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use lopdf::{Document, LoadOptions};

use crate::limits::FILE_BYTES_MAX;

/// First bytes of a PDF.
pub(crate) const MAGIC: &[u8] = b"%PDF-";

/// Maximum size of one decompressed stream, or of the streams of one page.
const UNFOLDED_BYTES_MAX: usize = 32 * 1024 * 1024;

const PAGES_MAX: usize = 5_000;

/// Maximum size of the text of all pages.
const TEXT_BYTES_MAX: u64 = FILE_BYTES_MAX;

// Nested objects are read recursively.
const STACK_BYTES: usize = 32 * 1024 * 1024;

/// Time limit for one file. A reader that exceeds it is abandoned.
const TIME_MAX: Duration = Duration::from_secs(30);

/// The text of a PDF's pages.
#[derive(Debug)]
pub(crate) struct PdfPages {
    /// Separated by form feeds.
    pub(crate) text: String,
    /// Number of pages without text, or with unreadable text.
    pub(crate) lost: usize,
    /// Number of pages.
    pub(crate) count: usize,
}

/// A PDF that cannot be turned into text.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PdfFault {
    #[error("{0}")]
    Reader(String),
    #[error("reading it takes too long")]
    Slow,
    #[error("it broke its reader")]
    Panicked,
    #[error("it is locked with a password")]
    Locked,
    #[error("it has more than {PAGES_MAX} pages")]
    TooManyPages,
    #[error("its text has more than {TEXT_BYTES_MAX} bytes")]
    TooMuchText,
    #[error("it has no text that could be read")]
    NoText,
}

/// The text of all pages, or the defect of the file.
pub(crate) fn text(bytes: Vec<u8>) -> Result<PdfPages, PdfFault> {
    let (give, take) = sync_channel(1);
    thread::Builder::new()
        .name("fathom-pdf".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || {
            // The receiver is gone if the time is over.
            give.send(pages(&bytes)).ok();
        })
        .map_err(|error| PdfFault::Reader(error.to_string()))?;
    match take.recv_timeout(TIME_MAX) {
        Ok(text) => text,
        Err(RecvTimeoutError::Timeout) => Err(PdfFault::Slow),
        Err(RecvTimeoutError::Disconnected) => Err(PdfFault::Panicked),
    }
}

fn pages(bytes: &[u8]) -> Result<PdfPages, PdfFault> {
    let options = LoadOptions::with_max_decompressed_size(UNFOLDED_BYTES_MAX);
    let document = Document::load_mem_with_options(bytes, options)
        .map_err(|error| PdfFault::Reader(error.to_string()))?;
    if document.is_encrypted() {
        return Err(PdfFault::Locked);
    }
    let numbers: Vec<u32> = document.get_pages().into_keys().collect();
    if numbers.len() > PAGES_MAX {
        return Err(PdfFault::TooManyPages);
    }
    let mut text = String::new();
    let mut lost = 0;
    let count = numbers.len();
    for number in numbers {
        if number > 1 {
            text.push('\u{c}');
        }
        // An unreadable page is left empty: the others may be enough.
        let start = text.len();
        let mut is_whole = true;
        for part in document.extract_text_chunks_with_limit(&[number], UNFOLDED_BYTES_MAX) {
            is_whole &= part.is_ok();
            // Form feeds separate the pages of the result.
            text.push_str(&part.unwrap_or_default().replace(['\0', '\u{c}'], " "));
        }
        lost += usize::from(!is_whole || text[start..].trim().is_empty());
        if text.len() as u64 > TEXT_BYTES_MAX {
            return Err(PdfFault::TooMuchText);
        }
    }
    if text.trim().is_empty() {
        return Err(PdfFault::NoText);
    }
    Ok(PdfPages { text, lost, count })
}

#[cfg(test)]
#[path = "pdf_tests.rs"]
mod tests;
