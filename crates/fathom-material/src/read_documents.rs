//! Reads files into documents.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use fathom_core::id::Digest;
use sha2::{Digest as _, Sha256};

use crate::decode::{self, DecodedText};
use crate::decompress::{at_most, unfold};
use crate::error::MaterialError;
use crate::limits::ReadLimits;
use crate::pdf::{self, PdfPages};
use crate::split;
use crate::walk::{ByteBudget, FileOrigin, FolderWalk, MaterialFile, SkipReason, SkippedFile};

/// Format of a document, which determines how it is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentFormat {
    /// Paragraphs separated by blank lines.
    Plain,
    Markdown,
    Html,
    /// One record per line, as in a log.
    Lines,
    /// One record per line, below a line with the names of the columns.
    Table,
    /// Text of pages, separated by form feeds.
    Pages,
}

/// A named text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaterialDocument {
    /// As named by the user.
    pub source: String,
    /// Its text, including markup.
    pub text: String,
    pub format: DocumentFormat,
    /// The file it was read from.
    pub path: Option<PathBuf>,
    /// A difference between the document and the file that the user should know.
    pub flaw: Option<SkipReason>,
}

impl MaterialDocument {
    /// A text that does not come from a file.
    pub fn new(source: impl Into<String>, text: impl Into<String>) -> Self {
        let (source, text) = (source.into(), text.into());
        Self {
            format: format_of(Path::new(&source), &text),
            source,
            text,
            path: None,
            flaw: None,
        }
    }

    /// The note for the user, if there is one.
    pub fn note(&self) -> Option<SkippedFile> {
        self.flaw.clone().map(|reason| SkippedFile {
            source: self.source.clone(),
            reason,
        })
    }

    /// SHA-256 of its text.
    pub fn digest(&self) -> Digest {
        Digest(Sha256::digest(&self.text).into())
    }

    /// Its text without markup that is not meant to be read.
    pub fn plain(&self) -> Cow<'_, str> {
        if self.format != DocumentFormat::Html {
            return Cow::Borrowed(&self.text);
        }
        Cow::Owned(split::text_of_html(&self.text))
    }

    /// True if each of its lines should be a JSON value, by its name.
    pub fn is_json_lines(&self) -> bool {
        let path = self.path.as_deref().unwrap_or(Path::new(&self.source));
        let extension = extension(path);
        matches!(extension.as_deref(), Some("jsonl" | "ndjson"))
    }
}

/// The documents that were read, and the files that were not.
#[derive(Clone, Debug, Default)]
pub struct GatheredMaterial {
    /// The documents: in the order of the given paths, and by name within a folder.
    pub documents: Vec<MaterialDocument>,
    /// Files that were left out or not taken as they are, by name. Hidden files are left out silently.
    pub skipped: Vec<SkippedFile>,
}

impl GatheredMaterial {
    /// SHA-256 over names and contents, independent of their order.
    pub fn digest(&self) -> Digest {
        let mut parts: Vec<_> = self
            .documents
            .iter()
            .map(|document| (&document.source, document.digest()))
            .collect();
        parts.sort_by_key(|(source, digest)| (*source, digest.0));
        let mut all = Sha256::new();
        for (source, digest) in parts {
            // Length before content, or a name could be continued by a digest.
            all.update((source.len() as u64).to_le_bytes());
            all.update(source);
            all.update(digest.0);
        }
        Digest(all.finalize().into())
    }
}

/// Reads files and folders. An unusable file in a folder is left out and listed; one named by itself is an
/// error. Compressed files (gzip, Zstandard) are decompressed.
pub fn gather(paths: &[PathBuf]) -> Result<GatheredMaterial, MaterialError> {
    gather_within(paths, &ReadLimits::PASSAGES)
}

/// The same with other limits.
pub fn gather_within(
    paths: &[PathBuf],
    bounds: &ReadLimits,
) -> Result<GatheredMaterial, MaterialError> {
    let walk = FolderWalk::over(paths)?;
    let mut gathered = GatheredMaterial {
        documents: Vec::new(),
        skipped: walk.skipped,
    };
    let mut room = ByteBudget::new(bounds.bytes);
    for found in walk.found {
        match read(&found, bounds) {
            Ok(bytes) => {
                room.take(bytes.len())?;
                match document(&found.source, Some(&found.path), bytes) {
                    Ok(document) => {
                        gathered.skipped.extend(document.note());
                        gathered.documents.push(document);
                    }
                    Err(error) => gathered.skipped.push(skipped(&found, error)?),
                }
            }
            Err(error) => gathered.skipped.push(skipped(&found, error)?),
        }
    }
    gathered.skipped.sort_by(|a, b| a.source.cmp(&b.source));
    Ok(gathered)
}

