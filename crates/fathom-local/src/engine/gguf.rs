//! Header of a GGUF file, read with a limit on everything.
//!
//! The engine reads the file again itself, in a language where a surprise ends the process. So everything it
//! relies on is checked here first; see `soundness` for the meaning of the values.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::error::EngineError;

const MAGIC: [u8; 4] = *b"GGUF";
const VERSIONS: std::ops::RangeInclusive<u32> = 2..=3;
// Far above real files, so that a false count cannot make this process allocate for it.
const KEYS_MAX: u64 = 4096;
const TENSORS_MAX: u64 = 65_536;
const STRING_BYTES_MAX: u64 = 16 * 1024 * 1024;
const ARRAY_LEN_MAX: u64 = 8 * 1024 * 1024;
/// Longest array of numbers that is kept: one number per layer, and the engine supports at most 512 layers.
const NUMBERS_KEPT_MAX: u64 = 1024;
const NAME_BYTES_MAX: usize = 63;
const DIMENSIONS_MAX: u32 = 4;
const ALIGNMENT_DEFAULT: u64 = 32;
const ALIGNMENT_MAX: u64 = 65_536;
const READ_BUFFER_BYTES: usize = 256 * 1024;

/// A value of the header.
#[derive(Clone, Debug, PartialEq)]
pub enum GgufValue {
    /// A whole number.
    Integer(i128),
    /// A number with a fraction.
    Float(f64),
    /// Yes or no.
    Bool(bool),
    /// Text; invalid UTF-8 is replaced.
    String(String),
    /// Several texts, as bytes.
    Strings(Vec<Vec<u8>>),
    /// A few whole numbers.
    Integers(Vec<i128>),
    /// An array that is only counted, with the type of its elements.
    Counted {
        /// Number of elements.
        len: u64,
        /// Type of the elements, as numbered in the file.
        kind: u32,
    },
}

/// Header of a GGUF file: the properties of the model and the positions of its tensors.
#[derive(Debug)]
pub struct GgufHeader {
    path: PathBuf,
    values: BTreeMap<String, GgufValue>,
    tensors: usize,
}

impl GgufHeader {
    /// Reads the header of the file at `path` and checks that all tensors are within the file.
    pub fn read(path: &Path) -> Result<Self, EngineError> {
        let unreadable = |source| match io::Error::kind(&source) {
            io::ErrorKind::NotFound => EngineError::Missing {
                path: path.to_owned(),
            },
            _ => EngineError::Unreadable {
                path: path.to_owned(),
                source,
            },
        };
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(unreadable(io::Error::other("not a regular file")));
        }
        let mut reader = GgufReader {
            path,
            left: metadata.len(),
            at: 0,
            file: BufReader::with_capacity(READ_BUFFER_BYTES, file),
        };
        reader.header(metadata.len())
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<&GgufValue> {
        self.values.get(key)
    }

    /// The text under `key`.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            GgufValue::String(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number under `key`.
    pub fn integer(&self, key: &str) -> Option<i128> {
        match self.get(key)? {
            GgufValue::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The texts under `key`.
    pub fn strings(&self, key: &str) -> Option<&[Vec<u8>]> {
        match self.get(key)? {
            GgufValue::Strings(strings) => Some(strings),
            _ => None,
        }
    }

    /// Number of tensors.
    pub fn tensors(&self) -> usize {
        self.tensors
    }

    pub(crate) fn damaged(&self, cause: impl Into<String>) -> EngineError {
        EngineError::Damaged {
            path: self.path.clone(),
            cause: cause.into(),
        }
    }

    pub(crate) fn unsupported(&self, cause: impl Into<String>) -> EngineError {
        EngineError::Unsupported {
            path: self.path.clone(),
            cause: cause.into(),
        }
    }
}

struct GgufReader<'p> {
    path: &'p Path,
    file: BufReader<File>,
    /// Unread bytes of the file.
    left: u64,
    at: u64,
}

impl GgufReader<'_> {
    fn damaged(&self, cause: impl Into<String>) -> EngineError {
        EngineError::Damaged {
            path: self.path.to_owned(),
            cause: cause.into(),
        }
    }

    fn header(&mut self, file_bytes: u64) -> Result<GgufHeader, EngineError> {
        self.preamble()?;
        let tensor_count = self.number("number of tensors", TENSORS_MAX)?;
        let key_count = self.number("number of keys", KEYS_MAX)?;
        let mut values = BTreeMap::new();
        for _ in 0..key_count {
            let key =
                String::from_utf8(self.string()?).map_err(|_| self.damaged("a key is not text"))?;
            if key.is_empty() {
                return Err(self.damaged("a key is empty"));
            }
            let value = self.value(&key)?;
            if values.insert(key.clone(), value).is_some() {
                return Err(self.damaged(format!("duplicate key `{key}`")));
            }
        }
        let alignment = self.alignment(values.get("general.alignment"))?;
        self.tensor_table(tensor_count, alignment, file_bytes)?;
        Ok(GgufHeader {
            path: self.path.to_owned(),
            values,
            tensors: usize::try_from(tensor_count).unwrap_or(usize::MAX),
        })
    }

