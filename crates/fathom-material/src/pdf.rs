//! The text of a PDF, page by page.
//!
//! A PDF is a program of a kind, and readers of it break in many ways. This one runs on a thread of its own, with bounds on
//! what a stream may unfold to, on pages, on text, on stack and on time; a panic in it is that file's error.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use lopdf::{Document, LoadOptions};

use crate::limits::FILE_BYTES_MAX;

/// How a PDF begins.
pub(crate) const MAGIC: &[u8] = b"%PDF-";

/// Most bytes that one stream, or the streams of one page, may unfold to.
const UNFOLDED_BYTES_MAX: usize = 32 * 1024 * 1024;

const PAGES_MAX: usize = 5_000;

/// Most bytes of text of all pages.
const TEXT_BYTES_MAX: u64 = FILE_BYTES_MAX;

const STACK_BYTES: usize = 32 * 1024 * 1024;

/// Longest time for one file. A reader that takes longer is left to itself.
const TIME_MAX: Duration = Duration::from_secs(30);

/// What the pages of a PDF say.
#[derive(Debug)]
pub(crate) struct Pages {
    /// Parted by form feeds.
    pub(crate) text: String,
    /// Pages without text, or with text that could not be read.
    pub(crate) lost: usize,
    /// How many there are.
    pub(crate) count: usize,
}

/// The text of all pages, or what is wrong with the file.
pub(crate) fn text(bytes: Vec<u8>) -> Result<Pages, String> {
    let (give, take) = sync_channel(1);
    thread::Builder::new()
        .name("fathom-pdf".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || {
            // Nobody waits any more when the time is over.
            give.send(pages(&bytes)).ok();
        })
        .map_err(|error| error.to_string())?;
    match take.recv_timeout(TIME_MAX) {
        Ok(text) => text,
        Err(RecvTimeoutError::Timeout) => Err("reading it takes too long".to_owned()),
        Err(RecvTimeoutError::Disconnected) => Err("it broke its reader".to_owned()),
    }
}

fn pages(bytes: &[u8]) -> Result<Pages, String> {
    let options = LoadOptions::with_max_decompressed_size(UNFOLDED_BYTES_MAX);
    let document =
        Document::load_mem_with_options(bytes, options).map_err(|error| error.to_string())?;
    if document.is_encrypted() {
        return Err("it is locked with a password".to_owned());
    }
    let numbers: Vec<u32> = document.get_pages().into_keys().collect();
    if numbers.len() > PAGES_MAX {
        return Err(format!("it has more than {PAGES_MAX} pages"));
    }
    let mut text = String::new();
    let mut lost = 0;
    let count = numbers.len();
    for number in numbers {
        if number > 1 {
            text.push('\u{c}');
        }
        // A page that cannot be read is left empty: the others may say enough.
        let start = text.len();
        let mut is_whole = true;
        for part in document.extract_text_chunks_with_limit(&[number], UNFOLDED_BYTES_MAX) {
            is_whole &= part.is_ok();
            text.push_str(&part.unwrap_or_default().replace(['\0', '\u{c}'], " "));
        }
        lost += usize::from(!is_whole || text[start..].trim().is_empty());
        if text.len() as u64 > TEXT_BYTES_MAX {
            return Err(format!("its text has more than {TEXT_BYTES_MAX} bytes"));
        }
    }
    if text.trim().is_empty() {
        return Err("it has no text that could be read".to_owned());
    }
    Ok(Pages { text, lost, count })
}

#[cfg(test)]
#[path = "pdf_tests.rs"]
mod tests;
