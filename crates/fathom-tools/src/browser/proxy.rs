//! The browser's only way to the network: to hosts that the charter names, one request per connection.
//!
//! A browser that loses an answer sends the request again by itself, even a posted form: Chromium was seen to
//! send one three times. So no connection is used twice here, and after a lost answer no further request that
//! changes anything is let through.

use std::collections::BTreeSet;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::declaration::host_of;

/// Maximum size of a request's head.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Maximum number of headers of a request.
const HEADERS_MAX: usize = 100;

/// State shared by all connections.
struct AllowedHosts {
    hosts: BTreeSet<String>,
    /// True once a request that changes something was sent and not answered.
    lost: AtomicBool,
}

/// A proxy on the loopback address. Dropping it closes it with all of its connections.
pub(super) struct BrowserProxy {
    port: u16,
    renewed: watch::Sender<()>,
    accepting: JoinHandle<()>,
}

impl BrowserProxy {
    /// Opens a gate to `hosts`, each written as `host:port`.
    pub(super) async fn open(hosts: &[String]) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let (renewed, renewal) = watch::channel(());
        let doors = Arc::new(AllowedHosts {
            hosts: hosts.iter().cloned().collect(),
            lost: AtomicBool::new(false),
        });
        let accepting = tokio::spawn(accept(listener, doors, renewal));
        Ok(Self {
            port,
            renewed,
            accepting,
        })
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// Closes tunnels, whose content is hidden: what comes next starts with a new one.
    pub(super) fn renew(&self) {
        self.renewed.send_replace(());
    }
}

impl Drop for BrowserProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, doors: Arc<AllowedHosts>, renewal: watch::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((client, _)) = accepted else { continue };
                connections.spawn(serve(client, Arc::clone(&doors), renewal.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(
    mut client: TcpStream,
    doors: Arc<AllowedHosts>,
    mut renewal: watch::Receiver<()>,
) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(8 * 1024);
    let request = loop {
        if client.read_buf(&mut bytes).await? == 0 || bytes.len() > HEAD_BYTES_MAX {
            return Ok(());
        }
        match ProxyRequest::read(&bytes) {
            Ok(Some(request)) => break request,
            Ok(None) => {}
            Err(NotHttp) => return refuse(client, "400 Bad Request").await,
        }
    };
    if !doors.hosts.contains(&request.host) {
        tracing::debug!(host = %request.host, "the page wants a host that the charter does not name");
        return refuse(client, "403 Forbidden").await;
    }
    // Sequentially consistent: the flag is set in one task and must be seen by whichever serves the repeated
    // request.
    if request.changes && doors.lost.load(Ordering::SeqCst) {
        return refuse(client, "502 Bad Gateway").await;
    }
    let Ok(mut server) = TcpStream::connect(&request.host).await else {
        return refuse(client, "502 Bad Gateway").await;
    };
    let early = bytes.split_off(request.head_bytes);
    let Some(head) = request.head else {
        client.write_all(b"HTTP/1.1 200 Open\r\n\r\n").await?;
        server.write_all(&early).await?;
        // Earlier renewals were not meant for this tunnel.
        renewal.borrow_and_update();
        tokio::select! {
            _ = copy_bidirectional(&mut client, &mut server) => {}
            _ = renewal.changed() => {}
        }
        return Ok(());
    };
    server.write_all(head.as_bytes()).await?;
    // Not a byte beyond this one request.
    let early = &early[..early.len().min(request.body_bytes)];
    server.write_all(early).await?;
    let missing = (request.body_bytes - early.len()) as u64;
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let sent = async {
        copy(&mut (&mut from_client).take(missing), &mut to_server).await?;
        // A client that leaves before the answer cancels the request. Anything else it sends is dropped.
        let mut rest = [0; 1024];
        while from_client.read(&mut rest).await? > 0 {}
        io::Result::Ok(())
    };
    let is_answered = tokio::select! {
        copied = copy(&mut from_server, &mut to_client) => copied.is_ok_and(|bytes| bytes > 0),
        _ = sent => false,
    };
    // Before the browser can notice that its connection has ended.
    if request.changes && !is_answered {
        doors.lost.store(true, Ordering::SeqCst);
    }
    Ok(())
}

async fn refuse(mut client: TcpStream, status: &str) -> io::Result<()> {
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    client.write_all(answer.as_bytes()).await
}

struct NotHttp;

/// A request of the browser.
struct ProxyRequest {
    head_bytes: usize,
    host: String,
    /// The head to forward; `None` for a tunnel.
    head: Option<String>,
    body_bytes: usize,
    /// True if it may change something.
    changes: bool,
}

impl ProxyRequest {
    fn read(bytes: &[u8]) -> Result<Option<Self>, NotHttp> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Request::new(&mut headers);
        let head_bytes = match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(head_bytes)) => head_bytes,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err(NotHttp),
        };
        let (Some(method), Some(target)) = (parsed.method, parsed.path) else {
            return Err(NotHttp);
        };
        if method == "CONNECT" {
            return Ok(Some(Self {
                head_bytes,
                host: target.to_ascii_lowercase(),
                head: None,
                body_bytes: 0,
                changes: false,
            }));
        }
        let url = Url::parse(target).map_err(|_| NotHttp)?;
        if url.scheme() != "http" {
            return Err(NotHttp);
        }
        let query = url.query().map(|query| format!("?{query}"));
        let path = format!("{}{}", url.path(), query.unwrap_or_default());
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        let mut body_bytes = 0;
        for header in parsed.headers.iter() {
            let value = std::str::from_utf8(header.value).map_err(|_| NotHttp)?;
            match header.name.to_ascii_lowercase().as_str() {
                "connection" | "proxy-connection" | "keep-alive" => continue,
                // Its end could only be found by decoding it; browsers send the length.
                "transfer-encoding" | "upgrade" => return Err(NotHttp),
                "content-length" => body_bytes = value.trim().parse().map_err(|_| NotHttp)?,
                _ => {}
            }
            head.extend([header.name, ": ", value, "\r\n"]);
        }
        head += "connection: close\r\n\r\n";
        Ok(Some(Self {
            head_bytes,
            host: host_of(&url),
            head: Some(head),
            body_bytes,
            changes: !matches!(method, "GET" | "HEAD" | "OPTIONS"),
        }))
    }
}

#[cfg(test)]
#[path = "proxy_tests.rs"]
mod tests;