/// Turns the error of a file in a folder into a note; for a file named by itself it stays an error.
fn skipped(found: &MaterialFile, error: MaterialError) -> Result<SkippedFile, MaterialError> {
    if found.named == FileOrigin::Itself {
        return Err(error);
    }
    let reason = match error {
        MaterialError::NotText { .. } => SkipReason::Binary,
        MaterialError::FileTooLarge { bytes_max, .. } => SkipReason::TooLarge { bytes_max },
        MaterialError::Unreadable { source, .. } => SkipReason::Unreadable {
            why: source.to_string(),
        },
        MaterialError::BrokenPdf { cause, .. } => SkipReason::BrokenPdf { why: cause },
        error => return Err(error),
    };
    Ok(SkippedFile {
        source: found.source.clone(),
        reason,
    })
}

/// Reads a document that is not a file, such as stdin, like a file of that name.
pub fn read_from(
    source: &str,
    from: impl Read,
    bounds: &ReadLimits,
) -> Result<MaterialDocument, MaterialError> {
    let bytes = unfolded(source, from, 0, bounds)?;
    document(source, None, bytes)
}

fn read(found: &MaterialFile, bounds: &ReadLimits) -> Result<Vec<u8>, MaterialError> {
    let file = File::open(&found.path).map_err(|source| MaterialError::Unreadable {
        source_name: found.source.clone(),
        source,
    })?;
    let said = file.metadata().map_or(0, |metadata| metadata.len());
    unfolded(&found.source, file, said, bounds)
}

/// Reads at most the allowed size, whatever size is reported, and decompresses it.
fn unfolded(
    name: &str,
    from: impl Read,
    said: u64,
    bounds: &ReadLimits,
) -> Result<Vec<u8>, MaterialError> {
    let unreadable = |source| MaterialError::Unreadable {
        source_name: name.to_owned(),
        source,
    };
    let bytes_max = bounds.file_bytes;
    let bytes = at_most(from, said, bytes_max).map_err(unreadable)?;
    let unfolded = unfold(bytes, bytes_max).map_err(unreadable)?;
    if unfolded.len() as u64 > bytes_max {
        return Err(MaterialError::FileTooLarge {
            source_name: name.to_owned(),
            bytes_max,
        });
    }
    Ok(unfolded)
}

fn document(
    source: &str,
    path: Option<&Path>,
    bytes: Vec<u8>,
) -> Result<MaterialDocument, MaterialError> {
    let (format, text, flaw) = if bytes.starts_with(pdf::MAGIC) {
        let PdfPages { text, lost, count } =
            pdf::text(bytes).map_err(|fault| MaterialError::BrokenPdf {
                source_name: source.to_owned(),
                cause: fault.to_string(),
            })?;
        let flaw = (lost > 0).then_some(SkipReason::LostPages { lost, pages: count });
        (DocumentFormat::Pages, text, flaw)
    } else {
        let decoded = decode::text(bytes).ok_or_else(|| MaterialError::NotText {
            source_name: source.to_owned(),
        })?;
        let DecodedText { text, flaws } = decoded;
        let format = format_of(path.unwrap_or(Path::new(source)), &text);
        let flaw = (flaws > 0).then_some(SkipReason::FlawedUtf8 { flaws });
        (format, text, flaw)
    };
    Ok(MaterialDocument {
        source: source.to_owned(),
        text,
        format,
        path: path.map(Path::to_owned),
        flaw,
    })
}

/// The extension in lower case, without that of a compressed file.
fn extension(path: &Path) -> Option<String> {
    let lower = |path: &Path| {
        let extension = path.extension().map(OsStr::to_ascii_lowercase)?;
        extension.into_string().ok()
    };
    let last = lower(path)?;
    if ["gz", "zst", "zstd"].contains(&last.as_str()) {
        return lower(Path::new(path.file_stem()?));
    }
    Some(last)
}

fn format_of(path: &Path, text: &str) -> DocumentFormat {
    match extension(path).as_deref() {
        Some("md" | "markdown" | "mdx") => DocumentFormat::Markdown,
        Some("html" | "htm" | "xhtml") => DocumentFormat::Html,
        Some("log" | "jsonl" | "ndjson") => DocumentFormat::Lines,
        Some("csv" | "tsv") => DocumentFormat::Table,
        _ => {
            let start = text.trim_start().as_bytes();
            let begins = |tag: &[u8]| {
                start.len() >= tag.len() && start[..tag.len()].eq_ignore_ascii_case(tag)
            };
            if begins(b"<!doctype html") || begins(b"<html") {
                DocumentFormat::Html
            } else {
                DocumentFormat::Plain
            }
        }
    }
}
