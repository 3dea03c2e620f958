//! HTTP tools declared by a charter.

pub(crate) mod address_check;
pub(crate) mod client;
pub(crate) mod declaration;

use std::sync::Arc;
use std::time::Duration;

use fathom_core::effect::{DryRun, EffectClass, EffectOutcome, EffectPermit, EffectRequest};
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Map, Value, json};

use crate::argument_schema::{ArgumentSchema, key_token};
use crate::error::ToolsError;
use crate::secret::{PlatformKey, PlatformSecrets};
use crate::text_template::TemplateValues;
use crate::tool::{RetryHint, Tool, ToolFacts, ToolFuture, ToolOutcome};
use client::{HostResolver, HttpFailure, HttpToolClient, IncomingResponse, OutgoingRequest};
use declaration::{AbsenceMeaning, HttpCheck, HttpDeclaration, RequestTemplate, SuccessSign};

/// Delay between the first two checks; each further one is twice as long, up to the maximum.
const LOOK_FIRST: Duration = Duration::from_millis(100);
const LOOK_LONGEST: Duration = Duration::from_secs(1);

/// A tool that speaks HTTP.
pub struct HttpTool {
    facts: ToolFacts,
    arguments: ArgumentSchema,
    declaration: HttpDeclaration,
    client: HttpToolClient,
    secrets: Arc<dyn PlatformSecrets>,
}

impl HttpTool {
    /// A tool from its declaration.
    pub(crate) fn new(
        facts: ToolFacts,
        declaration: HttpDeclaration,
        secrets: Arc<dyn PlatformSecrets>,
        resolver: Arc<dyn HostResolver>,
    ) -> Result<Self, ToolsError> {
        let client = HttpToolClient::new(
            Arc::clone(&declaration.reach),
            resolver,
            declaration.timeout,
        );
        Ok(Self {
            arguments: ArgumentSchema::new(&facts)?,
            facts,
            declaration,
            client,
            secrets,
        })
    }

    /// Reads the arguments and sends `request` filled with them.
    async fn send(
        &self,
        effect: &EffectRequest,
        request: &RequestTemplate,
        more: HeaderMap,
    ) -> Result<(IncomingResponse, Option<PlatformKey>), HttpFailure> {
        let arguments = self.arguments.read(&self.facts, effect);
        let outgoing = arguments.and_then(|arguments| {
            let key = key_token(effect);
            let filling = TemplateValues {
                arguments: &arguments,
                key: &key,
            };
            // A request that could not be sent is neither rehearsed nor checked.
            self.fill(&self.declaration.request, filling, HeaderMap::new())?;
            self.fill(request, filling, more)
        });
        let outgoing = outgoing.map_err(HttpFailure::Refused)?;
        let token = outgoing.token.clone();
        Ok((self.client.exchange(outgoing).await?, token))
    }

    fn fill(
        &self,
        request: &RequestTemplate,
        filling: TemplateValues<'_>,
        more: HeaderMap,
    ) -> Result<OutgoingRequest, ToolsError> {
        let mut headers = self.declaration.headers.clone();
        headers.extend(more);
        let token = match &self.declaration.token_env {
            None => None,
            Some(name) => {
                let secret = self.secrets.secret(name);
                Some(secret.ok_or_else(|| ToolsError::Secret { name: name.clone() })?)
            }
        };
        let body = match &request.body {
            Some(body) => body.fill(filling)?,
            None => None,
        };
        Ok(OutgoingRequest {
            method: request.method.clone(),
            url: request.url.fill(filling)?,
            headers,
            token,
            body,
        })
    }

    fn idempotency(&self, effect: &EffectRequest) -> HeaderMap {
        let name = self.declaration.idempotency_header.clone();
        let value = HeaderValue::from_str(&key_token(effect)).ok();
        name.zip(value).into_iter().collect()
    }

