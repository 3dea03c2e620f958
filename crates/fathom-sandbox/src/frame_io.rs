//! Frames on a worker's socket. The worker may send anything, at any pace, and may never read.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use fathom_core::sandbox::CellReply;
use tokio::net::UnixStream;
use tokio::sync::{AcquireError, Semaphore, SemaphorePermit};
use tokio::time::Instant;

use crate::clock;
use crate::frames::{self, AnswerFrame, FRAME_BYTES_MAX, ToWorker};

/// Bytes that are read at a time; a frame's room grows with what arrives of it, not with what it announces.
const READ_BYTES: usize = 64 << 10;

/// Longest time in which a worker must read some of what it was sent.
const READ_MAX: Duration = Duration::from_secs(10);

/// Longest time from a large frame's first byte to its last.
const FRAME_MAX: Duration = Duration::from_secs(10);

/// A frame above this is large.
const LARGE_BYTES: usize = 1 << 20;

/// Megabytes of large frames that are in memory at a time, over all sessions of the program.
static LARGE: Semaphore = Semaphore::const_new(2 * FRAME_BYTES_MAX / LARGE_BYTES);

/// Reasons for hearing nothing more from a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireClosed {
    /// Its process ended, or closed the socket.
    Ended,
    /// It announced a frame that is too large.
    TooLarge,
}

impl WireClosed {
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Ended => "its process ended",
            Self::TooLarge => "it sent a message that is too large",
        }
    }
}

/// Progress of reading a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FillState {
    /// It is there.
    Whole,
    /// It is a large one, and others have the room: its sender can do nothing about that.
    Waits,
    /// There is room for it now.
    Goes,
}

/// Bytes from a worker that were not read yet.
#[derive(Default)]
pub(crate) struct FrameInbox {
    bytes: Vec<u8>,
    /// Room for the large frame that is being read.
    room: Option<FrameLimit>,
    /// Waits in the queue for that room. It is kept: whoever asks anew stands at its end.
    queue: Option<FrameQueue>,
}

type FrameQueue =
    Pin<Box<dyn Future<Output = Result<SemaphorePermit<'static>, AcquireError>> + Send + Sync>>;

impl fmt::Debug for FrameInbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox")
            .field("bytes", &self.bytes.len())
            .field("room", &self.room)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct FrameLimit {
    _permit: SemaphorePermit<'static>,
    since: Instant,
}

impl FrameInbox {
    /// The length of the frame that begins the bytes, once it is known.
    fn announced(&self) -> Result<Option<usize>, WireClosed> {
        let Some(length) = self.bytes.first_chunk() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*length) as usize;
        if length > FRAME_BYTES_MAX {
            return Err(WireClosed::TooLarge);
        }
        Ok(Some(length))
    }

    fn make_room(&mut self, permit: SemaphorePermit<'static>, whole: usize) {
        self.room = Some(FrameLimit {
            _permit: permit,
            since: clock::now(),
        });
        // Reserved once; its pages are taken as bytes arrive.
        self.bytes
            .reserve_exact(whole.saturating_sub(self.bytes.len()));
    }

    /// Tells whether a large frame is announced that others leave no room for yet.
    pub(crate) fn waits(&self) -> bool {
        self.queue.is_some()
    }

    /// Nothing is read for a while: a place in the queue would be in the way of others.
    pub(crate) fn rest(&mut self) {
        self.queue = None;
    }

    /// It was halted for so long, in which it could send nothing.
    pub(crate) fn rested(&mut self, time: Duration) {
        if let Some(room) = &mut self.room {
            room.since += time;
        }
    }

    /// Waits until a whole frame is there that is no longer than this. Nothing is lost when the wait is given up.
    pub(crate) async fn fill(
        &mut self,
        stream: &UnixStream,
        bytes_max: usize,
    ) -> Result<FillState, WireClosed> {
        loop {
            let whole = match self.announced()? {
                Some(length) if self.bytes.len() >= 4 + length => return Ok(FillState::Whole),
                Some(length) => 4 + length,
                None => 4,
            };
            if whole > bytes_max {
                return std::future::pending().await;
            }
            if whole > LARGE_BYTES && self.room.is_none() {
                let megabytes = u32::try_from(whole / LARGE_BYTES).unwrap_or(u32::MAX);
                let Some(queue) = &mut self.queue else {
                    if let Ok(permit) = LARGE.try_acquire_many(megabytes) {
                        self.make_room(permit, whole);
                        continue;
                    }
                    self.queue = Some(Box::pin(LARGE.acquire_many(megabytes)));
                    return Ok(FillState::Waits);
                };
                // It is never closed.
                let permit = queue.await.map_err(|_| WireClosed::Ended)?;
                self.queue = None;
                self.make_room(permit, whole);
                return Ok(FillState::Goes);
            }
            stream.readable().await.map_err(|_| WireClosed::Ended)?;
            if self.bytes.capacity() == self.bytes.len() {
                self.bytes.reserve(READ_BYTES);
            }
            match stream.try_read_buf(&mut self.bytes) {
                Ok(0) => return Err(WireClosed::Ended),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Err(WireClosed::Ended),
            }
        }
    }

    /// The time by which the frame being read must be complete.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.room.as_ref().map(|room| room.since + FRAME_MAX)
    }

    /// Takes the first frame out. The room that was read into stays, except a large frame's.
    pub(crate) fn take(&mut self) -> WireFrame {
        let length = self.announced().ok().flatten().unwrap_or(0);
        let end = (4 + length).min(self.bytes.len());
        let room = self.room.take();
        let bytes = if room.is_some() {
            let rest = self.bytes.split_off(end);
            std::mem::replace(&mut self.bytes, rest)
        } else {
            self.bytes.drain(..end).collect()
        };
        WireFrame { bytes, _room: room }
    }
}

