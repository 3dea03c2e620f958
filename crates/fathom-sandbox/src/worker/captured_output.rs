//! Printed output of a cell, and its memory usage.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;

use monty_types::{BASELINE_MEMORY, LIVE_MEMORY, MontyException, PrintWriterCallback};
use serde_json::{Value, json};

/// The interpreter asks every hundred steps or so; looking at each would cost more than the steps.
const LOOKS_APART: u32 = 16;

/// Tells the interpreter how much memory there is in use. It would know by itself in a program whose every allocation it
/// counts; this one asks the kernel.
#[derive(Debug)]
pub(super) struct OutputMeter {
    /// Opened before files were denied.
    statm: File,
    page_bytes: usize,
    asked: u32,
}

impl OutputMeter {
    pub(super) fn open() -> io::Result<Self> {
        Ok(Self {
            statm: File::open("/proc/self/statm")?,
            page_bytes: rustix::param::page_size(),
            asked: 0,
        })
    }

    /// Starts the count: memory that is resident now does not count. Returns the size of the address space, in bytes.
    pub(super) fn begin(&self) -> u64 {
        let [size, resident] = self.read();
        // Relaxed: they are numbers alone, and no other memory depends on them.
        BASELINE_MEMORY.store(resident, Ordering::Relaxed);
        LIVE_MEMORY.store(resident, Ordering::Relaxed);
        size as u64
    }

    fn look(&self) {
        let [_, resident] = self.read();
        LIVE_MEMORY.store(resident, Ordering::Relaxed);
    }

    /// Bytes of addresses and of memory; nothing where the kernel does not tell.
    fn read(&self) -> [usize; 2] {
        let mut line = [0; 64];
        let length = self.statm.read_at(&mut line, 0).unwrap_or_default();
        let line = std::str::from_utf8(&line[..length]).unwrap_or_default();
        let mut pages = line.split_whitespace().map(str::parse::<usize>);
        [0; 2].map(|_| pages.next().and_then(Result::ok).unwrap_or_default() * self.page_bytes)
    }
}

/// Keeps the beginning and the end of what is printed, and counts it all.
#[derive(Debug)]
pub(super) struct CapturedOutput {
    head: String,
    tail: String,
    half: usize,
    bytes: u64,
    /// As many of them as the host was told of while the cell ran.
    told: u64,
    /// Set when something was left out of the beginning.
    head_full: bool,
    pub(super) meter: OutputMeter,
}

impl CapturedOutput {
    pub(super) fn new(meter: OutputMeter) -> Self {
        Self {
            head: String::new(),
            tail: String::new(),
            half: 0,
            bytes: 0,
            told: 0,
            head_full: false,
            meter,
        }
    }

    /// Forgets what was printed, for another cell.
    pub(super) fn begin(&mut self, bytes_max: u32) {
        self.head.clear();
        self.tail.clear();
        self.half = bytes_max as usize / 2;
        self.bytes = 0;
        self.told = 0;
        self.head_full = false;
    }

    pub(super) fn print(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        let mut rest = text;
        if !self.head_full {
            let room = self.half - self.head.len();
            let (fits, more) = rest.split_at(rest.floor_char_boundary(room));
            self.head.push_str(fits);
            self.head_full = !more.is_empty();
            rest = more;
        }
        // Only the last half can be kept of it.
        let from = rest.len().saturating_sub(2 * self.half);
        self.tail.push_str(&rest[rest.ceil_char_boundary(from)..]);
        if self.tail.len() > 4 * self.half {
            self.cut_tail();
        }
    }

    fn cut_tail(&mut self) {
        let from = self.tail.len().saturating_sub(self.half);
        let from = self.tail.ceil_char_boundary(from);
        self.tail.drain(..from);
    }

    /// As the host takes it, where there is more than it was told last.
    pub(super) fn news(&mut self) -> Option<Value> {
        let is_new = self.told < self.bytes;
        self.told = self.bytes;
        is_new.then(|| self.made())
    }

    /// As the host takes it.
    pub(super) fn made(&mut self) -> Value {
        if self.bytes <= 2 * self.half as u64 {
            let all = format!("{}{}", self.head, self.tail);
            return json!({ "head": all, "bytes": self.bytes });
        }
        self.cut_tail();
        json!({ "head": self.head, "tail": self.tail, "bytes": self.bytes })
    }
}

impl PrintWriterCallback for CapturedOutput {
    fn stdout_write(&mut self, output: Cow<'_, str>) -> Result<(), MontyException> {
        self.print(&output);
        Ok(())
    }

    fn stdout_push(&mut self, end: char) -> Result<(), MontyException> {
        self.print(end.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    fn poll_flush(&mut self) -> Result<(), MontyException> {
        self.meter.asked = self.meter.asked.wrapping_add(1);
        if self.meter.asked.is_multiple_of(LOOKS_APART) {
            self.meter.look();
        }
        Ok(())
    }
}
