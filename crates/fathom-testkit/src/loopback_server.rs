//! A server's door: takes connections on the loopback address until it is dropped.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::fake_platform::request::{PlatformAnswer, PlatformRequest, PlatformResponse};
use crate::model_server::http::{ClientGone, HttpConnection, head};

/// A server that takes connections. It stops, and closes them, when dropped.
pub(crate) struct LoopbackServer {
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

impl LoopbackServer {
    /// Serves every connection to a port; zero takes a free one.
    pub(crate) async fn start<S, F>(port: u16, serve: S) -> io::Result<Self>
    where
        S: Fn(TcpStream) -> F + Send + 'static,
        F: Future<Output: Send> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let accepting = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                tokio::select! {
                    accepted = listener.accept() => {
                        let Ok((stream, _)) = accepted else { continue };
                        connections.spawn(serve(stream));
                    }
                    Some(_) = connections.join_next() => {}
                }
            }
        });
        Ok(Self { address, accepting })
    }

    /// Address of the server.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Base URL, without a trailing slash.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until the server is gone, which it never is by itself.
    pub(crate) async fn serve(mut self) {
        // The task only ends by being aborted, and then there is nothing to report.
        let _ = (&mut self.accepting).await;
    }
}

impl Drop for LoopbackServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Answers the requests of one connection. `begin` says how long each takes, with what is held until it is answered.
pub(crate) async fn converse<G>(
    stream: TcpStream,
    begin: impl Fn() -> (Duration, G),
    answer: impl Fn(&PlatformRequest) -> PlatformAnswer,
) -> Result<(), ClientGone> {
    let mut connection = HttpConnection::new(stream)?;
    loop {
        let raw = connection.request().await?;
        let keeps_alive = raw.keeps_alive();
        let (latency, _held) = begin();
        pause(&mut connection, latency).await?;
        let response = match answer(&PlatformRequest::of(raw)) {
            PlatformAnswer::Sent(response) => response,
            PlatformAnswer::Lost => {
                connection.reset();
                return Ok(());
            }
        };
        let PlatformResponse {
            status,
            content_type,
            headers,
            body,
        } = response;
        let head = head(status, content_type, &headers, body.len());
        connection.write((head + &body).as_bytes()).await?;
        if !keeps_alive {
            return Ok(());
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a slow platform is what the server plays; the test that asks for it waits"
)]
async fn pause(connection: &mut HttpConnection, latency: Duration) -> Result<(), ClientGone> {
    if latency.is_zero() {
        return Ok(());
    }
    connection.during(tokio::time::sleep(latency)).await
}
