//! Posts one JSON body to a configured host: for channels, which need the headers of the answer for their
//! limits.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::Value;

use crate::error::ToolsError;
use crate::http::address_check::ReachableHosts;
use crate::http::client::{BODY_KEPT_BYTES, HostResolver, HttpFailure, HttpToolClient, trouble};
use crate::http::declaration::wrong;
use crate::secret::PlatformKey;

/// Time limit of one exchange.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Posts to one host, and to no other: redirects are not followed.
pub struct JsonPoster {
    base: Url,
    client: HttpToolClient,
}

/// Place of the key in a request.
#[derive(Clone, Copy, Debug)]
pub enum KeyPlace {
    /// In the header `authorization`, after this word.
    Header(&'static str),
    /// At the end of the path, as its own segment.
    Path,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct PostResponse {
    pub status: u16,
    headers: HeaderMap,
    /// The beginning of the body.
    pub body: String,
}

impl PostResponse {
    /// A header by its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Reasons for having no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostError {
    /// Not sent, and never will be.
    Refused(ToolsError),
    /// Not sent.
    NotSent(String),
    /// May have arrived.
    Lost(String),
}

impl JsonPoster {
    /// Reaches the host of an address of scheme, host and port. A private address must be written as a number,
    /// so that no name can lead there by surprise.
    pub fn new(base: &str, resolver: Arc<dyn HostResolver>) -> Result<Self, ToolsError> {
        let not = |cause: &str| {
            wrong(
                "channels",
                format!("has the invalid address `{base}`: {cause}"),
            )
        };
        let url = Url::parse(base).map_err(|_| not("malformed URL"))?;
        let host = url.host_str().ok_or_else(|| not("no host"))?;
        let is_bare = url.path() == "/" && url.query().is_none() && url.username().is_empty();
        if !is_bare {
            return Err(not("expected only a scheme, a host and a port"));
        }
        let host = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let is_number = host.parse::<std::net::SocketAddr>().is_ok();
        let private = if is_number {
            vec![host.clone()]
        } else {
            Vec::new()
        };
        let reach = ReachableHosts::new(&[host], &private)
            .map_err(|_| not("the host cannot be allowed"))?;
        Ok(Self {
            base: url,
            client: HttpToolClient::new(Arc::new(reach), resolver, TIMEOUT),
        })
    }

    /// Posts a body. `path` comes from the caller; no text of a model is part of it.
    pub async fn post(
        &self,
        path: &str,
        (key, place): (&PlatformKey, KeyPlace),
        body: &Value,
    ) -> Result<PostResponse, PostError> {
        let refused = |cause| PostError::Refused(wrong("channels", cause));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let key = key.reveal();
        // A key with a `/` or a line break would change the request.
        if key.is_empty() || !key.chars().all(is_plain) {
            return Err(refused("has a token with invalid characters"));
        }
        let mut url = self.base.clone();
        url.set_path(path);
        if let KeyPlace::Path = place {
            url.set_path(&format!("{path}/{key}"));
            url.set_query(Some("wait=true"));
        }
        let client = self.client.client(&url).map_err(PostError::Refused)?;
        let mut request = client
            .post(url)
            .timeout(TIMEOUT)
            .header("content-type", "application/json")
            .body(body.to_string());
        if let KeyPlace::Header(word) = place {
            let mut value = HeaderValue::from_str(&format!("{word} {key}"))
                .map_err(|_| refused("has a token that is not valid in a header"))?;
            // Keeps it out of the client's own logs.
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let mut response = request
            .send()
            .await
            .map_err(|error| match trouble(&error) {
                HttpFailure::Refused(error) => PostError::Refused(error),
                HttpFailure::NotSent(cause) => PostError::NotSent(cause),
                HttpFailure::Lost(cause) => PostError::Lost(cause),
            })?;
        let mut body = Vec::new();
        // A body that breaks off is kept as far as it came: the status, which decides, is known.
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = BODY_KEPT_BYTES - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() >= room {
                break;
            }
        }
        Ok(PostResponse {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: String::from_utf8_lossy(&body).into_owned(),
        })
    }
}
