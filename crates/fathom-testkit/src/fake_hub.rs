//! A model hub on the loopback address: files by their address, Range requests, and faults to order.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::loopback_server::LoopbackServer;
use crate::model_server::ChunkGate;

/// Largest head of a request.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Most headers of a request.
const HEADERS_MAX: usize = 64;

/// Fault of one request.
#[derive(Clone, Debug)]
pub enum HubFault {
    /// The connection ends after this many bytes of the body.
    CutAfter(usize),
    /// The body has its length, but other bytes.
    WrongBytes,
    /// The body is this one.
    Instead(Vec<u8>),
    /// This status, and no file.
    Status(u16),
    /// The whole file, though a part was asked for.
    IgnoreRange,
    /// Nothing more after this many bytes of the body, until the client closes the connection.
    StallAfter(usize),
    /// Nothing until the gate is open.
    Held(ChunkGate),
    /// Another address on the same server.
    Redirect(String),
}

/// A request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubRequest {
    /// The address on the server.
    pub path: String,
    /// The first byte that was asked for, in a Range request.
    pub from: Option<u64>,
}

#[derive(Default)]
struct HubState {
    files: BTreeMap<String, Vec<u8>>,
    faults: VecDeque<HubFault>,
    requests: Vec<HubRequest>,
}

/// A running hub. It stops, and closes its connections, when dropped.
pub struct FakeHub {
    state: Arc<Mutex<HubState>>,
    listening: LoopbackServer,
}

impl FakeHub {
    /// Starts a hub without files on a free port.
    pub async fn start() -> io::Result<Self> {
        let state: Arc<Mutex<HubState>> = Arc::default();
        let shared = Arc::clone(&state);
        let listening =
            LoopbackServer::start(0, move |stream| serve(stream, Arc::clone(&shared))).await?;
        Ok(Self { state, listening })
    }

    /// Puts a file of a repository on the hub.
    pub fn put(&self, repo: &str, path: &str, bytes: &[u8]) {
        let address = format!("/{repo}/resolve/main/{path}");
        lock(&self.state).files.insert(address, bytes.to_owned());
    }

    /// Puts a file at any address.
    pub fn put_at(&self, address: &str, bytes: &[u8]) {
        let address = address.to_owned();
        lock(&self.state).files.insert(address, bytes.to_owned());
    }

    /// Lets something go wrong: each request takes one fault, in order.
    pub fn fail(&self, faults: impl IntoIterator<Item = HubFault>) {
        lock(&self.state).faults.extend(faults);
    }

    /// The hub's address, as a client takes it.
    pub fn url(&self) -> String {
        self.listening.url()
    }

    /// Every request so far, in order of arrival.
    pub fn requests(&self) -> Vec<HubRequest> {
        lock(&self.state).requests.clone()
    }
}

fn lock(state: &Mutex<HubState>) -> MutexGuard<'_, HubState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One request a connection, so that a cut is an end that the client sees.
async fn serve(mut stream: TcpStream, state: Arc<Mutex<HubState>>) -> Option<()> {
    let request = read(&mut stream).await?;
    let (file, fault) = {
        let mut state = lock(&state);
        state.requests.push(request.clone());
        let file = state.files.get(&request.path).cloned();
        (file, state.faults.pop_front())
    };
    if let Some(HubFault::Held(gate)) = &fault {
        gate.pass().await;
    }
    let from = match fault {
        Some(HubFault::IgnoreRange) => 0,
        _ => usize::try_from(request.from.unwrap_or_default()).ok()?,
    };
    let mut file = match &fault {
        Some(HubFault::Status(status)) => return answer(&mut stream, *status, "", &[]).await,
        Some(HubFault::Redirect(to)) => {
            return answer(&mut stream, 302, &format!("location: {to}\r\n"), &[]).await;
        }
        Some(HubFault::Instead(bytes)) => bytes.clone(),
        _ => match file {
            Some(file) => file,
            None => return answer(&mut stream, 404, "", b"no such file").await,
        },
    };
    if matches!(fault, Some(HubFault::WrongBytes)) {
        for byte in &mut file {
            *byte = !*byte;
        }
    }
    let Some(body) = file.get(from..).filter(|body| !body.is_empty()) else {
        return answer(&mut stream, 416, "", &[]).await;
    };
    let (status, range) = if from > 0 {
        let last = file.len() - 1;
        let range = format!("content-range: bytes {from}-{last}/{}\r\n", file.len());
        (206, range)
    } else {
        (200, String::new())
    };
    match fault {
        Some(HubFault::CutAfter(bytes)) => {
            let sent = body.get(..bytes).unwrap_or(body);
            write(&mut stream, status, &range, body.len(), sent).await
        }
        Some(HubFault::StallAfter(bytes)) => {
            let sent = body.get(..bytes).unwrap_or(body);
            head(&mut stream, status, &range, body.len()).await?;
            stream.write_all(sent).await.ok()?;
            // The client says nothing more, so this is its going away.
            let _ = stream.read(&mut [0]).await;
            Some(())
        }
        _ => answer(&mut stream, status, &range, body).await,
    }
}

async fn answer(stream: &mut TcpStream, status: u16, headers: &str, body: &[u8]) -> Option<()> {
    write(stream, status, headers, body.len(), body).await
}

/// Writes an answer whose body may be shorter than it says.
async fn write(
    stream: &mut TcpStream,
    status: u16,
    headers: &str,
    length: usize,
    body: &[u8],
) -> Option<()> {
    head(stream, status, headers, length).await?;
    stream.write_all(body).await.ok()?;
    stream.shutdown().await.ok()
}

async fn head(stream: &mut TcpStream, status: u16, headers: &str, length: usize) -> Option<()> {
    let head = format!(
        "HTTP/1.1 {status} Answer\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.ok()
}

async fn read(stream: &mut TcpStream) -> Option<HubRequest> {
    let mut bytes = Vec::new();
    while bytes.len() < HEAD_BYTES_MAX {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Request::new(&mut headers);
        if parsed.parse(&bytes).ok()?.is_complete() {
            let range = parsed
                .headers
                .iter()
                .find(|header| header.name.eq_ignore_ascii_case("range"))
                .and_then(|header| std::str::from_utf8(header.value).ok());
            let from = range.and_then(|range| range.strip_prefix("bytes="));
            return Some(HubRequest {
                path: parsed.path?.to_owned(),
                from: from.and_then(|from| from.trim_end_matches('-').parse().ok()),
            });
        }
    }
    None
}
