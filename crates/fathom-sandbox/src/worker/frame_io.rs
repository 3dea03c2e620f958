//! The worker's end of the frames, and the greeting that goes before them.

use std::fs::File;
use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::confine_program::ConfineJob;
use super::lockdown::LockedDown;
use crate::material::MaterialPiece;

/// Most bytes of one frame of the host: answers to a whole batch can be large.
const HOST_FRAME_BYTES_MAX: usize = 1 << 30;

/// The worker's first frame: what is in force, or why it will not run code.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GreetingFrame {
    Ready(LockedDown),
    Refused { reason: String },
}

/// The host's first frame: what the worker is for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FirstFrame {
    /// It runs cells.
    Begin(BeginFrame),
    /// It becomes a program.
    Confine(ConfineJob),
}

/// Start of the conversation with a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BeginFrame {
    /// Most bytes of memory beyond the material.
    pub(crate) memory: u64,
    pub(crate) pieces: Vec<MaterialPiece>,
}

/// A frame of the host.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToWorker {
    Cell(CellFrame),
    Answer { id: u32, reply: ReplyFrame },
}

#[derive(Debug, Deserialize)]
pub(super) struct CellFrame {
    #[serde(rename = "cell")]
    pub(super) number: u32,
    pub(super) code: String,
    pub(super) output: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReplyFrame {
    Each(Vec<OutcomeReply>),
    /// Already as it stands in the sandbox.
    Budget(Value),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OutcomeReply {
    Said(String),
    Chosen { text: String },
    Fault { kind: String, message: String },
}

/// Reads and writes frames, and waits while it does.
pub(super) struct WorkerWire(File);

impl WorkerWire {
    pub(super) fn new(socket: File) -> Self {
        Self(socket)
    }

    pub(super) fn send(&mut self, frame: &impl Serialize) -> io::Result<()> {
        self.send_json(&serde_json::to_vec(frame)?)
    }

    pub(super) fn send_json(&mut self, json: &[u8]) -> io::Result<()> {
        let length = u32::try_from(json.len()).map_err(io::Error::other)?;
        self.0.write_all(&length.to_be_bytes())?;
        self.0.write_all(json)
    }

    /// The next frame; nothing when the host hung up.
    pub(super) fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let mut length = [0; 4];
        match self.0.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let length = u32::from_be_bytes(length) as usize;
        if length > HOST_FRAME_BYTES_MAX {
            return Err(io::Error::other("a frame is too long"));
        }
        let mut json = vec![0; length];
        self.0.read_exact(&mut json)?;
        Ok(Some(serde_json::from_slice(&json)?))
    }
}