    fn preamble(&mut self) -> Result<(), EngineError> {
        let not_gguf = |cause: String| EngineError::NotGguf {
            path: self.path.to_owned(),
            cause,
        };
        if self.left < 24 {
            return Err(not_gguf(format!("it has only {} bytes", self.left)));
        }
        let mut magic = [0; 4];
        self.fill(&mut magic)?;
        if magic != MAGIC {
            return Err(EngineError::NotGguf {
                path: self.path.to_owned(),
                cause: "it does not begin with `GGUF`".to_owned(),
            });
        }
        let version = self.u32()?;
        if !VERSIONS.contains(&version) {
            return Err(EngineError::NotGguf {
                path: self.path.to_owned(),
                cause: format!("its version is {version}"),
            });
        }
        Ok(())
    }

    fn number(&mut self, what: &str, max: u64) -> Result<u64, EngineError> {
        let number = self.u64()?;
        if number > max {
            return Err(self.damaged(format!("the {what} is {number}, above {max}")));
        }
        Ok(number)
    }

    fn value(&mut self, key: &str) -> Result<GgufValue, EngineError> {
        match self.u32()? {
            8 => Ok(GgufValue::String(
                String::from_utf8_lossy(&self.string()?).into_owned(),
            )),
            9 => self.array(key),
            kind => self.scalar(key, kind),
        }
    }

    fn scalar(&mut self, key: &str, kind: u32) -> Result<GgufValue, EngineError> {
        let integer = |number: i128| Ok(GgufValue::Integer(number));
        match kind {
            0 => integer(i128::from(self.bytes::<1>()?[0])),
            1 => integer(i128::from(i8::from_le_bytes(self.bytes()?))),
            2 => integer(i128::from(u16::from_le_bytes(self.bytes()?))),
            3 => integer(i128::from(i16::from_le_bytes(self.bytes()?))),
            4 => integer(i128::from(self.u32()?)),
            5 => integer(i128::from(i32::from_le_bytes(self.bytes()?))),
            6 => Ok(GgufValue::Float(f64::from(f32::from_le_bytes(
                self.bytes()?,
            )))),
            7 => Ok(GgufValue::Bool(self.bytes::<1>()?[0] != 0)),
            10 => integer(i128::from(self.u64()?)),
            11 => integer(i128::from(i64::from_le_bytes(self.bytes()?))),
            12 => Ok(GgufValue::Float(f64::from_le_bytes(self.bytes()?))),
            _ => Err(self.damaged(format!(
                "the key `{key}` has a value of the unknown type {kind}"
            ))),
        }
    }

    fn array(&mut self, key: &str) -> Result<GgufValue, EngineError> {
        let kind = self.u32()?;
        let len = self.number("length of an array", ARRAY_LEN_MAX)?;
        if kind == 8 {
            // Each text is preceded by its length, so a false count shows before memory is reserved for it.
            self.claim(len.saturating_mul(8))?;
            return (0..len)
                .map(|_| self.string())
                .collect::<Result<_, _>>()
                .map(GgufValue::Strings);
        }
        let Some(width) = width(kind) else {
            return Err(self.damaged(format!("the array `{key}` has elements of type {kind}")));
        };
        self.claim(len.saturating_mul(width))?;
        if len <= NUMBERS_KEPT_MAX && !matches!(kind, 6 | 12) {
            let mut numbers = Vec::new();
            for _ in 0..len {
                match self.scalar(key, kind)? {
                    GgufValue::Integer(number) => numbers.push(number),
                    GgufValue::Bool(yes) => numbers.push(i128::from(yes)),
                    _ => {}
                }
            }
            return Ok(GgufValue::Integers(numbers));
        }
        self.skip(len * width)?;
        Ok(GgufValue::Counted { len, kind })
    }

    fn alignment(&self, value: Option<&GgufValue>) -> Result<u64, EngineError> {
        let Some(value) = value else {
            return Ok(ALIGNMENT_DEFAULT);
        };
        let alignment = match value {
            GgufValue::Integer(number) => u64::try_from(*number).unwrap_or(0),
            _ => 0,
        };
        if !alignment.is_power_of_two() || !(8..=ALIGNMENT_MAX).contains(&alignment) {
            return Err(self.damaged("its alignment is not a valid power of two"));
        }
        Ok(alignment)
    }

