//! Requests with their forms taken apart, and what is answered.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model_server::http::RawRequest;

/// Kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestKind {
    /// A post or a reply is to be made, over the API or by a form.
    Publish,
    /// The same, as a rehearsal.
    DryRun,
    /// Something is looked for over the API.
    Lookup,
    /// A visitor comments.
    Comment,
    /// A page is opened, or a form sent that changes nothing.
    Page,
    /// Nothing that there is.
    Unknown,
}

/// A request.
#[derive(Debug)]
pub(crate) struct PlatformRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: BTreeMap<String, String>,
    raw: RawRequest,
}

impl PlatformRequest {
    pub(crate) fn of(raw: RawRequest) -> Self {
        let (path, query) = raw.path.split_once('?').unwrap_or((&raw.path, ""));
        Self {
            method: raw.method.clone(),
            path: path.to_owned(),
            query: form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
            raw,
        }
    }

    /// The parts of the path.
    pub(crate) fn parts(&self) -> Vec<&str> {
        self.path
            .split('/')
            .filter(|part| !part.is_empty())
            .collect()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.raw.header(name)
    }

    pub(crate) fn is_dry_run(&self) -> bool {
        self.query.get("dry_run").is_some_and(|value| value == "1")
    }

    /// The body as JSON; null where it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.raw.body).unwrap_or_default()
    }

    /// The body as the fields of a form. Browsers send every line end as two characters; one is kept.
    pub(crate) fn form(&self) -> BTreeMap<String, String> {
        form_urlencoded::parse(&self.raw.body)
            .map(|(name, value)| (name.into_owned(), value.replace("\r\n", "\n")))
            .collect()
    }

    pub(crate) fn cookie(&self, name: &str) -> Option<&str> {
        self.header("cookie")?
            .split(';')
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }
}

/// Fate of a request.
pub(crate) enum PlatformAnswer {
    Sent(PlatformResponse),
    /// The connection is dropped.
    Lost,
}

/// An answer.
pub(crate) struct PlatformResponse {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl PlatformResponse {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            content_type: "application/json",
            headers: Vec::new(),
            body: body.to_string(),
        }
    }

    pub(crate) fn error(status: u16, code: &str, message: &str) -> Self {
        let error = json!({"error": {"code": code, "message": message}});
        Self::json(status, &error)
    }

    pub(crate) fn html(status: u16, body: String) -> Self {
        Self {
            status,
            content_type: "text/html; charset=utf-8",
            headers: vec![("cache-control".to_owned(), "no-store".to_owned())],
            body,
        }
    }

    pub(crate) fn see_other(to: &str) -> Self {
        Self::html(303, String::new()).with_header("location", to)
    }

    pub(crate) fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}
