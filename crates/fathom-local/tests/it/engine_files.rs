//! Files that are no weights, or were.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use fathom_local::engine::gguf::GgufHeader;
use fathom_local::engine::{EngineError, EngineOptions, LocalEngine, ModelTokenizer};

use tempfile::TempDir;

use crate::engine_model::{SMALLEST, weights};

fn load(path: &Path) -> Result<LocalEngine, EngineError> {
    LocalEngine::load(path, EngineOptions::default())
}

/// What is wrong with the file at `path`; it must be something.
fn error_of(path: &Path) -> EngineError {
    let error = load(path).expect_err("the file must not load");
    assert!(error.code().starts_with("F05") && !error.hint().is_empty());
    error
}

fn written(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Where the values of the header of the smallest model end and its tensors are listed.
const HEADER_BYTES: usize = 1_785_664;

#[test]
fn what_is_not_there_or_cannot_be_read_is_said() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(error_of(&folder.path().join("none.gguf")).code(), "F0501");
    assert_eq!(error_of(folder.path()).code(), "F0502");
    let path = written(folder.path(), "closed.gguf", b"GGUF");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // Whoever runs the tests as root may read it all the same, and finds four bytes.
    assert!(["F0502", "F0503"].contains(&error_of(&path).code()));
}

#[test]
fn files_of_another_kind_are_no_gguf() {
    let folder = tempfile::tempdir().unwrap();
    let mut version = b"GGUF".to_vec();
    version.extend(9_u32.to_le_bytes());
    version.extend([0; 64]);
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("short", b"GGUF\x03\0\0\0".to_vec()),
        ("text", "hello ".repeat(100).into_bytes()),
        ("zeros", vec![0; 4096]),
        ("zip", b"PK\x03\x04".repeat(64)),
        ("version", version),
    ] {
        let path = written(folder.path(), name, &bytes);
        assert_eq!(error_of(&path).code(), "F0503", "{name}");
    }
}

/// A copy of the smallest model that can be spoilt and mended again.
struct Specimen {
    path: PathBuf,
    file: File,
    header: Vec<u8>,
    _folder: TempDir,
}

impl Specimen {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy.gguf");
        fs::copy(weights(&[SMALLEST]), &path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let mut header = vec![0; HEADER_BYTES];
        file.read_exact_at(&mut header, 0).unwrap();
        Self {
            path,
            file,
            header,
            _folder: folder,
        }
    }

    /// Where `needle` is first in the header.
    fn find(&self, needle: &[u8]) -> usize {
        let mut windows = self.header.windows(needle.len());
        windows.position(|window| window == needle).unwrap()
    }

    /// Loads the model with `changes` in its header, each a place and what is put there.
    fn load_with(&self, changes: &[(usize, &[u8])]) -> Result<LocalEngine, EngineError> {
        for (at, bytes) in changes {
            self.file.write_all_at(bytes, *at as u64).unwrap();
        }
        let loaded = load(&self.path);
        for (at, bytes) in changes {
            let before = &self.header[*at..*at + bytes.len()];
            self.file.write_all_at(before, *at as u64).unwrap();
        }
        loaded
    }
}

#[test]
fn a_file_that_was_cut_short_is_damaged() {
    let specimen = Specimen::new();
    assert!(load(&specimen.path).is_ok());
    let whole = specimen.file.metadata().unwrap().len();
    for bytes in [
        whole - 1,
        whole / 2,
        HEADER_BYTES as u64,
        900_000,
        5_000,
        200,
        30,
    ] {
        specimen.file.set_len(bytes).unwrap();
        assert_eq!(error_of(&specimen.path).code(), "F0504", "{bytes} bytes");
    }
}

#[test]
fn numbers_that_would_end_the_process_are_found() {
    let specimen = Specimen::new();
    for (key, value) in [
        ("llama.block_count", 0),
        ("llama.block_count", 100_000),
        ("llama.embedding_length", 0),
        ("llama.attention.head_count", 0),
        ("llama.attention.head_count", 7),
        ("llama.attention.head_count_kv", 4),
        ("llama.attention.head_count_kv", 1),
        ("llama.feed_forward_length", 1 << 30),
        ("llama.context_length", 0),
        ("llama.rope.dimension_count", 63),
        ("tokenizer.ggml.eos_token_id", 60_000),
    ] {
        // After the key comes the type of its value in four bytes, then the value.
        let at = specimen.find(key.as_bytes()) + key.len() + 4;
        let error = specimen
            .load_with(&[(at, &u32::to_le_bytes(value))])
            .unwrap_err();
        assert!(
            ["F0504", "F0506"].contains(&error.code()),
            "{key} = {value}: {error}"
        );
    }
}

#[test]
fn a_vocabulary_that_would_end_the_process_is_found() {
    let specimen = Specimen::new();
    let twice = specimen.load_with(&[(specimen.find(b"<gh_stars>"), b"<file_sep>")]);
    assert_eq!(twice.unwrap_err().code(), "F0504");
    let zero = specimen.load_with(&[(specimen.find(b"<gh_stars>"), b"<gh\0tars>")]);
    assert_eq!(zero.unwrap_err().code(), "F0504");
    let other = specimen.load_with(&[(specimen.find(b"gpt2"), b"bert")]);
    assert_eq!(other.unwrap_err().code(), "F0505");
}

/// Random bytes over the header. Some files still load, for a wrong rounding term harms nobody; none may end the process.
#[test]
fn a_spoilt_header_never_ends_the_process() {
    const CASES: u64 = 60;
    let specimen = Specimen::new();
    let mut refused = 0;
    let mut state = 0x5EED_u64;
    let mut next = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 8).unwrap() % below
    };
    for case in 0..CASES {
        // The first kilobyte holds the numbers, the last ones the tensors; between them lies the vocabulary.
        let (begin, end) = match case % 3 {
            0 => (4, 1024),
            1 => (HEADER_BYTES - 16_000, HEADER_BYTES),
            _ => (4, HEADER_BYTES),
        };
        let spots: Vec<(usize, [u8; 1])> = (0..=case % 4)
            .map(|_| {
                (
                    begin + next(end - begin),
                    [u8::try_from(next(256)).unwrap()],
                )
            })
            .collect();
        let changes: Vec<(usize, &[u8])> = spots
            .iter()
            .map(|(at, byte)| (*at, byte.as_slice()))
            .collect();
        if specimen.load_with(&changes).is_err() {
            refused += 1;
        }
    }
    assert!(refused > CASES / 4, "{refused} of {CASES}");
    assert!(load(&specimen.path).is_ok(), "the copy is whole again");
}

#[test]
fn the_header_and_the_vocabulary_can_be_had_alone() {
    let path = weights(&[SMALLEST]);
    let header = GgufHeader::read(&path).unwrap();
    assert_eq!(header.text("general.architecture"), Some("llama"));
    assert_eq!(header.integer("llama.context_length"), Some(8192));
    assert_eq!(
        header.strings("tokenizer.ggml.tokens").map(<[_]>::len),
        Some(49_152)
    );
    assert_eq!(header.tensors(), 272);
    let vocabulary = ModelTokenizer::load(&path).unwrap();
    assert_eq!(
        vocabulary.count("hello"),
        load(&path).unwrap().count("hello")
    );
    let small = EngineOptions {
        cache_bytes_max: 1024,
        ..EngineOptions::default()
    };
    assert_eq!(LocalEngine::load(&path, small).unwrap_err().code(), "F0508");
}