    /// Outcome of a request, according to the answer.
    fn judge(&self, incoming: &IncomingResponse, token: Option<&PlatformKey>) -> ToolOutcome {
        let told = receipt(incoming, token);
        let status = incoming.status;
        if status.is_success() {
            return ToolOutcome::confirmed(told);
        }
        if status == StatusCode::TOO_MANY_REQUESTS {
            let after = incoming.retry_after_seconds;
            let after = after.map(|seconds| Millis(seconds * 1_000));
            return ToolOutcome::failed(told, RetryHint::RateLimited { after });
        }
        if status.is_client_error() {
            return ToolOutcome::failed(told, RetryHint::Never);
        }
        let again = if status.is_server_error() {
            RetryHint::ServerFault
        } else {
            RetryHint::Never
        };
        self.lost(told, again)
    }

    /// An effect with an unknown outcome; a read simply failed.
    fn lost(&self, detail: String, again: RetryHint) -> ToolOutcome {
        match self.facts.class {
            EffectClass::Read => ToolOutcome::failed(detail, RetryHint::ServerFault),
            EffectClass::Effect => ToolOutcome::unknown(detail, again),
        }
    }

    fn trouble(&self, trouble: HttpFailure) -> ToolOutcome {
        match trouble {
            HttpFailure::Refused(error) => ToolOutcome::refused(&error),
            HttpFailure::NotSent(detail) => ToolOutcome::failed(detail, RetryHint::NotSent),
            HttpFailure::Lost(detail) => self.lost(detail, RetryHint::Never),
        }
    }

    /// Checks repeatedly, until the effect appears or its time to appear is over.
    async fn look(&self, effect: &EffectRequest, check: &HttpCheck) -> ToolOutcome {
        let (mut waited, mut wait) = (Duration::ZERO, LOOK_FIRST);
        loop {
            let seen = self.look_once(effect, check).await;
            let is_there = matches!(seen.outcome, EffectOutcome::Confirmed { .. });
            if is_there || waited >= check.settle {
                return seen;
            }
            wait = wait.min(check.settle.saturating_sub(waited));
            pause(wait).await;
            waited += wait;
            wait = (wait * 2).min(LOOK_LONGEST);
        }
    }

    async fn look_once(&self, effect: &EffectRequest, check: &HttpCheck) -> ToolOutcome {
        let (incoming, token) = match self.send(effect, &check.request, HeaderMap::new()).await {
            Ok(found) => found,
            // A check that failed says nothing about the effect.
            Err(HttpFailure::Refused(error)) => {
                return ToolOutcome::unknown(error.to_string(), RetryHint::Never);
            }
            Err(HttpFailure::NotSent(detail) | HttpFailure::Lost(detail)) => {
                return ToolOutcome::unknown(detail, RetryHint::ServerFault);
            }
        };
        let told = receipt(&incoming, token.as_ref());
        match self.sees(effect, check, &incoming) {
            EffectSighting::There => ToolOutcome::confirmed(told),
            EffectSighting::NotThere => match check.absent {
                AbsenceMeaning::Failed => {
                    ToolOutcome::failed("it is not there".to_owned(), RetryHint::Never)
                }
                AbsenceMeaning::Unknown => {
                    ToolOutcome::unknown("it is not there yet".to_owned(), RetryHint::Never)
                }
            },
            EffectSighting::Unclear => ToolOutcome::unknown(told, RetryHint::ServerFault),
        }
    }

    fn sees(
        &self,
        effect: &EffectRequest,
        check: &HttpCheck,
        incoming: &IncomingResponse,
    ) -> EffectSighting {
        let status = incoming.status.as_u16();
        // Answers about the effect, whatever the sign: the request may ask for the very thing that it should
        // have made.
        if matches!(status, 404 | 410) {
            return EffectSighting::NotThere;
        }
        let (at, text, whole) = match &check.sign {
            SuccessSign::Status(Some(wanted)) if *wanted == status => return EffectSighting::There,
            SuccessSign::Status(None) if incoming.status.is_success() => {
                return EffectSighting::There;
            }
            SuccessSign::Status(_) => return EffectSighting::Unclear,
            SuccessSign::Equals(at, text) => (at, text, true),
            SuccessSign::Contains(at, text) => (at, text, false),
        };
        // Half a body shows neither presence nor absence.
        if !incoming.status.is_success() || !incoming.whole {
            return EffectSighting::Unclear;
        }
        let Ok(body) = serde_json::from_slice::<Value>(&incoming.body) else {
            return EffectSighting::Unclear;
        };
        let arguments = self.arguments.read(&self.facts, effect).unwrap_or_default();
        let key = key_token(effect);
        let filling = TemplateValues {
            arguments: &arguments,
            key: &key,
        };
        let Ok(Some(wanted)) = text.fill(filling, str::to_owned) else {
            return EffectSighting::Unclear;
        };
        let seen = if whole { says } else { has };
        let found = body.pointer(at).is_some_and(|value| seen(value, &wanted));
        if found {
            EffectSighting::There
        } else {
            EffectSighting::NotThere
        }
    }
}

