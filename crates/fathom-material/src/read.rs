//! From files to documents.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use fathom_core::id::Digest;
use sha2::{Digest as _, Sha256};

use crate::decode;
use crate::error::MaterialError;
use crate::limits::FILE_BYTES_MAX;
use crate::pdf;
use crate::walk::{Found, Named, Room, SkipReason, Skipped, Walk};

/// How a document is written, which says how it is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Paragraphs with blank lines between them.
    Plain,
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
    /// One record on each line, as in a log.
    Lines,
    /// One record on each line, under a line that names its columns.
    Table,
    /// Text of pages, parted by form feeds.
    Pages,
}

/// A text with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// As the user named it.
    pub source: String,
    /// What it says, with its markup.
    pub text: String,
    /// How it is written.
    pub format: Format,
    /// SHA-256 of the bytes it was read from.
    pub digest: Digest,
}

impl Document {
    /// A text that comes from no file, as from stdin.
    pub fn new(source: impl Into<String>, text: impl Into<String>) -> Self {
        let (source, text) = (source.into(), text.into());
        Self {
            format: format_of(Path::new(&source), &text),
            digest: Digest(Sha256::digest(&text).into()),
            source,
            text,
        }
    }
}

/// What was read, and what was not.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// The documents: path by path as they were given, and by name within a folder.
    pub documents: Vec<Document>,
    /// What was left out of folders, by name. Hidden files are left out without a word.
    pub skipped: Vec<Skipped>,
}

impl Gathered {
    /// SHA-256 over names and contents, whatever the order they were given in.
    pub fn digest(&self) -> Digest {
        let mut parts: Vec<_> = self
            .documents
            .iter()
            .map(|document| (&document.source, &document.digest))
            .collect();
        parts.sort_by_key(|(source, digest)| (*source, digest.0));
        let mut all = Sha256::new();
        for (source, digest) in parts {
            all.update((source.len() as u64).to_le_bytes());
            all.update(source);
            all.update(digest.0);
        }
        Digest(all.finalize().into())
    }
}

/// Reads files and folders. What cannot be used is left out of a folder and listed; named by itself it is an error.
pub fn gather(paths: &[PathBuf]) -> Result<Gathered, MaterialError> {
    let walk = Walk::over(paths)?;
    let mut gathered = Gathered {
        documents: Vec::new(),
        skipped: walk.skipped,
    };
    let mut room = Room::default();
    for found in walk.found {
        match read(&found) {
            Ok(bytes) => {
                room.take(bytes.len())?;
                match document(&found, bytes) {
                    Ok(document) => gathered.documents.push(document),
                    Err(error) => gathered.skipped.push(skipped(&found, error)?),
                }
            }
            Err(error) => gathered.skipped.push(skipped(&found, error)?),
        }
    }
    gathered.skipped.sort_by(|a, b| a.source.cmp(&b.source));
    Ok(gathered)
}

/// What is an error for a file that was named is a note for one in a folder.
fn skipped(found: &Found, error: MaterialError) -> Result<Skipped, MaterialError> {
    if found.named == Named::Itself {
        return Err(error);
    }
    let reason = match error {
        MaterialError::NotText { .. } => SkipReason::Binary,
        MaterialError::FileTooLarge { .. } => SkipReason::TooLarge,
        MaterialError::Unreadable { source, .. } => SkipReason::Unreadable {
            why: source.to_string(),
        },
        MaterialError::BrokenPdf { cause, .. } => SkipReason::BrokenPdf { why: cause },
        error => return Err(error),
    };
    Ok(Skipped {
        source: found.source.clone(),
        reason,
    })
}

/// Reads no more than a file may have, whatever its size is said to be.
fn read(found: &Found) -> Result<Vec<u8>, MaterialError> {
    let mut bytes = Vec::new();
    File::open(&found.path)
        .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(|source| MaterialError::Unreadable {
            source_name: found.source.clone(),
            source,
        })?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(MaterialError::FileTooLarge {
            source_name: found.source.clone(),
            bytes_max: FILE_BYTES_MAX,
        });
    }
    Ok(bytes)
}

fn document(found: &Found, bytes: Vec<u8>) -> Result<Document, MaterialError> {
    let digest = Digest(Sha256::digest(&bytes).into());
    if bytes.starts_with(pdf::MAGIC) {
        let text = pdf::text(bytes).map_err(|cause| MaterialError::BrokenPdf {
            source_name: found.source.clone(),
            cause,
        })?;
        return Ok(Document {
            source: found.source.clone(),
            format: Format::Pages,
            text,
            digest,
        });
    }
    let text = decode::text(bytes).ok_or_else(|| MaterialError::NotText {
        source_name: found.source.clone(),
    })?;
    Ok(Document {
        source: found.source.clone(),
        format: format_of(&found.path, &text),
        text,
        digest,
    })
}

fn format_of(path: &Path, text: &str) -> Format {
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    match extension.as_ref().and_then(|extension| extension.to_str()) {
        Some("md" | "markdown" | "mdx") => Format::Markdown,
        Some("html" | "htm" | "xhtml") => Format::Html,
        Some("log" | "jsonl" | "ndjson") => Format::Lines,
        Some("csv" | "tsv") => Format::Table,
        _ => {
            let start = text.trim_start().as_bytes();
            let begins = |tag: &[u8]| {
                start.len() >= tag.len() && start[..tag.len()].eq_ignore_ascii_case(tag)
            };
            if begins(b"<!doctype html") || begins(b"<html") {
                Format::Html
            } else {
                Format::Plain
            }
        }
    }
}
