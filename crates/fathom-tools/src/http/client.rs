//! One HTTP exchange, to checked addresses and with limits on everything.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Certificate, ClientBuilder, Method, StatusCode, Url};
use serde_json::Value;

use super::address_check::{BlockedAddress, ReachableHosts, is_odd};
use crate::error::ToolsError;
use crate::secret::PlatformKey;
use crate::tool::ToolFuture;

/// Time limit for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of redirects in a row.
const REDIRECTS_MAX: usize = 5;
/// Maximum number of stored bytes of an answer.
pub(crate) const BODY_KEPT_BYTES: usize = 64 * 1024;
/// Maximum number of bytes of an answer that are read to find its length.
const BODY_READ_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Maximum delay that a platform may ask for.
const RETRY_AFTER_SECONDS_MAX: u64 = 3_600;

/// Resolves host names.
pub trait HostResolver: Send + Sync {
    /// The addresses of `host`.
    fn resolve(&self, host: String) -> ToolFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The system's resolver.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl HostResolver for SystemResolver {
    fn resolve(&self, host: String) -> ToolFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Resolves a name and checks every address at the moment of connecting: a later change of the name has no
/// effect.
struct CheckedResolver {
    reach: Arc<ReachableHosts>,
    resolver: Arc<dyn HostResolver>,
    port: u16,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let looking = self.resolver.resolve(name.as_str().to_owned());
        let (reach, port) = (Arc::clone(&self.reach), self.port);
        Box::pin(async move {
            let addresses = looking.await?;
            // All of them: the client may connect to any.
            for address in &addresses {
                reach.check_address(SocketAddr::new(*address, port))?;
            }
            let addresses = addresses.into_iter().map(|ip| SocketAddr::new(ip, 0));
            Ok(Box::new(addresses) as Addrs)
        })
    }
}

/// A request.
pub(crate) struct OutgoingRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) token: Option<PlatformKey>,
    pub(crate) body: Option<Value>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct IncomingResponse {
    pub(crate) status: StatusCode,
    pub(crate) retry_after_seconds: Option<u64>,
    pub(crate) body: Vec<u8>,
    /// Size of the whole body, as far as it was counted.
    pub(crate) bytes: u64,
    /// True if all of the body is stored.
    pub(crate) whole: bool,
}

/// Reasons for having no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HttpFailure {
    /// Not sent, and never will be.
    Refused(ToolsError),
    /// Not sent.
    NotSent(String),
    /// May have arrived.
    Lost(String),
}

/// Client for the addresses that a charter allows.
pub(crate) struct HttpToolClient {
    reach: Arc<ReachableHosts>,
    resolver: Arc<dyn HostResolver>,
    timeout: Duration,
    /// One per origin; the charter names few.
    made: Mutex<BTreeMap<String, reqwest::Client>>,
}

impl HttpToolClient {
    pub(crate) fn new(
        reach: Arc<ReachableHosts>,
        resolver: Arc<dyn HostResolver>,
        timeout: Duration,
    ) -> Self {
        Self {
            reach,
            resolver,
            timeout,
            made: Mutex::default(),
        }
    }

    /// Sends a request and follows redirects, with the token only where it belongs.
    pub(crate) async fn exchange(
        &self,
        mut outgoing: OutgoingRequest,
    ) -> Result<IncomingResponse, HttpFailure> {
        let home = outgoing.url.clone();
        for _ in 0..=REDIRECTS_MAX {
            let response = self.send(&outgoing).await?;
            let Some(location) = redirect(&response) else {
                return Ok(read(response).await);
            };
            outgoing = self
                .follow(outgoing, &home, response.status(), &location)
                .map_err(|(method, blocked)| {
                    if method.is_safe() {
                        HttpFailure::Refused(blocked.into())
                    } else {
                        // The request may have been carried out before the redirect.
                        HttpFailure::Lost(blocked.to_string())
                    }
                })?;
        }
        let many = "there are more redirects than are followed".to_owned();
        Err(if outgoing.method.is_safe() {
            HttpFailure::NotSent(many)
        } else {
            HttpFailure::Lost(many)
        })
    }