    fn tensor_table(
        &mut self,
        count: u64,
        alignment: u64,
        file_bytes: u64,
    ) -> Result<(), EngineError> {
        let mut names = HashSet::new();
        let mut data_bytes = 0_u64;
        // The last tensor need not be padded to the alignment.
        let mut needed_bytes = 0_u64;
        for _ in 0..count {
            let name = self.string()?;
            let shown = String::from_utf8_lossy(&name).into_owned();
            if name.len() > NAME_BYTES_MAX || !names.insert(name) {
                return Err(self.damaged(format!(
                    "the tensor name `{shown}` is too long or a duplicate"
                )));
            }
            let bytes = self.tensor_bytes(&shown)?;
            // The tensors follow each other without gaps, which the engine takes for granted.
            if self.u64()? != data_bytes {
                return Err(self.damaged(format!("the tensor `{shown}` is at the wrong position")));
            }
            needed_bytes = data_bytes.saturating_add(bytes);
            data_bytes = bytes
                .checked_next_multiple_of(alignment)
                .and_then(|bytes| data_bytes.checked_add(bytes))
                .ok_or_else(|| self.damaged(format!("the tensor `{shown}` is too large")))?;
        }
        if count == 0 {
            return Ok(());
        }
        let begin = self.at.next_multiple_of(alignment);
        let end = begin.saturating_add(needed_bytes);
        if end > file_bytes {
            return Err(self.damaged(format!(
                "it has {file_bytes} bytes, but its header describes {end}"
            )));
        }
        Ok(())
    }

    fn tensor_bytes(&mut self, name: &str) -> Result<u64, EngineError> {
        let dimensions = self.u32()?;
        if dimensions == 0 || dimensions > DIMENSIONS_MAX {
            return Err(self.damaged(format!("the tensor `{name}` has {dimensions} dimensions")));
        }
        let mut row = 0;
        let mut elements = 1_u64;
        for dimension in 0..dimensions {
            let extent = self.u64()?;
            if dimension == 0 {
                row = extent;
            }
            // The bound is far above any model and far below the point where sizes overflow.
            elements = elements
                .checked_mul(extent)
                .filter(|&elements| elements > 0 && elements < 1 << 48)
                .ok_or_else(|| {
                    self.damaged(format!("the tensor `{name}` has an impossible shape"))
                })?;
        }
        let kind = self.u32()?;
        let Some((block, bytes)) = block_of(kind) else {
            return Err(EngineError::Unsupported {
                path: self.path.to_owned(),
                cause: format!("the tensor `{name}` has the unknown type {kind}"),
            });
        };
        if row % block != 0 {
            return Err(self.damaged(format!(
                "the rows of the tensor `{name}` are not whole blocks"
            )));
        }
        Ok(elements / block * bytes)
    }

    fn string(&mut self) -> Result<Vec<u8>, EngineError> {
        let len = self.number("length of a text", STRING_BYTES_MAX)?;
        self.claim(len)?;
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, EngineError> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, EngineError> {
        self.bytes().map(u64::from_le_bytes)
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], EngineError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Checks that the file has `bytes` more.
    fn claim(&self, bytes: u64) -> Result<(), EngineError> {
        if bytes > self.left {
            return Err(self.damaged("it ends in the middle of its header"));
        }
        Ok(())
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), EngineError> {
        let count = bytes.len() as u64;
        self.claim(count)?;
        self.file
            .read_exact(bytes)
            .map_err(|source| EngineError::Unreadable {
                path: self.path.to_owned(),
                source,
            })?;
        self.left -= count;
        self.at += count;
        Ok(())
    }

    fn skip(&mut self, bytes: u64) -> Result<(), EngineError> {
        self.claim(bytes)?;
        let step = i64::try_from(bytes).map_err(|_| self.damaged("an array is too long"))?;
        // Relative, so that the buffer stays valid.
        self.file
            .seek_relative(step)
            .or_else(|_| self.file.seek(SeekFrom::Start(self.at + bytes)).map(drop))
            .map_err(|source| EngineError::Unreadable {
                path: self.path.to_owned(),
                source,
            })?;
        self.left -= bytes;
        self.at += bytes;
        Ok(())
    }
}

/// Size of a scalar of type `kind`.
const fn width(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

/// Elements and bytes of one block of tensor type `kind`.
const fn block_of(kind: u32) -> Option<(u64, u64)> {
    Some(match kind {
        0 | 26 => (1, 4),
        1 | 25 | 30 => (1, 2),
        2 | 20 => (32, 18),
        3 => (32, 20),
        6 => (32, 22),
        7 => (32, 24),
        8 => (32, 34),
        9 => (32, 36),
        10 => (256, 84),
        11 | 21 => (256, 110),
        12 => (256, 144),
        13 => (256, 176),
        14 => (256, 210),
        15 => (256, 292),
        16 | 35 => (256, 66),
        17 => (256, 74),
        18 => (256, 98),
        19 => (256, 50),
        22 => (256, 82),
        23 => (256, 136),
        24 => (1, 1),
        27 | 28 => (1, 8),
        29 => (256, 56),
        34 => (256, 54),
        39 => (32, 17),
        40 => (64, 36),
        _ => return None,
    })
}
