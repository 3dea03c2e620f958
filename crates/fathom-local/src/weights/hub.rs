//! A model hub: plain GET requests that resume where an earlier one stopped.

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::header::{CONTENT_RANGE, RANGE};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Response, StatusCode};
use tokio::sync::mpsc;

use super::blocking_task;
use super::catalogue::HubFile;
use super::error::SourceFailure;
use super::partial_file::PartialFile;
use super::source::{FetchJob, FetchStop, WeightsSource, remove};

/// The default hub.
pub const HUB_URL: &str = "https://huggingface.co";

/// Time limit for connecting: without a hub, finding out should cost little.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(3);
/// Longest silence during a download.
const STALL_TIME_MAX: Duration = Duration::from_secs(30);
/// Maximum number of requests for one file; each resumes where the one before was cut.
const REQUESTS_MAX: u32 = 5;
/// A hub redirects downloads to its storage.
const REDIRECTS_MAX: usize = 5;
/// Maximum number of pieces waiting to be written.
const PIECES_MAX: usize = 32;

/// A model hub.
#[derive(Debug)]
pub struct HubSource {
    url: String,
    stall_time_max: Duration,
    /// Set when no connection could be made, so that the next file does not wait for it again.
    is_down: AtomicBool,
}

impl HubSource {
    /// The hub at `url`, such as `https://host`.
    pub fn new(url: &str) -> Self {
        Self {
            url: url.trim_end_matches('/').to_owned(),
            stall_time_max: STALL_TIME_MAX,
            is_down: AtomicBool::new(false),
        }
    }

    /// Sets the longest silence during a download.
    #[must_use]
    pub const fn with_stall_time_max(mut self, stall_time_max: Duration) -> Self {
        self.stall_time_max = stall_time_max;
        self
    }

    pub(super) fn source(&self) -> WeightsSource {
        WeightsSource::Hub {
            url: self.url.clone(),
        }
    }

    /// Fetches the file of `job` into its part, and checks it.
    pub(super) async fn fetch(
        &self,
        place: &HubFile,
        job: &FetchJob,
        report: &mut (dyn FnMut(u64) + Send),
    ) -> Result<(), FetchStop> {
        // Relaxed: a stale value only costs another attempt.
        if self.is_down.load(Ordering::Relaxed) {
            let cause = "not reachable earlier".to_owned();
            return Err(SourceFailure::Unreachable { cause }.into());
        }
        job.check_space(job.file.bytes.saturating_sub(job.part_bytes()))?;
        let client = self.client()?;
        let url = format!("{}/{}/resolve/main/{}", self.url, place.repo, place.path);
        let mut may_begin_again = true;
        let mut cut = None;
        for _ in 0..REQUESTS_MAX {
            let part = begun(job, report).await?;
            let from = part.bytes();
            let stop = match self.request(&client, &url, job, part, report).await {
                Ok(()) => return Ok(()),
                Err(stop) => stop,
            };
            match stop {
                FetchStop::Source(failure @ SourceFailure::Cut { .. }) => cut = Some(failure),
                // An earlier attempt may have left a part of another file.
                FetchStop::Source(failure)
                    if from > 0 && may_begin_again && is_misfit(&failure) =>
                {
                    may_begin_again = false;
                    remove(&job.part_path());
                }
                FetchStop::Source(failure) => {
                    if is_misfit(&failure) {
                        remove(&job.part_path());
                    }
                    return Err(failure.into());
                }
                FetchStop::Here(error) => return Err(error.into()),
            }
        }
        let cut = cut.unwrap_or_else(|| SourceFailure::Unreachable {
            cause: "too many requests".to_owned(),
        });
        Err(cut.into())
    }