/// A whole frame.
#[derive(Debug)]
pub(crate) struct WireFrame {
    bytes: Vec<u8>,
    _room: Option<FrameLimit>,
}

impl WireFrame {
    pub(crate) fn json(&self) -> &[u8] {
        self.bytes.get(4..).unwrap_or_default()
    }
}

/// Bytes that a worker has not read yet.
#[derive(Debug, Default)]
pub(crate) struct FrameOutbox {
    frames: VecDeque<InboxWait>,
    /// Bytes of the first frame that are gone.
    sent: usize,
    progress: Option<Instant>,
}

/// An answer gets its bytes when its turn comes: a worker that asks much and reads nothing costs no more than the answers.
#[derive(Debug)]
enum InboxWait {
    Frame(Vec<u8>),
    Answer { id: u32, reply: CellReply },
}

impl FrameOutbox {
    pub(crate) fn push(&mut self, frame: Vec<u8>) {
        self.wait(InboxWait::Frame(frame));
    }

    /// Answers a question by the worker's number of it.
    pub(crate) fn push_answer(&mut self, id: u32, reply: CellReply) {
        self.wait(InboxWait::Answer { id, reply });
    }

    fn wait(&mut self, waiting: InboxWait) {
        if self.frames.is_empty() {
            self.progress = Some(clock::now());
        }
        self.frames.push_back(waiting);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The time by which the worker must have read some of it.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.progress.map(|since| since + READ_MAX)
    }

    /// Sends all that the socket takes now; what it does not take waits until it does.
    pub(crate) async fn flush(&mut self, stream: &UnixStream) -> Result<(), WireClosed> {
        while let Some(waiting) = self.frames.front_mut() {
            let frame = match waiting {
                InboxWait::Frame(frame) => frame,
                InboxWait::Answer { id, reply } => {
                    let reply = AnswerFrame::from(&*reply);
                    let frame = frames::encode(&ToWorker::Answer { id: *id, reply });
                    *waiting = InboxWait::Frame(frame);
                    continue;
                }
            };
            match stream.try_write(&frame[self.sent..]) {
                Ok(sent) => {
                    self.sent += sent;
                    self.progress = Some(clock::now());
                    if self.sent == frame.len() {
                        self.sent = 0;
                        self.frames.pop_front();
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    stream.writable().await.map_err(|_| WireClosed::Ended)?;
                }
                Err(_) => return Err(WireClosed::Ended),
            }
        }
        self.progress = None;
        Ok(())
    }
}
