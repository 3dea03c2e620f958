//! Declarations of HTTP tools in a charter.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;

use super::address_check::{ReachableHosts, is_odd};
use crate::error::ToolsError;
use crate::text_template::{BodyTemplate, TextTemplate, UrlTemplate};

/// Default time limit of an exchange.
const TIMEOUT_MS: u64 = 30_000;
/// Maximum time limit.
const TIMEOUT_MS_MAX: u64 = 120_000;

/// Default time to look for an effect before its absence is believed: a request of a process that died may
/// still be on its way.
const SETTLE_MS: u64 = 3_000;
/// Maximum of that time.
const SETTLE_MS_MAX: u64 = 60_000;

/// Headers that a charter may not set: they hold secrets or belong to the transport.
const HEADERS_REFUSED: [&str; 9] = [
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "proxy-authorization",
    "te",
    "transfer-encoding",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HttpToolToml {
    #[serde(default)]
    method: Option<String>,
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    token_env: Option<String>,
    #[serde(default)]
    body: Option<Value>,
    #[serde(default)]
    idempotency_header: Option<String>,
    #[serde(default)]
    dry_run: Option<WrittenRequest>,
    #[serde(default)]
    check: Option<WrittenCheck>,
    #[serde(default)]
    allow_hosts: Vec<String>,
    #[serde(default)]
    allow_private: Vec<String>,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRequest {
    #[serde(default)]
    method: Option<String>,
    url: String,
    #[serde(default)]
    body: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCheck {
    #[serde(default)]
    method: Option<String>,
    url: String,
    #[serde(default)]
    body: Option<Value>,
    #[serde(default)]
    status: Option<u16>,
    #[serde(default)]
    pointer: Option<String>,
    #[serde(default)]
    equals: Option<String>,
    #[serde(default)]
    contains: Option<String>,
    #[serde(default)]
    absent: AbsenceMeaning,
    #[serde(default)]
    settle_ms: Option<u64>,
}

/// Meaning of an effect that a platform does not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AbsenceMeaning {
    /// It did not happen.
    #[default]
    Failed,
    /// It may still appear.
    Unknown,
}

/// A request with placeholders.
#[derive(Clone, Debug)]
pub(crate) struct RequestTemplate {
    pub(crate) method: Method,
    pub(crate) url: UrlTemplate,
    pub(crate) body: Option<BodyTemplate>,
}

/// Evidence of an effect in an answer.
#[derive(Clone, Debug)]
pub(crate) enum SuccessSign {
    /// This status, or any success.
    Status(Option<u16>),
    /// The value at a JSON pointer equals this text.
    Equals(String, TextTemplate),
    /// The value at a JSON pointer contains this text.
    Contains(String, TextTemplate),
}

/// Check if an effect happened.
#[derive(Clone, Debug)]
pub(crate) struct HttpCheck {
    pub(crate) request: RequestTemplate,
    pub(crate) sign: SuccessSign,
    pub(crate) absent: AbsenceMeaning,
    /// Time to keep looking for an effect that may take a while to appear.
    pub(crate) settle: Duration,
}

/// An HTTP tool as declared by a charter.
#[derive(Clone, Debug)]
pub struct HttpDeclaration {
    pub(crate) request: RequestTemplate,
    pub(crate) headers: HeaderMap,
    pub(crate) token_env: Option<String>,
    pub(crate) idempotency_header: Option<HeaderName>,
    pub(crate) dry_run: Option<RequestTemplate>,
    pub(crate) check: Option<HttpCheck>,
    pub(crate) reach: Arc<ReachableHosts>,
    pub(crate) timeout: Duration,
}

impl HttpDeclaration {
    /// Reads the keys of an entry that only HTTP tools have.
    pub(crate) fn read(
        tool: &str,
        table: toml::Table,
        reach: &ReachableHosts,
    ) -> Result<Self, ToolsError> {
        let written: HttpToolToml = table
            .try_into()
            .map_err(|error: toml::de::Error| wrong(tool, error.message().to_owned()))?;
        let own = ReachableHosts::new(&written.allow_hosts, &written.allow_private)
            .map_err(|fault| wrong(tool, fault.to_string()))?;
        let reach = reach.clone().and(&own);
        let request = request(
            tool,
            &written.url,
            written.method.as_deref(),
            Method::GET,
            written.body,
            &reach,
        )?;
        let dry_run = match written.dry_run {
            Some(dry) => {
                let usual = request.method.clone();
                let mut dry_run = self::request(
                    tool,
                    &dry.url,
                    dry.method.as_deref(),
                    usual,
                    dry.body,
                    &reach,
                )?;
                // A rehearsal usually differs from the request in its address only.
                if dry_run.body.is_none() && dry_run.method == request.method {
                    dry_run.body.clone_from(&request.body);
                }
                Some(dry_run)
            }
            None => None,
        };
        let check = match written.check {
            Some(check) => Some(self::check(tool, check, &reach)?),
            None => None,
        };
        let plain = |request: &RequestTemplate| {
            request.url.base().scheme() == "http" && !reach.names_private(request.url.base())
        };
        let declaration = Self {
            headers: headers(tool, &written.headers)?,
            token_env: written.token_env,
            idempotency_header: match written.idempotency_header {
                Some(name) => Some(header_name(tool, &name)?),
                None => None,
            },
            request,
            dry_run,
            check,
            timeout: timeout(tool, written.timeout_ms)?,
            reach: Arc::new(reach.clone()),
        };
        if declaration.token_env.is_some() && declaration.requests().any(plain) {
            return Err(wrong(tool, "would send its token over plain http"));
        }
        Ok(declaration)
    }

    /// True if all of its requests go to hosts that the charter lists.
    pub(crate) fn is_listed(&self) -> bool {
        self.requests()
            .all(|request| self.reach.names(request.url.base()))
    }

    fn requests(&self) -> impl Iterator<Item = &RequestTemplate> {
        let check = self.check.as_ref().map(|check| &check.request);
        [Some(&self.request), self.dry_run.as_ref(), check]
            .into_iter()
            .flatten()
    }

    /// Every placeholder.
    pub(crate) fn places(&self) -> Vec<&str> {
        let mut places = Vec::new();
        for request in self.requests() {
            places.extend(request.url.places());
            places.extend(request.body.iter().flat_map(BodyTemplate::places));
        }
        match self.check.as_ref().map(|check| &check.sign) {
            Some(SuccessSign::Equals(_, text) | SuccessSign::Contains(_, text)) => {
                places.extend(text.places());
            }
            Some(SuccessSign::Status(_)) | None => {}
        }
        places
    }
}

pub(crate) fn wrong(tool: &str, cause: impl Into<String>) -> ToolsError {
    ToolsError::Declaration {
        tool: tool.to_owned(),
        cause: cause.into(),
    }
}

fn request(
    tool: &str,
    written: &str,
    method: Option<&str>,
    usual: Method,
    body: Option<Value>,
    reach: &ReachableHosts,
) -> Result<RequestTemplate, ToolsError> {
    let method = match method {
        None => usual,
        Some("GET") => Method::GET,
        Some("HEAD") => Method::HEAD,
        Some("POST") => Method::POST,
        Some("PUT") => Method::PUT,
        Some("PATCH") => Method::PATCH,
        Some("DELETE") => Method::DELETE,
        Some(other) => return Err(wrong(tool, format!("has the unsupported method `{other}`"))),
    };
    let url = UrlTemplate::parse(written)?;
    reach.check_url(url.base())?;
    if is_odd(written, url.base()) {
        return Err(ToolsError::Url {
            url: written.to_owned(),
            cause: "the IP address is not in its usual notation",
        });
    }
    let body = match body {
        Some(_) if method.is_safe() => {
            return Err(wrong(
                tool,
                format!("has a body, which {method} does not send"),
            ));
        }
        Some(body) => Some(BodyTemplate::parse(&json(tool, body)?)),
        None => None,
    };
    Ok(RequestTemplate { method, url, body })
}

fn check(
    tool: &str,
    written: WrittenCheck,
    reach: &ReachableHosts,
) -> Result<HttpCheck, ToolsError> {
    let sign = match (
        written.status,
        written.pointer,
        written.equals,
        written.contains,
    ) {
        (status, None, None, None) => SuccessSign::Status(status),
        (None, Some(at), Some(text), None) => SuccessSign::Equals(at, TextTemplate::parse(&text)),
        (None, Some(at), None, Some(text)) => SuccessSign::Contains(at, TextTemplate::parse(&text)),
        _ => {
            let cause = "needs a check by `status`, or by `pointer` with `equals` or `contains`";
            return Err(wrong(tool, cause));
        }
    };
    if let SuccessSign::Equals(at, _) | SuccessSign::Contains(at, _) = &sign
        && !at.is_empty()
        && !at.starts_with('/')
    {
        return Err(wrong(
            tool,
            format!("has a JSON pointer `{at}` that does not start with `/`"),
        ));
    }
    let settle = written.settle_ms.unwrap_or(match written.absent {
        AbsenceMeaning::Failed => SETTLE_MS,
        AbsenceMeaning::Unknown => 0,
    });
    if settle > SETTLE_MS_MAX {
        let cause = format!("has a `settle_ms` above the maximum of {SETTLE_MS_MAX}");
        return Err(wrong(tool, cause));
    }
    Ok(HttpCheck {
        request: request(
            tool,
            &written.url,
            written.method.as_deref(),
            Method::GET,
            written.body,
            reach,
        )?,
        sign,
        absent: written.absent,
        settle: Duration::from_millis(settle),
    })
}

fn headers(tool: &str, written: &BTreeMap<String, String>) -> Result<HeaderMap, ToolsError> {
    let mut headers = HeaderMap::new();
    for (name, value) in written {
        let value = HeaderValue::from_str(value)
            .map_err(|_| wrong(tool, format!("has an invalid header `{name}`")))?;
        headers.insert(header_name(tool, name)?, value);
    }
    Ok(headers)
}

fn header_name(tool: &str, name: &str) -> Result<HeaderName, ToolsError> {
    let header = HeaderName::try_from(name)
        .map_err(|_| wrong(tool, format!("has an invalid header `{name}`")))?;
    if HEADERS_REFUSED.contains(&header.as_str()) {
        let cause = format!("may not set the header `{name}`; use `token_env` for a token");
        return Err(wrong(tool, cause));
    }
    Ok(header)
}

pub(crate) fn timeout(tool: &str, written: Option<u64>) -> Result<Duration, ToolsError> {
    match written.unwrap_or(TIMEOUT_MS) {
        0 => Err(wrong(tool, "has a `timeout_ms` of 0")),
        ms if ms > TIMEOUT_MS_MAX => Err(wrong(
            tool,
            format!("has a `timeout_ms` of {ms}, but the maximum is {TIMEOUT_MS_MAX}"),
        )),
        ms => Ok(Duration::from_millis(ms)),
    }
}

/// A TOML value as JSON, or the JSON in a text.
pub(crate) fn json(tool: &str, value: Value) -> Result<Value, ToolsError> {
    match value {
        Value::String(text) => serde_json::from_str(&text)
            .map_err(|error| wrong(tool, format!("has invalid JSON: {error}"))),
        value => Ok(value),
    }
}