    async fn send(&self, outgoing: &OutgoingRequest) -> Result<reqwest::Response, HttpFailure> {
        let client = self.client(&outgoing.url).map_err(HttpFailure::Refused)?;
        let mut request = client
            .request(outgoing.method.clone(), outgoing.url.clone())
            .headers(outgoing.headers.clone())
            .timeout(self.timeout);
        if let Some(token) = &outgoing.token {
            request = request.bearer_auth(token.reveal());
        }
        if let Some(body) = &outgoing.body {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        request.send().await.map_err(|error| trouble(&error))
    }

    /// The request that follows a redirect.
    fn follow(
        &self,
        mut outgoing: OutgoingRequest,
        home: &Url,
        status: StatusCode,
        location: &str,
    ) -> Result<OutgoingRequest, (Method, BlockedAddress)> {
        let method = outgoing.method.clone();
        let refused = |blocked| (method.clone(), blocked);
        let url = outgoing.url.join(location).map_err(|_| {
            refused(BlockedAddress::Form {
                cause: "a redirect leads to what cannot be read",
            })
        })?;
        let to = |cause| {
            refused(BlockedAddress::Redirect {
                host: url.host_str().unwrap_or_default().to_owned(),
                cause,
            })
        };
        self.reach.check_url(&url).map_err(refused)?;
        let moved = url.host_str() != outgoing.url.host_str();
        if moved && is_odd(location, &url) {
            return Err(to("its address is spelt oddly"));
        }
        if outgoing.url.scheme() == "https" && url.scheme() == "http" {
            return Err(to("it leaves https"));
        }
        if url.origin() != home.origin() && !self.reach.names(&url) {
            return Err(to("the charter does not name it"));
        }
        let keeps_method = matches!(
            status,
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
        );
        // Like browsers: only 307 and 308 repeat the method and the body.
        if !keeps_method && outgoing.method != Method::HEAD {
            outgoing.method = Method::GET;
            outgoing.body = None;
        }
        if url.origin() != home.origin() {
            if !outgoing.method.is_safe() {
                return Err(to("a change is not sent to another host"));
            }
            // Both belong to the first origin, and headers may hold secrets too.
            outgoing.token = None;
            outgoing.headers.clear();
        }
        outgoing.url = url;
        Ok(outgoing)
    }

    /// The client for the origin of `url`, which is checked first.
    pub(crate) fn client(&self, url: &Url) -> Result<reqwest::Client, ToolsError> {
        self.reach.check_url(url)?;
        let origin = url.origin().ascii_serialization();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = made.get(&origin) {
            return Ok(client.clone());
        }
        let guard = CheckedResolver {
            reach: Arc::clone(&self.reach),
            resolver: Arc::clone(&self.resolver),
            port: url.port_or_known_default().unwrap_or_default(),
        };
        let mut builder = builder().dns_resolver(guard);
        // Needs no certificates, so that plain HTTP works on a machine without any.
        if url.scheme() == "http" {
            builder = builder.tls_certs_only(std::iter::empty::<Certificate>());
        }
        let client = builder.build().map_err(|error| ToolsError::Client {
            cause: causes(&error),
        })?;
        made.insert(origin, client.clone());
        Ok(client)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is where the tools' HTTP clients are made: checked addresses, timeouts, no redirects or proxies"
)]
fn builder() -> ClientBuilder {
    // An error means that the process already has a provider, which will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(concat!("fathom/", env!("CARGO_PKG_VERSION")))
        .http1_only()
        .connect_timeout(CONNECT_TIMEOUT)
        // A reused connection may have been closed, and then it is unknown if a request arrived.
        .pool_max_idle_per_host(0)
        .tcp_nodelay(true)
        .redirect(Policy::none())
        .no_proxy()
        // A retry could carry out an effect twice.
        .retry(reqwest::retry::never())
        .referer(false)
}

fn redirect(response: &reqwest::Response) -> Option<String> {
    matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308).then_some(())?;
    let location = response.headers().get(LOCATION)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

async fn read(mut response: reqwest::Response) -> IncomingResponse {
    let retry_after_seconds = response.headers().get(RETRY_AFTER).and_then(seconds);
    let mut incoming = IncomingResponse {
        status: response.status(),
        retry_after_seconds,
        body: Vec::new(),
        bytes: 0,
        whole: false,
    };
    let told = response.content_length();
    // A body that breaks off is kept as far as it came: the status, which decides, is known.
    while let Ok(chunk) = response.chunk().await {
        let Some(chunk) = chunk else {
            incoming.whole = incoming.bytes <= BODY_KEPT_BYTES as u64;
            return incoming;
        };
        incoming.bytes += chunk.len() as u64;
        let room = BODY_KEPT_BYTES - incoming.body.len();
        incoming
            .body
            .extend_from_slice(&chunk[..chunk.len().min(room)]);
        if incoming.bytes > BODY_READ_BYTES_MAX {
            break;
        }
    }
    incoming.bytes = told.unwrap_or_default().max(incoming.bytes);
    incoming
}

fn seconds(value: &HeaderValue) -> Option<u64> {
    let seconds: u64 = value.to_str().ok()?.trim().parse().ok()?;
    Some(seconds.min(RETRY_AFTER_SECONDS_MAX))
}

pub(crate) fn trouble(error: &reqwest::Error) -> HttpFailure {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(blocked) = cause.downcast_ref::<BlockedAddress>() {
            return HttpFailure::Refused(blocked.clone().into());
        }
        source = cause.source();
    }
    let told = causes(error);
    // Only before there is a connection is it certain that nothing was sent.
    if error.is_connect() || error.is_builder() {
        HttpFailure::NotSent(told)
    } else {
        HttpFailure::Lost(told)
    }
}

/// The causes of an error, without the address, whose query may contain arguments.
fn causes(error: &reqwest::Error) -> String {
    let mut told = match (error.is_timeout(), error.is_connect()) {
        (true, _) => "it took too long".to_owned(),
        (false, true) => "no connection".to_owned(),
        (false, false) => "the exchange broke off".to_owned(),
    };
    let mut source = error.source();
    while let Some(cause) = source {
        told = format!("{told}: {cause}");
        source = cause.source();
    }
    told
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
