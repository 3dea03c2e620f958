//! The `context` of cells.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use fathom_core::sandbox::ValueFormat;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::error::SandboxError;

/// Most bytes of all material of a context.
pub const MATERIAL_BYTES_MAX: u64 = 4 << 30;

/// Material from this size on has a process of its own, from which its sessions are forked; less is read by each session.
pub(crate) const SHARED_BYTES_MIN: u64 = 1 << 20;

/// A piece of what code finds as `context`.
#[derive(Clone, Debug)]
pub struct SandboxMaterial {
    /// Its name; the key in `context` where there are several.
    pub name: String,
    pub form: ValueFormat,
    pub content: MaterialContent,
}

/// A text in UTF-8.
#[derive(Clone, Debug)]
pub enum MaterialContent {
    /// In memory.
    Bytes(Vec<u8>),
    /// In memory, where others look at it too.
    Shared(Arc<String>),
}

/// A piece as its reader is told of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MaterialPiece {
    pub(crate) name: String,
    pub(crate) form: ValueFormat,
    pub(crate) bytes: u64,
}

/// Material in memory that nobody can change any more: one piece after the other, then what they are, as JSON. There may be more of
/// that than fits a message.
#[derive(Debug)]
pub(crate) struct SealedMemory {
    pub(crate) pieces: Vec<MaterialPiece>,
    pub(crate) memory: OwnedFd,
    /// Bytes of the pieces alone.
    pub(crate) bytes: u64,
    /// Bytes of their description.
    pub(crate) index_bytes: u64,
}

impl SealedMemory {
    /// Copies the material, which takes a while.
    pub(crate) fn copy(material: Vec<SandboxMaterial>) -> Result<Self, SandboxError> {
        let mut memory = reserve()?;
        let mut pieces = Vec::with_capacity(material.len());
        let mut bytes = 0;
        for SandboxMaterial {
            name,
            form,
            content,
        } in material
        {
            let content = match &content {
                MaterialContent::Bytes(content) => content.as_slice(),
                MaterialContent::Shared(content) => content.as_bytes(),
            };
            memory
                .write_all(content)
                .map_err(SandboxError::io("copy the material"))?;
            let copied = content.len() as u64;
            bytes += copied;
            if bytes > MATERIAL_BYTES_MAX {
                return Err(SandboxError::MaterialTooLarge {
                    bytes,
                    bytes_max: MATERIAL_BYTES_MAX,
                });
            }
            pieces.push(MaterialPiece {
                name,
                form,
                bytes: copied,
            });
        }
        let index = serde_json::to_vec(&pieces).map_err(io::Error::from);
        let index = index.map_err(SandboxError::io("describe the material"))?;
        memory
            .write_all(&index)
            .map_err(SandboxError::io("copy the material"))?;
        Ok(Self {
            pieces,
            memory: seal(memory)?,
            bytes,
            index_bytes: index.len() as u64,
        })
    }
}

/// Material that is kept as bytes: a descriptor each would be too many where there are thousands.
#[derive(Debug)]
pub(crate) struct SmallMaterial {
    /// As they are sealed, with their description.
    content: Vec<u8>,
    pub(crate) bytes: u64,
    pub(crate) index_bytes: u64,
}

impl SmallMaterial {
    /// Takes the bytes back, and checks them: who reads them later cannot say where they came from.
    pub(crate) fn new(sealed: SealedMemory) -> Result<Self, SandboxError> {
        let mut content = Vec::new();
        let mut memory = File::from(sealed.memory);
        memory
            .rewind()
            .and_then(|()| memory.read_to_end(&mut content))
            .map_err(SandboxError::io("read the material"))?;
        let mut rest = content.as_slice();
        for piece in &sealed.pieces {
            let length = usize::try_from(piece.bytes).unwrap_or(usize::MAX);
            let (text, after) = rest.split_at(length.min(rest.len()));
            check(piece, text).map_err(|cause| SandboxError::BadMaterial {
                cause: format!("{}: {cause}", piece.name),
            })?;
            rest = after;
        }
        Ok(Self {
            content,
            bytes: sealed.bytes,
            index_bytes: sealed.index_bytes,
        })
    }

    /// A copy that a process can be given.
    pub(crate) fn memory(&self) -> Result<OwnedFd, SandboxError> {
        let mut memory = reserve()?;
        memory
            .write_all(&self.content)
            .map_err(SandboxError::io("copy the material"))?;
        seal(memory)
    }
}

/// A piece that is not what its form says.
#[derive(Debug, thiserror::Error)]
enum PieceError {
    #[error(transparent)]
    Utf8(#[from] std::str::Utf8Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("line {number}: {error}")]
    Line {
        number: usize,
        error: serde_json::Error,
    },
}

fn check(piece: &MaterialPiece, content: &[u8]) -> Result<(), PieceError> {
    let text = std::str::from_utf8(content)?;
    let check = |json: &str| serde_json::from_str::<IgnoredAny>(json).map(drop);
    match piece.form {
        ValueFormat::Text => Ok(()),
        ValueFormat::Json => Ok(check(text)?),
        ValueFormat::Lines => text
            .split('\n')
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .try_for_each(|(number, line)| {
                check(line).map_err(|error| PieceError::Line {
                    number: number + 1,
                    error,
                })
            }),
    }
}

fn reserve() -> Result<File, SandboxError> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    memfd_create("fathom-material", flags)
        .map(File::from)
        .map_err(SandboxError::system("reserve memory"))
}

fn seal(memory: File) -> Result<OwnedFd, SandboxError> {
    // Processes share these pages: none may change what another reads, or cut it off.
    let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
    fcntl_add_seals(&memory, seals).map_err(SandboxError::system("seal the material"))?;
    Ok(memory.into())
}