enum EffectSighting {
    There,
    NotThere,
    Unclear,
}

fn says(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text == wanted,
        Value::Number(_) | Value::Bool(_) => {
            // In its JSON notation: the template is text, and comparing values would never match a number.
            let written = value.to_string();
            written == wanted
        }
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

/// True if a text contains `wanted`, or a list or an object has a value equal to it.
fn has(value: &Value, wanted: &str) -> bool {
    fn within(value: &Value, wanted: &str) -> bool {
        match value {
            Value::Array(values) => values.iter().any(|value| within(value, wanted)),
            Value::Object(members) => members.values().any(|value| within(value, wanted)),
            value => says(value, wanted),
        }
    }
    match value {
        Value::String(text) => text.contains(wanted),
        value => within(value, wanted),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "what was sent may take a while to show, and is looked for again after it"
)]
async fn pause(wait: Duration) {
    tokio::time::sleep(wait).await;
}

/// The platform's answer as JSON. It is data, whatever it says.
fn receipt(incoming: &IncomingResponse, token: Option<&PlatformKey>) -> String {
    let text = String::from_utf8_lossy(&incoming.body);
    let text = match token {
        Some(token) => token.redact(&text),
        None => text.into_owned(),
    };
    let body = match serde_json::from_str(&text) {
        Ok(body) if incoming.whole => body,
        _ => Value::String(text),
    };
    let mut told = Map::new();
    told.insert("status".into(), json!(incoming.status.as_u16()));
    told.insert("bytes".into(), json!(incoming.bytes));
    if !incoming.whole {
        told.insert("cut".into(), json!(true));
    }
    told.insert("body".into(), body);
    Value::Object(told).to_string()
}

impl Tool for HttpTool {
    fn facts(&self) -> &ToolFacts {
        &self.facts
    }

    fn rehearse<'a>(&'a self, effect: &'a EffectRequest) -> ToolFuture<'a, Option<DryRun>> {
        Box::pin(async move {
            let request = self.declaration.dry_run.as_ref()?;
            let tried = match self.send(effect, request, HeaderMap::new()).await {
                Ok((incoming, token)) => self.judge(&incoming, token.as_ref()),
                Err(trouble) => self.trouble(trouble),
            };
            Some(match tried.outcome {
                EffectOutcome::Confirmed { receipt } => DryRun {
                    ok: true,
                    report: receipt,
                },
                EffectOutcome::Failed { detail } | EffectOutcome::Unknown { detail } => DryRun {
                    ok: false,
                    report: detail,
                },
            })
        })
    }

    fn call<'a>(&'a self, permit: &'a EffectPermit) -> ToolFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let effect = permit.effect();
            let request = &self.declaration.request;
            match self.send(effect, request, self.idempotency(effect)).await {
                Ok((incoming, token)) => self.judge(&incoming, token.as_ref()),
                Err(trouble) => self.trouble(trouble),
            }
        })
    }

    fn check<'a>(&'a self, effect: &'a EffectRequest) -> ToolFuture<'a, ToolOutcome> {
        Box::pin(async move {
            match &self.declaration.check {
                Some(check) => self.look(effect, check).await,
                None => ToolOutcome::unknown(
                    Text::new("the platform has nothing to ask"),
                    RetryHint::Never,
                ),
            }
        })
    }
}
