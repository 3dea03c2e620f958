//! HTTP tools declared by a charter.

pub(crate) mod address;
pub(crate) mod client;
pub(crate) mod declaration;

use std::sync::Arc;
use std::time::Duration;

use fathom_core::effect::{DryRun, EffectClass, EffectOutcome, EffectRequest, Permit};
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Map, Value, json};

use crate::arguments::{Arguments, key_token};
use crate::error::ToolsError;
use crate::secret::{Secret, Secrets};
use crate::template::Filling;
use crate::tool::{Again, Answer, Tool, ToolFacts, Tried};
use client::{Client, Incoming, Outgoing, Resolver, Trouble};
use declaration::{Absent, Check, Declaration, Request, Sign};

/// Delay between the first two checks; each further one is twice as long, up to the maximum.
const LOOK_FIRST: Duration = Duration::from_millis(100);
const LOOK_LONGEST: Duration = Duration::from_secs(1);

/// A tool that speaks HTTP.
pub struct HttpTool {
    facts: ToolFacts,
    arguments: Arguments,
    declaration: Declaration,
    client: Client,
    secrets: Arc<dyn Secrets>,
}

impl HttpTool {
    /// A tool from its declaration.
    pub(crate) fn new(
        facts: ToolFacts,
        declaration: Declaration,
        secrets: Arc<dyn Secrets>,
        resolver: Arc<dyn Resolver>,
    ) -> Result<Self, ToolsError> {
        let client = Client::new(
            Arc::clone(&declaration.reach),
            resolver,
            declaration.timeout,
        );
        Ok(Self {
            arguments: Arguments::new(&facts)?,
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
        request: &Request,
        more: HeaderMap,
    ) -> Result<(Incoming, Option<Secret>), Trouble> {
        let arguments = self.arguments.read(&self.facts, effect);
        let outgoing = arguments.and_then(|arguments| {
            let key = key_token(effect);
            let filling = Filling {
                arguments: &arguments,
                key: &key,
            };
            // A request that could not be sent is neither rehearsed nor checked.
            self.fill(&self.declaration.request, filling, HeaderMap::new())?;
            self.fill(request, filling, more)
        });
        let outgoing = outgoing.map_err(Trouble::Refused)?;
        let token = outgoing.token.clone();
        Ok((self.client.exchange(outgoing).await?, token))
    }

    fn fill(
        &self,
        request: &Request,
        filling: Filling<'_>,
        more: HeaderMap,
    ) -> Result<Outgoing, ToolsError> {
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
        Ok(Outgoing {
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
    fn judge(&self, incoming: &Incoming, token: Option<&Secret>) -> Tried {
        let told = receipt(incoming, token);
        let status = incoming.status;
        if status.is_success() {
            return Tried::confirmed(told);
        }
        if status == StatusCode::TOO_MANY_REQUESTS {
            let after = incoming.retry_after_seconds;
            let after = after.map(|seconds| Millis(seconds * 1_000));
            return Tried::failed(told, Again::RateLimited { after });
        }
        if status.is_client_error() {
            return Tried::failed(told, Again::Never);
        }
        let again = if status.is_server_error() {
            Again::ServerFault
        } else {
            Again::Never
        };
        self.lost(told, again)
    }

    /// An effect with an unknown outcome; a read simply failed.
    fn lost(&self, detail: String, again: Again) -> Tried {
        match self.facts.class {
            EffectClass::Read => Tried::failed(detail, Again::ServerFault),
            EffectClass::Effect => Tried::unknown(detail, again),
        }
    }

    fn trouble(&self, trouble: Trouble) -> Tried {
        match trouble {
            Trouble::Refused(error) => Tried::refused(&error),
            Trouble::NotSent(detail) => Tried::failed(detail, Again::NotSent),
            Trouble::Lost(detail) => self.lost(detail, Again::Never),
        }
    }

    /// Checks repeatedly, until the effect appears or its time to appear is over.
    async fn look(&self, effect: &EffectRequest, check: &Check) -> Tried {
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

    async fn look_once(&self, effect: &EffectRequest, check: &Check) -> Tried {
        let (incoming, token) = match self.send(effect, &check.request, HeaderMap::new()).await {
            Ok(found) => found,
            // A check that failed says nothing about the effect.
            Err(Trouble::Refused(error)) => {
                return Tried::unknown(error.to_string(), Again::Never);
            }
            Err(Trouble::NotSent(detail) | Trouble::Lost(detail)) => {
                return Tried::unknown(detail, Again::ServerFault);
            }
        };
        let told = receipt(&incoming, token.as_ref());
        match self.sees(effect, check, &incoming) {
            Sight::There => Tried::confirmed(told),
            Sight::NotThere => match check.absent {
                Absent::Failed => Tried::failed("it is not there".to_owned(), Again::Never),
                Absent::Unknown => Tried::unknown("it is not there yet".to_owned(), Again::Never),
            },
            Sight::Unclear => Tried::unknown(told, Again::ServerFault),
        }
    }

    fn sees(&self, effect: &EffectRequest, check: &Check, incoming: &Incoming) -> Sight {
        let status = incoming.status.as_u16();
        // Answers about the effect, whatever the sign: the request may ask for the very thing that it should
        // have made.
        if matches!(status, 404 | 410) {
            return Sight::NotThere;
        }
        let (at, text, whole) = match &check.sign {
            Sign::Status(Some(wanted)) if *wanted == status => return Sight::There,
            Sign::Status(None) if incoming.status.is_success() => return Sight::There,
            Sign::Status(_) => return Sight::Unclear,
            Sign::Equals(at, text) => (at, text, true),
            Sign::Contains(at, text) => (at, text, false),
        };
        // Half a body shows neither presence nor absence.
        if !incoming.status.is_success() || !incoming.whole {
            return Sight::Unclear;
        }
        let Ok(body) = serde_json::from_slice::<Value>(&incoming.body) else {
            return Sight::Unclear;
        };
        let arguments = self.arguments.read(&self.facts, effect).unwrap_or_default();
        let key = key_token(effect);
        let filling = Filling {
            arguments: &arguments,
            key: &key,
        };
        let Ok(Some(wanted)) = text.fill(filling, str::to_owned) else {
            return Sight::Unclear;
        };
        let seen = if whole { says } else { has };
        let found = body.pointer(at).is_some_and(|value| seen(value, &wanted));
        if found { Sight::There } else { Sight::NotThere }
    }
}

enum Sight {
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
fn receipt(incoming: &Incoming, token: Option<&Secret>) -> String {
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

    fn rehearse<'a>(&'a self, effect: &'a EffectRequest) -> Answer<'a, Option<DryRun>> {
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

    fn call<'a>(&'a self, permit: &'a Permit) -> Answer<'a, Tried> {
        Box::pin(async move {
            let effect = permit.effect();
            let request = &self.declaration.request;
            match self.send(effect, request, self.idempotency(effect)).await {
                Ok((incoming, token)) => self.judge(&incoming, token.as_ref()),
                Err(trouble) => self.trouble(trouble),
            }
        })
    }

    fn check<'a>(&'a self, effect: &'a EffectRequest) -> Answer<'a, Tried> {
        Box::pin(async move {
            match &self.declaration.check {
                Some(check) => self.look(effect, check).await,
                None => Tried::unknown(Text::new("the platform has nothing to ask"), Again::Never),
            }
        })
    }
}
