//! Just enough HTTP/1.1: requests with a length, keep-alive, chunked answers.

use std::fmt::Write as _;
use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Largest request that is taken.
const REQUEST_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Most headers of a request.
const HEADERS_MAX: usize = 64;

/// A request as it came.
#[derive(Debug)]
pub(crate) struct RawRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl RawRequest {
    /// The header's value, by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn keeps_alive(&self) -> bool {
        self.header("connection")
            .is_none_or(|value| !value.eq_ignore_ascii_case("close"))
    }
}

/// The client went away, or spoke no HTTP.
#[derive(Debug)]
pub(crate) struct ClientGone;

impl From<io::Error> for ClientGone {
    fn from(_: io::Error) -> Self {
        Self
    }
}

/// One client's connection.
pub(crate) struct HttpConnection {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl HttpConnection {
    pub(crate) fn new(stream: TcpStream) -> Result<Self, ClientGone> {
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            unread: Vec::with_capacity(8 * 1024),
        })
    }

    /// The next request.
    pub(crate) async fn request(&mut self) -> Result<RawRequest, ClientGone> {
        let (mut request, head_bytes) = loop {
            if let Some(parsed) = parse_head(&self.unread)? {
                break parsed;
            }
            self.more().await?;
        };
        let length = match request.header("content-length") {
            Some(length) => length.parse().map_err(|_| ClientGone)?,
            None => 0_usize,
        };
        if length > REQUEST_BYTES_MAX {
            return Err(ClientGone);
        }
        if request
            .header("expect")
            .is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
        {
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        while self.unread.len() < head_bytes + length {
            self.more().await?;
        }
        let rest = self.unread.split_off(head_bytes + length);
        let mut request_bytes = std::mem::replace(&mut self.unread, rest);
        request_bytes.drain(..head_bytes);
        request.body = request_bytes;
        Ok(request)
    }

    /// Waits for `event`, unless the client goes away first.
    pub(crate) async fn during<T>(
        &mut self,
        event: impl Future<Output = T>,
    ) -> Result<T, ClientGone> {
        tokio::select! {
            biased;
            done = event => Ok(done),
            () = self.client_gone() => Err(ClientGone),
        }
    }

    pub(crate) async fn client_gone(&mut self) {
        while self.more().await.is_ok() {}
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<(), ClientGone> {
        Ok(self.stream.write_all(bytes).await?)
    }

    /// Writes a piece of a chunked body.
    pub(crate) async fn write_chunk(&mut self, piece: &str) -> Result<(), ClientGone> {
        self.write(chunk(piece).as_bytes()).await
    }

    /// Writes the last piece and the end of a chunked body at once, so that a client sees both together.
    pub(crate) async fn write_last_chunk(&mut self, piece: &str) -> Result<(), ClientGone> {
        let last = chunk(piece) + "0\r\n\r\n";
        self.write(last.as_bytes()).await
    }

    /// Closes in the way that the peer sees as a reset.
    pub(crate) fn reset(self) {
        // Without it the peer sees an end where it wanted a reset, and the test says so.
        let _ = self.stream.set_zero_linger();
    }

    async fn more(&mut self) -> Result<(), ClientGone> {
        match self.stream.read_buf(&mut self.unread).await? {
            0 => Err(ClientGone),
            _ => Ok(()),
        }
    }
}

fn chunk(piece: &str) -> String {
    let mut chunk = String::with_capacity(piece.len() + 16);
    // Writing to a string cannot fail.
    let _ = write!(chunk, "{:x}\r\n{piece}\r\n", piece.len());
    chunk
}

/// The head of a response with a body of known length.
pub(crate) fn head(
    code: u16,
    content_type: &str,
    headers: &[(String, String)],
    length: usize,
) -> String {
    let mut head = start(code, content_type, headers);
    let _ = write!(head, "content-length: {length}\r\n\r\n");
    head
}

/// The head of a streamed response.
pub(crate) fn streamed_head(content_type: &str) -> String {
    let mut head = start(200, content_type, &[]);
    head.push_str("cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n");
    head
}

fn start(code: u16, content_type: &str, headers: &[(String, String)]) -> String {
    let mut head = String::with_capacity(160);
    let _ = write!(
        head,
        "HTTP/1.1 {code} {}\r\ncontent-type: {content_type}\r\n",
        reason(code)
    );
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head
}

fn reason(code: u16) -> &'static str {
    match code {
        200 => "OK",
        400..=499 => "Client Error",
        500..=599 => "Server Error",
        _ => "Answer",
    }
}

fn parse_head(bytes: &[u8]) -> Result<Option<(RawRequest, usize)>, ClientGone> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Request::new(&mut headers);
    let head_bytes = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(head_bytes)) => head_bytes,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(ClientGone),
    };
    let request = RawRequest {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: parsed.path.unwrap_or_default().to_owned(),
        headers: parsed
            .headers
            .iter()
            .map(|header| {
                (
                    header.name.to_ascii_lowercase(),
                    String::from_utf8_lossy(header.value).into_owned(),
                )
            })
            .collect(),
        body: Vec::new(),
    };
    Ok(Some((request, head_bytes)))
}
