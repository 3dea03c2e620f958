//! Inputs of the user: the question, material for the prompt, a rubric.

use std::io::{self, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use fathom_core::episode::result::clip;
use fathom_programs::direct::PromptMaterial;

use crate::error::CliError;

/// Most bytes of all that goes into one prompt.
// About four million tokens, more than a model of today takes.
pub(crate) const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Most files of the folders that are given.
// A folder with more is probably a home or a build folder that was named by mistake.
const FILES_MAX: usize = 10_000;

/// Most bytes of a text that goes into no prompt.
const LONG_BYTES_MAX: u64 = 64 * 1024 * 1024;

const STDIN: &str = "-";

/// Material, and what was left out of it.
#[derive(Debug, Default)]
pub(crate) struct InputMaterial {
    pub(crate) material: Vec<PromptMaterial>,
    pub(crate) warnings: Vec<String>,
}

/// The question of a command: as it was typed, or from stdin.
pub(crate) fn question(command: &'static str, typed: Option<&str>) -> Result<String, CliError> {
    let question = match typed {
        Some(STDIN) => read_stdin()?,
        Some(question) => question.to_owned(),
        // Reading would wait for input without a word on what is missing.
        None if io::stdin().is_terminal() => return Err(CliError::NoQuestion { command }),
        None => read_stdin()?,
    };
    if question.trim().is_empty() {
        return Err(CliError::NoQuestion { command });
    }
    Ok(question.trim_end().to_owned())
}

/// All of stdin.
pub(crate) fn read_stdin() -> Result<String, CliError> {
    text("stdin", io::stdin().lock(), BYTES_MAX)
}

/// All of a stdin that goes into no prompt.
pub(crate) fn read_long_stdin() -> Result<String, CliError> {
    text("stdin", io::stdin().lock(), LONG_BYTES_MAX)
}

/// All of a text file.
pub(crate) fn read_text(file: &Path) -> Result<String, CliError> {
    read_file(file, LONG_BYTES_MAX)
}

/// A JSON schema in a file.
pub(crate) fn schema(file: &Path) -> Result<serde_json::Value, CliError> {
    let text = read_file(file, BYTES_MAX)?;
    let bad = |why: String| CliError::BadValue {
        what: "--schema".to_owned(),
        value: file.display().to_string(),
        why,
    };
    let schema =
        serde_json::from_str(&text).map_err(|error| bad(format!("invalid JSON: {error}")))?;
    // Compiled here once, so that a wrong schema fails before the first call is paid for.
    jsonschema::validator_for(&schema).map_err(|error| {
        bad(format!(
            "invalid JSON schema: {}",
            clip(&error.to_string(), 200)
        ))
    })?;
    Ok(schema)
}

/// A rubric, or the file that holds it.
pub(crate) fn rubric(given: &str) -> Result<String, CliError> {
    let rubric = match given.strip_prefix('@') {
        Some(file) => read_file(Path::new(file), BYTES_MAX)?,
        None => given.to_owned(),
    };
    if rubric.trim().is_empty() {
        return Err(CliError::BadValue {
            what: "--review".to_owned(),
            value: given.to_owned(),
            why: "the rubric is empty".to_owned(),
        });
    }
    Ok(rubric)
}

/// Reads files and folders. A folder's binary files are left out with a warning; one named by the user is an error.
pub(crate) fn material(paths: &[PathBuf]) -> Result<InputMaterial, CliError> {
    let mut gathered = InputMaterial::default();
    let mut left = BYTES_MAX;
    for path in paths {
        if path.as_os_str() == STDIN {
            let text = text("stdin", io::stdin().lock(), left)?;
            take(&mut gathered, &mut left, "stdin".to_owned(), text)?;
        } else if path.is_dir() {
            gather_folder(path, &mut gathered, &mut left)?;
        } else {
            let text = read_file(path, left)?;
            take(&mut gathered, &mut left, path.display().to_string(), text)?;
        }
    }
    Ok(gathered)
}

fn gather_folder(
    folder: &Path,
    gathered: &mut InputMaterial,
    left: &mut u64,
) -> Result<(), CliError> {
    let before = gathered.material.len();
    for file in files_below(folder)? {
        match read_file(&file, *left) {
            Ok(text) => take(gathered, left, file.display().to_string(), text)?,
            Err(CliError::NotText { what }) => {
                gathered
                    .warnings
                    .push(format!("skipped {what}: not a text file"));
            }
            Err(error) => return Err(error),
        }
    }
    if gathered.material.len() == before {
        let warning = format!("`{}` contains no text files", folder.display());
        gathered.warnings.push(warning);
    }
    Ok(())
}

fn take(
    gathered: &mut InputMaterial,
    left: &mut u64,
    source: String,
    text: String,
) -> Result<(), CliError> {
    *left = left
        .checked_sub(text.len() as u64)
        .ok_or_else(|| too_large("the context"))?;
    gathered.material.push(PromptMaterial { source, text });
    Ok(())
}

/// The files of a folder and those below it, in order of their names. Hidden ones and links to folders are left out.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let unreadable = |source| CliError::Unreadable {
            what: format!("the folder `{}`", folder.display()),
            source,
        };
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let kind = entry.file_type().map_err(unreadable)?;
            // Hidden files hold keys and version control, which must not reach a model by accident.
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            // Of the entry, not of its target: following links to folders could go round in circles.
            if kind.is_dir() {
                folders.push(entry.path());
            } else if entry.path().is_file() {
                files.push(entry.path());
            }
            if files.len() > FILES_MAX {
                return Err(CliError::Arguments {
                    message: format!("the context contains more than {FILES_MAX} files"),
                    hint: "pass only the files and folders that are needed".to_owned(),
                });
            }
        }
    }
    // The order of a folder differs by machine; the prompt, and with it every cached answer, must not.
    files.sort();
    Ok(files)
}

pub(crate) fn read_file(path: &Path, bytes_max: u64) -> Result<String, CliError> {
    let what = format!("`{}`", path.display());
    match std::fs::File::open(path) {
        Ok(file) => text(&what, file, bytes_max),
        Err(source) => Err(CliError::Unreadable { what, source }),
    }
}

/// Reads no more than it may.
fn text(what: &str, from: impl Read, bytes_max: u64) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    // Bounded while reading, since pipes and devices have no length to check before.
    from.take(bytes_max + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| CliError::Unreadable {
            what: what.to_owned(),
            source,
        })?;
    if bytes.len() as u64 > bytes_max {
        return Err(CliError::TooLarge {
            what: what.to_owned(),
            bytes_max,
        });
    }
    // A byte-order mark is no part of the text.
    let text = String::from_utf8(bytes).map_err(|_| CliError::NotText {
        what: what.to_owned(),
    })?;
    // Valid UTF-8, but a binary file all the same.
    if text.contains('\0') {
        return Err(CliError::NotText {
            what: what.to_owned(),
        });
    }
    Ok(text
        .strip_prefix('\u{feff}')
        .map(str::to_owned)
        .unwrap_or(text))
}

fn too_large(what: &str) -> CliError {
    CliError::TooLarge {
        what: what.to_owned(),
        bytes_max: BYTES_MAX,
    }
}

#[cfg(test)]
#[path = "inputs_tests.rs"]
mod tests;
