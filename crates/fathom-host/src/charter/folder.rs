//! The files of a charter's folder, read within limits.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::findings::FindingList;
use super::limits::{FILE_BYTES_MAX, FILES_MAX};
use super::problem::CharterProblem;
use super::{council, identity_persona, instructions, manifest, phases, tool_policies};

/// The folder of agents.
pub(super) const AGENTS: &str = "agents";

/// The folder of named texts.
const PROMPTS: &str = "prompts";

/// Files that a charter's folder may hold.
const FILES: [&str; 12] = [
    manifest::FILE,
    identity_persona::IDENTITY_FILE,
    identity_persona::PERSONA_FILE,
    instructions::FILE,
    council::LEARNED_FILE,
    phases::SYMBOLS_FILE,
    phases::KITS_FILE,
    phases::AGENTS_FILE,
    phases::CONTEXT_FILE,
    tool_policies::TOOLS_FILE,
    tool_policies::SETTINGS_FILE,
    tool_policies::ENTITIES_FILE,
];

/// Files that are for people and never looked at.
// Expected beside a charter and never read; any other unknown file is probably misspelt and gets a warning.
const FOR_PEOPLE: [&str; 2] = ["README.md", "LICENSE"];

/// The contents of files by their paths from the charter's folder, with slashes. One that is there and cannot be used
/// has none.
pub(super) type CharterFiles = BTreeMap<String, Option<Vec<u8>>>;

/// Reads what belongs to a charter. A file that cannot be used is a finding; a folder that is not there is an error.
pub(super) fn read(folder: &Path, findings: &mut FindingList) -> io::Result<CharterFiles> {
    let root = fs::canonicalize(folder)?;
    let mut reader = FolderReader {
        root,
        files: CharterFiles::new(),
        findings,
    };
    let root = reader.root.clone();
    for (name, path) in reader.entries("", &root)? {
        match name.as_str() {
            AGENTS | PROMPTS => reader.texts(&name, &path, "md"),
            phases::PHASES | phases::SHARED => reader.texts(&name, &path, "txt"),
            tool_policies::POLICIES => reader.texts(&name, &path, "cedar"),
            name if FILES.contains(&name) => reader.file(name, &path),
            name if FOR_PEOPLE.contains(&name) => {}
            _ => reader
                .findings
                .warning(&name, None, CharterProblem::UnknownFile),
        }
    }
    Ok(reader.files)
}

struct FolderReader<'a> {
    root: PathBuf,
    files: CharterFiles,
    findings: &'a mut FindingList,
}

impl FolderReader<'_> {
    /// The entries of a folder in the order of their names. Hidden ones belong to other programs.
    fn entries(&mut self, name: &str, folder: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
        let mut entries = BTreeMap::new();
        let mut seen = 0;
        // One more than allowed is enough to know, however many files the folder has.
        for entry in fs::read_dir(folder)?.take(FILES_MAX + 1) {
            let entry = entry?;
            seen += 1;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') {
                entries.insert(name, entry.path());
            }
        }
        if seen > FILES_MAX {
            let flaw = CharterProblem::TooMany {
                what: "files",
                count_max: FILES_MAX,
            };
            let name = if name.is_empty() { "." } else { name };
            self.findings.problem(name, None, flaw);
            // Reading the first ones of a random order would make the findings differ from one check to the next.
            entries.clear();
        }
        Ok(entries)
    }

    /// Reads the files of a folder that end like this.
    fn texts(&mut self, name: &str, folder: &Path, ends: &str) {
        let entries = self
            .inside(folder)
            .and_then(|folder| match self.entries(name, &folder) {
                Ok(entries) => Ok(entries),
                Err(cause) => Err(unreadable(&cause)),
            });
        let entries = match entries {
            Ok(entries) => entries,
            Err(flaw) => return self.findings.problem(name, None, flaw),
        };
        for (entry, path) in entries {
            let file = format!("{name}/{entry}");
            if path.extension().is_some_and(|extension| extension == ends) {
                self.file(&file, &path);
            } else {
                self.findings
                    .warning(&file, None, CharterProblem::UnknownFile);
            }
        }
    }

    fn file(&mut self, name: &str, path: &Path) {
        let content = match self.inside(path).and_then(|path| content(&path)) {
            Ok(bytes) => Some(bytes),
            Err(flaw) => {
                self.findings.problem(name, None, flaw);
                None
            }
        };
        self.files.insert(name.to_owned(), content);
    }

    /// The path without links, where it stays in the charter's folder.
    fn inside(&self, path: &Path) -> Result<PathBuf, CharterProblem> {
        let real = fs::canonicalize(path).map_err(|cause| unreadable(&cause))?;
        // A link out of the folder would make a charter's digest cover files that its reviewers never saw.
        if real.starts_with(&self.root) {
            Ok(real)
        } else {
            Err(CharterProblem::LeavesFolder)
        }
    }
}

fn content(path: &Path) -> Result<Vec<u8>, CharterProblem> {
    // A pipe would keep the reader waiting for ever.
    let is_file = fs::metadata(path).map_err(|cause| unreadable(&cause))?;
    if !is_file.is_file() {
        let cause = "it is not a regular file".to_owned();
        return Err(CharterProblem::Unreadable { cause });
    }
    let file = fs::File::open(path).map_err(|cause| unreadable(&cause))?;
    let mut bytes = Vec::new();
    // The size is bounded while reading, since a file may grow after its metadata were read.
    file.take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|cause| unreadable(&cause))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        let bytes_max = FILE_BYTES_MAX;
        return Err(CharterProblem::TooLarge { bytes_max });
    }
    Ok(bytes)
}

fn unreadable(cause: &io::Error) -> CharterProblem {
    CharterProblem::Unreadable {
        cause: cause.to_string(),
    }
}