    /// One request, to the end of its answer.
    async fn request(
        &self,
        client: &Client,
        url: &str,
        job: &FetchJob,
        mut part: PartialFile,
        report: &mut (dyn FnMut(u64) + Send),
    ) -> Result<(), FetchStop> {
        let expected_bytes = job.file.bytes;
        if part.bytes() == expected_bytes {
            return finished(part, job).await;
        }
        let mut request = client.get(url);
        if part.bytes() > 0 {
            request = request.header(RANGE, format!("bytes={}-", part.bytes()));
        }
        let response = request.send().await.map_err(|error| {
            if error.is_connect() {
                self.is_down.store(true, Ordering::Relaxed);
            }
            let cause = deepest(&error);
            SourceFailure::Unreachable { cause }
        })?;
        match response.status() {
            StatusCode::PARTIAL_CONTENT if goes_on_at(&response, part.bytes()) => {}
            // The server ignored the range and sends the whole file.
            StatusCode::OK => part.begin_again()?,
            status => {
                let status = status.as_u16();
                return Err(SourceFailure::Refused { status }.into());
            }
        }
        // Before anything is written.
        if let Some(length) = response.content_length() {
            let bytes = part.bytes().saturating_add(length);
            if bytes != expected_bytes {
                return Err(SourceFailure::WrongSize {
                    bytes,
                    expected_bytes,
                }
                .into());
            }
        }
        receive(response, part, job, report).await
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the weights download follows redirects, which the models' client must not: it carries no key"
    )]
    fn client(&self) -> Result<Client, SourceFailure> {
        // An error means that the process already has a provider, which will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = Client::builder()
            .user_agent(concat!("fathom/", env!("CARGO_PKG_VERSION")))
            .http1_only()
            .connect_timeout(CONNECT_TIME_MAX)
            .read_timeout(self.stall_time_max)
            .redirect(Policy::limited(REDIRECTS_MAX))
            .no_proxy()
            .retry(reqwest::retry::never())
            .referer(false);
        // Reading the system's root certificates takes time that a local server need not cost.
        let builder = if self.url.starts_with("http:") {
            builder.tls_certs_only(std::iter::empty::<Certificate>())
        } else {
            builder
        };
        builder.build().map_err(|error| SourceFailure::Unreachable {
            cause: deepest(&error),
        })
    }
}

/// The part left by an earlier attempt, hashed again.
async fn begun(
    job: &FetchJob,
    report: &mut (dyn FnMut(u64) + Send),
) -> Result<PartialFile, FetchStop> {
    let own = job.clone();
    let part = blocking_task::run(move |ticker| PartialFile::go_on(&own, ticker), |_| {}).await;
    let part = part.map_err(|error| job.io(&job.part_path(), error))??;
    if part.bytes() > 0 {
        report(part.bytes());
    }
    Ok(part)
}

/// Writes the answer on a separate thread, so that neither waits for the other.
async fn receive(
    mut response: Response,
    part: PartialFile,
    job: &FetchJob,
    report: &mut (dyn FnMut(u64) + Send),
) -> Result<(), FetchStop> {
    let mut done_bytes = part.bytes();
    let (pieces, waiting) = mpsc::channel(PIECES_MAX);
    let writer = tokio::task::spawn_blocking(move || write(part, waiting));
    while let Some(piece) = response.chunk().await.transpose() {
        let is_last = piece.is_err();
        done_bytes += piece.as_ref().map_or(0, |piece| piece.len() as u64);
        // A writer that has stopped reports its reason below.
        if pieces.send(piece).await.is_err() || is_last {
            break;
        }
        report(done_bytes.min(job.file.bytes));
    }
    drop(pieces);
    let written = writer.await.map_err(std::io::Error::other);
    let part = written.map_err(|error| job.io(&job.part_path(), error))??;
    finished(part, job).await
}

/// Writes pieces until there are no more, or until one fails.
fn write<P: AsRef<[u8]>>(
    mut part: PartialFile,
    mut pieces: mpsc::Receiver<reqwest::Result<P>>,
) -> Result<PartialFile, FetchStop> {
    while let Some(piece) = pieces.blocking_recv() {
        match piece {
            Ok(piece) => part.write(piece.as_ref())?,
            Err(error) => {
                return Err(FetchStop::Source(SourceFailure::Cut {
                    bytes: part.bytes(),
                    cause: deepest(&error),
                }));
            }
        }
    }
    Ok(part)
}

async fn finished(part: PartialFile, job: &FetchJob) -> Result<(), FetchStop> {
    let done = blocking_task::run(move |_| part.finish(), |_| {}).await;
    done.map_err(|error| job.io(&job.part_path(), error))?
}

/// True if the answer to a range request starts at the right position.
fn goes_on_at(response: &Response, from: u64) -> bool {
    let range = response.headers().get(CONTENT_RANGE);
    let range = range.and_then(|range| range.to_str().ok());
    range.is_some_and(|range| range.starts_with(&format!("bytes {from}-")))
}

/// True if the failure shows that the existing part and the answer do not belong together.
const fn is_misfit(failure: &SourceFailure) -> bool {
    matches!(
        failure,
        SourceFailure::WrongSize { .. }
            | SourceFailure::WrongHash { .. }
            | SourceFailure::Refused { status: 206 | 416 }
    )
}

/// The root cause of a client error, whose own message only says that there is one.
fn deepest(error: &reqwest::Error) -> String {
    let first = error.source();
    let causes = std::iter::successors(first, |cause: &&dyn std::error::Error| (*cause).source());
    let deepest = causes.last().map(ToString::to_string);
    deepest.unwrap_or_else(|| error.to_string())
}
