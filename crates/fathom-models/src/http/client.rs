//! The process's HTTP clients: one for servers with TLS, one for those without.
//!
//! Two, because reading the system's root certificates takes milliseconds that a local server need not cost.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder};

/// Time limit for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Idle connections per server: twice the default number of concurrent calls.
const IDLE_PER_HOST_MAX: usize = 256;
/// Time for which an idle connection is kept.
const IDLE_TIMEOUT: Duration = Duration::from_mins(1);
/// Interval of keep-alive probes, so that a dead peer is noticed during a long call.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// The clients, created on first use.
#[derive(Debug, Default)]
pub(crate) struct HttpClients {
    plain: OnceLock<Client>,
    tls: OnceLock<Client>,
}

impl HttpClients {
    /// The client for addresses of this scheme.
    pub(crate) fn get(&self, scheme: &str) -> Result<Client, reqwest::Error> {
        let (cell, builder) = if scheme == "http" {
            // Not even an empty check of certificates: that would load the system's.
            let none = std::iter::empty::<Certificate>();
            (&self.plain, builder().tls_certs_only(none))
        } else {
            (&self.tls, builder())
        };
        if let Some(client) = cell.get() {
            return Ok(client.clone());
        }
        let client = builder.build()?;
        Ok(cell.get_or_init(|| client).clone())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is where the models' HTTP clients are made, with timeouts and without redirects or proxies"
)]
fn builder() -> ClientBuilder {
    // An error means that the process already has a provider, which will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(concat!("fathom/", env!("CARGO_PKG_VERSION")))
        .http1_only()
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_max_idle_per_host(IDLE_PER_HOST_MAX)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .tcp_nodelay(true)
        .tcp_keepalive(KEEPALIVE)
        // A key must not follow a redirect or a proxy variable elsewhere.
        .redirect(Policy::none())
        .no_proxy()
        // Each attempt may cost, so only the caller repeats one.
        .retry(reqwest::retry::never())
        .referer(false)
}
