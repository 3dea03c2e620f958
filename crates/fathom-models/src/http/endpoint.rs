//! Servers of providers: address, key and client.

use std::fmt;
use std::sync::Arc;

use fathom_core::model::failure::ModelFailure;
use fathom_core::text::Text;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Url};

use crate::api_key::ApiKey;
use crate::http::classify_failure::{DETAIL_CHARS_MAX, clean};

/// Identifies a server for limits, pauses and circuit breakers: the models on a server share it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(Arc<str>);

impl EndpointId {
    pub(crate) fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// Only scheme, host and port: a path or a user name may be private.
    pub(crate) fn of(url: &Url) -> Self {
        Self::new(url.origin().ascii_serialization())
    }

    /// A model that runs in this process.
    pub fn in_process(id: &str) -> Self {
        Self::new(id)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EndpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for EndpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// The header that carries a key.
#[derive(Clone)]
pub(crate) struct KeyHeader {
    pub(crate) name: HeaderName,
    pub(crate) value: HeaderValue,
}

/// A server that can be called.
#[derive(Clone)]
pub(crate) struct ModelEndpoint {
    pub(crate) id: EndpointId,
    pub(crate) base: Url,
    pub(crate) client: Client,
    pub(crate) key: Option<ApiKey>,
    pub(crate) key_header: Option<KeyHeader>,
    pub(crate) headers: &'static [(&'static str, &'static str)],
}

impl fmt::Debug for ModelEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("id", &self.id)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl ModelEndpoint {
    /// The address of `path` relative to the base.
    pub(crate) fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        let below = format!("{}/{path}", self.base.path().trim_end_matches('/'));
        url.set_path(&below);
        url
    }

    pub(crate) fn post(&self, path: &str, body: Vec<u8>) -> RequestBuilder {
        let request = self.client.post(self.url(path)).body(body);
        self.dress(request.header("content-type", "application/json"))
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.dress(self.client.get(self.url(path)))
    }

    fn dress(&self, request: RequestBuilder) -> RequestBuilder {
        let request = self.headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        });
        match &self.key_header {
            Some(KeyHeader { name, value }) => request.header(name, value),
            None => request,
        }
    }

    /// `text` without the key.
    pub(crate) fn redact(&self, text: &str) -> String {
        match &self.key {
            Some(key) => key.redact(text),
            None => text.to_owned(),
        }
    }

    /// The failure in presentable form: without the key, and with a limited length.
    pub(crate) fn presentable(&self, mut failure: ModelFailure) -> ModelFailure {
        let detail = self.redact(failure.detail.as_str());
        failure.detail = Text::from(clean(&detail, DETAIL_CHARS_MAX));
        failure
    }
}
