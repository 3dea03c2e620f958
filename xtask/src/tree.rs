//! The repository's files: what is tracked, and what is new and not ignored.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// One file, named by its path from the repository's top with `/` between folders.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) size_bytes: u64,
    pub(crate) content: Content,
}

/// A file is either text that the checks read, or bytes that they only weigh.
pub(crate) enum Content {
    Text(String),
    Binary,
}

/// The files that a commit of everything would hold.
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
}

impl Tree {
    /// Reads the tree at the repository's top.
    pub(crate) fn read(top: &Path) -> anyhow::Result<Self> {
        let listing = output_of(
            top,
            "git",
            &[
                "ls-files",
                "-z",
                "-co",
                "--exclude-standard",
                "--deduplicate",
            ],
        )?;
        let mut files = Vec::new();
        for path in listing.split('\0').filter(|path| !path.is_empty()) {
            files.extend(read_file(top, path)?);
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { files })
    }

    /// Every text file, as (path, text).
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|file| match &file.content {
            Content::Text(text) => Some((file.path.as_str(), text.as_str())),
            Content::Binary => None,
        })
    }

    /// Every Rust source, as (path, text).
    pub(crate) fn rust_texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(path, _)| is_rust(path))
    }

    /// The text of one file, if there is such a text file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.texts()
            .find(|(candidate, _)| *candidate == path)
            .map(|(_, text)| text)
    }
}

/// The top folder of the repository that the command was called in.
pub(crate) fn top_folder() -> anyhow::Result<PathBuf> {
    let output = output_of(Path::new("."), "git", &["rev-parse", "--show-toplevel"])?;
    Ok(PathBuf::from(output.trim_end()))
}

/// Runs a program in a folder and returns what it printed.
#[expect(
    clippy::disallowed_methods,
    reason = "the developer's tool asks git and cargo about the tree; nothing of the product runs here"
)]
pub(crate) fn output_of(
    folder: &Path,
    program: &str,
    arguments: &[&str],
) -> anyhow::Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .with_context(|| format!("cannot start `{program}`"))?;
    if !output.status.success() {
        bail!(
            "`{program} {}` failed: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{program}` printed no UTF-8"))
}

pub(crate) fn is_rust(path: &str) -> bool {
    has_extension(path, "rs")
}

pub(crate) fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|ext| ext == extension)
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The folder of a path, empty at the top.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Whether a Rust file holds tests only, by its name or its folder.
pub(crate) fn is_test_file(path: &str) -> bool {
    file_name(path).ends_with("_tests.rs") || path.split('/').any(|part| part == "tests")
}

/// Nothing for a link, and for a tracked file that was deleted but not yet committed.
fn read_file(top: &Path, path: &str) -> anyhow::Result<Option<File>> {
    let full = top.join(path);
    let Ok(metadata) = fs::symlink_metadata(&full) else {
        return Ok(None);
    };
    if !metadata.is_file() {
        return Ok(None);
    }
    let bytes = fs::read(&full).with_context(|| format!("cannot read `{path}`"))?;
    let content = match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Content::Text(text),
        Ok(_) | Err(_) => Content::Binary,
    };
    Ok(Some(File {
        path: path.to_owned(),
        size_bytes: metadata.len(),
        content,
    }))
}

#[cfg(test)]
impl Tree {
    /// A tree that exists only in a test.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| File {
                path: (*path).to_owned(),
                size_bytes: text.len() as u64,
                content: Content::Text((*text).to_owned()),
            })
            .collect();
        Self { files }
    }
}
