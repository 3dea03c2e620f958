//! One attempt over HTTP: send the request, read the reply, classify the outcome.

use std::fmt;
use std::time::Duration;

use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{ModelReply, ModelRequest, ReplyMode, RequestEstimate};
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, LOCATION};
use tokio::time::Instant;

use crate::clock;
use crate::http::classify_failure::{self, ProviderMessage};
use crate::http::endpoint::{EndpointId, ModelEndpoint};
use crate::http::frames::{FrameError, FrameKind, FrameReader};
use crate::http::reply_builder::ReplyBuilder;
use crate::model::{CallFuture, Model, TokenSink};
use crate::prices::ModelFacts;
use crate::providers::{ReplyError, WireProtocol};
use crate::tokens::{self, TokenCounter};

/// Maximum size of a reply.
pub const REPLY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Maximum size of a stream on the wire: every few characters of text come with about a hundred bytes around
/// them.
const STREAM_BYTES_MAX: usize = 32 * REPLY_BYTES_MAX;
/// Maximum number of bytes read of an error's body.
const ERROR_BYTES_MAX: usize = 64 * 1024;
/// Time for a finished stream to close, so that its connection can be reused.
const CLOSING_GRACE: Duration = Duration::from_millis(20);

/// A model behind an HTTP server.
pub(crate) struct HttpModel {
    pub(crate) id: String,
    pub(crate) endpoint: ModelEndpoint,
    pub(crate) protocol: Box<dyn WireProtocol>,
    pub(crate) counter: TokenCounter,
    pub(crate) facts: ModelFacts,
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel")
            .field("id", &self.id)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

impl Model for HttpModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn endpoint(&self) -> &EndpointId {
        &self.endpoint.id
    }

    fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    fn measure(&self, request: &ModelRequest) -> Result<RequestEstimate, ModelFailure> {
        self.counter
            .measure(request, &self.facts, self.protocol.schema_tokens())
    }

    fn count(&self, text: &str) -> u64 {
        self.counter.count(text).0
    }

    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: &'a mut TokenSink<'_>,
    ) -> CallFuture<'a> {
        Box::pin(async move {
            let started = clock::now();
            let result = self.attempt(request, deltas, started).await;
            result.map_err(|failure| {
                let failure = self.endpoint.presentable(failure);
                tracing::debug!(model = %self.id, kind = %failure.kind, detail = failure.detail.as_str(), "call failed");
                failure
            })
        })
    }
}

impl HttpModel {
    async fn attempt(
        &self,
        request: &ModelRequest,
        deltas: &mut TokenSink<'_>,
        started: Instant,
    ) -> Result<ModelReply, ModelFailure> {
        tokens::check(request)?;
        let body = self.protocol.body(request)?;
        let mut heard = ReplyBuilder::of(request);
        let exchange = self.exchange(request.delivery, body, &mut heard, deltas);
        let outcome = match tokio::time::timeout(request.timeout.into(), exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(timed_out(request.timeout)),
        };
        // The partial text is kept: it may have been paid for, and a continuation can build on it.
        if let Err(mut failure) = outcome {
            failure.partial = Text::from(heard.text);
            return Err(failure);
        }
        let latency = classify_failure::millis(clock::now() - started);
        heard.settle(self, request, &self.counter, latency)
    }

    async fn exchange(
        &self,
        delivery: ReplyMode,
        body: Vec<u8>,
        heard: &mut ReplyBuilder,
        deltas: &mut TokenSink<'_>,
    ) -> Result<(), ModelFailure> {
        let request = self.endpoint.post(self.protocol.path(), body);
        let response = request.send().await.map_err(|error| self.lost(error))?;
        if !response.status().is_success() {
            return Err(self.turned_away(response).await);
        }
        let content_type = content_type(&response);
        let framing = self.protocol.framing();
        let streamed = match (delivery, framing) {
            (ReplyMode::Whole, _) => false,
            (ReplyMode::Streamed, FrameKind::Lines) => true,
            // A server that cannot stream sends the reply in one piece, which is fine.
            (ReplyMode::Streamed, FrameKind::Events) => !content_type.contains("json"),
        };
        if content_type.contains("html") {
            // A page of a proxy or a wrong address, and no model's answer.
            let page = self.text(response, ERROR_BYTES_MAX).await;
            return Err(classify_failure::malformed(
                &content_type,
                &page,
                "no model answered",
            ));
        }
        if streamed {
            return self.listen(response, &content_type, heard, deltas).await;
        }
        let body = self.read(response, REPLY_BYTES_MAX).await?;
        self.protocol
            .whole(&body, heard)
            .map_err(|fault| self.blame(fault, &content_type, &body))?;
        if delivery == ReplyMode::Streamed && !heard.text.is_empty() {
            deltas(&heard.text);
        }
        Ok(())
    }

    /// Reads a stream to its end.
    async fn listen(
        &self,
        mut response: Response,
        content_type: &str,
        heard: &mut ReplyBuilder,
        deltas: &mut TokenSink<'_>,
    ) -> Result<(), ModelFailure> {
        let mut frames = FrameReader::new(self.protocol.framing());
        let mut beginning = Vec::new();
        let mut understood = false;
        let mut bytes = 0;
        while !heard.ended {
            let chunk = match response.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                // The reply is complete, so the missing end of the body does not matter.
                Err(_) if heard.is_complete() => break,
                Err(error) => return Err(self.lost(error)),
            };
            bytes += chunk.len();
            if beginning.len() < ERROR_BYTES_MAX && !understood {
                beginning.extend_from_slice(&chunk);
            }
            let cut = frames
                .push(&chunk)
                .map_err(|uncut| not_cut(uncut, content_type))?;
            for frame in cut {
                understood = true;
                self.hear(&frame, content_type, heard, deltas)?;
            }
            if bytes > STREAM_BYTES_MAX || heard.len() > REPLY_BYTES_MAX {
                return Err(too_large());
            }
        }
        if heard.ended {
            // Reading the last bytes frees the connection; a server that holds them back loses it.
            let _ = tokio::time::timeout(CLOSING_GRACE, response.chunk()).await;
            return Ok(());
        }
        if let Some(frame) = frames.finish() {
            // Half a frame is no fault of its own: the stream was cut, which is reported below.
            understood |= self.hear(&frame, content_type, heard, deltas).is_ok();
        }
        if heard.is_complete() {
            Ok(())
        } else if understood || bytes == 0 {
            let detail = "the stream ended before the reply was complete";
            Err(ModelFailure::sent(FailureKind::Connection, detail))
        } else {
            let fault = ReplyError::Unexpected("expected a stream");
            Err(self.blame(fault, content_type, &beginning))
        }
    }

    fn hear(
        &self,
        frame: &str,
        content_type: &str,
        heard: &mut ReplyBuilder,
        deltas: &mut TokenSink<'_>,
    ) -> Result<(), ModelFailure> {
        let before = heard.text.len();
        self.protocol
            .frame(frame, heard)
            .map_err(|fault| self.blame(fault, content_type, frame.as_bytes()))?;
        if let Some(words) = heard.text.get(before..)
            && !words.is_empty()
        {
            deltas(words);
        }
        Ok(())
    }

    /// Reads a body up to the limit.
    async fn read(&self, mut response: Response, most: usize) -> Result<Vec<u8>, ModelFailure> {
        let announced = response.content_length().unwrap_or_default();
        // Refused before it is read.
        if usize::try_from(announced).unwrap_or(usize::MAX) > most {
            return Err(too_large());
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.lost(error))? {
            if body.len() + chunk.len() > most {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// As much of a body as there is, for an error message.
    async fn text(&self, mut response: Response, most: usize) -> String {
        let mut body = Vec::new();
        while body.len() < most
            && let Ok(Some(chunk)) = response.chunk().await
        {
            body.extend_from_slice(&chunk);
        }
        body.truncate(most);
        self.endpoint.redact(&String::from_utf8_lossy(&body))
    }

    async fn turned_away(&self, response: Response) -> ModelFailure {
        let code = response.status().as_u16();
        let retry_after = classify_failure::retry_after(response.headers(), clock::today());
        let moved = response.headers().get(LOCATION).cloned();
        let body = self.text(response, ERROR_BYTES_MAX).await;
        let mut said = match serde_json::from_str(&body) {
            Ok(json) => ProviderMessage::read(&json).unwrap_or_default(),
            Err(_) => ProviderMessage {
                message: body,
                ..ProviderMessage::default()
            },
        };
        if let (300..=399, Some(to)) = (code, moved) {
            let to = String::from_utf8_lossy(to.as_bytes());
            said.message = format!("the server sends on to {to}, which is not followed");
        }
        classify_failure::status(code, &said, retry_after)
    }

    fn lost(&self, error: reqwest::Error) -> ModelFailure {
        classify_failure::transport(error, self.endpoint.id.as_str())
    }

    fn blame(&self, fault: ReplyError, content_type: &str, body: &[u8]) -> ModelFailure {
        match fault {
            ReplyError::Said(said) => classify_failure::said(&said),
            ReplyError::Unexpected(why) => {
                let body = self.endpoint.redact(&String::from_utf8_lossy(body));
                classify_failure::malformed(content_type, &body, why)
            }
        }
    }
}

fn not_cut(uncut: FrameError, content_type: &str) -> ModelFailure {
    match uncut {
        FrameError::TooLarge => too_large(),
        FrameError::NotText => {
            classify_failure::malformed(content_type, "", "the stream is no text")
        }
    }
}

fn too_large() -> ModelFailure {
    let detail = format!("the reply is larger than {} MiB", REPLY_BYTES_MAX >> 20);
    ModelFailure::sent(FailureKind::TooLarge, detail)
}

pub(crate) fn timed_out(after: Millis) -> ModelFailure {
    let detail = format!("no complete reply within {:?}", Duration::from(after));
    ModelFailure::sent(FailureKind::Timeout, detail)
}

fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE);
    let value = value.map(|value| String::from_utf8_lossy(value.as_bytes()));
    value.unwrap_or_default().to_ascii_lowercase()
}
